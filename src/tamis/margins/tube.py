"""The support vector machine for numbers, solved on a Gram matrix or on the columns.

Both minimise ``|w|^2 / 2 + sum_i c_i max(0, |y_i - f(x_i)| - epsilon)`` with ``f(x) = w.x + b``: the first with libsvm,
the second with liblinear.
"""

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR, LinearSVR

from tamis.base.types import FloatArray, Matrix
from tamis.margins.active_set import refine, within
from tamis.margins.kernel import squared_norms
from tamis.margins.solve import WORK, Solution, best_intercept

#: Length of the intercept's column, in units of a row's: liblinear penalises it by the square of the inverse.
_INTERCEPT = 3.0


def solve_tube(
    gram: FloatArray, y: FloatArray, cost: FloatArray, epsilon: float, *, tol: float, max_iter: int | None
) -> Solution:
    """Solve on a Gram matrix, which is used up: libsvm to `tol`, then on to the optimum itself.

    The targets are near 1 in size. The rest is as for :func:`~tamis.margins.solve.solve_gram`.
    """
    # Signed weights sum to zero, so centring changes the intercept only; it saves digits in libsvm's float32.
    mean = gram.mean(axis=0)
    gram -= mean
    gram -= mean[:, None] - mean.mean()
    scale = float(gram.diagonal().mean())
    scale = scale if scale > 0 else 1.0
    gram /= scale
    cost = cost * scale
    steps = int(np.clip(1e9 / gram.shape[0], 1e5, 1e6)) if max_iter is None else max_iter
    solver = SVR(kernel="precomputed", C=1.0, epsilon=epsilon, tol=tol * min(1.0, cost.max()), max_iter=steps)
    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore", ConvergenceWarning)
        solver.fit(gram, y, sample_weight=cost)
    signed = np.zeros(y.size)
    signed[solver.support_] = solver.dual_coef_[0]
    signs, costs = np.repeat([1.0, -1.0], y.size), np.tile(cost, 2)
    alpha = within(np.maximum(signs * np.tile(signed, 2), 0.0), costs)
    targets = np.concatenate([y - epsilon, y + epsilon])
    intercept, violation = refine(gram, signs, targets, costs, alpha, WORK)
    weights = (alpha[: y.size] - alpha[y.size :]) / scale
    settled = bool(solver.fit_status_ == 0 or violation <= tol)
    return Solution(weights, intercept - float(mean @ weights), int(solver.n_iter_), settled)


def solve_tube_columns(
    X: Matrix, y: FloatArray, cost: FloatArray, epsilon: float, *, tol: float, max_iter: int | None
) -> Solution:
    """Solve a linear problem on the columns of `X`, by liblinear, with a fixed seed; the weights are the columns'.

    liblinear penalises the intercept a little; at the end the best one for the weights is computed.
    """
    stored = X.nnz if sp.issparse(X) else X.size
    passes = int(np.clip(2e10 / max(stored, 1), 1e3, 1e5)) if max_iter is None else max_iter
    X = X.astype(np.float64)
    centre = np.zeros(X.shape[1])
    if sp.issparse(X):
        # liblinear reads 32-bit column numbers only.
        X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    else:
        centre = X.mean(axis=0)
        X -= centre
    length = _INTERCEPT * float(np.sqrt(squared_norms(X).mean())) or 1.0
    solver = LinearSVR(
        epsilon=epsilon,
        C=1.0,
        loss="epsilon_insensitive",
        dual=True,
        intercept_scaling=length,
        tol=tol / 10,
        max_iter=passes,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solver.fit(X, y, sample_weight=cost)
    rest = y - X @ solver.coef_
    corners = np.concatenate([rest - epsilon, rest + epsilon])
    intercept = best_intercept(corners, np.tile(cost, 2), float(cost.sum()))
    used = int(solver.n_iter_)
    return Solution(solver.coef_, intercept - float(solver.coef_ @ centre), used, used < passes)
