"""Columns as a few states, for counting mutual information."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.moments import in_rows
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import canonical
from tamis.bins.cuts import Cuts, starts
from tamis.bins.values import few_whole, value_cuts
from tamis.discretize.equal_frequency import frequency_cuts
from tamis.discretize.equal_width import width_cuts
from tamis.discretize.modl import modl_intervals
from tamis.discretize.sigma import sigma_cuts
from tamis.discretize.ssv import ssv
from tamis.kernels.states import row_states, segment_states, turned
from tamis.trees.rows import counted

_UNSUPERVISED = {"sigma": sigma_cuts, "equal_width": width_cuts, "equal_frequency": frequency_cuts}
#: Methods that use the classes; "ssv" ignores the weights of rows.
_SUPERVISED = ("modl", "ssv")

#: The values of `by`.
METHODS = ("auto", "values", *_UNSUPERVISED, *_SUPERVISED)

#: Most cuts of a column whose states fit into one byte.
LARGEST = 126


@dataclass(frozen=True)
class States:
    """States 0, 1, ... of each row in each column, -1 for missing values, made by :func:`states`.

    `sizes` is the highest state of each column plus one; 1 for a constant or one without known values. Dense columns
    are the rows of `codes` (int8 or int32). Of sparse ones (`codes` is None) the entries ``indptr[j]`` up to
    ``indptr[j + 1]`` of `rows` and `stored` (int32) are the rows of column j whose state is not that of the value zero,
    and their states; all other rows are in the state ``zero[j]``.
    """

    n_rows: int
    sizes: np.ndarray
    codes: np.ndarray | None = None
    indptr: np.ndarray | None = None
    rows: np.ndarray | None = None
    stored: np.ndarray | None = None
    zero: np.ndarray | None = None


def states(
    X: Matrix,
    y: Codes | None = None,
    by: str = "auto",
    n_bins: int | None = None,
    nominal: Mask | None = None,
    sample_weight: FloatArray | None = None,
) -> States:
    """Replace every value of validated data by a state, a small whole number; sparse columns stay sparse.

    With `by` "values" each distinct value is a state, in ascending order. "auto" does so for columns of whole numbers
    with at most 32 distinct values, and cuts the others by "sigma". The rest of :data:`METHODS` are methods of
    :class:`tamis.discretize.Discretize`; "modl" and "ssv" need `y`. `n_bins` is the number of bins, for these two the
    most. In `nominal` columns each level is a state. Weights count as repeated rows; for "ssv" a row counts once.

    Examples
    --------
    >>> import numpy as np
    >>> found = states(np.array([[5.0, 0.1], [7.0, 0.5], [5.0, 0.9]]))
    >>> found.codes, found.sizes
    (array([[0, 1, 0],
           [0, 1, 2]], dtype=int8), array([2, 3]))
    """
    X = in_columns(X)
    cuts = cuts_of(X, y, by, n_bins, nominal, sample_weight)
    if sp.issparse(X):
        return _of_sparse(X, cuts)
    parts = []
    for columns, block in in_rows(X):
        some = cuts.between(columns.start, columns.stop)
        parts.append(column_codes(block, some) if some.count.max() > LARGEST else _transposed(row_codes(block, some)))
    codes = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return States(X.shape[0], np.maximum(codes.max(axis=1), 0).astype(np.int64) + 1, codes)


def in_columns(X: Matrix) -> Matrix:
    """The matrix as a float array or in canonical CSC form, as the functions below need it."""
    if sp.issparse(X):
        return canonical(X.tocsc())
    if X.dtype.kind == "f":
        return X
    return X.astype(np.float32 if X.itemsize < 4 else np.float64)


def cuts_of(
    X: Matrix,
    y: Codes | None,
    by: str,
    n_bins: int | None,
    nominal: Mask | None = None,
    sample_weight: FloatArray | None = None,
) -> Cuts:
    """The cuts between the states of columns, with the parameters of :func:`states`."""
    X, classes, weight = counted(X, np.zeros(X.shape[0], dtype=np.intp) if y is None else y, sample_weight)
    named = np.zeros(X.shape[1], dtype=bool) if nominal is None else nominal
    if by in ("auto", "values"):
        few, cuts = few_whole(X)
        others = ~few
        if by == "auto" and (others & ~named).any():
            cuts = cuts.where(few, sigma_cuts(X, n_bins, weight))
            others &= named
    elif by in _SUPERVISED and y is None:
        raise TamisError(f'bins by "{by}" need the classes: pass y')
    elif by == "modl":
        cuts, others = modl_intervals(X, classes, sample_weight=weight, max_bins=n_bins).cuts, named
    elif by == "ssv":
        usual: dict[str, Any] = {"min_gain": "auto", "class_weight": None, "cv": 10, "caution": 1.0, "random_state": 0}
        cuts, others = Cuts.of(ssv(X, classes, max_bins=n_bins, **usual)), named
    else:
        cuts, others = _UNSUPERVISED[by](X, n_bins, weight), named
    return value_cuts(X, np.flatnonzero(others), named).where(others, cuts) if others.any() else cuts


def row_codes(X: FloatArray, cuts: Cuts) -> np.ndarray:
    """States of a C-contiguous array, row by row, for at most :data:`LARGEST` cuts per column."""
    table = cuts.padded()
    if X.dtype == np.float32:
        # The smallest single not below a cut separates singles as the cut does.
        single = table.astype(np.float32)
        table = np.where(single < table, np.nextafter(single, np.float32(np.inf)), single)
    out = np.empty(X.shape, dtype=np.int8)
    row_states(X, table, out)
    return out


def column_codes(X: FloatArray, cuts: Cuts) -> np.ndarray:
    """States of an array, column by column, for any number of cuts."""
    n_rows, n_columns = X.shape
    out = np.empty((n_columns, n_rows), dtype=np.int32)
    begin = np.arange(n_columns) * n_rows
    segment_states(np.ascontiguousarray(X.T).ravel(), begin, begin + n_rows, cuts.first, cuts.values, out.ravel())
    return out


def _transposed(codes: np.ndarray) -> np.ndarray:
    out = np.empty(codes.shape[::-1], dtype=np.int8)
    turned(codes, out)
    return out


def stored_states(X: Matrix, cuts: Cuts) -> tuple[np.ndarray, np.ndarray]:
    """State of each stored value of a canonical CSC matrix, -1 where missing, and of zero in each column."""
    begin, each = X.indptr.astype(np.int64), np.arange(X.shape[1] + 1)
    stored, zero = np.empty(X.nnz, dtype=np.int32), np.empty(X.shape[1], dtype=np.int32)
    segment_states(X.data, begin[:-1], begin[1:], cuts.first, cuts.values, stored)
    segment_states(np.zeros(X.shape[1]), each[:-1], each[1:], cuts.first, cuts.values, zero)
    return stored, zero.astype(np.int64)


def _of_sparse(X: Matrix, cuts: Cuts) -> States:
    stored, zero = stored_states(X, cuts)
    other = stored != np.repeat(zero, np.diff(X.indptr))
    indptr, stored = starts(other)[X.indptr], stored[other]
    count = np.diff(indptr)
    top = np.where(count < X.shape[0], zero, 0)
    some = np.flatnonzero(count)
    if some.size:
        top[some] = np.maximum(top[some], np.maximum.reduceat(stored, indptr[some]))
    return States(X.shape[0], top + 1, None, indptr, X.indices[other].astype(np.int32, copy=False), stored, zero)
