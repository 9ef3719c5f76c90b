"""Rows on their way through a chain of steps: held while they are needed, made again when memory is short."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Pair(NamedTuple):
    """Training rows and test rows."""

    train: Any
    test: Any


class Rows:
    """Training and test rows at one point of the tree, made from those before it.

    Parameters
    ----------
    make : callable
        Makes the rows from those of `before` (from None at the root).
    before : Rows, optional
    ledger : Ledger
        Keeps the sum of what is held.
    """

    def __init__(self, make: Callable[[Any], Pair], before: "Rows | None", ledger: "Ledger") -> None:
        self._make = make
        self._before = before
        self._ledger = ledger
        self._held: Pair | None = None

    def get(self) -> Pair:
        """The rows; made again when they were given up."""
        if self._held is None:
            held = self._make(None if self._before is None else self._before.get())
            self._held = held
            self._ledger.hold(self, size_of(held.train) + size_of(held.test))
        return self._held

    def give_up(self) -> None:
        """Let the memory go; they can be made again."""
        self._held = None
        self._ledger.forget(self)


class Ledger:
    """What is held along the open branch of the tree, the oldest first to go when it grows above a limit.

    The rows asked for last are always held, whatever the limit: a step has to have its rows.

    Parameters
    ----------
    limit : float
        Bytes that the rows may take.

    Attributes
    ----------
    peak : int
        The most bytes held at a time.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.peak = 0
        self._sizes: dict[Rows, int] = {}

    def hold(self, rows: Rows, size: int) -> None:
        """Count rows that are held from now on, and give up others where the limit asks for it."""
        self._sizes[rows] = size
        for other in list(self._sizes):
            if sum(self._sizes.values()) <= self.limit:
                break
            # Those nearest to the root are needed last, and the root's own cost the least to make.
            if other is not rows:
                other.give_up()
        self.peak = max(self.peak, sum(self._sizes.values()))

    def forget(self, rows: Rows) -> None:
        """Rows are no longer held."""
        self._sizes.pop(rows, None)


def size_of(X: Any) -> int:
    """Bytes that a matrix or table takes; 0 for something that does not tell."""
    if isinstance(X, np.ndarray):
        return X.nbytes
    if sp.issparse(X):
        arrays = (getattr(X, name, None) for name in ("data", "indices", "indptr"))
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    if hasattr(X, "estimated_size"):
        return int(X.estimated_size())
    return int(np.sum(X.memory_usage(deep=True))) if hasattr(X, "memory_usage") else 0
