"""Mean change of the predictions of a fitted model when one column takes other values, in batches of rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray, Matrix

#: Changed rows predicted in one call at most; a kernel machine needs memory for each of them.
_ROWS = 8_192

#: Values that the changed rows of one call may hold.
_CELLS = 4_000_000

#: Kinds of predictions of a classifier, and the methods that give them.
METHODS = {"probability": "predict_proba", "decision": "decision_function", "class": "predict"}


@dataclass(frozen=True, eq=False)
class Predict:
    """The predictions of a fitted model as numbers, of shape (n_rows, n_outputs); a class as its indicators.

    `of` is one of :data:`METHODS`, or "number" for a regressor.
    """

    model: Any
    of: str

    def __call__(self, X: Matrix) -> FloatArray:
        predictions = np.asarray(getattr(self.model, METHODS.get(self.of, "predict"))(X))
        if self.of == "class":
            predictions = (predictions[:, None] == self.model.classes_).astype(np.float64)
        return np.asarray(predictions.reshape(predictions.shape[0], -1))


class _Changes(NamedTuple):
    """Rows in which a column takes another value, and how many training rows have that value."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    counts: np.ndarray


def mean_changes(predict: Predict, X: Matrix, values: Matrix, columns: np.ndarray) -> FloatArray:
    """S(j) = mean over i, k of |f(x_i) - f(x_i with column j := V_kj)| for some columns j.

    The rows x_i are those of `X`, the rows V_k those of `values`. The differences of several outputs of f are averaged.
    A value that several rows V_k share is predicted once, and not for a row that has it already. Sparse rows stay
    sparse.
    """
    before = predict(X)
    if not np.isfinite(before).all():
        raise TamisError("importance: the model gives predictions that are not finite")
    scale = float(np.abs(before).max())
    changed = _change_sparse if sp.issparse(X) else _change_dense
    sums: FloatArray = np.zeros(X.shape[1])
    for some in _batches(_all_changes(X, values, columns), _batch_size(X)):
        after = predict(changed(X, some))
        change = np.abs(after - before[some.rows]).mean(axis=1, dtype=np.float64)
        sums += np.bincount(some.columns, weights=some.counts * change, minlength=sums.shape[0])
    found: FloatArray = sums[columns] / (X.shape[0] * values.shape[0])
    if not np.isfinite(found).all():
        raise TamisError("importance: the model gives predictions that are not finite")
    # Predictions of a row may differ by rounding with the other rows of a call.
    found[found <= np.finfo(before.dtype).eps ** 0.75 * scale] = 0.0
    return found


def _batch_size(X: Matrix) -> int:
    widest = int(np.diff(X.indptr).max()) if sp.issparse(X) else X.shape[1]
    return max(1, min(_ROWS, _CELLS // max(1, widest)))


def _all_changes(X: Matrix, values: Matrix, columns: np.ndarray) -> Iterator[_Changes]:
    """The changes of one column after the other, in batches that fit in memory."""
    for j, here, there in zip(columns, _each(X, columns), _each(values, columns), strict=True):
        distinct, counts = np.unique(there, return_counts=True)
        width = max(1, _ROWS // here.shape[0])
        for left in range(0, distinct.shape[0], width):
            some = distinct[left : left + width]
            other = (here[:, None] != some) & ~(np.isnan(here)[:, None] & np.isnan(some))
            rows, which = np.nonzero(other)
            yield _Changes(rows, np.full(rows.shape[0], j), some[which], counts[left : left + width][which])


def _each(X: Matrix, columns: np.ndarray) -> Iterator[np.ndarray]:
    """The columns with the given numbers, one after the other."""
    if not sp.issparse(X):
        yield from (X[:, j] for j in columns)
        return
    by_column = X.tocsc()
    for j in columns:
        segment = slice(by_column.indptr[j], by_column.indptr[j + 1])
        column = np.zeros(X.shape[0], dtype=X.dtype)
        column[by_column.indices[segment]] = by_column.data[segment]
        yield column


def _batches(changes: Iterator[_Changes], size: int) -> Iterator[_Changes]:
    """The same in batches of `size`, those of several columns together; the last may be smaller."""
    waiting: list[_Changes] = []
    count = 0
    for one in changes:
        waiting.append(one)
        count += one.rows.shape[0]
        if count >= size:
            joined = _joined(waiting)
            whole = count - count % size
            for left in range(0, whole, size):
                yield _Changes(*(part[left : left + size] for part in joined))
            waiting, count = [_Changes(*(part[whole:] for part in joined))], count - whole
    if count:
        yield _joined(waiting)


def _joined(parts: list[_Changes]) -> _Changes:
    return _Changes(*(np.concatenate(one) for one in zip(*parts, strict=True)))


def _change_dense(X: FloatArray, some: _Changes) -> FloatArray:
    changed: FloatArray = X[some.rows]
    changed[np.arange(some.rows.shape[0]), some.columns] = some.values
    return changed


def _change_sparse(X: Matrix, some: _Changes) -> Matrix:
    """A stored value of the column is left out, and the new one put in unless it is zero."""
    old = X[some.rows]
    place = np.repeat(np.arange(old.shape[0]), np.diff(old.indptr))
    stay = old.indices != some.columns[place]
    new = np.flatnonzero(some.values)
    rows = np.concatenate([place[stay], new])
    columns = np.concatenate([old.indices[stay], some.columns[new]])
    data = np.concatenate([old.data[stay], some.values[new]])
    return type(X)((data, (rows, columns)), shape=old.shape)
