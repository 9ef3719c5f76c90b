"""How much columns as states share with one other column: sums of L(m) = m log m over the cells of their tables.

With the weight n_ab of the rows in state a of a column and b of the other, each kernel writes

    sum_ab L(n_ab)

of every column to `out`. Each L is rounded to a multiple of 1 / `grid`, a power of two for which all sums are exact:
they do not depend on which of two columns is the other, nor on the names of the states.
"""

import math

import numpy as np

from tamis.kernels.compiler import helper, kernel

_OTHER = "float64[::1], intp[::1], int64, float64, float64[::1])"


@kernel(*(f"void({code}[:, ::1], int64[::1], {_OTHER}" for code in ("int8", "int32")), reads=6)
def dense_cells(codes, sizes, weight, other, n_other, grid, out):
    """Columns as the rows of `codes`; the other one has states below `n_other`."""
    n_rows = codes.shape[1]
    table = np.zeros(_room(n_rows))
    for j in range(codes.shape[0]):
        column = codes[j]
        used = sizes[j] * n_other
        if used <= table.shape[0]:
            for i in range(n_rows):
                table[column[i] * n_other + other[i]] += weight[i]
            out[j] = _summed(table, used, grid)
        else:
            out[j] = _sorted(column, weight, other, n_other, grid)


@kernel(f"void(int64[::1], int32[::1], int32[::1], int64[::1], int64[::1], {_OTHER}", reads=9)
def stored_cells(indptr, rows, stored, zero, sizes, weight, other, n_other, grid, out):
    """Sparse columns: the rows of column j that are not stored are in the state ``zero[j]``."""
    n_rows = weight.shape[0]
    table = np.zeros(_room(n_rows))
    members, share = np.zeros(n_other, dtype=np.int64), np.zeros(n_other)
    column = np.empty(n_rows, dtype=np.int32)
    for i in range(n_rows):
        members[other[i]] += 1
        share[other[i]] += weight[i]
    left = np.empty(n_other, dtype=np.int64)
    for j in range(indptr.shape[0] - 1):
        used = max(sizes[j], zero[j] + 1) * n_other
        if used > table.shape[0]:
            column[:] = zero[j]
            for t in range(indptr[j], indptr[j + 1]):
                column[rows[t]] = stored[t]
            out[j] = _sorted(column, weight, other, n_other, grid)
            continue
        at_zero = zero[j] * n_other
        for b in range(n_other):
            left[b] = members[b]
            table[at_zero + b] = share[b]
        for t in range(indptr[j], indptr[j + 1]):
            b = other[rows[t]]
            left[b] -= 1
            table[at_zero + b] -= weight[rows[t]]
            table[stored[t] * n_other + b] += weight[rows[t]]
        for b in range(n_other):
            if left[b] == 0:
                # Rounding may leave some weight where no row is left.
                table[at_zero + b] = 0.0
        out[j] = _summed(table, used, grid)


@helper
def _room(n_rows):
    """Cells of the largest table that is quicker than sorting the pairs of states."""
    return 4 * n_rows + 1024


@helper
def _term(weight, grid):
    return math.floor(grid * weight * math.log(weight) + 0.5) / grid if weight > 0.0 else 0.0


@helper
def _summed(table, used, grid):
    """The sum over the first cells of a table, which are emptied."""
    value = 0.0
    for cell in range(used):
        if table[cell] != 0.0:
            value += _term(table[cell], grid)
            table[cell] = 0.0
    return value


@helper
def _sorted(column, weight, other, n_other, grid):
    """The same from the states of all rows, where a table would have too many cells."""
    keys = np.empty(column.shape[0], dtype=np.int64)
    for i in range(column.shape[0]):
        keys[i] = np.int64(column[i]) * n_other + other[i]
    order = np.argsort(keys, kind="mergesort")
    value, cell = 0.0, 0.0
    for t in range(order.shape[0]):
        cell += weight[order[t]]
        if t + 1 == order.shape[0] or keys[order[t + 1]] != keys[order[t]]:
            value += _term(cell, grid)
            cell = 0.0
    return value
