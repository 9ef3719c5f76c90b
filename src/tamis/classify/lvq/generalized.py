"""GLVQ: prototypes that minimise a smooth cost of the relative distances of all rows."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils.extmath import safe_sparse_dot

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.classify.lvq.beginning import Prototypes
from tamis.margins.kernel import squared_norms


class Descent(NamedTuple):
    """Where a descent ended."""

    points: FloatArray
    cost: float
    steps: int
    settled: bool


def squared_distances(X: Matrix, norms: FloatArray, points: FloatArray) -> FloatArray:
    """Squared distances of rows, with their squared lengths `norms`, to prototypes."""
    products = safe_sparse_dot(X, points.T, dense_output=True)
    return np.maximum(norms[:, None] - 2.0 * products + np.einsum("kj,kj->k", points, points), 0.0)


def cost_and_slope(
    X: Matrix, norms: FloatArray, y: Codes, prototypes: Prototypes, beta: float
) -> tuple[float, FloatArray]:
    """The mean over rows of the logistic function of ``beta mu``, and its gradient in the prototypes.

    mu = (d+ - d-) / (d+ + d-), with the squared distances to the nearest prototype of the row's class and of others.
    """
    points, classes = prototypes
    apart = squared_distances(X, norms, points)
    own = classes == y[:, None]
    each = np.arange(y.size)
    right = np.where(own, apart, np.inf).argmin(axis=1)
    wrong = np.where(own, np.inf, apart).argmin(axis=1)
    to_right, to_wrong = apart[each, right], apart[each, wrong]
    total = np.maximum(to_right + to_wrong, np.finfo(np.float64).tiny)
    value = expit(beta * (to_right - to_wrong) / total)
    outer = 2.0 * beta * value * (1.0 - value) / total / y.size
    # Derivatives of the cost by the squared distances.
    by_distance = np.zeros_like(apart)
    by_distance[each, right] = outer * to_wrong / total
    by_distance[each, wrong] = -outer * to_right / total
    pulled = (X.T @ by_distance).T if sp.issparse(X) else by_distance.T @ X
    slope = 2.0 * (by_distance.sum(axis=0)[:, None] * points - pulled)
    return float(value.mean()), np.asarray(slope)


def descend(X: Matrix, y: Codes, prototypes: Prototypes, beta: float, max_iter: int) -> Descent:
    """Prototypes of least cost, from given ones, by L-BFGS."""
    norms, shape = squared_norms(X), prototypes.points.shape
    # In units of the rows' spread: the descent ends at a slope that depends on the units of its variables.
    centre = np.asarray(X.mean(axis=0)).ravel()
    unit = float(np.sqrt(max(norms.mean() - centre @ centre, 1e-12 * norms.mean()))) or 1.0

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        here = Prototypes(unit * flat.reshape(shape), prototypes.classes)
        cost, slope = cost_and_slope(X, norms, y, here, beta)
        return cost, unit * slope.ravel()

    options = {"maxiter": max_iter, "gtol": 1e-6, "ftol": 1e-10}
    found = minimize(objective, prototypes.points.ravel() / unit, jac=True, method="L-BFGS-B", options=options)
    return Descent(unit * found.x.reshape(shape), float(found.fun), int(found.nit), found.nit < max_iter)
