"""What the sequential searches share: the path from set to set, and how a selection is read from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from tamis.base.selector import Selection
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray
from tamis.subsets.evaluations import EQUAL, ScoredSubset
from tamis.subsets.measure import Measure
from tamis.subsets.subset_selector import SubsetSelector

#: The sets of a search, each with the sizes that are settled with it: later sets do not count for these.
Steps = Iterator[tuple[ScoredSubset, Sequence[int]]]


@dataclass
class Path:
    """The best set of each size that a search found; `at` runs the search until the size is settled."""

    #: The search; None when it is over, or need not go on.
    steps: Steps | None
    #: Score of each feature alone; empty for a search that does not begin with these.
    alone: FloatArray
    best: dict[int, ScoredSubset] = field(default_factory=dict)
    settled: set[int] = field(default_factory=set)

    def at(self, size: int) -> ScoredSubset:
        """The set found for a size."""
        while size not in self.settled and self.steps is not None:
            step = next(self.steps, None)
            if step is None:
                self.steps = None
                break
            found, sizes = step
            n = found.columns.size
            if n not in self.settled and (n not in self.best or found.score > self.best[n].score + EQUAL):
                self.best[n] = found
            self.settled.update(sizes)
        return self.best[size]


class Sequential(SharedFit, SubsetSelector):
    """Base of the sequential searches: a subclass writes `_steps`, the search itself.

    The sets of a search do not depend on `k` or `tol`, and the best set of a size not on sets found after that size is
    settled: one search, run as far as the most demanding estimator needs, serves all.
    """

    shared_parameters = ("k", "tol")
    #: Whether sets grow, from one feature on, or shrink, from all of them on.
    _grows: ClassVar[bool] = True

    def _steps(self, score: Measure, alone: FloatArray, n_features: int) -> Steps:
        """The sets of the search, each with the sizes that are settled with it."""
        raise NotImplementedError

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> tuple[Path, int]:
        """The search, as far as any of the estimators needs it."""
        score, n_features = self._subset_score(X, y), X.shape[1]
        alone = score.add(np.empty(0, dtype=np.intp), np.arange(n_features)) if self._grows else np.empty(0)
        path = Path(self._steps(score, alone, n_features), alone)
        for one in estimators:
            one._sizes(path, n_features)
        # Without the search the path is plain data: it holds neither rows nor models.
        path.steps = None
        return path, n_features

    def _finish(self, prepared: tuple[Path, int]) -> Selection:
        path, n_features = prepared
        sizes = self._sizes(path, n_features)
        self.path_ = np.array([path.at(size).score for size in sizes])
        self.chosen_ = path.at(sizes[-1]).columns
        support = np.zeros(n_features, dtype=bool)
        support[self.chosen_] = True
        if self._grows:
            scores = path.alone.copy()
            scores[self.chosen_] = np.arange(self.chosen_.size, 0, -1) + 1.0
        else:
            scores = np.zeros(n_features)
            for size in sizes:
                scores[path.at(size).columns] += 1.0
        return Selection(support, scores)

    def _sizes(self, path: Path, n_features: int) -> list[int]:
        """Sizes from the start of the search to the selected one."""
        sizes = list(range(1, n_features + 1) if self._grows else range(n_features, 0, -1))
        if self.k is not None:
            last = sizes.index(min(int(self.k), n_features))
        else:
            last = 0
            while last + 1 < len(sizes) and self._helps(path, sizes[last], sizes[last + 1]):
                last += 1
        for size in sizes[: last + 1]:
            path.at(size)
        return sizes[: last + 1]

    def _helps(self, path: Path, here: int, there: int) -> bool:
        """Whether the next size scores higher by more than `tol`."""
        enough = path.at(here).score + self.tol + EQUAL
        return enough < self._highest and path.at(there).score > enough


def best_addition(score: Measure, columns: np.ndarray, n_features: int) -> ScoredSubset:
    """The best set with one feature more; of equals the one with the earliest."""
    candidates = np.delete(np.arange(n_features), columns)
    scores = score.add(columns, candidates)
    best = int(scores.argmax())
    return ScoredSubset(np.append(columns, candidates[best]), float(scores[best]))


def best_removal(score: Measure, columns: np.ndarray) -> ScoredSubset:
    """The best set with one feature less; of equals the one without the earliest."""
    candidates = np.sort(columns)
    scores = score.remove(columns, candidates)
    best = int(scores.argmax())
    return ScoredSubset(columns[columns != candidates[best]], float(scores[best]))


def best_single(alone: FloatArray) -> ScoredSubset:
    """The best feature alone; of equals the earliest."""
    best = int(alone.argmax())
    return ScoredSubset(np.array([best], dtype=np.intp), float(alone[best]))
