"""Absolute correlation of columns with other columns, added up.

Each kernel adds to ``out[q]`` the absolute correlation of column ``columns[q]`` with each of ``others[since[q]:]``,
rounded to a multiple of 2^-30 as in :mod:`tamis.kernels.joint`.
"""

import numpy as np

from tamis.kernels.compiler import helper, kernel
from tamis.kernels.joint import GRID

_PAIRS = "intp[::1], int64[::1], intp[::1], float64[::1])"


@kernel(f"void(float64[:, ::1], {_PAIRS}", reads=4)
def dense_correlation(unit, columns, since, others, out):
    """Columns as the rows of `unit`, of mean 0 and length 1; all 0 for a constant."""
    for q in range(columns.shape[0]):
        column = unit[columns[q]]
        for t in range(since[q], others.shape[0]):
            out[q] += _rounded(np.dot(column, unit[others[t]]))


@kernel(
    f"void(int64[::1], int32[::1], float64[::1], float64[::1], int64, {_PAIRS}",
    reads=8,
)
def stored_correlation(indptr, rows, unit, mean, n_rows, columns, since, others, out):
    """Sparse columns divided by their length about the mean; `mean` is divided too."""
    other = np.zeros(n_rows)
    begin = others.shape[0]
    for q in range(columns.shape[0]):
        begin = min(begin, since[q])
    for t in range(begin, others.shape[0]):
        p = others[t]
        for s in range(indptr[p], indptr[p + 1]):
            other[rows[s]] += unit[s]
        for q in range(columns.shape[0]):
            c = columns[q]
            if since[q] <= t:
                product = -n_rows * mean[c] * mean[p]
                for s in range(indptr[c], indptr[c + 1]):
                    product += unit[s] * other[rows[s]]
                out[q] += _rounded(product)
        for s in range(indptr[p], indptr[p + 1]):
            other[rows[s]] = 0.0


@helper
def _rounded(product):
    return np.floor(GRID * abs(product) + 0.5) / GRID
