"""Student's and Welch's t."""

import numpy as np
from scipy.special import stdtr

from tamis.base.moments import ClassMoments, divide, moments, ratio
from tamis.base.part import Part
from tamis.base.score import Scored, score
from tamis.base.types import FloatArray
from tamis.base.validation import class_pairs


@score(
    Part("t", paper="Student 1908; Welch 1947", phrase="the t statistic", ranks_like="cc", counterpart="f"),
    pvalues=True,
    constraints={"welch": ["boolean"]},
    summary=moments,
)
def t(m: ClassMoments, *, welch: bool = False) -> Scored:
    """Absolute t statistic of the difference between class means.

    Student's pooled variance by default, Welch's unequal variances with ``welch=True``. P-values are two-sided.
    For more than two classes it is the largest over pairs of classes, and its p-value is the smallest of the
    pairs' times their number (Bonferroni). Sample weights count as repeated rows. A constant feature scores 0
    with p-value 1; one that is constant within each class but not overall scores infinity with p-value 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import t
    >>> X = np.array([[0.0], [2.0], [4.0], [6.0]])
    >>> t(X, [0, 0, 1, 1]), t.pvalues(X, [0, 0, 1, 1]).round(3)
    (array([2.82842712]), array([0.106]))
    """
    pairs = class_pairs(m.mean.shape[0])
    parts = [_welch(m, a, b) if welch else _student(m, a, b) for a, b in pairs]

    def pvalues() -> FloatArray:
        tails = [2.0 * stdtr(np.maximum(freedom, 1e-300), -statistic) for statistic, freedom in parts]
        return np.minimum(len(pairs) * np.min(tails, axis=0), 1.0)

    return Scored(np.max([statistic for statistic, _ in parts], axis=0), pvalues)


def _student(m: ClassMoments, a: int, b: int) -> tuple[FloatArray, FloatArray]:
    freedom = np.maximum(m.weight[a] + m.weight[b] - 2.0, 0.0)
    pooled = divide(m.scatter[a] + m.scatter[b], freedom)
    error = np.sqrt(pooled * (divide(1.0, m.weight[a]) + divide(1.0, m.weight[b])))
    return _testable(m.gap(a, b), error, freedom), freedom


def _welch(m: ClassMoments, a: int, b: int) -> tuple[FloatArray, FloatArray]:
    squared_error = [divide(m.scatter[c], m.weight[c] * (m.weight[c] - 1.0)) for c in (a, b)]
    spread = [divide(e**2, m.weight[c] - 1.0) for e, c in zip(squared_error, (a, b), strict=True)]
    total = squared_error[0] + squared_error[1]
    pooled_freedom = np.maximum(m.weight[a] + m.weight[b] - 2.0, 0.0)
    freedom = divide(total**2, spread[0] + spread[1])
    freedom[total == 0] = pooled_freedom[total == 0]
    freedom[(m.weight[a] <= 1) | (m.weight[b] <= 1)] = 0.0
    return _testable(m.gap(a, b), np.sqrt(total), freedom), freedom


def _testable(gap: FloatArray, error: FloatArray, freedom: FloatArray) -> FloatArray:
    """The statistic; 0 where too few rows are known for the test to exist."""
    return np.where(freedom > 0, ratio(gap, error), 0.0)
