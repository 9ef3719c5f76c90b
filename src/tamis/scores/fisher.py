"""Fisher's criterion."""

from tamis.base.moments import ClassMoments, moments, ratio
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import FloatArray


@score(
    Part(
        "fisher",
        paper="Lal, Chapelle and Schölkopf 2006, section 2",
        phrase="Fisher's criterion",
        ranks_like="cc",
        ranks_like_on=("balanced_binary",),
        counterpart="cc",
    ),
    summary=moments,
)
def fisher(m: ClassMoments) -> FloatArray:
    """Squared distance of the class means over the sum of the class variances.

        (mu+ - mu-)^2 / (V+ + V-),

    with biased variances. For more than two classes it is the mean over pairs of classes, each pair weighted
    by the product of its classes' shares of the rows. A constant feature scores 0; one that is constant
    within each class but not overall scores infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import fisher
    >>> fisher(np.array([[0.0], [2.0], [4.0], [6.0]]), [0, 0, 1, 1])
    array([8.])
    """
    return m.pair_mean(lambda a, b: ratio(m.gap(a, b) ** 2, m.variance[a] + m.variance[b]))
