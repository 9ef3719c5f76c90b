"""Evidence that adds up over columns: the terms of each column for each class, as sums of powers or by its states.

All forms of naive Bayes are one sum, log p_c + sum_j t_cj(x_j), and differ in the terms t_cj alone. A missing value
adds nothing. In sparse rows only stored values take time: zeros are in a constant that all rows share.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from tamis.base.errors import TamisError
from tamis.base.moments import in_rows
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import canonical
from tamis.bins.cuts import Cuts, starts
from tamis.contingency.states import LARGEST, column_codes, cuts_of, in_columns, row_codes, stored_states
from tamis.kernels.contingency import row_counts, stored_counts

#: Squared mean over twice the variance above which a mean is far from zero.
_FAR = 1e12

#: Numbers in a block of rows.
_BLOCK = 2_000_000


@dataclass(frozen=True)
class Powers:
    """Terms that are constant, linear and square in the distance of a value from an origin.

    `constant`, `linear` and `square`, of shape (n_classes, n_columns), are the term at the origin and the factors of
    the distance and of its square. With `presence` values above zero count as 1, all others as 0.
    """

    origin: FloatArray
    constant: FloatArray
    linear: FloatArray
    square: FloatArray
    presence: bool = False

    def evidence(self, X: Matrix) -> FloatArray:
        """Sum of the terms of all columns, of shape (n_rows, n_classes)."""
        if sp.issparse(X):
            about_zero = self._about_zero()
            far = about_zero._far()
            if not far.any():
                return about_zero._of_sparse(canonical(X))
            near = about_zero._some(~far)._of_sparse(canonical(X[:, ~far]))
            X = X[:, far].tocsr()
            # Few values are zero in such columns: a dense array is hardly larger than what is stored.
            return near + np.concatenate([self._some(far)._of_dense(X[rows].toarray()) for rows in row_blocks(X)])
        blocks = (X[rows].astype(np.float64, copy=False) for rows in row_blocks(X))
        return np.concatenate([self._of_dense(block) for block in blocks])

    def _of_dense(self, Z: FloatArray) -> FloatArray:
        missing = np.isnan(Z)
        holes = np.flatnonzero(missing.any(axis=0))
        if self.presence:
            Z = (Z > 0).astype(np.float64)
        else:
            Z = Z - self.origin if self.origin.any() else Z
            Z = np.where(missing, 0.0, Z) if holes.size else Z
        out: FloatArray = Z @ self.linear.T + self.constant.sum(axis=1)
        if self.square.any():
            out += Z**2 @ self.square.T
        if holes.size:
            out -= missing[:, holes].astype(np.float64) @ self.constant[:, holes].T
        return out

    def _of_sparse(self, X: Matrix) -> FloatArray:
        """The same about an origin of zero."""
        missing = np.isnan(X.data)
        some = bool(missing.any())
        if self.presence:
            values = (X.data > 0).astype(np.float64)
        else:
            values = np.where(missing, 0.0, X.data) if some else X.data
        out: FloatArray = _like(X, values) @ self.linear.T + self.constant.sum(axis=1)
        if self.square.any():
            out += _like(X, values.astype(np.float64, copy=False) ** 2) @ self.square.T
        if some:
            out -= _like(X, missing.astype(np.float64)) @ self.constant.T
        return out

    def _some(self, columns: Mask) -> "Powers":
        """The terms of some columns."""
        constant, linear, square = (part[:, columns] for part in (self.constant, self.linear, self.square))
        return replace(self, origin=self.origin[columns], constant=constant, linear=linear, square=square)

    def _far(self) -> Mask:
        """Columns with a mean so far from zero, in deviations, that powers about zero lose digits."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray((self.linear**2 / -self.square > _FAR).any(axis=0))

    def _about_zero(self) -> "Powers":
        constant = self.constant - self.linear * self.origin + self.square * self.origin**2
        linear = self.linear - 2 * self.square * self.origin
        return replace(self, origin=np.zeros_like(self.origin), constant=constant, linear=linear)


