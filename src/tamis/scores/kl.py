"""Divergence of the classes of a word's occurrences."""

import numpy as np

from tamis.base._sklearn import real
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import FloatArray
from tamis.contingency.class_counts import ClassCounts, refuse_negative
from tamis.text.divergence import class_shares, kl_divergence


@score(
    Part(
        "kl",
        paper="Boulis and Ostendorf 2005, equation 2.2",
        phrase="how far the classes of their occurrences are from the classes of all words",
        suits=("sparse", "counts"),
    ),
    nonnegative=True,
    constraints={"smoothing": [real(0, None, "left")]},
    columnwise=False,
    summary=ClassCounts,
)
def kl(counts: ClassCounts, *, smoothing: float = 10.0) -> FloatArray:
    """Kullback-Leibler divergence of the classes of a word's occurrences from the classes of all words, in nats.

    Values must be zero or more. With N_kw occurrences of the word w in the rows of class k,

        KL(w) = sum_k p(k | w) log(p(k | w) / p(k)),
        p(k | w) = (N_kw + s) / sum_k (N_kw + s),    p(k) = sum_w (N_kw + s) / sum_kw (N_kw + s),

    where s is `smoothing`, which keeps rare words from the top. So p(k) is the share of class k in all words, counted
    and smoothed as those of one word are, and the score of a feature depends on the other features a little; those
    without any occurrence have no part in it.

    A missing value adds no occurrence. Sample weights count as repeated rows. A feature that is empty or constant
    scores 0.

    References
    ----------
    C. Boulis and M. Ostendorf, "Text classification by augmenting the bag-of-words representation with
    redundancy-compensated bigrams", SIAM SDM workshop on feature selection for data mining, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import kl
    >>> kl(np.array([[30, 50, 1], [25, 40, 0], [0, 60, 0], [1, 50, 0]]), ["a", "a", "b", "b"]).round(3)
    array([0.207, 0.02 , 0.002])
    """
    refuse_negative(counts.occurrences.lowest, "kl")
    totals = counts.occurrences.total.T
    values = kl_divergence(totals, class_shares(totals, smoothing=smoothing), smoothing=smoothing)
    return np.where(counts.varied, values, 0.0)
