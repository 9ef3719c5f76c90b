"""The two-class problem of the support vector machine, solved on a Gram matrix or on the columns.

Both ways minimise ``|w|^2 / 2 + sum_i c_i max(0, 1 - s_i f(x_i))`` with ``f(x) = w.x + b`` and signs s_i of +1
and -1: the first through libsvm, the second through liblinear.
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

#: How far from its margin a row may stay in a refined solution.
_EXACT = 1e-10

#: What is added to a mean diagonal of 1 so that the system of rows that repeat each other can be solved.
_JITTER = 1e-11

#: Multiplications that refining may take by default, and what a round counts for before it does any.
WORK, _ROUND = 1e10, 1e6

#: Share of the objective that liblinear's penalty on the intercept may have.
_INTERCEPT = 1e-3


@dataclass(frozen=True)
class Solution:
    """What a solver found.

    Attributes
    ----------
    weights : array
        Of the rows (Gram matrix) or of the columns.
    intercept : float
    steps : int
        Steps or passes taken.
    settled : bool
        Whether it is optimal within the tolerance.
    bounded : bool
        Whether a row's weight meets its cost. Not known, and taken for true, when solved on the columns.
    """

    weights: FloatArray
    intercept: float
    steps: int
    settled: bool
    bounded: bool = True


def solve_gram(
    gram: FloatArray, positive: Mask, cost: FloatArray, *, tol: float, max_iter: int | None, work: float = WORK
) -> Solution:
    """Solve on a Gram matrix: libsvm to `tol`, then on to the optimum itself.

    libsvm keeps the matrix in float32 and stops at `tol`, so that its answer depends a little on the order of the
    rows, on repeated rows and on rounding. What it leaves is put right by :func:`_refine`.

    Parameters
    ----------
    gram : array of shape (n_rows, n_rows)
        With a mean diagonal near 1, for the sake of float32.
    positive : bool array of shape (n_rows,)
        The rows with sign +1.
    cost : array of shape (n_rows,)
        c_i, above zero.
    tol : float
        Largest violation of the optimality conditions that counts as none.
    max_iter : int, optional
        Steps of libsvm; by default as many as take a few seconds.
    work : float
        Multiplications that refining may take; with few of them the solution may be no better than `tol`.

    Returns
    -------
    Solution
        Its `weights` are signed: f = gram @ weights + intercept.
    """
    steps = int(np.clip(1e9 / gram.shape[0], 1e5, 1e6)) if max_iter is None else max_iter
    # Outputs shrink with the cost: held to the same tolerance, small ones would be left to refining.
    solver = SVC(kernel="precomputed", C=1.0, tol=tol * min(1.0, cost.max()), max_iter=steps)
    # On few rows most of the time would go into checks of what is known to be right.
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
    """The solution at `cost`, if it is the one at ``cost / factor`` with all weights grown in proportion, else None.

    So it is while the cost is small against the margin; the conditions of optimality tell.
    """
    signs = np.where(positive, 1.0, -1.0)
    alpha = _within(factor * signs * before.weights, cost)
    gain, lose = _pulls(gram @ (signs * alpha), signs, cost, alpha)
    if gain.max() - lose.min() > _exact(alpha):
        return None
    return Solution(signs * alpha, float(gain.max() + lose.min()) / 2, 0, True, bool((alpha >= cost).any()))


def _within(alpha: FloatArray, cost: FloatArray) -> FloatArray:
    """Weights cut off at their cost; what misses it by rounding meets it, lest one row alone fix the intercept."""
    return np.where(alpha < cost * (1 - 1e-12), alpha, cost)


def _pulls(output: FloatArray, signs: FloatArray, cost: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where the intercept must be for a row to lie on its margin: rows that may gain weight, rows that may lose it.

    At the optimum none of the first wants it above what one of the second wants. Other rows are infinite.
    """
    wanted = signs - output
    gain = np.where((signs > 0) & (alpha < cost) | (signs < 0) & (alpha > 0), wanted, -np.inf)
    lose = np.where((signs > 0) & (alpha > 0) | (signs < 0) & (alpha < cost), wanted, np.inf)
    return gain, lose


def _exact(alpha: FloatArray) -> float:
    """The violation of the conditions of optimality that counts as none in a refined solution."""
    return _EXACT * max(1.0, 1e-4 * float(alpha.sum()))


def _refine(
    gram: FloatArray, signs: FloatArray, cost: FloatArray, alpha: FloatArray, work: float
) -> tuple[float, float]:
    """Active-set steps in float64 from a feasible `alpha`, which is changed in place, to the optimum.

    Every step improves the dual objective, so that stopping early does no harm. Returns the intercept and how much
    the optimality conditions are violated.
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
            # One row joins at a time: with two, a step could lead one of them out of its bounds at once.
            middle = wanted[rows].mean()
            rows = np.append(rows, up if gain[up] - middle > middle - lose[down] else down)
        work -= _ROUND + rows.size**3 / 3 + 2.0 * rows.size * gram.shape[0]
        if work < 0 or not _step(gram, signs, cost, alpha, output, rows):
            break
    return float(intercept), float(violation)


def _step(
    gram: FloatArray, signs: FloatArray, cost: FloatArray, alpha: FloatArray, output: FloatArray, rows: np.ndarray
) -> bool:
    """Move the weights of `rows` towards their common optimum until one meets a bound; False if there is no way."""
    # The signed weights sum to zero, so the last row gives what the others take: that leaves one row less to solve.
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

    liblinear penalises the intercept along with the weights. Dense columns are centred first, and the intercept is
    scaled up until its penalty is less than a thousandth of the objective, or as far as the passes allow; at the end
    it is set to the best one for the weights found. The order in which liblinear visits the rows is drawn with a
    fixed seed.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_columns)
    positive, cost, tol
        As for :func:`solve_gram`.
    max_iter : int, optional
        Passes over the rows; by default as many as take a few seconds.

    Returns
    -------
    Solution
        Its `weights` are those of the columns: f = X @ weights + intercept.
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
        # A larger scale is not taken from the start, for the passes needed grow with its square.
        growth = min(1.2 * math.sqrt(paid / _INTERCEPT), math.sqrt(0.3 * passes / used))
        if paid <= _INTERCEPT or growth < 1.2:
            break
        scale *= growth
    intercept = _best_intercept(output, signs, cost) - float(weights @ centre)
    return Solution(weights, intercept, used, used < passes)


def _best_intercept(output: FloatArray, signs: FloatArray, cost: FloatArray) -> float:
    """The intercept with the smallest loss for given outputs w.x.

    The loss is convex and piecewise linear in b. A row's corner lies at s - w.x and raises the slope by its cost;
    the slope starts at minus the cost of the positive rows, so that the best b is a weighted quantile of corners.
    """
    corners = signs - output
    order = np.argsort(corners, kind="stable")
    slope = np.cumsum(cost[order]) - cost[signs > 0].sum()
    flat = 1e-12 * cost.sum()
    first = int(np.searchsorted(slope, -flat))
    last = min(int(np.searchsorted(slope, flat, side="right")), corners.shape[0] - 1)
    return float((corners[order[first]] + corners[order[last]]) / 2)
