"""Few basis functions of a convex network: forward, plus l take away r, and floating search on its optimum."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tamis.margins.convex_candidates import EQUAL, Candidates, SolvedSubset

#: The sets of a search, each with the sizes that are settled with it: later sets do not count for these.
Steps = Iterator[tuple[SolvedSubset, Sequence[int]]]


def forward(candidates: Candidates) -> Steps:
    """Add one basis function after another (SFS)."""
    subset = candidates.empty()
    while subset.chosen.size < candidates.objective.n_basis:
        subset = candidates.best_addition(subset)
        yield subset, [subset.chosen.size]


def plus_minus(candidates: Candidates, plus: int, minus: int) -> Steps:
    """Add `plus` basis functions, take `minus` away, and again (PTA)."""
    subset, whole = candidates.empty(), candidates.objective.n_basis
    done = 0
    while done < whole:
        for _ in range(min(plus, whole - subset.chosen.size)):
            subset = candidates.best_addition(subset)
            yield subset, []
        full = subset.chosen.size == whole
        for _ in range(min(minus, subset.chosen.size - 1)):
            subset = candidates.best_removal(subset)
            yield subset, []
        # A turn that begins here does not come to this size again.
        done = whole if full else subset.chosen.size
        yield subset, range(1, done + 1)


def floating(candidates: Candidates) -> Steps:
    """Add the best basis function, then take some away while that beats the last set of that size (SFFS)."""
    subset = candidates.empty()
    last = {0: subset.at.value}
    while subset.chosen.size < candidates.objective.n_basis:
        subset = candidates.best_addition(subset)
        last[subset.chosen.size] = subset.at.value
        yield subset, [subset.chosen.size]
        newest = int(subset.chosen[-1])
        while subset.chosen.size > 2:
            removals = candidates.removals(subset)
            if removals.columns[removals.values.argmin()] == newest:
                # Without it the set is the one before, which is not better than itself.
                break
            fewer = candidates.best_removal(subset, removals)
            size = fewer.chosen.size
            if fewer.at.value >= last[size] - EQUAL * abs(last[size]):
                break
            subset, newest = fewer, -1
            last[size] = subset.at.value
            yield subset, []


@dataclass
class Path:
    """The best set of each size that a search found; `at` runs the search until the size is settled."""

    steps: Steps
    best: dict[int, SolvedSubset] = field(default_factory=dict)
    settled: set[int] = field(default_factory=set)

    def at(self, size: int) -> SolvedSubset:
        """The set of a size."""
        while size not in self.settled:
            subset, sizes = next(self.steps)
            n = subset.chosen.size
            if n not in self.settled and (n not in self.best or subset.at.value < self.best[n].at.value):
                self.best[n] = subset
            self.settled.update(sizes)
        return self.best[size]
