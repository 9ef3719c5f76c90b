"""Tables of a column's values and classes: what a score needs that depends on the order of the values.

A column of at most 256 different values is counted value by value, and its score is exact. Of others the rows between
two cuts count as one value, their mean. The score of a single split (ssv, stump) is then exact or too low, and the
tables tell by how much at most: where the best split lies between two cuts, it does best to divide no class.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.score import ArrayFields, Score
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.kernels.value_tables import count_between

#: Bins of a column.
BINS = 256


@dataclass(frozen=True)
class ValueTables(ArrayFields):
    """For each column and bin how many rows of each class it holds, and the sum, least and largest of their values.

    The columns are the last axis: `counts` is (classes, bins, columns), the others are (bins, columns). An empty bin
    has infinity for the least, and minus infinity for the largest. Those of parts of the rows add up.
    """

    counts: FloatArray
    total: FloatArray
    low: FloatArray
    high: FloatArray

    def __add__(self, other: "ValueTables") -> "ValueTables":
        return ValueTables(
            self.counts + other.counts,
            self.total + other.total,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def coarseness(self) -> FloatArray:
        """For each column the largest share of its rows that lie between two cuts and have different values."""
        rows = self.counts.sum(axis=0)
        known = rows.sum(axis=0)
        mixed = np.where(self.low < self.high, rows, 0.0)
        return np.asarray(mixed.max(axis=0) / np.maximum(known, 1.0))


@dataclass(frozen=True, eq=False)
class Counter:
    """``summarise(X, y)`` for the columns from `start`."""

    cuts: FloatArray
    n_classes: int

    def __call__(self, X: Matrix, y: Any) -> ValueTables:
        X = np.asfortranarray(X.toarray() if sp.issparse(X) else X)
        n_columns, bins = X.shape[1], self.cuts.shape[1] + 1
        counts = np.zeros((n_columns, bins, self.n_classes))
        total, low = np.zeros((n_columns, bins)), np.full((n_columns, bins), np.inf)
        high = np.full((n_columns, bins), -np.inf)
        count_between(X, np.ascontiguousarray(y, dtype=np.intp), self.cuts, counts, total, low, high)
        return ValueTables(*(np.ascontiguousarray(one.T) for one in (counts, total, low, high)))


def cuts_of(values: FloatArray, bins: int = BINS) -> FloatArray:
    """Cuts halfway between all different values, or at a number of quantiles; infinite where there are fewer.

    >>> cuts_of(np.array([3.0, 1.0, 1.0, np.nan]), bins=4)
    array([ 2., inf, inf])
    >>> cuts_of(np.arange(100.0), bins=4)
    array([24.75, 49.5 , 74.25])
    """
    known = np.unique(values[~np.isnan(values)])
    if known.size <= bins:
        cuts = known[:-1] + np.diff(known) / 2
    else:
        quantiles = np.quantile(values[~np.isnan(values)], np.arange(1, bins) / bins)
        cuts = np.unique(quantiles)
    return np.concatenate([cuts, np.full(bins - 1 - cuts.size, np.inf)])


def score_of(found: ValueTables, column: int, score: Score, options: dict[str, Any]) -> float:
    """The score of one column: its bins are rows, which weigh as much as the rows in them."""
    rows = found.counts[:, :, column].sum(axis=0)
    low, high = found.low[:, column], found.high[:, column]
    with np.errstate(invalid="ignore"):
        # The mean of equal values is one of them only without rounding.
        means = np.where(low == high, low, np.clip(found.total[:, column] / np.maximum(rows, 1.0), low, high))
    return _evaluated(found.counts[:, :, column], lambda classes, bins: means[bins], score, options)


def upper_bound(found: ValueTables, column: int, score: Score, options: dict[str, Any]) -> float:
    """What the score is at most: some classes have the least value of each bin, the others the largest."""
    low, high = found.low[:, column], found.high[:, column]
    n_classes = found.counts.shape[0]
    sets = (np.array(one) for one in product([False, True], repeat=n_classes) if 0 < sum(one) < n_classes)

    def largest(first: Mask) -> float:
        return _evaluated(
            found.counts[:, :, column],
            lambda classes, bins: np.where(first[classes], low[bins], high[bins]),
            score,
            options,
        )

    return max(map(largest, sets))


def _evaluated(
    counts: FloatArray, value_of: Callable[[Codes, Codes], FloatArray], score: Score, options: dict[str, Any]
) -> float:
    """The score of a column in which the rows of a class in a bin have one value."""
    classes, bins = np.nonzero(counts)
    if not classes.size:
        return 0.0
    X = value_of(classes, bins)[:, None]
    return float(score.evaluate(X, classes.astype(np.intp), counts[classes, bins], **options).values[0])
