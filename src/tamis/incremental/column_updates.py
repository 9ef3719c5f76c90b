"""Evaluators that update statistics of each column, a block of columns at a time."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import numpy as np

from tamis.base.task import is_numeric
from tamis.base.types import Codes, FloatArray, Matrix, Target
from tamis.incremental.fallback import EvaluatorWithFallback

#: Numbers held for a block of columns.
NUMBERS = 4_000_000

#: Statistics of columns: a named tuple of arrays whose first axis runs over the columns.
Prepared = TypeVar("Prepared", bound=tuple[Any, ...])


class ColumnUpdatingEvaluator(EvaluatorWithFallback, Generic[Prepared]):
    """Base of the evaluators that update statistics of each column: write `_prepare` and `_evaluate`."""

    def __init__(self, model: Any, X: Matrix, y: Target, Z: Matrix) -> None:
        super().__init__(model, X, y, Z)
        #: 0 where the target holds numbers.
        self.n_classes = 0 if is_numeric(y) else int(y.max()) + 1
        #: The machine epsilon of the precision in which scikit-learn computes.
        self.precision = float(np.finfo(np.float32 if np.float32 in (X.dtype, Z.dtype) else np.float64).eps)
        self._whole: Prepared | None = None

    def _certain(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> Target:
        certain = super()._certain
        return np.concatenate([certain(columns, some, joining=joining) for some in self._blocks(candidates)])

    @abstractmethod
    def _prepare(self, columns: np.ndarray) -> Prepared:
        """The statistics of some columns that updates need."""

    def _prepared(self, columns: np.ndarray) -> Prepared:
        """The statistics of some columns; those of a small table are computed once."""
        if (self.X.shape[0] + self.Z.shape[0]) * self.X.shape[1] > NUMBERS:
            return self._prepare(columns)
        if self._whole is None:
            self._whole = self._prepare(np.arange(self.X.shape[1]))
        return type(self._whole)(*(part[columns] for part in self._whole))

    def _blocks(self, columns: np.ndarray) -> list[np.ndarray]:
        """Blocks of columns that fit in memory: their training rows, and some arrays over the test rows."""
        width = max(1, NUMBERS // (self.X.shape[0] + 8 * self.Z.shape[0]))
        return [columns[start : start + width] for start in range(0, max(columns.size, 1), width)]


def leaders(scores: Iterable[FloatArray]) -> tuple[Codes, FloatArray]:
    """The class with the highest score, the first of equals, and its lead over the next; one array per class."""
    remaining = iter(scores)
    best = next(remaining)
    second = np.full_like(best, -np.inf)
    winner = np.zeros(best.shape, dtype=np.intp)
    for k, score in enumerate(remaining, 1):
        winner[score > best] = k
        np.maximum(second, np.minimum(best, score), out=second)
        best = np.maximum(best, score)
    return winner, best - second
