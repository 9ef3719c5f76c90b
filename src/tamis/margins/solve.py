"""The two-class problem of the support vector machine, solved on a Gram matrix or on the columns.

Both minimise ``|w|^2 / 2 + sum_i c_i max(0, 1 - s_i f(x_i))`` with ``f(x) = w.x + b`` and signs s_i of +1 and -1: the
first with libsvm, the second with liblinear. Without an intercept, b = 0, the first is a quadratic problem over a box.
"""

import math
import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from tamis.base.types import FloatArray, Mask, Matrix
from tamis.kernels.hinge_dual import hinge_rounds
from tamis.margins.active_set import exactness, pulls, refine, within
from tamis.margins.box import box_minimum
from tamis.margins.kernel import squared_norms

#: Multiplications that refining may take by default.
WORK = 1e10

#: Share of the objective that liblinear's penalty on the intercept may have.
_INTERCEPT = 1e-3


#: Added to a mean diagonal of 1 so that systems with repeated rows can be solved.
_JITTER = 1e-11


@dataclass(frozen=True)
class Solution:
    """Weights of the rows (Gram matrix) or of the columns, the intercept, and the steps or passes taken.

    `settled` is True if the solution is optimal within the tolerance, `bounded` if a row's weight reaches its cost,
    which is unknown and assumed true when solved on the columns.
    """

    weights: FloatArray
    intercept: float
    steps: int
    settled: bool
    bounded: bool = True


def solve_gram(
    gram: FloatArray, positive: Mask, cost: FloatArray, *, tol: float, max_iter: int | None, work: float = WORK
) -> Solution:
    """Solve on a Gram matrix with a mean diagonal near 1: libsvm to `tol`, then on to the optimum itself.

    libsvm stores the matrix in float32 and stops at `tol`, so that its solution depends a little on the order of the
    rows, on repeated rows and on rounding. :func:`~tamis.margins.active_set.refine` removes that, with `work`
    multiplications at most. Rows in `positive` have the sign +1, and `cost` holds c_i > 0. libsvm takes `max_iter`
    steps at most, by default as many as take a few seconds. The weights of the solution are signed: f = gram @ weights
    + intercept.
    """
    steps = int(np.clip(1e9 / gram.shape[0], 1e5, 1e6)) if max_iter is None else max_iter
    # Outputs shrink with the cost, and the tolerance with them, so that little is left to refining.
    solver = SVC(kernel="precomputed", C=1.0, tol=tol * min(1.0, cost.max()), max_iter=steps)
    # On few rows validation would take most of the time.
    with warnings.catch_warnings(), config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore", ConvergenceWarning)
        solver.fit(gram, positive, sample_weight=cost)
    alpha = np.zeros(gram.shape[0])
    alpha[solver.support_] = np.abs(solver.dual_coef_[0])
    alpha = within(alpha, cost)
    signs = np.where(positive, 1.0, -1.0)
    intercept, violation = refine(gram, signs, signs, cost, alpha, work)
    settled = bool(solver.fit_status_ == 0 or violation <= tol)
    return Solution(signs * alpha, intercept, int(solver.n_iter_[0]), settled, bool((alpha >= cost).any()))


def solve_gram_through_origin(
    gram: FloatArray, positive: Mask, cost: FloatArray, *, tol: float, max_iter: int | None, work: float = WORK
) -> Solution:
    """The same without an intercept.

    Rounds along one weight after another, `max_iter` of them at most, guess which weights are at their bounds; block
    pivoting goes on to the optimum where that takes no more than `work` multiplications a step.
    """
    signs = np.where(positive, 1.0, -1.0)
    alpha, output = np.zeros(signs.size), np.zeros(signs.size)
    rounds = int(np.clip(2e9 / signs.size**2, 50, 1e5)) if max_iter is None else max_iter
    hinge_rounds(gram, signs, cost, rounds, min(tol, 1e-4), alpha, output)
    alpha = within(alpha, cost)
    side = (alpha >= cost).astype(np.intp) - (alpha <= 0)
    violation = _slope_left(gram, signs, cost, alpha)
    if violation > exactness(alpha) and np.count_nonzero(side == 0) ** 3 <= 3 * work:
        system = gram * signs * signs[:, None]
        system.flat[:: signs.size + 1] += _JITTER
        best = box_minimum(system, np.full(signs.size, -1.0), np.zeros(signs.size), cost, side)
        if best is not None and (left := _slope_left(gram, signs, cost, best)) < violation:
            alpha, violation = within(best, cost), left
    return Solution(signs * alpha, 0.0, rounds, violation <= tol, bool((alpha >= cost).any()))


