"""The F statistic of one-way analysis of variance."""

import numpy as np
from scipy.special import fdtrc

from tamis.base.moments import ClassMoments, divide, ratio
from tamis.base.part import Part
from tamis.base.score import Scored, score
from tamis.base.types import Codes, FloatArray, Matrix


@score(Part("f", paper="Fisher 1925", phrase="the F statistic", ranks_like="cc"), pvalues=True)
def f(X: Matrix, y: Codes, sample_weight: FloatArray | None = None) -> Scored:
    """Variance between the classes over variance within them.

    F = (B / (k - 1)) / (W / (n - k)), with B the scatter of the k class means and W the scatter within classes over n
    rows. For two classes it is the square of Student's t. Classes without a known value in a column are not counted
    there, and sample weights count as repeated rows. A constant feature scores 0 with p-value 1; one that is constant
    within each class but not overall scores infinity with p-value 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import f
    >>> f(np.array([[0.0], [2.0], [4.0], [6.0]]), [0, 0, 1, 1])
    array([8.])
    """
    m = ClassMoments.of(X, y, sample_weight)
    present = (m.weight > 0).sum(axis=0)
    between_freedom = np.maximum(present - 1.0, 0.0)
    within_freedom = np.maximum(m.total - present, 0.0)
    testable = (between_freedom > 0) & (within_freedom > 0)
    values = np.where(testable, ratio(divide(m.between, between_freedom), divide(m.within, within_freedom)), 0.0)
    return Scored(values, lambda: np.where(testable, fdtrc(between_freedom, within_freedom, values), 1.0))
