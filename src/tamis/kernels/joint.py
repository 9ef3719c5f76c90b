"""Mutual information of columns with other columns, from their states alone.

With n_ab rows in state a of one column and b of another, n rows in all and L(m) = m log m,

    I = (L(n) + sum_ab L(n_ab) - sum_a L(n_a) - sum_b L(n_b)) / n.

`terms` lists L(0), L(1), ... Rows in which a state is missing (-1) are left out of the pair's table. Each kernel adds
to ``out[q]`` the information of column ``columns[q]`` with each of ``others[since[q]:]``, rounded to a multiple of
2^-30. Sums are then exact: they do not depend on how `others` is split between calls, and relabelled states tie.
"""

import numpy as np

from tamis.kernels.assign import assign
from tamis.kernels.compiler import helper, kernel

#: The information of a pair is a multiple of 1 / GRID.
GRID = 2.0**30

#: Largest number of states stored as bits, a row of words for each state.
FEW = 8

_PAIRS = "intp[::1], int64[::1], intp[::1], float64[::1], float64[::1])"


@kernel(
    *(f"void({code}[:, ::1], int64[::1], uint64[:, ::1])" for code in ("int8", "int16", "int32")),
    reads=2,
)
def pack_states(codes, first, bits):
    """Set the bit of every row in the words of its state; column j owns ``bits[first[j]:first[j + 1]]``, or none."""
    for j in range(codes.shape[0]):
        if first[j + 1] == first[j]:
            continue
        column = codes[j]
        for i in range(column.shape[0]):
            if column[i] >= 0:
                bits[first[j] + column[i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@kernel(
    *(f"void({code}[:, ::1], int64[::1], uint64[:, ::1], int64[::1], {_PAIRS}" for code in ("int8", "int16", "int32")),
    reads=8,
)
def dense_information(codes, sizes, bits, first, columns, since, others, terms, out):
    """Dense columns; those with few states are also packed by :func:`pack_states`."""
    n_rows = codes.shape[1]
    table = np.empty(_room(n_rows), dtype=np.int32)
    for q in range(columns.shape[0]):
        c = columns[q]
        for t in range(since[q], others.shape[0]):
            p = others[t]
            # One more row and column for missing values, which are dropped.
            width = sizes[p] + 1
            used = (sizes[c] + 1) * width
            if first[c + 1] > first[c] and first[p + 1] > first[p]:
                cells = table[width + 1 : used]
                for a in range(sizes[c]):
                    for b in range(sizes[p]):
                        cells[a * width + b] = _in_both(bits, first[c] + a, first[p] + b)
                shared = _information(cells, width, sizes[c], sizes[p], terms)
            elif used <= table.shape[0]:
                table[:used] = 0
                cells = table[width + 1 : used]
                here, there = codes[c], codes[p]
                for i in range(n_rows):
                    table[(here[i] + 1) * width + there[i] + 1] += 1
                shared = _information(cells, width, sizes[c], sizes[p], terms)
            else:
                shared = _sorted_information(codes[c], codes[p], terms)
            out[q] += shared


@kernel(
    f"void(int64[::1], int32[::1], int32[::1], int64[::1], int64[::1], int64, {_PAIRS}",
    reads=10,
)
def stored_information(indptr, rows, stored, zero, sizes, n_rows, columns, since, others, terms, out):
    """Sparse columns: the rows that are not stored are in the state ``zero[j]``."""
    table = np.empty(_room(n_rows), dtype=np.int32)
    other_states = np.empty(n_rows, dtype=np.int32)
    column = np.empty(n_rows, dtype=np.int32)
    begin = others.shape[0]
    for q in range(columns.shape[0]):
        begin = min(begin, since[q])
    for t in range(begin, others.shape[0]):
        p = others[t]
        width = sizes[p] + 1
        _fill(other_states, p, indptr, rows, stored, zero)
        left = np.zeros(width, dtype=np.int32)
        for i in range(n_rows):
            left[other_states[i] + 1] += 1
        for q in range(columns.shape[0]):
            if since[q] > t:
                continue
            c = columns[q]
            used = (sizes[c] + 1) * width
            if used > table.shape[0]:
                _fill(column, c, indptr, rows, stored, zero)
                out[q] += _sorted_information(column, other_states, terms)
                continue
            table[:used] = 0
            # Where every row is stored the state of zero may be none of the column's.
            full = indptr[c + 1] - indptr[c] == n_rows
            at_zero = 0 if full else (zero[c] + 1) * width
            assign(table[at_zero:], left)
            for s in range(indptr[c], indptr[c + 1]):
                b = other_states[rows[s]] + 1
                table[at_zero + b] -= 1
                table[(stored[s] + 1) * width + b] += 1
            out[q] += _information(table[width + 1 : used], width, sizes[c], sizes[p], terms)


@helper
def _room(n_rows):
    """Cells of the largest table that is quicker than sorting the pairs of states."""
    return max(4 * n_rows + 1024, (FEW + 1) * (FEW + 1))


@helper
def _information(cells, width, n_one, n_other, terms):
    """From a table whose row a begins at ``a * width``."""
    total = 0
    value = 0.0
    for a in range(n_one):
        row = 0
        for b in range(n_other):
            row += cells[a * width + b]
            value += terms[cells[a * width + b]]
        value -= terms[row]
        total += row
    for b in range(n_other):
        column = 0
        for a in range(n_one):
            column += cells[a * width + b]
        value -= terms[column]
    return _rounded(value, total, terms)


@helper
def _sorted_information(one, other, terms):
    """From the states of all rows, where a table would have too many cells."""
    a, b = np.empty(one.shape[0], dtype=np.int64), np.empty(one.shape[0], dtype=np.int64)
    n, width = 0, 1
    for i in range(one.shape[0]):
        if one[i] >= 0 and other[i] >= 0:
            a[n], b[n] = one[i], other[i]
            width = max(width, b[n] + 1)
            n += 1
    return _listed_information(a[:n], b[:n], width, terms)


@helper
def _listed_information(a, b, width, terms):
    """From the states of the rows that have both; apart, so that it is compiled for one type of state only."""
    pairs = np.empty(a.shape[0], dtype=np.int64)
    for i in range(a.shape[0]):
        pairs[i] = a[i] * width + b[i]
    value = _runs(pairs, terms) - _runs(a, terms) - _runs(b, terms)
    return _rounded(value, a.shape[0], terms)


@helper
def _runs(keys, terms):
    """Sum of L over the counts of equal keys."""
    ordered = np.sort(keys)
    value = 0.0
    begin = 0
    for i in range(1, ordered.shape[0] + 1):
        if i == ordered.shape[0] or ordered[i] != ordered[begin]:
            value += terms[i - begin]
            begin = i
    return value


@helper
def _rounded(value, total, terms):
    if total == 0:
        return 0.0
    return max(np.floor(GRID * (value + terms[total]) / total + 0.5), 0.0) / GRID


@helper
def _in_both(bits, one, other):
    """Number of bits set in both of two rows of words."""
    count = np.uint64(0)
    for i in range(bits.shape[1]):
        word = bits[one, i] & bits[other, i]
        word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
        word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
        word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        count += (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return np.int32(count)


@helper
def _fill(states, j, indptr, rows, stored, zero):
    """Write the state of every row in column j."""
    states[:] = zero[j]
    for s in range(indptr[j], indptr[j + 1]):
        states[rows[s]] = stored[s]
