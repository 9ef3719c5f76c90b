"""Means, scatters and covariation of every column with a numeric target, in one pass over the data.

Rows are processed in tiles that are merged as in :mod:`tamis.kernels.moments`. NaN is missing: the mean and the scatter
of the target are those over the rows in which the column is known. The rows of `out` are, for each column, the weight,
the means of column and target, the scatters of both, and their covariation, the sum of the products of deviations.
"""

import numpy as np

from tamis.kernels.compiler import kernel
from tamis.kernels.moments import TILE_ROWS

_COLUMNS = 512

#: Share of a column's weight below which what is left of it is rounding.
_NONE = 1e-12

_OUT = "float64[:, ::1]"
_SPARSE = tuple(
    f"void({real}[::1], int32[::1], int64[::1], float64[::1], float64[::1], {_OUT})" for real in ("float32", "float64")
)


@kernel(
    *(f"void({real}[:, ::1], intp, float64[::1], float64[::1], {_OUT})" for real in ("float32", "float64")),
    reads=4,
)
def dense_comoments(X, first, y, row_weight, out):
    """Add the block `X`, whose first column is column `first` of the output, to `out`.

    Deviations in a tile are taken from the mean of the rows before it, or from its first row, so that the tile is read
    once; their mean is put right at the end. Four rows at a time, to read and write the sums less often.
    """
    n_rows, n_columns = X.shape
    tile = np.empty((6, _COLUMNS))
    shift, sums = np.empty(_COLUMNS), np.empty(_COLUMNS)
    squares, products = np.empty(_COLUMNS), np.empty(_COLUMNS)
    for left in range(0, n_columns, _COLUMNS):
        width = min(_COLUMNS, n_columns - left)
        for top in range(0, n_rows, TILE_ROWS):
            bottom = min(top + TILE_ROWS, n_rows)
            total, y_mean, y_scatter, y_rest = 0.0, 0.0, 0.0, 0.0
            for i in range(top, bottom):
                total += row_weight[i]
                y_mean += row_weight[i] * y[i]
            missing = total == 0.0
            if not missing:
                y_mean /= total
            for i in range(top, bottom):
                e = y[i] - y_mean
                y_rest += row_weight[i] * e
                y_scatter += row_weight[i] * e * e
            for j in range(width):
                column = first + left + j
                shift[j] = out[1, column] if out[0, column] > 0.0 else np.float64(X[top, left + j])
                sums[j], squares[j], products[j] = 0.0, 0.0, 0.0
            fours = top + (bottom - top) // 4 * 4
            for i in range(top, fours, 4):
                a, b, c, d = row_weight[i], row_weight[i + 1], row_weight[i + 2], row_weight[i + 3]
                ay, by, cy, dy = y[i] - y_mean, y[i + 1] - y_mean, y[i + 2] - y_mean, y[i + 3] - y_mean
                ax, bx = X[i, left : left + width], X[i + 1, left : left + width]
                cx, dx = X[i + 2, left : left + width], X[i + 3, left : left + width]
                for j in range(width):
                    av, bv = np.float64(ax[j]) - shift[j], np.float64(bx[j]) - shift[j]
                    cv, dv = np.float64(cx[j]) - shift[j], np.float64(dx[j]) - shift[j]
                    aw, bw, cw, dw = a * av, b * bv, c * cv, d * dv
                    sums[j] += (aw + bw) + (cw + dw)
                    squares[j] += (aw * av + bw * bv) + (cw * cv + dw * dv)
                    products[j] += (aw * ay + bw * by) + (cw * cy + dw * dy)
            for i in range(fours, bottom):
                a, ay = row_weight[i], y[i] - y_mean
                for j in range(width):
                    av = np.float64(X[i, left + j]) - shift[j]
                    aw = a * av
                    sums[j] += aw
                    squares[j] += aw * av
                    products[j] += aw * ay
            for j in range(width):
                missing |= np.isnan(sums[j])
            if not missing:
                for j in range(width):
                    off = sums[j] / total
                    tile[0, j], tile[1, j], tile[2, j] = total, shift[j] + off, y_mean
                    tile[3, j], tile[4, j] = max(squares[j] - sums[j] * off, 0.0), y_scatter
                    tile[5, j] = products[j] - off * y_rest
            else:
                for j in range(width):
                    known, x_sum, y_sum = 0.0, 0.0, 0.0
                    for i in range(top, bottom):
                        v, w = np.float64(X[i, left + j]), row_weight[i]
                        if not np.isnan(v):
                            known += w
                            x_sum += w * v
                            y_sum += w * y[i]
                    tile[:, j] = 0.0
                    tile[0, j] = known
                    if known > 0.0:
                        tile[1, j], tile[2, j] = x_sum / known, y_sum / known
                    for i in range(top, bottom):
                        v, w = np.float64(X[i, left + j]), row_weight[i]
                        if not np.isnan(v):
                            d, e = v - tile[1, j], y[i] - tile[2, j]
                            tile[3, j] += w * d * d
                            tile[4, j] += w * e * e
                            tile[5, j] += w * d * e
            for j in range(width):
                column = first + left + j
                before = out[0, column]
                after = before + tile[0, j]
                if after > 0.0:
                    d, e = tile[1, j] - out[1, column], tile[2, j] - out[2, column]
                    share = tile[0, j] / after
                    out[0, column] = after
                    out[1, column] += d * share
                    out[2, column] += e * share
                    out[3, column] += tile[3, j] + d * d * before * share
                    out[4, column] += tile[4, j] + e * e * before * share
                    out[5, column] += tile[5, j] + d * e * before * share


