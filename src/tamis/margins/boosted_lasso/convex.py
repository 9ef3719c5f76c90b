"""The boosted lasso for any convex loss and penalty, by exact differences of the loss.

A loss is convex, so its gradient bounds how far a step can lower it. Steps are evaluated in the order of that bound,
and only while it is below the best change found. Products of the gradient with all columns are not computed in every
step either: the change of the gradient bounds that of its products.
"""

import math

import numpy as np

from tamis.base.types import FloatArray
from tamis.margins.boosted_lasso.columns import Columns
from tamis.margins.boosted_lasso.losses import Loss
from tamis.margins.boosted_lasso.path import Path
from tamis.margins.boosted_lasso.penalties import GivenPenalty, MixedPenalty

#: Steps that are evaluated together.
_TOGETHER = 4

#: Columns that are watched beside three for each active one; with fewer columns, all are.
_WATCHED = 64


class ConvexPath:
    """A path that can be taken further; the parameters are those of :func:`~.boosting.boosted_lasso`."""

    _watched: np.ndarray
    _block: FloatArray
    _slopes: FloatArray
    _pull_then: FloatArray
    _outside: float
    _outside_then: float
    _stale: int

    def __init__(
        self,
        columns: Columns,
        loss: Loss,
        *,
        penalty: MixedPenalty | GivenPenalty,
        step: float,
        tolerance: float,
        backward: bool,
        max_steps: int,
    ) -> None:
        self._columns, self._loss, self._penalty = columns, loss, penalty
        self._step, self._slack, self._backward, self._max_steps = step, tolerance * step**2, backward, max_steps
        self._weights = np.zeros(columns.n_columns)
        self._counts, self._start = np.zeros((2, columns.n_columns), dtype=np.intp)
        self._fitted = np.zeros(columns.n_rows)
        intercepts, losses = loss.optimum(self._fitted[:, None], 0.0)
        self._intercepts, self._value = [float(intercepts[0])], float(losses[0])
        self._penalty_now = math.inf
        self._record: list[tuple[int, int, float, float, int]] = []
        self._watch()
        self.highest = float(np.abs(self._slopes).max(initial=0.0)) / getattr(penalty, "l1_ratio", 1.0)
        self._ended = self.highest < 1e-13
        self.complete = True

    def advance(self, most: float = math.inf, floor: float = 0.0) -> None:
        """Take steps until `most` columns are active, the penalty is below `floor`, or the path ends."""
        while not self._ended:
            if self._record and (self._record[-1][4] >= most or self._penalty_now < floor):
                return
            if len(self._record) == self._max_steps:
                self.complete = False
                return
            self._ended = not self._take_step()

    def settle(self, counts: np.ndarray, penalty: float) -> None:
        """Go from weights in steps to those at one penalty, by the steps that lower the penalised loss until none does.

        One column is active where none would be, as on a path.
        """
        self._start, self._counts, self._weights = counts.copy(), counts.copy(), counts * self._step
        active = np.flatnonzero(counts)
        self._fitted = self._columns.take(active) @ self._weights[active]
        intercepts, losses = self._loss.optimum(self._fitted[:, None], self._intercepts[-1])
        self._intercepts, self._value, self._penalty_now = [float(intercepts[0])], float(losses[0]), penalty
        self._watch()
        while (found := self._best_at_penalty(only_active=False)) is not None:
            if len(self._record) == self._max_steps:
                self.complete = False
                return
            self._move(*found)
            self._update_slopes()
        if not self._counts.any() and not self._ended and (found := self._best_forward()) is not None:
            self._move(*found)

    @property
    def path(self) -> Path:
        """The steps so far."""
        columns, signs, penalties, losses, sizes = zip(*self._record, strict=True) if self._record else ((),) * 5
        return Path(
            self._step,
            self._columns.n_columns,
            self.highest,
            np.array(columns, dtype=np.int32),
            np.array(signs, dtype=np.int8),
            np.array(penalties, dtype=np.float64),
            np.array(losses, dtype=np.float64),
            np.array(sizes, dtype=np.int32),
            np.array(self._intercepts),
            self._start,
        )

    def _take_step(self) -> bool:
        """Take the next step; False at the end of the path."""
        self._update_slopes()
        lasso = isinstance(self._penalty, MixedPenalty) and self._penalty.l1_ratio == 1.0
        if self._backward and self._record:
            found = self._best_at_penalty(only_active=lasso)
            if found is not None:
                self._move(*found)
                return True
        found = self._best_forward()
        if found is None:
            return False
        place, sign, change, _, _ = found
        growth = self._step
        if not lasso:
            column = self._watched[[place]]
            growth = float(self._penalty.growth(self._weights, column, np.array([sign * self._step]))[0])
        if growth <= 0 or -change - self._slack <= 0:
            return False
        self._penalty_now = min(self._penalty_now, (-change - self._slack) / growth)
        self._move(*found)
        return True

    def _best_at_penalty(self, *, only_active: bool) -> tuple[int, int, float, float, float] | None:
        """The step that lowers the penalised loss most at the present penalty: backward only for the lasso's."""
        if not only_active:
            # From 0 a step costs at least the l1 part of the penalty. Of a given penalty nothing is known.
            ratio = self._penalty.l1_ratio if isinstance(self._penalty, MixedPenalty) else -math.inf
            self._watch_above(self._penalty_now * ratio)
        weights = self._weights[self._watched]
        active = np.flatnonzero(weights)
        if only_active:
            places, signs = active, -np.sign(weights[active])
            growth = np.full(active.size, -self._step)
        else:
            # Away from zero the gradient tells the direction; a weight may also shrink.
            places = np.concatenate([np.arange(weights.size), active])
            signs = np.concatenate([np.where(self._slopes >= 0, 1.0, -1.0), np.where(self._slopes[active] >= 0, -1, 1)])
            growth = self._penalty.growth(self._weights, self._watched[places], signs * self._step)
        return self._steepest(places, signs, self._penalty_now * growth, -self._slack)

    def _best_forward(self) -> tuple[int, int, float, float, float] | None:
        """The step that lowers the loss most, of all columns and both signs."""
        while True:
            places = np.arange(self._watched.size)
            signs = np.where(self._slopes >= 0, 1.0, -1.0)
            found = self._steepest(places, signs, np.zeros(places.size), 0.0)
            least = 0.0 if found is None else found[2]
            if least <= -self._step * self._outside:
                return found
            self._watch(0 if self._stale else 2 * self._watched.size)

    def _steepest(
        self, places: np.ndarray, signs: np.ndarray, extra: FloatArray, least: float
    ) -> tuple[int, int, float, float, float] | None:
        """The step with the smallest change of the loss plus `extra` below `least`, if any, and what it leads to."""
        bounds = extra - signs * self._step * self._slopes[places]
        order = np.argsort(bounds, kind="stable")
        best = None
        for start in range(0, order.size, _TOGETHER):
            chosen = order[start : start + _TOGETHER]
            if bounds[chosen[0]] >= least:
                break
            tried = self._fitted[:, None] + self._block[:, places[chosen]] * (signs[chosen] * self._step)
            intercepts, losses = self._loss.optimum(tried, self._intercepts[-1])
            values = losses - self._value + extra[chosen]
            # Of values that differ by rounding alone the first column's counts.
            near = np.flatnonzero(values <= values.min() + 1e-14)
            one = near[np.argmin(self._watched[places[chosen[near]]])]
            if values[one] < least:
                least = float(values[one])
                change = float(losses[one]) - self._value
                at = chosen[one]
                best = int(places[at]), int(signs[at]), change, float(intercepts[one]), float(losses[one])
        return best

    def _move(self, place: int, sign: int, change: float, intercept: float, value: float) -> None:
        column = int(self._watched[place])
        self._counts[column] += sign
        self._weights[column] = self._counts[column] * self._step
        self._fitted += sign * self._step * self._block[:, place]
        self._intercepts.append(intercept)
        self._value = value
        size = int(np.count_nonzero(self._counts))
        self._record.append((column, sign, self._penalty_now, value, size))

    def _update_slopes(self) -> None:
        """Products of the gradient with the watched columns, and a bound of those with the others."""
        pull = self._loss.pull(self._fitted, self._intercepts[-1])
        self._slopes = self._block.T @ pull
        if self._outside_then > -math.inf:
            self._stale += 1
            gap = math.sqrt(float((pull - self._pull_then) ** 2 @ (1.0 / self._columns.share)))
            self._outside = self._outside_then + gap

    def _watch_above(self, slope: float) -> None:
        """Watch all columns whose products with the gradient can be above a value."""
        while self._outside > slope:
            self._watch(0 if self._stale else 2 * self._watched.size)

    def _watch(self, least: int = 0) -> None:
        """Watch the columns with the largest products now, and the active ones; at least so many."""
        pull = self._loss.pull(self._fitted, self._intercepts[-1])
        size = np.abs(self._columns.products(pull))
        active = np.flatnonzero(self._counts)
        number = min(size.size, max(least, _WATCHED + 3 * active.size))
        likely = size.copy()
        likely[active] = math.inf
        order = np.argsort(-likely, kind="stable")
        self._watched = np.sort(order[:number])
        self._outside = self._outside_then = float(size[order[number]]) if number < size.size else -math.inf
        self._pull_then, self._stale = pull, 0
        self._block = self._columns.take(self._watched)
        self._slopes = self._block.T @ pull
