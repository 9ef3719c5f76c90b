"""The MODL cost of intervals, and a heuristic search: greedy merges with a heap, then local steps.

Intervals are ranges of blocks of a sorted column; ``below[b]`` holds the rows of each class below block b. `following`
maps the first block of an interval to the first block of the next one.
"""

import math

import numpy as np

from tamis.kernels.compiler import helper

#: Costs that differ by at most this share of the largest term are equal.
CLOSE = 1e-12


@helper
def log_factorial(x, logs):
    """Logarithm of x!, looked up where listed."""
    return logs[int(x)] if x < logs.shape[0] else math.lgamma(x + 1.0)


@helper
def prior(n, size, logs):
    """Cost of the ends of `n` intervals of `size` rows: ln C(size + n - 1, n - 1)."""
    return log_factorial(size + n - 1.0, logs) - log_factorial(n - 1.0, logs) - log_factorial(size, logs)


@helper
def interval_cost(below, start, stop, logs, n_classes):
    """Cost of the blocks from `start` up to `stop` as one interval.

    ln C(m + J - 1, J - 1) + ln(m! / prod m_j!) = ln (m + J - 1)! - ln (J - 1)! - sum ln m_j!.
    """
    size = listed = 0.0
    for c in range(below.shape[1]):
        here = below[stop, c] - below[start, c]
        size += here
        listed += log_factorial(here, logs)
    return log_factorial(size + n_classes - 1.0, logs) - log_factorial(n_classes - 1.0, logs) - listed


@helper
def merge(n_blocks, below, size, logs, n_classes, most, following):
    """Merge the cheapest pair of neighbours, down to one interval, and link the intervals of the cheapest step."""
    close = CLOSE * (1.0 + log_factorial(size, logs))
    before, place = np.empty(n_blocks + 1, dtype=np.int32), np.empty(n_blocks, dtype=np.int32)
    heap, step = np.empty(n_blocks, dtype=np.int32), np.empty(n_blocks + 1, dtype=np.int32)
    keys, alone, joint = np.empty(n_blocks), np.empty(n_blocks), np.empty(n_blocks)
    cost = 0.0
    for b in range(n_blocks):
        before[b], following[b], heap[b], place[b] = b - 1, b + 1, b, b
        alone[b] = interval_cost(below, b, b + 1, logs, n_classes)
        cost += alone[b]
    length = n_blocks - 1
    for b in range(length):
        joint[b] = interval_cost(below, b, b + 2, logs, n_classes)
        keys[b] = joint[b] - alone[b] - alone[b + 1]
    for at in range(length // 2 - 1, -1, -1):
        _settle(heap, keys, place, at, length)
    best, best_step = np.inf, 0
    for n in range(n_blocks, 0, -1):
        now = cost + prior(n, size, logs)
        if n <= most and now <= best + close:
            best, best_step = now, n_blocks - n
        if n == 1:
            break
        a = heap[0]
        cost += keys[0]
        b = following[a]
        stop = following[b]
        alone[a], following[a], step[b] = joint[a], stop, n_blocks - n
        # Drop the pair that begins with b; the last interval begins no pair.
        length = _drop(heap, keys, place, place[b] if stop < n_blocks else 0, length)
        if stop < n_blocks:
            before[stop] = a
        for changed in (a, before[a]):
            if changed < 0 or following[changed] == n_blocks:
                continue
            other = following[changed]
            joint[changed] = interval_cost(below, changed, following[other], logs, n_classes)
            keys[place[changed]] = joint[changed] - alone[changed] - alone[other]
            _settle(heap, keys, place, place[changed], length)
    # Undo the merges after the best step.
    step[n_blocks] = n_blocks
    start = 0
    for b in range(1, n_blocks + 1):
        if step[b] >= best_step:
            following[start] = b
            start = b


@helper
def _drop(heap, keys, place, at, length):
    """Remove an entry of the heap; returns the new length."""
    length -= 1
    if at < length:
        heap[at], keys[at] = heap[length], keys[length]
        _settle(heap, keys, place, at, length)
    return length


@helper
def _settle(heap, keys, place, at, length):
    """Restore the heap order at an entry; ties go to the lower block."""
    item, key = heap[at], keys[at]
    while at > 0:
        up = (at - 1) // 2
        if keys[up] < key or (keys[up] == key and heap[up] < item):
            break
        heap[at], keys[at], place[heap[up]] = heap[up], keys[up], at
        at = up
    while 2 * at + 1 < length:
        down = 2 * at + 1
        other = down + 1
        if other < length and (keys[other] < keys[down] or (keys[other] == keys[down] and heap[other] < heap[down])):
            down = other
        if key < keys[down] or (key == keys[down] and item < heap[down]):
            break
        heap[at], keys[at], place[heap[down]] = heap[down], keys[down], at
        at = down
    heap[at], keys[at], place[item] = item, key, at


@helper
def improve(n_blocks, below, size, logs, n_classes, most, following):
    """Pass over the intervals and take every step that lowers the cost, until none does."""
    close = CLOSE * (1.0 + log_factorial(size, logs))
    n = start = 0
    while start < n_blocks:
        n, start = n + 1, following[start]
    changed = True
    while changed:
        changed, start = False, 0
        while start < n_blocks:
            stop, place, more = _step(n_blocks, below, size, logs, n_classes, n, most, start, close, following)
            if stop == start:
                start = following[start]
                continue
            n, changed = n + more, True
            following[start] = stop
            if place > start:
                following[start], following[place] = place, stop


@helper
def _step(n_blocks, below, size, logs, n_classes, n, most, start, close, following):
    """The best of five changes at the interval that begins with the block `start`.

    It may be split; merged with the next one, or recut; merged with the next two, or recut into two. Returns the end
    of the changed range (`start` if nothing improves), the inner end or -1, and the change in the number of intervals.
    """
    now = prior(n, size, logs)
    best, found, found_place, found_more = -close, start, -1, 0
    cost, stop = 0.0, start
    for joined in range(1, 4):
        if stop == n_blocks:
            break
        cost += interval_cost(below, stop, following[stop], logs, n_classes)
        stop = following[stop]
        if joined > 1:
            change = prior(n + 1 - joined, size, logs) - now - cost + interval_cost(below, start, stop, logs, n_classes)
            if change < best:
                best, found, found_place, found_more = change, stop, -1, 1 - joined
        if n + 2 - joined > most:
            continue
        change = prior(n + 2 - joined, size, logs) - now - cost
        for at in range(start + 1, stop):
            parts = interval_cost(below, start, at, logs, n_classes) + interval_cost(below, at, stop, logs, n_classes)
            if change + parts < best:
                best, found, found_place, found_more = change + parts, stop, at, 2 - joined
    return found, found_place, found_more
