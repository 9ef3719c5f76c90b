"""How much of some targets sets of columns explain by least squares, from correlations alone."""

import numpy as np

from tamis.kernels.compiler import kernel


@kernel(
    "void(boolean[:, ::1], float64[:, ::1], int64[::1], float64[:, ::1], float64, float64[:, ::1])",
    reads=5,
)
def explained_shares(sets, table, place, targets, least, out):
    """Share of each target, (n_sets, n_targets), that the columns in each row of `sets` explain.

    Row ``place[j]`` of `table` holds the correlations of column j with all columns, `targets` those of each target. A
    column of which the ones before it leave a share below `least` is their combination, and adds nothing.
    """
    n_columns, n_targets = sets.shape[1], targets.shape[0]
    widest = 0
    for s in range(sets.shape[0]):
        size = 0
        for j in range(n_columns):
            size += np.int64(sets[s, j])
        widest = max(widest, size)
    used = np.empty(widest, dtype=np.int64)
    # Cholesky factor of the correlations of the used columns, and its solutions for the targets.
    factor, solved = np.empty((widest, widest)), np.empty((n_targets, widest))
    line = np.empty(widest)
    for s in range(sets.shape[0]):
        out[s] = 0.0
        rank = 0
        for j in range(n_columns):
            if not sets[s, j]:
                continue
            row, left = table[place[j]], 1.0
            for i in range(rank):
                value = row[used[i]]
                for k in range(i):
                    value -= line[k] * factor[i, k]
                line[i] = value / factor[i, i]
                left -= line[i] * line[i]
            # A constant column has no correlation, not with itself either.
            if left < least or row[j] == 0.0:
                continue
            root = np.sqrt(left)
            for i in range(rank):
                factor[rank, i] = line[i]
            factor[rank, rank] = root
            for t in range(n_targets):
                value = targets[t, j]
                for i in range(rank):
                    value -= line[i] * solved[t, i]
                solved[t, rank] = value / root
                out[s, t] += solved[t, rank] * solved[t, rank]
            used[rank] = j
            rank += 1
