"""Correlation of a feature with the class."""

import numpy as np

from tamis.base._sklearn import StrOptions
from tamis.base.moments import ClassMoments, divide
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import Codes, FloatArray, Matrix


@score(
    Part("cc", paper="Grabczewski and Jankowski 2006, eq. 24", phrase="correlation with the class", role="association"),
    constraints={"classes": [StrOptions({"nominal", "ordered"})]},
)
def cc(X: Matrix, y: Codes, sample_weight: FloatArray | None = None, *, classes: str = "nominal") -> FloatArray:
    """Absolute correlation of the feature with the class.

    For two classes it is the absolute Pearson correlation of the feature with the class codes,

        |E(XY) - E(X)E(Y)| / (sd(X) sd(Y)).

    For more classes, ``classes="nominal"`` gives the multiple correlation eta, the square root of the between-class
    share of the variance, which does not depend on the order of the classes; ``classes="ordered"`` correlates with the
    codes 0, 1, 2, ... as they are. For two classes both are the same number. A constant feature scores 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import cc
    >>> cc(np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]), [0, 0, 1, 1])
    array([1., 0.])
    """
    moments = ClassMoments.of(X, y, sample_weight)
    variation = moments.between + moments.within
    if classes == "nominal":
        return np.sqrt(np.minimum(divide(moments.between, variation), 1.0))
    codes = np.arange(moments.mean.shape[0])[:, None]
    centred = codes - divide((moments.weight * codes).sum(axis=0), moments.total)
    covariation = (moments.weight * centred * (moments.mean - moments.grand_mean)).sum(axis=0)
    code_variation = (moments.weight * centred**2).sum(axis=0)
    return np.minimum(np.abs(divide(covariation, np.sqrt(variation * code_variation))), 1.0)
