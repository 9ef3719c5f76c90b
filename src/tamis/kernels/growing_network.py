"""An extended Kalman filter passes over rows and trains a radial network, which grows and is pruned on the way."""

import math

import numpy as np

from tamis.kernels.compiler import helper, kernel

#: Functions of a neuron, and what covariances the filter holds: all, those within a neuron, or variances alone.
GAUSSIAN, BIRADIAL = 0, 1
FULL, NEURON, DIAGONAL = 0, 1, 2

#: Places in `settings`: chi-square bounds for growing and pruning, variance added at each row, log of the first width
#: and slope, and the first variances of weights and of the other parameters.
GROW, PRUNE, PROCESS, WIDTH, SLOPE, WEIGHT_VARIANCE, SHAPE_VARIANCE = range(7)

#: The log of a width or slope stays within this of its first value.
REACH = 3.0


@kernel(
    "void(float64[:, ::1], float64[::1], float64[::1], intp[::1], float64[::1], intp, intp, intp, "
    "intp[::1], float64[::1], float64[:, ::1])",
    reads=8,
)
def filter_pass(rows, targets, noise, order, settings, function, held, most, counts, state, covariance):
    """Take the filter through some rows, in `order`; `noise` is the variance of each row's target.

    `state` holds the threshold and then, for each neuron, its weight, its centre, and the log of its width (Gaussian)
    or the logs of the widths and of the slopes of all columns (biradial). Row p of `covariance` holds the covariances
    of parameter p with all others (`FULL`), with those of its neuron (`NEURON`), or its variance (`DIAGONAL`).
    ``counts`` is the number of neurons, and how many were added and pruned.

    Where the squared error over its variance is above a bound, and there are less than `most` neurons, a neuron is
    added with its centre on the row, as on the first row; else all parameters are moved. After that the neuron of the
    smallest weight^2 / variance is pruned, if that is below a bound times the variance of the error.
    """
    n_columns = rows.shape[1]
    size = 2 + n_columns if function == GAUSSIAN else 1 + 3 * n_columns
    slope = np.empty(state.shape[0])
    gain = np.empty(state.shape[0])
    for i in order:
        n_neurons = counts[0]
        n_parameters = 1 + n_neurons * size
        error = targets[i] - _output(rows[i], state, n_neurons, size, function, slope)
        _times(covariance, slope, n_parameters, size, held, gain)
        variance = noise[i]
        for p in range(n_parameters):
            variance += slope[p] * gain[p]
        if n_neurons == 0 or (error * error > settings[GROW] * variance and n_neurons < most):
            _add(rows[i], error, settings, function, held, size, n_parameters, state, covariance)
            counts[0] += 1
            counts[1] += 1
            continue
        step = error / variance
        for p in range(n_parameters):
            state[p] += gain[p] * step
        _shrink(covariance, gain, 1.0 / variance, n_parameters, size, held)
        for p in range(n_parameters):
            first = _first(p, size, held)
            covariance[p, p - first] += settings[PROCESS]
        least, weakest = settings[PRUNE] * variance, -1
        for k in range(n_neurons):
            p = 1 + k * size
            _hold(state, p, size, n_columns, function, settings)
            own = covariance[p, p - _first(p, size, held)]
            if own > 0.0 and state[p] * state[p] < least * own:
                least, weakest = state[p] * state[p] / own, k
        if weakest >= 0:
            _prune(state, covariance, gain, 1 + weakest * size, n_parameters, size, held)
            counts[0] -= 1
            counts[2] += 1


