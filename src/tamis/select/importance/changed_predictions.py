"""How far the answers of a fitted classifier move when one column takes other values: many changed rows at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray, Matrix

#: Changed rows that are answered in one call at most; a kernel classifier needs room for each of them.
_ROWS = 8_192

#: Numbers that the changed rows of one call may hold.
_CELLS = 4_000_000

#: What a classifier may be asked, with the method that says it.
METHODS = {"probability": "predict_proba", "decision": "decision_function", "class": "predict"}


@dataclass(frozen=True, eq=False)
class Answers:
    """What a fitted classifier says of rows, as numbers.

    Attributes
    ----------
    model : fitted classifier or pipeline
    of : {"probability", "decision", "class"}
        A class is 1 for the class that is said and 0 for the others.
    """

    model: Any
    of: str

    def __call__(self, X: Matrix) -> FloatArray:
        """Shape (n_rows, n_answers)."""
        said = np.asarray(getattr(self.model, METHODS[self.of])(X))
        if self.of == "class":
            said = (said[:, None] == self.model.classes_).astype(np.float64)
        return np.asarray(said.reshape(said.shape[0], -1))


class _Changes(NamedTuple):
    """Rows in which a column takes another value, and how many training rows have that value."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    counts: np.ndarray


def mean_changes(answers: Answers, asked: Matrix, values: Matrix, columns: np.ndarray) -> FloatArray:
    """S(j) = mean over i, k of |f(x_i) - f(x_i with column j := V_kj)| for some columns j.

    Parameters
    ----------
    answers : Answers
        The function f; of several answers the differences are averaged.
    asked, values : arrays or CSR matrices with the same columns
        The rows x_i, and the rows from which the values V_kj are taken.
    columns : int array
        The columns to change.

    Notes
    -----
    A value that several rows V_k share is asked once, and a row that has it already not at all: columns of few
    values, such as those of sparse rows, cost little. Sparse rows stay sparse.
    """
    before = answers(asked)
    if not np.isfinite(before).all():
        raise TamisError("importance: the model gives answers that are not finite")
    scale = float(np.abs(before).max())
    change = _change_sparse if sp.issparse(asked) else _change_dense
    sums: FloatArray = np.zeros(asked.shape[1])
    for some in _batches(_all_changes(asked, values, columns), _batch_size(asked)):
        after = answers(change(asked, some))
        moved = np.abs(after - before[some.rows]).mean(axis=1, dtype=np.float64)
        sums += np.bincount(some.columns, weights=some.counts * moved, minlength=sums.shape[0])
    found: FloatArray = sums[columns] / (asked.shape[0] * values.shape[0])
    if not np.isfinite(found).all():
        raise TamisError("importance: the model gives answers that are not finite")
    # The answer for one row can depend on which others are asked with it, by rounding.
    found[found <= np.finfo(before.dtype).eps ** 0.75 * scale] = 0.0
    return found


def _batch_size(asked: Matrix) -> int:
    widest = int(np.diff(asked.indptr).max()) if sp.issparse(asked) else asked.shape[1]
    return max(1, min(_ROWS, _CELLS // max(1, widest)))


def _all_changes(asked: Matrix, values: Matrix, columns: np.ndarray) -> Iterator[_Changes]:
    """The changes of one column after the other, so many at a time as have room."""
    for j, here, there in zip(columns, _each(asked, columns), _each(values, columns), strict=True):
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
