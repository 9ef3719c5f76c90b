"""Trees of any number of branches with fractional cases: columns dealt to the branches, and estimates of errors."""

import math

import numpy as np

from tamis.kernels.compiler import helper, kernel
from tamis.kernels.gain_ratio import SLACK

_REALS = ("float32", "float64")

#: The branch of a row that goes down all of them, because its value is missing.
ALL = -1


@kernel(
    *(
        f"void(int64[::1], int64[::1], int32[::1], {real}[::1], int32[::1], int64[:, ::1], int32[::1], {real}[::1])"
        for real in _REALS
    ),
    reads=5,
)
def deal_columns(begin, end, rows, values, branch, place, dealt_rows, dealt_values):
    """Copy the entries of each column j to the branches v of their rows, in order.

    They begin at ``place[v, j]``, which moves to their end. A row of a branch that has no place is left out.
    """
    n_branches = place.shape[0]
    for j in range(begin.shape[0]):
        for t in range(begin[j], end[j]):
            v = branch[rows[t]]
            if v < n_branches:
                for u in range(n_branches if v == ALL else 1):
                    to = u if v == ALL else v
                    dealt_rows[place[to, j]], dealt_values[place[to, j]] = rows[t], values[t]
                    place[to, j] += 1


@helper
def added_errors(n, e, confidence, coefficient):
    """Errors to add to `e` in `n` rows for the upper limit of Quinlan's confidence interval.

    `coefficient` is the squared normal deviate of the confidence. Errors below one are between the exact limit without
    errors and the normal one, with its correction of one half, for one error.
    """
    if n <= 0.0:
        return 0.0
    if e < 0.9999:
        none = n * (1.0 - math.exp(math.log(confidence) / n))
        if e < 1e-6:
            return none
        e, share = 1.0, e
    else:
        none, share = 0.0, 1.0
    if e + 0.5 >= n - SLACK:
        added = 0.67 * (n - e)
    else:
        half = e + 0.5
        spread = math.sqrt(coefficient * (half * (1.0 - half / n) + coefficient / 4.0))
        added = n * (half + coefficient / 2.0 + spread) / (n + coefficient) - e
    return added if share == 1.0 else none + share * (added - none)


@kernel(
    "float64(float64[:, ::1], int64[::1], int32[::1], float64[::1], int64[::1], float64[::1], int64[::1], int64[::1], "
    "int64[::1], int64, int64, float64, float64)",
    reads=9,
)
def subtree_errors(
    X, codes, rows, weight, feature, threshold, offset, count, children, root, n_classes, confidence, coefficient
):
    """Estimated errors of the leaves below `root` when the rows, of the given weights, are sent down from it.

    Column ``feature[node]`` of `X` is split at a threshold, or by its levels where that is NaN; branch v leads to
    ``children[offset[node] + v]``. A row with a missing value goes down all branches that have known rows, in
    proportion to their weight.
    """
    held_rows, held_weight = rows.copy(), weight.copy()
    spare_rows, spare_weight = np.empty_like(held_rows), np.empty_like(held_weight)
    which = np.empty(held_rows.shape[0], dtype=np.int64)
    stack = np.empty((feature.shape[0] + 1, 2), dtype=np.int64)
    seen = np.empty(n_classes)
    stack[0] = root, 0
    top, end = 1, rows.shape[0]
    errors = 0.0
    while top > 0:
        top -= 1
        # The rows of the last entry are the last ones that are held.
        node, begin = stack[top]
        size = end - begin
        if feature[node] < 0:
            seen[:] = 0.0
            for t in range(begin, end):
                seen[codes[held_rows[t]]] += held_weight[t]
            total = seen.sum()
            wrong = total - seen.max()
            errors += wrong + added_errors(total, wrong, confidence, coefficient)
            end = begin
            continue
        if size > spare_rows.shape[0]:
            spare_rows, spare_weight = np.empty(2 * size, dtype=np.int32), np.empty(2 * size)
            which = np.empty(2 * size, dtype=np.int64)
        sizes, sums = np.zeros(count[node], dtype=np.int64), np.zeros(count[node])
        missing = 0
        for t in range(size):
            row = held_rows[begin + t]
            spare_rows[t], spare_weight[t] = row, held_weight[begin + t]
            value = X[row, feature[node]]
            if np.isnan(value):
                which[t] = ALL
                missing += 1
                continue
            v = np.int64(value) if np.isnan(threshold[node]) else np.int64(value > threshold[node])
            which[t] = v
            sizes[v] += 1
            sums[v] += held_weight[begin + t]
        known = sums.sum()
        end = begin
        for v in range(count[node]):
            if sizes[v] == 0:
                continue
            if end + sizes[v] + missing > held_rows.shape[0]:
                more = 2 * (end + sizes[v] + missing)
                wider_rows, wider_weight = np.empty(more, dtype=np.int32), np.empty(more)
                wider_rows[:end], wider_weight[:end] = held_rows[:end], held_weight[:end]
                held_rows, held_weight = wider_rows, wider_weight
            stack[top] = children[offset[node] + v], end
            top += 1
            for t in range(size):
                if which[t] == v:
                    held_rows[end], held_weight[end] = spare_rows[t], spare_weight[t]
                    end += 1
                elif which[t] == ALL:
                    held_rows[end], held_weight[end] = spare_rows[t], spare_weight[t] * sums[v] / known
                    end += 1
    return errors
