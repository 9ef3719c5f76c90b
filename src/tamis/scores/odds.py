"""Odds ratio."""

from tamis.base.part import Part
from tamis.base.score import Scored, score
from tamis.base.types import FloatArray
from tamis.contingency.class_counts import ClassCounts, OneClass, class_mean

#: Added to every count, so that no odds are zero or infinite.
_ADDED = 0.1


@score(
    Part(
        "odds",
        paper="Mladenic and Grobelnik 1999; Eyheramendy and Madigan 2005, section 2.6",
        phrase="the odds ratio of their presence",
        searched=False,
        suits=("sparse", "counts"),
    ),
    summary=ClassCounts,
)
def odds(counts: ClassCounts) -> Scored:
    """Odds ratio: odds that a word is present in a row of a class over the odds outside the class.

        OR(w, k) = (n_kw + 0.1) / (n_k - n_kw + 0.1) / ((m_kw + 0.1) / (m_k - m_kw + 0.1)),

    where the feature is present (not zero) in n_kw of the n_k rows of class k and in m_kw of the m_k others. The score
    is the mean over the classes, weighted by their shares; :meth:`per_class` gives the values of each. Words that are
    typical of the other classes lower it.

    Rows in which the value is missing are left out. Sample weights count as repeated rows. A feature that is empty, or
    present everywhere, scores 0.

    The constant that is added favours rare words: with a class of 5 % of the rows, the value of a word that is nowhere
    would be 19.

    References
    ----------
    S. Eyheramendy and D. Madigan, "A novel feature selection score for text categorization", SIAM SDM workshop on
    feature selection for data mining, 2005. The print has twice the same odds in the denominator, which cancel.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import odds
    >>> X = np.array([[3, 1], [1, 0], [2, 1], [0, 1], [0, 1], [0, 0]])
    >>> odds.per_class(X, ["a", "a", "a", "b", "b", "b"]).round(3)
    array([[9.61e+02, 1.00e+00],
           [1.00e-03, 1.00e+00]])
    """
    return class_mean(counts, counts.presence, counts.mixed, _ratio)


def _ratio(one: OneClass) -> FloatArray:
    inside = (one.inside + _ADDED) / ((one.rows - one.inside).clip(0.0) + _ADDED)
    return inside * ((one.others - one.outside).clip(0.0) + _ADDED) / (one.outside + _ADDED)
