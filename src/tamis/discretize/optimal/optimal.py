"""Optimal binning: the bins whose class shares, or means, fit the target best, at a cost for each bin."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from tamis.base.task import BOTH, is_numeric
from tamis.base.types import FloatArray, Mask, Matrix, Target
from tamis.bins.class_tables import class_tables
from tamis.bins.cuts import Cuts
from tamis.bins.method import binning
from tamis.bins.number_tables import ScaledTarget, number_tables
from tamis.bins.value_tables import ValueTables, added
from tamis.discretize.optimal.limits import MIN_ROWS, BinLimits
from tamis.discretize.optimal.losses import Centre, Loss, Strips, cheapest_bins, class_losses, number_losses
from tamis.trees.columns import sorted_columns
from tamis.trees.rows import counted


@binning("optimal", tasks=BOTH)
def optimal(
    X: Matrix,
    y: Target,
    *,
    min_gain: float | Literal["auto"],
    loss: Loss,
    centre: Centre,
    min_bins: int,
    max_bins: int | None,
    min_rows: int,
    max_rows: int | None,
    min_width: float,
    max_width: float | None,
) -> list[FloatArray]:
    """Cut each column so that the squared error of the class shares, or means, plus a cost for each bin, is least.

    With m_b the class shares in bin b, the cuts minimise ``sum_b (1/2 sum_{i in b} |e_i - m_b|^2 + C)``, where e_i is 1
    at the class of row i and 0 elsewhere. For two classes the error is that of a target of 0 and 1 about the mean of
    its bin. For a target of numbers y_i they minimise ``sum_b (sum_{i in b} (y_i - m_b)^2 + C)`` with m_b the mean in
    bin b. The minimum is exact. C is `min_gain`; "auto" is ``s / (n - 1)`` with s the error of a single bin of all n
    known rows, for which one bin for all rows and one for each cost the same. That is little: in columns of noise about
    one cut for every 15 rows is made. Equal values stay together.

    The paper allows other losses: "absolute values of residuals, residuals with respect to medians rather than means".
    The first is `loss` "absolute", ``|y_i - m_b|`` in place of the square; the second is `centre` "median", with the
    median of bin b, halfway between the two middle values of an even number, in place of m_b. Both together make the
    least absolute deviations. For classes each indicator has a median of its own, and the half of the sum remains; with
    absolute values about medians that is the number of rows of other classes than the one that more than half the rows
    of the bin are of, or half the rows where there is no such class. Absolute values about class shares are twice the
    squares. All other losses take time for every pair of values, so bins begin at no more than 1000 places, which share
    the rows out evenly: the minimum is exact for columns of up to 1000 distinct values.

    BinLimits (:class:`~tamis.discretize.optimal.limits.BinLimits`) that no bins of a column keep to are an error.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.discretize import Discretize
    >>> X, y = np.arange(60.0)[:, None], np.repeat([0, 1, 0], 20)
    >>> Discretize("optimal").fit(X, y).cuts_
    [array([19.5, 39.5])]
    >>> Discretize("optimal").fit(X, np.where(y > 0, 2.5, 0.1)).cuts_
    [array([19.5, 39.5])]
    """
    limits = BinLimits(min_bins, max_bins, min_rows, max_rows, min_width, max_width)
    return limited_cuts(X, y, None, limits, min_gain, loss, centre).apart()


def optimal_cuts(
    X: Matrix,
    y: Target,
    sample_weight: FloatArray | None = None,
    *,
    min_gain: float | Literal["auto"] = "auto",
    max_bins: int | None = None,
    min_rows: int = MIN_ROWS,
) -> Cuts:
    """The cuts of :func:`optimal` with squared errors; weights count as repeated rows.

    A column with fewer rows than two bins need is not cut. Weights that sum to less than two rows are shares of the
    rows: n then replaces n - 1 in "auto", and `min_rows` is a share too.
    """
    return limited_cuts(X, y, sample_weight, BinLimits(max_bins=max_bins, min_rows=min_rows), min_gain)


def limited_cuts(
    X: Matrix,
    y: Target,
    sample_weight: FloatArray | None,
    limits: BinLimits,
    min_gain: float | Literal["auto"],
    loss: Loss = "squared",
    centre: Centre = "mean",
) -> Cuts:
    """The cuts of :func:`optimal` within limits."""
    numeric = is_numeric(y)
    n_classes = 0 if numeric else int(y.max()) + 1
    X, y, weight = counted(X, y, sample_weight)
    if numeric:
        target = ScaledTarget.of(y, weight)
        y, unit = target.values, target.unit
        min_gain = target.cost(min_gain) if loss == "squared" or min_gain == "auto" else min_gain / unit
    elif loss == "absolute" and centre == "mean":
        # Twice the squares.
        loss, min_gain = "squared", min_gain if min_gain == "auto" else min_gain / 2
    if loss == "squared" and centre == "mean":
        found = [
            table.cuts(best_begins(table, table.sums(), min_gain, limits))
            for table in target_tables(X, y, weight, n_classes)
        ]
        return Cuts.joined(found) if found else Cuts.counted(np.zeros(0, dtype=np.int64), np.empty(0))
    way = _Way(limits, None if min_gain == "auto" else min_gain, loss, centre)
    columns = way.of_numbers(X, y, weight) if numeric else way.of_classes(X, y, weight, n_classes)
    return Cuts.of([*columns])


@dataclass(frozen=True)
class _Way:
    """How bins of other losses are found, column by column."""

    limits: BinLimits
    min_gain: float | None
    loss: Loss
    centre: Centre

    def of_classes(self, X: Matrix, y: Target, weight: FloatArray, n_classes: int) -> Iterator[FloatArray]:
        for table in class_tables(X, y, weight, n_classes):
            for feature, (start, stop) in zip(table.features, pairwise(table.first), strict=True):
                values, totals = table.values[start:stop], table.totals[start:stop]
                if not values.size:
                    yield np.empty(0)
                    continue
                strips = Strips.of(values, totals.sum(axis=1))
                inside = added(totals, strips.strip, strips.low.size)
                losses = class_losses(inside, self.loss, self.centre)
                yield self._cuts(losses, strips, inside.sum(axis=1), int(feature))

    def of_numbers(self, X: Matrix, y: FloatArray, weight: FloatArray) -> Iterator[FloatArray]:
        for columns in sorted_columns(X):
            for feature, start, stop in zip(columns.features, columns.begin, columns.end, strict=True):
                # Rows that are not listed are those of a sparse column that are zero.
                x = np.zeros(y.size)
                x[columns.rows[start:stop]] = columns.values[start:stop]
                known = ~np.isnan(x)
                if not known.any():
                    yield np.empty(0)
                    continue
                strips = Strips.of(x[known], weight[known])
                losses = number_losses(strips, y[known], weight[known], self.loss, self.centre)
                inside = added(weight[known, None], strips.strip, strips.low.size)[:, 0]
                yield self._cuts(losses, strips, inside, int(feature))

    def _cuts(self, losses: FloatArray, strips: Strips, weight: FloatArray, feature: int) -> FloatArray:
        starts, _ = cheapest_bins(losses, strips, weight, self.limits, self.min_gain, feature)
        return strips.cuts(starts)


def target_tables(X: Matrix, y: Target, weight: FloatArray, n_classes: int) -> Iterator[ValueTables]:
    """All columns as tables: of the weight of each class, or of the sums of a numeric target."""
    return number_tables(X, y, weight) if is_numeric(y) else class_tables(X, y, weight, n_classes)


def best_begins(
    table: ValueTables, sums: FloatArray, min_gain: float | Literal["auto"], limits: BinLimits, *, lines: bool = False
) -> Mask:
    """The values at which the best bins of each column begin, except the first.

    `sums` are those of the table, for a mean in each bin or, with `lines`, for a regression line.
    """
    return limits.solve(table.features, table.first, table.values, sums, min_gain, lines=lines)[0]
