"""Deviations of numbers from the mean or the median of any run of rows.

The rows lie in a wavelet matrix: level by level by the bits of the ranks of their numbers, from the highest bit on,
with sums over the rows whose bit is 0. A run of rows is followed down the levels, which takes a step for each bit.
"""

import numpy as np

from tamis.kernels.compiler import helper, kernel


@kernel(
    "void(int64[::1], int64[::1], float64[::1], float64[::1], boolean, boolean, float64[:, ::1])",
    reads=4,
)
def run_deviations(ends, ranks, distinct, weight, median, squared, loss):
    """Fill ``loss[s, t]``: the deviations of the rows ``ends[s]`` up to ``ends[t + 1]`` from their mean or median.

    Row i has the number ``distinct[ranks[i]]``, of distinct numbers in ascending order. The median lies halfway between
    the two middle numbers. The loss is the sum of squares or of absolute values; entries below the diagonal stay.
    """
    n, levels = ranks.shape[0], 1
    while 2**levels < distinct.shape[0]:
        levels += 1
    zeros = np.zeros((levels, n + 1), dtype=np.int32)
    below = np.zeros((levels, n + 1, 2))
    _build(ranks, distinct, weight, zeros, below)
    total = np.zeros((n + 1, 3))
    for i in range(n):
        number = distinct[ranks[i]]
        total[i + 1, 0] = total[i, 0] + weight[i]
        total[i + 1, 1] = total[i, 1] + weight[i] * number
        total[i + 1, 2] = total[i, 2] + weight[i] * number * number
    size = ends.shape[0] - 1
    for s in range(size):
        for t in range(s, size):
            a, b = ends[s], ends[t + 1]
            w, y, square = total[b, 0] - total[a, 0], total[b, 1] - total[a, 1], total[b, 2] - total[a, 2]
            if median:
                rank = _quantile(zeros, below, a, b, 0.5 * w * (1.0 - 1e-12))
                centre = distinct[rank]
                if squared:
                    upper = _quantile(zeros, below, a, b, 0.5 * w * (1.0 + 1e-12))
                    centre = 0.5 * centre + 0.5 * distinct[upper]
            else:
                centre = y / w
                rank = np.searchsorted(distinct, centre)
            if squared:
                loss[s, t] = max(square - 2.0 * centre * y + centre * centre * w, 0.0)
            else:
                under, sum_under = _under(zeros, below, a, b, rank, w, y)
                loss[s, t] = max(centre * (2.0 * under - w) + y - 2.0 * sum_under, 0.0)


@helper
def _build(ranks, distinct, weight, zeros, below):
    """Fill the number of zero bits, and the weight and weighted sum of the rows with them, before each row."""
    n, levels = ranks.shape[0], zeros.shape[0]
    order, following = np.arange(n), np.empty(n, dtype=np.int64)
    for level in range(levels):
        shift = levels - 1 - level
        for i in range(n):
            row = order[i]
            zero = (ranks[row] >> shift) & 1 == 0
            zeros[level, i + 1] = zeros[level, i] + zero
            below[level, i + 1, 0] = below[level, i, 0] + (weight[row] if zero else 0.0)
            below[level, i + 1, 1] = below[level, i, 1] + (weight[row] * distinct[ranks[row]] if zero else 0.0)
        first, second = 0, zeros[level, n]
        for i in range(n):
            if zeros[level, i + 1] > zeros[level, i]:
                following[first] = order[i]
                first += 1
            else:
                following[second] = order[i]
                second += 1
        order, following = following, order


@helper
def _quantile(zeros, below, a, b, least):
    """The lowest rank up to which the rows a up to b weigh at least so much."""
    levels, n = zeros.shape[0], zeros.shape[1] - 1
    rank = 0
    for level in range(levels):
        low, high = zeros[level, a], zeros[level, b]
        here = below[level, b, 0] - below[level, a, 0]
        if high > low and (here >= least or high - low == b - a):
            a, b = low, high
            rank = 2 * rank
        else:
            least -= here
            a, b = zeros[level, n] + a - low, zeros[level, n] + b - high
            rank = 2 * rank + 1
    return rank


@helper
def _under(zeros, below, a, b, rank, w, y):
    """Weight and weighted sum of the rows a up to b of lower rank; `w` and `y` are those of all."""
    levels, n = zeros.shape[0], zeros.shape[1] - 1
    if rank >= 2**levels:
        return w, y
    weight, number = 0.0, 0.0
    for level in range(levels):
        low, high = zeros[level, a], zeros[level, b]
        if (rank >> (levels - 1 - level)) & 1:
            weight += below[level, b, 0] - below[level, a, 0]
            number += below[level, b, 1] - below[level, a, 1]
            a, b = zeros[level, n] + a - low, zeros[level, n] + b - high
        else:
            a, b = low, high
    return weight, number
