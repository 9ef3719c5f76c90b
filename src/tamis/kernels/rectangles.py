"""The best of all divisions of a grid into rectangles by cuts from side to side."""

import numpy as np

from tamis.kernels.compiler import helper, kernel


@kernel("float64(float64[:, :, ::1], float64, float64, int64[:, ::1])", reads=3)
def best_rectangles(sums, penalty, min_weight, found):
    """List the rectangles (top, bottom, left, right) of least squared error plus `penalty` each; returns their cost.

    The sums of a cell are weight, sum of squares of the target, sums of its numbers. A rectangle is one bin, if it
    weighs `min_weight` or more, or is cut in two from side to side. A row of -1 ends the list.
    """
    m, n, width = sums.shape
    P = np.zeros((m + 1, n + 1, width))
    for i in range(m):
        for j in range(n):
            for d in range(width):
                P[i + 1, j + 1, d] = sums[i, j, d] + P[i, j + 1, d] + P[i + 1, j, d] - P[i, j, d]
    close = 1e-12 * P[m, n, 1]
    # Every rectangle is filled before a larger one reads it.
    cost = np.empty((m + 1, m + 1, n + 1, n + 1))
    # 0: not cut; r: cut below row r; -c: cut right of column c.
    place = np.empty((m + 1, m + 1, n + 1, n + 1), dtype=np.int16)
    for height in range(1, m + 1):
        for across in range(1, n + 1):
            for a in range(m - height + 1):
                b = a + height
                for c in range(n - across + 1):
                    d = c + across
                    best, at = np.inf, 0
                    weight = P[b, d, 0] - P[a, d, 0] - P[b, c, 0] + P[a, c, 0]
                    if weight > 0.0 and (weight >= min_weight - 1e-9 or (height == m and across == n)):
                        best = P[b, d, 1] - P[a, d, 1] - P[b, c, 1] + P[a, c, 1]
                        for e in range(2, width):
                            total = P[b, d, e] - P[a, d, e] - P[b, c, e] + P[a, c, e]
                            best -= total * total / weight
                        best = max(best, 0.0) + penalty
                    if weight >= 2.0 * min_weight - 2e-9:
                        for r in range(a + 1, b):
                            here = cost[a, r, c, d] + cost[r, b, c, d]
                            if here < best - close:
                                best, at = here, r
                        for r in range(c + 1, d):
                            here = cost[a, b, c, r] + cost[a, b, r, d]
                            if here < best - close:
                                best, at = here, -r
                    cost[a, b, c, d], place[a, b, c, d] = best, at
    # A cut rectangle is replaced by its first part; the second is appended.
    found[:] = -1
    _put(found, 0, 0, m, 0, n)
    count, i = 1, 0
    while i < count:
        a, b, c, d = found[i, 0], found[i, 1], found[i, 2], found[i, 3]
        at = np.int64(place[a, b, c, d])
        if at == 0:
            i += 1
        elif at > 0:
            found[i, 1] = at
            _put(found, count, at, b, c, d)
            count += 1
        else:
            found[i, 3] = -at
            _put(found, count, a, b, -at, d)
            count += 1
    return cost[0, m, 0, n]


@helper
def _put(found, i, a, b, c, d):
    found[i, 0], found[i, 1], found[i, 2], found[i, 3] = a, b, c, d
