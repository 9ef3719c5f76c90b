"""Bins of one sorted column that fit a target best: the least squared error plus a cost for each bin, exactly.

The best bins of the first t values end with a bin that begins at some value s, and the bins before it are the best ones
of the first s: a shortest path. A start s is pruned once later ones are at least as good for all further values. For a
target of one number, s stays while it is the best start for some prediction mu of its bin (functional pruning;
Maidstone, Hocking, Rigaill and Fearnhead 2017). For several numbers s stays while a box around the predictions for
which it may be the best is not empty; for straight lines while it beats each later start at its own optimum (PELT;
Killick, Fearnhead and Eckley 2012). Pruning does not change the result, except that costs which differ by less than
1e-12 of the sum of squares tie.

The sums of a value are: weight, sum of squares of the target, then the sums of the target's numbers; for straight lines
weight, sum of squares, sum, sum of x, of x squared and of x times target.
"""

import numpy as np

from tamis.kernels.assign import assign
from tamis.kernels.compiler import helper, kernel

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
    "void(int64[::1], float64[:, ::1], float64[::1], int64, float64, boolean, boolean[::1], float64[::1])",
    reads=6,
)
def best_bins(first, sums, penalty, max_bins, min_weight, lines, begins, cost):
    """Mark the values at which the best bins of each column begin, and fill the least cost.

    The values of column j have the sums ``sums[first[j] : first[j + 1]]``. Every bin costs ``penalty[j]``; a negative
    one means the squared error of a single bin divided by the total weight less one. There are at most `max_bins` (0:
    any number), each of at least `min_weight`, unless all is one bin. Ties go to the longest last bin.
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
        P[0] = 0.0
        for g in range(m):
            for d in range(width):
                P[g + 1, d] = P[g, d] + sums[first[j] + g, d]
        whole = _error(P, 0, m, lines)
        each = penalty[j]
        if each < 0.0:
            each = whole / (P[m, 0] - 1.0 if P[m, 0] >= 2.0 else P[m, 0])
        close = _CLOSE * P[m, 1]
        cost[j] = whole + each
        if m == 1 or max_bins == 1 or whole <= 10.0 * close:
            continue
        bins = _any_number(P, m, each, min_weight, lines, close, path, back)
        if bins == 0:
            continue
        if max_bins == 0 or bins <= max_bins:
            cost[j] = path[m]
            t = back[m]
            while t > 0:
                begins[first[j] + t] = True
                t = back[t]
        else:
            cost[j] = _few(P, m, each, min_weight, lines, close, max_bins, begins[first[j] :])


@helper
def _any_number(P, m, each, min_weight, lines, close, path, back):
    """Fill the paths of the best bins; returns how many bins there are, 0 if none are heavy enough."""
    path[0] = 0.0
    _layer(P, m, each, min_weight, lines, close, path, path, back)
    bins, t = 0, m
    while t > 0 and path[m] < np.inf:
        bins, t = bins + 1, back[t]
    return bins


@helper
def _few(P, m, each, min_weight, lines, close, max_bins, begins):
    """The best of at most `max_bins` bins: one layer of paths for each number of bins."""
    back = np.empty((max_bins + 1, m + 1), dtype=np.int32)
    now, before = np.empty(m + 1), np.empty(m + 1)
    before[0] = 0.0
    for t in range(1, m + 1):
        before[t] = np.inf
    best, bins = np.inf, 0
    for k in range(1, max_bins + 1):
        now[0] = np.inf
        _layer(P, m, each, min_weight, lines, close, before, now, back[k])
        if now[m] < best - close:
            best, bins = now[m], k
        before, now = now, before
    t = m
    for k in range(bins, 1, -1):
        t = back[k, t]
        begins[t] = True
    return best


@helper
def _error(P, s, t, lines):
    """Squared error of the values s up to t as one bin."""
    weight = P[t, 0] - P[s, 0]
    if weight <= 0.0:
        # Lost in the rounding of the cumulative weights.
        return 0.0
    error = P[t, 1] - P[s, 1]
    if not lines:
        for d in range(2, P.shape[1]):
            total = P[t, d] - P[s, d]
            error -= total * total / weight
        return max(error, 0.0)
    y, x = P[t, 2] - P[s, 2], P[t, 3] - P[s, 3]
    error -= y * y / weight
    spread = P[t, 4] - P[s, 4] - x * x / weight
    # A single x has no slope.
    if t - s > 1 and spread > 0.0:
        along = P[t, 5] - P[s, 5] - x * y / weight
        error -= along * along / spread
    return max(error, 0.0)


@helper
def _layer(P, m, each, min_weight, lines, close, before, path, back):
    """Fill ``path[t]``, the least over s of ``before[s] + each + error of s..t``, and `back`, where it is reached.

    `before` may be `path`. A start enters, and may prune others, once its bin is heavy enough.
    """
    one = P.shape[1] == 3
    size = m + 2
    owner, spare = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    # For one number: where each piece of the line ends, in two copies. For several: the boxes' ends.
    n_numbers = 1 if one or lines else P.shape[1] - 2
    low, high = np.empty((size, n_numbers)), np.empty((size, n_numbers))
    if not (one or lines):
        # The last box holds all predictions; each start begins with it.
        low[-1], high[-1] = np.inf, -np.inf
        for g in range(m):
            for d in range(low.shape[1]):
                weight = P[g + 1, 0] - P[g, 0]
                if weight > 0.0:
                    mean = (P[g + 1, 2 + d] - P[g, 2 + d]) / weight
                    low[-1, d], high[-1, d] = min(low[-1, d], mean), max(high[-1, d], mean)
    count, entering = 0, 0
    for t in range(1, m + 1):
        while entering < t and P[t, 0] - P[entering, 0] >= min_weight - 1e-9:
            if before[entering] < np.inf:
                if one:
                    if 2 * count + 1 > owner.shape[0]:
                        # Rounding may make more than the 2 m pieces of exact arithmetic.
                        size = owner.shape[0] + 3 * count
                        owner, high = _grown(owner, high, size)
                        spare, low = np.empty(size, dtype=np.int64), np.empty((size, 1))
                    count = _enter_line(P, entering, close, before, owner, high, spare, low, count)
                else:
                    count = _enter(P, entering, lines, close, before, owner, low, high, count)
            entering += 1
        best, at = np.inf, 0
        for i in range(count):
            s = owner[i]
            here = before[s] + each + _error(P, s, t, lines)
            if here < best - close or (here <= best + close and s < at):
                best, at = here, s
        path[t], back[t] = best, at


@helper
def _grown(owner, end, size):
    """Copies of the pieces with more room."""
    wider, wider_end = np.empty(size, dtype=np.int64), np.empty((size, 1))
    for i in range(owner.shape[0]):
        wider[i], wider_end[i, 0] = owner[i], end[i, 0]
    return wider, wider_end


@helper
def _enter_line(P, new, close, before, owner, end, spare, spare_end, count):
    """Give a new start the predictions mu for which it is better; returns the number of pieces.

    An old start s stays where ``before[s] + error of s..new about mu <= before[new]``: in an interval about the mean.
    Of several that tie with the new one at the same mean the earliest stays.
    """
    if count == 0:
        owner[0], end[0, 0] = new, np.inf
        return 1
    made, low = 0, -np.inf
    for i in range(count):
        s, high = owner[i], end[i, 0]
        weight = P[new, 0] - P[s, 0]
        room = before[new] - before[s] - _error(P, s, new, False) + close
        start = stop = high
        if room <= 2.0 * close and (
            (i > 0 and _earlier_equal(P, owner[i - 1], s, new, close, before))
            or (i + 1 < count and _earlier_equal(P, owner[i + 1], s, new, close, before))
        ):
            room = 0.0
        if room > 0.0 and weight > 0.0:
            mean, reach = (P[new, 2] - P[s, 2]) / weight, np.sqrt(room / weight)
            start, stop = max(low, mean - reach), min(high, mean + reach)
        if start >= stop:
            start = stop = high
        for k in range(3):
            who, to = (s, stop) if k == 1 else (new, start if k == 0 else high)
            if to > low:
                if made > 0 and spare[made - 1] == who:
                    made -= 1
                spare[made], spare_end[made, 0] = who, to
                made += 1
                low = to
        low = high
    for i in range(made):
        owner[i], end[i, 0] = spare[i], spare_end[i, 0]
    return made


@helper
def _earlier_equal(P, other, s, new, close, before):
    """Whether a neighbouring piece belongs to an earlier start than s that ties with the new one."""
    return other < s and abs(before[new] - before[other] - _error(P, other, new, False)) <= close


@helper
def _enter(P, new, lines, close, before, owner, low, high, count):
    """Prune starts, narrow the boxes of the rest, and add a new start; returns the number of starts.

    A start beats a later one within a ball about the mean of the values between them, and an earlier one outside such
    a ball. Every later start is compared; of the earlier ones only the nearest and the first.
    """
    kept = 0
    for i in range(count):
        s = owner[i]
        room = before[new] - before[s] - _error(P, s, new, lines) + close
        if room <= 0.0:
            continue
        owner[kept] = s
        if not lines:
            for d in range(low.shape[1]):
                low[kept, d], high[kept, d] = low[i, d], high[i, d]
            if not _within(P, s, new, room, low, high, kept):
                continue
            if kept > 0 and not _outside(P, owner[kept - 1], s, close, before, low, high, kept):
                continue
            if kept > 1 and not _outside(P, owner[0], s, close, before, low, high, kept):
                continue
        kept += 1
    owner[kept] = new
    if not lines:
        for d in range(low.shape[1]):
            low[kept, d], high[kept, d] = low[-1, d], high[-1, d]
    return kept + 1


@helper
def _within(P, s, t, room, low, high, i):
    """Narrow box i to the predictions with at most `room` more error on the values s up to t than their mean has."""
    weight = P[t, 0] - P[s, 0]
    if weight <= 0.0:
        return True
    reach = room / weight
    for d in range(low.shape[1]):
        mean = (P[t, 2 + d] - P[s, 2 + d]) / weight
        reach -= max(low[i, d] - mean, mean - high[i, d], 0.0) ** 2
    if reach <= 0.0:
        return False
    for d in range(low.shape[1]):
        mean = (P[t, 2 + d] - P[s, 2 + d]) / weight
        half = np.sqrt(reach + max(low[i, d] - mean, mean - high[i, d], 0.0) ** 2)
        low[i, d], high[i, d] = max(low[i, d], mean - half), min(high[i, d], mean + half)
    return True


@helper
def _outside(P, e, s, close, before, low, high, i):
    """Narrow the box of start s by the ball in which start e is better, where the ball covers a side of the box."""
    weight = P[s, 0] - P[e, 0]
    if weight <= 0.0:
        return True
    reach = (before[s] - before[e] - _error(P, e, s, False) - close) / weight
    if reach <= 0.0:
        return True
    for d in range(low.shape[1]):
        mean = (P[s, 2 + d] - P[e, 2 + d]) / weight
        reach -= max(mean - low[i, d], high[i, d] - mean) ** 2
    if reach >= 0.0:
        return False
    for d in range(low.shape[1]):
        mean = (P[s, 2 + d] - P[e, 2 + d]) / weight
        far = max(mean - low[i, d], high[i, d] - mean) ** 2
        if reach + far > 0.0:
            half = np.sqrt(reach + far)
            if mean - half <= low[i, d] < mean + half:
                low[i, d] = mean + half
            elif mean - half < high[i, d] <= mean + half:
                high[i, d] = mean - half
    return True
