"""Best split of every column by information gain, on columns sorted by value, stored as in :mod:`tamis.kernels.ssv`.

:func:`gain_splits` is for rows that count once and have no missing values: entropies are sums of n log2 n over whole
numbers n, which are looked up. :func:`cut_gains` and :func:`level_gains` are C4.5's tests of weighted rows.
"""

import numpy as np

from tamis.kernels.compiler import helper, kernel
from tamis.kernels.ssv import halfway

#: Gains and ratios (in bits) that differ by less are equal.
NEAR = 1e-10

#: Weights, which may be sums of fractions of rows, that differ by less are equal.
SLACK = 1e-9


@kernel(
    *(
        f"void(int64[::1], int64[::1], int32[::1], {real}[::1], int64[::1], int64[::1], float64[::1], float64[::1], "
        "float64[::1], float64[::1], float64[::1])"
        for real in ("float32", "float64")
    ),
    reads=7,
)
def gain_splits(begin, end, rows, values, codes, total, table, gain, ratio, split, gap):
    """Fill the largest `gain` of each column, with its gain `ratio`, `split` and the `gap` around it.

    `total` counts the rows of each class, and ``table[n]`` is n log2 n. Ties go to the larger ratio, then to the wider
    gap, then to the lowest split. The gain of a column that cannot be split is -1.
    """
    n_classes = total.shape[0]
    n_rows = total.sum()
    left = np.empty(n_classes, dtype=np.int64)
    zero = np.empty(n_classes, dtype=np.int64)
    mixed = table[n_rows]
    for c in range(n_classes):
        mixed -= table[total[c]]
    for j in range(begin.shape[0]):
        first, last = begin[j], end[j]
        n_zero = n_rows - (last - first)
        for c in range(n_classes):
            left[c] = 0
            zero[c] = total[c]
        if n_zero > 0:
            for t in range(first, last):
                zero[codes[rows[t]]] -= 1
        gain[j], ratio[j], split[j], gap[j] = -1.0, 0.0, 0.0, 0.0
        started, pending = False, n_zero > 0
        n_left = 0
        previous = 0.0
        t = first
        while t < last or pending:
            block = pending and (t == last or values[t] > 0.0)
            value = 0.0 if block else np.float64(values[t])
            if started and value != previous:
                sides = table[n_left] + table[n_rows - n_left]
                parted = table[n_rows] - sides
                for c in range(n_classes):
                    sides -= table[left[c]] + table[total[c] - left[c]]
                here = max(0.0, mixed - sides) / n_rows
                share = here / (parted / n_rows)
                equal = abs(here - gain[j]) <= NEAR
                finer = share > ratio[j] + NEAR or (abs(share - ratio[j]) <= NEAR and value - previous > gap[j])
                if here > gain[j] + NEAR or (equal and finer):
                    gain[j], ratio[j] = here, share
                    split[j], gap[j] = halfway(previous, value), value - previous
            if block:
                pending = False
                n_left += n_zero
                for c in range(n_classes):
                    left[c] += zero[c]
            else:
                n_left += 1
                left[codes[rows[t]]] += 1
                t += 1
            previous = value
            started = True


@helper
def times_log(n, table):
    """n log2 n, looked up in ``table[n]`` where n is a whole number."""
    if n <= 0.0:
        return 0.0
    if n < table.shape[0] and n == np.int64(n):
        return table[np.int64(n)]
    return n * np.log2(n)


