"""Counts of the rows of each class between the cuts of each column, and what the values there are."""

import numpy as np

from tamis.kernels.compiler import kernel

_OUT = "float64[:, :, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1]"


@kernel(
    *(f"void({real}[::1, :], intp[::1], float64[:, ::1], {_OUT})" for real in ("float32", "float64")),
    reads=3,
)
def count_between(X, codes, cuts, counts, total, low, high):
    """Add the rows of `X` to the bins of every column.

    `cuts` is (columns, bins - 1), rising, infinite where a column has fewer; a value equal to a cut is above it.
    `counts` is (columns, bins, classes), the others (columns, bins): the sum, the least and the largest of the values.
    """
    n_rows, n_columns = X.shape
    n_cuts = cuts.shape[1]
    for j in range(n_columns):
        for i in range(n_rows):
            value = np.float64(X[i, j])
            if np.isnan(value):
                continue
            first, last = 0, n_cuts
            while first < last:
                middle = (first + last) >> 1
                if cuts[j, middle] <= value:
                    first = middle + 1
                else:
                    last = middle
            counts[j, first, codes[i]] += 1.0
            total[j, first] += value
            low[j, first] = min(low[j, first], value)
            high[j, first] = max(high[j, first], value)
