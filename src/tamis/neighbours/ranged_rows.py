"""Rows with all columns scaled to a range of one, dense or sparse, and their distances."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.errors import DataError
from tamis.base.moments import divide
from tamis.base.types import FloatArray, Mask, Matrix
from tamis.base.validation import canonical
from tamis.kernels.relief import dense_changes, dense_distances, sparse_changes, sparse_distances
from tamis.kernels.sparse import stored_arrays

#: Maps row numbers to their distances from every row of a slab.
Distances = Callable[[np.ndarray], FloatArray]


class RangedRows(Protocol):
    """Rows divided by the ranges of their columns.

    The difference of two values is their distance over the column's range, or in a nominal column 0 or 1. The distance
    of two rows is the sum of the differences ("manhattan") or of their squares ("euclidean", without the root) over the
    columns known in both, scaled up to all columns. It is infinite where there are none.
    """

    #: Rows of a slab, so that the work on it stays in the processor's caches.
    width: int

    def slab(self, left: int, right: int) -> Distances:
        """The distances to the rows `left` up to `right`."""
        ...

    def changes(self, rows: np.ndarray, near: np.ndarray, share: FloatArray, factor: FloatArray) -> FloatArray:
        """Sum over rows of the mean difference to their neighbours in each column, as in `dense_changes`."""
        ...


def ranged_rows(X: Matrix, nominal: Mask | None, metric: str) -> RangedRows:
    """Divide the columns of validated rows by their ranges; a zero within the range stays zero."""
    return _SparseRows(X, metric) if sp.issparse(X) else _DenseRows(X, nominal, metric)


def some_known(X: Matrix) -> Mask:
    """The rows with at least one known value."""
    if not sp.issparse(X):
        return ~np.isnan(X).all(axis=1)
    return np.bincount(X.tocoo().row[np.isnan(X.data)], minlength=X.shape[0]) < X.shape[1]


class _DenseRows:
    """Dense rows; the nominal columns are last in `_values`, `_order` holds the column numbers."""

    def __init__(self, X: Matrix, nominal: Mask | None, metric: str) -> None:
        nominal = np.zeros(X.shape[1], dtype=bool) if nominal is None else nominal
        self._order = np.argsort(nominal, kind="stable")
        self._n_numeric = X.shape[1] - int(nominal.sum())
        # Always a copy, because it is changed below.
        self._values = np.array(X[:, self._order] if nominal.any() else X, dtype=np.float64, order="C")
        numbers = self._values[:, : self._n_numeric]
        shift, size = column_ranges(np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0))
        numbers -= shift[self._order[: self._n_numeric]]
        numbers /= size[self._order[: self._n_numeric]]
        self._known = ~np.isnan(self._values)
        self._holes = not self._known.all()
        self._squared = metric == "euclidean"
        self.width = 1024 if self._squared else 128

    def slab(self, left: int, right: int) -> Distances:
        slab = np.ascontiguousarray(self._values[left:right].T)
        known = self._known[left:right].T.astype(np.float32) if self._holes else None

        def distances(rows: np.ndarray) -> FloatArray:
            out = self._squares(rows, slab) if self._squared else np.zeros((rows.size, right - left))
            first = self._n_numeric if self._squared else 0
            dense_distances(self._values, rows, slab, first, self._n_numeric, self._holes, out)
            if known is None:
                return out
            return _per_known(out, self._known[rows].astype(np.float32) @ known, slab.shape[0])

        return distances

    def _squares(self, rows: np.ndarray, slab: FloatArray) -> FloatArray:
        """Sum of squared differences in the numeric columns, from inner products."""
        x, z = self._values[rows, : self._n_numeric], slab[: self._n_numeric]
        if not self._holes:
            return (x**2).sum(axis=1)[:, None] + (z**2).sum(axis=0) - 2.0 * (x @ z)
        x_known, z_known = ~np.isnan(x), ~np.isnan(z)
        x, z = np.where(x_known, x, 0.0), np.where(z_known, z, 0.0)
        return x**2 @ z_known.astype(np.float64) + x_known.astype(np.float64) @ z**2 - 2.0 * (x @ z)

    def changes(self, rows: np.ndarray, near: np.ndarray, share: FloatArray, factor: FloatArray) -> FloatArray:
        found = np.zeros(self._values.shape[1])
        dense_changes(self._values, self._n_numeric, self._holes, rows, near, share, factor, found)
        out = np.empty_like(found)
        out[self._order] = found
        return out


class _SparseRows:
    """CSR rows; only stored values are read."""

    width = 1024

    def __init__(self, X: Matrix, metric: str) -> None:
        rows = canonical(sp.csr_array(X, dtype=np.float64, copy=True))
        shift, size = column_ranges(*min_max_axis(rows, axis=0, ignore_nan=True))
        data = rows.data
        # A column is shifted only where zero is out of its range, and then all its known values are stored.
        data -= shift[rows.indices]
        data /= size[rows.indices]
        self._rows, self._stored, self._squared = rows, stored_arrays(rows), metric == "euclidean"
        place = np.repeat(np.arange(X.shape[0]), np.diff(rows.indptr))
        missing = np.isnan(data)
        self._holes = bool(missing.any())
        alone = np.where(missing, 0.0, data**2 if self._squared else np.abs(data))
        # Counts of an empty array are integers.
        self._size = np.bincount(place, weights=alone, minlength=X.shape[0]).astype(np.float64)
        self._missing = np.bincount(place[missing], minlength=X.shape[0]).astype(np.float64)

    def slab(self, left: int, right: int) -> Distances:
        rows = self._rows
        slab = stored_arrays(rows[left:right].tocsc())

        def distances(queries: np.ndarray) -> FloatArray:
            out = self._size[queries][:, None] + self._size[left:right]
            known = rows.shape[1] - (self._missing[queries][:, None] + self._missing[left:right])
            sparse_distances(*self._stored, queries, *slab, self._squared, out, known)
            return _per_known(out, known, rows.shape[1]) if self._holes else out

        return distances

    def changes(self, rows: np.ndarray, near: np.ndarray, share: FloatArray, factor: FloatArray) -> FloatArray:
        found = np.zeros(self._rows.shape[1])
        sparse_changes(*self._stored, rows, near, share, factor, found)
        return found


def column_ranges(lowest: np.ndarray, highest: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Shift and divisor that give each column a range of one; 0 and 1 where no value is known."""
    low, high = (np.nan_to_num(ends, posinf=np.inf, neginf=-np.inf).astype(np.float64) for ends in (lowest, highest))
    with np.errstate(over="ignore", invalid="ignore"):
        size = high - low
    bad = np.flatnonzero(~np.isfinite(size))
    if bad.size:
        raise DataError(f"column {bad[0]} (counted from 0) contains infinity or values too far apart to subtract")
    # Far from zero, shifting first keeps digits that differences of quotients lose.
    shift = np.where((low > 0) | (high < 0), low, 0.0)
    return shift, np.where(size > 0, size, 1.0)


def _per_known(sums: FloatArray, known: FloatArray, n_columns: int) -> FloatArray:
    """Sums over the columns known in both rows, scaled up to all columns."""
    mean = divide(sums, known)
    mean[known == 0] = np.inf
    return mean * n_columns
