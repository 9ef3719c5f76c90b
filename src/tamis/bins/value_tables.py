"""Columns as tables: the weight of each class at each distinct value."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.bins.cuts import Cuts, starts
from tamis.kernels.optimal_binning import count_values
from tamis.trees.columns import SortedColumns, sorted_columns

#: Entries tabulated at a time.
_BLOCK = 1_000_000


@dataclass(frozen=True)
class ValueTables:
    """Some columns (`features`), each as its distinct known values and the weight of each class there.

    Column ``features[j]`` owns the rows ``first[j]`` up to ``first[j + 1]`` of `values`, ascending, and `weights`.
    """

    features: np.ndarray
    first: np.ndarray
    values: FloatArray
    weights: FloatArray

    def sums(self) -> FloatArray:
        """Weight, sum of squares and sums of a target whose squared error is half that of the class indicators.

        For two classes the target is 0 or 1, for more the indicators in Helmert contrasts, one fewer than classes.
        """
        weight = self.weights.sum(axis=1)
        n_classes = self.weights.shape[1]
        if n_classes == 2:
            return np.column_stack((weight, self.weights[:, 1], self.weights[:, 1]))
        return np.column_stack((weight, weight * (0.5 - 0.5 / n_classes), self.weights @ helmert(n_classes).T / 2**0.5))

    def cuts(self, begins: Mask) -> Cuts:
        """The cuts halfway below the marked values, which are not the first of a column."""
        places = np.flatnonzero(begins)
        return Cuts.counted(np.diff(np.searchsorted(places, self.first)), cuts_below(self.values, places))

    def of_bins(self, begins: Mask) -> FloatArray:
        """Weight of each class in the bins that begin at the marked values, column after column."""
        column = np.repeat(np.arange(self.first.size - 1), np.diff(self.first))
        # Every column begins with a bin, even without values.
        return added(self.weights, np.cumsum(begins) + column, int(begins.sum()) + self.first.size - 1)


def cuts_below(values: FloatArray, places: np.ndarray) -> FloatArray:
    """The cuts halfway below some of a list of ascending values.

    Examples
    --------
    >>> cuts_below(np.array([1.0, 2.0, 5.0]), np.array([2]))
    array([3.5])
    """
    below, above = values[places - 1], values[places]
    middle = below / 2 + above / 2
    # No number lies between neighbouring floats: the upper one then separates them.
    return np.where(middle > below, middle, above)


def added(numbers: FloatArray, place: np.ndarray, size: int) -> FloatArray:
    """The rows of `numbers` summed by place, of `size` places."""
    columns = [np.bincount(place, weights=one, minlength=size).astype(np.float64) for one in numbers.T]
    return np.column_stack(columns)


def value_tables(X: Matrix, y: Codes, weight: FloatArray, n_classes: int) -> Iterator[ValueTables]:
    """All columns of a matrix as tables, in blocks of a moderate size; missing values are left out.

    Weights are above zero. All zeros of a sparse column are one value, so that only stored entries take time.

    Examples
    --------
    >>> X = np.array([[0.0], [5.0], [0.0], [np.nan]])
    >>> (table,) = value_tables(X, np.array([0, 1, 1, 1]), np.ones(4), 2)
    >>> table.values, table.weights.tolist()
    (array([0., 5.]), [[1.0, 1.0], [0.0, 1.0]])
    """
    codes = y.astype(np.int64, copy=False)
    total = np.bincount(codes, weights=weight, minlength=n_classes).astype(np.float64)
    for columns in sorted_columns(X):
        for left, right in _blocks(columns):
            begin, end = columns.begin[left:right], columns.end[left:right]
            room = int((end - begin).sum()) + begin.size
            values, weights = np.empty(room), np.empty((room, n_classes))
            first = np.empty(begin.size + 1, dtype=np.int64)
            entries = slice(begin[0], end[-1])
            size = count_values(
                *(begin - begin[0], end - begin[0], columns.rows[entries]),
                *(columns.values[entries].astype(np.float64), codes, weight, total, first, values, weights),
            )
            yield ValueTables(columns.features[left:right], first, values[:size], weights[:size])


def _blocks(columns: SortedColumns) -> Iterator[tuple[int, int]]:
    """Ranges of columns with at most `_BLOCK` entries, or of one column."""
    ends = starts(columns.end - columns.begin + 1)
    left = 0
    while left < columns.begin.size:
        right = max(left + 1, int(np.searchsorted(ends, ends[left] + _BLOCK, side="right")) - 1)
        yield left, right
        left = right
