"""The incremental search of mRMR: candidates that come in one by one, their redundancy known as far as it matters."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.select.mrmr.redundancy import Redundancy

#: A mean redundancy below this is divided by as if it were this.
_FLOOR = 1e-3

#: Candidates brought up to date at first in a round; then so many times as many, and so on.
_AHEAD = 32
_MORE = 4

#: The round in which picked candidates are up to date.
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Units:
    """What comes in together: single columns or groups of them, numbered in the order of their first columns.

    Attributes
    ----------
    columns : int array of shape (n_features,)
        The columns, unit after unit.
    starts, sizes : int arrays of shape (n_units,)
        Where each unit begins there, and its columns.
    of_column : int array of shape (n_features,)
        The unit of each column.
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
    """Picks of candidates, each the best beside those before it.

    What is known of a candidate's redundancy is a sum over the first picks; those that follow can only add to it. So
    its worth is bounded from above, and only candidates whose bound reaches the best worth known are brought up to
    date.

    Parameters
    ----------
    pairs : Redundancy
    units : Units
    relevance : float array of shape (n_units,)
    candidates : bool array of shape (n_units,)
    quotient : bool
        Whether relevance is divided by redundancy; otherwise redundancy is subtracted.

    Attributes
    ----------
    order : list of int
        The picked columns.
    totals : list of float
        For each of them the sum of its redundancies with those before it.
    own : list of float
        For each of them its redundancy with itself.
    ends : list of int
        How many columns are picked after those forced in, and after each pick.
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

    def take(self, columns: np.ndarray) -> None:
        """Put columns behind those that are picked; they are one pick, whatever they are worth."""
        before = len(self.order)
        for column in columns:
            alone, number = np.array([column]), len(self.order)
            begin = min(self._since[self._units.of_column[column]], before)
            self.totals.append(float(self._shared[column] + self._pairs.added(alone, np.array([begin]))[0]))
            self._pairs.pick(int(column))
            self.own.append(float(self._pairs.added(alone, np.array([number]))[0]))
            self.order.append(int(column))
        self.ends.append(len(self.order))

    def pick(self) -> bool:
        """Pick the best candidate; False when there is none left."""
        best = self._best()
        if self._since[best] == _NEVER:
            return False
        self.take(self._units.within(np.array([best])))
        self._since[best] = _NEVER
        self._relevance[best] = -np.inf
        return True

    def _best(self) -> int:
        """The candidate of the greatest worth; of equals the first."""
        ahead = _AHEAD
        while True:
            worth = self._worth()
            stale = self._since < len(self.order)
            best = np.max(worth, where=~stale, initial=-np.inf)
            unsure = np.flatnonzero(stale & (worth >= best))
            if not unsure.size:
                return int(np.argmax(worth))
            if unsure.size > ahead:
                unsure = np.sort(unsure[np.argpartition(worth[unsure], -ahead)[-ahead:]])
            self._bring_up_to_date(unsure)
            ahead *= _MORE

    def _worth(self) -> FloatArray:
        """Of each candidate, or more where it is not up to date; a difference is multiplied by the number of picks."""
        picks = len(self.order)
        if not picks:
            return self._relevance
        shared = self._units.mean(self._shared)
        if self._quotient:
            return self._relevance / np.maximum(shared / picks, _FLOOR)
        return picks * self._relevance - shared

    def _bring_up_to_date(self, units: np.ndarray) -> None:
        columns = self._units.within(units)
        self._shared[columns] += self._pairs.added(columns, np.repeat(self._since[units], self._units.sizes[units]))
        self._since[units] = len(self.order)
