"""The folds within which models are scored: what is predicted without a column, and how predictions count."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tamis.base.types import Codes, FloatArray, Matrix, Target
from tamis.incremental.fallback import refitted

#: The score of predictions that are not finite.
_LOWEST = -1e100


@dataclass(frozen=True, eq=False)
class ScoredFold(ABC):
    """A seeded model, its training and test rows, and the class codes or numbers of both."""

    model: Any
    train: np.ndarray
    test: np.ndarray
    known: Target
    truth: Target

    @property
    @abstractmethod
    def uninformed(self) -> Target:
        """Predictions of the test rows without any column."""

    @abstractmethod
    def refitted(self, train: Matrix, test: Matrix) -> Target:
        """Predictions of the test rows, by a fit on some columns of the training rows."""

    @abstractmethod
    def scores(self, predicted: Target) -> FloatArray:
        """Score of each row of predictions; 1 at most."""

    @property
    def one_value(self) -> bool:
        """Whether the training rows have one class or number: a small class may lie in the test rows alone."""
        return bool(self.known.min() == self.known.max())

    @property
    def target(self) -> Target:
        """The target of the training rows as an evaluator takes it."""
        return self.known

    def decoded(self, predicted: Target) -> Target:
        """Predictions of an evaluator, in the codes of the fold."""
        return predicted


@dataclass(frozen=True, eq=False)
class ClassFold(ScoredFold):
    """A fold of a classifier, with the labels of all classes; scored by accuracy, or balanced accuracy."""

    classes: np.ndarray
    balanced: bool

    @property
    def uninformed(self) -> Codes:
        return np.full(self.test.size, int(np.bincount(self.known).argmax()), dtype=np.intp)

    @cached_property
    def _present(self) -> Codes:
        """The codes that the training rows have."""
        return np.unique(self.known)

    @property
    def target(self) -> Codes:
        return np.asarray(np.searchsorted(self._present, self.known), dtype=np.intp)

    def decoded(self, predicted: Codes) -> Codes:
        found: Codes = self._present[predicted]
        return found

    def refitted(self, train: Matrix, test: Matrix) -> Codes:
        predicted = refitted(self.model, train, self.classes[self.known], test)
        return np.searchsorted(self.classes, predicted).astype(np.intp, copy=False)

    def scores(self, predicted: Codes) -> FloatArray:
        right = predicted == self.truth
        if not self.balanced:
            return np.asarray(right.mean(axis=1))
        return np.asarray(np.mean([right[:, self.truth == c].mean(axis=1) for c in np.unique(self.truth)], axis=0))


@dataclass(frozen=True, eq=False)
class NumberFold(ScoredFold):
    """A fold of a regressor; scored by 1 less the mean squared error in units of the variance of all rows."""

    deviation: float

    @property
    def uninformed(self) -> FloatArray:
        mean = float(self.known[0]) if self.one_value else float(self.known.mean())
        return np.full(self.test.size, mean)

    def refitted(self, train: Matrix, test: Matrix) -> FloatArray:
        return np.asarray(refitted(self.model, train, self.known, test), dtype=np.float64).reshape(self.test.size)

    def scores(self, predicted: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            found = 1.0 - (((predicted - self.truth) / self.deviation) ** 2).mean(axis=1)
        return np.where(found > _LOWEST, found, _LOWEST)
