"""The contract of a measure: how good a set of columns is."""

from typing import Protocol

import numpy as np

from tamis.base.types import FloatArray, Mask


class Measure(Protocol):
    """Scores sets of columns; larger is better, and equal sets have equal scores whatever the method that is called.

    A measure is made for some rows and their target. Its three methods differ in what they can share: sets that have
    nothing in common, sets with one column more, and sets with one column less. The score of the empty set is that of
    knowing no column; no set scores below it unless the measure says so.
    """

    @property
    def n_features(self) -> int:
        """Number of columns."""

    def many(self, sets: Mask) -> FloatArray:
        """Scores of sets, the rows of a boolean array of shape (n_sets, n_features)."""

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns`, which may be empty, with each of the candidates, none of which is in it."""

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` without each of the candidates, all of which are in it."""
