"""Absolute correlation of columns with other columns, added up.

Each kernel adds to ``out[q]`` the absolute correlations of column ``columns[q]`` with ``picks[since[q]:]``, pick by
pick, each rounded to a multiple of 2^-30 as in :mod:`tamis.kernels.joint`.
"""

import numpy as np
from numba.extending import register_jitable

from tamis.kernels.compiler import kernel
from tamis.kernels.joint import GRID

_PAIRS = "intp[::1], int64[::1], intp[::1], float64[::1])"


@kernel(f"void(float64[:, ::1], {_PAIRS}", reads=4)
def dense_correlation(unit, columns, since, picks, out):
    """Columns as the rows of `unit`, of mean 0 and length 1; 0 all along for a constant."""
    for q in range(columns.shape[0]):
        column = unit[columns[q]]
        for t in range(since[q], picks.shape[0]):
            out[q] += _rounded(np.dot(column, unit[picks[t]]))


@kernel(
    *(f"void({index}[::1], {index}[::1], float64[::1], float64[::1], int64, {_PAIRS}" for index in ("int32", "int64")),
    reads=8,
)
def stored_correlation(indptr, rows, unit, mean, n_rows, columns, since, picks, out):
    """Sparse columns divided by their length about the mean; `mean` is that of all rows, so divided."""
    pick = np.zeros(n_rows)
    begin = picks.shape[0]
    for q in range(columns.shape[0]):
        begin = min(begin, since[q])
    for t in range(begin, picks.shape[0]):
        p = picks[t]
        for s in range(indptr[p], indptr[p + 1]):
            pick[rows[s]] += unit[s]
        for q in range(columns.shape[0]):
            c = columns[q]
            if since[q] <= t:
                product = -n_rows * mean[c] * mean[p]
                for s in range(indptr[c], indptr[c + 1]):
                    product += unit[s] * pick[rows[s]]
                out[q] += _rounded(product)
        for s in range(indptr[p], indptr[p + 1]):
            pick[rows[s]] = 0.0


@register_jitable
def _rounded(product):
    return np.floor(GRID * abs(product) + 0.5) / GRID
