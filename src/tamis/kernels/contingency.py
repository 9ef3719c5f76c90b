"""Class-by-state counts of columns, in one pass.

All columns share one table of shape (classes, states): column j owns the states ``first[j]`` up to ``first[j + 1]``.
Counts are int32, or float64 where rows have weights. The array `weight`, ones or weights, has the type of the table.
"""

import numpy as np

from tamis.kernels.assign import assign
from tamis.kernels.compiler import kernel

_CODES = ("int8", "uint8", "int16", "int32", "int64")
_WEIGHTS = ("int32", "float64")

#: Columns processed together, so that their counts stay in the processor's cache.
_COLUMNS = 2048
#: Rows after which a one-byte counter may overflow.
_BYTE = 255


@kernel(*(f"void({code}[:, ::1], {code}[::1], intp[::1], intp[::1], int32[:, ::1])" for code in _CODES[:2]), reads=4)
def few_counts(codes, states, rows, starts, counts):
    """Count one-byte codes stored row by row; every column has the same few `states`, other codes are left out.

    `rows` lists row numbers class by class; class c owns ``rows[starts[c]:starts[c + 1]]``. For a few states comparing
    the codes of a row with each state, many at once, is quicker than a table lookup for each code.
    """
    n_columns, n_states = codes.shape[1], states.shape[0]
    one, none = np.uint8(1), np.uint8(0)
    equal = np.empty((n_states, _COLUMNS), dtype=np.uint8)
    for left in range(0, n_columns, _COLUMNS):
        width = min(_COLUMNS, n_columns - left)
        for c in range(starts.shape[0] - 1):
            for top in range(starts[c], starts[c + 1], _BYTE):
                equal[:] = 0
                for i in range(top, min(top + _BYTE, starts[c + 1])):
                    row = codes[rows[i], left : left + width]
                    for s in range(n_states):
                        count, state = equal[s], states[s]
                        for j in range(width):
                            count[j] = np.uint8(count[j] + (one if row[j] == state else none))
                for j in range(width):
                    for s in range(n_states):
                        counts[c, (left + j) * n_states + s] += equal[s, j]


@kernel(
    *(
        f"void({code}[:, ::1], int64[::1], intp[::1], {weight}[::1], {weight}[:, ::1])"
        for code in _CODES
        for weight in _WEIGHTS
    ),
    reads=4,
)
def row_counts(codes, place, classes, weight, counts):
    """Count codes stored row by row; code 0 of column j is the state ``place[j]``."""
    n_rows, n_columns = codes.shape
    for left in range(0, n_columns, _COLUMNS):
        right = min(left + _COLUMNS, n_columns)
        for i in range(n_rows):
            w = weight[i]
            row = counts[classes[i]]
            code = codes[i]
            for j in range(left, right):
                # Unsigned, or the compiler adds a branch for negative indices.
                row[np.uint64(place[j] + code[j])] += w


@kernel(
    *(
        f"void({code}[:, ::1], int64[::1], intp[::1], {weight}[::1], {weight}[:, ::1])"
        for code in ("int8", "int16", "int32")
        for weight in _WEIGHTS
    ),
    reads=4,
)
def column_counts(codes, first, classes, weight, counts):
    """Count states stored column by column, -1 where missing."""
    n_columns, n_rows = codes.shape
    most = 0
    for j in range(n_columns):
        most = max(most, first[j + 1] - first[j])
    # Missing values have a slot of their own, which is dropped: quicker than a test of each code.
    width = most + 1
    slot = np.empty(n_rows, dtype=np.int64)
    for i in range(n_rows):
        slot[i] = classes[i] * width + 1
    table = np.empty(counts.shape[0] * width, dtype=counts.dtype)
    for j in range(n_columns):
        table[:] = 0
        column = codes[j]
        for i in range(n_rows):
            table[np.uint64(slot[i] + column[i])] += weight[i]
        for c in range(counts.shape[0]):
            for s in range(first[j + 1] - first[j]):
                counts[c, first[j] + s] += table[c * width + 1 + s]


@kernel(
    *(
        f"void(int64[::1], int32[::1], int32[::1], int64[::1], int64[::1], intp[::1], {weight}[::1], intp[::1], "
        f"{weight}[::1], {weight}[:, ::1])"
        for weight in _WEIGHTS
    ),
    reads=9,
)
def stored_counts(indptr, rows, stored, zero, first, classes, weight, members, size, counts):
    """Count the states of sparse columns from their stored entries alone.

    `members` and `size` are the number and the weight of the rows of each class. Rows that are not stored are in the
    state ``zero[j]``. A stored state of -1 is missing.
    """
    others = np.empty_like(members)
    left = np.empty_like(size)
    for j in range(indptr.shape[0] - 1):
        assign(others, members)
        assign(left, size)
        for t in range(indptr[j], indptr[j + 1]):
            c = classes[rows[t]]
            w = weight[rows[t]]
            others[c] -= 1
            left[c] -= w
            if stored[t] >= 0:
                counts[c, first[j] + stored[t]] += w
        for c in range(members.shape[0]):
            # Rounding may leave some weight where no row is left.
            if others[c] > 0:
                counts[c, first[j] + zero[j]] += max(left[c], 0.0)
