"""Preparations of shared fits, cached across tasks on the same rows: a forest is not grown again for another cut."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, NamedTuple

from tamis.validation.execute.rows import size_of

Warned = tuple[tuple[type[Warning], str], ...]


class Preparation(NamedTuple):
    """The shared part of a fit (:mod:`tamis.base.shared_fit`), its warnings and its time."""

    state: tuple[Any, ...]
    warned: Warned
    seconds: float


class PreparationCache:
    """Preparations by what they depend on; above `limit` bytes the least recently used are dropped.

    Examples
    --------
    >>> import numpy as np
    >>> cache = PreparationCache(limit=100)
    >>> for name in "abc":
    ...     cache.put(name, Preparation((np.zeros(5),), (), 0.1))
    >>> [cache.get(name) is None for name in "abc"]
    [True, False, False]
    """

    def __init__(self, limit: float = 2**26) -> None:
        self._limit = limit
        self._held: OrderedDict[Hashable, Preparation] = OrderedDict()
        self._size = 0

    def get(self, key: Hashable) -> Preparation | None:
        """The preparation of this key, if it is cached."""
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    def put(self, key: Hashable, prepared: Preparation) -> None:
        """Add a preparation, unless it is cached."""
        if key in self._held:
            return
        self._held[key] = prepared
        self._size += _size(prepared)
        while self._size > self._limit and self._held:
            self._size -= _size(self._held.popitem(last=False)[1])


def _size(prepared: Preparation) -> int:
    return sum(size_of(value) for value in prepared.state)
