"""The optimum of a convex network: a sum of losses of margins plus a quadratic penalty, over a box.

The objective, over the coefficients a, each within its interval, is

    sum_i w_i L(m_i) + a'Pa,    m_i = sum_j a_j b_ji,

with b_ji the value of basis function j in row i, times the row's sign. As in Kovács and Kocsor, the first round takes
projected Newton steps along one coefficient at a time. Such rounds are slow where basis functions are alike. So Newton
steps of all coefficients follow, to the minimum of the quadratic model within the box, and a round along single
coefficients again where these stall. The same optimum then takes a few rounds instead of hundreds.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray
from tamis.kernels.convex import coordinate_sweep, line_minima, loss_terms
from tamis.margins.box import box_minimum

#: Numbers of the losses in the kernels.
LOSSES = {"logistic": 0, "squared_hinge": 1, "exponential": 2}

#: Damping of a curvature, as a share of its mean diagonal: the first handles repeated basis functions.
_DAMPING = (1e-12, 1e-9, 1e-6, 1e-3)

#: Share of the slope that a joint step may leave.
_LEFT = 1e-2

#: Relative decrease of the objective below which a round has stalled.
STILL = 1e-14

#: Halvings of start coefficients whose loss overflows.
_HALVINGS = 100

#: Slopes up to this multiple of the tolerance count as rounding when the rounds have stalled.
ROUNDED = 1e3


@dataclass(frozen=True)
class Objective:
    """The function to minimise; `loss` is one of :data:`LOSSES`.

    `values` (n_basis, n_rows) holds each basis function in each row, times the row's sign; `penalty` is the matrix P,
    or one row with its diagonal; `low` and `high` are the ends of the intervals.
    """

    loss: str
    values: FloatArray
    weight: FloatArray
    penalty: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def n_basis(self) -> int:
        return self.low.size

    @property
    def kind(self) -> int:
        """The number of the loss."""
        return LOSSES[self.loss]

    @property
    def diagonal(self) -> bool:
        """Whether the penalty is diagonal."""
        return bool(self.penalty.shape[0] < self.n_basis)

    def lines(self, chosen: Codes) -> FloatArray:
        """Values of some basis functions, a line for each."""
        return self.values[chosen]

    def hold(self, chosen: Codes) -> None:
        """Keep the values of some basis functions in memory."""

    @property
    def width(self) -> int:
        """How many candidates of a search are looked at together."""
        return self.n_basis

    def block(self, some: Codes, others: Codes) -> FloatArray:
        """The penalty's matrix between two sets of basis functions."""
        if not self.diagonal:
            return self.penalty[np.ix_(some, others)]
        return np.where(some[:, None] == others, self.penalty[0, others], 0.0)

    def pull(self, coef: FloatArray) -> FloatArray:
        """P times the coefficients; the penalty's gradient is twice that."""
        return self.penalty[0] * coef if self.diagonal else self.penalty @ coef

    def own(self, some: Codes) -> FloatArray:
        """The diagonal of the penalty's matrix for some basis functions."""
        return self.penalty[0, some] if self.diagonal else self.penalty[some, some]

    def sums(self, margins: FloatArray) -> FloatArray:
        """Summed losses of each row of a table of margins."""
        value, none = np.empty(margins.shape[0]), np.empty((0, 0))
        loss_terms(np.ascontiguousarray(margins), self.weight, self.kind, value, none, none)
        return value

    @cached_property
    def steepest(self) -> float:
        """The largest slope of a coefficient at margins of 0 if all rows had the same sign of effect."""
        _, first, _ = self.at(np.zeros(self.weight.size))
        largest = float((np.abs(self.values) @ np.abs(first)).max(initial=0.0))
        return max(np.finfo(np.float64).tiny, largest)

    def sweep(self, at: "Point", chosen: Codes, enough: float) -> None:
        """One round of steps along single coefficients, which skips slopes up to `enough`."""
        fixed = self.values, self.weight, self.penalty, self.low, self.high
        coordinate_sweep(*fixed, chosen, self.kind, enough, at.coef, at.margins, at.first, at.second)

    def at(self, margins: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Summed loss at margins, and the weighted first and second derivatives of the rows."""
        value, first, second = np.empty(1), np.empty((1, margins.size)), np.empty((1, margins.size))
        loss_terms(margins[None], self.weight, self.kind, value, first, second)
        return float(value[0]), first[0], second[0]


@dataclass
class Point:
    """Coefficients with their margins, the weighted derivatives of the loss there, and the value of the objective.

    `rounds` led here; `settled` is True if the slopes are within the tolerance.
    """

    coef: FloatArray
    margins: FloatArray
    first: FloatArray
    second: FloatArray
    value: float
    rounds: int = 0
    settled: bool = False

    @classmethod
    def of(cls, objective: Objective, coef: FloatArray) -> "Point":
        used = np.flatnonzero(coef)
        margins = coef[used] @ objective.lines(used)
        loss, first, second = objective.at(margins)
        return cls(coef, margins, first, second, loss + float(coef @ objective.pull(coef)))

    def gradient(self, objective: Objective, chosen: Codes) -> FloatArray:
        """Slopes along the chosen coefficients."""
        return np.asarray(objective.lines(chosen) @ self.first + 2.0 * objective.pull(self.coef)[chosen])

    def sides(self, objective: Objective, chosen: Codes) -> Codes:
        """-1 and 1 for coefficients held at the low and the high end by their slope, 0 for free ones."""
        slope, coef = self.gradient(objective, chosen), self.coef[chosen]
        held = (slope < 0) & (coef >= objective.high[chosen])
        return np.where((slope > 0) & (coef <= objective.low[chosen]), -1, held.astype(np.intp))

    def steepness(self, objective: Objective, chosen: Codes) -> float:
        """The largest slope of a free coefficient."""
        free = chosen[self.sides(objective, chosen) == 0]
        return float(np.abs(self.gradient(objective, free)).max(initial=0.0))


def minimise(
    objective: Objective,
    chosen: Codes | None = None,
    start: FloatArray | None = None,
    *,
    tol: float = 1e-10,
    max_iter: int = 100,
) -> Point:
    """The optimum over the chosen coefficients (by default all), the others being 0.

    `start` holds initial coefficients, by default 0, which are clipped to the box. `tol` is the largest slope at the
    optimum, as a share of ``Objective.steepest``; `max_iter` is the most rounds.

    Examples
    --------
    >>> ridge = Objective("squared_hinge", np.eye(2), np.ones(2), np.ones((1, 2)), np.full(2, -9.0), np.full(2, 9.0))
    >>> minimise(ridge).coef
    array([0.5, 0.5])
    """
    chosen = np.arange(objective.n_basis) if chosen is None else chosen
    coef = np.zeros(objective.n_basis) if start is None else start.copy()
    coef[chosen] = np.clip(coef[chosen], objective.low[chosen], objective.high[chosen])
    at = _finite(objective, chosen, coef)
    enough = tol * objective.steepest
    rounds, sweep = 0, True
    while not (settled := at.steepness(objective, chosen) <= enough) and rounds < max_iter:
        before, rounds = at.value, rounds + 1
        if sweep:
            objective.sweep(at, chosen, 0.1 * enough)
            at = Point.of(objective, at.coef)
        at = _joint(objective, at, chosen)
        still = before - at.value <= STILL * abs(before)
        if still and sweep:
            settled = at.steepness(objective, chosen) <= ROUNDED * enough
            break
        sweep = still
    at.rounds, at.settled = rounds, settled
    return at


def _finite(objective: Objective, chosen: Codes, coef: FloatArray) -> Point:
    """The point with these coefficients, halved towards those next to 0 while the loss overflows."""
    at = Point.of(objective, coef)
    nearest = np.clip(np.zeros(chosen.size), objective.low[chosen], objective.high[chosen])
    for _ in range(_HALVINGS):
        if np.isfinite(at.value) and np.isfinite(at.second).all():
            return at
        coef = coef.copy()
        coef[chosen] = 0.5 * (coef[chosen] + nearest)
        at = Point.of(objective, coef)
    raise TamisError("convex_net: the loss is too large to be held; scale the columns, or move 'low' and 'high' to 0")


def curvature(objective: Objective, at: Point, some: Codes) -> FloatArray:
    """Second derivatives along some coefficients."""
    # BLAS computes a matrix times its own transpose in half the time.
    values = objective.lines(some) * np.sqrt(at.second)
    system = values @ values.T
    system += 2.0 * objective.block(some, some)
    return system


def factored(system: FloatArray) -> tuple[FloatArray, bool]:
    """Cholesky factor of second derivatives, which are overwritten, with the least damping that works."""
    mean = (float(system.diagonal().mean()) or 1.0) if system.size else 0.0
    own = system.diagonal().copy()
    for damping in _DAMPING:
        np.fill_diagonal(system, own + mean * damping)
        try:
            factor: tuple[FloatArray, bool] = scipy.linalg.cho_factor(system, lower=True, check_finite=False)
            return factor
        except scipy.linalg.LinAlgError:
            continue
    raise FloatingPointError("the second derivatives of a convex objective are not positive")


def _joint(objective: Objective, at: Point, chosen: Codes) -> Point:
    """The point after a Newton step of all coefficients, within the box."""
    coef, low, high = at.coef[chosen], objective.low[chosen], objective.high[chosen]
    slopes, system = at.gradient(objective, chosen), curvature(objective, at, chosen)
    target = damped_minimum(system, slopes, coef, low, high, at.sides(objective, chosen))
    move = np.zeros(objective.n_basis)
    move[chosen] = target - coef
    if not slopes @ move[chosen] < 0:
        return at
    # The target lies in the box; the step may exceed it only without bounds.
    reach = 1.0 if (np.isfinite(low) | np.isfinite(high)).any() else np.inf
    pulled = objective.pull(move)
    terms = np.array([[2.0 * pulled @ at.coef], [pulled @ move], [0.0], [reach]])
    (step,), _ = lowest(objective, at, (move[chosen] @ objective.lines(chosen))[None], terms, _LEFT)
    there = at.coef.copy()
    there[chosen] = np.clip(target if step == 1.0 else coef + step * move[chosen], low, high)
    return Point.of(objective, there)


def damped_minimum(
    system: FloatArray, slopes: FloatArray, coef: FloatArray, low: FloatArray, high: FloatArray, side: Codes
) -> FloatArray:
    """Minimum over a box of the quadratic model at `coef`, damped where it is nearly flat."""
    mean = float(system.diagonal().mean()) or 1.0
    done = 0.0
    for damping in _DAMPING:
        system.flat[:: coef.size + 1] += mean * (damping - done)
        done = damping
        target = box_minimum(system, slopes - system @ coef, low, high, side.copy())
        if target is not None:
            return target
    return coef


def lowest(
    objective: Objective, at: Point, directions: FloatArray, terms: FloatArray, left: float
) -> tuple[FloatArray, FloatArray]:
    """Step and value of the minimum along each direction (:func:`~tamis.kernels.convex.line_minima`)."""
    step, value = np.empty(directions.shape[0]), np.empty(directions.shape[0])
    rows = at.margins, objective.weight, at.first, at.second
    line_minima(directions, *rows, objective.kind, terms, left, step, value)
    return step, value + float(at.coef @ objective.pull(at.coef))