def _slope_left(gram: FloatArray, signs: FloatArray, cost: FloatArray, alpha: FloatArray) -> float:
    """The largest slope that a weight could still follow within its bounds."""
    slope = signs * (gram @ (signs * alpha)) - 1.0
    free = np.where(slope > 0, alpha > 0, alpha < cost)
    return float(np.abs(slope[free]).max(initial=0.0))


def grow(gram: FloatArray, positive: Mask, cost: FloatArray, before: Solution, factor: float) -> Solution | None:
    """The solution at `cost`, if it is `factor` times the one at ``cost / factor``, else None.

    This holds while the cost is small against the margin; the optimality conditions decide.
    """
    signs = np.where(positive, 1.0, -1.0)
    alpha = within(factor * signs * before.weights, cost)
    gain, lose = pulls(signs - gram @ (signs * alpha), signs, cost, alpha)
    if gain.max() - lose.min() > exactness(alpha):
        return None
    return Solution(signs * alpha, float(gain.max() + lose.min()) / 2, 0, True, bool((alpha >= cost).any()))


def solve_columns(
    X: Matrix, positive: Mask, cost: FloatArray, *, tol: float, max_iter: int | None, intercept: bool = True
) -> Solution:
    """Solve a linear problem on the columns of `X`, by liblinear; without `intercept` it is 0.

    liblinear penalises the intercept. So dense columns are centred, and the intercept is scaled up until its penalty is
    below a thousandth of the objective, or as far as the passes allow; at the end the best intercept for the weights is
    computed. liblinear visits the rows in an order drawn with a fixed seed. `X` is an array or CSR matrix; `max_iter`
    passes over the rows are by default as many as take a few seconds. The weights are those of the columns:
    f = X @ weights + intercept. Other parameters are those of :func:`solve_gram`.
    """
    stored = X.nnz if sp.issparse(X) else X.size
    passes = int(np.clip(2e10 / max(stored, 1), 1e3, 1e5)) if max_iter is None else max_iter
    X = X.astype(np.float64)
    centre = np.zeros(X.shape[1])
    if sp.issparse(X):
        # liblinear reads 32-bit column numbers only.
        X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    elif intercept:
        centre = X.mean(axis=0)
        X -= centre
    signs = np.where(positive, 1.0, -1.0)
    scale = float(np.sqrt(squared_norms(X).mean())) or 1.0
    solver = LinearSVC(
        loss="hinge", dual=True, C=1.0, tol=tol, fit_intercept=intercept, max_iter=passes, random_state=0
    )
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solver.set_params(intercept_scaling=scale).fit(X, positive, sample_weight=cost)
        weights, used, output = solver.coef_[0], int(solver.n_iter_), X @ solver.coef_[0]
        if not intercept:
            return Solution(weights, 0.0, used, used < passes)
        slack = np.maximum(0.0, 1.0 - signs * (output + solver.intercept_))
        paid = (solver.intercept_[0] / scale) ** 2 / (weights @ weights + 2.0 * cost @ slack)
        # The scale starts small, because the passes needed grow with its square.
        growth = min(1.2 * math.sqrt(paid / _INTERCEPT), math.sqrt(0.3 * passes / used))
        if paid <= _INTERCEPT or growth < 1.2:
            break
        scale *= growth
    best = best_intercept(signs - output, cost, float(cost[signs > 0].sum())) - float(weights @ centre)
    return Solution(weights, best, used, used < passes)


def best_intercept(corners: FloatArray, rise: FloatArray, start: float) -> float:
    """The intercept with the smallest loss for given outputs w.x.

    The loss is convex and piecewise linear in b: its slope begins at minus `start` and rises by `rise` at the corners.
    So the best b is a weighted quantile of the corners. The hinge loss of a row of sign s has its corner at s - w.x.
    """
    order = np.argsort(corners, kind="stable")
    slope = np.cumsum(rise[order]) - start
    flat = 1e-12 * rise.sum()
    first = int(np.searchsorted(slope, -flat))
    last = min(int(np.searchsorted(slope, flat, side="right")), corners.shape[0] - 1)
    return float((corners[order[first]] + corners[order[last]]) / 2)
