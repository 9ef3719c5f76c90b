"""Posterior inclusion probability of a word's presence."""

from collections.abc import Callable
from typing import Any

from scipy.special import expit, gammaln

from tamis.base._sklearn import real
from tamis.base.part import Part
from tamis.base.score import Scored, score
from tamis.base.types import FloatArray
from tamis.contingency.class_counts import ClassCounts, OneClass, class_mean
from tamis.contingency.whole_numbers import Tabulated

#: Constraints of the options of the priors.
PRIORS: dict[str, list[Any]] = {
    name: [real(0, None, "neither")] for name in ("class_a", "class_b", "pooled_a", "pooled_b")
}


@score(
    Part(
        "pip",
        paper="Eyheramendy and Madigan 2005, section 2.1",
        phrase="the posterior probability that their presence depends on the class",
        suits=("sparse", "counts"),
    ),
    constraints=PRIORS,
    summary=ClassCounts,
)
def pip(
    counts: ClassCounts, *, class_a: float = 0.1, class_b: float = 0.04, pooled_a: float = 0.2, pooled_b: float = 0.08
) -> Scored:
    """Posterior probability that the presence of a word depends on the class, by a Bernoulli naive Bayes model.

    With n_kw of the n_k rows of class k, and m_kw of the m_k other rows, in which the feature is present (not zero),

        PIP(w, k) = L0 / (L0 + L1),
        L0 = M(n_kw, n_k; a_c, b_c) M(m_kw, m_k; a_c, b_c),    L1 = M(n_w, n; a, b),
        M(x, n; a, b) = B(x + a, n - x + b) / B(a, b),

    where B is the beta function. L0 is the likelihood of the rows when the class and the others have a rate of presence
    each, with a Beta(`class_a`, `class_b`) prior, and L1 when they have one rate, with a Beta(`pooled_a`, `pooled_b`)
    prior. It is the share of the posterior of all 2^d sets of words that have the word, all sets being equally probable
    before. The score is the mean over the classes, weighted by their shares; :meth:`per_class` gives the values of
    each.

    Rows in which the value is missing are left out. Sample weights count as repeated rows. A feature that is empty, or
    present everywhere, scores 0, where the formula has a value between 0 and 1 though nothing can be learned from it.

    The priors prefer rates near 0 and 1, and most of all near 1, so that frequent words score high. The authors drop
    the most frequent words first.

    References
    ----------
    S. Eyheramendy and D. Madigan, "A novel feature selection score for text categorization", SIAM SDM workshop on
    feature selection for data mining, 2005. The print of L0 lacks a plus sign.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import pip
    >>> X = np.array([[3, 1], [1, 0], [2, 0], [0, 1], [0, 0], [0, 0]])
    >>> pip(X, [0, 0, 0, 1, 1, 1]).round(2)
    array([0.99, 0.06])
    """
    own, pooled = _Marginal(class_a, class_b), _Marginal(pooled_a, pooled_b)
    one_rate = pooled.log(counts.presence.total.sum(axis=0), counts.known.sum(axis=0))

    def inclusion(one: OneClass) -> FloatArray:
        return expit(own.log(one.inside, one.rows) + own.log(one.outside, one.others) - one_rate)

    return class_mean(counts, counts.presence, counts.mixed, inclusion)


class _Marginal:
    """M: the likelihood of so many rows with the word among n, over all rates of presence."""

    def __init__(self, a: float, b: float) -> None:
        # The beta function by its gamma functions, which can be looked up.
        self._present, self._absent, self._all = (Tabulated(_log_rising(start)) for start in (a, b, a + b))

    def log(self, present: FloatArray, n: FloatArray) -> FloatArray:
        return self._present(present) + self._absent((n - present).clip(0.0)) - self._all(n)


def _log_rising(start: float) -> Callable[[FloatArray], FloatArray]:
    """Logarithm of Gamma(x + start) / Gamma(start)."""
    return lambda x: gammaln(x + start) - gammaln(start)
