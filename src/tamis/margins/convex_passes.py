"""Convex networks whose values do not fit into memory: what one pass over the values computes.

The objective is that of :mod:`tamis.margins.convex`. A pass computes the values again, a chunk of rows at a time. The
margins of a chunk need no other chunk, and neither does its part of a sum over rows

    sum_i t_i b_ji,    t_i a function of the margin m_i of some coefficients,

for all j at once. The slopes are such a sum, with the derivatives of the loss as t, and so is the product of the second
derivatives with a direction, with the margins of the direction times w_i L''(m_i) as t. What a network needs of a pass
it yields as a :class:`Sum`, so that all networks on the same basis functions share every pass.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from tamis.base.types import Codes, FloatArray, Mask
from tamis.kernels.convex import loss_terms
from tamis.margins.convex import LOSSES

#: Share of all values up to which a pass computes only those that it needs.
_PART = 0.7


class Values(Protocol):
    """Basis functions whose values are computed a chunk of rows at a time."""

    n_basis: int
    n_rows: int

    def chunks(self, rows: Codes | None, columns: Codes | None) -> Iterator[tuple[Codes, FloatArray]]:
        """Chunks of some rows with the values of some basis functions there, a column for each; None is all."""


@dataclass(frozen=True)
class ChunkedObjective:
    """A function to minimise, as :class:`~tamis.margins.convex.Objective` without the values.

    `signs` are those of the rows, `own` those of the basis functions. The penalty's matrix is `scale` times `matrix`,
    which is a matrix, one row with its diagonal, or None for the values themselves.
    """

    loss: str
    signs: FloatArray
    own: FloatArray
    weight: FloatArray
    matrix: FloatArray | None
    scale: float
    low: FloatArray
    high: FloatArray

    @property
    def n_basis(self) -> int:
        return self.own.size

    @property
    def bounded(self) -> bool:
        """Whether a coefficient has a bound."""
        return bool((np.isfinite(self.low) | np.isfinite(self.high)).any())

    def pull(self, coef: FloatArray, margins: FloatArray) -> FloatArray:
        """The penalty's matrix times coefficients, which have these margins."""
        if self.matrix is None:
            return self.scale * margins
        return self.scale * (self.matrix[0] * coef if self.matrix.shape[0] < coef.size else self.matrix @ coef)

    def diagonal(self) -> FloatArray:
        """The diagonal of the penalty's matrix; 0 where that is the values themselves."""
        if self.matrix is None:
            return np.zeros(self.n_basis)
        return self.scale * (self.matrix[0] if self.matrix.shape[0] < self.n_basis else self.matrix.diagonal())

    def sides(self, coef: FloatArray, slopes: FloatArray) -> Codes:
        """-1 and 1 for coefficients held at the low and the high end by their slope, 0 for free ones."""
        held = (slopes < 0) & (coef >= self.high)
        return np.where((slopes > 0) & (coef <= self.low), -1, held.astype(np.intp))

    def terms(self, margins: FloatArray, rows: Codes) -> tuple[float, FloatArray, FloatArray]:
        """Summed loss at the margins of some rows, and the weighted derivatives there."""
        value, first, second = np.empty(1), np.empty((1, margins.size)), np.empty((1, margins.size))
        loss_terms(np.ascontiguousarray(margins)[None], self.weight[rows], LOSSES[self.loss], value, first, second)
        return float(value[0]), first[0], second[0]


class Sum(NamedTuple):
    """What a network needs of a pass: the sum of t_i b_ji over `rows`, for the basis functions `columns`.

    `weigh` takes rows and the margins of `coef` there and returns t, and w_i L''(m_i) where the second derivatives are
    to be summed as well.
    """

    coef: FloatArray
    weigh: Callable[[Codes, FloatArray], tuple[FloatArray, FloatArray | None]]
    rows: Mask
    columns: Mask


class Place(NamedTuple):
    """Coefficients, the loss there, the slopes, and the second derivatives where memory holds them."""

    coef: FloatArray
    margins: FloatArray
    first: FloatArray
    second: FloatArray
    value: float
    slopes: FloatArray
    system: FloatArray | None


