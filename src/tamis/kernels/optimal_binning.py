"""Bins of one sorted column that fit a target best: the least squared error plus a cost for each bin, exactly.

The best bins of the first t values end with a bin that begins at some value s, and the bins before it are the best ones
of the first s: a shortest path. A start s is pruned once later ones are at least as good for all further values. For a
target of one number, s stays while it is the best start for some prediction mu of its bin (functional pruning;
Maidstone, Hocking, Rigaill and Fearnhead 2017). For several numbers s stays while a box around the predictions for
which it may be the best is not empty; for straight lines while it beats each later start at its own optimum (PELT;
Killick, Fearnhead and Eckley 2012). Bins that may not be too large have their starts in a window that moves along
(:mod:`tamis.kernels.leaving_starts`). Pruning does not change the result, except that costs which differ by less than
1e-12 of the sum of squares tie.

The sums of a value are: weight, sum of squares of the target, then the sums of the target's numbers; for straight lines
weight, sum of squares, sum, sum of x, of x squared and of x times target.
"""

import numpy as np

from tamis.kernels.assign import assign
from tamis.kernels.bin_starts import bin_error, cheapest, entered, room_for, without
from tamis.kernels.compiler import helper, kernel
from tamis.kernels.leaving_starts import hold, leave, places_for

#: Costs that differ by less than this share of the sum of squares are equal; errors below ten times it are zero.
_CLOSE = 1e-12


@kernel(
    "int64(int64[::1], int64[::1], int32[::1], float64[::1], int64[::1], float64[:, ::1], float64[::1], "
    "int64[::1], float64[::1], float64[:, ::1])",
    reads=7,
)
def sum_values(begin, end, rows, values, place, numbers, total, first, value, table):
    """List the distinct known values of sorted columns, one column after the other, with sums over their rows.

    Row i adds ``numbers[i]`` to the sums from ``place[i]`` on: its weight to that of its class, or several numbers, the
    first of them its weight. `total` has the sums over all rows. The values of column j go to
    ``value[first[j] : first[j + 1]]``; returns the number of all values.
    """
    n_sums, n_numbers = total.shape[0], numbers.shape[1]
    m = 0
    zero = np.empty(n_sums)
    for j in range(begin.shape[0]):
        first[j] = m
        pending = place.shape[0] > end[j] - begin[j]
        if pending:
            # The rows that are not listed.
            assign(zero, total)
            for t in range(begin[j], end[j]):
                for d in range(n_numbers):
                    zero[place[rows[t]] + d] -= numbers[rows[t], d]
            pending = False
            for c in range(n_sums):
                if abs(zero[c]) < 1e-12 * abs(total[c]):
                    zero[c] = 0.0
                pending = pending or zero[c] > 0.0
        for t in range(begin[j], end[j] + 1):
            listed = t < end[j] and not np.isnan(values[t])
            if pending and (not listed or values[t] > 0.0):
                pending = False
                value[m] = 0.0
                assign(table[m], zero)
                m += 1
            if not listed:
                break
            if m == first[j] or value[m - 1] != values[t]:
                value[m] = values[t]
                table[m] = 0.0
                m += 1
            for d in range(n_numbers):
                table[m - 1, place[rows[t]] + d] += numbers[rows[t], d]
    first[begin.shape[0]] = m
    return m


@kernel(
    "void(int64[::1], float64[::1], float64[:, ::1], float64[::1], int64[::1], float64[::1], boolean, boolean[::1], "
    "float64[::1])",
    reads=6,
)
def best_bins(first, value, sums, penalty, number, size, lines, begins, cost):
    """Mark the values at which the best bins of each column begin, and fill the least cost.

    Column j has the values ``value[first[j] : first[j + 1]]``, of which `sums` has the sums. Every bin costs
    ``penalty[j]``; a negative one means the squared error of a single bin divided by the total weight less one.
    `number` has the fewest and the most bins (0: any number), `size` the least and the largest weight of a bin and the
    least and the largest distance of its last value from its first. A single bin may lie below the least weight and
    distance, and a column of one value has one bin. The cost is infinite where no bins keep to the limits. Ties go to
    the longest last bin.
    """
    most = 1
    for j in range(penalty.shape[0]):
        most = max(most, first[j + 1] - first[j])
    width = sums.shape[1]
    P = np.empty((most + 1, width))
    path, back = np.empty(most + 1), np.empty(most + 1, dtype=np.int32)
    for j in range(penalty.shape[0]):
        m = first[j + 1] - first[j]
        begins[first[j] : first[j + 1]] = False
        cost[j] = 0.0
        if m == 0:
            continue
        x = value[first[j] : first[j + 1]]
        P[0] = 0.0
        for g in range(m):
            for d in range(width):
                P[g + 1, d] = P[g, d] + sums[first[j] + g, d]
        whole = bin_error(P, 0, m, lines)
        each = penalty[j]
        if each < 0.0:
            each = whole / (P[m, 0] - 1.0 if P[m, 0] >= 2.0 else P[m, 0])
        close = _CLOSE * P[m, 1]
        cost[j] = whole + each
        single = m == 1 or (number[0] <= 1 and not _too_large(P, x, 0, m, size))
        if single and (m == 1 or number[1] == 1 or whole <= 10.0 * close):
            continue
        bins = _any_number(P, x, m, each, size, lines, close, path, back)
        if bins == 0:
            cost[j] = whole + each if single else np.inf
        elif number[0] <= bins and (number[1] == 0 or bins <= number[1]):
            cost[j] = path[m]
            t = back[m]
            while t > 0:
                begins[first[j] + t] = True
                t = back[t]
        else:
            few = bins < number[0]
            cost[j] = _limited(P, x, m, each, size, lines, close, number, few, begins[first[j] :])
            if cost[j] < 0.0:
                cost[j] = _limited(P, x, m, each, size, lines, close, number, False, begins[first[j] :])


