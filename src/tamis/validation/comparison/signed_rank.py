"""Wilcoxon's signed-rank test: whether two models err by equal amounts on the same rows."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import wilcoxon

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray


@dataclass(frozen=True)
class SignedRank:
    """The test of two models' absolute errors on the same rows.

    Attributes
    ----------
    only_first, only_second : int
        Rows on which the first or the second model errs by more.
    pvalue : float
        Two-sided; 1 where no row tells them apart.
    """

    only_first: int
    only_second: int
    pvalue: float


def signed_rank(first: FloatArray, second: FloatArray) -> SignedRank:
    """Test whether the absolute errors of two models are equally distributed about each other.

    Parameters
    ----------
    first, second : array of shape (n_rows,)
        Absolute errors of the two models on the same rows.

    Returns
    -------
    SignedRank

    See Also
    --------
    tamis.validation.comparison.mcnemar.mcnemar : The test for classes.

    References
    ----------
    Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1 (1945).

    Examples
    --------
    >>> signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.zeros(6)).pvalue
    0.03125
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != two.shape or one.ndim != 1:
        raise TamisError(f"errors must be of the same rows; got shapes {one.shape} and {two.shape}")
    gaps = one - two
    # Errors that differ by rounding are equal.
    gaps[np.abs(gaps) <= 1e-12 * np.maximum(np.abs(one), np.abs(two))] = 0.0
    if not gaps.any():
        return SignedRank(0, 0, 1.0)
    return SignedRank(int((gaps > 0).sum()), int((gaps < 0).sum()), float(wilcoxon(gaps).pvalue))
