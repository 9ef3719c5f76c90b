"""Values of basis functions that do not fit into memory, computed a chunk of rows at a time."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn import get_config

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.classify.convex_net.basis import basis_values, check_largest
from tamis.margins.kernel import GROUNDS, apply, ground, squared_norms
from tamis.margins.low_rank import LowRank

#: Share of scikit-learn's ``working_memory`` for values that a fit holds: 1e8 of them with its default of 1024 MiB.
_SHARE = 0.75

#: Values that are computed at a time, at most, and their share of those that are held.
_CHUNK, _CHUNK_SHARE = 4_000_000, 1 / 8

#: Share of the values that stay from pass to pass, and of those of the low-rank approximation.
_STAY, _APPROXIMATE = 1 / 2, 1 / 4

#: Fewest and most columns of the approximation.
_FEWEST, _MOST = 100, 1_500


def most_values() -> int:
    """Values of basis functions that a fit may hold."""
    return max(1, int(_SHARE * get_config()["working_memory"] * 2**20 / 8))


class ChunkedValues:
    """Basis functions whose values are computed when they are needed; some stay in memory.

    `on` takes numbers of basis functions, None for all, and returns a function from numbers of rows to the values
    there, with a column for each basis function. `diagonal` is that of a kernel's matrix.
    """

    def __init__(
        self,
        on: Callable[[Codes | None], Callable[[Codes], FloatArray]],
        n_rows: int,
        n_basis: int,
        diagonal: FloatArray | None = None,
    ) -> None:
        self.n_rows, self.n_basis, self.diagonal = n_rows, n_basis, diagonal
        self._on = on
        self._held: dict[int, FloatArray] = {}
        self._room = int(_STAY * most_values())
        self._checked = False

    def height(self, width: int) -> int:
        """Rows of `width` values that are computed at a time."""
        return max(1, min(_CHUNK, int(_CHUNK_SHARE * most_values())) // width)

    def chunks(self, rows: Codes | None, columns: Codes | None) -> Iterator[tuple[Codes, FloatArray]]:
        """Chunks of some rows with the values of some basis functions there, a column for each; None is all."""
        every = rows is None and columns is None
        rows = np.arange(self.n_rows) if rows is None else rows
        values = self._on(columns)
        height = self.height(self.n_basis if columns is None else max(1, columns.size))
        for top in range(0, rows.size, height):
            some = rows[top : top + height]
            block = self._held[top] if every and top in self._held else values(some)
            if every and not self._checked:
                check_largest(block)
                if block.size <= self._room:
                    self._held[top] = block
                    self._room -= block.size
            yield some, block
        self._checked |= every

    def lines(self, columns: Codes) -> FloatArray:
        """Values of some basis functions on all rows, a line for each."""
        lines = np.empty((columns.size, self.n_rows))
        for rows, block in self.chunks(None, columns):
            check_largest(block)
            lines[:, rows] = block.T
        return lines


def kernel_chunks(kernel: str, X: Matrix, options: dict[str, Any]) -> ChunkedValues:
    """The kernel at every row as basis functions; `options` are those of :func:`~tamis.margins.kernel.apply`."""

    def on(columns: Codes | None) -> Callable[[Codes], FloatArray]:
        others = X if columns is None else X[columns]
        place = np.full(X.shape[0], -1)
        place[slice(None) if columns is None else columns] = np.arange(others.shape[0])

        def values(rows: Codes) -> FloatArray:
            grounds = ground(kernel, X[rows], others)
            if GROUNDS[kernel] == "distances":
                # The square root of a rounding error would not be small.
                own = np.flatnonzero(place[rows] >= 0)
                grounds[own, place[rows[own]]] = 0.0
            return apply(kernel, grounds, **options)

        return values

    return ChunkedValues(on, X.shape[0], X.shape[0], _diagonal(kernel, X, options))


def basis_chunks(basis: Callable[[Any], Any], X: Matrix, n_basis: int) -> ChunkedValues:
    """The user's basis functions."""

    def on(columns: Codes | None) -> Callable[[Codes], FloatArray]:
        def values(rows: Codes) -> FloatArray:
            found = basis_values(basis, X[rows])
            if found.shape[1] != n_basis:
                raise TamisError(
                    f"'basis' of convex_net returned {found.shape[1]} columns for some rows and {n_basis} for others"
                )
            return found if columns is None else found[:, columns]

        return values

    return ChunkedValues(on, X.shape[0], n_basis)


def _diagonal(kernel: str, X: Matrix, options: dict[str, Any]) -> FloatArray:
    """The kernel of each row with itself."""
    norms = squared_norms(X)
    if GROUNDS[kernel] == "distances":
        norms = np.zeros(norms.size)
    elif GROUNDS[kernel] == "cosines":
        norms = (norms > 0).astype(np.float64)
    return apply(kernel, norms, **options)


def low_rank_of(values: ChunkedValues, diagonal: FloatArray | None) -> LowRank:
    """An approximation from some of the rows; `diagonal` is that of a kernel matrix, None for other values."""
    size = max(values.n_basis, values.n_rows)
    rank = min(values.n_rows, max(_FEWEST, min(_MOST, int(_APPROXIMATE * most_values()) // size)))
    rows = np.sort(generator(0).permutation(values.n_rows)[:rank])
    lines = np.empty((values.n_basis, rank))
    done = 0
    for some, block in values.chunks(rows, None):
        lines[:, done : done + some.size] = block.T
        done += some.size
    if diagonal is None:
        return LowRank.sampled(lines, rows, values.n_rows)
    return LowRank.of(lines, lines[rows], diagonal)