#: What comes back from a pass: the sum, and the second derivatives if they were asked for.
Summed = tuple[FloatArray, FloatArray | None]

_Found = TypeVar("_Found")

#: A computation that yields what it needs of passes.
Asking = Generator[Sum, Summed, _Found]


def one_pass(values: Values, objectives: Sequence[ChunkedObjective], waiting: dict[int, Sum]) -> dict[int, Summed]:
    """The sums that objectives, by their number, wait for."""
    rows = np.logical_or.reduce([one.rows for one in waiting.values()])
    columns = np.logical_or.reduce([one.columns | (one.coef != 0) for one in waiting.values()])
    part = rows.mean() * columns.mean() < _PART
    chosen = np.flatnonzero(columns) if part else np.arange(values.n_basis)
    coef = np.column_stack([(objectives[k].own * one.coef)[chosen] for k, one in waiting.items()])
    sums = np.zeros_like(coef)
    systems: dict[int, FloatArray] = {}
    for some, block in values.chunks(np.flatnonzero(rows) if part else None, chosen if part else None):
        margins = block @ coef
        for place, (k, one) in enumerate(waiting.items()):
            signs = objectives[k].signs[some]
            weights, second = one.weigh(some, signs * margins[:, place])
            margins[:, place] = signs * weights
            if second is not None:
                # BLAS computes the transpose of a matrix times the matrix in half the time.
                scaled = block * np.sqrt(second)[:, None]
                if k not in systems:
                    systems[k] = np.zeros((values.n_basis, values.n_basis))
                systems[k] += scaled.T @ scaled
        sums += block.T @ margins
    found: dict[int, Summed] = {}
    for place, k in enumerate(waiting):
        total, own = np.zeros(values.n_basis), objectives[k].own
        total[chosen] = sums[:, place]
        if k in systems:
            systems[k] *= own
            systems[k] *= own[:, None]
        found[k] = own * total, systems.get(k)
    return found


def look(objective: ChunkedObjective, coef: FloatArray, *, pairs: bool = False) -> Asking[Place]:
    """The place with these coefficients, with the second derivatives if `pairs`."""
    n_rows = objective.weight.size
    margins, first, second = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    losses = []

    def weigh(rows: Codes, some: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        margins[rows] = some
        loss, first[rows], second[rows] = objective.terms(some, rows)
        losses.append(loss)
        return first[rows], second[rows] if pairs else None

    total, system = yield Sum(coef, weigh, np.ones(n_rows, dtype=bool), np.ones(coef.size, dtype=bool))
    pulled = objective.pull(coef, margins)
    if system is not None:
        if objective.matrix is not None and objective.matrix.shape[0] == coef.size:
            system += 2.0 * objective.scale * objective.matrix
        else:
            system.flat[:: coef.size + 1] += 2.0 * objective.diagonal()
    return Place(coef, margins, first, second, sum(losses) + float(coef @ pulled), total + 2.0 * pulled, system)


def conjugate(
    product: Callable[[FloatArray], Asking[FloatArray]],
    inverse: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    enough: Callable[[FloatArray, float], bool],
    most: int,
) -> Asking[FloatArray]:
    """The solution of a positive semidefinite system by conjugate gradients.

    `product` yields what it needs to multiply the system with a vector, `inverse` multiplies with an approximate
    inverse. `enough` takes a solution and the share of the error, in the norm of that inverse, that it leaves.
    """
    solution, left = np.zeros(right.size), right
    step = inverse(left)
    direction, length = step, float(left @ step)
    first = length
    for _ in range(most):
        if not length > 0:
            break
        moved = yield from product(direction)
        bend = float(direction @ moved)
        if not bend > 0:
            break
        solution = solution + length / bend * direction
        left = left - length / bend * moved
        step = inverse(left)
        before, length = length, float(left @ step)
        if enough(solution, np.sqrt(max(0.0, length / first))):
            break
        direction = step + length / before * direction
    return solution
