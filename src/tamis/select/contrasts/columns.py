"""Columns as trees read them, and their contrasts: the same values in an order drawn anew."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.types import Matrix
from tamis.base.validation import canonical

#: Places drawn at a time, which bounds the memory that the drawing takes.
_AT_ONCE = 4_000_000


class Columns(ABC):
    """Columns of numbers in single precision, as scikit-learn's trees take them.

    A block is a set of columns in the form of the class: the columns of a dense table as the rows of an array, those
    of a sparse one as a CSC matrix. Dense and sparse columns get the same contrasts from the same generator.
    """

    n_rows: int
    n_columns: int

    @abstractmethod
    def take(self, which: np.ndarray) -> Any:
        """The block of some columns."""

    @abstractmethod
    def moved(self, block: Any, first: int, places: np.ndarray) -> Any:
        """The columns of a block from `first` on, as many as `places` has rows, each value moved to its new place."""

    @abstractmethod
    def joined(self, blocks: list[Any]) -> Any:
        """Blocks side by side."""

    @abstractmethod
    def picked(self, block: Any, which: np.ndarray) -> Any:
        """Some columns of a block."""

    @abstractmethod
    def rows(self, block: Any) -> Matrix:
        """A block as a table, a column for each of its own."""

    def contrasts(self, which: np.ndarray, rng: np.random.Generator) -> Any:
        """The block of the contrasts of some columns, each in an order of its own."""
        block = self.take(which)
        here = np.arange(self.n_rows, dtype=np.int32)
        step = max(1, _AT_ONCE // max(1, self.n_rows))
        parts = []
        for first in range(0, which.size, step):
            size = min(step, which.size - first)
            parts.append(self.moved(block, first, rng.permuted(np.tile(here, (size, 1)), axis=1)))
        return self.joined(parts)


def columns_of(X: Matrix) -> Columns:
    """The columns of a validated table; a sparse one is never made dense."""
    return _Sparse(X) if sp.issparse(X) else _Dense(X)


class _Dense(Columns):
    def __init__(self, X: np.ndarray) -> None:
        self.n_rows, self.n_columns = X.shape
        self._store = _single(np.ascontiguousarray(X.T))

    def take(self, which: np.ndarray) -> Any:
        return self._store[which]

    def moved(self, block: Any, first: int, places: np.ndarray) -> Any:
        shuffled = np.empty(places.shape, dtype=np.float32)
        np.put_along_axis(shuffled, places, block[first : first + places.shape[0]], axis=1)
        return shuffled

    def joined(self, blocks: list[Any]) -> Any:
        return np.concatenate(blocks)

    def picked(self, block: Any, which: np.ndarray) -> Any:
        return block[which]

    def rows(self, block: Any) -> Matrix:
        return block.T


class _Sparse(Columns):
    def __init__(self, X: Matrix) -> None:
        self.n_rows, self.n_columns = X.shape
        X = canonical(X.tocsc())
        self._store = sp.csc_matrix((_single(X.data), X.indices, X.indptr), shape=X.shape)

    def take(self, which: np.ndarray) -> Any:
        return self._store[:, which]

    def moved(self, block: Any, first: int, places: np.ndarray) -> Any:
        indptr = block.indptr[first : first + places.shape[0] + 1]
        stored = slice(indptr[0], indptr[-1])
        column = np.repeat(np.arange(places.shape[0]), np.diff(indptr))
        shape = (self.n_rows, places.shape[0])
        indices = places[column, block.indices[stored]]
        shuffled = sp.csc_matrix((block.data[stored], indices, indptr - indptr[0]), shape=shape)
        shuffled.sort_indices()
        return shuffled

    def joined(self, blocks: list[Any]) -> Any:
        return sp.hstack(blocks, format="csc")

    def picked(self, block: Any, which: np.ndarray) -> Any:
        return block[:, which]

    def rows(self, block: Any) -> Matrix:
        return block


def _single(values: np.ndarray) -> np.ndarray:
    """Numbers in single precision."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if np.isinf(single).any():
        raise TamisError("contrasts: some values are too large for the trees' single precision; scale the columns")
    return single
