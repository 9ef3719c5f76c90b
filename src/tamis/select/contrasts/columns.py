"""Columns in single precision, as trees take them, and their contrasts: copies with permuted values."""

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.types import Matrix
from tamis.base.validation import canonical

#: Places drawn at a time, which bounds the memory of the permutations.
_AT_ONCE = 4_000_000


class Columns:
    """The columns of a validated table in single precision: an array in Fortran order, or a CSC matrix.

    Dense and sparse columns get the same contrasts from the same generator.
    """

    def __init__(self, X: Matrix) -> None:
        self._sparse = sp.issparse(X)
        if self._sparse:
            X = canonical(X.tocsc())
            self._X = sp.csc_matrix((_single(X.data), X.indices, X.indptr), shape=X.shape)
        else:
            self._X = _single(X)
        self.n_rows, self.n_columns = X.shape

    def take(self, which: np.ndarray) -> Matrix:
        """Some columns."""
        return self._X[:, which]

    def joined(self, blocks: list[Matrix]) -> Matrix:
        """Blocks of columns side by side."""
        return sp.hstack(blocks, format="csc") if self._sparse else np.hstack(blocks)

    def contrasts(self, which: np.ndarray, rng: np.random.Generator) -> Matrix:
        """The contrasts of some columns, each in an order of its own."""
        here = np.arange(self.n_rows, dtype=np.int32)
        step = max(1, _AT_ONCE // max(1, self.n_rows))
        moved = _moved_sparse if self._sparse else _moved_dense
        parts = []
        for first in range(0, which.size, step):
            block = self.take(which[first : first + step])
            parts.append(moved(block, rng.permuted(np.tile(here, (block.shape[1], 1)), axis=1)))
        return self.joined(parts)


def _moved_dense(block: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Columns with each value moved to a new place; `places` has a row for each column."""
    moved = np.empty(places.shape, dtype=np.float32)
    np.put_along_axis(moved, places, block.T, axis=1)
    return moved.T


def _moved_sparse(block: Matrix, places: np.ndarray) -> Matrix:
    column = np.repeat(np.arange(block.shape[1]), np.diff(block.indptr))
    moved = sp.csc_matrix((block.data, places[column, block.indices], block.indptr), shape=block.shape)
    moved.sort_indices()
    return moved


def _single(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        single = values.astype(np.float32, order="F")
    if np.isinf(single).any():
        raise TamisError("contrasts: some values are too large for the trees' single precision; scale the columns")
    return single
