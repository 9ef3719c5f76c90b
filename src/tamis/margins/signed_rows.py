"""Rows of two classes as signs, with the cost of each."""

from typing import NamedTuple, Self

import numpy as np

from tamis.base.types import FloatArray, Mask


class SignedRows(NamedTuple):
    """Signs of the rows, +1 and -1, and the cost of each."""

    signs: FloatArray
    cost: FloatArray

    @classmethod
    def of(cls, positive: Mask, cost: FloatArray) -> Self:
        """The rows of the positive class get the sign +1, all others -1."""
        return cls(np.where(positive, 1.0, -1.0), cost)
