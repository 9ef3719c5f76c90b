"""Variance of a feature."""

from tamis.base.moments import ClassMoments, TargetMoments, divide, moments
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import FloatArray


@score(
    Part(
        "variance", paper="Grabczewski and Jankowski 2006, section 4.3", phrase="variance", suits=("sparse", "counts")
    ),
    supervised=False,
    summary=moments,
)
def variance(m: ClassMoments | TargetMoments) -> FloatArray:
    """Biased variance over all rows; ignores the classes.

    As a selector, ``variance()`` drops constant features.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import variance
    >>> variance(np.array([[0.0, 1.0], [2.0, 1.0]]))
    array([1., 0.])
    """
    if isinstance(m, TargetMoments):
        return divide(m.scatter, m.weight)
    return divide(m.within + m.between, m.total)
