"""Posterior inclusion probability of a word's counts."""

import numpy as np
from scipy.special import expit, gammaln

from tamis.base.part import Part
from tamis.base.score import Scored, score
from tamis.base.types import FloatArray
from tamis.contingency.class_counts import ClassCounts, OneClass, class_mean, refuse_negative
from tamis.contingency.whole_numbers import Tabulated
from tamis.scores.pip import PRIORS


@score(
    Part(
        "pipp",
        paper="Eyheramendy and Madigan 2005, section 2.2",
        phrase="the posterior probability that their counts depend on the class",
        searched=False,
        suits=("sparse", "counts"),
    ),
    nonnegative=True,
    constraints=PRIORS,
    summary=ClassCounts,
)
def pipp(
    counts: ClassCounts, *, class_a: float = 0.1, class_b: float = 0.04, pooled_a: float = 0.2, pooled_b: float = 0.08
) -> Scored:
    """Posterior probability that the counts of a word depend on the class, by a Poisson naive Bayes model.

    Values must be zero or more. With N_kw occurrences in the n_k rows of class k, and M_kw in the m_k other rows,

        PIPp(w, k) = L0 / (L0 + L1),
        L0 = P(N_kw, n_k; a_c, b_c) P(M_kw, m_k; a_c, b_c),    L1 = P(N_w, n; a, b),
        P(N, n; a, b) = Gamma(N + a) / (Gamma(a) b^a) (b / (n b + 1))^(N + a).

    L0 is the likelihood of the counts when the class and the others have a rate each, with a gamma prior of the shape
    `class_a` and the scale `class_b`, and L1 when they have one rate, with a gamma prior of the shape `pooled_a` and
    the scale `pooled_b`; the factorials of the counts are in both and cancel. The score is the mean over the classes,
    weighted by their shares; :meth:`per_class` gives the values of each.

    Rows in which the value is missing are left out. Sample weights count as repeated rows. A feature that is empty or
    constant scores 0, where the formula has a value between 0 and 1 though nothing can be learned from it.

    The priors suit words, which few rows have: they expect a rate of 0.004 in a class. With few rows or large counts
    choose larger scales.

    References
    ----------
    S. Eyheramendy and D. Madigan, "A novel feature selection score for text categorization", SIAM SDM workshop on
    feature selection for data mining, 2005. The exponents of the print have the number of rows with the word in place
    of the number of its occurrences.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import pipp
    >>> y = np.repeat([0, 1], 20)
    >>> X = np.column_stack([y == 0, np.arange(40) % 2])
    >>> pipp(X, y).round(2)
    array([0.9, 0. ])
    """
    refuse_negative(counts.occurrences.lowest, "pipp")
    own, pooled = _Marginal(class_a, class_b), _Marginal(pooled_a, pooled_b)
    one_rate = pooled.log(counts.occurrences.total.sum(axis=0), counts.known.sum(axis=0))

    def inclusion(one: OneClass) -> FloatArray:
        return expit(own.log(one.inside, one.rows) + own.log(one.outside, one.others) - one_rate)

    return class_mean(counts, counts.occurrences, counts.varied, inclusion)


class _Marginal:
    """P: the likelihood of so many occurrences in n rows, over all rates."""

    def __init__(self, a: float, b: float) -> None:
        self._a = a
        self._occurrences = Tabulated(lambda x: gammaln(x + a) - gammaln(a) + x * np.log(b))
        self._rows = Tabulated(lambda n: np.log1p(n * b))

    def log(self, total: FloatArray, n: FloatArray) -> FloatArray:
        return self._occurrences(total) - (total + self._a) * self._rows(n)
