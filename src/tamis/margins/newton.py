"""The two-class problem of the support vector machine on dense columns, by Newton steps from a similar solution.

It minimises ``|w|^2 / 2 + sum_i c_i max(0, 1 - s_i f(x_i))`` with ``f(x) = w.x + b``, as :mod:`tamis.margins.solve`
does. At the optimum a row beyond its margin has the weight 0, one short of it has the weight c_i, and the free rows lie
on it. Once it is known which rows are which, the weights of the free rows follow from linear equations.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from tamis.base.types import FloatArray, Mask
from tamis.margins.active_set import exactness, pulls, within
from tamis.margins.signed_rows import SignedRows
from tamis.margins.solve import best_intercept

#: The first ridge of the proximal problems rounds the corner of the loss off on this share of the margin, or is this
#: share of the mean squared length of a row if that is more.
_WIDTH, _SHARE = 0.1, 0.01

#: The next ridge, as a multiple: after a problem that was solved, and after one that was not.
_SHARPER, _BLUNTER = 0.1, 3.0

#: Ridge of the equations of an exchange, so that equal rows can be free together.
_TINY = 1e-8

#: Newton steps of all proximal problems and of one, exchanges of rows, and corrections of the last one at most.
_ALL_STEPS, _STEPS, _EXCHANGES, _CORRECTIONS = 150, 30, 15, 8

#: Evaluations of a line search at most.
_TURNS = 10

#: Exchanges that move no fewer rows than one before, until the search gives up.
_PATIENCE = 3

#: Share of its first slope at which a line search ends.
_FLAT = 0.1

#: A margin is met, and a weight is at a bound, within this share of 1 and of the cost.
_MET = 1e-10


class Optimum(NamedTuple):
    """Weights of the columns, the intercept, and the weights of the rows between 0 and their cost."""

    weights: FloatArray
    intercept: float
    alpha: FloatArray


class _Point(NamedTuple):
    """Weights of the columns, the intercept, and the outputs."""

    weights: FloatArray
    intercept: float
    output: FloatArray


def solve_newton(X: FloatArray, rows: SignedRows, start: FloatArray | None = None) -> Optimum | None:
    """The optimum, to :func:`~tamis.margins.active_set.exactness`, or None if it is not found.

    From the weights of the rows in a similar problem, such as that before a few columns were dropped, rows are moved
    between the three sets until all are in the right one, which mostly takes few systems of equations. Where that
    fails, and without such weights, proximal problems lead there.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        With column means near 0.
    rows : SignedRows
        Of both signs and finite costs.
    start : array of shape (n_rows,), optional
        Weights of the rows, from 0 to their cost.

    Examples
    --------
    >>> rows = SignedRows.of(np.array([False, False, True, True]), np.ones(4))
    >>> found = solve_newton(np.array([[-2.0], [-1.0], [1.0], [2.0]]), rows)
    >>> found.weights, found.alpha
    (array([1.]), array([0. , 0.5, 0.5, 0. ]))
    """
    scale = float(np.einsum("ij,ij->", X, X)) / len(X)
    if scale == 0.0:
        return None
    if start is not None and (found := _exchange(X, rows, start, _TINY * scale)) is not None:
        return found
    alpha = np.zeros(len(X)) if start is None else start
    point = _settled(X, rows, (rows.signs * alpha) @ X)
    ridge, left = max(_WIDTH / float(rows.cost.max()), _SHARE * scale), _ALL_STEPS
    while left > 0:
        alpha, point, steps = _approach(X, rows, alpha, point, ridge)
        if (found := _exchange(X, rows, alpha, _TINY * scale)) is not None:
            return found
        left -= steps
        ridge *= _BLUNTER if steps == _STEPS else _SHARPER
    return None


class _Equations:
    """The signed weights x of free rows Z that put them on their margins but for a ridge.

    ``(Z Z' + ridge) x + b = right`` for a given sum of x. They are solved on the rows, of which the last is eliminated
    by the sum, or on the columns ``Z' x`` and b, whichever are fewer.
    """

    def __init__(self, free: FloatArray, ridge: float) -> None:
        self._free, self.ridge, self._by_rows = free, ridge, len(free) <= free.shape[1] + 1
        if self._by_rows:
            system = free @ free.T
            system.flat[:: len(free) + 1] += ridge
            self._last = system[-1].copy()
            system -= self._last
            system -= system[:, -1:].copy()
            system = system[:-1, :-1]
        else:
            n_columns = free.shape[1]
            system = np.empty((n_columns + 1, n_columns + 1))
            system[:-1, :-1] = free.T @ free
            system[-1, :-1] = system[:-1, -1] = free.sum(axis=0)
            system[-1, -1] = len(free)
            system.flat[: -1 : n_columns + 2] += ridge
        # On few rows the checks of `cho_factor` would take longer than LAPACK.
        self._factor, failed = dpotrf(system, lower=1)
        self.failed = failed != 0

    def solve(self, right: FloatArray, total: float) -> tuple[FloatArray, float]:
        """The weights, which sum to `total`, and the intercept b."""
        if not self._by_rows:
            sums = np.append(right @ self._free, float(right.sum()) - self.ridge * total)
            inner, _ = dpotrs(self._factor, sums, lower=1)
            return (right - self._free @ inner[:-1] - inner[-1]) / self.ridge, float(inner[-1])
        # All of the total on the last row, and then what the others take from it.
        right = right - total * self._last
        if len(right) == 1:
            return np.array([total]), float(right[0])
        inner, _ = dpotrs(self._factor, right[:-1] - right[-1], lower=1)
        found = np.append(inner, total - inner.sum())
        intercept = right[-1] - float(self._last[:-1] @ inner) + float(self._last[-1] * inner.sum())
        return found, float(intercept)


def _exchange(X: FloatArray, rows: SignedRows, alpha: FloatArray, ridge: float) -> Optimum | None:
    """Solve for the free rows, move all rows that are then in the wrong set, and solve again; None if that goes on."""
    signs, cost = rows
    top = alpha >= cost * (1 - _MET)
    free = (alpha > cost * _MET) & ~top
    least, patience = len(X), _PATIENCE
    for _ in range(_EXCHANGES):
        bound = np.where(top & ~free, signs * cost, 0.0)
        fixed = bound @ X
        if not free.any():
            free[_nearest(X, rows, fixed)] = True
            bound[free], fixed = 0.0, bound @ X
        part = X[free]
        equations = _Equations(part, ridge)
        if equations.failed:
            return None
        wanted, total = signs[free] - part @ fixed, -float(bound.sum())
        found, intercept = equations.solve(wanted, total)
        short = 1.0 - signs * (X @ (fixed + found @ part) + intercept)
        now_free = np.where(top, short < -_MET, short > _MET)
        now_top = top & ~now_free
        weights = signs[free] * found / cost[free]
        now_top[free] = weights >= 1 + _MET
        now_free[free] = (weights > -_MET) & ~now_top[free]
        moved = int(np.count_nonzero((now_free != free) | (now_top != top)))
        if moved == 0:
            return _corrected(X, rows, bound, free, equations, wanted, found)
        patience -= moved >= least
        if patience == 0:
            return None
        least = min(least, moved)
        free, top = now_free, now_top
    return None


def _corrected(
    X: FloatArray,
    rows: SignedRows,
    bound: FloatArray,
    free: Mask,
    equations: _Equations,
    wanted: FloatArray,
    found: FloatArray,
) -> Optimum | None:
    """The optimum without the ridge, if the rows are in the right sets."""
    signs, cost = rows
    total = -float(bound.sum())
    for _ in range(_CORRECTIONS):
        found, _ = equations.solve(wanted + equations.ridge * found, total)
        alpha = within(np.clip(signs * _signed(bound, free, found), 0.0, cost), cost)
        weights = (signs * alpha) @ X
        gain, lose = pulls(signs - X @ weights, signs, cost, alpha)
        low, high = float(gain.max()), float(lose.min())
        if low - high <= exactness(alpha):
            return Optimum(weights, (low + high) / 2, alpha)
    return None


def _approach(
    X: FloatArray, rows: SignedRows, alpha: FloatArray, point: _Point, ridge: float
) -> tuple[FloatArray, _Point, int]:
    """A step of the proximal method: maximise the dual less ``ridge / 2`` times the squared change of `alpha`.

    In the weights of the columns this rounds off the corner of the loss, so that Newton steps with a line search end at
    the optimum. Also returned is their number.
    """
    signs, cost = rows
    steps = 0
    raw = alpha + (1.0 - signs * point.output) / ridge
    while steps < _STEPS:
        steps += 1
        free = (raw > 0) & (raw < cost)
        bound = np.where(free, 0.0, signs * np.clip(raw, 0.0, cost))
        if not free.any():
            free[_nearest(X, rows, point.weights)] = True
            bound[free] = 0.0
        fixed, part = bound @ X, X[free]
        equations = _Equations(part, ridge)
        if equations.failed:
            break
        right = signs[free] * (1.0 + ridge * alpha[free]) - part @ fixed
        found, intercept = equations.solve(right, -float(bound.sum()))
        weights = fixed + found @ part
        towards = _Point(weights, intercept, X @ weights + intercept)
        length = _line_search(rows, alpha, point, towards, ridge)
        point = _Point(
            point.weights + length * (towards.weights - point.weights),
            point.intercept + length * (towards.intercept - point.intercept),
            point.output + length * (towards.output - point.output),
        )
        raw = alpha + (1.0 - signs * point.output) / ridge
        # With the same rows between their bounds the next step would lead to the same point.
        apart = np.abs(signs * np.clip(raw, 0.0, cost) - _signed(bound, free, found)).max()
        if length == 0.0 or (length == 1.0 and apart <= _MET * float(cost.max())):
            break
    return np.clip(raw, 0.0, cost), point, steps


def _line_search(rows: SignedRows, alpha: FloatArray, point: _Point, towards: _Point, ridge: float) -> float:
    """How far to go from a point towards another, and the size of the slope at the first one."""
    signs, cost = rows
    change, step = towards.weights - point.weights, towards.output - point.output
    along, squared = float(change @ point.weights), float(change @ change)
    open_weights, lower = alpha + (1.0 - signs * point.output) / ridge, signs * step / ridge

    def slope(length: float) -> float:
        # The derivative of the convex objective rises with the length.
        now = np.clip(open_weights - length * lower, 0.0, cost)
        return along + length * squared - float((signs * now) @ step)

    first, last = slope(0.0), slope(1.0)
    size = abs(first)
    if first >= 0.0:
        return 0.0
    if last <= _FLAT * size:
        return 1.0
    low, high, length = 0.0, 1.0, 1.0
    for turn in range(_TURNS):
        # Two secants, then a bisection.
        length = low - (high - low) * first / (last - first) if turn % 3 < 2 else (low + high) / 2
        here = slope(length)
        if abs(here) <= _FLAT * size:
            break
        if here > 0:
            high, last = length, here
        else:
            low, first = length, here
    return length


def _settled(X: FloatArray, rows: SignedRows, weights: FloatArray) -> _Point:
    """The weights of the columns with the best intercept."""
    output = X @ weights
    intercept = best_intercept(rows.signs - output, rows.cost, float(rows.cost[rows.signs > 0].sum()))
    return _Point(weights, intercept, output + intercept)


def _nearest(X: FloatArray, rows: SignedRows, weights: FloatArray) -> int:
    """The row nearest to its margin at the best intercept."""
    return int(np.abs(rows.signs - _settled(X, rows, weights).output).argmin())


def _signed(bound: FloatArray, free: Mask, found: FloatArray) -> FloatArray:
    """The signed weights of all rows."""
    signed = bound.copy()
    signed[free] = found
    return signed
