"""The search for the outlying subspaces of a row: orders in which sizes of subspaces are evaluated, with pruning."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from tamis.base.types import FloatArray, Mask
from tamis.outliers.lattice import Lattice
from tamis.outliers.order import next_size

#: The orders in which the sizes of subspaces are searched.
SEARCHES = ("dynamic", "saving", "saving_flat", "top_down", "bottom_up", "random")

#: What is known of a subspace.
_UNKNOWN, _OUTLYING, _NOT = 0, 1, 2

#: The difference of shares at which a sampled row counts less for another row.
_ALIKE = 0.1

#: The probability of a row unlike all sampled ones: then it is outlying from some size on, and any size is as likely.
_STRANGE = 0.05

#: Outlying degrees of subspaces of one size; those below the threshold may be any number below it.
Evaluate = Callable[[np.ndarray], FloatArray]


@dataclass(frozen=True, eq=False)
class Found:
    """What a search has found.

    Attributes
    ----------
    outlying : dict of int to bool array
        By size: which subspaces of the lattice are outlying.
    degrees : dict of int to array
        By size: the degrees of the outlying subspaces that were evaluated.
    n_evaluated : int
        Subspaces whose degree was computed.
    """

    outlying: dict[int, Mask]
    degrees: dict[int, FloatArray]
    n_evaluated: int

    def minimal(self, lattice: Lattice) -> Iterator[tuple[np.ndarray, FloatArray]]:
        """By size: the columns of the outlying subspaces without a smaller one inside, and their degrees.

        Nothing but its own degree can have decided of such a subspace.
        """
        for m, outlying in self.outlying.items():
            least = outlying.copy()
            if m > 1:
                least[outlying] = ~self.outlying[m - 1][lattice.below[m][outlying]].any(axis=1)
            yield lattice.members[m][least], self.degrees[m][least]

    def shares(self) -> FloatArray:
        """The share of outlying subspaces of each size, from the smallest on."""
        return np.array([outlying.mean() for outlying in self.outlying.values()])


@dataclass(frozen=True, eq=False)
class Sample:
    """The shares of outlying subspaces of some rows.

    Attributes
    ----------
    shares : array of shape (n_rows, largest)
        By size, of rows that are outlying in all columns together.
    rate : float
        How many of all rows these are.
    """

    shares: FloatArray
    rate: float

    @classmethod
    def even(cls, largest: int) -> "Sample":
        """The paper's assumption without a sample: even chances, and none of being wrong at the ends.

        >>> Sample.even(4).mean
        array([1. , 0.5, 0.5, 0. ])
        """
        shares = np.full((1, largest), 0.5)
        shares[:, -1], shares[:, 0] = 0.0, 1.0
        return cls(shares, 1.0)

    @property
    def mean(self) -> FloatArray:
        """The mean shares of all rows."""
        found: FloatArray = self.rate * self.shares.mean(axis=0)
        return found

    def outlying(self) -> "Sample":
        """The rows that are outlying in all columns together."""
        return Sample(self.shares, 1.0)

    def up_to(self, largest: int) -> "Sample":
        """The shares of the sizes up to `largest`."""
        return Sample(self.shares[:, :largest], self.rate)

    def given(self, decided: Mapping[int, float]) -> tuple[FloatArray, FloatArray]:
        """Shares that a row may have, given its own shares of some sizes, and how likely each are.

        These are the sampled rows, a row that is not outlying at all, and, with a small probability, rows like none of
        them. Those weigh more that are more like the row at the sizes that are decided. The share of outlying subspaces
        never falls with the size, because supersets of outlying ones are outlying.

        >>> sample = Sample(np.array([[0.0, 0.1, 1.0], [0.5, 0.9, 1.0]]), 0.5)
        >>> shares, weights = sample.given({})
        >>> (weights @ shares).round(2)
        array([0.13, 0.26, 0.52])
        >>> shares, weights = sample.given({1: 0.5, 3: 1.0})
        >>> (weights @ shares).round(2)
        array([0.5 , 0.91, 1.  ])
        """
        n, largest = self.shares.shape
        strange = (np.tri(largest) + np.tri(largest, k=-1)).T / 2.0
        pool = np.vstack([self.shares, np.zeros(largest), strange])
        known = 1.0 - _STRANGE
        weights = np.repeat([known * self.rate / n, known * (1.0 - self.rate), _STRANGE / largest], [n, 1, largest])
        if decided:
            columns = [m - 1 for m in decided]
            apart = (((pool[:, columns] - list(decided.values())) / _ALIKE) ** 2).sum(axis=1)
            weights *= np.exp((apart[weights > 0].min() - apart) / 2.0)
            for m, share in decided.items():
                pool[:, m:] = np.maximum(pool[:, m:], share)
                pool[:, : m - 1] = np.minimum(pool[:, : m - 1], share)
                pool[:, m - 1] = share
        return pool, weights / weights.sum()


def search(
    lattice: Lattice,
    evaluate: Evaluate,
    threshold: float,
    *,
    order: str,
    sample: Sample,
    rng: np.random.Generator,
    progress: Callable[[float], None] = lambda share: None,
) -> Found:
    """Decide of all subspaces whether they are outlying.

    Parameters
    ----------
    lattice : Lattice
    evaluate : callable
    threshold : float
        Degrees from here on are outlying.
    order : str
        One of :data:`SEARCHES`. All subspaces of a size that are not decided yet are evaluated together. "top_down"
        begins with the largest and prunes the subsets of subspaces that are not outlying; "bottom_up" begins with the
        smallest and prunes the supersets of outlying ones. The others prune both: "random" takes sizes at random,
        "saving" and "saving_flat" that with the highest total saving factor, and "dynamic" the one with which the
        fewest evaluations are expected, by the sampled rows that are like this one so far
        (:func:`~tamis.outliers.order.next_size`). Where the largest subspaces lack columns, all columns together are
        known to be outlying.
    sample : Sample
        What is known of other rows.
    rng : Generator
        Of the random order.
    progress : callable, optional
        Called with the share of the subspaces that is decided.
    """
    state = {m: np.zeros(len(members), dtype=np.uint8) for m, members in lattice.members.items()}
    value = {m: np.zeros(len(members)) for m, members in lattice.members.items()}
    n_evaluated = 0
    left = list(state)
    if order == "random":
        left = rng.permutation(left).tolist()
    elif order == "top_down":
        left.reverse()
    if order == "dynamic" and lattice.largest < lattice.n_columns:
        sample = sample.outlying()
    while left:
        unknown = {m: int(np.count_nonzero(state[m] == _UNKNOWN)) for m in state}
        progress(1.0 - sum(unknown.values()) / lattice.size)
        if order == "dynamic":
            decided = {m: float(np.mean(of == _OUTLYING)) for m, of in state.items() if unknown[m] == 0}
            if len(decided) == len(state):
                break
            outlying_so_far = {m: int(np.count_nonzero(of == _OUTLYING)) for m, of in state.items()}
            best = next_size(lattice.n_columns, unknown, outlying_so_far, *sample.given(decided))
            left.insert(0, left.pop(left.index(best)))
        elif order in ("saving", "saving_flat"):
            left.sort(key=partial(total_saving, lattice=lattice, unknown=unknown, up=sample.mean), reverse=True)
        m = left.pop(0)
        places = np.flatnonzero(state[m] == _UNKNOWN)
        if places.size == 0:
            continue
        value[m][places] = evaluate(lattice.members[m][places])
        outlying = value[m][places] >= threshold
        n_evaluated += places.size
        state[m][places] = np.where(outlying, _OUTLYING, _NOT)
        if order != "top_down":
            _prune_up(lattice, state, m)
        if order != "bottom_up":
            _prune_down(lattice, state, m, places[~outlying])
    return Found({m: found == _OUTLYING for m, found in state.items()}, value, n_evaluated)


def downward_saving(m: int) -> float:
    """DSF: the columns of all subsets of a subspace of size m, ``sum_{i<m} C(m, i) i``.

    >>> downward_saving(3)
    9.0
    """
    return float(sum(math.comb(m, i) * i for i in range(1, m)))


def upward_saving(m: int, n_columns: int, largest: int) -> float:
    """USF: the columns of all supersets of a subspace of size m, ``sum_{i>=1} C(d - m, i) (m + i)``.

    >>> upward_saving(1, 3, 3)
    7.0
    """
    return float(sum(math.comb(n_columns - m, i) * (m + i) for i in range(1, largest - m + 1)))


def total_saving(m: int, lattice: Lattice, unknown: dict[int, int], up: FloatArray) -> float:
    """TSF: what subspaces of size m are expected to save; less than any other where none is unknown.

    ``pr_down f_down DSF + pr_up f_up USF``, where pr_up is the probability that one of them is outlying, pr_down = 1 -
    pr_up, and f_down and f_up are the shares of the smaller and the larger subspaces that are unknown, weighted by
    their sizes. The smallest save only upwards, the largest only downwards.
    """
    if unknown[m] == 0:
        return -1.0
    n, d, largest = {i: len(members) for i, members in lattice.members.items()}, lattice.n_columns, lattice.largest

    def left(sizes: range) -> float:
        return sum(unknown[i] * i for i in sizes) / sum(n[i] * i for i in sizes)

    saved = 0.0
    if m > 1:
        saved += (1.0 - up[m - 1]) * left(range(1, m)) * downward_saving(m)
    if m < largest:
        saved += up[m - 1] * left(range(m + 1, largest + 1)) * upward_saving(m, d, largest)
    return saved


def _prune_up(lattice: Lattice, state: dict[int, np.ndarray], m: int) -> None:
    """Mark the supersets of the outlying subspaces of size m."""
    for size in range(m + 1, lattice.largest + 1):
        unknown = np.flatnonzero(state[size] == _UNKNOWN)
        above = (state[size - 1][lattice.below[size][unknown]] == _OUTLYING).any(axis=1)
        state[size][unknown[above]] = _OUTLYING


def _prune_down(lattice: Lattice, state: dict[int, np.ndarray], m: int, places: np.ndarray) -> None:
    """Mark the subsets of some subspaces of size m."""
    for size in range(m, 1, -1):
        below = np.unique(lattice.below[size][places])
        places = below[state[size - 1][below] == _UNKNOWN]
        state[size - 1][places] = _NOT
