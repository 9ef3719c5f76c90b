"""The values at which the last bin may still begin, and how they prune each other.

``P[t]`` are the sums over the first t values, ``before[s]`` is the least cost of the bins before value s.
"""

import numpy as np

from tamis.kernels.compiler import helper


@helper
def bin_error(P, s, t, lines):
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
def room_for(P, m, line, lines):
    """Empty lists of starts: their owners, and where each piece of the line, or the box of each start, ends.

    For one number (`line`) there are pieces in two copies, for several (neither `line` nor `lines`) boxes.
    """
    room = m + 2
    n_numbers = 1 if line or lines else P.shape[1] - 2
    low, high = np.empty((room, n_numbers)), np.empty((room, n_numbers))
    if not (line or lines):
        # The last box holds all predictions; each start begins with it.
        low[-1], high[-1] = np.inf, -np.inf
        for g in range(m):
            for d in range(low.shape[1]):
                weight = P[g + 1, 0] - P[g, 0]
                if weight > 0.0:
                    mean = (P[g + 1, 2 + d] - P[g, 2 + d]) / weight
                    low[-1, d], high[-1, d] = min(low[-1, d], mean), max(high[-1, d], mean)
    return np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), low, high


@helper
def cheapest(P, t, each, lines, close, before, starts, count, best, at):
    """The least cost of bins that end at t with one from some starts, and the start; `best` and `at` are those so far.

    Of equals the earliest start is taken.
    """
    for i in range(count):
        s = starts[i]
        here = before[s] + each + bin_error(P, s, t, lines)
        if here < best - close or (here <= best + close and s < at):
            best, at = here, s
    return best, at


@helper
def without(owner, count, gone):
    """Remove the starts before `gone`, which lie in order; returns the number of starts."""
    leaving = 0
    while leaving < count and owner[leaving] < gone:
        leaving += 1
    if leaving > 0:
        for i in range(leaving, count):
            owner[i - leaving] = owner[i]
    return count - leaving


@helper
def entered(P, new, line, lines, close, before, owner, spare, low, high, count):
    """Add a start later, or earlier, than all others; returns the lists, and how long they are."""
    if not line:
        if lines or count == 0 or owner[0] < new:
            count = enter(P, new, lines, close, before, owner, low, high, count)
        else:
            count = enter_before(P, new, close, before, owner, low, high, count)
        return owner, spare, low, high, count
    if 2 * count + 1 > owner.shape[0]:
        # Rounding may make more than the 2 m pieces of exact arithmetic.
        size = owner.shape[0] + 3 * count
        wider, wider_end = np.empty(size, dtype=np.int64), np.empty((size, 1))
        for i in range(count):
            wider[i], wider_end[i, 0] = owner[i], high[i, 0]
        owner, spare, low, high = wider, np.empty(size, dtype=np.int64), np.empty((size, 1)), wider_end
    count = enter_line(P, new, close, before, owner, high, spare, low, count)
    return owner, spare, low, high, count


@helper
def enter_line(P, new, close, before, owner, end, spare, spare_end, count):
    """Give a new start the predictions mu for which it is better; returns the number of pieces.

    The new start is later than all others, or earlier than all. Of two starts the early one is better where
    ``before[early] + error of early..late about mu <= before[late]``: in an interval about the mean of the values
    between. Of several that tie with a late one at the same mean the earliest stays.
    """
    if count == 0:
        owner[0], end[0, 0] = new, np.inf
        return 1
    made, low = 0, -np.inf
    for i in range(count):
        early, late, high = min(owner[i], new), max(owner[i], new), end[i, 0]
        weight = P[late, 0] - P[early, 0]
        room = before[late] - before[early] - bin_error(P, early, late, False) + close
        start = stop = high
        if room <= 2.0 * close and (
            (i > 0 and _earlier_equal(P, owner[i - 1], early, late, close, before))
            or (i + 1 < count and _earlier_equal(P, owner[i + 1], early, late, close, before))
        ):
            room = 0.0
        if room > 0.0 and weight > 0.0:
            mean, reach = (P[late, 2] - P[early, 2]) / weight, np.sqrt(room / weight)
            start, stop = max(low, mean - reach), min(high, mean + reach)
        if start >= stop:
            start = stop = high
        for k in range(3):
            who, to = (early, stop) if k == 1 else (late, start if k == 0 else high)
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
def _earlier_equal(P, other, s, late, close, before):
    """Whether a neighbouring piece belongs to an earlier start than s that ties with the late one."""
    return other < s and abs(before[late] - before[other] - bin_error(P, other, late, False)) <= close


@helper
def enter(P, new, lines, close, before, owner, low, high, count):
    """Prune starts, narrow the boxes of the rest, and add a start later than all; returns the number of starts.

    A start beats a later one within a ball about the mean of the values between them, and an earlier one outside such
    a ball. Every later start is compared; of the earlier ones only the nearest and the first.
    """
    kept = 0
    for i in range(count):
        s = owner[i]
        room = before[new] - before[s] - bin_error(P, s, new, lines) + close
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
def enter_before(P, new, close, before, owner, low, high, count):
    """Add a start earlier than all others unless one of them is better everywhere; returns the number of starts.

    Starts that it beats in their whole boxes are removed.
    """
    for d in range(low.shape[1]):
        low[count, d], high[count, d] = low[-1, d], high[-1, d]
    for i in range(count):
        s = owner[i]
        room = before[s] - before[new] - bin_error(P, new, s, False) + close
        if room <= 0.0 or not _within(P, new, s, room, low, high, count):
            return count
    kept = 0
    for i in range(count + 1):
        owner[kept] = owner[i] if i < count else new
        for d in range(low.shape[1]):
            low[kept, d], high[kept, d] = low[i, d], high[i, d]
        if i == count or _outside(P, new, owner[kept], close, before, low, high, kept):
            kept += 1
    return kept


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
    reach = (before[s] - before[e] - bin_error(P, e, s, False) - close) / weight
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
