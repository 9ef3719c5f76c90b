"""Bi-normal separation."""

import numpy as np
from scipy.special import ndtri

from tamis.base.moments import divide
from tamis.base.part import Part
from tamis.base.score import Scored, score
from tamis.base.types import FloatArray
from tamis.contingency.class_counts import ClassCounts, OneClass, class_mean
from tamis.contingency.whole_numbers import at_counts

#: Rates are at least this far from 0 and from 1.
_CLIP = 0.0005


@score(
    Part(
        "bns",
        paper="Forman 2003; Eyheramendy and Madigan 2005, section 2.4",
        phrase="bi-normal separation",
        suits=("sparse", "counts"),
    ),
    summary=ClassCounts,
)
def bns(counts: ClassCounts) -> Scored:
    """Bi-normal separation: distance of a word's rates of presence in a class and outside it, on the probit scale.

        BNS(w, k) = |probit(n_kw / n_k) - probit(m_kw / m_k)|,

    where the feature is present (not zero) in n_kw of the n_k rows of class k and in m_kw of the m_k others, and probit
    is the inverse of the normal distribution function. The rates are clipped to [0.0005, 0.9995]. The score is the mean
    over the classes, weighted by their shares; :meth:`per_class` gives the values of each.

    Rows in which the value is missing are left out. Sample weights count as repeated rows. A feature that is empty, or
    present everywhere, scores 0.

    References
    ----------
    G. Forman, "An extensive empirical study of feature selection metrics for text classification", JMLR 3, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import bns
    >>> X = np.array([[3, 1], [1, 0], [2, 0], [0, 1], [0, 0], [0, 0]])
    >>> bns(X, [0, 0, 0, 1, 1, 1]).round(2)
    array([6.58, 0.  ])
    """

    def separation(one: OneClass) -> FloatArray:
        return np.abs(_probit(one.inside, one.rows) - _probit(one.outside, one.others))

    return class_mean(counts, counts.presence, counts.mixed, separation)


def _probit(present: FloatArray, n: FloatArray) -> FloatArray:
    """Probit of the clipped rates."""
    if n[0] > 0 and (n == n[0]).all():
        return at_counts(lambda x: ndtri(np.clip(x / n[0], _CLIP, 1.0 - _CLIP)), present)
    return np.asarray(ndtri(np.clip(divide(present, n), _CLIP, 1.0 - _CLIP)))
