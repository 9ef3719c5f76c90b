"""States of columns: their distinct values, cuts of equal frequency, and the bin of each value.

NaN is missing everywhere; its state is -1.
"""

import numpy as np

from tamis.kernels.compiler import kernel
from tamis.kernels.ssv import halfway

_REALS = ("float32", "float64")
_ROWS = 64
_COLUMNS = 512

#: Whole numbers from the lowest that :func:`whole_values` can list, one bit each.
WINDOW = 64


@kernel(*(f"void({real}[:, ::1], float64[::1], uint64[::1], boolean[::1], boolean[::1])" for real in _REALS), reads=2)
def whole_values(X, base, seen, outside, broken):
    """List the values of columns of whole numbers, in rows.

    Bit b of ``seen[j]`` is set when column j has the value ``base[j] + b``. `outside` marks columns with whole numbers
    beyond these bits, `broken` those with a value that is not whole; for the latter the other outputs are undefined.
    """
    n_rows, n_columns = X.shape
    for left in range(0, n_columns, _COLUMNS):
        columns = slice(left, min(left + _COLUMNS, n_columns))
        lowest, bits, far, other = base[columns], seen[columns], outside[columns], broken[columns]
        for top in range(0, n_rows, _ROWS):
            for i in range(top, min(top + _ROWS, n_rows)):
                row = X[i, columns]
                for j in range(row.shape[0]):
                    v = np.float64(row[j])
                    d = v - lowest[j]
                    if d >= 0.0 and d < WINDOW:
                        bit = np.uint64(d)
                        # The difference may have rounded a small number away.
                        if np.float64(bit) == d and v == np.floor(v):
                            bits[j] |= np.uint64(1) << bit
                            continue
                    if v == np.floor(v):
                        far[j] = True
                    elif not np.isnan(v):
                        other[j] = True
            if other.all():
                break


@kernel(
    *(f"void({real}[::1], int64[::1], int64[::1], boolean[::1], int64, float64[::1], int64[::1])" for real in _REALS),
    reads=5,
)
def few_values(values, begin, end, zeros, most, found, count):
    """List the distinct values of segments of whole numbers, ascending, one list after the other.

    `zeros` marks segments that also hold the value zero. A segment with more than `most` distinct values, or with one
    that is not whole, has no list and the count -1.
    """
    start = 0
    for j in range(begin.shape[0]):
        n = 0
        if zeros[j]:
            found[start], n = 0.0, 1
        for t in range(begin[j], end[j]):
            v = np.float64(values[t])
            if np.isnan(v):
                continue
            low, high = start, start + n
            while low < high:
                middle = (low + high) // 2
                if found[middle] < v:
                    low = middle + 1
                else:
                    high = middle
            if low < start + n and found[low] == v:
                continue
            if n == most or v != np.floor(v):
                n = -1
                break
            for s in range(start + n, low, -1):
                found[s] = found[s - 1]
            found[low] = v
            n += 1
        count[j] = n
        start += max(n, 0)


@kernel(*(f"void({real}[:, ::1], {real}[:, ::1], int8[:, ::1])" for real in _REALS), reads=2)
def row_states(X, cuts, out):
    """Number of cuts at or below each value; ``cuts[:, j]`` are those of column j, infinity where it has fewer."""
    n_rows, n_columns = X.shape
    one, none = np.int8(1), np.int8(0)
    for left in range(0, n_columns, _COLUMNS):
        width = min(_COLUMNS, n_columns - left)
        for i in range(n_rows):
            values = X[i, left : left + width]
            row = out[i, left : left + width]
            for j in range(width):
                row[j] = -one if np.isnan(values[j]) else none
            for k in range(cuts.shape[0]):
                cut = cuts[k, left : left + width]
                for j in range(width):
                    row[j] = np.int8(row[j] + (one if values[j] >= cut[j] else none))


@kernel(
    *(f"void({real}[::1], int64[::1], int64[::1], int64[::1], float64[::1], int32[::1])" for real in _REALS), reads=5
)
def segment_states(values, begin, end, first, cuts, out):
    """Number of cuts at or below each value of segments; segment j has the cuts ``first[j]`` up to ``first[j + 1]``."""
    for j in range(begin.shape[0]):
        for t in range(begin[j], end[j]):
            v = np.float64(values[t])
            if np.isnan(v):
                out[t] = -1
                continue
            low, high = first[j], first[j + 1]
            while low < high:
                middle = (low + high) // 2
                if cuts[middle] <= v:
                    low = middle + 1
                else:
                    high = middle
            out[t] = low - first[j]


@kernel("void(int8[:, ::1], int8[:, ::1])", reads=1)
def turned(codes, out):
    """Transpose codes, tile by tile."""
    n_rows, n_columns = codes.shape
    for top in range(0, n_rows, _ROWS):
        for left in range(0, n_columns, _ROWS):
            for j in range(left, min(left + _ROWS, n_columns)):
                for i in range(top, min(top + _ROWS, n_rows)):
                    out[j, i] = codes[i, j]


@kernel(
    *(
        f"void(int64[::1], int64[::1], int32[::1], {real}[::1], float64[::1], float64[:, ::1], int64[::1])"
        for real in _REALS
    ),
    reads=5,
)
def quantile_cuts(begin, end, rows, values, weight, cuts, count):
    """Cuts that divide the weight of columns into equal parts; columns are sorted, zeros not listed, NaN last.

    Every row has a weight above zero. The cuts of column j go to ``cuts[j, : count[j]]``: between two values where
    the parts can be equal, else at the value they share. A cut that separates no rows is left out.
    """
    n_parts = cuts.shape[1] + 1
    everything = 0.0
    for i in range(weight.shape[0]):
        everything += weight[i]
    for j in range(begin.shape[0]):
        stop, listed, known = begin[j], 0.0, 0.0
        for t in range(begin[j], end[j]):
            listed += weight[rows[t]]
            if not np.isnan(values[t]):
                known += weight[rows[t]]
                stop = t + 1
        some_zeros = end[j] - begin[j] < weight.shape[0]
        zeros = everything - listed if some_zeros else 0.0
        known += zeros
        close = 1e-12 * known
        n, part, t = 0, 1, begin[j]
        total, below, last, v = 0.0, 0.0, 0.0, -np.inf
        while part < n_parts and (t < stop or some_zeros):
            if some_zeros and (t == stop or values[t] > 0.0):
                x, w, some_zeros = 0.0, zeros, False
            else:
                x, w = np.float64(values[t]), weight[rows[t]]
                t += 1
            if x > v:
                # A part that ends with the previous value ends between the two.
                if total > last and abs(total - known * part / n_parts) <= close:
                    cuts[j, n] = halfway(v, x)
                    n, part, last = n + 1, part + 1, total
                v, below = x, total
            total += w
            while part < n_parts and total > known * part / n_parts + close:
                if below > last:
                    cuts[j, n] = v
                    n, last = n + 1, below
                part += 1
        count[j] = n
