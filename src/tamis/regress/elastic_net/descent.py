"""Solutions of the elastic net along falling penalties, by celer's or scikit-learn's coordinate descent."""

import math
import warnings
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet as Descent
from sklearn.linear_model import enet_path

from tamis.base.types import FloatArray, Matrix
from tamis.regress.elastic_net.optimum import optima
from tamis.regress.elastic_net.problem import Problem, Solution
from tamis.regress.elastic_net.working_sets import celer_weights

#: Most columns whose products are computed beforehand, where there are more rows.
_GRAM = 2_000

#: Tolerance and most passes of the descent, where it may be rough and where it must not.
_ROUGH, _FINE = (1e-4, 1_000), (1e-7, 20_000)


def highest_penalty(X: Matrix, y: FloatArray, weight: FloatArray, l1_ratio: float) -> float:
    """The smallest penalty that sets every weight to zero; 0 where no column says anything of the target."""
    centred = y - np.average(y, weights=weight)
    pull = np.abs(np.asarray(X.T @ (weight * centred), dtype=np.float64)) / weight.sum()
    # What rounding leaves of a constant column's product is no pull.
    size = np.sqrt(np.asarray(sp.csr_array(X).power(2).sum(axis=0) if sp.issparse(X) else np.einsum("ij,ij->j", X, X)))
    noise = 1e-13 * size.ravel() * math.sqrt(float(weight.max()) * float(centred @ centred)) / weight.sum() * y.size
    return float(np.max(np.where(pull > noise, pull, 0.0), initial=0.0)) / l1_ratio


def descend(
    X: Matrix,
    y: FloatArray,
    weight: FloatArray,
    penalties: Sequence[float],
    l1_ratio: float,
    *,
    exact: bool,
) -> list[Solution]:
    """Solutions for penalties that fall, each started from the one before.

    They minimise ``sum_i w_i (y_i - x_i.w - b)^2 / (2 sum_i w_i) + a (r |w|_1 + (1 - r) |w|^2 / 2)`` for the penalty a
    and the `l1_ratio` r. Coordinate descent finds the columns in use and the signs of their weights, and the linear
    equations that then hold the weights, so that these do not depend on the order of the columns, on where the descent
    started or on whose it was. Without `exact` the weights are those of the descent where columns are few.

    celer descends where columns outnumber rows. Where its columns are not the only optimal ones scikit-learn, which
    prefers the first of equal columns, starts anew.
    """
    problem = Problem(X.astype(np.float64, copy=False), y, weight)
    wide = X.shape[0] < X.shape[1]
    if wide:
        near = celer_weights(problem, penalties, l1_ratio)
        if near is not None:
            found = optima(problem, penalties, l1_ratio, near, unique=True)
            settled = [one for one in found if one is not None]
            if len(settled) == len(found):
                return settled
    rough = _descent(problem, penalties, l1_ratio, *_ROUGH)
    if not exact and not wide:
        return rough
    found = optima(problem, penalties, l1_ratio, [one.weights for one in rough], unique=False)
    missing = [place for place, one in enumerate(found) if one is None]
    if missing:
        rest = [penalties[place] for place in missing]
        fine = _descent(problem, rest, l1_ratio, *_FINE)
        better = optima(problem, rest, l1_ratio, [one.weights for one in fine], unique=False)
        for place, optimum, solution in zip(missing, better, fine, strict=True):
            found[place] = optimum or solution
    return [one for one in found if one is not None]


def _descent(
    problem: Problem, penalties: Sequence[float], l1_ratio: float, tol: float, max_iter: int
) -> list[Solution]:
    """What scikit-learn's coordinate descent finds."""
    solve = _sparse_path if sp.issparse(problem.X) else _dense_path
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve(problem, penalties, l1_ratio, tol, max_iter)


def _dense_path(
    problem: Problem, penalties: Sequence[float], l1_ratio: float, tol: float, max_iter: int
) -> list[Solution]:
    rows, target = problem.rows, problem.target
    gram = rows.shape[1] < rows.shape[0] and rows.shape[1] <= _GRAM
    falling = np.asarray(penalties, dtype=np.float64)
    _, weights, gaps = enet_path(
        rows, target, l1_ratio=l1_ratio, alphas=falling, precompute=gram, copy_X=False, tol=tol, max_iter=max_iter
    )
    settled = gaps <= tol * (target @ target)
    return [
        problem.solution(one, bool(good)) for one, good in zip(np.ascontiguousarray(weights.T), settled, strict=True)
    ]


def _sparse_path(
    problem: Problem, penalties: Sequence[float], l1_ratio: float, tol: float, max_iter: int
) -> list[Solution]:
    model = Descent(l1_ratio=l1_ratio, warm_start=True, tol=tol, max_iter=max_iter)
    found = []
    for penalty in penalties:
        model.set_params(alpha=penalty).fit(problem.sparse_columns, problem.y, sample_weight=problem.weight)
        found.append(problem.solution(model.coef_.copy(), settled=bool(model.n_iter_ < max_iter)))
    return found
