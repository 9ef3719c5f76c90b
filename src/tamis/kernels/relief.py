"""Relief's three steps: distances of rows, the nearest rows of each group, and the sums of the differences to them.

Distances are computed in blocks: some query rows against a slab of other rows. The nearest rows so far are stored as
keys, integers with a rounded distance in their high bits and a row number in the low ones. No two keys are equal, so
the order of the blocks does not matter, and of rows at one distance the first are taken. NaN is missing.
"""

import numpy as np

from tamis.kernels.compiler import kernel

#: Columns of a slab that stay in the first cache while the rows of a block are processed.
_COLUMNS = 16


@kernel("void(float64[:, ::1], intp[::1], float64[:, ::1], intp, intp, boolean, float64[:, ::1])", reads=6)
def dense_distances(values, rows, slab, first, n_numeric, holes, out):
    """Add to `out` the differences of each row in `rows` to those of a slab, whose columns are the rows of `slab`.

    Numeric columns, those before `n_numeric`, differ by their distance, the others by 0 or 1. Columns before `first`
    and missing values are left out. The innermost loop runs along the slab, which leaves the order of sums unchanged.
    """
    height, width = out.shape
    spare = np.empty(width)
    # Two rows and four columns at a time, to read slab and sums less often.
    end = first if holes or first >= n_numeric else first + (n_numeric - first) // 4 * 4
    for left in range(first, end, _COLUMNS):
        for r in range(0, height, 2):
            x, x_out = values[rows[r]], out[r]
            z, z_out = x, spare
            if r + 1 < height:
                z, z_out = values[rows[r + 1]], out[r + 1]
            for f in range(left, min(left + _COLUMNS, end), 4):
                x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
                z0, z1, z2, z3 = z[f], z[f + 1], z[f + 2], z[f + 3]
                s0, s1, s2, s3 = slab[f], slab[f + 1], slab[f + 2], slab[f + 3]
                for s in range(width):
                    x_out[s] += (abs(x0 - s0[s]) + abs(x1 - s1[s])) + (abs(x2 - s2[s]) + abs(x3 - s3[s]))
                    z_out[s] += (abs(z0 - s0[s]) + abs(z1 - s1[s])) + (abs(z2 - s2[s]) + abs(z3 - s3[s]))
    for left in range(end, values.shape[1], _COLUMNS):
        for r in range(height):
            x, x_out = values[rows[r]], out[r]
            for f in range(left, min(left + _COLUMNS, values.shape[1])):
                x0, s0 = x[f], slab[f]
                if np.isnan(x0):
                    continue
                if f < n_numeric:
                    for s in range(width):
                        gap = abs(x0 - s0[s])
                        x_out[s] += gap if gap >= 0.0 else 0.0
                else:
                    for s in range(width):
                        x_out[s] += 1.0 if abs(x0 - s0[s]) > 0.0 else 0.0


@kernel(
    "void(float64[::1], int32[::1], int64[::1], intp[::1], float64[::1], int32[::1], int64[::1], boolean, "
    "float64[:, ::1], float64[:, ::1])",
    reads=8,
)
def sparse_distances(data, indices, indptr, rows, slab_data, slab_rows, slab_indptr, squared, out, known):
    """Correct `out` where two rows have a value in the same column; the rows of a CSR matrix against a CSC slab.

    On entry ``out[r, s]`` is the distance of two rows without a common column, the sum of both rows' sizes (of their
    squares with `squared`), and ``known[r, s]`` the number of columns less the missing values of either.
    """
    for r in range(rows.shape[0]):
        for t in range(indptr[rows[r]], indptr[rows[r] + 1]):
            a = data[t]
            for u in range(slab_indptr[indices[t]], slab_indptr[indices[t] + 1]):
                s = slab_rows[u]
                b = slab_data[u]
                if squared:
                    alone_a, alone_b, gap = a * a, b * b, (a - b) * (a - b)
                else:
                    alone_a, alone_b, gap = abs(a), abs(b), abs(a - b)
                if np.isnan(gap):
                    if np.isnan(a) and np.isnan(b):
                        # Subtracted twice.
                        known[r, s] += 1.0
                    elif np.isnan(a):
                        out[r, s] -= alone_b
                    else:
                        out[r, s] -= alone_a
                else:
                    out[r, s] += gap - alone_a - alone_b