@dataclass(frozen=True)
class Counted:
    """Columns as states between `cuts`, and the weight of the rows in each, of shape (n_classes, n_places).

    Column j owns the places ``first[j]`` up to ``first[j + 1]``: the first for missing values, then its states.
    """

    cuts: Cuts
    counts: FloatArray

    @classmethod
    def of(
        cls, X: Matrix, y: Codes, weight: FloatArray, *, by: str, n_bins: int | None = None, nominal: Mask | None = None
    ) -> Self:
        """Cut the columns as :func:`tamis.contingency.states.states` does and count the classes in each state."""
        X = in_columns(X)
        return cls.between(cuts_of(X, y, by, n_bins, nominal, weight), X, y, weight)

    @classmethod
    def between(cls, cuts: Cuts, X: Matrix, y: Codes, weight: FloatArray) -> Self:
        """Count the classes between given cuts; `X` is a float array or a canonical CSC matrix."""
        first = starts(cuts.count + 2)
        counts = np.zeros((int(y.max()) + 1, first[-1]))
        if sp.issparse(X):
            indptr, rows = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
            members, size = np.bincount(y), np.bincount(y, weights=weight).astype(np.float64, copy=False)
            stored_counts(indptr, rows, *stored_states(X, cuts), first[:-1] + 1, y, weight, members, size, counts)
            return cls(cuts, counts)
        for columns, block in in_rows(X):
            some = cuts.between(columns.start, columns.stop)
            row_counts(dense_states(block, some), first[columns] + 1, y, weight, counts)
        counts[:, first[:-1]] = 0.0
        return cls(cuts, counts)

    @property
    def first(self) -> np.ndarray:
        """Where the places of each column begin, and where the last ones end."""
        return starts(self.cuts.count + 2)

    def shares(self, smoothing: float) -> FloatArray:
        """Smoothed share of each of V states in each class, (n_cs + a) / (n_c + a V); 1 for missing values."""
        first = self.first
        known = np.add.reduceat(self.counts, first[:-1], axis=1) + smoothing * (self.cuts.count + 1)
        found = (self.counts + smoothing) / np.repeat(known, np.diff(first), axis=1)
        found[:, first[:-1]] = 1.0
        return found


@dataclass(frozen=True)
class Lookup:
    """Terms that are looked up by the state of a value.

    `table`, of shape (n_places, n_classes), holds the term of each state for each class, in the places of
    :class:`Counted`; 0 for missing values.
    """

    cuts: Cuts
    table: FloatArray

    def __post_init__(self) -> None:
        # Kernels do not check these numbers, and they may come from a file.
        count, first = self.cuts.count, self.cuts.first
        if first[0] or (count < 0).any() or first[-1] != self.cuts.values.size or len(self.table) != self.first[-1]:
            raise TamisError("the cuts of the columns and the table of their states do not fit together")

    @property
    def first(self) -> np.ndarray:
        return starts(self.cuts.count + 2)

    def evidence(self, X: Matrix) -> FloatArray:
        """Sum of the terms of all columns, of shape (n_rows, n_classes)."""
        X = in_columns(X)
        place = self.first[:-1] + 1
        if not sp.issparse(X):
            found = (dense_states(X[rows], self.cuts) + place for rows in row_blocks(X))
            ends = np.arange(X.shape[0] + 1) * X.shape[1]
            ones = (_ones(some.ravel(), ends[: len(some) + 1], len(self.table)) for some in found)
            return np.concatenate([one @ self.table for one in ones])
        stored, zero = stored_states(X, self.cuts)
        entries = np.diff(X.indptr)
        at_zero = self.table[place + zero]
        places = sp.csc_array((stored + np.repeat(place, entries), X.indices, X.indptr), shape=X.shape).tocsr()
        beyond = self.table - np.repeat(at_zero, np.diff(self.first), axis=0)
        return np.asarray(_ones(places.data, places.indptr, len(self.table)) @ beyond + at_zero.sum(axis=0))


def above_zero(X: Matrix) -> Matrix:
    """1 for values above zero, 0 for all others; missing ones stay missing."""
    X = canonical(X) if sp.issparse(X) else X
    values = X.data if sp.issparse(X) else X
    marked = np.where(np.isnan(values), values, values > 0)
    return _like(X, marked) if sp.issparse(X) else marked


def dense_states(X: FloatArray, cuts: Cuts) -> np.ndarray:
    """State of each value of a float array, row by row, -1 where missing."""
    X = np.ascontiguousarray(X)
    if cuts.count.max(initial=0) <= LARGEST:
        return row_codes(X, cuts)
    return np.ascontiguousarray(column_codes(X, cuts).T)


def row_blocks(X: Matrix) -> Iterator[slice]:
    """Rows in blocks of a moderate size."""
    blocks: Iterator[slice] = gen_batches(X.shape[0], max(1, _BLOCK // max(1, X.shape[1])))
    return blocks


def _like(X: Matrix, values: FloatArray) -> Matrix:
    """A CSR matrix with other values."""
    return sp.csr_array((values, X.indices, X.indptr), shape=X.shape)


def _ones(places: np.ndarray, indptr: np.ndarray, width: int) -> Matrix:
    """A CSR matrix of ones."""
    return sp.csr_array((np.ones(places.size), places, indptr), shape=(indptr.size - 1, width))
