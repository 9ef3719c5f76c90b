"""The two-class problem of the support vector machine, solved on a Gram matrix or on the columns.

Both minimise ``|w|^2 / 2 + sum_i c_i max(0, 1 - s_i f(x_i))`` with ``f(x) = w.x + b`` and signs s_i of +1 and -1: the
first with libsvm, the second with liblinear.
"""

import math
import warnings
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from tamis.base.types import FloatArray, Mask, Matrix
from tamis.margins.kernel import squared_norms

#: Violation of the optimality conditions that a refined solution may have.
_EXACT = 1e-10

#: Added to a mean diagonal of 1 so that systems with repeated rows can be solved.
_JITTER = 1e-11

#: Multiplications that refining may take by default, and the fixed cost of a round.
WORK, _ROUND = 1e10, 1e6

#: Share of the objective that liblinear's penalty on the intercept may have.
_INTERCEPT = 1e-3


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
    rows, on repeated rows and on rounding. :func:`_refine` removes that, with `work` multiplications at most. Rows in
    `positive` have the sign +1, and `cost` holds c_i > 0. libsvm takes `max_iter` steps at most, by default as many as
    take a few seconds. The weights of the solution are signed: f = gram @ weights + intercept.
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
    alpha = _within(alpha, cost)
    signs = np.where(positive, 1.0, -1.0)
    intercept, violation = _refine(gram, signs, cost, alpha, work)
    settled = bool(solver.fit_status_ == 0 or violation <= tol)
    return Solution(signs * alpha, intercept, int(solver.n_iter_[0]), settled, bool((alpha >= cost).any()))


def grow(gram: FloatArray, positive: Mask, cost: FloatArray, before: Solution, factor: float) -> Solution | None:
    """The solution at `cost`, if it is `factor` times the one at ``cost / factor``, else None.

    This holds while the cost is small against the margin; the optimality conditions decide.
    """
    signs = np.where(positive, 1.0, -1.0)
    alpha = _within(factor * signs * before.weights, cost)
    gain, lose = _pulls(gram @ (signs * alpha), signs, cost, alpha)
    if gain.max() - lose.min() > _exact(alpha):
        return None
    return Solution(signs * alpha, float(gain.max() + lose.min()) / 2, 0, True, bool((alpha >= cost).any()))


def _within(alpha: FloatArray, cost: FloatArray) -> FloatArray:
    """Weights clipped at their cost; rounding must not leave a row just below it that alone fixes the intercept."""
    return np.where(alpha < cost * (1 - 1e-12), alpha, cost)


