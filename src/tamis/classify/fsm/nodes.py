"""Nodes: products of one function a column, and what they make of rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp

from tamis.base.types import Codes, FloatArray, Mask
from tamis.classify.fsm.functions import FUNCTIONS

#: A factor is at least this, where 1 is a function as wide as the column: one column alone rules no node out.
_LEAST = math.log(1e-3)

#: The smallest deviation that is learned, in units of the column's.
_NARROWEST = 1e-3

#: Share of all other levels together in a node that was made for one row.
_OTHERS = 1e-3


@dataclass
class Table:
    """Rows in units of their columns, with codes in nominal columns; NaN is missing."""

    numbers: FloatArray
    levels: list[Codes]  # of each nominal column; -1 is missing or unknown
    sizes: list[int]  # the number of levels

    def __len__(self) -> int:
        return self.numbers.shape[0]

    def some(self, rows: Mask | Codes) -> "Table":
        """Some of the rows."""
        return Table(self.numbers[rows], [codes[rows] for codes in self.levels], self.sizes)


@dataclass
class Node:
    """A cluster of one class.

    Attributes
    ----------
    label : int
        Code of its class.
    height : float
        Log of its weight.
    centre, deviation : arrays
        Of each numeric column.
    shares : list of arrays
        Share of each level, for each nominal column.
    """

    label: int
    height: float
    centre: FloatArray
    deviation: FloatArray
    shares: list[FloatArray] = field(default_factory=list)

    def log_values(self, table: Table, function: str) -> FloatArray:
        """Log of the node's value for each row: its height and a factor for each column with a known value."""
        with np.errstate(over="ignore", invalid="ignore"):
            factors = FUNCTIONS[function].log(np.abs(table.numbers - self.centre) / self.deviation)
            factors -= np.log(self.deviation)
            np.maximum(factors, _LEAST, out=factors)
        missing = np.isnan(table.numbers)
        if missing.any():
            factors[missing] = 0.0
        total: FloatArray = self.height + factors.sum(axis=1)
        for codes, shares in zip(table.levels, self.shares, strict=True):
            total += np.where(codes >= 0, np.log(shares)[codes], 0.0)
        return total


def evidence(values: FloatArray, labels: Sequence[int], n_classes: int, combine: str) -> FloatArray:
    """Log of what the nodes of each class say of the rows, from the values of shape (n_rows, n_nodes)."""
    found = np.full((values.shape[0], n_classes), -np.inf)
    for c in range(n_classes):
        own = values[:, np.flatnonzero(np.asarray(labels) == c)]
        if own.shape[1]:
            found[:, c] = own.max(axis=1) if combine == "strongest" else logsumexp(own, axis=1)
    return found


def strongest(values: FloatArray) -> Codes:
    """The column with the largest value of each row; of those that differ by rounding the first.

    >>> strongest(np.array([[0.5, 0.7, 0.1 + 0.6]]))
    array([1])
    """
    largest = values.max(axis=1, keepdims=True)
    return np.asarray((values >= largest - 1e-9 * np.maximum(np.abs(largest), 1.0)).argmax(axis=1))


@dataclass
class Learner:
    """Makes nodes of rows.

    Attributes
    ----------
    table, weight : Table, array
        The training rows.
    smoothing : float
        The weight of rows that the variance within nodes counts as.
    """

    table: Table
    weight: FloatArray
    smoothing: float

    def __post_init__(self) -> None:
        #: Variance within the nodes, for each numeric column.
        self.pooled = np.ones(self.table.numbers.shape[1])
        everything = np.ones(len(self.table), dtype=bool)
        self._overall = [self._level_weights(everything, k) for k in range(len(self.table.sizes))]

    def _level_weights(self, rows: Mask, k: int) -> FloatArray:
        codes = self.table.levels[k][rows]
        known = codes >= 0
        size = self.table.sizes[k]
        return np.bincount(codes[known], weights=self.weight[rows][known], minlength=size).astype(np.float64)

    def moments(self, rows: Mask) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Known weight, mean and variance of each numeric column in some rows."""
        values, weight = self.table.numbers[rows], self.weight[rows][:, None]
        known = ~np.isnan(values)
        total = (known * weight).sum(axis=0)
        mean = (np.where(known, values, 0.0) * weight).sum(axis=0) / np.maximum(total, np.finfo(float).tiny)
        apart = np.where(known, values - mean, 0.0)
        return total, mean, (apart * apart * weight).sum(axis=0) / np.maximum(total, np.finfo(float).tiny)

    def pool(self, groups: Sequence[Mask]) -> None:
        """Learn the variance within groups of rows."""
        found = [self.moments(rows) for rows in groups]
        total = sum(one[0] for one in found)
        spread = sum(one[0] * one[2] for one in found)
        self.pooled = np.asarray(spread / np.maximum(total, np.finfo(float).tiny))

    def node(self, label: int, rows: Mask) -> Node:
        """The node of some rows."""
        total, mean, variance = self.moments(rows)
        variance = (total * variance + self.smoothing * self.pooled) / np.maximum(total + self.smoothing, 1e-300)
        variance = np.where(total > 0, variance, 1.0)
        shares = []
        for k, overall in enumerate(self._overall):
            own = self._level_weights(rows, k)
            # A little of every level, or a level that the node does not have would rule it out.
            prior = overall / max(float(overall.sum()), 1e-300) + 1e-3
            own = own + max(self.smoothing, 1e-3) * prior
            shares.append(own / own.sum())
        deviation = np.maximum(np.sqrt(variance), _NARROWEST)
        return Node(label, math.log(self.weight[rows].sum()), mean, deviation, shares)

    def narrow_node(self, label: int, row: int, steps: int, mass: float) -> Node:
        """A node for one row, the narrower the more steps."""
        values = self.table.numbers[row]
        known = ~np.isnan(values)
        half = 0.5**steps
        deviation = np.where(known, np.maximum(np.sqrt(self.pooled), _NARROWEST) * half, 1.0)
        shares = []
        for codes, size in zip(self.table.levels, self.table.sizes, strict=True):
            if codes[row] >= 0:
                share = np.full(size, _OTHERS * half / max(size - 1, 1))
                share[codes[row]] = 1.0
            else:
                share = np.full(size, 1.0 / size)
            shares.append(share)
        # Without numbers there is nothing to narrow: the node is made heavier.
        height = math.log(mass) + (0.0 if known.any() else steps * math.log(2.0))
        return Node(label, height, np.where(known, values, 0.0), deviation, shares)
