"""Variance of the term frequency."""

import numpy as np

from tamis.base.moments import divide
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import FloatArray
from tamis.contingency.class_counts import ClassCounts, refuse_negative

#: Relative rounding error of sums of squares.
_ROUNDING = 64 * np.finfo(np.float64).eps


@score(
    Part(
        "tfv",
        paper="Tang, Shepherd, Milios and Heywood 2005, section 2.1.3",
        phrase="the variance of the term frequency",
        searched=False,
        suits=("sparse", "counts"),
    ),
    supervised=False,
    nonnegative=True,
    summary=ClassCounts,
)
def tfv(counts: ClassCounts) -> FloatArray:
    """Variance of a word's term frequency, times the number of rows; ignores the classes.

    Values must be zero or more. With n rows,

        TfV = sum_i tf_i^2 - (sum_i tf_i)^2 / n,    tf_i = 1 + ln(x_i), 0 where x_i = 0.

    Values below 1 are not counts: tf is 0, never negative, for those below 1/e.

    Rows in which the value is missing are left out. Sample weights count as repeated rows. A feature that is empty or
    constant scores 0.

    References
    ----------
    B. Tang, M. Shepherd, E. Milios and M. I. Heywood, "Comparing and combining dimension reduction techniques for
    efficient text clustering", SIAM SDM workshop on feature selection for data mining, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import tfv
    >>> tfv(np.array([[3, 1, 1], [0, 0, 2], [0, 0, 1]])).round(3)
    array([2.936, 0.667, 0.32 ])
    """
    refuse_negative(counts.presence.lowest, "tfv")
    sums = counts.logs
    values = sums.squares - divide(sums.total**2, counts.known.sum(axis=0))
    return np.where(values > _ROUNDING * sums.squares, values, 0.0)
