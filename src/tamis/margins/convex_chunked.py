"""The optimum of convex networks whose values do not fit into memory, by Newton's method.

Where memory holds the second derivatives, the pass that computes the slopes adds them up too. Otherwise a Newton step
is found by conjugate gradients, one pass an iteration, from a low-rank approximation of the values. Descent in blocks
of coefficients, each with the margins of the others fixed, would be slow where basis functions of different blocks are
alike. With bounds the steps are those of :mod:`tamis.margins.convex_interior`.
"""

from collections.abc import Sequence

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray
from tamis.kernels.convex import line_minima
from tamis.margins.convex import LOSSES, ROUNDED, STILL, Point, damped_minimum
from tamis.margins.convex_interior import inside, newton_step
from tamis.margins.convex_passes import Asking, ChunkedObjective, Place, Sum, Values, conjugate, look, one_pass
from tamis.margins.low_rank import LowRank, low_rank_inverse

#: Share of the error that a Newton step may leave, of one without a bound and one whose penalty is the kernel's.
_LEFT, _KERNEL_LEFT = 0.03, 0.01

#: Most iterations of conjugate gradients in a Newton step.
_ITERATIONS = 250

#: Second derivatives below this share of the largest count as 0 where they are divided by.
_FLAT = 1e-16

#: Share of its slope that a step along a line may leave.
_LINE = 0.01


def minimise_chunked(
    values: Values,
    objectives: Sequence[ChunkedObjective],
    low_rank: LowRank | None,
    *,
    tol: float,
    max_iter: int,
) -> list[Point]:
    """The optimum of each objective; `tol` and `max_iter` are those of :func:`~tamis.margins.convex.minimise`.

    `low_rank` approximates the values; without it the second derivatives of all objectives are held.
    """
    steepest = _steepest(values, objectives)
    runs = [
        _run(one, low_rank, enough=tol * float(top), unit=float(one.weight.mean() / top), max_iter=max_iter)
        for one, top in zip(objectives, steepest, strict=True)
    ]
    waiting = {k: next(run) for k, run in enumerate(runs)}
    found: dict[int, Point] = {}
    # Losses at places that are too far may overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        while waiting:
            for k, summed in one_pass(values, objectives, waiting).items():
                try:
                    waiting[k] = runs[k].send(summed)
                except StopIteration as end:
                    found[k] = end.value
                    del waiting[k]
    return [found[k] for k in range(len(objectives))]


def _steepest(values: Values, objectives: Sequence[ChunkedObjective]) -> FloatArray:
    """As :attr:`~tamis.margins.convex.Objective.steepest`, of each objective."""
    every = np.arange(values.n_rows)
    first = np.column_stack([np.abs(one.terms(np.zeros(every.size), every)[1]) for one in objectives])
    total = np.zeros((values.n_basis, len(objectives)))
    for rows, block in values.chunks(None, None):
        total += np.abs(block).T @ first[rows]
    return np.maximum(np.finfo(np.float64).tiny, total.max(axis=0))


def _run(
    objective: ChunkedObjective, low_rank: LowRank | None, *, enough: float, unit: float, max_iter: int
) -> Asking[Point]:
    """Newton's method for one objective."""
    pairs = low_rank is None
    at = yield from look(objective, np.clip(np.zeros(objective.n_basis), objective.low, objective.high), pairs=pairs)
    if not (np.isfinite(at.value) and np.isfinite(at.second).all()):
        raise TamisError(
            "convex_net: the loss is too large to be held; scale the columns, or move 'low' and 'high' to 0"
        )
    rounds, largest = 0, _largest(objective, at)
    if low_rank is not None and objective.bounded:
        at, rounds = yield from inside(objective, at, low_rank, enough, unit, max_iter)
        largest = _largest(objective, at)
    while not (settled := largest <= enough) and rounds < max_iter:
        rounds += 1
        there = yield from _between(objective, at, (yield from _target(objective, at, low_rank)), pairs)
        slope = _largest(objective, there)
        if at.value - there.value <= STILL * abs(at.value) and slope > 0.5 * largest:
            at, largest = (there, slope) if slope < largest else (at, largest)
            settled = largest <= ROUNDED * enough
            break
        at, largest = there, slope
    return Point(at.coef, at.margins, at.first, at.second, at.value, rounds, settled)


