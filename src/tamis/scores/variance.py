"""Variance of a feature."""

import numpy as np

from tamis.base.moments import ClassMoments
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import Codes, FloatArray, Matrix


@score(
    Part(
        "variance", paper="Grabczewski and Jankowski 2006, section 4.3", phrase="variance", suits=("sparse", "counts")
    ),
    supervised=False,
)
def variance(X: Matrix, y: Codes | None = None, sample_weight: FloatArray | None = None) -> FloatArray:
    """Biased variance over all rows; ignores the classes.

    As a selector, ``variance()`` drops constant features.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import variance
    >>> variance(np.array([[0.0, 1.0], [2.0, 1.0]]))
    array([1., 0.])
    """
    return ClassMoments.of(X, np.zeros(X.shape[0], dtype=np.intp), sample_weight).variance[0]
