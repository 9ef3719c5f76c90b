"""Cuts of single columns: trees of separability splits, and the errors that each cut removes.

Columns are sorted, as in :mod:`tamis.kernels.ssv`. A side of a split of one column is a range of its values, so a
column is first counted into a table of its distinct values by classes, and every node is a range of that table.
"""

import numpy as np

from tamis.kernels.assign import assign
from tamis.kernels.compiler import helper, kernel
from tamis.kernels.ssv import halfway

_COLUMNS = "int64[::1], int64[::1], int32[::1], {real}[::1], int64[::1], boolean[::1], float64[::1]"
_REALS = ("float32", "float64")


@kernel(*(f"void({_COLUMNS.format(real=real)}, float64[::1], float64[::1], int64[::1])" for real in _REALS), reads=7)
def column_cuts(begin, end, rows, values, codes, used, priors, cut, degree, count):
    """Split each column until its parts are pure; cuts in ascending order, with their degree of pruning.

    Rows that are not `used` are left out. The cuts of column j go to ``cut[begin[j] : begin[j] + count[j]]``. The
    degree of a cut is the largest error weight (a row counts the `priors` of its class) that the split there or one
    below it removes: pruning to a degree deletes the cuts of that degree and less.
    """
    n_classes = priors.shape[0]
    total = np.zeros(n_classes)
    for i in range(codes.shape[0]):
        if used[i]:
            total[codes[i]] += 1.0
    most = 1
    for j in range(begin.shape[0]):
        most = max(most, end[j] - begin[j] + 1)
    value = np.empty(most)
    table = np.empty((most, n_classes))
    at_degree = np.empty(most)
    # For each node: its range of values, the first of its two children (0 for a leaf), its split; its errors.
    node_of = np.empty((4, 2 * most), dtype=np.int64)
    low, high, child, place = node_of[0], node_of[1], node_of[2], node_of[3]
    error, top = np.empty(2 * most), np.empty(2 * most)
    known, left = np.empty(n_classes), np.empty(n_classes)
    for j in range(begin.shape[0]):
        m = _count(begin[j], end[j], rows, values, codes, used, total, left, value, table)
        low[0], high[0], nodes, node = 0, m, 1, 0
        while node < nodes:
            classes, error[node] = _sum(table, low[node], high[node], priors, known)
            child[node] = 0
            if classes > 1 and high[node] - low[node] > 1:
                place[node], child[node] = _best(value, table, low[node], high[node], known, left), nodes
                low[nodes], high[nodes] = low[node], place[node]
                low[nodes + 1], high[nodes + 1] = place[node], high[node]
                nodes += 2
            node += 1
        for g in range(m):
            at_degree[g] = -1.0
        # Children come after their parents.
        for node in range(nodes - 1, -1, -1):
            top[node] = -1.0
            if child[node] > 0:
                first, second = child[node], child[node] + 1
                gain = error[node] - error[first] - error[second]
                top[node] = max(gain if gain > 1e-10 * error[0] else 0.0, top[first], top[second])
                at_degree[place[node]] = top[node]
        count[j] = 0
        for g in range(m):
            if at_degree[g] >= 0.0:
                cut[begin[j] + count[j]] = halfway(value[g - 1], value[g])
                degree[begin[j] + count[j]] = at_degree[g]
                count[j] += 1


@helper
def _count(first, last, rows, values, codes, used, total, zero, value, table):
    """Fill the distinct known values of a column and their rows by classes; returns the number of values."""
    n_classes = total.shape[0]
    n_zero = 0.0
    for c in range(n_classes):
        zero[c] = total[c]
        n_zero += total[c]
    for t in range(first, last):
        if used[rows[t]]:
            zero[codes[rows[t]]] -= 1.0
            n_zero -= 1.0
    m = 0
    for t in range(first, last + 1):
        listed = t < last and not np.isnan(values[t])
        if n_zero > 0.0 and (not listed or values[t] > 0.0):
            # The rows that are not listed.
            value[m] = n_zero = 0.0
            for c in range(n_classes):
                table[m, c] = zero[c]
            m += 1
        if not listed:
            break
        if used[rows[t]]:
            here = np.float64(values[t])
            if m == 0 or value[m - 1] != here:
                value[m] = here
                for c in range(n_classes):
                    table[m, c] = 0.0
                m += 1
            table[m - 1, codes[rows[t]]] += 1.0
    return m


