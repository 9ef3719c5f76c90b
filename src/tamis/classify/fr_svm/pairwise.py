"""One-against-one voting with as few decisions as possible, and decisions of machines on some columns."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tamis.base.classifier import one_vs_one
from tamis.base.types import Codes, FloatArray
from tamis.base.validation import class_pairs

#: Kernel values that are held at a time: few enough to stay in the cache.
_BLOCK = 100_000

#: The decisions of a pair of classes, given by its number, on some rows; above zero is for the second class.
Duel = Callable[[int, np.ndarray], FloatArray]


@dataclass(frozen=True)
class Machine:
    """A Gaussian machine on some of the columns: f(x) = sum_i weights_i exp(-|x - vectors_i|^2 / sigma) + intercept."""

    columns: np.ndarray
    vectors: FloatArray
    weights: FloatArray
    intercept: float
    sigma: float

    def decide(self, Z: FloatArray, beyond: FloatArray | None = None) -> FloatArray:
        """Decisions on rows; `beyond` is their squared distance to the space in which all vectors lie.

        The exponent 2 x.v / sigma - |x|^2 / sigma - |v|^2 / sigma is one matrix product, with two columns more.
        """
        width = self.columns.shape[0]
        right = np.empty((self.vectors.shape[0], width + 2))
        np.multiply(self.vectors, 2.0 / self.sigma, out=right[:, :width])
        right[:, width] = -1.0 / self.sigma
        right[:, width + 1] = np.einsum("ij,ij->i", self.vectors, self.vectors) / -self.sigma
        found = np.empty(Z.shape[0])
        height = max(1, _BLOCK // max(1, self.weights.shape[0]))
        for top in range(0, Z.shape[0], height):
            some = slice(top, top + height)
            rows = Z[some].take(self.columns, axis=1)
            left = np.ones((rows.shape[0], width + 2))
            left[:, :width] = rows
            left[:, width] = np.einsum("ij,ij->i", rows, rows)
            if beyond is not None:
                left[:, width] += beyond[some]
            values = left @ right.T
            found[some] = np.exp(values, out=values) @ self.weights
        return found + self.intercept


@dataclass(frozen=True)
class PolynomialMachine(Machine):
    """The same with the kernel (x.vectors_i / sigma + coef0)^degree."""

    degree: int
    coef0: float

    def decide(self, Z: FloatArray, beyond: FloatArray | None = None) -> FloatArray:
        """Decisions on rows; `beyond` is added to the inner products of each row."""
        found = np.empty(Z.shape[0])
        height = max(1, _BLOCK // max(1, self.weights.shape[0]))
        for top in range(0, Z.shape[0], height):
            some = slice(top, top + height)
            values = Z[some].take(self.columns, axis=1) @ self.vectors.T
            if beyond is not None:
                values += beyond[some, None]
            found[some] = (values / self.sigma + self.coef0) ** self.degree @ self.weights
        return found + self.intercept


def elected(duel: Duel, favour: FloatArray, nearness: FloatArray) -> Codes:
    """The class of each row by :func:`~tamis.base.classifier.one_vs_one`, with as few decisions as possible.

    A class that wins all its duels has more votes than any other. So the class with the largest entry in `favour`, of
    shape (n_rows, n_classes), meets the others, those of the largest `nearness` first, until it loses to one, which
    goes on in its place. Where every class has lost a duel the votes are counted. With a fair guess little more than
    n_classes - 1 duels of n_classes (n_classes - 1) / 2 are held.
    """
    n_rows, n_classes = favour.shape
    pairs = class_pairs(n_classes)
    number = {pair: place for place, pair in enumerate(pairs)}
    rivals = np.argsort(-nearness, axis=1, kind="stable")
    decisions = np.full((len(pairs), n_rows), np.nan)
    lost = np.zeros((n_rows, n_classes), dtype=bool)
    settled = np.zeros(n_rows, dtype=bool)
    champion = favour.argmax(axis=1)
    running = np.arange(n_rows)
    while running.size:
        for own in range(n_classes):
            rows = running[champion[running] == own]
            for other in rivals[own][rivals[own] != own].tolist():
                if not rows.size:
                    break
                held = _hold(duel, decisions, number[min(own, other), max(own, other)], rows)
                wins = (held > 0) == (own > other)
                lost[rows[wins], other] = True
                beaten, rows = rows[~wins], rows[wins]
                lost[beaten, own] = True
                champion[beaten] = other
            settled[rows] = True
        running = running[~settled[running] & ~lost[running].all(axis=1)]
        # The winner of the last duel may have lost one before: the best guess without a loss goes on.
        spent = running[lost[running, champion[running]]]
        champion[spent] = np.where(lost[spent], -np.inf, favour[spent]).argmax(axis=1)
    cyclic = np.flatnonzero(lost.all(axis=1))
    if cyclic.size:
        every = np.column_stack([_hold(duel, decisions, pair, cyclic) for pair in range(len(pairs))])
        champion[cyclic] = one_vs_one(every, n_classes).argmax(axis=1)
    return champion


def _hold(duel: Duel, decisions: FloatArray, pair: int, rows: np.ndarray) -> FloatArray:
    """The decisions of a pair on some rows, cached in `decisions`."""
    known = decisions[pair, rows]
    new = np.isnan(known)
    if new.any():
        known[new] = decisions[pair, rows[new]] = duel(pair, rows[new])
    return known
