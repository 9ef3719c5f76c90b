"""Columns sorted by value, the form in which splits are searched."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.base.sparse import canonical
from tamis.base.types import FloatArray, Matrix
from tamis.kernels.tree import sort_segments

#: Numbers of a dense matrix that are sorted at a time.
_BLOCK = 1_000_000


@dataclass(frozen=True)
class SortedColumns:
    """Some columns of a matrix, each as its non-zero values in ascending order, missing values last.

    Attributes
    ----------
    features : int array of shape (n_columns,)
        The columns' numbers in the matrix.
    begin, end : int arrays of shape (n_columns,)
        The segment of `rows` and `values` that belongs to each column.
    rows, values : arrays of shape (n_stored,)
        Row number and value. A row that is not listed in a column holds zero there.
    """

    features: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    rows: np.ndarray
    values: FloatArray


def sorted_columns(X: Matrix, *, whole: bool = False) -> Iterator[SortedColumns]:
    """The columns of `X` in blocks of a moderate size, or all in one with `whole`; `X` is left alone."""
    if sp.issparse(X):
        yield _of_sparse(X)
        return
    width = max(1, _BLOCK // max(1, X.shape[0]))
    blocks = (_of_dense(X[:, left : left + width], left) for left in range(0, X.shape[1], width))
    if whole and X.shape[1] > 0:
        yield _joined(list(blocks))
    else:
        yield from blocks


def level_codes(column: FloatArray) -> tuple[np.ndarray, int]:
    """Levels as whole numbers, -1 where missing, and how many there are."""
    levels = np.where(np.isnan(column), -1, column).astype(np.int32)
    return levels, int(levels.max()) + 1


def _of_sparse(X: Matrix) -> SortedColumns:
    columns = canonical(X.tocsc())
    if columns is X or not columns.data.all():
        columns = columns.copy()
        columns.eliminate_zeros()
    starts = columns.indptr.astype(np.int64)
    rows, values = columns.indices.astype(np.int32, copy=False), columns.data
    sort_segments(starts, rows, values)
    return _checked(SortedColumns(np.arange(X.shape[1]), starts[:-1], starts[1:], rows, values))


def _of_dense(block: FloatArray, first: int) -> SortedColumns:
    columns = np.ascontiguousarray(block.T)
    order = np.argsort(columns, axis=1)
    values = np.take_along_axis(columns, order, axis=1)
    stored = values != 0
    if stored.all():
        ends = np.arange(1, columns.shape[0] + 1, dtype=np.int64) * columns.shape[1]
        rows, values = order.astype(np.int32).ravel(), values.ravel()
    else:
        ends = np.cumsum(stored.sum(axis=1), dtype=np.int64)
        rows, values = order[stored].astype(np.int32), values[stored]
    begin = np.concatenate(([0], ends[:-1]))
    return _checked(SortedColumns(np.arange(first, first + columns.shape[0]), begin, ends, rows, values))


def _joined(blocks: list[SortedColumns]) -> SortedColumns:
    if len(blocks) == 1:
        return blocks[0]
    sizes = np.concatenate([b.end - b.begin for b in blocks])
    ends = np.cumsum(sizes, dtype=np.int64)
    return SortedColumns(
        np.concatenate([b.features for b in blocks]),
        ends - sizes,
        ends,
        np.concatenate([b.rows for b in blocks]),
        np.concatenate([b.values for b in blocks]),
    )


def _checked(columns: SortedColumns) -> SortedColumns:
    bad = np.isinf(columns.values)
    if bad.any():
        place = int(np.searchsorted(columns.end, int(np.flatnonzero(bad)[0]), side="right"))
        raise DataError(f"column {int(columns.features[place])} (counted from 0) contains infinity")
    return columns