@helper
def _any_number(P, x, m, each, size, lines, close, path, back):
    """Fill the paths of the best bins; returns how many bins there are, 0 if none keep to the limits of their size."""
    path[0] = 0.0
    _layer(P, x, m, each, size, lines, close, path, path, back, False)
    bins, t = 0, m
    while t > 0 and path[m] < np.inf:
        bins, t = bins + 1, back[t]
    return bins


@helper
def _limited(P, x, m, each, size, lines, close, number, few, begins):
    """The best of a limited number of bins: one layer of paths for each number of bins.

    With `few`, where the best of any number are too few, the last layer has the paths of the fewest bins allowed or
    more; the cost is negative if these are too many.
    """
    layers = number[0] if few else number[1]
    back = np.empty((layers + 1, m + 1), dtype=np.int32)
    longer = np.zeros(m + 1, dtype=np.bool_)
    now, before = np.empty(m + 1), np.full(m + 1, np.inf)
    before[0] = 0.0
    best, last = np.inf, 0
    for k in range(1, layers + 1):
        now[0] = np.inf
        if few and k == layers:
            exact = before.copy()
            _layer(P, x, m, each, size, lines, close, before, now, back[k], True)
            for t in range(m + 1):
                longer[t] = now[t] < exact[t] - close
        else:
            _layer(P, x, m, each, size, lines, close, before, now, back[k], False)
        if k >= number[0] and now[m] < best - close:
            best, last = now[m], k
        before, now = now, before
    if last == 0:
        return np.inf
    if few:
        made, t = layers, back[layers, m]
        while longer[t]:
            made, t = made + 1, back[layers, t]
        if number[1] > 0 and made > number[1]:
            return -1.0
    k, t = last, m
    while t > 0:
        t = back[k, t]
        if t > 0:
            begins[t] = True
        if not (few and k == layers and longer[t]):
            k -= 1
    return best


@helper
def _too_large(P, x, s, t, size):
    """Whether the values s up to t weigh more, or lie further apart, than a bin may."""
    return P[t, 0] - P[s, 0] > size[1] + 1e-9 or x[t - 1] - x[s] > size[3] + 1e-12 * (abs(x[s]) + abs(x[t - 1]))


@helper
def _too_small(P, x, s, t, size):
    """Whether the values s up to t weigh less, or lie closer together, than a bin may."""
    return P[t, 0] - P[s, 0] < size[0] - 1e-9 or x[t - 1] - x[s] < size[2] - 1e-12 * (abs(x[s]) + abs(x[t - 1]))


@helper
def _layer(P, x, m, each, size, lines, close, before, path, back, joins):
    """Fill ``path[t]``, the least over s of ``before[s] + each + error of s..t``, and `back`, where it is reached.

    `before` may be `path`; with `joins` the paths found are added to it. A start enters, and may prune others, once its
    bin is large enough, and leaves when it is too large (:mod:`tamis.kernels.leaving_starts`).
    """
    leaves = size[1] < np.inf or size[3] < np.inf
    line = P.shape[1] == 3 and not lines
    owner, spare, low, high = room_for(P, m, line, lines)
    held, waiting, following, mark = places_for(m if leaves and not lines else 0)
    count, entering, gone, n_held, divide = 0, 0, 0, 0, 0
    for t in range(1, m + 1):
        if leaves:
            while gone < t and _too_large(P, x, gone, t, size):
                if gone < divide:
                    n_held = leave(gone, held, n_held, waiting, following)
                gone += 1
            if lines:
                count = without(owner, count, gone)
            elif gone > divide:
                owner, spare, low, high, n_held = hold(
                    P, gone, entering, line, close, before, owner, spare, low, high, held, waiting, following, mark
                )
                count, divide = 0, max(gone, entering)
        while entering < t and not _too_small(P, x, entering, t, size):
            if before[entering] < np.inf and entering >= gone:
                owner, spare, low, high, count = entered(
                    P, entering, line, lines, close, before, owner, spare, low, high, count
                )
            entering += 1
        best, at = cheapest(P, t, each, lines, close, before, owner, count, np.inf, 0)
        best, at = cheapest(P, t, each, lines, close, before, held, n_held, best, at)
        path[t], back[t] = best, at
        if joins:
            before[t] = min(before[t], best)
