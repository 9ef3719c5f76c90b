"""Distinct values of columns as states."""

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.base.moments import in_rows
from tamis.base.types import FloatArray, Mask, Matrix
from tamis.bins.cuts import Cuts
from tamis.kernels.states import WINDOW, few_values, whole_values

#: Most distinct whole numbers of a numeric column whose values are the states.
FEW = 32
#: Most distinct values that can be states.
MOST = 10_000


def few_whole(X: Matrix) -> tuple[Mask, Cuts]:
    """Which columns of an array or canonical CSC matrix have at most :data:`FEW` values, all whole, and their cuts."""
    if sp.issparse(X):
        starts = X.indptr.astype(np.int64)
        return _listed(X.data, starts, np.diff(starts) < X.shape[0], np.arange(X.shape[1]))
    found = [_of_rows(block, np.arange(X.shape[1])[columns]) for columns, block in in_rows(X)]
    return np.concatenate([few for few, _ in found]), Cuts.joined([cuts for _, cuts in found])


def value_cuts(X: Matrix, columns: np.ndarray, nominal: Mask) -> Cuts:
    """The cuts that separate all distinct values of some columns; none for the others."""
    return Cuts.of([_distinct(X, j, nominal=nominal[j])[1:] for j in columns]).spread(columns, X.shape[1])


def _distinct(X: Matrix, j: int, *, nominal: bool) -> FloatArray:
    """The known values of one column, ascending."""
    if sp.issparse(X):
        column = X.data[X.indptr[j] : X.indptr[j + 1]]
        column = np.append(column, 0.0) if column.size < X.shape[0] else column
    else:
        column = X[:, j]
    found = np.unique(column).astype(np.float64)
    found = found[~np.isnan(found)]
    if np.isinf(found).any():
        raise DataError(f"column {j} (counted from 0) contains infinity")
    if found.size > MOST:
        what, fix = ("levels", "leave it out") if nominal else ("distinct values", 'cut it into bins, as "sigma" does')
        raise DataError(f"column {j} (counted from 0) has {found.size} {what}, and at most {MOST} can be states; {fix}")
    return found


def _of_rows(X: FloatArray, names: np.ndarray) -> tuple[Mask, Cuts]:
    """As :func:`_listed`, in a pass over the rows for columns whose values are near each other."""
    start = X[0].astype(np.float64)
    for j in np.flatnonzero(np.isnan(start)):
        known = X[~np.isnan(X[:, j]), j]
        start[j] = known[:1].sum()
    base = np.floor(start) - WINDOW // 2
    seen = np.zeros(X.shape[1], dtype=np.uint64)
    far, broken = np.zeros(X.shape[1], dtype=bool), np.zeros(X.shape[1], dtype=bool)
    whole_values(X, base, seen, far, broken)
    few = ~(far | broken) & (np.bitwise_count(seen) <= FEW)
    # The lowest bit is the value below the first cut.
    seen = np.where(few, seen & (seen - (seen > 0).astype(np.uint64)), np.uint64(0))
    bits = np.unpackbits(seen[:, None].view(np.uint8), axis=1, bitorder="little")
    column, bit = np.nonzero(bits)
    cuts = Cuts.counted(np.bitwise_count(seen), base[column] + bit)
    left = np.flatnonzero(far & ~broken)
    if not left.size:
        return few, cuts
    values = np.ascontiguousarray(X[:, left].T).ravel()
    some, others = _listed(values, np.arange(left.size + 1) * X.shape[0], np.zeros(left.size, dtype=bool), names[left])
    few[left] = some
    return few, others.spread(left, few.size).where(far, cuts)


def _listed(values: FloatArray, starts: np.ndarray, zeros: Mask, names: np.ndarray) -> tuple[Mask, Cuts]:
    """Which segments hold a few whole numbers, and the cuts that separate them."""
    room = np.minimum(np.diff(starts) + zeros, FEW).sum() + FEW
    found, count = np.empty(room), np.empty(zeros.size, dtype=np.int64)
    few_values(values, starts[:-1], starts[1:], zeros, FEW, found, count)
    size = np.maximum(count, 0)
    first = np.cumsum(size) - size
    found = found[: size.sum()]
    bad = np.flatnonzero(np.isinf(found))
    if bad.size:
        column = names[np.searchsorted(first, bad[0], side="right") - 1]
        raise DataError(f"column {int(column)} (counted from 0) contains infinity")
    lowest = np.zeros(found.size, dtype=bool)
    lowest[first[size > 0]] = True
    return count >= 0, Cuts.counted(np.maximum(size - 1, 0), found[~lowest])
