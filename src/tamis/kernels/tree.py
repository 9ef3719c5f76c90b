"""Sorted columns of a node divided between its children, and the leaves of new rows."""

import numpy as np

from tamis.kernels.compiler import helper, kernel

_REALS = ("float32", "float64")

#: Longest segment sorted by insertion.
SHORT = 32


@kernel(*(f"void({real}[:, ::1], int64[::1], int32[::1], {real}[::1])" for real in _REALS), reads=2)
def list_stored(columns, starts, rows, values):
    """List the non-zero entries of each row j of `columns`, from ``starts[j]`` on."""
    for j in range(columns.shape[0]):
        t = starts[j]
        for i in range(columns.shape[1]):
            if columns[j, i] != 0.0:
                rows[t], values[t] = i, columns[j, i]
                t += 1


@kernel(*(f"void(int64[::1], int32[::1], {real}[::1], boolean[::1])" for real in _REALS), reads=1)
def sort_segments(starts, rows, values, unsorted):
    """Sort each short segment by value, in place, NaN last; `unsorted` marks the long ones that are out of order."""
    for j in range(starts.shape[0] - 1):
        first, last = starts[j], starts[j + 1]
        unsorted[j] = False
        if last - first > SHORT:
            for t in range(first + 1, last):
                if not values[t - 1] <= values[t]:
                    unsorted[j] = True
                    break
            continue
        for t in range(first + 1, last):
            value, row = values[t], rows[t]
            if np.isnan(value):
                continue
            s = t
            while s > first and not values[s - 1] <= value:
                values[s], rows[s] = values[s - 1], rows[s - 1]
                s -= 1
            values[s], rows[s] = value, row


@kernel(
    *(
        f"void(int64[::1], int64[::1], boolean[::1], boolean, boolean, int32[::1], {real}[::1], int32[::1], "
        f"{real}[::1], int64[::1])"
        for real in _REALS
    ),
    reads=3,
)
def divide_columns(begin, end, goes_left, want_left, want_right, rows, values, spare_rows, spare_values, middle):
    """Move the rows that go left to the front of each segment, stably; `middle` is where the right ones begin.

    A child that is not wanted is overwritten: the other then starts at the front and ends at `middle`.
    """
    for j in range(begin.shape[0]):
        front = begin[j]
        if want_left and want_right:
            spare = 0
            for t in range(begin[j], end[j]):
                row, value = rows[t], values[t]
                rows[front], values[front] = row, value
                spare_rows[spare], spare_values[spare] = row, value
                went = goes_left[row]
                front += went
                spare += 1 - went
            for t in range(spare):
                rows[front + t], values[front + t] = spare_rows[t], spare_values[t]
        else:
            for t in range(begin[j], end[j]):
                row, value = rows[t], values[t]
                rows[front], values[front] = row, value
                front += goes_left[row] == want_left
        middle[j] = front


