"""The columns of a histogram: where values lie on their axes, and what halving each axis would change."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import canonical
from tamis.kernels.mdl_histogram import refined_cells

#: Depth of the finest intervals of an axis, of which all others are unions.
FINEST = 30

#: The place of a missing value.
MISSING = -1

#: Weight of all rows up to which logarithms are looked up: beyond, looking them up is no quicker.
_LOGS = 1 << 20

#: Values that are looked at together, so that what is made of them stays in the processor's cache.
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
        """The interval of each value, of 2^depth that divide its axis evenly; -1 where it is missing.

        Values beyond the ends lie in the outermost intervals. `columns` are those of the values, one for each or one
        for each column of a table.
        """
        low, high = self.low[columns], self.high[columns]
        # Halves, where the ends are too far apart to be subtracted.
        with np.errstate(over="ignore"):
            scale = np.where(np.isinf(high - low), 0.5, 1.0)
        low, high = low * scale, high * scale
        width = np.where(high > low, high - low, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            share = np.clip((values * scale - low) / width, 0.0, 1.0)
            places = np.minimum(share * 2.0**depth, 2.0**depth - 1)
        return np.where(np.isnan(values) | np.isnan(places), MISSING, places).astype(np.int32)


def halves(places: np.ndarray, depth: int, levels: int) -> np.ndarray:
    """Which of the 2^levels parts of its interval of that depth each finest place lies in; 2^levels where missing.

    Missing values are parted from the others when the axis is divided first, and not divided further.
    """
    parts = (places >> (FINEST - depth - levels)) & ((1 << levels) - 1)
    return np.where(places == MISSING, (1 << levels) if depth == 0 else 0, parts).astype(np.uint8)


class Columns:
    """Training rows with what is known of each column: its parts at the next few halvings, one byte a value.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    y : array of class codes
    weight : array of shape (n_rows,)
        Above zero.
    n_classes : int
    levels : int
        How many halvings of an axis to look ahead.
    """

    def __init__(self, X: Matrix, y: Codes, weight: FloatArray, n_classes: int, levels: int) -> None:
        X = canonical(X.tocsc()) if sp.issparse(X) else X
        self._X, self.axes = X, Axes.of(X)
        self.classes, self.weight, self.n_classes = y.astype(np.int64), weight, n_classes
        self.n_rows, self.n_columns = X.shape
        self._levels, self._least = levels, float(weight.min())
        self._logs = _logs(weight)
        self._places: dict[int, np.ndarray] = {}
        self._turned: dict[int, int] = {}
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
        """The finest place of every row on an axis; kept, since the axes that are asked for are few."""
        if column not in self._places:
            self._places[column] = self.axes.places(column_of(self._X, column), column)
        return self._places[column]

    def changes(
        self, cell: np.ndarray, total: FloatArray, depths: Mapping[int, int]
    ) -> tuple[FloatArray, np.ndarray, np.ndarray]:
        """What halving each axis 1, 2, ... times changes: bits of the mixed cells, cells with rows, mixed cells.

        Parameters
        ----------
        cell : int array of shape (n_rows,)
        total : float array of shape (n_cells, n_classes)
            Weight of the rows of each class in each cell.
        depths : mapping of int to int
            How often the axes that are divided have been halved, by column.

        Returns
        -------
        Arrays of shape (n_features, levels).
        """
        for column in depths.keys() | self._turned.keys():
            self._turn(column, depths.get(column, 0))
        shape = (self.n_columns, self._levels)
        found = np.zeros(shape), np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        members = np.bincount(cell * self.n_classes + self.classes, minlength=total.size).reshape(total.shape)
        # A row that is alone stays alone.
        open_ = np.where(members.sum(axis=1)[cell] > 1, cell, -1).astype(np.int64)
        fixed = (
            self._levels,
            open_,
            self.classes,
            self.weight,
            total,
            members.astype(np.int64),
            self._least,
            self._logs,
        )
        if sp.issparse(self._X):
            refined_cells(self._starts, self._rows, self._codes, self._zero, *fixed, *found)
            return found
        blocks = self._blocks()
        rows = np.tile(np.arange(self.n_rows, dtype=np.int32), blocks[0][1])
        for left, right in blocks:
            starts, codes = self._starts[: right - left + 1], self._codes[self._starts[left] : self._starts[right]]
            refined_cells(starts, rows, codes, self._zero[left:right], *fixed, *(one[left:right] for one in found))
        return found

    def _turn(self, column: int, depth: int) -> None:
        """See to it that the parts of a column are those that follow this depth."""
        if self._turned.get(column, 0) == depth:
            return
        self._turned[column] = depth
        mine = slice(self._starts[column], self._starts[column + 1])
        if sp.issparse(self._X):
            self._codes[mine] = halves(self.axes.places(self._X.data[mine], column), depth, self._levels)
            self._zero[column] = halves(self.axes.places(np.zeros(1), column), depth, self._levels)[0]
        else:
            self._codes[mine] = halves(self.places(column), depth, self._levels)

    def _first(self, places: np.ndarray) -> np.ndarray:
        """Places at depth `levels` as the parts of an axis that is not divided yet."""
        return np.where(places == MISSING, 1 << self._levels, places).astype(np.uint8)

    def _blocks(self) -> list[tuple[int, int]]:
        """Ranges of columns that are worked on together."""
        width = max(1, _BLOCK // self.n_rows)
        return [(left, min(left + width, self.n_columns)) for left in range(0, self.n_columns, width)]


def _logs(weight: FloatArray) -> FloatArray:
    """k log2 k for all weights that rows can have together, where these are whole numbers and not too many."""
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
