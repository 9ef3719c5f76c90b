"""The subspaces of some columns, by size, each with the subspaces that lack one of its columns."""

import math
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from tamis.base.errors import TamisError

#: Most subspaces of a lattice: all of 21 columns, or the pairs of 2047.
MOST = 2**21

#: By default subspaces have up to this many columns, or fewer while there are more subspaces than that.
_SIZE, _SUBSPACES = 3, 2**18


@dataclass(frozen=True, eq=False)
class Lattice:
    """The subspaces of `n_columns` columns with up to `largest` of them.

    A subspace of size m is a row of ``members[m]``: its columns in falling order. The rows are in lexicographic order,
    so that the place of a subspace with columns c1 > ... > cm is the sum of the binomials (c1 over m), (c2 over m - 1),
    .... ``below[m]`` holds the places in ``members[m - 1]`` of the subspaces without the first, second, ... column.
    """

    n_columns: int
    largest: int
    members: dict[int, np.ndarray]
    below: dict[int, np.ndarray]

    @property
    def size(self) -> int:
        """The number of subspaces."""
        return count(self.n_columns, self.largest)


def count(n_columns: int, largest: int) -> int:
    """The number of subspaces with up to `largest` columns.

    >>> count(10, 10), count(10, 2)
    (1023, 55)
    """
    return sum(math.comb(n_columns, m) for m in range(1, largest + 1))


def largest_size(max_features: int | str | None, n_columns: int) -> int:
    """The number of columns of the largest subspaces for a parameter `max_features`.

    >>> largest_size("auto", 20), largest_size("auto", 500), largest_size(None, 8)
    (3, 2, 8)
    """
    if max_features == "auto":
        return next((m for m in range(min(_SIZE, n_columns), 1, -1) if count(n_columns, m) <= _SUBSPACES), 1)
    size = n_columns if max_features is None else min(int(max_features), n_columns)
    if size > 1 and count(n_columns, size) > MOST:
        fit = max(m for m in range(1, size) if m == 1 or count(n_columns, m) <= MOST)
        raise TamisError(
            f"max_features={max_features} makes {count(n_columns, size):.3g} subspaces of {n_columns} columns, and at "
            f"most {MOST:,} are searched; take {fit} or fewer"
        )
    return size


@cache
def _binomials(n: int, m: int) -> np.ndarray:
    """The binomials (0 over m), ..., (n - 1 over m)."""
    return np.array([math.comb(one, m) for one in range(n)], dtype=np.int32)


@lru_cache(maxsize=1)
def lattice(n_columns: int, largest: int) -> Lattice:
    """The subspaces with up to `largest` of `n_columns` columns; the latest lattice is remembered.

    Examples
    --------
    >>> found = lattice(3, 2)
    >>> found.members[2].tolist(), found.below[2].tolist()
    ([[1, 0], [2, 0], [2, 1]], [[0, 1], [0, 2], [1, 2]])
    """
    members = {1: np.arange(n_columns, dtype=np.int32)[:, None]}
    below: dict[int, np.ndarray] = {}
    for m in range(2, largest + 1):
        members[m] = _larger(members[m - 1], n_columns)
        below[m] = _without_one(members[m], n_columns)
    return Lattice(n_columns, largest, members, below)


def _larger(smaller: np.ndarray, n_columns: int) -> np.ndarray:
    """The subspaces with one column more: before each column, the subspaces of the columns below it."""
    size = smaller.shape[1]
    counts = _binomials(n_columns, size)
    first = np.repeat(np.arange(n_columns, dtype=np.int32), counts)
    rest = np.concatenate([smaller[:n] for n in counts.tolist()])
    return np.ascontiguousarray(np.column_stack([first, rest]))


def _without_one(members: np.ndarray, n_columns: int) -> np.ndarray:
    """The places of the subspaces without one column, in the order of the columns left out."""
    size = members.shape[1]
    # A column keeps its rank from the end if one before it is left out, and moves up by one otherwise.
    kept = np.column_stack([_binomials(n_columns, size - p)[members[:, p]] for p in range(size)])
    moved = np.column_stack([_binomials(n_columns, size - p - 1)[members[:, p]] for p in range(size)])
    before = np.cumsum(moved, axis=1, dtype=np.int32) - moved
    after = kept.sum(axis=1, keepdims=True, dtype=np.int32) - np.cumsum(kept, axis=1, dtype=np.int32)
    return before + after
