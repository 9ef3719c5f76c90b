"""Rinott's constant: how many more draws make the choice among several means right with a given probability."""

from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, ndtr

from tamis.base.types import FloatArray

#: Steps of the integral within a deviation of the logarithm of chi-squared. More change h in the seventh digit at most.
_STEPS = 10

#: The part of the distribution at either end that is left out.
_TAIL = 1e-11


@cache
def rinott(n0: int, k: int, probability: float) -> float:
    """The constant h of the two-stage procedure for the largest of `k` means, with `n0` draws in the first stage.

    With N_j = max(n0 + 1, ceil(h^2 S_j^2 / delta^2)) draws from population j, S_j^2 the variance of its first n0, the
    population with the largest sample mean is that with the largest mean with at least this `probability`, if the mean
    is larger than the others by delta. It is the root of

        E_y[ E_x[ Phi(h / sqrt((n0 - 1) (1/x + 1/y))) ]^(k - 1) ] = probability

    with x and y independent, chi-squared with n0 - 1 degrees of freedom.

    Parameters
    ----------
    n0 : int
        At least 2.
    k : int
        At least 2.
    probability : float
        Above 1/k, which a random choice has, and below 1.

    References
    ----------
    Rinott (1978), "On two-stage selection procedures and related probability-inequalities".

    Examples
    --------
    >>> [round(rinott(10, 3, probability), 3) for probability in (0.75, 0.85, 0.95)]
    [1.711, 2.222, 3.166]
    """
    if n0 < 2 or k < 2 or not 1.0 / k < probability < 1.0:
        raise ValueError(f"rinott takes n0 and k of at least 2 and a probability in (1/k, 1); got {n0, k, probability}")
    x, share = _chi_squared(n0 - 1)
    scale = 1.0 / np.sqrt((n0 - 1) * (1.0 / x[:, None] + 1.0 / x))

    def excess(h: float) -> float:
        return float(share @ (ndtr(h * scale) @ share) ** (k - 1)) - probability

    high = 1.0
    while excess(high) < 0.0:
        high *= 2.0
    return float(brentq(excess, 0.0, high, xtol=1e-10))


def _chi_squared(freedom: int) -> tuple[FloatArray, FloatArray]:
    """Points and their shares of the distribution, evenly spaced in the logarithm.

    There the density is smooth and falls off at both ends, so that the trapezoidal rule converges faster than any
    power of the step, down to one degree of freedom.
    """
    low = 2.0 / freedom * np.log(_TAIL) + np.log(freedom)
    high = np.log(freedom + 12.0 * np.sqrt(freedom) + 60.0)
    points = np.arange(low, high, min(np.sqrt(2.0 / freedom), 1.0) / _STEPS)
    log = 0.5 * freedom * (points - np.log(2.0)) - 0.5 * np.exp(points) - gammaln(0.5 * freedom)
    share = np.exp(log - log.max())
    inside = share > _TAIL * share.max()
    points, share = points[inside], share[inside]
    return np.exp(points), share / share.sum()