@helper
def _sum(table, first, last, priors, known):
    """Fill the rows of each class in a range of values; returns the number of classes and the errors."""
    classes = 0
    all_counted = most_counted = 0.0
    for c in range(known.shape[0]):
        known[c] = 0.0
        for g in range(first, last):
            known[c] += table[g, c]
        classes += known[c] > 0.0
        all_counted += known[c] * priors[c]
        most_counted = max(most_counted, known[c] * priors[c])
    return classes, all_counted - most_counted


@helper
def _best(value, table, first, last, known, left):
    """The first value right of the best split; ties as in `tamis.kernels.ssv`, exact for counts."""
    all_weight = weight_left = 0.0
    for c in range(known.shape[0]):
        all_weight += known[c]
        left[c] = 0.0
    best, best_same = -np.inf, 0.0
    run, run_sum, run_start, run_open = 1, 0.0, first + 1, False
    for g in range(first + 1, last):
        separated = smaller = 0.0
        for c in range(known.shape[0]):
            left[c] += table[g - 1, c]
            weight_left += table[g - 1, c]
            separated += left[c] * (known[c] - left[c])
            smaller += min(left[c], known[c] - left[c])
        here = 2.0 * (weight_left * (all_weight - weight_left) - separated) - smaller
        if here < best:
            run_open = False
        elif here > best or separated < best_same:
            best, best_same = here, separated
            run, run_sum, run_start, run_open = 1, halfway(value[g - 1], value[g]), g, True
        elif run_open and separated == best_same:
            run += 1
            run_sum += halfway(value[g - 1], value[g])
        else:
            run_open = False
    if run == 1:
        return run_start
    chosen, nearest = run_start, np.inf
    for g in range(run_start, run_start + run):
        distance = abs(halfway(value[g - 1], value[g]) - run_sum / run)
        if distance < nearest:
            chosen, nearest = g, distance
    return chosen


@kernel(
    *(
        f"void({_COLUMNS.format(real=real)}, float64[::1], float64[::1], int64[::1], int64[::1], float64[::1], "
        "float64[::1])"
        for real in _REALS
    ),
    reads=12,
)
def cuts_right(begin, end, rows, values, codes, used, priors, cut, degree, count, first, tried, right):
    """Counted weight of the rows not `used` that are classified correctly, for several degrees of pruning.

    `cut`, `degree` and `count` come from :func:`column_cuts` on the used rows. The degrees to try for column j are
    ``tried[first[j] : first[j + 1]]``, and the results go to the same places of `right`. Missing values are left out.
    """
    n_classes = priors.shape[0]
    most = 1
    for j in range(begin.shape[0]):
        most = max(most, count[j] + 1)
    # Rows of each class in the bins between neighbouring cuts: those to classify, and those that decide.
    total, table = np.zeros((2, n_classes)), np.empty((most, 2, n_classes))
    for i in range(codes.shape[0]):
        total[1 if used[i] else 0, codes[i]] += 1.0
    tested, trained = np.empty(n_classes), np.empty(n_classes)
    for j in range(begin.shape[0]):
        zero_bin = 0
        while zero_bin < count[j] and cut[begin[j] + zero_bin] <= 0.0:
            zero_bin += 1
        table[: count[j] + 1] = 0.0
        for side in range(2):
            assign(table[zero_bin, side], total[side])
        b = 0
        for t in range(begin[j], end[j]):
            side, c = 1 if used[rows[t]] else 0, codes[rows[t]]
            table[zero_bin, side, c] -= 1.0
            if not np.isnan(values[t]):
                while b < count[j] and cut[begin[j] + b] <= np.float64(values[t]):
                    b += 1
                table[b, side, c] += 1.0
        for k in range(first[j], first[j + 1]):
            right[k] = 0.0
            tested[:] = 0.0
            trained[:] = 0.0
            for b in range(count[j] + 1):
                best = 0
                for c in range(n_classes):
                    tested[c] += table[b, 0, c]
                    trained[c] += table[b, 1, c]
                    if trained[c] * priors[c] > trained[best] * priors[best]:
                        best = c
                if b == count[j] or degree[begin[j] + b] > tried[k]:
                    right[k] += tested[best] * priors[best]
                    tested[:] = 0.0
                    trained[:] = 0.0
