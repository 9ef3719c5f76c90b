"""Best split of every column by information gain, on columns sorted by value.

Columns are stored as in :mod:`tamis.kernels.ssv`, without missing values. Every row counts once, so entropies are sums
of n log2 n over whole numbers n, which are looked up.
"""

import numpy as np

from tamis.kernels.compiler import kernel
from tamis.kernels.ssv import halfway

#: Gains and ratios (in bits) that differ by less are equal.
NEAR = 1e-10


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
