"""Transformed rows at the steps of a chain: held while they are needed, computed again when memory is short."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Pair(NamedTuple):
    """Training rows and test rows."""

    train: Any
    test: Any


class Rows:
    """Training and test rows at one point of the tree; `make` computes them from those of `before` (or None)."""

    def __init__(self, make: Callable[[Any], Pair], before: "Rows | None", ledger: "Ledger") -> None:
        self._make, self._before, self._ledger = make, before, ledger
        self._held: Pair | None = None

    def get(self) -> Pair:
        """The rows, computed again if they were released."""
        if self._held is None:
            held = self._make(None if self._before is None else self._before.get())
            self._held = held
            self._ledger.hold(self, size_of(held.train) + size_of(held.test))
        return self._held

    def release(self) -> None:
        """Free the memory."""
        self._held = None
        self._ledger.forget(self)


class Ledger:
    """The rows held along the open branch of the tree; above `limit` bytes the oldest are released first.

    The rows computed last are always held, because a step needs its rows. `peak` is the most bytes held at a time.
    """

    def __init__(self, limit: float) -> None:
        self.limit, self.peak = limit, 0
        self._sizes: dict[Rows, int] = {}

    def hold(self, rows: Rows, size: int) -> None:
        """Count rows that are held from now on, and release others above the limit."""
        self._sizes[rows] = size
        for other in list(self._sizes):
            if sum(self._sizes.values()) <= self.limit:
                break
            # Those nearest to the root are needed last and cost the least to compute.
            if other is not rows:
                other.release()
        self.peak = max(self.peak, sum(self._sizes.values()))

    def forget(self, rows: Rows) -> None:
        """Stop counting rows."""
        self._sizes.pop(rows, None)


def size_of(X: Any) -> int:
    """Bytes of a matrix or table; 0 where unknown."""
    if isinstance(X, np.ndarray):
        return X.nbytes
    if sp.issparse(X):
        arrays = (getattr(X, name, None) for name in ("data", "indices", "indptr"))
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    if hasattr(X, "estimated_size"):
        return int(X.estimated_size())
    return int(np.sum(X.memory_usage(deep=True))) if hasattr(X, "memory_usage") else 0
