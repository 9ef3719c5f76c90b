"""What the sequential searches share: the walk from set to set, and how an answer is read from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tamis.base.selector import Selection
from tamis.base.shared_fit import Sweep
from tamis.base.types import FloatArray
from tamis.incremental.subset_score import EQUAL, ByClassifier, Trial


class Met(NamedTuple):
    """A set of features that a search met."""

    columns: np.ndarray
    worth: float


@dataclass
class Path:
    """The best set of each size that a search met; it walks on when asked for a size that it has not settled.

    Attributes
    ----------
    steps : iterator of (Met, sizes)
        The search: sets, and with each the sizes for which the sets met so far are all that count. None when it is
        over, or need not go on.
    alone : float array
        Worth of each feature alone; empty for a search that does not begin with these.
    best : dict of int to Met
    settled : set of int
    """

    steps: Iterator[tuple[Met, Sequence[int]]] | None
    alone: FloatArray
    best: dict[int, Met] = field(default_factory=dict)
    settled: set[int] = field(default_factory=set)

    def at(self, size: int) -> Met:
        """The set found for a size."""
        while size not in self.settled and self.steps is not None:
            step = next(self.steps, None)
            if step is None:
                self.steps = None
                break
            met, sizes = step
            n = met.columns.size
            if n not in self.settled and (n not in self.best or met.worth > self.best[n].worth + EQUAL):
                self.best[n] = met
            self.settled.update(sizes)
        return self.best[size]


class Sequential(Sweep, ByClassifier):
    """Base of the sequential searches: a subclass writes `_steps`, the search itself.

    What the search meets does not depend on `k` or `tol`, and the answer for a size depends on nothing that is met
    after that size is settled: one search, walked as far as the most demanding needs, answers for all.
    """

    sweeps = ("k", "tol")
    #: Whether sets grow, from one feature on, or shrink, from all of them on.
    _grows: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        k: int | None = None,
        tol: float = 0.0,
        scoring: str = "accuracy",
        caution: float = 0.0,
        cv: int = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.k = k
        self.tol = tol
        self.scoring = scoring
        self.caution = caution
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _steps(self, trial: Trial, alone: FloatArray, n_features: int) -> Iterator[tuple[Met, Sequence[int]]]:
        """The sets that the search meets, each with the sizes that are settled then."""
        raise NotImplementedError

    def _prepare(self, asked: Sequence[Self], X: Any, y: Any) -> tuple[Path, int]:
        """The search, as far as any of those asked has to go."""
        trial, n_features = self._trial(X, y), X.shape[1]
        alone = trial.add(np.empty(0, dtype=np.intp), np.arange(n_features)) if self._grows else np.empty(0)
        path = Path(self._steps(trial, alone, n_features), alone)
        for one in asked:
            one._sizes(path, n_features)
        # What is left is plain data: it holds neither rows nor classifiers.
        path.steps = None
        return path, n_features

    def _answer(self, prepared: tuple[Path, int]) -> Selection:
        path, n_features = prepared
        sizes = self._sizes(path, n_features)
        self.path_ = np.array([path.at(size).worth for size in sizes])
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
        """Sizes from where the search begins to the one it is to answer with."""
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
        """Whether the next size is worth more, by more than `tol`; nothing is worth more than 1."""
        enough = path.at(here).worth + self.tol + EQUAL
        return enough < 1 and path.at(there).worth > enough


def joined(trial: Trial, columns: np.ndarray, n_features: int) -> Met:
    """The best set with one feature more; of equals the one with the earliest."""
    outside = np.ones(n_features, dtype=bool)
    outside[columns] = False
    rest = np.flatnonzero(outside)
    worths = trial.add(columns, rest)
    best = int(worths.argmax())
    return Met(np.append(columns, rest[best]), float(worths[best]))


def left(trial: Trial, columns: np.ndarray) -> Met:
    """The best set with one feature less; of equals the one without the earliest."""
    leaving = np.sort(columns)
    worths = trial.remove(columns, leaving)
    best = int(worths.argmax())
    return Met(columns[columns != leaving[best]], float(worths[best]))


def first(alone: FloatArray) -> Met:
    """The best feature alone; of equals the earliest."""
    best = int(alone.argmax())
    return Met(np.array([best], dtype=np.intp), float(alone[best]))
