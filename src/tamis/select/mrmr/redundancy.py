"""Redundancy of pairs of columns, computed on demand: mutual information or correlation."""

from abc import ABC, abstractmethod

import numpy as np

from tamis.base.moments import ClassMoments, divide
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.contingency.states import States
from tamis.contingency.tables import state_information
from tamis.kernels.correlation import dense_correlation, stored_correlation
from tamis.kernels.joint import FEW, GRID, dense_information, pack_states, stored_information
from tamis.kernels.sparse import stored_arrays


class Redundancy(ABC):
    """Redundancy of columns with the selected ones; `flat` marks columns with a single value, which share nothing."""

    flat: Mask

    def __init__(self) -> None:
        self._selected: list[int] = []

    def add(self, column: int) -> None:
        """Add a column to the selected ones."""
        self._selected.append(column)

    @abstractmethod
    def summed(self, columns: np.ndarray, since: np.ndarray) -> FloatArray:
        """Sum of the redundancies of each of the `columns` with the selected ones from number ``since`` on.

        Each redundancy is zero or more, and a multiple of 2^-30: the sums are exact.
        """


class Information(Redundancy):
    """Mutual information of columns as states, in nats; rows where one of the two is missing are left out."""

    def __init__(self, found: States) -> None:
        super().__init__()
        self.flat = found.sizes <= 1
        self._found = found
        counts = np.arange(1.0, found.n_rows + 1.0)
        self._terms = np.concatenate(([0.0], counts * np.log(counts)))
        if found.codes is not None:
            self._first = np.concatenate(([0], np.cumsum(np.where(found.sizes <= FEW, found.sizes, 0))))
            self._bits = np.zeros((self._first[-1], -(-found.n_rows // 64)), dtype=np.uint64)
            pack_states(found.codes, self._first, self._bits)

    def with_classes(self, y: Codes) -> FloatArray:
        """Mutual information of each column with the classes, rounded like that of pairs."""
        return np.rint(GRID * state_information(self._found, y)) / GRID

    def summed(self, columns: np.ndarray, since: np.ndarray) -> FloatArray:
        found, out = self._found, np.zeros(columns.size)
        wanted = columns, since, np.array(self._selected, dtype=np.intp), self._terms, out
        if found.codes is not None:
            dense_information(found.codes, found.sizes, self._bits, self._first, *wanted)
        else:
            sparse = found.indptr, found.rows, found.stored, found.zero, found.sizes, found.n_rows
            stored_information(*sparse, *wanted)
        return out


class DenseCorrelation(Redundancy):
    """Absolute correlation of dense columns without missing values; 0 for constant ones."""

    def __init__(self, X: FloatArray) -> None:
        super().__init__()
        self._X = X
        self._mean, self._scale = _mean_and_scale(X)
        self.flat = self._scale == 0
        # Columns of mean 0 and length 1, as rows, computed when first needed.
        self._unit = np.empty((0, X.shape[0]))
        self._place = np.full(X.shape[1], -1)
        self._made = 0

    def add(self, column: int) -> None:
        self._make(np.array([column]))
        self._selected.append(int(self._place[column]))

    def summed(self, columns: np.ndarray, since: np.ndarray) -> FloatArray:
        self._make(columns)
        out = np.zeros(columns.size)
        dense_correlation(self._unit, self._place[columns], since, np.array(self._selected, dtype=np.intp), out)
        return out

    def _make(self, columns: np.ndarray) -> None:
        new = columns[self._place[columns] < 0]
        made = self._made + new.size
        if made > self._unit.shape[0]:
            room = np.empty((min(2 * made, self._X.shape[1]), self._X.shape[0]))
            room[: self._made] = self._unit[: self._made]
            self._unit = room
        rows = self._unit[self._made : made]
        rows[:] = self._X[:, new].T
        rows -= self._mean[new, None]
        rows *= self._scale[new, None]
        self._place[new] = np.arange(self._made, made)
        self._made = made


class SparseCorrelation(Redundancy):
    """Absolute correlation of sparse columns, from their stored values; 0 for constant ones."""

    def __init__(self, X: Matrix) -> None:
        super().__init__()
        mean, scale = _mean_and_scale(X)
        self.flat = scale == 0
        X = X.tocsc()
        values, rows, first = stored_arrays(X)
        self._columns = first, rows, values * np.repeat(scale, np.diff(first)), mean * scale, X.shape[0]

    def summed(self, columns: np.ndarray, since: np.ndarray) -> FloatArray:
        out = np.zeros(columns.size)
        stored_correlation(*self._columns, columns, since, np.array(self._selected, dtype=np.intp), out)
        return out


def _mean_and_scale(X: Matrix) -> tuple[FloatArray, FloatArray]:
    """Mean of each column, and one over its length about it; 0 for a constant."""
    moments = ClassMoments.of(X, np.zeros(X.shape[0], dtype=np.intp))
    return moments.mean[0], divide(1.0, np.sqrt(moments.scatter[0]))
