"""Few basis functions of a convex network: forward, plus l take away r, and floating search on its optimum.

CN(I) is the optimum of the network on the basis functions I. A set that a search goes on from is solved, starting at
the coefficients that led to it. A set that is only tried is not: with H the second derivatives at the optimum on I, the
coefficients of I give way to a new one along

    (-H_II^-1 H_Ij, 1),

where CN(I + j) lies as far as second derivatives tell. The minimum along that line costs O(n) for a candidate, on
margins that are moved and not computed anew. A basis function is taken away in the same manner: the others move along
its own column of H_II^-1, until its coefficient is 0. Where coefficients have no bounds no estimate is below its CN.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.linalg

from tamis.base.types import Codes, FloatArray
from tamis.margins.convex import Objective, Point, curvature, factored, lowest, minimise

#: Share of its slope that is left along a candidate's line; the value there is off by about the square of it.
_LEFT = 1e-2

#: How many times as much as it was found to be an estimate may be off, and the most sets that are solved for that.
_OFF, _SOLVED = 2.0, 8

#: Share of its own curvature that a basis function must keep when the chosen ones give way to it.
_REPEATED = 1e-9

#: Optima closer than this share of themselves are equal.
_EQUAL = 1e-9


class Met(NamedTuple):
    """A set of basis functions, in the order in which they came in, and the optimum on it."""

    chosen: Codes
    at: Point


class Tried(NamedTuple):
    """Sets that differ from another by one basis function each: which one, an estimate of CN, and a way there."""

    columns: Codes
    values: FloatArray
    coef: Callable[[int], FloatArray]


class Candidates:
    """The sets next to a set.

    Parameters
    ----------
    objective : Objective
    tol : float
    max_iter : int
        How sets are solved, as for :func:`~tamis.margins.convex.minimise`.
    """

    def __init__(self, objective: Objective, *, tol: float, max_iter: int) -> None:
        self.objective, self._tol, self._max_iter = objective, tol, max_iter

    def none(self) -> Met:
        """The empty set."""
        return Met(np.empty(0, dtype=np.intp), Point.of(self.objective, np.zeros(self.objective.n_basis)))

    def joined(self, met: Met) -> Met:
        """The best set with one basis function more; of equal estimates the one with the earliest."""
        return self._best(self.additions(met), lambda column: np.append(met.chosen, column))

    def left(self, met: Met, tried: Tried | None = None) -> Met:
        """The best set with one basis function less; of equal estimates the one without the earliest."""
        tried = self.removals(met) if tried is None else tried
        return self._best(tried, lambda column: met.chosen[met.chosen != column])

    def _best(self, tried: Tried, chosen: Callable[[int], Codes]) -> Met:
        """The best of the sets, solved.

        The estimate of the best is never below its CN without a box, but may be above it. So sets are solved in the
        order of their estimates until none is left that could be best, were its estimate off by twice as much as any
        was found to be; a few at most, and mostly the first alone.
        """
        best: Met | None = None
        off = 0.0
        for place in np.argsort(tried.values, kind="stable")[:_SOLVED]:
            if best is not None and tried.values[place] - _OFF * off >= best.at.value:
                break
            columns = chosen(int(tried.columns[place]))
            start = tried.coef(int(place))
            at = minimise(self.objective, columns, start, tol=self._tol, max_iter=self._max_iter)
            off = max(off, float(tried.values[place]) - at.value)
            if best is None or at.value < best.at.value - _EQUAL * abs(best.at.value):
                best = Met(columns, at)
        assert best is not None
        return best

    def additions(self, met: Met) -> Tried:
        """Every set with one basis function more."""
        objective, at = self.objective, met.at
        outside = np.ones(objective.n_basis, dtype=bool)
        outside[met.chosen] = False
        rest = np.flatnonzero(outside)
        free = met.chosen[at.sides(objective, met.chosen) == 0]
        give = self._giving(at, free, rest)
        directions = objective.values[rest] - give.T @ objective.values[free]
        pulled = objective.pull(at.coef)
        terms = np.empty((4, rest.size))
        terms[0] = 2.0 * (pulled[rest] - pulled[free] @ give)
        terms[1] = objective.penalty[0, rest] if objective.diagonal else objective.penalty[rest, rest]
        own = 2.0 * terms[1] + objective.values[rest] ** 2 @ at.second
        terms[1] += ((objective.block(free, free) @ give - 2.0 * objective.block(free, rest)) * give).sum(axis=0)
        # What repeats the chosen ones has no curvature of its own but rounding: it stays where it is.
        new = 2.0 * terms[1] + directions**2 @ at.second > _REPEATED * own
        terms[1] = np.maximum(terms[1], 0.0)
        terms[2], terms[3] = np.where(new, objective.low[rest], 0.0), np.where(new, objective.high[rest], 0.0)
        step, values = lowest(objective, at, directions, terms, _LEFT)

        def coef(place: int) -> FloatArray:
            there = at.coef.copy()
            there[free] -= step[place] * give[:, place]
            there[rest[place]] = step[place]
            return there

        return Tried(rest, values, coef)

    def removals(self, met: Met) -> Tried:
        """Every set with one basis function less."""
        objective, at = self.objective, met.at
        chosen = np.sort(met.chosen)
        side = at.sides(objective, chosen)
        free, held = np.flatnonzero(side == 0), np.flatnonzero(side)
        moves = np.eye(chosen.size)
        factor = factored(curvature(objective, at, chosen[free]))
        inverse = scipy.linalg.cho_solve(factor, np.eye(free.size), check_finite=False)
        moves[np.ix_(free, free)] = inverse / inverse.diagonal()[:, None]
        moves[np.ix_(held, free)] = -self._giving(at, chosen[free], chosen[held]).T
        moves *= -at.coef[chosen][:, None]
        pulled = objective.pull(at.coef)[chosen]
        penalty = at.coef[chosen] @ pulled + 2.0 * moves @ pulled
        penalty += ((moves @ objective.block(chosen, chosen)) * moves).sum(axis=1)
        values = objective.sums(at.margins + moves @ objective.values[chosen]) + penalty

        def coef(place: int) -> FloatArray:
            there = at.coef.copy()
            there[chosen] += moves[place]
            there[chosen[place]] = 0.0
            return there

        return Tried(chosen, values, coef)

    def _giving(self, at: Point, free: Codes, others: Codes) -> FloatArray:
        """How much each free coefficient gives way to a unit of each of the others."""
        objective = self.objective
        mixed = (objective.values[free] * at.second) @ objective.values[others].T
        mixed += 2.0 * objective.block(free, others)
        return np.asarray(scipy.linalg.cho_solve(factored(curvature(objective, at, free)), mixed, check_finite=False))


Steps = Iterator[tuple[Met, Sequence[int]]]


def forward(candidates: Candidates) -> Steps:
    """Add one basis function after another (SFS)."""
    met = candidates.none()
    while met.chosen.size < candidates.objective.n_basis:
        met = candidates.joined(met)
        yield met, [met.chosen.size]


def plus_minus(candidates: Candidates, plus: int, minus: int) -> Steps:
    """Add `plus` basis functions, take `minus` away, and again (PTA)."""
    met, whole = candidates.none(), candidates.objective.n_basis
    done = 0
    while done < whole:
        for _ in range(min(plus, whole - met.chosen.size)):
            met = candidates.joined(met)
            yield met, []
        full = met.chosen.size == whole
        for _ in range(min(minus, met.chosen.size - 1)):
            met = candidates.left(met)
            yield met, []
        # A turn that begins here does not meet this size again.
        done = whole if full else met.chosen.size
        yield met, range(1, done + 1)


def floating(candidates: Candidates) -> Steps:
    """Add the best basis function, then take some away while that beats the last set of that size (SFFS)."""
    met = candidates.none()
    last = {0: met.at.value}
    while met.chosen.size < candidates.objective.n_basis:
        met = candidates.joined(met)
        last[met.chosen.size] = met.at.value
        yield met, [met.chosen.size]
        newest = int(met.chosen[-1])
        while met.chosen.size > 2:
            tried = candidates.removals(met)
            if tried.columns[tried.values.argmin()] == newest:
                # Without it the set is the one before, which is not better than itself.
                break
            fewer = candidates.left(met, tried)
            size = fewer.chosen.size
            if fewer.at.value >= last[size] - _EQUAL * abs(last[size]):
                break
            met, newest = fewer, -1
            last[size] = met.at.value
            yield met, []


@dataclass
class Path:
    """The set found for each size; the search walks on when asked for a size that is not settled.

    Attributes
    ----------
    steps : iterator of (Met, sizes)
        Sets, each with the sizes for which the best of those met so far is the answer.
    best : dict of int to Met
    settled : set of int
    """

    steps: Steps
    best: dict[int, Met] = field(default_factory=dict)
    settled: set[int] = field(default_factory=set)

    def at(self, size: int) -> Met:
        """The set of a size."""
        while size not in self.settled:
            met, sizes = next(self.steps)
            n = met.chosen.size
            if n not in self.settled and (n not in self.best or met.at.value < self.best[n].at.value):
                self.best[n] = met
            self.settled.update(sizes)
        return self.best[size]
