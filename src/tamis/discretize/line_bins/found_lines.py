"""Bins of all columns and the regression line of a numeric target in each."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from tamis.base.types import FloatArray, Matrix
from tamis.bins.cuts import Cuts
from tamis.bins.number_tables import NumberTables, ScaledTarget, number_tables
from tamis.bins.value_tables import added
from tamis.discretize.optimal.limits import BinLimits
from tamis.discretize.optimal.optimal import best_begins


@dataclass(frozen=True)
class FoundLines:
    """For each column its cuts, and for each of its bins the ends, and the slope and the values at both ends of a line.

    `ends` and `values` have shape (n_bins, 2): the lowest and the highest value of the training rows in the bin.
    """

    cuts: list[FloatArray]
    slopes: list[FloatArray]
    ends: list[FloatArray]
    values: list[FloatArray]


def found_lines(X: Matrix, y: FloatArray, min_gain: float | Literal["auto"], limits: BinLimits) -> FoundLines:
    """The bins of all columns whose lines leave the least squared error, plus a cost for each bin.

    Examples
    --------
    >>> x = np.arange(40.0)
    >>> found = found_lines(x[:, None], np.where(x < 20, x, 60 - 2 * x), "auto", BinLimits())
    >>> found.cuts, found.slopes, found.ends[0].tolist()
    ([array([19.5])], [array([ 1., -2.])], [[0.0, 19.0], [20.0, 39.0]])
    """
    target = ScaledTarget.of(y)
    begins, numbers = [], []
    for table in number_tables(X, target.values, np.ones(y.size)):
        marked = best_begins(table, table.line_sums(), target.cost(min_gain), limits, lines=True)
        begins.append(table.cuts(marked))
        numbers.append(_lines(table, marked))
    cuts, lines = Cuts.joined(begins), np.concatenate(numbers)
    slopes, ends, values = target.unit * lines[:, 0], lines[:, 1:3], target.restored(lines[:, 3:])
    parts = [slice(start, stop) for start, stop in pairwise(cuts.first + np.arange(cuts.first.size))]
    return FoundLines(cuts.apart(), *([one[part].copy() for part in parts] for one in (slopes, ends, values)))


def _lines(table: NumberTables, begins: np.ndarray) -> FloatArray:
    """Slope, ends and values at the ends of the line of each bin; zeros for a column without values."""
    place, size = table.bins(begins)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, place, table.values)
    np.maximum.at(high, place, table.values)
    empty = low > high
    low[empty] = high[empty] = 0.0
    weight, _, total = table.totals.T
    # From -1 to 1 within each bin, so that neither a distant nor a narrow bin loses digits.
    middle, half = low / 2 + high / 2, np.where(high > low, high / 2 - low / 2, 1.0)
    x = (table.values - middle[place]) / half[place]
    of_bins = added(np.column_stack((weight, total, weight * x)), place, size)
    of_bins[empty, 0] = 1.0
    mean, centre = of_bins[:, 1] / of_bins[:, 0], of_bins[:, 2] / of_bins[:, 0]
    x -= centre[place]
    spread, along = added(np.column_stack((weight * x * x, total * x)), place, size).T
    slope = np.divide(along, spread, out=np.zeros(size), where=high > low)
    return np.column_stack((slope / half, low, high, mean + slope * (-1 - centre), mean + slope * (1 - centre)))
