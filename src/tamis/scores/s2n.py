"""Signal to noise."""

import numpy as np

from tamis.base.moments import ClassMoments, moments, ratio
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import FloatArray


@score(
    Part(
        "s2n",
        paper="Golub et al. 1999",
        phrase="the signal-to-noise ratio",
        ranks_like="cc",
        ranks_like_on=("balanced_binary",),
        counterpart="cc",
    ),
    summary=moments,
)
def s2n(m: ClassMoments) -> FloatArray:
    """Distance of the class means over the sum of the class deviations.

        |mu+ - mu-| / (sd+ + sd-),

    with biased deviations. For more than two classes it is the mean over pairs of classes, each pair weighted
    by the product of its classes' shares of the rows. A constant feature scores 0; one that is constant
    within each class but not overall scores infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import s2n
    >>> s2n(np.array([[0.0], [2.0], [4.0], [6.0]]), [0, 0, 1, 1])
    array([2.])
    """
    deviation = np.sqrt(m.variance)
    return m.pair_mean(lambda a, b: ratio(m.gap(a, b), deviation[a] + deviation[b]))
