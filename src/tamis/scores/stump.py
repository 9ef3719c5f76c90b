"""Balanced error of a stump."""

from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.trees.stumps import stumps


@score(
    Part(
        "stump",
        paper="Grabczewski and Jankowski 2006, section 2.2 (balanced SSV)",
        phrase="the accuracy of a tree of one split",
        role="separation",
    ),
    takes_nominal=True,
    single_split=True,
)
def stump(X: Matrix, y: Codes, sample_weight: FloatArray | None = None, nominal: Mask | None = None) -> FloatArray:
    """Balanced accuracy of the best tree of one split on a feature, above chance.

    The stump predicts on each side of its split the class it holds the largest share of. With its smallest balanced
    error rate BER and K classes the score is

        1 - BER K / (K - 1),

    1 for a feature that separates the classes and 0 for a useless one; for two classes it is the largest distance of
    the classes' distribution functions. Splits are those of :func:`tamis.scores.ssv`. It suits rare classes: the
    challenge entry for DOROTHEA selected its features by it. Missing values are left out, sample weights count as
    repeated rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import stump
    >>> X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0], [4.0, 6.0]])
    >>> stump(X, ["a", "a", "b", "b"])
    array([1., 0.])
    """
    return stumps(X, y, sample_weight, criterion="balanced_error", nominal=nominal)
