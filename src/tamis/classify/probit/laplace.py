"""Weights of largest posterior probability under a Laplace prior, by Newton's method with coordinate descent."""

import numpy as np

from tamis.base.types import FloatArray, Matrix
from tamis.classify.probit.likelihood import Found, Problem
from tamis.kernels.sparse import stored_arrays
from tamis.kernels.weighted_lasso import csc_weighted_lasso

#: Most steps of Newton's method, and most rounds of coordinate descent for one of them.
STEPS, _ROUNDS = 100, 2_000

#: By how much a condition of the optimum may be missed, in units of the penalty: on small data, and on large data.
_EXACT, _NEAR = 1e-6, 1e-4

#: Stored values up to which data is small.
_SMALL = 100_000

#: Share of the expected decrease that a step must bring, and most halvings of it.
_SUFFICIENT, _HALVINGS = 1e-4, 40

#: Expected decrease, as a share of the objective, below which rounding hides it and the step is taken.
_ROUNDING = 1e-11


def proximal_newton(X: Matrix, problem: Problem, penalty: float) -> Found:
    """Minimise the loss plus ``penalty |w|_1`` over weights and intercept, on the columns of a CSC matrix.

    The loss is replaced by its second-order expansion, whose minimum coordinate descent finds; a search along the way
    there follows.
    """
    weights, intercept = np.zeros(X.shape[1]), problem.start()
    evidence = np.full(X.shape[0], intercept)
    value = problem.loss(evidence)
    pull, curvature = problem.slopes(evidence)
    tol = _EXACT if X.nnz <= _SMALL else _NEAR
    columns = stored_arrays(X)
    for step in range(STEPS):
        missed = _missed(X.T @ pull, weights, penalty)
        if missed <= tol * penalty and abs(pull.sum()) <= tol * np.abs(pull).sum():
            return Found(weights, intercept, step, True)
        there, shift = weights.copy(), np.zeros(1)
        # The nearer the optimum, the more exact the minimum.
        enough = max(0.05 * missed, 0.3 * tol * penalty)
        csc_weighted_lasso(*columns, curvature, penalty, enough, _ROUNDS, there, pull.copy(), shift)
        change = X @ (there - weights) + shift[0]
        norm = float(np.abs(weights).sum())
        decrease = float(pull @ change) - penalty * (float(np.abs(there).sum()) - norm)
        length = 1.0
        for _ in range(_HALVINGS):
            between = weights + length * (there - weights) if length < 1 else there
            reached = problem.loss(evidence + length * change) + penalty * float(np.abs(between).sum())
            if reached <= value - _SUFFICIENT * length * decrease or decrease <= _ROUNDING * value:
                break
            length /= 2
        else:
            return Found(weights, intercept, step, False)
        weights, intercept, value = between, intercept + length * float(shift[0]), reached
        evidence = X @ weights + intercept
        pull, curvature = problem.slopes(evidence)
    return Found(weights, intercept, STEPS, False)


def _missed(slope: FloatArray, weights: FloatArray, penalty: float) -> float:
    """By how much the conditions of the optimum are missed: penalty and slope cancel, or no weight of 0 should grow."""
    kept = np.abs(slope - penalty * np.sign(weights))
    return float(np.where(weights == 0, np.abs(slope) - penalty, kept).max(initial=0.0))