def _largest(objective: ChunkedObjective, at: Place) -> float:
    """The largest slope of a free coefficient."""
    return float(np.abs(at.slopes[objective.sides(at.coef, at.slopes) == 0]).max(initial=0.0))


def _between(objective: ChunkedObjective, at: Place, target: FloatArray, pairs: bool) -> Asking[Place]:
    """The target, or a place on the way to it where that is lower."""
    move = target - at.coef
    if not at.slopes @ move < 0:
        return at
    there = yield from look(objective, target, pairs=pairs)
    if there.value <= at.value + STILL * abs(at.value) and there.slopes @ move <= -0.5 * (at.slopes @ move):
        return there
    change = there.margins - at.margins
    pulled = objective.pull(move, change)
    terms = np.array([[2.0 * pulled @ at.coef], [pulled @ move], [0.0], [1.0]])
    step = np.empty(1)
    rows = at.margins, objective.weight, at.first, at.second
    line_minima(change[None], *rows, LOSSES[objective.loss], terms, _LINE, step, np.empty(1))
    if step[0] in (0.0, 1.0):
        return there if step[0] == 1.0 else at
    coef = np.clip(at.coef + step[0] * move, objective.low, objective.high)
    return (yield from look(objective, coef, pairs=pairs))


def _target(objective: ChunkedObjective, at: Place, low_rank: LowRank | None) -> Asking[FloatArray]:
    """Where a Newton step of the free coefficients leads, within the box."""
    side = objective.sides(at.coef, at.slopes)
    if low_rank is None:
        assert at.system is not None
        return damped_minimum(at.system, at.slopes, at.coef, objective.low, objective.high, side)
    if objective.matrix is None and not objective.bounded:
        return at.coef + (yield from _kernel_step(objective, at, low_rank))
    nothing = np.zeros(side.size)
    move = yield from newton_step(objective, at, low_rank, at.slopes, nothing, side == 0, _LEFT)
    return np.clip(at.coef + move, objective.low, objective.high)


def _kernel_step(objective: ChunkedObjective, at: Place, low_rank: LowRank) -> Asking[FloatArray]:
    """A Newton step without bounds, when the penalty's matrix is that of the values, K.

    With W the second derivatives of the rows it solves (WK + 2 scale I) d = -(first + 2 scale a), in the unknowns
    W^-1/2 d, which takes K once where the second derivatives of the objective have it twice. Rows without a second
    derivative lose their coefficient.
    """
    scale = 2.0 * objective.scale
    on = at.second > _FLAT * at.second.max()
    root = np.sqrt(np.where(on, at.second, 0.0))
    unmet = at.first + scale * at.coef
    lost = np.where(on, 0.0, -unmet / scale)

    def times(coef: FloatArray) -> Asking[FloatArray]:
        margins = np.zeros(on.size)

        def weigh(rows: Codes, some: FloatArray) -> tuple[FloatArray, None]:
            margins[rows] = some
            return np.zeros(rows.size), None

        yield Sum(coef, weigh, on, np.zeros(on.size, dtype=bool))
        return margins

    def product(direction: FloatArray) -> Asking[FloatArray]:
        return root * (yield from times(root * direction)) + scale * direction

    def enough(found: FloatArray, left: float) -> bool:
        # Early iterates do not yet make up for the coefficients that are lost.
        return left <= _KERNEL_LEFT and bool(at.slopes @ (lost + root * found) < 0)

    right = -unmet / np.where(on, root, 1.0) * on
    if lost.any():
        right = right - root * (yield from times(lost))
    core = np.eye(low_rank.signs.size)
    inverse = low_rank_inverse(low_rank.factor, root * objective.own, core, np.full(on.size, 1.0 / scale))
    return lost + root * (yield from conjugate(product, inverse, right, enough, _ITERATIONS))
