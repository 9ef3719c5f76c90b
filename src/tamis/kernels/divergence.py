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
def share_leaving(since, until, m):
    """The probability of leaving m rows before A is `until`, for a row that is with them when it is `since`."""
    return -np.expm1((since - until) / m)


@helper
def quantile(since, share, m, u):
    """A at the time before which u of those leave that leave on a branch, which are `share` of all who come to it."""
    return since - m * np.log1p(-u * share)


@helper
def level(since, share, m, at):
    """The u whose `quantile` is `at`."""
    return -np.expm1((since - at) / m) / share