@kernel(
    *(
        f"void(int64[::1], int64[::1], int32[::1], {real}[::1], int64[::1], float64[::1], float64[::1], float64[::1], "
        "int64, float64, float64[::1], float64[::1], float64[::1], float64[::1], boolean[::1])"
        for real in ("float32", "float64")
    ),
    reads=10,
)
def cut_gains(begin, end, rows, values, codes, weight, total, table, n_rows, least, gain, info, low, high, varied):
    """Fill the `gain` of the best cut of each column after Quinlan, its split `info`, and the values on its two sides.

    Rows have weights, and missing values, which come last, count in `total`, the weight of each class, but not in the
    search. Both sides of a cut weigh `least` or a tenth of the mean class, if that is more, but never need more than
    25. The gain is that of the known rows times their share, less log2(cuts) / rows for the number of cuts compared;
    the lowest of equal cuts is taken. Missing values are a third side of the split info. The gain is -1 where there is
    none; `varied` tells whether rows below this node may have one.
    """
    n_classes = total.shape[0]
    cases = total.sum()
    left, right, zero = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    of_left, of_right = np.empty(n_classes), np.empty(n_classes)
    stale = np.empty(n_classes, dtype=np.bool_)
    for j in range(begin.shape[0]):
        first, last = begin[j], end[j]
        n_zero = n_rows - (last - first)
        for c in range(n_classes):
            left[c], right[c] = 0.0, total[c]
        unknown = 0.0
        while last > first and np.isnan(values[last - 1]):
            last -= 1
            unknown += weight[rows[last]]
            right[codes[rows[last]]] -= weight[rows[last]]
        known = cases - unknown
        gain[j], info[j], low[j], high[j] = -1.0, 0.0, 0.0, 0.0
        # Listed values are not zero.
        varied[j] = last > first and (n_zero > 0 or values[first] != values[last - 1]) and known >= 2 * least - SLACK
        if not varied[j]:
            continue
        base = times_log(known, table)
        for c in range(n_classes):
            of_left[c], of_right[c], stale[c] = 0.0, times_log(right[c], table), False
            base -= of_right[c]
            zero[c] = right[c]
        if n_zero > 0:
            for t in range(first, last):
                zero[codes[rows[t]]] -= weight[rows[t]]
        margin = max(least, min(25.0, 0.1 * known / n_classes)) - SLACK
        tries, best, best_below = 0, -1.0, 0.0
        started, pending = False, n_zero > 0
        below, previous = 0.0, 0.0
        t = first
        while t < last or pending:
            block = pending and (t == last or values[t] > 0.0)
            value = 0.0 if block else np.float64(values[t])
            if started and value != previous and below >= margin:
                if known - below < margin:
                    break
                after = times_log(below, table) + times_log(known - below, table)
                for c in range(n_classes):
                    if stale[c]:
                        of_left[c], of_right[c], stale[c] = times_log(left[c], table), times_log(right[c], table), False
                    after -= of_left[c] + of_right[c]
                here = max(0.0, base - after) / cases
                tries += 1
                if here > best + NEAR:
                    best, best_below, low[j], high[j] = here, below, previous, value
            if block:
                pending = False
                for c in range(n_classes):
                    left[c] += zero[c]
                    right[c] -= zero[c]
                    below += zero[c]
                    stale[c] = True
            else:
                c, heavy = codes[rows[t]], weight[rows[t]]
                left[c] += heavy
                right[c] -= heavy
                below += heavy
                stale[c] = True
                t += 1
            previous = value
            started = True
        if tries > 0 and best - np.log2(tries) / cases > NEAR:
            gain[j] = best - np.log2(tries) / cases
            sides = times_log(best_below, table) + times_log(known - best_below, table) + times_log(unknown, table)
            info[j] = (times_log(cases, table) - sides) / cases


@kernel(
    "void(int32[:, ::1], int64[::1], int64[::1], int32[::1], int64[::1], float64[::1], float64[::1], float64[::1], "
    "float64, float64[::1], float64[::1], boolean[::1])",
    reads=9,
)
def level_gains(levels, n_levels, members, rows, codes, weight, total, table, least, gain, info, varied):
    """Fill the `gain` and split `info` of a branch for every level, for the columns `members` of `levels`.

    -1 is a missing level. Two branches at least must weigh `least`; else the gain is -1. As in :func:`cut_gains`, gains
    are scaled by the share of the known rows, and missing values are a branch more of the split info.
    """
    n_classes = total.shape[0]
    cases = total.sum()
    for k in range(members.shape[0]):
        j = members[k]
        # The last row is for missing values.
        seen = np.zeros((n_levels[j] + 1, n_classes))
        for t in range(rows.shape[0]):
            seen[levels[j, rows[t]], codes[rows[t]]] += weight[rows[t]]
        known, parted, after = 0.0, 0.0, 0.0
        present, enough = 0, 0
        for v in range(n_levels[j]):
            heavy = seen[v].sum()
            present += heavy > 0.0
            enough += heavy >= least - SLACK
            known += heavy
            parted += times_log(heavy, table)
            after += times_log(heavy, table)
            for c in range(n_classes):
                after -= times_log(seen[v, c], table)
        base = times_log(known, table)
        for c in range(n_classes):
            base -= times_log(seen[:-1, c].sum(), table)
        varied[k] = present > 1
        gain[k], info[k] = -1.0, 0.0
        if enough > 1:
            gain[k] = max(0.0, base - after) / cases
            info[k] = (times_log(cases, table) - parted - times_log(seen[-1].sum(), table)) / cases
