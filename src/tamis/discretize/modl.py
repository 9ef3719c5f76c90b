"""Cuts into the most probable intervals (MODL)."""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.bins.cuts import Cuts
from tamis.bins.method import binning
from tamis.kernels.modl import interval_cuts
from tamis.trees.columns import sorted_columns
from tamis.trees.rows import counted

#: Logarithms of factorials computed in advance; larger ones are rare.
_LISTED = 2**20


class Intervals(NamedTuple):
    """Cuts of columns, and the gain of the intervals of each over a single one.

    The gain, in nats, is the log of the ratio of their posterior probabilities; 0 for a column without a cut, which is
    independent of the classes.
    """

    cuts: Cuts
    gains: FloatArray


@binning("modl")
def modl(X: Matrix, y: Codes, *, max_bins: int | None) -> list[FloatArray]:
    """Cut each column into the intervals that are most probable given the classes of the sorted rows.

    With m rows of J classes, m_i of them in interval i of I, and m_ij of these of class j, they minimise

        ln m + ln C(m + I - 1, I - 1) + sum_i ln C(m_i + J - 1, J - 1) + sum_i ln(m_i! / prod_j m_ij!):

    the number of intervals, their ends, the class shares in each and the classes of the rows have uniform priors, each
    given those before it. The optimum is exact where the classes change at most 63 times along the sorted values.
    Beyond that neighbours are merged greedily down to one interval, the best of these partitions is taken, and
    intervals are split, merged and shifted while that lowers the cost. At most `max_bins` intervals are made.

    Equal values stay together. Missing values are ignored. A column independent of the classes is not cut.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.discretize import Discretize
    >>> X = np.column_stack([np.arange(30.0), np.arange(30) % 7])
    >>> y = (X[:, 0] > 9) & (X[:, 0] < 20)
    >>> Discretize("modl").fit(X, y).cuts_
    [array([ 9.5, 19.5]), array([], dtype=float64)]
    """
    return modl_intervals(X, y, max_bins=max_bins).cuts.apart()


def modl_intervals(
    X: Matrix,
    y: Codes,
    n_classes: int | None = None,
    sample_weight: FloatArray | None = None,
    max_bins: int | None = None,
) -> Intervals:
    """The intervals of :func:`modl` for validated columns, of at most `max_bins` each.

    `n_classes` is J, by default the number of classes with rows of positive weight. Weights count as repeated rows; for
    fractions the gamma function replaces the factorials.

    Examples
    --------
    >>> import numpy as np
    >>> cuts, gains = modl_intervals(np.arange(20.0)[:, None], np.repeat([0, 1], 10))
    >>> cuts.values, gains.round(2)
    (array([9.5]), array([7.33]))
    """
    X, codes, weight = counted(X, y, sample_weight)
    codes = codes.astype(np.int64, copy=False)
    members, total = np.bincount(codes), np.bincount(codes, weights=weight)
    n_classes = n_classes or max(1, int(np.count_nonzero(members)))
    most = codes.size + 1 if max_bins is None else max_bins
    logs = _log_factorials(weight, n_classes)
    gains, count, cuts = np.zeros(X.shape[1]), np.zeros(X.shape[1], dtype=np.int64), [np.empty(0)]
    for columns in sorted_columns(X) if codes.size else ():
        cut, size, gain = np.empty(columns.values.size), count[columns.features], gains[columns.features]
        interval_cuts(
            *(columns.begin, columns.end, columns.rows, columns.values.astype(np.float64, copy=False)),
            *(codes, weight, members, total, logs, n_classes, most, cut, size, gain),
        )
        count[columns.features], gains[columns.features] = size, gain
        cuts.append(cut[: size.sum()])
    return Intervals(Cuts.counted(count, np.concatenate(cuts)), gains)


def _log_factorials(weight: FloatArray, n_classes: int) -> FloatArray:
    """Logarithms of 0!, 1!, ...; none where weights are not whole numbers."""
    if (weight != np.floor(weight)).any():
        return np.empty(0)
    largest = weight.sum() + max(weight.size, n_classes)
    found: FloatArray = gammaln(np.arange(min(largest + 1, _LISTED)) + 1.0)
    return found
