"""The distances of a row to its nearest neighbours, summed: in many subspaces, or in all columns."""

import numpy as np

from tamis.kernels.compiler import helper, kernel


@helper
def _insert(near, count, distance):
    """Insert a distance among the `count` nearest, in rising order; the farthest is dropped when all places are taken.

    Returns the new count.
    """
    place = count if count < near.shape[0] else count - 1
    count = place + 1
    while place > 0 and near[place - 1] > distance:
        near[place] = near[place - 1]
        place -= 1
    near[place] = distance
    return count


@helper
def _degree(near, squared):
    """Sum of distances, the nearest first."""
    degree = 0.0
    for distance in near:
        degree += np.sqrt(distance) if squared else distance
    return degree


@kernel(
    "void(float64[:, ::1], int32[:, ::1], intp, boolean, float64, float64[:, ::1], intp[::1], float64[:, ::1], "
    "float64[::1])",
    reads=2,
)
def outlying_degrees(gaps, subspaces, k, squared, threshold, sums, count, near, out):
    """Sum of the distances to the `k` nearest rows in each subspace; if it is below `threshold`, a number below it.

    ``gaps[j, i]`` is what column j adds to the distance to row i, or with `squared` to its square. ``subspaces[s]`` are
    the columns of a subspace. Consecutive subspaces share the sums over the columns with which both begin, so that in
    lexicographic order most cost one addition a row. Rows are taken in blocks that stay in the processor's caches:
    ``sums[c]`` is room for the sums over the first c + 1 columns of a block, ``near[s]`` for the ``count[s]`` nearest
    rows of the blocks before. On entry `count` is 0 and `out` infinite.

    Columns are added from first to last, and neighbours from the nearest on. Then rounding cannot make a degree smaller
    when columns are inserted, because each partial sum is at least the one without them.
    """
    n_columns, n_rows = subspaces.shape[1], gaps.shape[1]
    for left in range(0, n_rows, sums.shape[1]):
        n = min(sums.shape[1], n_rows - left)
        before_this = -1
        for s in range(subspaces.shape[0]):
            # Further rows can only bring it down.
            if out[s] < threshold:
                continue
            columns = subspaces[s]
            shared = 0
            if before_this >= 0:
                while shared < n_columns - 1 and columns[shared] == subspaces[before_this, shared]:
                    shared += 1
            before_this = s
            for c in range(shared, n_columns - 1):
                gap, after = gaps[columns[c], left : left + n], sums[c]
                if c == 0:
                    for i in range(n):
                        after[i] = gap[i]
                else:
                    before = sums[c - 1]
                    for i in range(n):
                        after[i] = before[i] + gap[i]
            last = gaps[columns[n_columns - 1], left : left + n]
            before = sums[max(n_columns - 2, 0)]
            if count[s] == k:
                # Most blocks have no row that is near enough, and counting runs on several rows at a time.
                limit = near[s, k - 1]
                near_enough = 0
                if n_columns == 1:
                    for i in range(n):
                        near_enough += last[i] < limit
                else:
                    for i in range(n):
                        near_enough += before[i] + last[i] < limit
                if near_enough == 0:
                    continue
            nearest = near[s]
            for i in range(n):
                distance = last[i] if n_columns == 1 else before[i] + last[i]
                if count[s] < k or distance < nearest[k - 1]:
                    count[s] = _insert(nearest, count[s], distance)
                    if count[s] == k:
                        out[s] = _degree(nearest, squared)
                        if out[s] < threshold:
                            break


@kernel("float64(float64[:, ::1], boolean[::1], float64[::1], intp, intp, boolean, float64)", reads=3)
def full_degree(values, nominal, missing, row, k, squared, threshold):
    """Sum of the distances of a row to its `k` nearest rows in all columns, or if below `threshold` a number below it.

    `values` are divided by the ranges of their columns. Nominal values differ by 0 or 1, and ``missing[j]`` is what
    column j adds where the other row has no value. Columns without a value in the row itself are left out.
    """
    n_rows, n_columns = values.shape
    near = np.empty(k)
    x = values[row]
    count = 0
    limit = np.inf
    degree = np.inf
    for i in range(n_rows):
        if i == row:
            continue
        distance = 0.0
        for j in range(n_columns):
            if np.isnan(x[j]):
                continue
            gap = abs(x[j] - values[i, j])
            if np.isnan(gap):
                distance += missing[j]
            elif nominal[j]:
                distance += 1.0 if gap > 0.0 else 0.0
            else:
                distance += gap * gap if squared else gap
            if distance >= limit:
                break
        if count < k or distance < limit:
            count = _insert(near, count, distance)
            if count == k:
                limit = near[k - 1]
                degree = _degree(near, squared)
                if degree < threshold:
                    break
    return degree
