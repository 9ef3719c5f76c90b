"""Convex losses of linear predictions, each with its intercept at the optimum.

A loss has a target `y` and the `share` of each row in the total weight. ``optimum(F, start)`` returns, for
each column of fitted values `F`, the best intercept and the mean loss with it; ``pull(f, intercept)`` returns the
negative gradient in the fitted values, whose sum is 0: products with the columns are then a gradient of the loss whose
intercept is at its optimum.
"""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit

from tamis.base.types import FloatArray

#: Most steps to an intercept, and the width at which the interval that holds it is small enough.
_STEPS, _WIDTH = 100, 1e-13

#: The share that an absent class counts as.
_ABSENT = 1e-15

#: Residuals above this many robust deviations of the target count linearly: 95 % efficient for normal errors.
HUBER = 1.345


class Loss:
    """Base of the losses."""

    name: ClassVar[str]

    def __init__(self, y: FloatArray, share: FloatArray) -> None:
        self.y = y
        self.share = share

    @abstractmethod
    def optimum(self, F: FloatArray, start: float) -> tuple[FloatArray, FloatArray]:
        """The best intercept for each column of fitted values, and the mean loss with it."""

    @abstractmethod
    def pull(self, f: FloatArray, intercept: float) -> FloatArray:
        """The negative gradient of the mean loss in the fitted values; its sum is 0."""

    @abstractmethod
    def values(self, F: FloatArray) -> FloatArray:
        """The loss of each row for each column of predictions."""


class Squared(Loss):
    """Half the squared error, ``(y - f)^2 / 2``."""

    name = "squared"

    def optimum(self, F: FloatArray, start: float) -> tuple[FloatArray, FloatArray]:
        errors = self.y[:, None] - F
        best = self.share @ errors
        return best, self.share @ self.values(F + best)

    def pull(self, f: FloatArray, intercept: float) -> FloatArray:
        return self.share * (self.y - f - intercept)

    def values(self, F: FloatArray) -> FloatArray:
        return 0.5 * (self.y[:, None] - F) ** 2


class _Smooth(Loss):
    """A loss with a continuous derivative: the intercept by Newton's method between bounds."""

    @abstractmethod
    def _bounds(self, F: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values between which the best intercepts lie."""

    @abstractmethod
    def _slopes(self, F: FloatArray) -> tuple[FloatArray, FloatArray]:
        """First and second derivative of the loss of each row in the prediction."""

    def optimum(self, F: FloatArray, start: float) -> tuple[FloatArray, FloatArray]:
        low, high = self._bounds(F)
        best = np.clip(np.full(F.shape[1], start), low, high)
        for _ in range(_STEPS):
            first, second = (self.share @ one for one in self._slopes(F + best))
            low, high = np.where(first < 0, best, low), np.where(first > 0, best, high)
            with np.errstate(divide="ignore", invalid="ignore"):
                new = best - first / second
            # Newton's method leaves the bounds, or finds no curvature, far from the optimum only.
            new = np.where((new >= low) & (new <= high), new, 0.5 * (low + high))
            moved = np.abs(new - best)
            best = np.where(first == 0, best, new)
            if (np.minimum(moved, high - low) <= _WIDTH * (1 + np.abs(best))).all():
                break
        return best, self.share @ self.values(F + best)

    def pull(self, f: FloatArray, intercept: float) -> FloatArray:
        found = -self.share * self._slopes((f + intercept)[:, None])[0][:, 0]
        # What rounding leaves of the sum.
        return np.asarray(found - self.share * found.sum())


class Logistic(_Smooth):
    """Negative log likelihood, ``log(1 + exp(-y f))`` for y = -1 or 1."""

    name = "logistic"

    def _bounds(self, F: FloatArray) -> tuple[FloatArray, FloatArray]:
        # Among rows that arrive one class may be absent still, and the best intercept infinite.
        centre = logit(np.clip(float(self.share[self.y > 0].sum()), _ABSENT, 1 - _ABSENT))
        return centre - F.max(axis=0), centre - F.min(axis=0)

    def values(self, F: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, -self.y[:, None] * F)

    def _slopes(self, F: FloatArray) -> tuple[FloatArray, FloatArray]:
        chance = expit(F)
        return chance - (self.y[:, None] > 0), chance * (1.0 - chance)


class Huber(_Smooth):
    """Half the squared error up to :data:`HUBER` and linear beyond."""

    name = "huber"

    def _bounds(self, F: FloatArray) -> tuple[FloatArray, FloatArray]:
        errors = self.y[:, None] - F
        return errors.min(axis=0), errors.max(axis=0)

    def values(self, F: FloatArray) -> FloatArray:
        size = np.abs(self.y[:, None] - F)
        near = np.minimum(size, HUBER)
        return near * (size - 0.5 * near)

    def _slopes(self, F: FloatArray) -> tuple[FloatArray, FloatArray]:
        errors = F - self.y[:, None]
        return np.clip(errors, -HUBER, HUBER), (np.abs(errors) < HUBER).astype(np.float64)


class Hinge(Loss):
    """The hinge loss of support vector machines, ``max(0, 1 - y f)`` for y = -1 or 1."""

    name = "hinge"

    def optimum(self, F: FloatArray, start: float) -> tuple[FloatArray, FloatArray]:
        # The loss falls up to the quantile of y - f at the share of the rows of class 1, and rises from there on.
        ends = self.y[:, None] - F
        order = np.argsort(ends, axis=0, kind="stable")
        below = np.cumsum(self.share[order], axis=0)
        level = float(self.share[self.y > 0].sum())
        columns = np.arange(F.shape[1])
        first = np.argmax(below >= level - 1e-12, axis=0)
        best = ends[order[first, columns], columns]
        flat = (below[first, columns] <= level + 1e-12) & (first + 1 < ends.shape[0])
        after = ends[order[np.minimum(first + 1, ends.shape[0] - 1), columns], columns]
        best = np.where(flat, 0.5 * (best + after), best)
        return best, self.share @ self.values(F + best)

    def pull(self, f: FloatArray, intercept: float) -> FloatArray:
        slack = 1.0 - self.y * (f + intercept)
        edge = np.abs(slack) <= 1e-12
        found = np.where(edge | (slack < 0), 0.0, self.share * self.y)
        # On the edge any gradient between those of the two sides is one: take one whose sum is 0.
        missing = -float(found.sum())
        side = edge & (self.y * missing > 0)
        if side.any():
            found[side] = missing * self.share[side] / self.share[side].sum()
        return found - self.share * found.sum()

    def values(self, F: FloatArray) -> FloatArray:
        return np.maximum(0.0, 1.0 - self.y[:, None] * F)


LOSSES: dict[str, type[Loss]] = {one.name: one for one in (Squared, Logistic, Huber, Hinge)}
