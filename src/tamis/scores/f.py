"""The F statistic of one-way analysis of variance, and of the regression on one feature."""

import numpy as np
from scipy.special import fdtrc

from tamis.base.moments import (
    ClassMoments,
    TargetMoments,
    divide,
    moments,
    ratio,
    regression_f,
    regression_pvalues,
)
from tamis.base.part import Part
from tamis.base.score import Scored, score
from tamis.base.task import BOTH


@score(
    Part("f", paper="Fisher 1925", phrase="the F statistic", ranks_like="cc"),
    pvalues=True,
    tasks=BOTH,
    summary=moments,
)
def f(m: ClassMoments | TargetMoments) -> Scored:
    """Variance that the target explains over the variance that it leaves.

    For classes F = (B / (k - 1)) / (W / (n - k)), with B the scatter of the k class means and W the scatter within
    classes over n rows. For two classes it is the square of Student's t. Classes without a known value in a column are
    not counted there. A feature that is constant within each class but not overall scores infinity with p-value 0.

    For numbers F = r^2 (n - 2) / (1 - r^2), with r the correlation of the feature and the target: the test of the slope
    of a line, with 1 and n - 2 degrees of freedom. A target that is a line of the feature, to twelve digits, gives
    infinity with p-value 0.

    Rows in which the feature is missing are left out, and sample weights count as repeated rows. A constant feature
    scores 0 with p-value 1, and so does every feature where a target of numbers is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import f
    >>> f(np.array([[0.0], [2.0], [4.0], [6.0]]), [0, 0, 1, 1])
    array([8.])
    >>> f(np.array([[0.0], [1.0], [2.0], [3.0]]), [0.5, 0.5, 2.5, 2.5])
    array([8.])
    """
    if isinstance(m, TargetMoments):
        found, weight = regression_f(m.correlation, m.weight), m.weight
        return Scored(found, lambda: regression_pvalues(found, weight))
    present = (m.weight > 0).sum(axis=0)
    between_freedom = np.maximum(present - 1.0, 0.0)
    within_freedom = np.maximum(m.total - present, 0.0)
    testable = (between_freedom > 0) & (within_freedom > 0)
    values = np.where(testable, ratio(divide(m.between, between_freedom), divide(m.within, within_freedom)), 0.0)
    return Scored(values, lambda: np.where(testable, fdtrc(between_freedom, within_freedom, values), 1.0))