@kernel(*_SPARSE, reads=5)
def csr_comoments(data, indices, indptr, y, row_weight, out):
    """Those of a CSR matrix without missing values; on entry the weight and the target's mean and scatter are set."""
    n_rows, n_columns = indptr.shape[0] - 1, out.shape[1]
    implicit, apart = out[0].copy(), np.zeros(n_columns)
    weight, x_mean, y_mean, x_scatter, both = out[0], out[1], out[2], out[3], out[5]
    for i in range(n_rows):
        w = row_weight[i]
        for t in range(indptr[i], indptr[i + 1]):
            implicit[indices[t]] -= w
            x_mean[indices[t]] += w * np.float64(data[t])
    for j in range(n_columns):
        if weight[j] > 0.0:
            x_mean[j] /= weight[j]
        if implicit[j] > _NONE * weight[j]:
            x_scatter[j] = implicit[j] * x_mean[j] * x_mean[j]
    for i in range(n_rows):
        w = row_weight[i]
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            d, e = np.float64(data[t]) - x_mean[j], y[i] - y_mean[j]
            x_scatter[j] += w * d * d
            both[j] += w * d * e
            apart[j] += w * e
    for j in range(n_columns):
        # Deviations of the target sum to zero, so those of the zeros are the others' negative.
        if implicit[j] > _NONE * weight[j]:
            both[j] += x_mean[j] * apart[j]


@kernel(*_SPARSE, reads=5)
def csc_comoments(data, indices, indptr, y, row_weight, out):
    """Those of a CSC matrix; on entry the weight and the target's mean and scatter over all rows are set."""
    n_rows = y.shape[0]
    known = np.ones(n_rows, dtype=np.bool_)
    for j in range(out.shape[1]):
        implicit = out[0, j]
        holes = 0
        for t in range(indptr[j], indptr[j + 1]):
            i, v = indices[t], np.float64(data[t])
            w = row_weight[i]
            implicit -= w
            if np.isnan(v):
                out[0, j] -= w
                known[i] = False
                holes += 1
            else:
                out[1, j] += w * v
        if holes > 0:
            weight, y_sum, y_scatter = 0.0, 0.0, 0.0
            for i in range(n_rows):
                if known[i]:
                    weight += row_weight[i]
                    y_sum += row_weight[i] * y[i]
            out[0, j] = weight
            out[2, j] = y_sum / weight if weight > 0.0 else 0.0
            for i in range(n_rows):
                if known[i]:
                    y_scatter += row_weight[i] * (y[i] - out[2, j]) ** 2
            out[4, j] = y_scatter
        if out[0, j] > 0.0:
            out[1, j] /= out[0, j]
        some_zeros = implicit > _NONE * out[0, j]
        if some_zeros:
            out[3, j] = implicit * out[1, j] * out[1, j]
        apart = 0.0
        for t in range(indptr[j], indptr[j + 1]):
            i, v = indices[t], np.float64(data[t])
            known[i] = True
            if not np.isnan(v):
                w, d, e = row_weight[i], v - out[1, j], y[i] - out[2, j]
                out[3, j] += w * d * d
                out[5, j] += w * d * e
                apart += w * e
        if some_zeros:
            out[5, j] += out[1, j] * apart
