"""Which size of subspaces to search next, so that the fewest are expected to be evaluated in all."""

import math
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

import numpy as np

from tamis.base.types import FloatArray


def next_size(
    n_columns: int, unknown: Mapping[int, int], outlying: Mapping[int, int], shares: FloatArray, weights: FloatArray
) -> int:
    """The size with which a search goes on that is expected to evaluate the fewest subspaces.

    Of the u_t subspaces of size t that are unknown, a share q_t turns out to be outlying, as shares of the row tell.
    They are not evaluated if the nearest smaller size l, or the nearest larger size h, is evaluated before and decides
    of them. For n subspaces of a size these shares are expected to be

        P_up(l, t) = min(q_t, 1 - (1 - u_l q_l / n_l)^c),  P_down(h, t) = min(1 - q_t, 1 - (1 - u_h (1 - q_h) / n_h)^c).

    If outlying subspaces were spread at random, c would be the number of subspaces of size l inside one of size t,
    C(t, l); if all had one column in common it would be t / l. It is the geometric mean of the two, and likewise for
    larger ones, of C(d - t, h - t) and (d - t) / (d - h). What is left between two evaluated sizes does not depend on
    the sizes beyond them. So the fewest expected evaluations are

        F(l, h) = min_{l < t < h}  u_t (1 - P_up(l, t) - P_down(h, t)) + F(l, t) + F(t, h),

    as in a search tree of least cost. Where several intervals are open, the size with the fewest unknown subspaces goes
    first, because it tells of the row at least cost.

    Parameters
    ----------
    n_columns : int
    unknown, outlying : mapping of int to int
        By size, from 1 on: the undecided subspaces, and those known to be outlying. Some must be undecided.
    shares : array of shape (n_rows, n_sizes)
        What the shares of outlying subspaces by size may be.
    weights : array of shape (n_rows,)
        The probability of each row of `shares`.

    Examples
    --------
    A row that is not outlying at all is done after the largest subspace, one that is everywhere after the smallest:

    >>> unknown, none = {1: 4, 2: 6, 3: 4, 4: 1}, dict.fromkeys(range(1, 5), 0)
    >>> [next_size(4, unknown, none, np.full((1, 4), share), np.ones(1)) for share in (0.0, 1.0)]
    [4, 1]
    """
    left = expected_left(n_columns, unknown, outlying, shares, weights)
    ends = [0, *(m for m, n in unknown.items() if n == 0), max(unknown) + 1]
    firsts = [_first(low, high, left) for low, high in pairwise(ends) if high > low + 1]
    return min(firsts, key=unknown.__getitem__)


def expected_left(
    n_columns: int, unknown: Mapping[int, int], outlying: Mapping[int, int], shares: FloatArray, weights: FloatArray
) -> FloatArray:
    """How many subspaces of size t are expected to be left by sizes l and h, at [l, t, h]; 0 and the last are none."""
    inside, around, total = _chances(n_columns, shares.shape[1])
    u, known = (np.array(list(each.values()), dtype=np.float64) for each in (unknown, outlying))
    q = np.clip((shares * total - known) / np.maximum(u, 1.0), 0.0, 1.0)
    sides = np.zeros((2, u.size + 2, u.size + 1))
    for side, share, chances in zip(sides, (q, 1.0 - q), (inside, around), strict=True):
        # By row, the size that is evaluated, and the size that it decides of.
        pruned = 1.0 - (1.0 - (u * share / total)[:, :, None]) ** chances
        side[1:-1, 1:] = np.tensordot(weights, np.minimum(share[:, None], pruned), 1)
    below, above = sides
    found: FloatArray = np.append(0.0, u)[:, None] * np.maximum(1.0 - below[:, :, None] - above.T, 0.0)
    return found


def _first(low: int, high: int, left: FloatArray) -> int:
    """The size between two evaluated ones with which the fewest expected evaluations begin."""
    cost = {(size, size + 1): 0.0 for size in range(low, high)}
    first = low + 1
    for width in range(2, high - low + 1):
        for a in range(low, high - width + 1):
            b = a + width
            each = {t: float(left[a, t, b]) + cost[a, t] + cost[t, b] for t in range(a + 1, b)}
            first = min(each, key=each.__getitem__)
            cost[a, b] = each[first]
    return first


@lru_cache(maxsize=8)
def _chances(n_columns: int, largest: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The exponents c at [m, t], of sizes m < t and of sizes m > t, and the number of subspaces of each size."""
    d, sizes = n_columns, range(1, largest + 1)
    inside, around = np.zeros((2, largest, largest))
    for m in sizes:
        for t in sizes:
            if m < t:
                inside[m - 1, t - 1] = math.sqrt(math.comb(t, m) * t / m)
            elif m > t:
                # Around every subspace is the one of all columns, once.
                around[m - 1, t - 1] = math.sqrt(math.comb(d - t, m - t) * ((d - t) / (d - m) if m < d else 1))
    return inside, around, np.array([math.comb(d, m) for m in sizes], dtype=np.float64)
