"""The columns of a histogram: intervals of values on their axes, and the change of code length by halving an axis."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import canonical
from tamis.kernels.mdl_histogram import refined_cells

#: Depth of the finest intervals of an axis; all others are unions of these.
FINEST = 30

#: The place of a missing value.
MISSING = -1

#: Total weight up to which logarithms are tabulated: beyond, a table is no faster.
_LOGS = 1 << 20

#: Values processed together, so that results stay in the cache.
_BLOCK = 1 << 17


class Axes(NamedTuple):
    """Lowest and highest known value of each column; NaN where none is known."""

    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, X: Matrix) -> "Axes":
        if sp.issparse(X):
            ends = min_max_axis(X, axis=0, ignore_nan=True)
        else:
            ends = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
        low, high = (np.asarray(end, dtype=np.float64) for end in ends)
        return cls(low, high)

    def places(self, values: np.ndarray, columns: np.ndarray | int, depth: int = FINEST) -> np.ndarray:
        """The interval of each value, of 2^depth equal ones on its axis; -1 where it is missing.

        Values beyond the ends lie in the outermost intervals. `columns` broadcasts against `values`.
        """
        low, high = self.low[columns], self.high[columns]
        # Halves, where the difference of the ends overflows.
        with np.errstate(over="ignore"):
            scale = np.where(np.isinf(high - low), 0.5, 1.0)
        low, high = low * scale, high * scale
        width = np.where(high > low, high - low, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            share = np.clip((values * scale - low) / width, 0.0, 1.0)
            places = np.minimum(share * 2.0**depth, 2.0**depth - 1)
        return np.where(np.isnan(values) | np.isnan(places), MISSING, places).astype(np.int32)


def halves(places: np.ndarray, depth: int, levels: int) -> np.ndarray:
    """Which of the 2^levels parts of its interval at a depth each finest place lies in.

    Missing values are a part of their own, 2^levels, in the first division, and are not divided further.
    """
    parts = (places >> (FINEST - depth - levels)) & ((1 << levels) - 1)
    return np.where(places == MISSING, (1 << levels) if depth == 0 else 0, parts).astype(np.uint8)


class Columns:
    """Training rows and, for each value, its part at the next `levels` halvings of its axis, one byte each."""

    def __init__(self, X: Matrix, y: Codes, weight: FloatArray, n_classes: int, levels: int) -> None:
        X = canonical(X.tocsc()) if sp.issparse(X) else X
        self._X, self.axes = X, Axes.of(X)
        self.classes, self.weight, self.n_classes = y.astype(np.int64), weight, n_classes
        self.n_rows, self.n_columns = X.shape
        self._levels, self._least = levels, float(weight.min())
        self._logs = _logs(weight)
        self._places: dict[int, np.ndarray] = {}
        self._depths: dict[int, int] = {}
        if sp.issparse(X):
            self._rows = X.indices.astype(np.int32, copy=False)
            self._starts = X.indptr.astype(np.int64)
            columns = np.repeat(np.arange(self.n_columns), np.diff(self._starts))
            self._codes = self._first(self.axes.places(X.data, columns, levels))
            self._zero = self._first(self.axes.places(np.zeros(self.n_columns), np.arange(self.n_columns), levels))
        else:
            self._codes = np.empty(X.size, dtype=np.uint8)
            self._zero = np.zeros(self.n_columns, dtype=np.uint8)
            self._starts = np.arange(self.n_columns + 1) * self.n_rows
            for left, right in self._blocks():
                block = self._first(self.axes.places(X[:, left:right], np.arange(left, right), levels))
                self._codes[self._starts[left] : self._starts[right]] = block.T.ravel()

    def places(self, column: int) -> np.ndarray:
        """The finest place of every row on an axis; cached, since few axes are divided."""
        if column not in self._places:
            self._places[column] = self.axes.places(column_of(self._X, column), column)
        return self._places[column]

    def changes(
        self, cell: np.ndarray, total: FloatArray, depths: Mapping[int, int]
    ) -> tuple[FloatArray, np.ndarray, np.ndarray]:
        """Change by halving each axis 1, 2, ... times: bits of the mixed cells, cells with rows, mixed cells.

        `total` is the weight of the rows of each class in each cell, `depths` the halvings of each divided column. The
        results have the shape (n_features, levels).
        """
        for column in depths.keys() | self._depths.keys():
            self._set_depth(column, depths.get(column, 0))
        shape = (self.n_columns, self._levels)
        found = np.zeros(shape), np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        members = np.bincount(cell * self.n_classes + self.classes, minlength=total.size).reshape(total.shape)
        # A cell with a single row does not change.
        open_ = np.where(members.sum(axis=1)[cell] > 1, cell, -1).astype(np.int64)
        weights = self.classes, self.weight, total, members.astype(np.int64), self._least, self._logs
        fixed = (self._levels, open_, *weights)
        if sp.issparse(self._X):
            refined_cells(self._starts, self._rows, self._codes, self._zero, *fixed, *found)
            return found
        blocks = self._blocks()
        rows = np.tile(np.arange(self.n_rows, dtype=np.int32), blocks[0][1])
        for left, right in blocks:
            starts, codes = self._starts[: right - left + 1], self._codes[self._starts[left] : self._starts[right]]
            refined_cells(starts, rows, codes, self._zero[left:right], *fixed, *(one[left:right] for one in found))
        return found

    def _set_depth(self, column: int, depth: int) -> None:
        """Compute the parts of a column below this depth."""
        if self._depths.get(column, 0) == depth:
            return
        self._depths[column] = depth
        mine = slice(self._starts[column], self._starts[column + 1])
        if sp.issparse(self._X):
            self._codes[mine] = halves(self.axes.places(self._X.data[mine], column), depth, self._levels)
            self._zero[column] = halves(self.axes.places(np.zeros(1), column), depth, self._levels)[0]
        else:
            self._codes[mine] = halves(self.places(column), depth, self._levels)

    def _first(self, places: np.ndarray) -> np.ndarray:
        """Parts of an axis that is not divided yet, from places at depth `levels`."""
        return np.where(places == MISSING, 1 << self._levels, places).astype(np.uint8)

    def _blocks(self) -> list[tuple[int, int]]:
        """Ranges of columns that are processed together."""
        width = max(1, _BLOCK // self.n_rows)
        return [(left, min(left + width, self.n_columns)) for left in range(0, self.n_columns, width)]


def _logs(weight: FloatArray) -> FloatArray:
    """k log2 k for all sums of weights, where these are integers and not too many."""
    whole = weight.sum()
    if whole > _LOGS or (weight != np.floor(weight)).any():
        return np.zeros(0)
    numbers = np.arange(whole + 1)
    return np.asarray(xlogy(numbers, numbers) / np.log(2.0))


def column_of(X: Matrix, column: int) -> FloatArray:
    """The values of one column of a dense array or CSC matrix."""
    if not sp.issparse(X):
        return np.asarray(X[:, column], dtype=np.float64)
    values = np.zeros(X.shape[0])
    mine = slice(X.indptr[column], X.indptr[column + 1])
    values[X.indices[mine]] = X.data[mine]
    return values
