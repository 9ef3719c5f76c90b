"""Merging of neighbouring intervals whose class shares are alike, by the chi-square statistic."""

import numpy as np

from tamis.kernels.compiler import helper, kernel


@kernel("void(int64[::1], float64[:, ::1], float64, int64, int64, boolean[::1])", reads=2)
def merge_alike(first, table, limit, min_bins, max_bins, begins):
    """Mark the values at which the intervals of each column begin, except the first.

    The values ``first[j] : first[j + 1]`` of column j have the class weights `table`. The neighbours of least
    statistic, the first of equal ones, are merged while it is at most `limit`, or while there are more than `max_bins`
    (0: any number), down to `min_bins`.
    """
    longest = 1
    for j in range(first.shape[0] - 1):
        longest = max(longest, first[j + 1] - first[j])
    counts = np.empty((longest, table.shape[1]))
    after, before = np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.int32)
    # A heap of the intervals that have a next one, by the statistic of the two.
    heap, place, key = np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.int32), np.empty(longest)
    for j in range(first.shape[0] - 1):
        m = first[j + 1] - first[j]
        if m == 0:
            continue
        for i in range(m):
            for c in range(table.shape[1]):
                counts[i, c] = table[first[j] + i, c]
            after[i], before[i] = i + 1, i - 1
        size = m - 1
        for i in range(size):
            key[i], heap[i], place[i] = _statistic(counts, i, i + 1), i, i
        for at in range(size // 2 - 1, -1, -1):
            _down(heap, place, key, at, size)
        left = m
        while left > max(min_bins, 1) and (key[heap[0]] <= limit or (max_bins > 0 and left > max_bins)):
            i = heap[0]
            gone = after[i]
            for c in range(table.shape[1]):
                counts[i, c] += counts[gone, c]
            after[i] = after[gone]
            if after[i] < m:
                before[after[i]] = i
                # The pair that began with the interval that is gone is now that of i.
                size = _removed(heap, place, key, gone, size)
                key[i] = _statistic(counts, i, after[i])
                _moved(heap, place, key, place[i], size)
            else:
                size = _removed(heap, place, key, i, size)
            if before[i] >= 0:
                key[before[i]] = _statistic(counts, before[i], i)
                _moved(heap, place, key, place[before[i]], size)
            left -= 1
        begins[first[j] : first[j + 1]] = False
        i = after[0]
        while i < m:
            begins[first[j] + i] = True
            i = after[i]


@helper
def _statistic(counts, a, b):
    """The chi-square statistic of the class weights of two intervals, with expectations of at least one half below."""
    in_a, in_b = 0.0, 0.0
    for c in range(counts.shape[1]):
        in_a, in_b = in_a + counts[a, c], in_b + counts[b, c]
    found = 0.0
    for c in range(counts.shape[1]):
        both = counts[a, c] + counts[b, c]
        expected_a, expected_b = in_a * both / (in_a + in_b), in_b * both / (in_a + in_b)
        found += (counts[a, c] - expected_a) ** 2 / max(expected_a, 0.5)
        found += (counts[b, c] - expected_b) ** 2 / max(expected_b, 0.5)
    # Statistics that differ only by rounding are equal.
    return np.floor(found * 1e9 + 0.5) / 1e9


@helper
def _less(key, i, j):
    return key[i] < key[j] or (key[i] == key[j] and i < j)


@helper
def _moved(heap, place, key, at, size):
    """Restore the order of the heap after the key at one place has changed."""
    while at > 0 and _less(key, heap[at], heap[(at - 1) // 2]):
        _swap(heap, place, at, (at - 1) // 2)
        at = (at - 1) // 2
    _down(heap, place, key, at, size)


@helper
def _down(heap, place, key, at, size):
    while True:
        least, child = at, 2 * at + 1
        if child < size and _less(key, heap[child], heap[least]):
            least = child
        if child + 1 < size and _less(key, heap[child + 1], heap[least]):
            least = child + 1
        if least == at:
            return
        _swap(heap, place, at, least)
        at = least


@helper
def _swap(heap, place, a, b):
    heap[a], heap[b] = heap[b], heap[a]
    place[heap[a]], place[heap[b]] = a, b


@helper
def _removed(heap, place, key, i, size):
    """Take interval i from the heap; returns the new size."""
    at = place[i]
    _swap(heap, place, at, size - 1)
    if at < size - 1:
        _moved(heap, place, key, at, size - 1)
    return size - 1
