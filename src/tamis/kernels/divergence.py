"""When a row leaves the path of the rows before it, in a Dirichlet diffusion tree.

A row that follows m others leaves them at time t with the hazard a(t) / m, where the coefficients `rate` make
a(t) = r0 + r1 / (1 - t) + r2 / (1 - t)^2. Either r1 or r0 and r2 are zero, so that its integral A has an inverse in
closed form.
"""

import numpy as np

from tamis.kernels.compiler import helper


@helper
def cumulative(rate, t):
    """A(t), the integral of a from 0 to t; infinite at 1."""
    if t >= 1.0:
        return np.inf
    return rate[0] * t - rate[1] * np.log1p(-t) + rate[2] * t / (1.0 - t)


@helper
def time_of(rate, total):
    """The time at which A is `total`."""
    if rate[1] > 0.0:
        return -np.expm1(-total / rate[1])
    half = rate[0] + rate[2] + total
    return 2.0 * total / (half + np.sqrt(max(half * half - 4.0 * rate[0] * total, 0.0)))


@helper
def share_leaving(rate, begin, end, m):
    """The probability of leaving m rows between two times, for a row that is with them at the first."""
    return 1.0 if end >= 1.0 else -np.expm1((cumulative(rate, begin) - cumulative(rate, end)) / m)


@helper
def quantile(rate, begin, share, m, u):
    """The time before which u of those leave that leave between two times, which are `share` of all."""
    return time_of(rate, cumulative(rate, begin) - m * np.log1p(-u * share))


@helper
def level(rate, begin, share, m, t):
    """The u whose `quantile` is t."""
    return -np.expm1((cumulative(rate, begin) - cumulative(rate, t)) / m) / share
