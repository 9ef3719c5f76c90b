"""What the convex networks of all classes share, and the objective of each, with values in memory or in chunks."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.base.validation import row_terms
from tamis.classify.convex_net.basis import LARGEST, Rows
from tamis.classify.convex_net.chunks import ChunkedValues, low_rank_of, most_values
from tamis.margins.convex import Objective, Point
from tamis.margins.convex_chunked import minimise_chunked
from tamis.margins.convex_lazy import LazyObjective
from tamis.margins.convex_passes import ChunkedObjective
from tamis.margins.low_rank import LowRank

#: Numbers that a network holds for each row and basis function.
_VECTORS = 20


@dataclass(frozen=True)
class Setting:
    """A network to train: the signs of the rows, and the parameters that networks may differ in."""

    signs: FloatArray
    loss: str
    penalty: float
    class_weight: str | None


@dataclass(frozen=True)
class Problem:
    """Values of the basis functions, the matrix A or its diagonal, and bounds.

    `values` is None where they do not fit into memory. With `of_rows` there is a basis function for each row, with the
    row's sign; with `of_kernel` A has the inner products of the basis functions, and so their signs, and `matrix` is
    their diagonal.
    """

    rows: Rows
    values: FloatArray | None
    chunks: ChunkedValues
    matrix: FloatArray
    low: FloatArray
    high: FloatArray
    of_rows: bool
    of_kernel: bool

    @property
    def n_basis(self) -> int:
        return self.low.size

    @property
    def chunked(self) -> bool:
        """Whether the network of all basis functions is trained in chunks."""
        return self.values is None or self.n_basis**2 > most_values()

    def own(self, signs: FloatArray) -> FloatArray:
        """Signs of the basis functions."""
        return signs if self.of_rows else np.ones(self.n_basis)

    def _cost(self, setting: Setting) -> FloatArray:
        with np.errstate(over="ignore"):
            largest = setting.penalty * np.abs(self.matrix).max()
        if not largest <= LARGEST:
            raise TamisError(f"'penalty' times 'shape' of convex_net, over the rows' weights, reaches {largest:.2g}")
        cost, _ = row_terms(self.rows.y, self.rows.weight, class_weight=setting.class_weight, ridge=0.0)
        return cost

    def objective(self, setting: Setting) -> Objective:
        """The objective of a network whose values are in memory, or are computed as a search needs them."""
        own, cost = self.own(setting.signs), self._cost(setting)
        if self.values is None:
            return self._lazy(setting, own, cost)
        values = self.values * setting.signs
        values *= own[:, None]
        matrix = setting.penalty * (self.values if self.of_kernel else self.matrix)
        if self.of_kernel:
            matrix *= own
            matrix *= own[:, None]
        return Objective(setting.loss, values, cost, matrix, self.low, self.high)

    def _lazy(self, setting: Setting, own: FloatArray, cost: FloatArray) -> LazyObjective:
        n_rows = self.rows.y.size
        return LazyObjective(
            setting.loss,
            np.empty((0, n_rows)),
            cost,
            setting.penalty * self.matrix,
            self.low,
            self.high,
            lambda columns: self.chunks.lines(columns) * setting.signs * own[columns][:, None],
            self.chunks.height(n_rows),
            most_values() // n_rows,
            setting.penalty if self.of_kernel else None,
        )

    def minimise(self, settings: list[Setting], *, tol: float, max_iter: int) -> list[Point]:
        """The optima of networks of all basis functions, trained in chunks, as many together as memory allows."""
        objectives = [
            ChunkedObjective(
                one.loss,
                one.signs,
                self.own(one.signs),
                self._cost(one),
                None if self.of_kernel else self.matrix,
                one.penalty,
                self.low,
                self.high,
            )
            for one in settings
        ]
        each = _VECTORS * (self.n_basis + self.rows.y.size)
        pairs = self.n_basis**2 <= most_values()
        together = max(1, most_values() // (self.n_basis**2 if pairs else each))
        found: list[Point] = []
        for first in range(0, len(objectives), together):
            some = objectives[first : first + together]
            low_rank = None if pairs else self._low_rank
            found += minimise_chunked(self.chunks, some, low_rank, tol=tol, max_iter=max_iter)
        return found

    @cached_property
    def _low_rank(self) -> LowRank:
        return low_rank_of(self.chunks, self.chunks.diagonal)
