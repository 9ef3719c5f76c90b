"""Columns sorted by value, as the search for splits needs them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import canonical
from tamis.kernels.tree import SHORT, list_stored, sort_segments

#: Values of a dense matrix sorted at a time.
_BLOCK = 1_000_000


@dataclass(frozen=True)
class SortedColumns:
    """Some columns of a matrix (`features`), each as its non-zero values in ascending order, missing values last.

    Column ``features[j]`` owns the entries ``begin[j]`` up to ``end[j]`` of `rows` and `values`; rows that are not
    listed hold zero.
    """

    features: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    rows: np.ndarray
    values: FloatArray

    @property
    def segments(self) -> tuple[np.ndarray, ...]:
        """The arrays that kernels take first."""
        return self.begin, self.end, self.rows, self.values


def sorted_columns(X: Matrix, features: np.ndarray | None = None, *, whole: bool = False) -> Iterator[SortedColumns]:
    """Columns of `X` (by default all) in blocks of a moderate size, or with `whole` in one; none without columns."""
    features = np.arange(X.shape[1]) if features is None else features
    if sp.issparse(X):
        yield _of_sparse(X if features.size == X.shape[1] else X[:, features], features)
        return
    width = max(1, _BLOCK // max(1, X.shape[0]))
    # All columns are a view; a list of them would be a copy.
    columns = X if features.size == X.shape[1] else X[:, features]
    blocks = (
        _of_dense(columns[:, left : left + width], features[left : left + width])
        for left in range(0, features.size, width)
    )
    if whole and features.size:
        yield _joined(list(blocks))
    else:
        yield from blocks


def level_codes(column: FloatArray) -> tuple[np.ndarray, int]:
    """Levels as integers, -1 where missing, and their number."""
    levels = np.where(np.isnan(column), -1, column).astype(np.int32)
    return levels, int(levels.max()) + 1


def _of_sparse(X: Matrix, features: np.ndarray) -> SortedColumns:
    columns = canonical(X.tocsc())
    if columns is X or not columns.data.all():
        columns = columns.copy()
        columns.eliminate_zeros()
    starts = columns.indptr.astype(np.int64)
    rows, values = columns.indices.astype(np.int32, copy=False), columns.data
    return _sorted(features, starts, rows, values)


def _of_dense(block: FloatArray, features: np.ndarray) -> SortedColumns:
    # In two steps: a transpose of part of long rows would miss the cache at each value.
    columns = np.ascontiguousarray(np.ascontiguousarray(block).T)
    starts = np.concatenate(([0], np.cumsum(np.count_nonzero(columns, axis=1), dtype=np.int64)))
    if starts[-1] == columns.size and columns.shape[1] > SHORT:
        # Without zeros, which are not sorted, all columns are sorted in one call.
        order = np.argsort(columns, axis=1)
        values = np.take_along_axis(columns, order, axis=1).ravel()
        return _checked(SortedColumns(features, starts[:-1], starts[1:], order.astype(np.int32).ravel(), values))
    rows, values = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=columns.dtype)
    list_stored(columns, starts, rows, values)
    return _sorted(features, starts, rows, values)


def _sorted(features: np.ndarray, starts: np.ndarray, rows: np.ndarray, values: FloatArray) -> SortedColumns:
    """Sort columns by value, in place."""
    unsorted = np.empty(features.shape[0], dtype=bool)
    sort_segments(starts, rows, values, unsorted)
    for j in np.flatnonzero(unsorted):
        segment = slice(starts[j], starts[j + 1])
        order = np.argsort(values[segment])
        rows[segment], values[segment] = rows[segment][order], values[segment][order]
    return _checked(SortedColumns(features, starts[:-1], starts[1:], rows, values))


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
