"""Learning vector quantization: each row in turn draws prototypes of its class nearer and pushes others away.

At each row one or two prototypes m move to m + rate (x - m), with a rate below zero away from the row.
"""

import numpy as np

from tamis.kernels.compiler import helper, kernel

#: Values of `method`.
LVQ1, OLVQ1, LVQ21, LVQ3 = 0, 1, 2, 3

#: A scale of a sparse prototype beyond which its values are multiplied by it.
_FAR = 1e6


@kernel(
    "void(float64[:, ::1], intp[::1], intp[::1], intp[::1], intp, float64, float64, float64, float64[:, ::1])", reads=8
)
def dense_lvq(X, y, order, classes, method, rate, window, epsilon, prototypes):
    """Train prototypes of some classes on the rows of `order`, one after another; the rate falls to zero."""
    n_columns = X.shape[1]
    squares, own_rates = np.empty(classes.shape[0]), np.full(classes.shape[0] + 1, rate)
    moved, rates = np.empty(2, dtype=np.intp), np.empty(2)
    for t in range(order.shape[0]):
        x = X[order[t]]
        for k in range(classes.shape[0]):
            squares[k] = _square(x, prototypes[k])
        now = rate * (1.0 - t / order.shape[0])
        _moves(squares, classes, y[order[t]], method, now, window * window, epsilon, own_rates, moved, rates)
        for place in range(2):
            if moved[place] >= 0:
                m = prototypes[moved[place]]
                for f in range(n_columns):
                    m[f] += rates[place] * (x[f] - m[f])


@kernel(
    "void(float64[::1], int32[::1], int64[::1], intp[::1], intp[::1], intp[::1], intp, float64, float64, float64, "
    "float64[:, ::1])",
    reads=10,
)
def sparse_lvq(data, indices, indptr, y, order, classes, method, rate, window, epsilon, prototypes):
    """The same for CSR rows; a step reads and writes only the columns that the row stores.

    A prototype is ``scale[k] * prototypes[k]`` until the end, and its squared length is updated.
    """
    squares, own_rates = np.empty(classes.shape[0]), np.full(classes.shape[0] + 1, rate)
    moved, rates = np.empty(2, dtype=np.intp), np.empty(2)
    scale, length, products = np.ones(classes.shape[0]), np.empty(classes.shape[0]), np.empty(classes.shape[0])
    for k in range(classes.shape[0]):
        length[k] = _length(prototypes[k])
    for t in range(order.shape[0]):
        first, end = indptr[order[t]], indptr[order[t] + 1]
        own_length = 0.0
        for u in range(first, end):
            own_length += data[u] * data[u]
        for k in range(classes.shape[0]):
            products[k] = 0.0
            for u in range(first, end):
                products[k] += data[u] * prototypes[k, indices[u]]
            products[k] *= scale[k]
            squares[k] = max(own_length - 2.0 * products[k] + length[k], 0.0)
        now = rate * (1.0 - t / order.shape[0])
        _moves(squares, classes, y[order[t]], method, now, window * window, epsilon, own_rates, moved, rates)
        for place in range(2):
            k, r = moved[place], rates[place]
            if k < 0:
                continue
            length[k] = (1.0 - r) ** 2 * length[k] + 2.0 * r * (1.0 - r) * products[k] + r * r * own_length
            scale[k] *= 1.0 - r
            if not 1.0 / _FAR < abs(scale[k]) < _FAR:
                prototypes[k] *= scale[k]
                scale[k] = 1.0
                length[k] = -1.0
            for u in range(first, end):
                prototypes[k, indices[u]] += r / scale[k] * data[u]
            if length[k] < 0.0:
                length[k] = _length(prototypes[k])
    for k in range(classes.shape[0]):
        prototypes[k] *= scale[k]


@helper
def _moves(squares, classes, own, method, rate, window, epsilon, own_rates, moved, rates):
    """Write the prototypes to move, -1 for none, and their rates; `window` is the least ratio of squared distances."""
    first, second = -1, -1
    for k in range(squares.shape[0]):
        if first < 0 or squares[k] < squares[first]:
            first, second = k, first
        elif second < 0 or squares[k] < squares[second]:
            second = k
    moved[:] = -1
    right = classes[first] == own
    if method == LVQ1:
        moved[0], rates[0] = first, rate if right else -rate
    elif method == OLVQ1:
        # The rate at which all rows so far count alike, but never above that of the start.
        sign = 1.0 if right else -1.0
        own_rates[first] = min(own_rates[first] / (1.0 + sign * own_rates[first]), own_rates[classes.shape[0]])
        moved[0], rates[0] = first, sign * own_rates[first]
    elif right != (classes[second] == own):
        if squares[first] > window * squares[second]:
            moved[0], rates[0] = first, rate if right else -rate
            moved[1], rates[1] = second, -rate if right else rate
    elif right and method == LVQ3:
        moved[0], rates[0] = first, epsilon * rate
        moved[1], rates[1] = second, epsilon * rate


@helper
def _square(x, z):
    """Squared distance of two rows, in four sums that a processor adds up side by side."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    end = x.shape[0] // 4 * 4
    for f in range(0, end, 4):
        a += (x[f] - z[f]) ** 2
        b += (x[f + 1] - z[f + 1]) ** 2
        c += (x[f + 2] - z[f + 2]) ** 2
        d += (x[f + 3] - z[f + 3]) ** 2
    for f in range(end, x.shape[0]):
        a += (x[f] - z[f]) ** 2
    return (a + b) + (c + d)


@helper
def _length(z):
    """Squared length of a row."""
    total = 0.0
    for f in range(z.shape[0]):
        total += z[f] * z[f]
    return total
