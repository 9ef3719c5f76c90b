"""Class-by-state tables of all columns, and the information in them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.moments import in_rows
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.bins.cuts import Cuts, starts
from tamis.bins.values import FEW
from tamis.contingency.information import mutual_information
from tamis.contingency.states import LARGEST, States, column_codes, cuts_of, in_columns, row_codes, states
from tamis.kernels.contingency import column_counts, few_counts, row_counts, stored_counts
from tamis.trees.rows import counted

#: Most states for which comparing codes with each of them is quicker than a lookup.
_COMPARED = 16


class Tables(NamedTuple):
    """Counts or weights (n_classes, n_states) of the slice `columns`, side by side.

    Column j of them owns the states ``first[j]`` up to ``first[j + 1]``; some may be empty.
    """

    columns: slice
    counts: np.ndarray
    first: np.ndarray


class _Rows(NamedTuple):
    """Class and weight of each row."""

    classes: Codes
    weight: np.ndarray
    n_classes: int

    def empty(self, first: np.ndarray) -> np.ndarray:
        return np.zeros((self.n_classes, first[-1]), dtype=self.weight.dtype)


def class_information(
    X: Matrix,
    y: Codes,
    sample_weight: FloatArray | None = None,
    *,
    by: str = "auto",
    n_bins: int | None = None,
    nominal: Mask | None = None,
) -> FloatArray:
    """Mutual information, in nats, of the states of each column and the classes.

    Examples
    --------
    >>> import numpy as np
    >>> class_information(np.array([[0, 1], [0, 2], [1, 1], [1, 2]]), np.array([0, 0, 1, 1])).round(3)
    array([0.693, 0.   ])
    """
    values = np.empty(X.shape[1])
    for columns, counts, first in tables(X, y, sample_weight, by=by, n_bins=n_bins, nominal=nominal):
        values[columns] = mutual_information(counts, first)
    return values


def state_information(found: States, y: Codes) -> FloatArray:
    """The same for given states."""
    rows = _Rows(y, np.ones(y.size, dtype=np.int32), int(y.max()) + 1)
    return mutual_information(*_of_states(found, rows))


def tables(
    X: Matrix,
    y: Codes,
    sample_weight: FloatArray | None = None,
    *,
    by: str = "auto",
    n_bins: int | None = None,
    nominal: Mask | None = None,
) -> Iterator[Tables]:
    """Count the states of each column, as :func:`tamis.contingency.states.states` makes them, in each class.

    Missing values are left out. Integer arrays whose values are the states are counted in place.
    """
    n_classes = int(y.max()) + 1
    X, y, weight = counted(X, y, sample_weight)
    weights = np.ones(y.size, dtype=np.int32) if sample_weight is None else weight
    rows = _Rows(y, weights, n_classes)
    given = None if sample_weight is None else weight
    if sp.issparse(X):
        yield Tables(slice(0, X.shape[1]), *_of_states(states(X, y, by, n_bins, nominal, given), rows))
        return
    if nominal is None and by in ("auto", "values") and X.dtype.kind in "iu":
        low, high = X.min(axis=0).astype(np.int64), X.max(axis=0).astype(np.int64)
        # As floats, because the distance of two integers may overflow.
        if (high.astype(np.float64) - low < FEW).all():
            for columns, block in in_rows(X):
                yield Tables(columns, *_in_rows(block, low[columns], high[columns] - low[columns] + 1, rows))
            return
    X = in_columns(X)
    cuts = cuts_of(X, y, by, n_bins, nominal, given)
    for columns, block in in_rows(X):
        yield Tables(columns, *_of_block(block, cuts.between(columns.start, columns.stop), rows))


def _of_block(block: FloatArray, cuts: Cuts, rows: _Rows) -> tuple[np.ndarray, np.ndarray]:
    if cuts.count.max() <= LARGEST:
        lowest = np.full(block.shape[1], -1, dtype=np.int64)
        counts, first = _in_rows(row_codes(block, cuts), lowest, cuts.count + 2, rows)
        # The first state is for missing values.
        counts[:, first[:-1]] = 0
        return counts, first
    first = starts(cuts.count + 1)
    counts = rows.empty(first)
    column_counts(column_codes(block, cuts), first, rows.classes, rows.weight, counts)
    return counts, first


def _in_rows(codes: np.ndarray, lowest: np.ndarray, sizes: np.ndarray, rows: _Rows) -> tuple[np.ndarray, np.ndarray]:
    """Tables of codes stored row by row, those of column j from ``lowest[j]`` on."""
    if codes.itemsize == 1 and rows.weight.dtype == np.int32:
        low, high = int(lowest.min()), int((lowest + sizes).max())
        if high - low <= _COMPARED:
            first = np.arange(sizes.size + 1, dtype=np.int64) * (high - low)
            counts = rows.empty(first)
            order = np.argsort(rows.classes, kind="stable")
            begin = starts(np.bincount(rows.classes, minlength=rows.n_classes))
            few_counts(codes, np.arange(low, high).astype(codes.dtype), order, begin, counts)
            return counts, first
    first = starts(sizes)
    counts = rows.empty(first)
    row_counts(codes, first[:-1] - lowest, rows.classes, rows.weight, counts)
    return counts, first


def _of_states(found: States, rows: _Rows) -> tuple[np.ndarray, np.ndarray]:
    first = starts(found.sizes)
    counts = rows.empty(first)
    if found.codes is not None:
        column_counts(found.codes, first, rows.classes, rows.weight, counts)
        return counts, first
    members = np.bincount(rows.classes, minlength=rows.n_classes)
    size = np.bincount(rows.classes, weights=rows.weight, minlength=rows.n_classes).astype(rows.weight.dtype)
    listed = found.indptr, found.rows, found.stored, found.zero
    stored_counts(*listed, first, rows.classes, rows.weight, members, size, counts)
    return counts, first