@helper
def _output(row, state, n_neurons, size, function, slope):
    """The output of the network for a row; `slope` receives its derivatives by all parameters."""
    n_columns = row.shape[0]
    total = state[0]
    slope[0] = 1.0
    for k in range(n_neurons):
        p = 1 + k * size
        weight = state[p]
        exponent = 0.0
        if function == GAUSSIAN:
            last = p + 1 + n_columns
            shrink = math.exp(-2.0 * state[last])
            for j in range(n_columns):
                apart = row[j] - state[p + 1 + j]
                exponent -= apart * apart
            exponent *= shrink
            value = math.exp(exponent)
            for j in range(n_columns):
                slope[p + 1 + j] = 2.0 * weight * value * shrink * (row[j] - state[p + 1 + j])
            slope[last] = -2.0 * weight * value * exponent
        else:
            for j in range(n_columns):
                width = math.exp(state[p + 1 + n_columns + j])
                steep = math.exp(state[p + 1 + 2 * n_columns + j])
                apart = row[j] - state[p + 1 + j]
                left, right = -steep * (apart + width), steep * (apart - width)
                exponent -= _softplus(left) + _softplus(right) - 2.0 * _softplus(-steep * width)
                # Falling edges: how far the row lies outside the left and the right one, and the centre outside both.
                a, b, c = _logistic(left), _logistic(right), 2.0 * _logistic(-steep * width)
                slope[p + 1 + j] = steep * (b - a)
                slope[p + 1 + n_columns + j] = steep * width * (a + b - c)
                slope[p + 1 + 2 * n_columns + j] = -a * left - b * right - c * steep * width
            value = math.exp(exponent)
            for j in range(3 * n_columns):
                slope[p + 1 + j] *= weight * value
        slope[p] = value
        total += weight * value
    return total


@helper
def _logistic(z):
    """1 / (1 + exp(-z))."""
    if z >= 0.0:
        return 1.0 / (1.0 + math.exp(-z))
    small = math.exp(z)
    return small / (1.0 + small)


@helper
def _softplus(z):
    """log(1 + exp(z))."""
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


@helper
def _first(p, size, held):
    """The parameter that the first covariance in row p is with."""
    if held == FULL:
        return 0
    if held == DIAGONAL or p == 0:
        return p
    return p - (p - 1) % size


@helper
def _length(p, size, held, n_parameters):
    """How many covariances row p has."""
    if held == FULL:
        return n_parameters
    return size if held == NEURON and p > 0 else 1


@helper
def _times(covariance, vector, n_parameters, size, held, product):
    """Product of the covariances with a vector."""
    for p in range(n_parameters):
        product[p] = 0.0
    for p in range(n_parameters):
        if vector[p] != 0.0:
            first = _first(p, size, held)
            for q in range(_length(p, size, held, n_parameters)):
                product[first + q] += covariance[p, q] * vector[p]


@helper
def _shrink(covariance, vector, share, n_parameters, size, held):
    """Subtract a share of the products of a vector with itself."""
    for p in range(n_parameters):
        if vector[p] != 0.0:
            first = _first(p, size, held)
            for q in range(_length(p, size, held, n_parameters)):
                covariance[p, q] -= vector[p] * vector[first + q] * share


@helper
def _hold(state, p, size, n_columns, function, settings):
    """Keep widths and slopes of a neuron near their first values."""
    for q in range(p + 1 + n_columns, p + size):
        steep = function == BIRADIAL and q >= p + 1 + 2 * n_columns
        middle = settings[SLOPE] if steep else settings[WIDTH]
        state[q] = min(max(state[q], middle - REACH), middle + REACH)


@helper
def _add(row, error, settings, function, held, size, p, state, covariance):
    """A new neuron on a row, at the end of the parameters."""
    n_columns = row.shape[0]
    state[p] = error
    for j in range(n_columns):
        state[p + 1 + j] = row[j]
    for q in range(p + 1 + n_columns, p + size):
        steep = function == BIRADIAL and q >= p + 1 + 2 * n_columns
        state[q] = settings[SLOPE] if steep else settings[WIDTH]
    for q in range(p, p + size):
        for r in range(_length(q, size, held, p + size)):
            covariance[q, r] = 0.0
        if held == FULL:
            for r in range(p):
                covariance[r, q] = 0.0
        covariance[q, q - _first(q, size, held)] = settings[WEIGHT_VARIANCE] if q == p else settings[SHAPE_VARIANCE]


@helper
def _prune(state, covariance, column, p, n_parameters, size, held):
    """Remove the neuron whose weight is parameter p; the others move as if its weight had been observed to be zero."""
    if held == FULL:
        own = covariance[p, p]
        for q in range(n_parameters):
            column[q] = covariance[q, p]
        share = state[p] / own
        for q in range(n_parameters):
            state[q] -= column[q] * share
        _shrink(covariance, column, 1.0 / own, n_parameters, size, held)
    for q in range(p, n_parameters - size):
        state[q] = state[q + size]
        for r in range(_length(q, size, held, n_parameters)):
            covariance[q, r] = covariance[q + size, r]
    if held == FULL:
        for q in range(n_parameters - size):
            for r in range(p, n_parameters - size):
                covariance[q, r] = covariance[q, r + size]
