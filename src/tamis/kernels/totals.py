"""Total of every column within every class: of its values (counts) or of its non-zeros (presence).

NaN is missing: it adds nothing to a total, and its weight is subtracted from `known`. Each kernel returns the smallest
value, so that the caller can refuse negative counts.
"""

import numpy as np

from tamis.kernels.compiler import kernel

_OUT = "float64[:, ::1]"
_SPARSE = tuple(
    f"float64({real}[::1], int32[::1], int64[::1], intp[::1], float64[::1], boolean, {_OUT}, {_OUT})"
    for real in ("float32", "float64")
)


@kernel(
    *(
        f"float64({real}[:, ::1], intp, intp[::1], float64[::1], boolean, {_OUT}, {_OUT})"
        for real in ("float32", "float64")
    ),
    reads=5,
)
def dense_class_totals(X, first, codes, row_weight, presence, total, known):
    """Add the block `X`, whose first column is column `first` of the outputs."""
    n_rows, n_columns = X.shape
    lowest = 0.0
    for i in range(n_rows):
        c = codes[i]
        w = row_weight[i]
        for j in range(n_columns):
            v = np.float64(X[i, j])
            if np.isnan(v):
                known[c, first + j] -= w
                v = 0.0
            lowest = min(lowest, v)
            if presence:
                v = 1.0 if v != 0.0 else 0.0
            total[c, first + j] += w * v
    return lowest


@kernel(*_SPARSE, reads=6)
def csr_class_totals(data, indices, indptr, codes, row_weight, presence, total, known):
    lowest = 0.0
    for i in range(indptr.shape[0] - 1):
        c = codes[i]
        w = row_weight[i]
        for t in range(indptr[i], indptr[i + 1]):
            v = np.float64(data[t])
            if np.isnan(v):
                known[c, indices[t]] -= w
                continue
            lowest = min(lowest, v)
            if presence:
                v = 1.0 if v != 0.0 else 0.0
            total[c, indices[t]] += w * v
    return lowest


@kernel(*_SPARSE, reads=6)
def csc_class_totals(data, indices, indptr, codes, row_weight, presence, total, known):
    lowest = 0.0
    for j in range(indptr.shape[0] - 1):
        for t in range(indptr[j], indptr[j + 1]):
            c = codes[indices[t]]
            w = row_weight[indices[t]]
            v = np.float64(data[t])
            if np.isnan(v):
                known[c, j] -= w
                continue
            lowest = min(lowest, v)
            if presence:
                v = 1.0 if v != 0.0 else 0.0
            total[c, j] += w * v
    return lowest
