"""Simba's steps: the nearest rows of the own and of other classes under weights, and the weights that move them apart.

The weights w of the columns enter distances by their squares. A row's squared distances to all rows are computed anew
at each step, because each step changes all weights. Of rows that are equally near, to nine digits, the first is taken.
"""

import math

import numpy as np

from tamis.kernels.compiler import helper, kernel

#: A row is nearer than another if its squared distance is less by this share.
_NEARER = 1.0 - 1e-9


@kernel("void(float64[:, ::1], intp[::1], intp[::1], float64[::1], float64[:, ::1])", reads=4)
def dense_near(columns, codes, queries, w, near):
    """Write the distances of the rows `queries` to their nearest hit and nearest miss; `columns` has a row a column."""
    squares = np.empty(columns.shape[1])
    for t in range(queries.shape[0]):
        _dense_squares(columns, queries[t], w, squares)
        hit, miss = _nearest(squares, codes, queries[t])
        near[t, 0], near[t, 1] = math.sqrt(squares[hit]), math.sqrt(squares[miss])


@kernel("void(float64[:, ::1], intp[::1], intp[::1], boolean, float64, float64, float64[::1])", reads=6)
def dense_climb(columns, codes, queries, sigmoid, beta, step, w):
    """Change `w` by a step up the gradient of each row's utility in turn."""
    n_columns = columns.shape[0]
    squares = np.empty(columns.shape[1])
    from_hit, from_miss = np.empty(n_columns), np.empty(n_columns)
    for i in queries:
        _dense_squares(columns, i, w, squares)
        hit, miss = _nearest(squares, codes, i)
        to_hit, to_miss = 0.0, 0.0
        for f in range(n_columns):
            x = columns[f, i]
            from_hit[f] = (x - columns[f, hit]) ** 2
            from_miss[f] = (x - columns[f, miss]) ** 2
            to_hit += w[f] * w[f] * from_hit[f]
            to_miss += w[f] * w[f] * from_miss[f]
        for_hit, for_miss = _pulls(to_hit, to_miss, sigmoid, beta, step)
        for f in range(n_columns):
            w[f] += (for_miss * from_miss[f] - for_hit * from_hit[f]) * w[f]


@kernel(
    "void(float64[::1], int32[::1], int64[::1], float64[::1], int32[::1], int64[::1], intp[::1], intp[::1], "
    "float64[::1], float64[:, ::1])",
    reads=9,
)
def sparse_near(data, indices, indptr, c_data, c_rows, c_indptr, codes, queries, w, near):
    """The same for the rows of a matrix without stored zeros, as CSR and as CSC."""
    squares, lengths = np.empty(codes.shape[0]), np.empty(codes.shape[0])
    _lengths(data, indices, indptr, w, lengths)
    for t in range(queries.shape[0]):
        _sparse_squares(data, indices, indptr, c_data, c_rows, c_indptr, queries[t], w, lengths, squares)
        hit, miss = _nearest(squares, codes, queries[t])
        near[t, 0], near[t, 1] = math.sqrt(squares[hit]), math.sqrt(squares[miss])


@kernel(
    "void(float64[::1], int32[::1], int64[::1], float64[::1], int32[::1], int64[::1], intp[::1], intp[::1], boolean, "
    "float64, float64, float64[::1])",
    reads=11,
)
def sparse_climb(data, indices, indptr, c_data, c_rows, c_indptr, codes, queries, sigmoid, beta, step, w):
    """The same for the rows of a matrix without stored zeros, as CSR and as CSC.

    A step changes the weights of the columns that three rows store, and reads those columns alone: the squared lengths
    of the rows follow the weights.
    """
    squares, lengths = np.empty(codes.shape[0]), np.empty(codes.shape[0])
    from_hit, from_miss, seen = np.zeros(w.shape[0]), np.zeros(w.shape[0]), np.zeros(w.shape[0])
    _lengths(data, indices, indptr, w, lengths)
    for i in queries:
        _sparse_squares(data, indices, indptr, c_data, c_rows, c_indptr, i, w, lengths, squares)
        hit, miss = _nearest(squares, codes, i)
        for t in range(indptr[i], indptr[i + 1]):
            from_hit[indices[t]] = from_miss[indices[t]] = data[t]
        for t in range(indptr[hit], indptr[hit + 1]):
            from_hit[indices[t]] -= data[t]
        for t in range(indptr[miss], indptr[miss + 1]):
            from_miss[indices[t]] -= data[t]
        to_hit, to_miss = 0.0, 0.0
        for place in (i, hit, miss):
            for t in range(indptr[place], indptr[place + 1]):
                f = indices[t]
                # A column in several of the three rows counts at the first.
                if seen[f] == 0.0:
                    seen[f] = 1.0
                    to_hit += w[f] * w[f] * from_hit[f] * from_hit[f]
                    to_miss += w[f] * w[f] * from_miss[f] * from_miss[f]
        for_hit, for_miss = _pulls(to_hit, to_miss, sigmoid, beta, step)
        for place in (i, hit, miss):
            for t in range(indptr[place], indptr[place + 1]):
                f = indices[t]
                if seen[f] == 1.0:
                    before = w[f] * w[f]
                    w[f] += (for_miss * from_miss[f] * from_miss[f] - for_hit * from_hit[f] * from_hit[f]) * w[f]
                    from_hit[f] = from_miss[f] = seen[f] = 0.0
                    more = w[f] * w[f] - before
                    for u in range(c_indptr[f], c_indptr[f + 1]):
                        lengths[c_rows[u]] += more * c_data[u] * c_data[u]