@kernel(
    "void(float64[:, ::1], intp[::1], intp, intp[::1], boolean, float64[::1], float64, intp, int64[:, :, ::1])", reads=8
)
def offer(distances, rows, left, codes, two_groups, weight, scale, shift, keys):
    """Offer the rows of a slab, the first of which is row `left`, to each row in `rows`; keep the nearest.

    ``keys[r, g]`` is a heap, largest key first, of the nearest rows of group g to row ``rows[r]``: of class g, or with
    `two_groups` of its own class (0) and of all others (1). A row whose weight is above one counts as several and is
    its own neighbour. Rows at an infinite distance are not taken.
    """
    _, n_groups, size = keys.shape
    # Beyond this distance nothing is taken, so that most rows need no key.
    limit = np.empty(n_groups)
    for r in range(rows.shape[0]):
        i = rows[r]
        for g in range(n_groups):
            limit[g] = ((keys[r, g, 0] >> shift) + 1.0) / scale
        for s in range(distances.shape[1]):
            j = left + s
            d = distances[r, s]
            g = codes[j]
            if two_groups:
                g = 0 if g == codes[i] else 1
            if not d <= limit[g]:
                continue
            if j == i:
                if weight[i] <= 1.0:
                    continue
                d = 0.0
            key = (np.int64(d * scale + 0.5) << shift) | j
            heap = keys[r, g]
            if key < heap[0]:
                place = 0
                child = 1
                while child < size:
                    if child + 1 < size and heap[child + 1] > heap[child]:
                        child += 1
                    if heap[child] <= key:
                        break
                    heap[place] = heap[child]
                    place = child
                    child = 2 * place + 1
                heap[place] = key
                limit[g] = ((heap[0] >> shift) + 1.0) / scale


@kernel(
    "void(float64[:, ::1], intp, boolean, intp[::1], int64[:, :, ::1], float64[:, :, ::1], float64[:, ::1], "
    "float64[::1])",
    reads=7,
)
def dense_changes(values, n_numeric, holes, rows, near, share, factor, change):
    """Add to `change` each row's mean difference to its neighbours, group by group, times the group's factor.

    ``near[r, g]`` are the neighbours of row ``rows[r]`` and ``share[r, g]`` their weights, padded with zeros. A value
    missing on either side is left out of the mean; with nothing left the group adds nothing.
    """
    n_columns = values.shape[1]
    gaps = np.empty(n_columns)
    known = np.empty(n_columns)
    for r in range(rows.shape[0]):
        x = values[rows[r]]
        for g in range(near.shape[1]):
            if factor[r, g] == 0.0:
                continue
            total = 0.0
            gaps[:] = 0.0
            known[:] = 0.0
            for t in range(near.shape[2]):
                part = share[r, g, t]
                if part == 0.0:
                    break
                total += part
                z = values[near[r, g, t]]
                if holes:
                    for f in range(n_columns):
                        gap = abs(x[f] - z[f])
                        if f >= n_numeric and gap > 0.0:
                            gap = 1.0
                        if gap >= 0.0:
                            gaps[f] += part * gap
                            known[f] += part
                else:
                    for f in range(n_numeric):
                        gaps[f] += part * abs(x[f] - z[f])
                    for f in range(n_numeric, n_columns):
                        gaps[f] += part if x[f] != z[f] else 0.0
            if holes:
                for f in range(n_columns):
                    if known[f] > 0.0:
                        change[f] += factor[r, g] * gaps[f] / known[f]
            elif total > 0.0:
                for f in range(n_columns):
                    change[f] += factor[r, g] * gaps[f] / total


@kernel(
    "void(float64[::1], int32[::1], int64[::1], intp[::1], int64[:, :, ::1], float64[:, :, ::1], float64[:, ::1], "
    "float64[::1])",
    reads=7,
)
def sparse_changes(data, indices, indptr, rows, near, share, factor, change):
    """The same for the rows of a CSR matrix, from stored values alone."""
    # For each column: the row's own value; of the neighbours that store one, their weight, their differences, and the
    # weight of those whose value is missing. Side by side, because columns are visited in random order.
    state = np.zeros((change.shape[0], 4))
    touched = np.empty(change.shape[0], dtype=np.intp)
    for r in range(rows.shape[0]):
        first, end = indptr[rows[r]], indptr[rows[r] + 1]
        for u in range(first, end):
            state[indices[u], 0] = data[u]
        for g in range(near.shape[1]):
            if factor[r, g] == 0.0:
                continue
            n_touched = 0
            total = 0.0
            for t in range(near.shape[2]):
                part = share[r, g, t]
                if part == 0.0:
                    break
                total += part
                j = near[r, g, t]
                for u in range(indptr[j], indptr[j + 1]):
                    column = state[indices[u]]
                    if column[1] == 0.0:
                        touched[n_touched] = indices[u]
                        n_touched += 1
                    column[1] += part
                    if np.isnan(data[u]):
                        column[3] += part
                    else:
                        column[2] += part * abs(column[0] - data[u])
            for u in range(first, end):
                column = state[indices[u]]
                if column[1] == 0.0:
                    touched[n_touched] = indices[u]
                    n_touched += 1
                column[2] += (total - column[1]) * abs(column[0])
            for q in range(n_touched):
                column = state[touched[q]]
                # NaN where the row's own value is missing.
                if column[2] > 0.0 and column[3] < total:
                    change[touched[q]] += factor[r, g] * column[2] / (total - column[3])
                column[1:] = 0.0
        for u in range(first, end):
            state[indices[u], 0] = 0.0
