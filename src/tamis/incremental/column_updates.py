"""Judges that update what they know of each column, a block of columns at a time."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import numpy as np

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.incremental.fallback import DoubtingJudge

#: Numbers held for a block of columns.
NUMBERS = 4_000_000

#: What a judge knows of columns: arrays whose first axis runs over these.
Prepared = TypeVar("Prepared", bound=tuple[Any, ...])


class UpdatingJudge(DoubtingJudge, Generic[Prepared]):
    """Base of the judges that update something known of each column: write `_prepare` and `_changed`."""

    def __init__(self, model: Any, X: Matrix, y: Codes, Z: Matrix) -> None:
        super().__init__(model, X, y, Z)
        self.n_classes = int(y.max()) + 1
        #: The spacing of the numbers with which scikit-learn computes.
        self.precision = float(np.finfo(np.float32 if np.float32 in (X.dtype, Z.dtype) else np.float64).eps)
        self._whole: Prepared | None = None

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> Codes:
        """Classes named for the test rows when each candidate alone joins `columns`."""
        return np.concatenate([super(UpdatingJudge, self).add(columns, some) for some in self._blocks(candidates)])

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> Codes:
        """Classes named for the test rows when each candidate alone leaves `columns`."""
        return np.concatenate([super(UpdatingJudge, self).remove(columns, some) for some in self._blocks(candidates)])

    @abstractmethod
    def _prepare(self, columns: np.ndarray) -> Prepared:
        """What updates need to know of some columns."""

    def _prepared(self, columns: np.ndarray) -> Prepared:
        """What updates need to know of some columns; a small table is prepared but once."""
        if (self.X.shape[0] + self.Z.shape[0]) * self.X.shape[1] > NUMBERS:
            return self._prepare(columns)
        if self._whole is None:
            self._whole = self._prepare(np.arange(self.X.shape[1]))
        return type(self._whole)(*(part[columns] for part in self._whole))

    def _blocks(self, columns: np.ndarray) -> list[np.ndarray]:
        """Columns, as many at a time as memory is meant for: training rows, and some arrays for the test rows."""
        width = max(1, NUMBERS // (self.X.shape[0] + 8 * self.Z.shape[0]))
        return [columns[start : start + width] for start in range(0, max(columns.size, 1), width)]


def leaders(scores: Iterable[FloatArray]) -> tuple[Codes, FloatArray]:
    """The class with the highest score, the first of equals, and its lead over the next; one array for each class."""
    remaining = iter(scores)
    best = next(remaining)
    second = np.full_like(best, -np.inf)
    winner = np.zeros(best.shape, dtype=np.intp)
    for k, score in enumerate(remaining, 1):
        winner[score > best] = k
        np.maximum(second, np.minimum(best, score), out=second)
        best = np.maximum(best, score)
    return winner, best - second
