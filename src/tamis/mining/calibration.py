"""Calibration: what probabilities of models are worth, learned from predictions for rows they have not seen."""

import numpy as np
from scipy.special import log_softmax, softmax

from tamis.base.predictions import LEAST
from tamis.base.types import Codes, FloatArray

#: Strength of the prior: as if the slope 1 and the numbers 0 had been seen once with a deviation of 1.
_PRIOR = 1.0

#: Smallest slope: a model of noise still orders the rows its own way.
_LEAST_SLOPE = 0.001

#: Decimals of the parameters: they are read in recipes.
_DIGITS = 3

#: Most steps of Newton's method, the relative gain at which it ends, and the smallest share of a step.
_STEPS, _GAIN, _SHARE = 30, 1e-9, 1e-3

#: Numbers of the models that are calibrated at once.
_AT_ONCE = 2_000_000


def fit_calibration(
    probabilities: FloatArray, truth: Codes, weight: FloatArray, start: FloatArray | None = None
) -> FloatArray:
    """The parameters with which :func:`tamis.base.predictions.calibrated` probabilities have the least log loss.

    The loss is that of Platt's sigmoid (softmax of a scaled log-probability plus a number for each class) with a weak
    normal prior, so that it has one minimum even where the classes are separated. Newton's method finds it, for all
    models side by side.

    Parameters
    ----------
    probabilities : array of shape (n_models, n_rows, n_classes)
    truth : int array of shape (n_rows,)
        Class codes.
    weight : array of shape (n_rows,)
        Weight of each row; rows of weight 0 do not count.
    start : array of shape (n_models, n_classes), optional
        Parameters to begin with.

    Returns
    -------
    array of shape (n_models, n_classes)
        With three decimals.

    Examples
    --------
    >>> sure = np.array([[0.99, 0.01]] * 4 + [[0.01, 0.99]] * 4)
    >>> fit_calibration(sure[None], np.array([0, 0, 0, 1, 1, 1, 1, 0]), np.ones(8))
    array([[0.263, 0.   ]])
    """
    seen = weight > 0
    truth, weight = truth[seen], weight[seen]
    pieces = [
        _fitted(probabilities[some][:, seen], truth, weight, None if start is None else start[some])
        for some in _pieces(probabilities.shape[0], truth.size * probabilities.shape[2])
    ]
    return np.asarray(np.round(np.concatenate(pieces), _DIGITS) + 0.0, dtype=np.float64)


def log_losses(probabilities: FloatArray, truth: Codes, calibration: FloatArray) -> FloatArray:
    """The log loss of every calibrated model on every row, of shape (n_models, n_rows)."""
    found = []
    for some in _pieces(probabilities.shape[0], probabilities[0].size):
        evidence = np.log(np.clip(probabilities[some], LEAST, 1.0))
        found.append(-log_softmax(_moved(calibration[some], evidence), axis=2)[:, np.arange(truth.size), truth])
    return np.concatenate(found)


def _pieces(n_models: int, size: int) -> list[slice]:
    """Slices of models with `size` numbers each that are computed at once."""
    together = max(1, _AT_ONCE // max(1, size))
    return [slice(i, i + together) for i in range(0, n_models, together)]


def _fitted(probabilities: FloatArray, truth: Codes, weight: FloatArray, start: FloatArray | None) -> FloatArray:
    n_models, _, n_classes = probabilities.shape
    evidence = np.log(np.clip(probabilities, LEAST, 1.0))
    prior = np.eye(1, n_classes)[0]
    now = np.tile(prior, (n_models, 1)) if start is None else start.copy()
    loss = _losses(now, evidence, truth, weight, prior)
    going = np.arange(n_models)
    for _ in range(_STEPS):
        own = evidence[going]
        step, share = _newton(now[going], own, truth, weight, prior), np.ones(going.size)
        after, lower = now[going], loss[going]
        wrong = np.ones(going.size, dtype=bool)
        while wrong.any():
            after[wrong] = now[going[wrong]] - share[wrong, None] * step[wrong]
            after[wrong, 0] = np.maximum(after[wrong, 0], _LEAST_SLOPE)
            lower[wrong] = _losses(after[wrong], own[wrong], truth, weight, prior)
            wrong = (lower > loss[going]) & (share > _SHARE)
            share[wrong] /= 2
        better = lower < loss[going]
        gain = np.where(better, loss[going] - lower, 0.0)
        now[going[better]], loss[going[better]] = after[better], lower[better]
        going = going[gain > _GAIN * np.maximum(1.0, loss[going])]
        if not going.size:
            break
    return now


def _moved(parameters: FloatArray, evidence: FloatArray) -> FloatArray:
    found = parameters[:, None, :1] * evidence
    found[:, :, 1:] += parameters[:, None, 1:]
    return found


def _losses(
    parameters: FloatArray, evidence: FloatArray, truth: Codes, weight: FloatArray, prior: FloatArray
) -> FloatArray:
    own = log_softmax(_moved(parameters, evidence), axis=2)[:, np.arange(truth.size), truth]
    return np.asarray(-own @ weight + _PRIOR / 2 * ((parameters - prior) ** 2).sum(axis=1))


def _newton(
    parameters: FloatArray, evidence: FloatArray, truth: Codes, weight: FloatArray, prior: FloatArray
) -> FloatArray:
    """The steps of Newton's method: the first parameter scales the evidence, the others are added to it."""
    p = softmax(_moved(parameters, evidence), axis=2)
    weighted = weight[:, None] * p
    mean = (p * evidence).sum(axis=2)
    residual = weighted.copy()
    residual[:, np.arange(truth.size), truth] -= weight
    gradient = residual.sum(axis=1)
    gradient[:, 0] = np.einsum("mnk,mnk->m", residual, evidence)
    curvature = -np.einsum("mnk,mnl->mkl", weighted, p)
    n_classes = p.shape[2]
    curvature[:, np.arange(n_classes), np.arange(n_classes)] += weighted.sum(axis=1)
    across = np.einsum("mnk,mnk->mk", weighted, evidence - mean[:, :, None])
    curvature[:, 0] = curvature[:, :, 0] = across
    curvature[:, 0, 0] = np.einsum("mnk,mnk->m", weighted, evidence**2) - mean**2 @ weight
    curvature += _PRIOR * np.eye(n_classes)
    return np.linalg.solve(curvature, (gradient + _PRIOR * (parameters - prior))[:, :, None])[:, :, 0]
