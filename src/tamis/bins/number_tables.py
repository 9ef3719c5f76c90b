"""Columns as tables: sums of a numeric target at each distinct value."""

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import centre_and_scale
from tamis.bins.value_tables import ValueTables, tabulated


class ScaledTarget(NamedTuple):
    """A numeric target less its mean, in a unit near its deviation: sums of its squares neither overflow nor cancel."""

    values: FloatArray
    centre: float
    unit: float

    @classmethod
    def of(cls, y: FloatArray, weight: FloatArray | None = None) -> "ScaledTarget":
        """The unit is a power of two, so that nothing is rounded but the mean.

        Examples
        --------
        >>> ScaledTarget.of(np.array([105.0, 109.0]))
        ScaledTarget(values=array([-1.,  1.]), centre=107.0, unit=2.0)
        """
        centre, deviation = centre_and_scale(y, weight)
        unit = 2.0 ** min(round(math.log2(deviation)), 1023)
        return cls((y - centre) / unit, centre, unit)

    def cost(self, min_gain: float | Literal["auto"]) -> float | Literal["auto"]:
        """The cost of a bin, a squared target, in these units."""
        return min_gain if min_gain == "auto" else min_gain / self.unit / self.unit

    def restored(self, means: FloatArray) -> FloatArray:
        """Means of these values as means of the target."""
        return self.centre + self.unit * means


class NumberTables(ValueTables):
    """Tables whose totals are weight, sum of squares and sum of a numeric target."""

    def sums(self) -> FloatArray:
        """The totals."""
        return self.totals

    def means(self, totals: FloatArray, otherwise: FloatArray) -> FloatArray:
        """The mean target."""
        weight = totals[:, :1]
        return np.where(weight > 0, totals[:, 2:] / np.where(weight > 0, weight, 1.0), otherwise)

    def errors(self, predictions: FloatArray) -> FloatArray:
        """Squared error of the target about predictions."""
        weight, squares, total = self.totals.T
        found: FloatArray = squares - 2 * total * predictions[:, 0] + weight * predictions[:, 0] ** 2
        return found

    def line_sums(self) -> FloatArray:
        """The totals, and the sums of x, x squared and x times target, of x from -1 to 1 in each column."""
        weight, squares, total = self.totals.T
        low, high = self._ends()
        # Halved before they are subtracted: the range of a column may overflow.
        half = np.where(high > low, high / 2 - low / 2, 1.0)
        x = (self.values - (low / 2 + high / 2)[self.column]) / half[self.column]
        return np.column_stack((weight, squares, total, weight * x, weight * x * x, total * x))

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """The lowest and the highest value of each column; 0 for one without."""
        low, high = np.zeros(self.features.size), np.zeros(self.features.size)
        known = np.diff(self.first) > 0
        low[known], high[known] = self.values[self.first[:-1][known]], self.values[self.first[1:][known] - 1]
        return low, high


def number_tables(X: Matrix, y: FloatArray, weight: FloatArray) -> Iterator[NumberTables]:
    """All columns of a matrix as tables, in blocks of a moderate size; weights are above zero.

    Examples
    --------
    >>> X = np.array([[0.0], [5.0], [0.0], [np.nan]])
    >>> (table,) = number_tables(X, np.array([0.5, 2.0, 1.5, 9.0]), np.ones(4))
    >>> table.values, table.totals.tolist()
    (array([0., 5.]), [[2.0, 2.5, 2.0], [1.0, 4.0, 2.0]])
    """
    numbers = np.column_stack((weight, weight * y**2, weight * y))
    return tabulated(X, NumberTables, np.zeros(y.size, dtype=np.int64), numbers, numbers.sum(axis=0))
