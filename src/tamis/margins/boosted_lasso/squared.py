"""The boosted lasso for squared error: residual correlations are updated, products of columns computed when needed."""

import math
from typing import Protocol

import numpy as np

from tamis.base.types import FloatArray
from tamis.kernels.boosted_lasso import ENDED, FULL, STOPPED, quadratic_steps
from tamis.margins.boosted_lasso.columns import Target
from tamis.margins.boosted_lasso.path import Path

#: Columns whose products are computed together: that which is needed and those most likely to be next.
_TOGETHER = 8

#: Room for steps at first; it doubles.
_ROOM = 512


class Products(Protocol):
    """What squared error needs of columns."""

    n_columns: int

    def gram(self, columns: np.ndarray) -> FloatArray:
        """Products of some columns with all, one row for each of them."""


class SquaredPath:
    """A path that can be taken further; the parameters are those of :func:`~.boosting.boosted_lasso`."""

    def __init__(
        self,
        columns: Products,
        target: Target,
        *,
        l1_ratio: float,
        step: float,
        tolerance: float,
        backward: bool,
        max_steps: int,
    ) -> None:
        self._columns = columns
        self._options = float(l1_ratio), float(step), tolerance * step**2, bool(backward)
        self._step = float(step)
        self._max_steps = max_steps
        self._mean = target.mean
        self._pull = target.pull.copy()
        self.highest = float(np.abs(self._pull).max(initial=0.0)) / l1_ratio
        # What rounding leaves of a constant target's products is no pull.
        if self.highest < 1e-13:
            self._pull[:] = 0.0
        p = columns.n_columns
        self._gram, self._slot, self._known = np.empty((_TOGETHER, p)), np.full(p, -1, dtype=np.intp), 0
        self._start = np.zeros(p, dtype=np.intp)
        self._counts, self._active = np.zeros(p, dtype=np.intp), np.empty(p, dtype=np.intp)
        self._place = np.zeros(2, dtype=np.intp)
        self._state = np.array([math.inf, target.loss])
        self._record = _room(min(_ROOM, max_steps))
        self.complete = True

    def advance(self, most: float = math.inf, floor: float = 0.0) -> None:
        """Take steps until `most` columns are active, the penalty is below `floor`, or the path ends."""
        self._take_steps(False, min(most, self._columns.n_columns + 1), floor)

    def settle(self, counts: np.ndarray, penalty: float) -> None:
        """Go from weights in steps to those at one penalty, by the steps that lower the penalised loss until none does.

        The column with the largest product is active where none would be, as on a path.
        """
        active = np.flatnonzero(counts)
        if active.size:
            self._learn_products(active)
            before = self._pull.copy()
            self._pull -= self._step * (counts[active] @ self._gram[self._slot[active]])
            self._state[1] -= 0.5 * self._step * float(counts[active] @ (before + self._pull)[active])
        self._start, self._counts = counts.copy(), counts.copy()
        self._active[: active.size] = active
        self._place[1] = active.size
        self._state[0] = penalty
        self._take_steps(True, self._columns.n_columns + 1, 0.0)
        if self._place[1] == 0 and self.complete:
            self._take_steps(False, 1, 0.0)

    def _take_steps(self, held: bool, most: float, floor: float) -> None:
        while True:
            found = quadratic_steps(
                self._gram, self._slot, *self._options, held, int(most), float(floor),
                self._pull, self._counts, self._active, self._place, self._state, *self._record,
            )  # fmt: skip
            if found in (STOPPED, ENDED):
                return
            if found == FULL and self._record[0].size >= self._max_steps:
                self.complete = False
                return
            if found == FULL:
                grown = _room(min(2 * self._record[0].size, self._max_steps))
                for old, new in zip(self._record, grown, strict=True):
                    new[: old.size] = old
                self._record = grown
            else:
                self._learn_products(self._likely(int(found)))

    def _likely(self, column: int) -> np.ndarray:
        """A column whose products are needed, and others that pull nearly as much."""
        likely = np.where(self._slot < 0, np.abs(self._pull), -1.0)
        likely[column] = math.inf
        size = min(_TOGETHER, int((likely >= 0).sum()))
        # In column order, so that rounding does not depend on the order of equals.
        return np.sort(np.argpartition(-likely, size - 1)[:size])

    def _learn_products(self, chosen: np.ndarray) -> None:
        """Products of some columns with all."""
        needed = self._known + chosen.size
        if needed > self._gram.shape[0]:
            grown = np.empty((max(needed, 2 * self._gram.shape[0]), self._columns.n_columns))
            grown[: self._known] = self._gram[: self._known]
            self._gram = grown
        self._gram[self._known : needed] = self._columns.gram(chosen)
        self._slot[chosen] = np.arange(self._known, needed)
        self._known = needed

    @property
    def path(self) -> Path:
        """The steps so far."""
        done = int(self._place[0])
        columns, signs, penalties, losses, sizes = (one[:done].copy() for one in self._record)
        intercepts = np.full(done + 1, self._mean)
        shape = self._step, self._columns.n_columns, self.highest
        return Path(*shape, columns, signs, penalties, losses, sizes, intercepts, self._start)


def _room(size: int) -> tuple[np.ndarray, ...]:
    """Columns, signs, penalties, losses and sizes of steps to come."""
    kinds = (np.int32, np.int8, np.float64, np.float64, np.int32)
    return tuple(np.empty(size, dtype=kind) for kind in kinds)
