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
def without(owner, low, high, boxed, count, gone):
    """Remove the starts before `gone`, which lie in order; returns the number of starts."""
    leaving = 0
    while leaving < count and owner[leaving] < gone:
        leaving += 1
    if leaving > 0:
        for i in range(leaving, count):
            owner[i - leaving] = owner[i]
            if boxed:
                for d in range(low.shape[1]):
                    low[i - leaving, d], high[i - leaving, d] = low[i, d], high[i, d]
    return count - leaving


@helper
def grown(owner, end, size):
    """Copies of the pieces with more room."""
    wider, wider_end = np.empty(size, dtype=np.int64), np.empty((size, 1))
    for i in range(owner.shape[0]):
        wider[i], wider_end[i, 0] = owner[i], end[i, 0]
    return wider, wider_end


@helper
def enter_line(P, new, close, before, owner, end, spare, spare_end, count):
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
        room = before[new] - before[s] - bin_error(P, s, new, False) + close
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
    return other < s and abs(before[new] - before[other] - bin_error(P, other, new, False)) <= close


@helper
def enter(P, new, lines, leaves, close, before, owner, low, high, count):
    """Prune starts, narrow the boxes of the rest, and add a new start; returns the number of starts.

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
            if not leaves and kept > 0 and not _outside(P, owner[kept - 1], s, close, before, low, high, kept):
                continue
            if not leaves and kept > 1 and not _outside(P, owner[0], s, close, before, low, high, kept):
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