def _pulls(output: FloatArray, signs: FloatArray, cost: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The intercept that puts each row on its margin: for rows that may gain weight, and for rows that may lose it.

    At the optimum none of the first exceeds any of the second. Other rows are infinite.
    """
    wanted = signs - output
    gain = np.where((signs > 0) & (alpha < cost) | (signs < 0) & (alpha > 0), wanted, -np.inf)
    lose = np.where((signs > 0) & (alpha > 0) | (signs < 0) & (alpha < cost), wanted, np.inf)
    return gain, lose


def _exact(alpha: FloatArray) -> float:
    """Tolerance of the optimality conditions in a refined solution."""
    return _EXACT * max(1.0, 1e-4 * float(alpha.sum()))


def _refine(
    gram: FloatArray, signs: FloatArray, cost: FloatArray, alpha: FloatArray, work: float
) -> tuple[float, float]:
    """Active-set steps in float64 from a feasible `alpha`, changed in place; returns the intercept and the violation.

    Every step improves the dual objective, so that stopping early does no harm.
    """
    output = gram @ (signs * alpha)
    while True:
        wanted = signs - output
        gain, lose = _pulls(output, signs, cost, alpha)
        up, down = int(gain.argmax()), int(lose.argmin())
        intercept, violation = (gain[up] + lose[down]) / 2, gain[up] - lose[down]
        exact = _exact(alpha)
        if violation <= exact:
            break
        rows = np.flatnonzero((alpha > 0) & (alpha < cost))
        if rows.size == 0:
            rows = np.array([up, down])
        elif np.ptp(wanted[rows]) <= exact:
            # One row joins at a time: with two, one of them could leave its bounds at once.
            middle = wanted[rows].mean()
            rows = np.append(rows, up if gain[up] - middle > middle - lose[down] else down)
        work -= _ROUND + rows.size**3 / 3 + 2.0 * rows.size * gram.shape[0]
        if work < 0 or not _step(gram, signs, cost, alpha, output, rows):
            break
    return float(intercept), float(violation)


def _step(
    gram: FloatArray, signs: FloatArray, cost: FloatArray, alpha: FloatArray, output: FloatArray, rows: np.ndarray
) -> bool:
    """Move the weights of `rows` towards their joint optimum until one meets a bound; False if that fails."""
    # The signed weights sum to zero, so the last row is eliminated from the system.
    system = gram[np.ix_(rows, rows)]
    system -= system[-1].copy()
    system -= system[:, -1:].copy()
    system = system[:-1, :-1]
    system.flat[:: rows.size] += _JITTER
    wanted = signs[rows] - output[rows]
    try:
        factor = scipy.linalg.cho_factor(system, lower=True)
    except scipy.linalg.LinAlgError:
        return False  # the sigmoid kernel need not be positive definite
    direction = scipy.linalg.cho_solve(factor, wanted[:-1] - wanted[-1])
    direction = np.append(direction, -direction.sum())
    change = signs[rows] * direction
    room = np.where(change > 0, cost[rows] - alpha[rows], alpha[rows])
    limit = np.divide(room, np.abs(change), out=np.full(rows.size, np.inf), where=change != 0)
    length = min(1.0, limit.min())
    alpha[rows] = np.clip(alpha[rows] + length * change, 0.0, cost[rows])
    stop = limit <= length
    alpha[rows[stop]] = np.where(change[stop] > 0, cost[rows[stop]], 0.0)
    output += length * direction @ gram[rows]
    return True


def solve_columns(X: Matrix, positive: Mask, cost: FloatArray, *, tol: float, max_iter: int | None) -> Solution:
    """Solve a linear problem on the columns of `X`, by liblinear.

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
    else:
        centre = X.mean(axis=0)
        X -= centre
    signs = np.where(positive, 1.0, -1.0)
    scale = float(np.sqrt(squared_norms(X).mean())) or 1.0
    solver = LinearSVC(loss="hinge", dual=True, C=1.0, tol=tol, max_iter=passes, random_state=0)
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solver.set_params(intercept_scaling=scale).fit(X, positive, sample_weight=cost)
        weights, used, output = solver.coef_[0], int(solver.n_iter_), X @ solver.coef_[0]
        slack = np.maximum(0.0, 1.0 - signs * (output + solver.intercept_))
        paid = (solver.intercept_[0] / scale) ** 2 / (weights @ weights + 2.0 * cost @ slack)
        # The scale starts small, because the passes needed grow with its square.
        growth = min(1.2 * math.sqrt(paid / _INTERCEPT), math.sqrt(0.3 * passes / used))
        if paid <= _INTERCEPT or growth < 1.2:
            break
        scale *= growth
    intercept = _best_intercept(output, signs, cost) - float(weights @ centre)
    return Solution(weights, intercept, used, used < passes)


def _best_intercept(output: FloatArray, signs: FloatArray, cost: FloatArray) -> float:
    """The intercept with the smallest loss for given outputs w.x.

    The loss is convex and piecewise linear in b. A row has a corner at s - w.x, where the slope rises by its cost; the
    slope starts at minus the cost of the positive rows. So the best b is a weighted quantile of the corners.
    """
    corners = signs - output
    order = np.argsort(corners, kind="stable")
    slope = np.cumsum(cost[order]) - cost[signs > 0].sum()
    flat = 1e-12 * cost.sum()
    first = int(np.searchsorted(slope, -flat))
    last = min(int(np.searchsorted(slope, flat, side="right")), corners.shape[0] - 1)
    return float((corners[order[first]] + corners[order[last]]) / 2)
