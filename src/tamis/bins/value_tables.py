"""Columns as tables: sums of the target at each distinct value."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tamis.base.types import FloatArray, Mask, Matrix
from tamis.bins.cuts import Cuts, starts
from tamis.kernels.optimal_binning import sum_values
from tamis.trees.columns import SortedColumns, sorted_columns

#: Entries tabulated at a time.
_BLOCK = 1_000_000

Kind = TypeVar("Kind", bound="ValueTables")


@dataclass(frozen=True)
class ValueTables(ABC):
    """Some columns (`features`), each as its distinct known values and the sums of the target over their rows.

    Column ``features[j]`` owns the rows ``first[j]`` up to ``first[j + 1]`` of `values`, ascending, and `totals`. What
    the totals are, a subclass says: they add up over values.
    """

    features: np.ndarray
    first: np.ndarray
    values: FloatArray
    totals: FloatArray

    @abstractmethod
    def sums(self) -> FloatArray:
        """Weight, sum of squares and sums of the target's numbers at each value: the input of the kernels."""

    @abstractmethod
    def means(self, totals: FloatArray, otherwise: FloatArray) -> FloatArray:
        """The mean target of some totals, one row each; `otherwise` where there is no weight."""

    @abstractmethod
    def errors(self, predictions: FloatArray) -> FloatArray:
        """Squared error of the rows of each value, given a prediction of the target for each value."""

    @property
    def column(self) -> np.ndarray:
        """The place in `features` of the column that each value belongs to."""
        return np.repeat(np.arange(self.features.size), np.diff(self.first))

    def cuts(self, begins: Mask) -> Cuts:
        """The cuts halfway below the marked values, which are not the first of a column."""
        places = np.flatnonzero(begins)
        return Cuts.counted(np.diff(np.searchsorted(places, self.first)), cuts_below(self.values, places))

    def bins(self, begins: Mask) -> tuple[np.ndarray, int]:
        """The bin of each value, column after column, where bins begin at the marked values, and their number."""
        # Every column begins with a bin, even without values.
        return np.cumsum(begins) + self.column, int(begins.sum()) + self.features.size


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


def tabulated(X: Matrix, kind: type[Kind], place: np.ndarray, numbers: FloatArray, total: FloatArray) -> Iterator[Kind]:
    """All columns of a matrix as tables of a kind, in blocks of a moderate size; missing values are left out.

    Row i adds ``numbers[i]`` to the totals from ``place[i]`` on; `total` is the sum over all rows. All zeros of a
    sparse column are one value, so that only stored entries take time.
    """
    for columns in sorted_columns(X):
        for left, right in _blocks(columns):
            begin, end = columns.begin[left:right], columns.end[left:right]
            room = int((end - begin).sum()) + begin.size
            values, totals = np.empty(room), np.empty((room, total.size))
            first = np.empty(begin.size + 1, dtype=np.int64)
            entries = slice(begin[0], end[-1])
            size = sum_values(
                *(begin - begin[0], end - begin[0], columns.rows[entries]),
                *(columns.values[entries].astype(np.float64), place, numbers, total, first, values, totals),
            )
            yield kind(columns.features[left:right], first, values[:size], totals[:size])


def _blocks(columns: SortedColumns) -> Iterator[tuple[int, int]]:
    """Ranges of columns with at most `_BLOCK` entries, or of one column."""
    ends = starts(columns.end - columns.begin + 1)
    left = 0
    while left < columns.begin.size:
        right = max(left + 1, int(np.searchsorted(ends, ends[left] + _BLOCK, side="right")) - 1)
        yield left, right
        left = right
