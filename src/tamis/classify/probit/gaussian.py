"""Weights of largest posterior probability under a Gaussian prior, by Newton's method."""

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from tamis.base.types import FloatArray, Matrix
from tamis.classify.probit.likelihood import Found, Problem

#: Most Newton steps; about ten are usual.
STEPS = 100

#: Expected decrease of the objective, as a share of it, at which the last step is taken: on small and on large data.
_ENOUGH, _ENOUGH_LARGE = 1e-9, 1e-4

#: Shares of the slope that conjugate gradients may leave: far from the optimum, and near it on small and large data.
_FAR, _NEAR, _NEAR_LARGE = 0.1, 1e-3, 1e-2

#: Stored values up to which data is small.
_SMALL = 100_000

#: Share of the expected decrease that a step must bring.
_SUFFICIENT = 1e-4

#: Most halvings of a step, and most products with the rows for one direction.
_HALVINGS, _PRODUCTS = 40, 500


def newton(X: Matrix, problem: Problem, variance: float, *, exact: bool) -> Found:
    """Minimise the loss plus ``|w|^2 / (2 variance)`` over weights and intercept.

    With `exact` each direction solves a system with as many unknowns as columns; else it comes from conjugate
    gradients, which only multiply the rows with vectors, the more exactly the nearer the optimum.
    """
    weights, intercept = np.zeros(X.shape[1]), problem.start()
    evidence = np.full(X.shape[0], intercept)
    value = problem.loss(evidence)
    # Squares of the values serve as weights of the conjugate gradients.
    squares = None if exact else X.power(2) if sp.issparse(X) else X**2
    large = not exact and (X.nnz if sp.issparse(X) else X.size) > _SMALL
    enough, near = (_ENOUGH_LARGE, _NEAR_LARGE) if large else (_ENOUGH, _NEAR)
    start = 0.0
    for step in range(1, STEPS + 1):
        pull, curvature = problem.slopes(evidence)
        slope = np.append(X.T @ pull - weights / variance, pull.sum())
        if not slope.any():
            return Found(weights, intercept, step, True)
        if squares is None:
            direction = _solved(X, curvature, variance, slope)
        else:
            scale = np.append(squares.T @ curvature + 1 / variance, curvature.sum())
            size = float(np.sqrt(slope @ (slope / scale)))
            start = start or size
            direction = _conjugate(X, curvature, variance, slope, scale, float(np.clip(size / start, near, _FAR)))
        decrease = float(slope @ direction)
        change = X @ direction[:-1] + direction[-1]
        length = 1.0
        for _ in range(_HALVINGS):
            there = weights + length * direction[:-1]
            reached = problem.loss(evidence + length * change) + float(there @ there) / (2 * variance)
            if reached <= value - _SUFFICIENT * length * decrease or decrease <= enough * value:
                break
            length /= 2
        else:
            return Found(weights, intercept, step, False)
        weights, intercept, value = there, intercept + length * float(direction[-1]), reached
        evidence = X @ weights + intercept
        if decrease <= enough * value:
            return Found(weights, intercept, step, True)
    return Found(weights, intercept, STEPS, False)


def _solved(X: Matrix, curvature: FloatArray, variance: float, slope: FloatArray) -> FloatArray:
    """The Newton direction, from the matrix of second derivatives."""
    size = slope.size
    matrix = np.empty((size, size))
    if sp.issparse(X):
        matrix[:-1, :-1] = (X.T @ (sp.diags_array(curvature) @ X)).toarray()
    else:
        matrix[:-1, :-1] = X.T @ (X * curvature[:, None])
    matrix[-1, :-1] = matrix[:-1, -1] = X.T @ curvature
    matrix[-1, -1] = curvature.sum()
    matrix.flat[: -1 : size + 1] += 1 / variance
    # An intercept that rounding leaves without curvature of its own must not stop the solve.
    matrix[-1, -1] += 4 * size * np.finfo(np.float64).eps * matrix[-1, -1]
    return np.asarray(scipy.linalg.solve(matrix, slope, assume_a="pos"))


def _conjugate(
    X: Matrix, curvature: FloatArray, variance: float, slope: FloatArray, scale: FloatArray, left: float
) -> FloatArray:
    """The same up to a share `left` of the slope, by conjugate gradients scaled by the diagonal `scale`."""
    direction = np.zeros(slope.size)
    rest = slope.copy()
    scaled = rest / scale
    way = scaled.copy()
    now = float(rest @ scaled)
    goal = left**2 * now
    for _ in range(_PRODUCTS):
        bent = curvature * (X @ way[:-1] + way[-1])
        product = np.append(X.T @ bent + way[:-1] / variance, bent.sum())
        length = now / float(way @ product)
        direction += length * way
        rest -= length * product
        scaled = rest / scale
        before, now = now, float(rest @ scaled)
        if now <= goal:
            break
        way = scaled + now / before * way
    return direction
