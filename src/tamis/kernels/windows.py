"""The window of the least squared error about each value of a sorted column."""

import numpy as np

from tamis.kernels.compiler import kernel


@kernel("void(int64[::1], float64[:, ::1], float64, int64[::1], int64[::1])", reads=3)
def lowest_windows(first, sums, min_weight, low, high):
    """For each value, the run of values with the least error among those that hold it and weigh `min_weight` or more.

    The values of column j have the sums ``sums[first[j] : first[j + 1]]``: weight, sum of squares of the target, sums
    of its numbers. The run of value g is ``low[g]`` up to ``high[g]``; all values where the column is too light. A run
    has at least the error of any run within it, so only minimal runs are compared. Ties go to the first.
    """
    for j in range(first.shape[0] - 1):
        base, m = first[j], first[j + 1] - first[j]
        P = np.zeros((m + 1, sums.shape[1]))
        for g in range(m):
            for d in range(sums.shape[1]):
                P[g + 1, d] = P[g, d] + sums[base + g, d]
        low[base : base + m], high[base : base + m] = base, base + m
        start, stop, count = np.empty(2 * m, dtype=np.int64), np.empty(2 * m, dtype=np.int64), 0
        b = 0
        for a in range(m):
            while b <= m and P[b, 0] - P[a, 0] < min_weight - 1e-9:
                b += 1
                if b > m:
                    break
            if b > m:
                break
            start[count], stop[count] = a, b
            count += 1
        a = 0
        for b in range(1, m + 1):
            if P[b, 0] < min_weight - 1e-9:
                continue
            while P[b, 0] - P[a + 1, 0] >= min_weight - 1e-9:
                a += 1
            start[count], stop[count] = a, b
            count += 1
        error = np.empty(count)
        for i in range(count):
            weight = P[stop[i], 0] - P[start[i], 0]
            error[i] = P[stop[i], 1] - P[start[i], 1]
            for d in range(2, sums.shape[1]):
                error[i] -= (P[stop[i], d] - P[start[i], d]) ** 2 / weight
            # Rounding must not decide between equal errors; the first wins.
            error[i] = np.rint(error[i] / (1e-9 * max(P[m, 1], 1e-300))) + 1e-3 * start[i] / (m + 1)
        # The next value without a run, from each value on.
        free = np.empty(m + 1, dtype=np.int64)
        for g in range(m + 1):
            free[g] = g
        for i in np.argsort(error):
            g = start[i]
            while True:
                while free[g] != g:
                    free[g] = free[free[g]]
                    g = free[g]
                if g >= stop[i]:
                    break
                low[base + g], high[base + g] = base + start[i], base + stop[i]
                free[g] = g + 1
