"""Optimal binning: the bins whose class shares, or means, fit the target best, at a cost for each bin."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from tamis.base.task import BOTH, is_numeric
from tamis.base.types import FloatArray, Mask, Matrix, Target
from tamis.bins.class_tables import class_tables
from tamis.bins.cuts import Cuts
from tamis.bins.method import binning
from tamis.bins.number_tables import ScaledTarget, number_tables
from tamis.bins.value_tables import ValueTables
from tamis.kernels.optimal_binning import best_bins
from tamis.trees.rows import counted

#: Least number of rows in a bin by default: "it would be hard to feel comfortable" with fewer.
MIN_ROWS = 10


@binning("optimal", tasks=BOTH)
def optimal(
    X: Matrix, y: Target, *, min_gain: float | Literal["auto"], max_bins: int | None, min_rows: int
) -> list[FloatArray]:
    """Cut each column so that the squared error of the class shares, or means, plus a cost for each bin, is least.

    With m_b the class shares in bin b, the cuts minimise ``sum_b (1/2 sum_{i in b} |e_i - m_b|^2 + C)``, where e_i is 1
    at the class of row i and 0 elsewhere. For two classes the error is that of a target of 0 and 1 about the mean of
    its bin. For a target of numbers y_i they minimise ``sum_b (sum_{i in b} (y_i - m_b)^2 + C)`` with m_b the mean in
    bin b. The minimum is exact. C is `min_gain`; "auto" is ``s / (n - 1)`` with s the error of a single bin of all n
    known rows, for which one bin for all rows and one for each cost the same. That is little: in columns of noise about
    one cut for every 15 rows is made. Equal values stay together.

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
    return optimal_cuts(X, y, min_gain=min_gain, max_bins=max_bins, min_rows=min_rows).apart()


def optimal_cuts(
    X: Matrix,
    y: Target,
    sample_weight: FloatArray | None = None,
    *,
    min_gain: float | Literal["auto"] = "auto",
    max_bins: int | None = None,
    min_rows: int = MIN_ROWS,
) -> Cuts:
    """The cuts of :func:`optimal`; weights count as repeated rows.

    A column with fewer rows than two bins need is not cut. Weights that sum to less than two rows are shares of the
    rows: n then replaces n - 1 in "auto", and `min_rows` is a share too.
    """
    n_classes = 0 if is_numeric(y) else int(y.max()) + 1
    X, y, weight = counted(X, y, sample_weight)
    if is_numeric(y):
        target = ScaledTarget.of(y, weight)
        y, min_gain = target.values, target.cost(min_gain)
    found = [
        table.cuts(best_begins(table, table.sums(), min_gain, max_bins, min_rows))
        for table in target_tables(X, y, weight, n_classes)
    ]
    return Cuts.joined(found) if found else Cuts.counted(np.zeros(0, dtype=np.int64), np.empty(0))


def target_tables(X: Matrix, y: Target, weight: FloatArray, n_classes: int) -> Iterator[ValueTables]:
    """All columns as tables: of the weight of each class, or of the sums of a numeric target."""
    return number_tables(X, y, weight) if is_numeric(y) else class_tables(X, y, weight, n_classes)


def best_begins(
    table: ValueTables,
    sums: FloatArray,
    min_gain: float | Literal["auto"],
    max_bins: int | None,
    min_rows: float,
    *,
    lines: bool = False,
) -> Mask:
    """The values at which the best bins of each column begin, except the first.

    `sums` are those of the table, for a mean in each bin or, with `lines`, for a regression line.
    """
    begins, cost = np.empty(table.values.size, dtype=bool), np.empty(table.features.size)
    penalty = np.full(table.features.size, -1.0 if min_gain == "auto" else float(min_gain))
    best_bins(table.first, sums, penalty, max_bins or 0, float(min_rows), lines, begins, cost)
    return begins
