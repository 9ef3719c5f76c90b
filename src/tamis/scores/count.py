"""Number of rows in which a feature is not zero."""

import numpy as np

from tamis.base.moments import class_totals
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import Codes, FloatArray, Matrix


@score(
    Part(
        "count",
        paper="Grabczewski and Jankowski 2006, section 4.3 (HVS)",
        phrase="the number of rows in which they are not zero",
        suits=("sparse", "counts"),
    ),
    supervised=False,
)
def count(X: Matrix, y: Codes | None = None, sample_weight: FloatArray | None = None) -> FloatArray:
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
    total, _, _ = class_totals(X, np.zeros(X.shape[0], dtype=np.intp), sample_weight, presence=True)
    return total[0]
