"""Sets of basis functions of a convex network that differ by one, and the best of them.

CN(I) is the optimum of the network on the basis functions I. A set that a search goes on from is solved, starting at
the coefficients of the set before. For a candidate CN is only estimated: with H the second derivatives at the optimum
on I, the coefficients move along

    (-H_II^-1 H_Ij, 1),

where CN(I + j) lies to second order. The minimum along that line costs O(n) for a candidate. A basis function is
removed in the same manner: the others move along its column of H_II^-1, until its coefficient is 0. Without bounds on
the coefficients no estimate is below its CN.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.linalg

from tamis.base.types import Codes, FloatArray
from tamis.margins.convex import Objective, Point, curvature, factored, lowest, minimise

#: Share of its slope that is left along a candidate's line; the value there is off by about the square of it.
_LEFT = 1e-2

#: Factor on the largest error of an estimate so far, and the most sets that are solved to find the best.
_OFF, _SOLVED = 2.0, 8

#: Share of its own curvature that a basis function must keep when the chosen ones give way to it.
_REPEATED = 1e-9

#: Optima closer than this share of themselves are equal.
EQUAL = 1e-9


def _with(chosen: Codes, column: int) -> Codes:
    return np.append(chosen, column)


def _without(chosen: Codes, column: int) -> Codes:
    return chosen[chosen != column]


class SolvedSubset(NamedTuple):
    """A set of basis functions, in the order in which they were added, and the optimum on it."""

    chosen: Codes
    at: Point


class Estimates(NamedTuple):
    """Sets that differ from another by one of `columns` each: estimates of their CN, and coefficients to start from."""

    columns: Codes
    values: FloatArray
    coef: Callable[[int], FloatArray]


class Candidates:
    """The sets next to a set; `tol` and `max_iter` are those of :func:`~tamis.margins.convex.minimise`.

    With `exhaustive` every candidate is solved, and nothing is left to an estimate.
    """

    def __init__(self, objective: Objective, *, tol: float, max_iter: int, exhaustive: bool = False) -> None:
        self.objective, self._tol, self._max_iter = objective, tol, max_iter
        self._exhaustive = exhaustive

    def empty(self) -> SolvedSubset:
        """The empty set."""
        return SolvedSubset(np.empty(0, dtype=np.intp), Point.of(self.objective, np.zeros(self.objective.n_basis)))

    def solve(self, chosen: Codes, start: FloatArray) -> SolvedSubset:
        """The optimum on a set, from some coefficients."""
        self.objective.hold(chosen)
        return SolvedSubset(chosen, minimise(self.objective, chosen, start, tol=self._tol, max_iter=self._max_iter))

    def best_addition(self, subset: SolvedSubset) -> SolvedSubset:
        """The best set with one basis function more; of equal estimates the one with the earliest."""
        return self._best(self.additions(subset), partial(_with, subset.chosen))

    def best_removal(self, subset: SolvedSubset, removals: Estimates | None = None) -> SolvedSubset:
        """The best set with one basis function less; of equal estimates the one without the earliest."""
        removals = self.removals(subset) if removals is None else removals
        return self._best(removals, partial(_without, subset.chosen))

    def _best(self, estimates: Estimates, chosen: Callable[[int], Codes]) -> SolvedSubset:
        """The best of the sets, solved.

        Sets are solved in the order of their estimates until no other could be best even if its estimate were off by
        twice the largest error so far: mostly the first alone.
        """
        if self._exhaustive:
            lowest_value = estimates.values.min()
            place = np.flatnonzero(estimates.values <= lowest_value + EQUAL * abs(lowest_value))[0]
            return self.solve(chosen(int(estimates.columns[place])), estimates.coef(int(place)))
        best: SolvedSubset | None = None
        off = 0.0
        for place in np.argsort(estimates.values, kind="stable")[:_SOLVED]:
            if best is not None and estimates.values[place] - _OFF * off >= best.at.value:
                break
            found = self.solve(chosen(int(estimates.columns[place])), estimates.coef(int(place)))
            off = max(off, float(estimates.values[place]) - found.at.value)
            if best is None or found.at.value < best.at.value - EQUAL * abs(best.at.value):
                best = found
        assert best is not None
        return best

    def additions(self, subset: SolvedSubset, rest: Codes | None = None) -> Estimates:
        """Every set with one basis function more, one of `rest` where given."""
        objective, at = self.objective, subset.at
        if rest is None:
            outside = np.ones(objective.n_basis, dtype=bool)
            outside[subset.chosen] = False
            rest = np.flatnonzero(outside)
        free = subset.chosen[at.sides(objective, subset.chosen) == 0]
        factor = factored(curvature(objective, at, free))
        width = max(1, objective.width)
        parts = [self._additions(at, free, factor, rest[top : top + width]) for top in range(0, rest.size, width)]
        values = np.concatenate([part.values for part in parts]) if parts else np.empty(0)

        def coef(place: int) -> FloatArray:
            return parts[place // width].coef(place % width)

        return self._settled(Estimates(rest, values, coef), partial(_with, subset.chosen))

    def _additions(self, at: Point, free: Codes, factor: tuple[FloatArray, bool], rest: Codes) -> Estimates:
        """Estimates for some basis functions more; `factor` is that of the second derivatives of the free ones."""
        objective = self.objective
        values, held = objective.lines(rest), objective.lines(free)
        give = self._giving(at, free, rest, factor)
        directions = values - give.T @ held
        pulled = objective.pull(at.coef)
        terms = np.empty((4, rest.size))
        terms[0] = 2.0 * (pulled[rest] - pulled[free] @ give)
        terms[1] = objective.own(rest)
        own = 2.0 * terms[1] + values**2 @ at.second
        terms[1] += ((objective.block(free, free) @ give - 2.0 * objective.block(free, rest)) * give).sum(axis=0)
        # One that repeats the chosen ones has no curvature beyond rounding: it stays at 0.
        new = 2.0 * terms[1] + directions**2 @ at.second > _REPEATED * own
        terms[1] = np.maximum(terms[1], 0.0)
        terms[2], terms[3] = np.where(new, objective.low[rest], 0.0), np.where(new, objective.high[rest], 0.0)
        step, values_there = lowest(objective, at, directions, terms, _LEFT)

        def coef(place: int) -> FloatArray:
            there = at.coef.copy()
            there[free] -= step[place] * give[:, place]
            there[rest[place]] = step[place]
            return there

        return Estimates(rest, values_there, coef)

    def removals(self, subset: SolvedSubset) -> Estimates:
        """Every set with one basis function less."""
        objective, at = self.objective, subset.at
        chosen = np.sort(subset.chosen)
        side = at.sides(objective, chosen)
        free, held = np.flatnonzero(side == 0), np.flatnonzero(side)
        moves = np.eye(chosen.size)
        factor = factored(curvature(objective, at, chosen[free]))
        inverse = scipy.linalg.cho_solve(factor, np.eye(free.size), check_finite=False)
        moves[np.ix_(free, free)] = inverse / inverse.diagonal()[:, None]
        moves[np.ix_(held, free)] = -self._giving(at, chosen[free], chosen[held], factor).T
        moves *= -at.coef[chosen][:, None]
        pulled = objective.pull(at.coef)[chosen]
        penalty = at.coef[chosen] @ pulled + 2.0 * moves @ pulled
        penalty += ((moves @ objective.block(chosen, chosen)) * moves).sum(axis=1)
        values = objective.sums(at.margins + moves @ objective.lines(chosen)) + penalty

        def coef(place: int) -> FloatArray:
            there = at.coef.copy()
            there[chosen] += moves[place]
            there[chosen[place]] = 0.0
            return there

        return self._settled(Estimates(chosen, values, coef), partial(_without, subset.chosen))

    def _settled(self, estimates: Estimates, chosen: Callable[[int], Codes]) -> Estimates:
        """The estimates, or with `exhaustive` CN of each set itself and its coefficients."""
        if not self._exhaustive:
            return estimates
        values, starts = np.empty(estimates.columns.size), []
        for place, column in enumerate(estimates.columns):
            solved = self.solve(chosen(int(column)), estimates.coef(place))
            values[place] = solved.at.value
            starts.append((solved.chosen, solved.at.coef[solved.chosen]))

        def coef(place: int) -> FloatArray:
            there = np.zeros(self.objective.n_basis)
            there[starts[place][0]] = starts[place][1]
            return there

        return Estimates(estimates.columns, values, coef)

    def _giving(self, at: Point, free: Codes, others: Codes, factor: tuple[FloatArray, bool]) -> FloatArray:
        """How much each free coefficient changes for a unit of each of the others."""
        objective = self.objective
        mixed = (objective.lines(free) * at.second) @ objective.lines(others).T
        mixed += 2.0 * objective.block(free, others)
        return np.asarray(scipy.linalg.cho_solve(factor, mixed, check_finite=False))
