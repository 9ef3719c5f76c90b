"""Intervals of single columns by the MODL criterion.

Columns are sorted, as in :mod:`tamis.kernels.ssv`. A column is first cut into blocks, within which no interval of an
optimum ends: the rows of one value, or of neighbouring values that are all of the same class. ``below[b]`` holds the
rows of each class below block b, so that a range of blocks is counted by one difference.
"""

import numpy as np

from tamis.kernels.compiler import helper, kernel
from tamis.kernels.modl_search import CLOSE, improve, interval_cost, log_factorial, merge, prior
from tamis.kernels.ssv import halfway

#: Largest number of blocks for which all intervals are compared.
FEW = 64


@kernel(
    "void(int64[::1], int64[::1], int32[::1], float64[::1], int64[::1], float64[::1], int64[::1], float64[::1], "
    "float64[::1], int64, int64, float64[::1], int64[::1], float64[::1])",
    reads=11,
)
def interval_cuts(begin, end, rows, values, codes, weight, members, total, logs, n_classes, most, cut, count, gain):
    """Cut each column into at most `most` intervals of least cost; with many blocks by a heuristic search.

    `members` and `total` are the number and the weight of the rows of each class. `logs` lists log-factorials where
    all weights are whole numbers, and is empty otherwise. `cut` receives the cuts of all columns, ``count[j]`` of
    column j, and ``gain[j]`` the cost of a single interval less that of the intervals found.
    """
    filled = 0
    longest = 2
    for j in range(begin.shape[0]):
        longest = max(longest, end[j] - begin[j] + 2)
    below, ends = np.zeros((longest, total.shape[0])), np.empty((2, longest))
    following = np.empty(longest, dtype=np.int64)
    for j in range(begin.shape[0]):
        count[j], gain[j] = 0, 0.0
        n_blocks = _blocks(begin[j], end[j], rows, values, codes, weight, members, total, ends, below)
        if n_blocks < 2 or most < 2:
            continue
        size = 0.0
        for c in range(below.shape[1]):
            size += below[n_blocks, c]
        if n_blocks <= FEW:
            _best(n_blocks, below, size, logs, n_classes, most, following)
        else:
            merge(n_blocks, below, size, logs, n_classes, most, following)
            improve(n_blocks, below, size, logs, n_classes, most, following)
        saved = interval_cost(below, 0, n_blocks, logs, n_classes)
        n, start = 0, 0
        while start < n_blocks:
            saved -= interval_cost(below, start, following[start], logs, n_classes)
            if start > 0:
                cut[filled + n] = halfway(ends[1, start - 1], ends[0, start])
                n += 1
            start = following[start]
        filled += n
        if n > 0:
            count[j], gain[j] = n, max(saved - prior(n + 1, size, logs), 0.0)


@helper
def _blocks(first, last, rows, values, codes, weight, members, total, ends, below):
    """Fill the lowest and highest value of each block and the rows of each class below it; returns the block count."""
    n_classes = total.shape[0]
    zeros, zero = np.empty(n_classes, dtype=np.int64), np.empty(n_classes)
    for c in range(n_classes):
        zeros[c], zero[c] = members[c], total[c]
    n_zeros = codes.shape[0] - (last - first)
    if n_zeros > 0:
        for t in range(first, last):
            c = codes[rows[t]]
            zeros[c] -= 1
            zero[c] -= weight[rows[t]]
    n, pure, t = 0, -1, first
    while True:
        listed = t < last and not np.isnan(values[t])
        if not listed and n_zeros <= 0:
            return n
        value = values[t] if listed else 0.0
        classes, only = 0, -1
        for c in range(n_classes):
            below[n + 1, c] = below[n, c]
        if n_zeros > 0 and (not listed or value > 0.0):
            # The rows that are not listed; rounding may leave weight for a class without rows.
            value, n_zeros = 0.0, 0
            for c in range(n_classes):
                if zeros[c] > 0:
                    below[n + 1, c] += zero[c]
                    classes, only = classes + 1, c
        else:
            while t < last and values[t] == value:
                c = codes[rows[t]]
                if c != only:
                    classes, only = classes + 1, c
                below[n + 1, c] += weight[rows[t]]
                t += 1
        if classes == 1 and only == pure:
            ends[1, n - 1] = value
            for c in range(n_classes):
                below[n, c] = below[n + 1, c]
        else:
            ends[0, n] = ends[1, n] = value
            pure = only if classes == 1 else -1
            n += 1


@helper
def _best(n_blocks, below, size, logs, n_classes, most, following):
    """Link the intervals of least cost, by dynamic programming over their number and the end of the last."""
    close = CLOSE * (1.0 + log_factorial(size, logs))
    each, cost = np.empty((FEW + 1, FEW + 1)), np.empty((FEW + 1, FEW + 1))
    last, least = np.empty((FEW + 1, FEW + 1), dtype=np.int64), np.empty(FEW + 1)
    least[0] = 0.0
    for stop in range(1, n_blocks + 1):
        least[stop] = np.inf
        for start in range(stop):
            each[start, stop] = interval_cost(below, start, stop, logs, n_classes)
            least[stop] = min(least[stop], least[start] + each[start, stop])
        cost[1, stop], last[1, stop] = each[0, stop], 0
    best, n_best = each[0, n_blocks], 1
    for n in range(2, min(most, n_blocks) + 1):
        more = prior(n, size, logs)
        # With n intervals or more the cost cannot fall below the best.
        if more + least[n_blocks] > best:
            break
        for stop in range(n, n_blocks + 1):
            cost[n, stop] = np.inf
            for start in range(n - 1, stop):
                here = cost[n - 1, start] + each[start, stop]
                if here < cost[n, stop]:
                    cost[n, stop], last[n, stop] = here, start
        if more + cost[n, n_blocks] < best - close:
            best, n_best = more + cost[n, n_blocks], n
    stop = n_blocks
    for n in range(n_best, 0, -1):
        following[last[n, stop]] = stop
        stop = last[n, stop]
