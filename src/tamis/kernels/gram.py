"""Inner products of sparse rows with each other, column by column."""

import numpy as np

from tamis.kernels.compiler import kernel


@kernel(
    *(
        f"void({real}[::1], {index}[::1], {index}[::1], float64[:, ::1])"
        for real in ("float32", "float64")
        for index in ("int32", "int64")
    ),
    reads=3,
)
def csc_gram(data, indices, indptr, out):
    """Add X X' of a CSC matrix to `out`, of which the lower triangle is filled and then mirrored.

    A column adds the products of its stored values, pair by pair, and rows that share none cost nothing; the row
    numbers of a column must rise.
    """
    for j in range(indptr.shape[0] - 1):
        for s in range(indptr[j], indptr[j + 1]):
            row = indices[s]
            value = np.float64(data[s])
            for t in range(indptr[j], s + 1):
                out[row, indices[t]] += value * np.float64(data[t])
    for i in range(out.shape[0]):
        for k in range(i):
            out[k, i] = out[i, k]
