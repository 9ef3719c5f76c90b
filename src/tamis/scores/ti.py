"""Mean tf-idf."""

import numpy as np

from tamis.base.moments import divide
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import FloatArray
from tamis.contingency.class_counts import ClassCounts, refuse_negative


@score(
    Part(
        "ti",
        paper="Tang, Shepherd, Milios and Heywood 2005, section 2.1.2",
        phrase="mean tf-idf",
        searched=False,
        suits=("sparse", "counts"),
    ),
    supervised=False,
    nonnegative=True,
    summary=ClassCounts,
)
def ti(counts: ClassCounts) -> FloatArray:
    """Mean tf-idf of a word over all rows; ignores the classes.

    Values must be zero or more. With n rows, of which DF have the word,

        TI = (1 / n) sum_i tf_i ln(n / DF),    tf_i = 1 + ln(x_i), 0 where x_i = 0.

    Values below 1 are not counts: tf is 0, never negative, for those below 1/e.

    Rows in which the value is missing are left out. Sample weights count as repeated rows. A feature that is empty, or
    present everywhere, scores 0.

    References
    ----------
    B. Tang, M. Shepherd, E. Milios and M. I. Heywood, "Comparing and combining dimension reduction techniques for
    efficient text clustering", SIAM SDM workshop on feature selection for data mining, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import ti
    >>> ti(np.array([[3, 1, 1], [0, 0, 2], [0, 0, 1]])).round(3)
    array([0.769, 0.366, 0.   ])
    """
    refuse_negative(counts.presence.lowest, "ti")
    n, df = counts.known.sum(axis=0), counts.presence.total.sum(axis=0)
    idf = np.log(np.where(counts.mixed, divide(n, df), 1.0))
    return divide(counts.logs.total * idf, n)
