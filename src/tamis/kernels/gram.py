"""Inner products of sparse rows with each other, column by column."""

import numpy as np

from tamis.kernels.compiler import kernel


@kernel(
    *(f"void({real}[::1], int32[::1], int64[::1], float64[:, ::1])" for real in ("float32", "float64")),
    reads=3,
)
def csc_gram(data, indices, indptr, out):
    """Add X X' of a CSC matrix with sorted indices to `out`; the lower triangle is filled and then mirrored."""
    for j in range(indptr.shape[0] - 1):
        for s in range(indptr[j], indptr[j + 1]):
            row = indices[s]
            value = np.float64(data[s])
            for t in range(indptr[j], s + 1):
                out[row, indices[t]] += value * np.float64(data[t])
    for i in range(out.shape[0]):
        for k in range(i):
            out[k, i] = out[i, k]
