"""Starts of bins that leave: where bins may not be too large, a start that lies too far back is no start any more.

A start that another one prunes may be the best again once that other has left. The starts of the bins that may end at t
are a window that moves along the column; it is held in two parts. Starts that enter after a certain place, the divide,
prune each other freely: none of them has left. The starts before the divide are a fixed set that only shrinks, from
its front. Of each set that is left, ``a..divide`` for all a, the starts that may be the best are found beforehand, by
letting the starts enter from the last to the first. A start that may be the best of ``a + 1..divide`` and not of
``a..divide`` waits for a to leave: a larger set cannot bring it back, so each start has one such a at most. When a
leaves, it is removed and those that wait for it come back. When the first set is used up, the starts of the second one
become the fixed set, and the divide moves to their end.

The best of a window is the better one of the best of its two parts, each of which is found as without leaving, so the
result is exact. Each start enters twice, is removed once and comes back once at most: the time is about twice that of
bins that may be as large as they like.
"""

import numpy as np

from tamis.kernels.bin_starts import entered
from tamis.kernels.compiler import helper


@helper
def places_for(m):
    """Empty lists: starts that may be the best, for each start the first that waits for it, and the next, and marks."""
    held, waiting, following = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    mark = np.empty(m, dtype=np.int64)
    for s in range(m):
        waiting[s] = following[s] = mark[s] = -1
    return held, waiting, following, mark


@helper
def hold(P, begin, end, line, close, before, owner, spare, low, high, held, waiting, following, mark):
    """List the starts of ``begin..end`` that may be the best in `held`, and which others wait for whom to leave.

    Returns `owner`, `spare`, `low` and `high`, which are overwritten and may have grown, and the number held.
    """
    count, n_held = 0, 0
    for s in range(end - 1, begin - 1, -1):
        if before[s] == np.inf:
            continue
        owner, spare, low, high, count = entered(P, s, line, False, close, before, owner, spare, low, high, count)
        for i in range(count):
            mark[owner[i]] = s
        kept = 0
        for i in range(n_held):
            one = held[i]
            if mark[one] == s:
                held[kept] = one
                kept += 1
            else:
                following[one] = waiting[s]
                waiting[s] = one
        n_held = kept
        if mark[s] == s:
            held[n_held] = s
            n_held += 1
    return owner, spare, low, high, n_held


@helper
def leave(gone, held, n_held, waiting, following):
    """Remove a start from those held, and let those that wait for it come back; returns the number held."""
    kept = 0
    for i in range(n_held):
        if held[i] != gone:
            held[kept] = held[i]
            kept += 1
    one = waiting[gone]
    while one >= 0:
        held[kept] = one
        kept += 1
        one = following[one]
    return kept
