"""Laplace's approximation: the mode of the posterior, its covariance, and the marginal likelihood."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from tamis.base.types import FloatArray
from tamis.classify.bayes_logistic.likelihood import Problem, Slopes

#: Most steps of Newton's method, and most halvings of one.
_STEPS, _HALVINGS = 200, 40

#: Share of the expected decrease that a step must bring.
_SUFFICIENT = 1e-4

#: Expected decrease, as a share of the objective, below which rounding hides it and the step is taken.
_ROUNDING = 1e-10

#: Expected decrease after which one more step is exact: the error of the mode is then of the order of its square.
_LAST = 1e-12


class Mode(NamedTuple):
    """The posterior of weights that are standard normal beforehand, as a normal distribution at its mode."""

    weights: FloatArray
    evidence: FloatArray
    slopes: Slopes
    covariance: FloatArray
    #: Logarithm of the marginal likelihood.
    log_evidence: float


def laplace(Z: FloatArray, problem: Problem, start: FloatArray) -> Mode:
    """Approximate the posterior of u, where the evidence is Z u and u is standard normal beforehand.

    With the loss L, the mode minimises ``L(Z u) + |u|^2 / 2``. H is the matrix of second derivatives there, and::

        log Z = -L(Z u) - |u|^2 / 2 - log det(H) / 2.

    Newton's method begins at `start`, or at 0 if that is better.
    """
    at, evidence = start, Z @ start
    value = _objective(problem, at, evidence)
    zero = np.zeros_like(start)
    if not value <= (plain := _objective(problem, zero, np.zeros(Z.shape[0]))):
        at, evidence, value = zero, np.zeros(Z.shape[0]), plain
    decrease = np.inf
    for _ in range(_STEPS):
        slopes = problem.slopes(evidence)
        bent = Z * np.sqrt(slopes.curvature)[:, None]
        hessian = bent.T @ bent
        hessian.flat[:: at.size + 1] += 1.0
        factor = scipy.linalg.cho_factor(hessian, lower=True, check_finite=False)
        if decrease <= _LAST:
            break
        slope = Z.T @ slopes.pull - at
        direction = scipy.linalg.cho_solve(factor, slope, check_finite=False)
        decrease = float(slope @ direction)
        length = 1.0
        for _ in range(_HALVINGS):
            there = at + length * direction
            evidence = Z @ there
            reached = _objective(problem, there, evidence)
            if reached <= value - _SUFFICIENT * length * decrease or decrease <= _ROUNDING * (1 + value):
                break
            length /= 2
        at, value = there, reached
    log_evidence = -value - float(np.log(np.diagonal(factor[0])).sum())
    covariance = scipy.linalg.cho_solve(factor, np.eye(at.size), check_finite=False)
    return Mode(at, evidence, slopes, covariance, log_evidence)


def _objective(problem: Problem, weights: FloatArray, evidence: FloatArray) -> float:
    return problem.loss(evidence) + float(weights @ weights) / 2
