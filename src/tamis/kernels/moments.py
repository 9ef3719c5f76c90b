"""Weight, mean and scatter of every column within every class, in one pass over the data.

Rows are processed in tiles that fit into the processor's cache. Inside a tile squares are taken about its mean; tiles
are merged by the update of Chan, Golub and LeVeque (1983). This reads memory once and does not lose digits when the
mean is far larger than the spread. NaN is missing and left out.
"""

import numpy as np

from tamis.kernels.compiler import kernel

#: Rows of a tile.
TILE_ROWS = 64
_COLUMNS = 512

_OUT = "float64[:, ::1]"
_SPARSE = tuple(
    f"void({real}[::1], int32[::1], int64[::1], intp[::1], float64[::1], {_OUT}, {_OUT}, {_OUT})"
    for real in ("float32", "float64")
)


@kernel(
    *(
        f"void({real}[:, ::1], intp, intp[::1], intp[::1], float64[::1], {_OUT}, {_OUT}, {_OUT})"
        for real in ("float32", "float64")
    ),
    reads=5,
)
def dense_class_moments(X, first, rows, starts, row_weight, weight, mean, scatter):
    """Add the block `X` (whose first column is column `first` of the output) to the three outputs.

    `rows` lists row numbers class by class; class c owns ``rows[starts[c]:starts[c + 1]]``.
    """
    n_columns = X.shape[1]
    n_classes = starts.shape[0] - 1
    tile_weight = np.empty(_COLUMNS)
    tile_mean = np.empty(_COLUMNS)
    tile_scatter = np.empty(_COLUMNS)
    for left in range(0, n_columns, _COLUMNS):
        width = min(_COLUMNS, n_columns - left)
        for c in range(n_classes):
            for top in range(starts[c], starts[c + 1], TILE_ROWS):
                bottom = min(top + TILE_ROWS, starts[c + 1])
                total = 0.0
                tile_mean[:] = 0.0
                tile_scatter[:] = 0.0
                for i in range(top, bottom):
                    w = row_weight[rows[i]]
                    total += w
                    x = X[rows[i], left : left + width]
                    for j in range(width):
                        tile_mean[j] += w * np.float64(x[j])
                missing = total == 0.0
                for j in range(width):
                    missing |= np.isnan(tile_mean[j])
                if not missing:
                    for j in range(width):
                        tile_weight[j] = total
                        tile_mean[j] /= total
                    for i in range(top, bottom):
                        w = row_weight[rows[i]]
                        x = X[rows[i], left : left + width]
                        for j in range(width):
                            d = np.float64(x[j]) - tile_mean[j]
                            tile_scatter[j] += w * d * d
                else:
                    for j in range(width):
                        known = 0.0
                        s = 0.0
                        for i in range(top, bottom):
                            v = np.float64(X[rows[i], left + j])
                            if not np.isnan(v):
                                known += row_weight[rows[i]]
                                s += row_weight[rows[i]] * v
                        tile_weight[j] = known
                        tile_mean[j] = s / known if known > 0.0 else 0.0
                        for i in range(top, bottom):
                            v = np.float64(X[rows[i], left + j])
                            if not np.isnan(v):
                                d = v - tile_mean[j]
                                tile_scatter[j] += row_weight[rows[i]] * d * d
                for j in range(width):
                    column = first + left + j
                    before = weight[c, column]
                    after = before + tile_weight[j]
                    if after > 0.0:
                        d = tile_mean[j] - mean[c, column]
                        share = tile_weight[j] / after
                        mean[c, column] += d * share
                        scatter[c, column] += tile_scatter[j] + d * d * before * share
                        weight[c, column] = after


@kernel(*_SPARSE, reads=5)
def csr_class_moments(data, indices, indptr, codes, row_weight, weight, mean, scatter):
    """Moments of a CSR matrix; on entry every row of `weight` holds its class's total weight."""
    n_rows = indptr.shape[0] - 1
    n_classes, n_columns = weight.shape
    implicit = weight.copy()
    for i in range(n_rows):
        c = codes[i]
        w = row_weight[i]
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            v = np.float64(data[t])
            implicit[c, j] -= w
            if np.isnan(v):
                weight[c, j] -= w
            else:
                mean[c, j] += w * v
    for c in range(n_classes):
        for j in range(n_columns):
            if weight[c, j] > 0.0:
                mean[c, j] /= weight[c, j]
            if implicit[c, j] > 0.0:
                scatter[c, j] = implicit[c, j] * mean[c, j] * mean[c, j]
    for i in range(n_rows):
        c = codes[i]
        w = row_weight[i]
        for t in range(indptr[i], indptr[i + 1]):
            v = np.float64(data[t])
            if not np.isnan(v):
                d = v - mean[c, indices[t]]
                scatter[c, indices[t]] += w * d * d


@kernel(*_SPARSE, reads=5)
def csc_class_moments(data, indices, indptr, codes, row_weight, weight, mean, scatter):
    """Moments of a CSC matrix; on entry every row of `weight` holds its class's total weight."""
    n_classes, n_columns = weight.shape
    implicit = np.empty(n_classes)
    for j in range(n_columns):
        for c in range(n_classes):
            implicit[c] = weight[c, j]
        for t in range(indptr[j], indptr[j + 1]):
            c = codes[indices[t]]
            w = row_weight[indices[t]]
            v = np.float64(data[t])
            implicit[c] -= w
            if np.isnan(v):
                weight[c, j] -= w
            else:
                mean[c, j] += w * v
        for c in range(n_classes):
            if weight[c, j] > 0.0:
                mean[c, j] /= weight[c, j]
            if implicit[c] > 0.0:
                scatter[c, j] = implicit[c] * mean[c, j] * mean[c, j]
        for t in range(indptr[j], indptr[j + 1]):
            c = codes[indices[t]]
            v = np.float64(data[t])
            if not np.isnan(v):
                d = v - mean[c, j]
                scatter[c, j] += row_weight[indices[t]] * d * d
