"""Weighted least squares with an absolute penalty, column by column."""

import numpy as np

from tamis.kernels.compiler import kernel

#: Share of a column's weighted squares below which its weighted scatter counts as zero: a constant column.
_FLAT = 1e-12

_V = "float64[::1]"


@kernel(f"intp({_V}, int32[::1], int64[::1], {_V}, float64, float64, intp, {_V}, {_V}, {_V})", reads=4)
def csc_weighted_lasso(data, indices, indptr, curvature, penalty, enough, most, weights, pull, shift):
    """Minimise sum_i h_i (x_i.d + c)^2 / 2 - g_i (x_i.d + c) + penalty |weights + d|_1 over d and c, on a CSC matrix.

    `curvature` holds h and `pull` g; `weights` are moved by d, and `pull` is left without the share of c, which is
    returned in `shift`. c is eliminated, so that the means of the columns do not slow the rounds. After a round over
    all columns, rounds are over the columns with a weight, until no condition of the optimum is missed by more than
    `enough`; then one over all follows. Returns the number of rounds, at most `most`.
    """
    n_columns = indptr.shape[0] - 1
    first, bend = np.zeros(n_columns), np.zeros(n_columns)
    total, pulled = 0.0, 0.0
    for i in range(curvature.shape[0]):
        total += curvature[i]
        pulled += pull[i]
    for j in range(n_columns):
        squares = 0.0
        for s in range(indptr[j], indptr[j + 1]):
            part = curvature[indices[s]] * data[s]
            first[j] += part
            squares += part * data[s]
        bend[j] = squares - first[j] * first[j] / total
        if bend[j] <= _FLAT * squares:
            bend[j] = 0.0
    common = -pulled / total
    every = True
    for done in range(most):
        worst = 0.0
        for j in range(n_columns):
            old = weights[j]
            if bend[j] == 0.0 or (old == 0.0 and not every):
                continue
            slope = common * first[j]
            for s in range(indptr[j], indptr[j + 1]):
                slope += data[s] * pull[indices[s]]
            missed = abs(slope) - penalty if old == 0.0 else abs(slope - penalty * np.sign(old))
            worst = max(worst, missed)
            reach = old * bend[j] + slope
            new = np.sign(reach) * max(abs(reach) - penalty, 0.0) / bend[j]
            step = new - old
            if step != 0.0:
                weights[j] = new
                common += step * first[j] / total
                for s in range(indptr[j], indptr[j + 1]):
                    pull[indices[s]] -= curvature[indices[s]] * data[s] * step
        if worst <= enough:
            if every:
                shift[0] = -common
                return done + 1
            every = True
        else:
            every = False
    shift[0] = -common
    return most
