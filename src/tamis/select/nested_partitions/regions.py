"""Regions of the space of sets of columns: those in which the first columns are decided, in or out.

A set has at least one column throughout.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tamis.base.types import Mask

#: A region of at most this many undecided columns may be listed.
_LISTED = 16

#: Sets drawn at a time.
_BATCH = 4096


@dataclass(frozen=True)
class Region:
    """The sets in which the first columns are as `fixed` says; columns are numbered in the order of the decisions."""

    fixed: tuple[bool, ...]
    n_columns: int

    @property
    def depth(self) -> int:
        """Number of columns that are decided."""
        return len(self.fixed)

    @property
    def single(self) -> bool:
        """Whether all columns are decided."""
        return self.depth == self.n_columns

    @property
    def only(self) -> Mask:
        """The set of a region in which all columns are decided."""
        return np.array(self.fixed, dtype=bool)

    @property
    def parent(self) -> "Region":
        """The region with the last decision undone."""
        return Region(self.fixed[:-1], self.n_columns)

    def child(self, included: bool) -> "Region":
        """The part with the next column in all sets, or in none."""
        return Region((*self.fixed, included), self.n_columns)

    def holds(self, sets: Mask) -> Mask:
        """Whether each of some sets, the rows of an array, belongs to it."""
        found: Mask = (sets[:, : self.depth] == np.array(self.fixed, dtype=bool)).all(axis=1)
        return found


@dataclass(frozen=True)
class Area:
    """What sets are drawn from: a region, or what surrounds it."""

    region: Region
    surrounding: bool = False
    #: Whether a set has a share of the columns that is itself drawn, so that all sizes are as likely; else one half.
    sizes: bool = True

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        n_columns, depth = self.region.n_columns, self.region.depth
        inside = 2 ** (n_columns - depth) - (not any(self.region.fixed))
        return int(2**n_columns - 1 - inside if self.surrounding else inside)

    def holds(self, one: Mask) -> bool:
        """Whether a set belongs to it."""
        return bool(self.region.holds(one[None])[0]) != self.surrounding

    def listed(self, n_sets: float) -> bool:
        """Whether all sets are taken when that many are to be drawn, because there are no more."""
        return self.n_sets <= n_sets and self._undecided <= _LISTED

    def batches(self, n_sets: float, rng: np.random.Generator) -> Iterator[Mask]:
        """Random sets, with repetition, some at a time; or all of them if there are no more than that.

        Examples
        --------
        >>> area = Area(Region((True,), 3))
        >>> [sets.astype(int).tolist() for sets in area.batches(4, np.random.default_rng(0))]
        [[[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1]]]
        >>> Area(Region((False, False, False), 3)).n_sets
        0
        """
        if self.listed(n_sets):
            yield self._all()
            return
        while n_sets > 0:
            size = int(min(n_sets, _BATCH))
            share = rng.random((size, 1)) if self.sizes else 0.5
            sets = self._inside(rng.random((size, self.region.n_columns)) < share)
            if sets.shape[0]:
                yield sets
            n_sets -= sets.shape[0]

    @property
    def _undecided(self) -> int:
        return self.region.n_columns - (0 if self.surrounding else self.region.depth)

    def _all(self) -> Mask:
        """All sets."""
        undecided = self._undecided
        sets = np.zeros((2**undecided, self.region.n_columns), dtype=bool)
        sets[:, sets.shape[1] - undecided :] = (np.arange(len(sets))[:, None] >> np.arange(undecided)) & 1
        return self._inside(sets)

    def _inside(self, sets: Mask) -> Mask:
        """Sets of the area, made of any sets: about half of them or more remain of random ones."""
        if self.surrounding:
            return sets[~self.region.holds(sets) & sets.any(axis=1)]
        sets[:, : self.region.depth] = self.region.fixed
        return sets[sets.any(axis=1)]
