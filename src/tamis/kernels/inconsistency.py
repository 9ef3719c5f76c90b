"""Inconsistency of sets of columns: rows that agree on all columns of a set and not in their class.

The loss of a block of rows is its weight less that of its commonest class. A partition is a list of blocks: block b has
the rows ``rows[starts[b]:starts[b + 1]]``. Columns split the blocks by their states, and a block with rows of one class
alone is dropped, as no further column can give it a loss. Rows are compared by their states, never by a hash.
"""

import numpy as np

from tamis.kernels.assign import assign
from tamis.kernels.compiler import helper, kernel

_CODES = ("int8", "int32")


@kernel(
    *(
        f"void({code}[:, ::1], int64[::1], intp[::1], float64[::1], int32[::1], int64[::1], intp[::1], int64[::1], "
        "boolean, float64, float64[::1])"
        for code in _CODES
    ),
    reads=10,
)
def set_losses(codes, sizes, classes, weight, rows, starts, members, first, bounded, limit, out):
    """Loss of a partition after it is split by each set of columns: set s is ``members[first[s]:first[s + 1]]``.

    Where `bounded`, a value need only lie on the right side of `limit`: it is what is certain when that is known.
    """
    n_classes, widest = 0, 0
    for i in range(rows.shape[0]):
        n_classes = max(n_classes, classes[rows[i]] + 1)
    for t in range(members.shape[0]):
        widest = max(widest, sizes[members[t]])
    order, spare = np.empty_like(rows), np.empty_like(rows)
    place, seen, ends = np.zeros(widest + 1, np.int64), np.empty(widest + 1, np.int64), np.empty(widest + 2, np.int64)
    cells = np.zeros((widest + 1, n_classes + 1))
    # Blocks that wait: they have no row in common, and two rows or more.
    waiting = np.empty((starts.shape[0] + rows.shape[0] // 2 + 1, 3), dtype=np.int64)
    losses = np.empty(waiting.shape[0])
    whole = 0.0
    for b in range(starts.shape[0] - 1):
        losses[b] = _loss(rows, starts[b], starts[b + 1], classes, weight, cells[0])
        whole += losses[b]
    initial = losses[: starts.shape[0] - 1].copy()
    for s in range(first.shape[0] - 1):
        depth = first[s + 1] - first[s]
        if depth == 0 or (bounded and whole <= limit):
            out[s] = whole
            continue
        assign(order, rows)
        n_waiting, done, open_loss = starts.shape[0] - 1, 0.0, whole
        for b in range(n_waiting):
            waiting[b, 0], waiting[b, 1], waiting[b, 2] = starts[b], starts[b + 1], 0
            losses[b] = initial[b]
        while n_waiting > 0:
            n_waiting -= 1
            begin, end, level = waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2]
            open_loss -= losses[n_waiting]
            column = codes[members[first[s] + level]]
            if level + 1 == depth:
                done += _loss_after(column, order, begin, end, classes, weight, cells, seen)
            else:
                n_states = _split(column, order, begin, end, spare, place, seen, ends)
                for c in range(n_states):
                    begin, end = ends[c], ends[c + 1]
                    if _mixed(order, begin, end, classes):
                        loss = _loss(order, begin, end, classes, weight, cells[0]) if bounded else 0.0
                        waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2] = begin, end, level + 1
                        losses[n_waiting] = loss
                        open_loss += loss
                        n_waiting += 1
            if bounded and (done > limit or done + open_loss <= limit):
                break
        out[s] = done + (open_loss if bounded and done <= limit and n_waiting > 0 else 0.0)


@kernel(
    *(f"int64({code}[::1], int64, intp[::1], int32[::1], int64[::1], int32[::1], int64[::1])" for code in _CODES),
    reads=5,
)
def refine(column, size, classes, rows, starts, out_rows, out_starts):
    """Split the blocks of a partition by one column; the number of blocks written.

    The rows within a block stay in ascending order.
    """
    order, spare = np.empty_like(rows), np.empty_like(rows)
    assign(order, rows)
    place, seen, ends = np.zeros(size, np.int64), np.empty(size, np.int64), np.empty(size + 1, np.int64)
    n_blocks, n_rows = 0, 0
    out_starts[0] = 0
    for b in range(starts.shape[0] - 1):
        n_states = _split(column, order, starts[b], starts[b + 1], spare, place, seen, ends)
        for c in range(n_states):
            if _mixed(order, ends[c], ends[c + 1], classes):
                for i in range(ends[c], ends[c + 1]):
                    out_rows[n_rows] = order[i]
                    n_rows += 1
                n_blocks += 1
                out_starts[n_blocks] = n_rows
    return n_blocks


@helper
def _split(column, order, begin, end, spare, place, seen, ends):
    """Sort a block by the states of a column, in order of appearance; the number of states, with their `ends`."""
    n_states = 0
    for i in range(begin, end):
        state = column[order[i]]
        if place[state] == 0:
            seen[n_states] = state
            n_states += 1
        place[state] += 1
    at = begin
    for c in range(n_states):
        ends[c] = at
        at += place[seen[c]]
        place[seen[c]] = ends[c]
    ends[n_states] = end
    if n_states > 1:
        for i in range(begin, end):
            state = column[order[i]]
            spare[place[state]] = order[i]
            place[state] += 1
        for i in range(begin, end):
            order[i] = spare[i]
    for c in range(n_states):
        place[seen[c]] = 0
    return n_states


@helper
def _mixed(order, begin, end, classes):
    """Whether a block has rows of several classes."""
    i = begin + 1
    while i < end and classes[order[i]] == classes[order[begin]]:
        i += 1
    return i < end


@helper
def _loss(order, begin, end, classes, weight, share):
    """Loss of a block; `share` is 0 before and after."""
    largest, total = 0.0, 0.0
    for i in range(begin, end):
        share[classes[order[i]]] += weight[order[i]]
    for i in range(begin, end):
        own = classes[order[i]]
        total += share[own]
        largest = max(largest, share[own])
        share[own] = 0.0
    return total - largest


@helper
def _loss_after(column, order, begin, end, classes, weight, cells, seen):
    """Loss of a block after it is split by a column; `cells` is 0 before and after."""
    n_states, n_classes = 0, cells.shape[1] - 1
    for i in range(begin, end):
        row = cells[column[order[i]]]
        if row[n_classes] == 0.0:
            seen[n_states] = column[order[i]]
            n_states += 1
            row[n_classes] = 1.0
        row[classes[order[i]]] += weight[order[i]]
    value = 0.0
    for c in range(n_states):
        row = cells[seen[c]]
        largest, total = 0.0, 0.0
        for k in range(n_classes):
            total += row[k]
            largest = max(largest, row[k])
            row[k] = 0.0
        row[n_classes] = 0.0
        value += total - largest
    return value
