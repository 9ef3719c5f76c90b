"""Solutions of the elastic net along falling penalties, by scikit-learn's coordinate descent."""

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet as Descent
from sklearn.linear_model import enet_path

from tamis.base.types import FloatArray, Matrix

#: Most columns in use for which the optimum is computed to the last digit.
_EXACT = 2_000

#: Most columns whose products are computed beforehand, where there are more rows.
_GRAM = 2_000

#: Largest violation of the optimality conditions, in units of the penalty.
_VIOLATION = 1e-3


class Solution(NamedTuple):
    """Weights of the columns, the intercept, and whether they are optimal."""

    weights: FloatArray
    intercept: float
    settled: bool


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
    and the `l1_ratio` r. With `exact` the columns in use and the signs of their weights are taken from coordinate
    descent and the weights from the linear equations that then hold, so that they do not depend on the order of the
    columns or on where the descent started.
    """
    X = X.astype(np.float64, copy=False)
    options = {"tol": 1e-7, "max_iter": 20_000} if exact else {"tol": 1e-4, "max_iter": 1_000}
    solve = _sparse_path if sp.issparse(X) else _dense_path
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = solve(X, y, weight, penalties, l1_ratio, options)
    if not exact:
        return found
    return [_refined(X, y, weight, a, l1_ratio, near) for a, near in zip(penalties, found, strict=True)]


def _dense_path(
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    penalties: Sequence[float],
    l1_ratio: float,
    options: dict[str, Any],
) -> list[Solution]:
    share = weight / weight.sum()
    means, mean = share @ X, float(share @ y)
    # scikit-learn divides the loss by the number of rows.
    root = np.sqrt(share * y.size)
    rows = np.asfortranarray((X - means) * root[:, None])
    target = (y - mean) * root
    gram = rows.shape[1] < rows.shape[0] and rows.shape[1] <= _GRAM
    falling = np.asarray(penalties, dtype=np.float64)
    _, weights, gaps = enet_path(rows, target, l1_ratio=l1_ratio, alphas=falling, precompute=gram, **options)
    settled = gaps <= options["tol"] * (target @ target)
    return [
        Solution(one, mean - float(means @ one), bool(good))
        for one, good in zip(np.ascontiguousarray(weights.T), settled, strict=True)
    ]


def _sparse_path(
    X: Matrix,
    y: FloatArray,
    weight: FloatArray,
    penalties: Sequence[float],
    l1_ratio: float,
    options: dict[str, Any],
) -> list[Solution]:
    X = sp.csc_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    model = Descent(l1_ratio=l1_ratio, warm_start=True, **options)
    found = []
    for penalty in penalties:
        model.set_params(alpha=penalty).fit(X, y, sample_weight=weight)
        settled = model.n_iter_ < options["max_iter"]
        found.append(Solution(model.coef_.copy(), float(model.intercept_), bool(settled)))
    return found


def _refined(X: Matrix, y: FloatArray, weight: FloatArray, penalty: float, l1_ratio: float, near: Solution) -> Solution:
    """The optimum with the columns and signs of a solution near it; that solution if they are not the optimum's."""
    used = np.flatnonzero(near.weights)
    most = _EXACT if l1_ratio < 1 else min(_EXACT, y.size)
    if not 0 < used.size <= most:
        return near
    share = weight / weight.sum()
    rows = X[:, used].toarray() if sp.issparse(X) else X[:, used]
    means, mean = share @ rows, float(share @ y)
    rows = rows - means
    system = (rows * share[:, None]).T @ rows
    system.flat[:: used.size + 1] += penalty * (1 - l1_ratio)
    signs = np.sign(near.weights[used])
    right = rows.T @ (share * (y - mean)) - penalty * l1_ratio * signs
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = scipy.linalg.solve(system, right, assume_a="pos")
    except (scipy.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
        return near
    weights = np.zeros(X.shape[1])
    weights[used] = values
    residual = share * (y - mean - rows @ values)
    pull = np.abs(np.asarray(X.T @ residual) - residual.sum() * np.asarray(X.T @ share))
    pull[used] = 0.0
    if (np.sign(values) != signs).any() or pull.max() > penalty * l1_ratio * (1 + _VIOLATION):
        return near
    return Solution(weights, mean - float(means @ values), settled=True)
