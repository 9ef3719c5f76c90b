"""Distances between the rows of two CSR matrices that do not follow from inner products."""

import numpy as np

from tamis.kernels.compiler import helper, kernel

#: Values of `metric`: the sum of powers (the caller takes the root), Canberra's sum of ratios, the maximum.
POWER, CANBERRA, MAXIMUM = 0, 1, 2


@kernel(
    "void(float64[::1], int32[::1], int64[::1], float64[::1], int32[::1], int64[::1], intp, intp, float64, "
    "float64[:, ::1])",
    reads=9,
)
def csr_distances(x_data, x_indices, x_indptr, z_data, z_indices, z_indptr, n_columns, metric, alpha, out):
    """Write the distance of every row of x to every row of z into `out`.

    Indices of a row must be unique. A column that is zero in both rows adds nothing, so only stored values are read:
    those of z, then those of x without a match. The contribution of an unmatched value is computed once for all pairs.
    """
    x_alone, z_alone = _alone(x_data, metric, alpha), _alone(z_data, metric, alpha)
    place, matched = np.empty(n_columns, dtype=np.intp), np.empty(x_data.shape[0], dtype=np.intp)
    place[:] = -1
    matched[:] = -1
    for i in range(x_indptr.shape[0] - 1):
        first, end = x_indptr[i], x_indptr[i + 1]
        for s in range(first, end):
            place[x_indices[s]] = s
        for k in range(z_indptr.shape[0] - 1):
            total = 0.0
            for t in range(z_indptr[k], z_indptr[k + 1]):
                s = place[z_indices[t]]
                if s < 0:
                    add = z_alone[t]
                else:
                    matched[s] = k
                    add = abs(x_data[s] - z_data[t])
                    if metric == CANBERRA:
                        if add > 0.0:
                            add /= abs(x_data[s]) + abs(z_data[t])
                    elif metric == POWER and alpha != 1.0:
                        add **= alpha
                total = max(total, add) if metric == MAXIMUM else total + add
            for s in range(first, end):
                if matched[s] != k:
                    total = max(total, x_alone[s]) if metric == MAXIMUM else total + x_alone[s]
            out[i, k] = total
        for s in range(first, end):
            place[x_indices[s]] = -1


@helper
def _alone(data, metric, alpha):
    """The contribution of each value to a distance from zero."""
    alone = np.empty(data.shape[0])
    for s in range(data.shape[0]):
        alone[s] = abs(data[s])
        if metric == CANBERRA:
            alone[s] = 1.0 if alone[s] > 0.0 else 0.0
        elif metric == POWER and alpha != 1.0:
            alone[s] = alone[s] ** alpha
    return alone