@helper
def _stored(data, indices, begin, end, column):
    """The value of a column in the row of a CSR matrix that is stored from `begin` to `end`, in order."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < column:
            low = middle + 1
        else:
            high = middle
    return np.float64(data[low]) if low < end and indices[low] == column else 0.0


_TREE = "int64[::1], float64[::1], int64[::1], int64[::1], boolean[::1], int64[::1], boolean[::1]"


@kernel(*(f"void({real}[:, ::1], {_TREE}, int64[::1])" for real in _REALS), reads=8)
def dense_leaves(X, feature, split, left, right, missing_left, subset, inside, leaf):
    """The leaf of each row.

    A node splits a nominal column when `inside` has entries for it, from ``subset[node]`` up to ``subset[node + 1]``:
    one for each level, True for those that go right. Further levels go left.
    """
    for i in range(X.shape[0]):
        node = 0
        while feature[node] >= 0:
            value = np.float64(X[i, feature[node]])
            if np.isnan(value):
                go_left = missing_left[node]
            elif subset[node + 1] > subset[node]:
                level = subset[node] + np.int64(value)
                go_left = not (subset[node] <= level < subset[node + 1] and inside[level])
            else:
                go_left = value < split[node]
            node = left[node] if go_left else right[node]
        leaf[i] = node


@kernel(
    *(
        f"void({real}[::1], int32[::1], int64[::1], int64[::1], float64[::1], int64[::1], int64[::1], "
        "boolean[::1], int64[::1])"
        for real in _REALS
    ),
    reads=8,
)
def csr_leaves(data, indices, indptr, feature, split, left, right, missing_left, leaf):
    """The leaf of each row of a CSR matrix with sorted indices; there are no nominal columns."""
    for i in range(indptr.shape[0] - 1):
        node = 0
        while feature[node] >= 0:
            value = _stored(data, indices, indptr[i], indptr[i + 1], feature[node])
            go_left = missing_left[node] if np.isnan(value) else value < split[node]
            node = left[node] if go_left else right[node]
        leaf[i] = node


@kernel(
    *(
        f"void({real}[:, ::1], int64[::1], float64[::1], int64[::1], int64[::1], float64[::1], int64[::1], "
        "boolean[::1], float64[:, ::1], float64[:, ::1])"
        for real in _REALS
    ),
    reads=9,
)
def dense_shares(X, feature, split, left, right, share_left, subset, inside, shares, found):
    """Add up the class `shares` of the leaves of each row in `found`, which is zero before.

    The part `share_left` of a missing value, or of a level that `inside` has no entry for, goes left, the rest right.
    """
    nodes, parts = np.empty(feature.shape[0] + 1, dtype=np.int64), np.empty(feature.shape[0] + 1)
    for i in range(X.shape[0]):
        nodes[0], parts[0] = 0, 1.0
        top = 1
        while top > 0:
            top -= 1
            node, part = nodes[top], parts[top]
            if feature[node] < 0:
                for c in range(shares.shape[1]):
                    found[i, c] += part * shares[node, c]
                continue
            value = np.float64(X[i, feature[node]])
            to_left = share_left[node]
            if subset[node + 1] > subset[node]:
                if 0.0 <= value < subset[node + 1] - subset[node]:
                    to_left = 0.0 if inside[subset[node] + np.int64(value)] else 1.0
            elif not np.isnan(value):
                to_left = 1.0 if value < split[node] else 0.0
            if to_left < 1.0:
                nodes[top], parts[top] = right[node], part * (1.0 - to_left)
                top += 1
            if to_left > 0.0:
                nodes[top], parts[top] = left[node], part * to_left
                top += 1


@kernel(
    *(
        f"void({real}[::1], int32[::1], int64[::1], int64[::1], float64[::1], int64[::1], int64[::1], "
        "float64[::1], float64[:, ::1], float64[:, ::1])"
        for real in _REALS
    ),
    reads=9,
)
def csr_shares(data, indices, indptr, feature, split, left, right, share_left, shares, found):
    """The same for the rows of a CSR matrix with sorted indices; there are no nominal columns."""
    nodes, parts = np.empty(feature.shape[0] + 1, dtype=np.int64), np.empty(feature.shape[0] + 1)
    for i in range(indptr.shape[0] - 1):
        nodes[0], parts[0] = 0, 1.0
        top = 1
        while top > 0:
            top -= 1
            node, part = nodes[top], parts[top]
            if feature[node] < 0:
                for c in range(shares.shape[1]):
                    found[i, c] += part * shares[node, c]
                continue
            value = _stored(data, indices, indptr[i], indptr[i + 1], feature[node])
            to_left = share_left[node]
            if not np.isnan(value):
                to_left = 1.0 if value < split[node] else 0.0
            if to_left < 1.0:
                nodes[top], parts[top] = right[node], part * (1.0 - to_left)
                top += 1
            if to_left > 0.0:
                nodes[top], parts[top] = left[node], part * to_left
                top += 1
