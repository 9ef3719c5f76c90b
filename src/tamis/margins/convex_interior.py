"""Coefficients within bounds, for convex networks whose values do not fit into memory: an interior-point method.

Which coefficients end at a bound is hard to guess a set at a time when basis functions are alike. An interior-point
method does not guess: with forces z and y from the low and the high bounds it solves

    slope - z + y = 0,    z (a - low) = mu,    y (high - a) = mu

by Newton steps while mu falls to 0. The bounds add a diagonal to the second derivatives, which the low-rank
approximation takes as it is. At the end coefficients with more force than room go to their bounds.
"""

import numpy as np

from tamis.base.types import Codes, FloatArray, Mask
from tamis.margins.convex_passes import Asking, ChunkedObjective, Place, Sum, conjugate, look
from tamis.margins.low_rank import LowRank, low_rank_inverse

#: Share of the way to a bound that a step may take.
_WAY = 0.995

#: Share of the error that a step may leave, and most iterations of conjugate gradients in it.
_LEFT, _ITERATIONS = 0.01, 250

#: Share of mu that is left after a full step, and the share of the room between bounds at which coefficients begin.
_FALL, _BEGIN = 0.1, 0.1

#: A diagonal of second derivatives is at least this share of a usual one.
_LEAST = 1e-10

#: Room to a bound that is rounding, in units of coefficients.
_ROUNDING = 1e-16

#: Most halvings of the interval of a step.
_HALVINGS = 40


def newton_step(
    objective: ChunkedObjective,
    at: Place,
    low_rank: LowRank,
    slopes: FloatArray,
    extra: FloatArray,
    free: Mask,
    left: float,
) -> Asking[FloatArray]:
    """The Newton step of the free coefficients for some slopes, with an `extra` diagonal of second derivatives."""
    core = low_rank.core(at.second)
    diagonal, bend = 2.0 * objective.diagonal(), float(at.second.mean())
    if objective.matrix is None:
        core.flat[:: core.shape[0] + 1] += 2.0 * objective.scale
        diagonal = low_rank.rest * (2.0 * objective.scale + bend * low_rank.rest)
    least = _LEAST * (float(diagonal.mean()) + (bend * low_rank.size + objective.scale) * low_rank.size)
    diagonal = np.maximum(diagonal + extra, least or 1.0)
    inverse = low_rank_inverse(low_rank.factor, objective.own, core, np.where(free, 1.0 / diagonal, 0.0))
    needed = at.second > 0
    if objective.matrix is None:
        needed |= free

    def product(direction: FloatArray) -> Asking[FloatArray]:
        margins = np.zeros(needed.size)

        def weigh(rows: Codes, some: FloatArray) -> tuple[FloatArray, None]:
            margins[rows] = some
            return at.second[rows] * some, None

        total, _ = yield Sum(direction, weigh, needed, free)
        pulled = 2.0 * objective.pull(direction, margins) + extra * direction
        return np.where(free, total + pulled, 0.0)

    right = np.where(free, -slopes, 0.0)
    return (yield from conjugate(product, inverse, right, lambda _, share: share <= left, _ITERATIONS))


def inside(
    objective: ChunkedObjective, at: Place, low_rank: LowRank, enough: float, unit: float, max_iter: int
) -> Asking[tuple[Place, int]]:
    """A place whose free coefficients have slopes of about `enough`, and the number of Newton steps.

    Coefficients of the size of `unit` change margins by about 1.
    """
    free = objective.low < objective.high
    begin = np.minimum(unit, _BEGIN * (objective.high - objective.low))
    at = yield from look(objective, np.clip(at.coef, objective.low + begin, objective.high - begin))
    rooms = _rooms(objective, at.coef, free, unit)
    ends = [np.isfinite(room) for room in rooms]
    n_ends = int(ends[0].sum() + ends[1].sum())
    mu = float(sum((np.abs(at.slopes) * unit)[end].sum() for end in ends)) / max(1, n_ends)
    forces = [mu / room for room in rooms]
    bend = float(objective.weight.sum()) / (unit * free.size) ** 2
    rounds, share = 0, 1.0
    while rounds < max_iter:
        held = _held(rooms, forces, bend)
        gap = sum(float(force[end] @ room[end]) for end, force, room in zip(ends, forces, rooms, strict=True))
        mean = gap / max(1, n_ends)
        loose = free & ~held[0] & ~held[1]
        if mean <= enough * unit and np.abs(at.slopes[loose]).max(initial=0.0) <= enough:
            break
        if rounds:
            mu = (_FALL if share > 0.5 else 0.5) * mean
        rounds += 1
        slopes = at.slopes - mu / rooms[0] + mu / rooms[1]
        extra = forces[0] / rooms[0] + forces[1] / rooms[1]
        move = yield from newton_step(objective, at, low_rank, slopes, extra, free, _LEFT)
        changes = [
            (mu - force * sign * move) / room - force for force, room, sign in zip(forces, rooms, (1, -1), strict=True)
        ]
        reach = min(_reach(rooms[0], move), _reach(rooms[1], -move))
        at, share = yield from _along(objective, at, rooms, mu, reach * move)
        rooms = _rooms(objective, at.coef, free, unit)
        forces = [
            np.where(end, force + _reach(force, change) * change, 0.0)
            for end, force, change in zip(ends, forces, changes, strict=True)
        ]
        share *= reach
    held = _held(rooms, forces, bend)
    coef = np.where(held[0], objective.low, np.where(held[1], objective.high, at.coef))
    return (yield from look(objective, coef)), rounds


def _rooms(objective: ChunkedObjective, coef: FloatArray, free: Mask, unit: float) -> list[FloatArray]:
    """What is left to the low and to the high bound; infinite without a bound, or without a choice."""
    least = _ROUNDING * unit
    return [np.where(free, np.maximum(room, least), np.inf) for room in (coef - objective.low, objective.high - coef)]


def _held(rooms: list[FloatArray], forces: list[FloatArray], bend: float) -> list[Mask]:
    """Coefficients with a force from a bound that their own second derivative, usually `bend`, takes them to."""
    return [force > bend * room for force, room in zip(forces, rooms, strict=True)]


def _reach(room: FloatArray, move: FloatArray) -> float:
    """Share of a move, at most 1, that leaves some of the room everywhere."""
    falling = move < 0
    return min(1.0, _WAY * float((room[falling] / -move[falling]).min(initial=np.inf)))


def _along(
    objective: ChunkedObjective, at: Place, rooms: list[FloatArray], mu: float, move: FloatArray
) -> Asking[tuple[Place, float]]:
    """The place after a move, or after the share of it where the objective and its barrier stop falling."""

    def barrier(share: float) -> float:
        low, high = (mu / (room + sign * share * move) for room, sign in zip(rooms, (1, -1), strict=True))
        return float((high - low) @ move)

    before = float(at.slopes @ move) + barrier(0.0)
    there = yield from look(objective, at.coef + move)
    if float(there.slopes @ move) + barrier(1.0) <= 0.5 * abs(before):
        return there, 1.0
    every, change = np.arange(at.margins.size), there.margins - at.margins
    own, mixed = 2.0 * objective.pull(move, change) @ move, 2.0 * objective.pull(move, change) @ at.coef
    least, most = 0.0, 1.0
    for _ in range(_HALVINGS):
        share = 0.5 * (least + most)
        _, first, _ = objective.terms(at.margins + share * change, every)
        slope = float(first @ change) + mixed + share * own + barrier(share)
        if abs(slope) <= 0.1 * abs(before):
            break
        least, most = (share, most) if slope < 0 else (least, share)
    return (yield from look(objective, at.coef + share * move)), share
