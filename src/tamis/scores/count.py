"""Number of rows in which a feature is not zero."""

from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import FloatArray
from tamis.contingency.class_counts import ClassCounts


@score(
    Part(
        "count",
        paper="Grabczewski and Jankowski 2006, section 4.3 (HVS)",
        phrase="the number of rows in which they are not zero",
        suits=("sparse", "counts"),
    ),
    supervised=False,
    summary=ClassCounts,
)
def count(counts: ClassCounts) -> FloatArray:
    """Number of rows (their weight) in which the feature is not zero; ignores the classes.

    On binary data it orders features like their variance while ones are rarer than zeros, so ``count(threshold=11)`` is
    the paper's high-variance selection "more than 11 ones".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import count
    >>> count(np.array([[0.0, 1.0], [0.0, 1.0]]))
    array([0., 2.])
    """
    return counts.presence.total.sum(axis=0)
