"""Correlation of a feature with the target."""

import numpy as np

from tamis.base._sklearn import StrOptions
from tamis.base.moments import ClassMoments, TargetMoments, divide, moments
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.task import BOTH
from tamis.base.types import FloatArray


@score(
    Part(
        "cc", paper="Grabczewski and Jankowski 2006, eq. 24", phrase="correlation with the target", role="association"
    ),
    constraints={"classes": [StrOptions({"nominal", "ordered"})]},
    tasks=BOTH,
    summary=moments,
)
def cc(m: ClassMoments | TargetMoments, *, classes: str = "nominal") -> FloatArray:
    """Absolute correlation of the feature with the target.

    For numbers, and for the codes of two classes, it is the absolute Pearson correlation

        |E(XY) - E(X)E(Y)| / (sd(X) sd(Y)).

    For more classes, ``classes="nominal"`` gives the multiple correlation eta, the square root of the between-class
    share of the variance, which does not depend on the order of the classes; ``classes="ordered"`` correlates with the
    codes 0, 1, 2, ... as they are. For two classes both are the same number.

    Rows in which the feature is missing are left out, and sample weights count as repeated rows. A constant feature
    scores 0, and so does every feature where a target of numbers is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import cc
    >>> cc(np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]), [0, 0, 1, 1])
    array([1., 0.])
    >>> cc(np.array([[1.0, 2.0], [2.0, 0.0], [3.0, 2.0]]), [0.5, 1.0, 1.5])
    array([1., 0.])
    """
    if isinstance(m, TargetMoments):
        return np.abs(m.correlation)
    variation = m.between + m.within
    if classes == "nominal":
        return np.sqrt(np.minimum(divide(m.between, variation), 1.0))
    codes = np.arange(m.mean.shape[0])[:, None]
    centred = codes - divide((m.weight * codes).sum(axis=0), m.total)
    covariation = (m.weight * centred * (m.mean - m.grand_mean)).sum(axis=0)
    code_variation = (m.weight * centred**2).sum(axis=0)
    return np.minimum(np.abs(divide(covariation, np.sqrt(variation * code_variation))), 1.0)
