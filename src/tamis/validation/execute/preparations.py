"""What walks over the same rows have prepared before: a forest that ranks columns is not grown anew for another cut."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, NamedTuple

from tamis.validation.execute.rows import size_of

Warned = tuple[tuple[type[Warning], str], ...]


class Preparation(NamedTuple):
    """What a sweep prepared (:mod:`tamis.base.shared_fit`), what that warned of, and the seconds that it took."""

    state: tuple[Any, ...]
    warned: Warned
    seconds: float


class PreparationCache:
    """Preparations by what they depend on; those that were longest of no use go first when they grow above a limit.

    Parameters
    ----------
    limit : float
        Bytes that they may take.

    Examples
    --------
    >>> import numpy as np
    >>> known = PreparationCache(limit=100)
    >>> for name in "abc":
    ...     known.put(name, Preparation((np.zeros(5),), (), 0.1))
    >>> [known.get(name) is None for name in "abc"]
    [True, False, False]
    """

    def __init__(self, limit: float = 2**26) -> None:
        self._limit = limit
        self._held: OrderedDict[Hashable, Preparation] = OrderedDict()
        self._size = 0

    def get(self, name: Hashable) -> Preparation | None:
        """What is cache under a name."""
        if name in self._held:
            self._held.move_to_end(name)
        return self._held.get(name)

    def put(self, name: Hashable, prepared: Preparation) -> None:
        """Remember a preparation, unless it is known."""
        if name in self._held:
            return
        self._held[name] = prepared
        self._size += _size(prepared)
        while self._size > self._limit and self._held:
            self._size -= _size(self._held.popitem(last=False)[1])


def _size(prepared: Preparation) -> int:
    return sum(size_of(value) for value in prepared.state)