@helper
def _dense_squares(columns, i, w, squares):
    """Squared distances from row i to all rows; the innermost loop runs along the rows."""
    n_columns, n_rows = columns.shape
    squares[:] = 0.0
    # Four columns at a time, to read the sums less often.
    end = n_columns // 4 * 4
    for f in range(0, end, 4):
        w0, w1, w2, w3 = w[f] * w[f], w[f + 1] * w[f + 1], w[f + 2] * w[f + 2], w[f + 3] * w[f + 3]
        c0, c1, c2, c3 = columns[f], columns[f + 1], columns[f + 2], columns[f + 3]
        x0, x1, x2, x3 = c0[i], c1[i], c2[i], c3[i]
        for s in range(n_rows):
            a, b, c, d = x0 - c0[s], x1 - c1[s], x2 - c2[s], x3 - c3[s]
            squares[s] += (w0 * a * a + w1 * b * b) + (w2 * c * c + w3 * d * d)
    for f in range(end, n_columns):
        for s in range(n_rows):
            squares[s] += w[f] * w[f] * (columns[f, i] - columns[f, s]) ** 2


@helper
def _sparse_squares(data, indices, indptr, c_data, c_rows, c_indptr, i, w, lengths, squares):
    """The same for sparse rows with given squared lengths."""
    for s in range(squares.shape[0]):
        squares[s] = lengths[s] + lengths[i]
    for t in range(indptr[i], indptr[i + 1]):
        f = indices[t]
        twice = 2.0 * w[f] * w[f] * data[t]
        for u in range(c_indptr[f], c_indptr[f + 1]):
            squares[c_rows[u]] -= twice * c_data[u]
    for s in range(squares.shape[0]):
        squares[s] = max(squares[s], 0.0)


@helper
def _lengths(data, indices, indptr, w, lengths):
    """Squared lengths of CSR rows."""
    for s in range(lengths.shape[0]):
        total = 0.0
        for t in range(indptr[s], indptr[s + 1]):
            total += (w[indices[t]] * data[t]) ** 2
        lengths[s] = total


@helper
def _nearest(squares, codes, i):
    """The rows of the own class and of others that are the nearest to row i."""
    hit, miss = -1, -1
    for s in range(squares.shape[0]):
        if codes[s] != codes[i]:
            if miss < 0 or squares[s] < _NEARER * squares[miss]:
                miss = s
        elif s != i and (hit < 0 or squares[s] < _NEARER * squares[hit]):
            hit = s
    return hit, miss


@helper
def _pulls(to_hit, to_miss, sigmoid, beta, step):
    """Factors of the squared differences to hit and miss in a step, from the squared distances."""
    to_hit, to_miss = math.sqrt(to_hit), math.sqrt(to_miss)
    slope = 0.5 * step
    if sigmoid:
        # The slope of the logistic function, as a share of that at zero.
        far = math.exp(-abs(beta * (to_miss - to_hit) / 2.0))
        slope *= 4.0 * far / (1.0 + far) ** 2
    # At no distance all columns with a weight agree.
    return slope / to_hit if to_hit > 0.0 else 0.0, slope / to_miss if to_miss > 0.0 else 0.0
