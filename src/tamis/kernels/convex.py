"""Convex networks: losses of margins, cyclic coordinate Newton steps, and minima along many directions.

The losses of a margin m by their numbers: 0 logistic, ln(1 + e^-m); 1 squared hinge, max(0, 1 - m)^2; 2 exponential,
e^-m. The objective along a direction d, for t from `low` <= 0 to `high` >= 0, is

    sum_i w_i L(m_i + t d_i) + linear t + quadratic t^2.

`first` and `second` hold w_i L'(m_i) and w_i L''(m_i).
"""

import math

import numpy as np

from tamis.kernels.assign import assign
from tamis.kernels.compiler import helper, kernel

#: Most Newton steps along one direction; three or four are usual.
_STEPS = 40

#: Share of the initial slope that a coordinate step may leave to the next round.
_LEFT = 0.1

_V, _T = "float64[::1]", "float64[:, ::1]"


@helper
def _value(m, loss):
    if loss == 0:
        return math.log1p(math.exp(-abs(m))) + max(-m, 0.0)
    if loss == 1:
        short = max(1.0 - m, 0.0)
        return short * short
    return math.exp(-m)


@helper
def _slopes(m, loss):
    """First and second derivative of the loss."""
    if loss == 0:
        e = math.exp(-abs(m))
        near = 1.0 / (1.0 + e)
        far = e * near
        return (-far if m >= 0.0 else -near), near * far
    if loss == 1:
        short = 1.0 - m
        return (-2.0 * short, 2.0) if short > 0.0 else (0.0, 0.0)
    e = math.exp(-m)
    return -e, e


@helper
def _look(t, margins, weight, loss, direction, linear, quadratic, first, second):
    """Slope and curvature at t; fills the derivatives of the rows in `first` and `second`."""
    slope, bend = linear + 2.0 * quadratic * t, 2.0 * quadratic
    for i in range(margins.shape[0]):
        d = direction[i]
        one, two = _slopes(margins[i] + t * d, loss)
        first[i], second[i] = weight[i] * one, weight[i] * two
        slope += first[i] * d
        bend += second[i] * d * d
    return slope, bend


@helper
def _minimum(margins, weight, loss, direction, linear, quadratic, low, high, left, first, second):
    """Minimum along a direction, by safeguarded Newton steps until the slope falls to the share `left`.

    `first` and `second` are updated.
    """
    slope, bend = linear, 2.0 * quadratic
    for i in range(margins.shape[0]):
        d = direction[i]
        slope += first[i] * d
        bend += second[i] * d * d
    t, enough = 0.0, left * abs(slope)
    met_low, met_high = False, False
    for _ in range(_STEPS):
        if not (abs(slope) > enough and bend > 0.0 and math.isfinite(slope / bend)):
            break
        new = t - slope / bend
        if slope > 0.0:
            high, met_high = t, True
            if new <= low:
                new = 0.5 * (low + t) if met_low else low
        else:
            low, met_low = t, True
            if new >= high:
                new = 0.5 * (high + t) if met_high else high
        if new == t:
            break
        slope, bend = _look(new, margins, weight, loss, direction, linear, quadratic, first, second)
        while not math.isfinite(slope + bend) and new != t:
            # The exponential loss overflows: halve the step.
            if new > t:
                high, met_high = new, True
            else:
                low, met_low = new, True
            new = 0.5 * (t + new)
            slope, bend = _look(new, margins, weight, loss, direction, linear, quadratic, first, second)
        t = new
    return t


@kernel(f"void({_T}, {_V}, intp, {_V}, {_T}, {_T})", reads=3)
def loss_terms(margins, weight, loss, value, first, second):
    """Weighted loss of each row of `margins`, and the derivatives of its entries unless `first` is empty."""
    for r in range(margins.shape[0]):
        total = 0.0
        for i in range(margins.shape[1]):
            total += weight[i] * _value(margins[r, i], loss)
        value[r] = total
    for r in range(first.shape[0]):
        for i in range(margins.shape[1]):
            one, two = _slopes(margins[r, i], loss)
            first[r, i], second[r, i] = weight[i] * one, weight[i] * two


@kernel(f"void({_T}, {_V}, {_T}, {_V}, {_V}, intp[::1], intp, float64, {_V}, {_V}, {_V}, {_V})", reads=8)
def coordinate_sweep(values, weight, penalty, low, high, chosen, loss, enough, coef, margins, first, second):
    """One round of Newton steps along the `chosen` coefficients, each projected into its interval.

    Row j of `values` is the effect of coefficient j on the margins. Updates `coef`, `margins`, `first` and `second`.
    `penalty` is the matrix P of a'Pa, or its diagonal as one row. Slopes up to `enough` are skipped.
    """
    diagonal = penalty.shape[0] < values.shape[0]
    for j in chosen:
        direction = values[j]
        if diagonal:
            quadratic = penalty[0, j]
            linear = 2.0 * quadratic * coef[j]
        else:
            quadratic, linear = penalty[j, j], 0.0
            for other in chosen:
                linear += 2.0 * penalty[j, other] * coef[other]
        slope = linear
        for i in range(margins.shape[0]):
            slope += first[i] * direction[i]
        down, up = low[j] - coef[j], high[j] - coef[j]
        if abs(slope) <= enough or (slope > 0.0 and down >= 0.0) or (slope < 0.0 and up <= 0.0):
            continue
        t = _minimum(margins, weight, loss, direction, linear, quadratic, down, up, _LEFT, first, second)
        coef[j] = min(max(coef[j] + t, low[j]), high[j])
        for i in range(margins.shape[0]):
            margins[i] += t * direction[i]


@kernel(f"void({_T}, {_V}, {_V}, {_V}, {_V}, intp, {_T}, float64, {_V}, {_V})", reads=8)
def line_minima(directions, margins, weight, first, second, loss, terms, left, step, value):
    """Step and value of the minimum along each row of `directions`.

    The rows of `terms` are `linear`, `quadratic`, `low` and `high`. `value` leaves out the penalty at t = 0.
    """
    one, two = np.empty_like(first), np.empty_like(second)
    for r in range(directions.shape[0]):
        direction = directions[r]
        assign(one, first)
        assign(two, second)
        linear, quadratic = terms[0, r], terms[1, r]
        t = _minimum(margins, weight, loss, direction, linear, quadratic, terms[2, r], terms[3, r], left, one, two)
        total = (linear + quadratic * t) * t
        for i in range(margins.shape[0]):
            total += weight[i] * _value(margins[i] + t * direction[i], loss)
        step[r], value[r] = t, total
