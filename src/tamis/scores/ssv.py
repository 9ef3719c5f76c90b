"""Separability of split value (SSV)."""

from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.trees.stumps import stumps


@score(
    Part(
        "ssv",
        paper="Grabczewski and Jankowski 2006, eq. 22-23; Grabczewski and Duch 1999",
        phrase="the separability of their best split (SSV)",
        role="mixed_association",
    ),
    takes_nominal=True,
    single_split=True,
)
def ssv(X: Matrix, y: Codes, sample_weight: FloatArray | None = None, nominal: Mask | None = None) -> FloatArray:
    """Separability of a feature's best split value.

    A split s of a numeric feature sends the rows with a value below s to the left; a split of a nominal one sends the
    rows with a level in the subset s to the right. With L_c and R_c the rows of class c on either side,

        SSV(s) = 2 sum_c L_c (R - R_c) - sum_c min(L_c, R_c):

    twice the separated pairs of rows of different classes, less the rows split from their class. The score is the
    largest value over all splits, halfway between neighbouring values; it counts pairs, so it grows with the number of
    rows. Missing values are left out, which costs pairs. Sample weights count as repeated rows. A feature with one
    value scores 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import ssv
    >>> X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0], [4.0, 6.0]])
    >>> ssv(X, ["a", "a", "b", "b"])
    array([8., 2.])
    """
    return stumps(X, y, sample_weight, criterion="ssv", nominal=nominal)
