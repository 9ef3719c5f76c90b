"""Description length of the class labels in the cells of a histogram when one more axis is halved, repeatedly."""

import numpy as np

from tamis.kernels.compiler import helper, kernel


@kernel(
    "void(int64[::1], int32[::1], uint8[::1], uint8[::1], int64, int64[::1], int64[::1], float64[::1], "
    "float64[:, ::1], int64[:, ::1], float64, float64[::1], float64[:, ::1], int64[:, ::1], int64[:, ::1])",
    reads=12,
)
def refined_cells(
    starts, rows, codes, zero, levels, cell, classes, weight, total, members, least, logs, bits, occupied, mixed
):
    """Add the changes when the cells are halved along column j once, twice, ... `levels` times.

    ``codes[t]`` is the part of its cell, among the 2^levels finest, that row ``rows[t]`` of column j is in, or 2^levels
    where its value is missing (t from ``starts[j]`` up to ``starts[j + 1]``); rows that are not listed are in part
    ``zero[j]``. ``cell[i]`` is the cell of row i, -1 if it cannot change. `total` and `members` hold the weight and the
    number of the rows of each class in each cell; no row weighs less than `least`. ``logs[k]`` is k log2 k where all
    weights are whole numbers; else `logs` is empty. ``bits[j, s]``, ``occupied[j, s]`` and ``mixed[j, s]`` receive how
    s + 1 halvings change the bits that encode the classes in mixed cells, the cells with rows, and the mixed cells.
    """
    n_cells, n_classes = total.shape
    n_parts = 1 << levels
    # One line for each part of each cell, missing values last; `present` has a bit for each part with rows.
    table = np.zeros((n_cells * (n_parts + 1), n_classes))
    present = np.zeros(n_cells, dtype=np.int64)
    listed, listed_weight = np.zeros((n_cells, n_classes), dtype=np.int64), np.zeros((n_cells, n_classes))
    touched = np.empty(n_cells, dtype=np.int64)
    own_bits, own_mixed = np.empty(n_cells), np.empty(n_cells, dtype=np.int64)
    for r in range(n_cells):
        own_bits[r], own_mixed[r] = _cost(total, r, logs)
    for j in range(starts.shape[0] - 1):
        n_touched = 0
        for t in range(starts[j], starts[j + 1]):
            i = rows[t]
            r = cell[i]
            if r >= 0:
                if present[r] == 0:
                    touched[n_touched] = r
                    n_touched += 1
                present[r] |= 1 << codes[t]
                table[r * (n_parts + 1) + codes[t], classes[i]] += weight[i]
                listed[r, classes[i]] += 1
                listed_weight[r, classes[i]] += weight[i]
        for k in range(n_touched):
            r = touched[k]
            first = r * (n_parts + 1)
            for c in range(n_classes):
                # Rounding must not leave weight without rows, nor rows without weight.
                if members[r, c] > listed[r, c]:
                    table[first + zero[j], c] += max(total[r, c] - listed_weight[r, c], least)
                    present[r] |= 1 << zero[j]
                listed[r, c], listed_weight[r, c] = 0, 0.0
            missing = present[r] >> n_parts
            gone_bits, gone_mixed = _cost(table, first + n_parts, logs) if missing else (0.0, 0)
            for s in range(levels - 1, -1, -1):
                new_bits, new_occupied, new_mixed = gone_bits, missing, gone_mixed
                for part in range(1 << (s + 1)):
                    if (present[r] >> part) & 1:
                        part_bits, part_mixed = _cost(table, first + part, logs)
                        new_bits += part_bits
                        new_occupied += 1
                        new_mixed += part_mixed
                bits[j, s] += new_bits - own_bits[r]
                occupied[j, s] += new_occupied - 1
                mixed[j, s] += new_mixed - own_mixed[r]
                present[r] = _merge(table, first, 1 << s, present[r])
            for line in range(first, first + n_parts + 1):
                for c in range(n_classes):
                    table[line, c] = 0.0
            present[r] = 0


@helper
def _merge(table, first, n_pairs, present):
    """Add up the parts of a cell in pairs, in place; lines of absent parts are not read."""
    merged = 0
    for pair in range(n_pairs):
        both = (present >> (2 * pair)) & 3
        if both:
            low, high = first + 2 * pair, first + 2 * pair + 1
            merged |= 1 << pair
            for c in range(table.shape[1]):
                value = table[low, c] if both & 1 else 0.0
                if both & 2:
                    value += table[high, c]
                table[first + pair, c] = value
    return merged


@helper
def _cost(table, line, logs):
    """Bits that encode the classes of a cell if it is mixed (else 0), and whether it is."""
    n_classes = table.shape[1]
    n, n_present = 0.0, 0
    for c in range(n_classes):
        if table[line, c] > 0.0:
            n += table[line, c]
            n_present += 1
    if n_present < 2:
        return 0.0, 0
    bits = 0.0
    if logs.shape[0] > 0:
        for c in range(n_classes):
            bits -= logs[np.int64(table[line, c])]
        whole = logs[np.int64(n)]
    else:
        for c in range(n_classes):
            if table[line, c] > 0.0:
                bits -= table[line, c] * np.log2(table[line, c])
        whole = n * np.log2(n)
    return bits + whole + (n_classes - 1) / 2 * max(whole / n, 0.0), 1
