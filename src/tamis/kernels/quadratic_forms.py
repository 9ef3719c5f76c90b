"""The quadratic form of a matrix at every column of a sparse one."""

from tamis.kernels.compiler import kernel


@kernel("void(float64[::1], int32[::1], int64[::1], float64[:, ::1], float64[::1])", reads=4)
def csc_quadratic_forms(data, indices, indptr, matrix, out):
    """Write x'Mx into `out` for every column x of a CSC matrix and a symmetric matrix M."""
    for j in range(indptr.shape[0] - 1):
        total = 0.0
        for s in range(indptr[j], indptr[j + 1]):
            row = matrix[indices[s]]
            cross = 0.0
            for t in range(indptr[j], s):
                cross += row[indices[t]] * data[t]
            total += data[s] * (2.0 * cross + row[indices[s]] * data[s])
        out[j] = total
