"""The cuts of all columns in one array."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tamis.base.types import FloatArray, Mask


@dataclass(frozen=True)
class Cuts:
    """Where columns are cut: column j at ``values[first[j]:first[j + 1]]``, ascending."""

    first: np.ndarray
    values: FloatArray

    @classmethod
    def counted(cls, count: np.ndarray, values: FloatArray) -> "Cuts":
        """From the values of one column after the other, and the number of each."""
        return cls(starts(count), values)

    @classmethod
    def table(cls, cuts: FloatArray, used: Mask) -> "Cuts":
        """From a table with a row for each column, in which `used` marks the cuts."""
        return cls.counted(used.sum(axis=1), cuts[used])

    @classmethod
    def of(cls, cuts: Sequence[FloatArray]) -> "Cuts":
        """From one array for each column."""
        return cls.counted(np.array([c.size for c in cuts]), np.concatenate(cuts))

    @classmethod
    def joined(cls, parts: Sequence["Cuts"]) -> "Cuts":
        """From parts of the columns, one after the other."""
        return cls.counted(np.concatenate([p.count for p in parts]), np.concatenate([p.values for p in parts]))

    @property
    def count(self) -> np.ndarray:
        """Number of cuts of each column."""
        return np.diff(self.first)

    def apart(self) -> list[FloatArray]:
        """One array for each column."""
        return [self.values[start:stop].copy() for start, stop in pairwise(self.first)]

    def spread(self, columns: np.ndarray, n_columns: int) -> "Cuts":
        """These cuts as those of some of `n_columns` columns; the others have none."""
        count = np.zeros(n_columns, dtype=np.int64)
        count[columns] = self.count
        return Cuts.counted(count, self.values)

    def where(self, mask: Mask, other: "Cuts") -> "Cuts":
        """These cuts for the columns in the mask, those of `other` for the rest."""
        count = np.where(mask, self.count, other.count)
        ours = np.repeat(mask, count)
        values = np.empty(ours.size)
        values[ours] = self.values[np.repeat(mask, self.count)]
        values[~ours] = other.values[np.repeat(~mask, other.count)]
        return Cuts.counted(count, values)

    def between(self, left: int, right: int) -> "Cuts":
        """The cuts of the columns `left` up to `right`."""
        first = self.first[left : right + 1]
        return Cuts(first - first[0], self.values[first[0] : first[-1]])

    def padded(self) -> FloatArray:
        """One column of cuts for each column, padded with infinity."""
        count = self.count
        out = np.full((count.size, int(count.max(initial=0))), np.inf)
        out[np.arange(out.shape[1]) < count[:, None]] = self.values
        return np.ascontiguousarray(out.T)


def starts(count: np.ndarray) -> np.ndarray:
    """Where each of consecutive lists begins, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(count, dtype=np.int64)))
