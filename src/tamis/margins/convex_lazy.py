"""A convex network whose values are computed when a search for basis functions needs them.

The values of the basis functions in use are held; those of the candidates are computed a few at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray
from tamis.kernels.convex import coordinate_sweep
from tamis.margins.convex import Objective, Point


@dataclass(frozen=True)
class LazyObjective(Objective):
    """An :class:`~tamis.margins.convex.Objective` with empty `values`, which `compute` returns for basis functions.

    With `scale` the penalty is `scale` times the values, and `penalty` holds its diagonal as one row. `at_once` is how
    many candidates are looked at together, `room` how many basis functions can be held.
    """

    compute: Callable[[Codes], FloatArray]
    at_once: int
    room: int
    scale: float | None = None
    _held: dict[int, FloatArray] = field(default_factory=dict)

    @property
    def width(self) -> int:
        return self.at_once

    def hold(self, chosen: Codes) -> None:
        if chosen.size > self.room:
            raise TamisError(
                f"the search of convex_net holds the values of the basis functions in use on {self.weight.size} rows, "
                f"which memory does for {self.room}; give a smaller 'sparsity', or raise scikit-learn's working_memory"
            )
        missing = np.array([j for j in chosen.tolist() if j not in self._held], dtype=np.intp)
        if len(self._held) + missing.size > self.room:
            for j in set(self._held) - set(chosen.tolist()):
                del self._held[j]
        if missing.size:
            self._held.update(zip(missing.tolist(), self.compute(missing), strict=True))

    def lines(self, chosen: Codes) -> FloatArray:
        lines = np.empty((chosen.size, self.weight.size))
        known = np.array([j in self._held for j in chosen.tolist()], dtype=bool)
        if not known.all():
            lines[~known] = self.compute(chosen[~known])
        for place in np.flatnonzero(known):
            lines[place] = self._held[int(chosen[place])]
        return lines

    def block(self, some: Codes, others: Codes) -> FloatArray:
        if self.scale is None:
            return super().block(some, others)
        return np.asarray(self.scale * self.lines(some)[:, others])

    def pull(self, coef: FloatArray) -> FloatArray:
        if self.scale is None:
            return super().pull(coef)
        used = np.flatnonzero(coef)
        return np.asarray(self.scale * (coef[used] @ self.lines(used)))

    @cached_property
    def steepest(self) -> float:
        first = np.abs(self.at(np.zeros(self.weight.size))[1])
        largest = float(np.finfo(np.float64).tiny)
        for top in range(0, self.n_basis, self.width):
            some = np.arange(top, min(top + self.width, self.n_basis))
            largest = max(largest, float((np.abs(self.compute(some)) @ first).max()))
        return largest

    def sweep(self, at: Point, chosen: Codes, enough: float) -> None:
        penalty = self.penalty[:, chosen] if self.scale is None and self.diagonal else self.block(chosen, chosen)
        coef = at.coef[chosen]
        coordinate_sweep(
            self.lines(chosen),
            self.weight,
            np.ascontiguousarray(penalty),
            self.low[chosen],
            self.high[chosen],
            np.arange(chosen.size),
            self.kind,
            enough,
            coef,
            at.margins,
            at.first,
            at.second,
        )
        at.coef[chosen] = coef
