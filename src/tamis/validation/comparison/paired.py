"""Whether two models differ on the same folds, from the difference of a metric in each fold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.base.validation import check_number

#: Differences that are equal but for rounding have no spread.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class CorrectedT:
    """The result of the corrected t-test; all but the mean is NaN for fewer than two folds.

    Attributes
    ----------
    mean : float
        Mean difference over the folds.
    se : float
        Its standard error, corrected for shared training rows.
    t, pvalue : float
        Student's statistic and its two-sided p-value.
    interval : tuple of two floats
        Confidence interval of the mean difference.
    n_folds : int
        Folds with a difference.
    """

    mean: float
    se: float
    t: float
    pvalue: float
    interval: tuple[float, float]
    n_folds: int


@dataclass(frozen=True)
class BayesianT:
    """The posterior of the mean difference; all but the mean is NaN for fewer than two folds.

    Attributes
    ----------
    left, rope, right : float
        Probabilities that it lies below, within and above the region of practical equality.
    mean, scale : float
        Location and scale of the posterior, Student's distribution with `n_folds` - 1 degrees of freedom.
    n_folds : int
        Folds with a difference.
    """

    left: float
    rope: float
    right: float
    mean: float
    scale: float
    n_folds: int


def corrected_t(differences: Any, test_to_train: float, *, level: float = 0.05) -> CorrectedT:
    """Test whether the mean difference is zero, for folds that share training rows.

    With J differences of mean m and variance s^2 (divisor J - 1), the variance of the mean is

        se^2 = (1/J + n_test/n_train) s^2,

    and t = m / se has Student's distribution with J - 1 degrees of freedom. The usual test, with 1/J alone, takes the
    folds as independent and finds differences where there are none. When all differences are equal, p is 1 when they
    are zero, and 0 when they are not.

    Parameters
    ----------
    differences : array of shape (n_folds,)
        The metric of one model less that of the other in each fold. NaN is left out.
    test_to_train : float
        Test rows per training row, n_test / n_train; 0 gives the usual paired t-test.
    level : float, default=0.05
        The interval has confidence 1 - level.

    Returns
    -------
    CorrectedT

    See Also
    --------
    bayesian_t : Probabilities of practically better, equal and worse.

    References
    ----------
    Nadeau and Bengio, "Inference for the Generalization Error", Machine Learning 52 (2003).

    Examples
    --------
    >>> found = corrected_t([0.02, 0.01, 0.03, 0.02], 1 / 3)
    >>> round(found.mean, 3), round(found.pvalue, 3)
    (0.02, 0.049)
    """
    check_level(level)
    known, mean, se = _posterior(differences, test_to_train)
    n = known.size
    if n < 2:
        return CorrectedT(mean, np.nan, np.nan, np.nan, (np.nan, np.nan), n)
    with np.errstate(divide="ignore"):
        t = float(np.float64(mean) / se) if mean else 0.0
    reach = float(stdtrit(n - 1, 1.0 - level / 2.0)) * se
    return CorrectedT(mean, se, t, 2.0 * float(stdtr(n - 1, -abs(t))), (mean - reach, mean + reach), n)


def bayesian_t(differences: Any, test_to_train: float, rope: float = 0.01) -> BayesianT:
    """Compute the probabilities that the mean difference is practically negative, zero and positive.

    The differences are taken as normal with correlation rho = n_test / (n_test + n_train) between any two folds. With
    an uninformative prior, the posterior of the mean difference is Student's distribution with J - 1 degrees of
    freedom, location m and scale

        sqrt((1/J + rho / (1 - rho)) s^2).

    Unlike a p-value, it can show that two models are practically equal. When all differences are equal the posterior is
    that one value.

    Parameters
    ----------
    differences : array of shape (n_folds,)
        The metric of one model less that of the other in each fold. NaN is left out.
    test_to_train : float
        Test rows per training row, n_test / n_train, which is rho / (1 - rho).
    rope : float, default=0.01
        Half the width of the region of practical equality, in units of the metric.

    Returns
    -------
    BayesianT

    See Also
    --------
    corrected_t : The test of no difference.

    References
    ----------
    Corani and Benavoli, "A Bayesian approach for comparing cross-validated algorithms on multiple data sets", Machine
    Learning 100 (2015). Benavoli, Corani, Demsar and Zaffalon, "Time for a Change: a Tutorial for Comparing Multiple
    Classifiers Through Bayesian Analysis", JMLR 18 (2017).

    Examples
    --------
    >>> found = bayesian_t([0.02, 0.01, 0.03, 0.02], 1 / 3)
    >>> round(found.left, 3), round(found.rope, 3), round(found.right, 3)
    (0.009, 0.095, 0.896)
    """
    check_number("rope", rope, 0.0, np.inf)
    known, mean, scale = _posterior(differences, test_to_train)
    n = known.size
    if n < 2:
        return BayesianT(np.nan, np.nan, np.nan, mean, np.nan, n)
    if scale == 0.0:
        left, right = float(mean < -rope), float(mean > rope)
    else:
        left, right = (float(stdtr(n - 1, (-rope + way * mean) / scale)) for way in (-1.0, 1.0))
    # Rounding may leave less than zero between the tails.
    return BayesianT(left, max(0.0, 1.0 - (left + right)), right, mean, scale, n)


def holm(pvalues: Sequence[float]) -> FloatArray:
    """Adjust the p-values of several tests by Holm's method, which bounds the family-wise error rate.

    The smallest of m is multiplied by m, the next by m - 1 and so on; none falls below the one before it.

    References
    ----------
    Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6 (1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
    return adjusted


def check_level(level: Any) -> None:
    """Refuse a level of significance that is not above 0 and below 1."""
    if not isinstance(level, int | float | np.floating) or not 0.0 < level < 1.0:
        raise TamisError(f"level must be a number above 0 and below 1; got {level!r}")


def _posterior(differences: Any, test_to_train: float) -> tuple[FloatArray, float, float]:
    """The differences that are not NaN, their mean, and the corrected standard error of the mean."""
    check_number("test_to_train", test_to_train, 0.0, np.inf)
    given = np.asarray(differences)
    if given.ndim != 1 or given.dtype.kind not in "fiu" or np.isinf(given).any():
        raise TamisError(f"differences must be finite numbers, one a fold; got shape {given.shape} of {given.dtype}")
    known = given[~np.isnan(given)].astype(np.float64)
    n = known.size
    if n < 2:
        return known, float(known[0]) if n else np.nan, np.nan
    if np.ptp(known) <= _ROUNDING * np.abs(known).max():
        return known, float(known[0]), 0.0
    return known, float(known.mean()), float(known.std(ddof=1) * np.sqrt(1.0 / n + test_to_train))
