"""Penalties of the boosted lasso: what a step on each column adds to them."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tamis.base.types import FloatArray

#: A convex function of all weights.
PenaltyFunction: TypeAlias = Callable[[FloatArray], float]


class MixedPenalty:
    """``r |w|_1 + (1 - r) |w|^2 / 2``: the lasso's with a ratio r of 1."""

    def __init__(self, l1_ratio: float) -> None:
        self.l1_ratio = l1_ratio

    def growth(self, weights: FloatArray, columns: np.ndarray, moves: FloatArray) -> FloatArray:
        """By how much the penalty grows when each of some columns is moved alone."""
        old, new = weights[columns], weights[columns] + moves
        return self.l1_ratio * (np.abs(new) - np.abs(old)) + (1.0 - self.l1_ratio) * 0.5 * (new**2 - old**2)


class GivenPenalty:
    """A penalty given as a function of all weights, which is called twice for each column and step."""

    def __init__(self, function: PenaltyFunction) -> None:
        self.function = function

    def growth(self, weights: FloatArray, columns: np.ndarray, moves: FloatArray) -> FloatArray:
        """By how much the penalty grows when each of some columns is moved alone."""
        before = self.function(weights)
        found, moved = np.empty(columns.size), weights.copy()
        for place, (column, move) in enumerate(zip(columns, moves, strict=True)):
            moved[column] += move
            found[place] = self.function(moved) - before
            moved[column] = weights[column]
        return found
