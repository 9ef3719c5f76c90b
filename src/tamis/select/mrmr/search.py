"""The incremental search of mRMR: redundancies are computed only as far as they matter."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.select.mrmr.redundancy import Redundancy

#: The least mean redundancy in quotients.
_FLOOR = 1e-3

#: Candidates updated first in a round, and the factor by which their number then grows.
_AHEAD = 32
_MORE = 4

#: Marks selected candidates, which need no update.
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Units:
    """What is selected together: single columns or groups of them, numbered in the order of their first columns.

    `columns` are the columns, unit after unit; unit u has ``sizes[u]`` of them from ``starts[u]`` on. `of_column` is
    the unit of each column.
    """

    columns: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray
    of_column: np.ndarray

    @classmethod
    def of(cls, groups: Any, n_features: int) -> "Units":
        """Units of columns with the same label; without labels every column is one."""
        if groups is None:
            each = np.arange(n_features)
            return cls(each, each, np.ones(n_features, dtype=np.intp), each)
        labels = np.asarray(groups)
        if labels.shape != (n_features,):
            raise TamisError(f"mrmr: groups must have a label for each of {n_features} columns; got {labels.size}")
        _, first, unit, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
        number = np.empty(first.size, dtype=np.intp)
        number[np.argsort(first)] = np.arange(first.size)
        sizes = sizes[np.argsort(first)]
        of_column = number[unit]
        return cls(np.argsort(of_column, kind="stable"), np.cumsum(sizes) - sizes, sizes, of_column)

    @property
    def single(self) -> bool:
        """Whether every column is a unit."""
        return self.sizes.size == self.columns.size

    def within(self, units: np.ndarray) -> np.ndarray:
        """The columns of some units, unit after unit."""
        if self.single:
            return self.columns[units]
        sizes = self.sizes[units]
        skipped = np.repeat(self.starts[units] - (np.cumsum(sizes) - sizes), sizes)
        return self.columns[skipped + np.arange(sizes.sum())]

    def mean(self, values: FloatArray) -> FloatArray:
        """Mean over the columns of each unit."""
        return values if self.single else np.add.reduceat(values[self.columns], self.starts) / self.sizes


class Search:
    """A search that adds the best candidate to those selected before.

    The known redundancy of a candidate is a sum over the first selected columns; later ones can only add to it. So its
    value is bounded from above, and only candidates whose bound reaches the best known value are updated. With
    `quotient` relevance is divided by redundancy; otherwise redundancy is subtracted.

    Attributes
    ----------
    order : list of int
        The selected columns.
    totals, own : lists of float
        For each of them the sum of its redundancies with those before it, and its redundancy with itself.
    ends : list of int
        Number of columns selected after those forced in, and after each step.
    """

    def __init__(
        self, pairs: Redundancy, units: Units, relevance: FloatArray, candidates: np.ndarray, *, quotient: bool
    ) -> None:
        self._pairs, self._units, self._quotient = pairs, units, quotient
        self._relevance = np.where(candidates, relevance, -np.inf)
        self._since = np.where(candidates, 0, _NEVER)
        self._shared = np.zeros(units.columns.size)
        self.order: list[int] = []
        self.totals: list[float] = []
        self.own: list[float] = []
        self.ends: list[int] = []

    def add(self, columns: np.ndarray) -> None:
        """Add columns to the selected ones, in one step and whatever their value."""
        before = len(self.order)
        for column in columns:
            alone, number = np.array([column]), len(self.order)
            begin = min(self._since[self._units.of_column[column]], before)
            self.totals.append(float(self._shared[column] + self._pairs.summed(alone, np.array([begin]))[0]))
            self._pairs.add(int(column))
            self.own.append(float(self._pairs.summed(alone, np.array([number]))[0]))
            self.order.append(int(column))
        self.ends.append(len(self.order))

    def step(self) -> bool:
        """Add the best candidate; False when there is none left."""
        best = self._best()
        if self._since[best] == _NEVER:
            return False
        self.add(self._units.within(np.array([best])))
        self._since[best] = _NEVER
        self._relevance[best] = -np.inf
        return True

    def _best(self) -> int:
        """The candidate of the largest value; of equals the first."""
        ahead = _AHEAD
        while True:
            values = self._values()
            stale = self._since < len(self.order)
            best = np.max(values, where=~stale, initial=-np.inf)
            unsure = np.flatnonzero(stale & (values >= best))
            if not unsure.size:
                return int(np.argmax(values))
            if unsure.size > ahead:
                unsure = np.sort(unsure[np.argpartition(values[unsure], -ahead)[-ahead:]])
            self._update(unsure)
            ahead *= _MORE

    def _values(self) -> FloatArray:
        """The value of each candidate, or a bound where not updated; differences are scaled by the number selected."""
        size = len(self.order)
        if not size:
            return self._relevance
        shared = self._units.mean(self._shared)
        if self._quotient:
            return self._relevance / np.maximum(shared / size, _FLOOR)
        return size * self._relevance - shared

    def _update(self, units: np.ndarray) -> None:
        columns = self._units.within(units)
        self._shared[columns] += self._pairs.summed(columns, np.repeat(self._since[units], self._units.sizes[units]))
        self._since[units] = len(self.order)
