"""Rows of a symmetric matrix over pairs of columns, computed when first needed."""

from typing import Protocol

import numpy as np

from tamis.base.types import FloatArray


class PairSource(Protocol):
    """What computes the rows."""

    def rows(self, columns: np.ndarray) -> FloatArray:
        """A row of the matrix for each of some columns."""


class PairRows:
    """The rows that were needed so far, and no others: of wide data the whole matrix would not fit into memory.

    Row ``place[j]`` of `table` belongs to column j; -1 where it is not computed yet. The diagonal is `diagonal`.

    Examples
    --------
    >>> class Products:
    ...     def rows(self, columns):
    ...         return np.outer(columns, np.arange(4.0))
    >>> pairs = PairRows(Products(), 4, 0.0)
    >>> pairs.of(np.array([3, 1]))
    array([[0., 3., 6., 0.],
           [0., 0., 2., 3.]])
    >>> pairs.place
    array([-1,  1, -1,  0])
    """

    def __init__(self, source: PairSource, n_features: int, diagonal: float) -> None:
        self.place = np.full(n_features, -1, dtype=np.int64)
        self.table = np.empty((0, n_features))
        self._source = source
        self._diagonal = diagonal
        self._made = 0

    def of(self, columns: np.ndarray) -> FloatArray:
        """The rows of some columns."""
        self.make(columns)
        found: FloatArray = self.table[self.place[columns]]
        return found

    def make(self, columns: np.ndarray) -> None:
        """Compute the rows of some columns, those that are not there yet."""
        new = columns[self.place[columns] < 0]
        if new.size == 0:
            return
        made = self._made + new.size
        if made > self.table.shape[0]:
            room = np.empty((min(2 * made, self.place.size), self.place.size))
            room[: self._made] = self.table[: self._made]
            self.table = room
        rows = self._source.rows(new)
        # Rounding may differ with the order of a pair: it must have one value.
        known = np.flatnonzero(self.place >= 0)
        rows[:, known] = self.table[self.place[known]][:, new].T
        among = rows[:, new]
        rows[:, new] = np.triu(among) + np.triu(among, 1).T
        rows[np.arange(new.size), new] = self._diagonal
        self.table[self._made : made] = rows
        self.place[new] = np.arange(self._made, made)
        self._made = made
