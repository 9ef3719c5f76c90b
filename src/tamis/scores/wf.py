"""Word frequency, weighted by the classes."""

from tamis.base.moments import divide
from tamis.base.part import Part
from tamis.base.score import Scored, score
from tamis.contingency.class_counts import ClassCounts


@score(
    Part(
        "wf",
        paper="Eyheramendy and Madigan 2005, section 2.7",
        phrase="the mean number of rows of a class in which they are not zero",
        searched=False,
        suits=("sparse", "counts"),
    ),
    summary=ClassCounts,
)
def wf(counts: ClassCounts) -> Scored:
    """Word frequency: number of rows of a class in which a word is present, averaged over the classes.

        WF(w) = sum_k P(k) n_kw,

    where the feature is present (not zero) in n_kw rows of class k, and P(k) is the class's share of the rows. With
    classes of one size it ranks as :func:`tamis.scores.count` does, which counts the rows of all classes; otherwise
    words of the large classes come first. :meth:`per_class` gives n_kw.

    Rows in which the value is missing are left out, also of P(k). Sample weights count as repeated rows. An empty
    feature scores 0.

    References
    ----------
    S. Eyheramendy and D. Madigan, "A novel feature selection score for text categorization", SIAM SDM workshop on
    feature selection for data mining, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import wf
    >>> wf(np.array([[3, 0], [1, 0], [1, 0], [0, 1]]), ["a", "a", "a", "b"])
    array([2.25, 0.25])
    """
    present, known = counts.presence.total, counts.known
    n = known.sum(axis=0)
    return Scored(divide((known * present).sum(axis=0), n), by_class=lambda: present)
