"""What the strategies of subset search share: the measure, the limit of evaluations, and what is kept of a search."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import integer
from tamis.base.cut import NothingPasses
from tamis.base.seeds import generator
from tamis.base.selector import Selection
from tamis.base.task import WantedTask
from tamis.subsets.evaluations import Evaluations, ScoredSubset, Stopped
from tamis.subsets.measured import MeasuredSelector


class SubsetSearch(MeasuredSelector):
    """Base of the selectors that walk from set to set and select the best one.

    A subclass writes ``_walk(scores, rng)``, a generator that asks for scores and yields the set that it would select
    whenever there is a better one. The search may be stopped at any evaluation; the last set yielded is selected then.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MeasuredSelector._parameter_constraints,
        "max_evaluations": [integer(1), None],
    }

    def __init__(
        self,
        measure: str = "cfs",
        *,
        estimator: Any = None,
        bins: str | None = None,
        scoring: str = "accuracy",
        caution: float = 0.0,
        cv: int = 5,
        max_evaluations: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.measure = measure
        self.estimator = estimator
        self.bins = bins
        self.scoring = scoring
        self.caution = caution
        self.cv = cv
        self.max_evaluations = max_evaluations
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.task = task

    @abstractmethod
    def _walk(self, scores: Evaluations, rng: np.random.Generator) -> Iterator[ScoredSubset]:
        """Better and better sets."""

    def _select(self, X: Any, y: Any) -> Selection:
        rng = generator(self.random_state)
        with Evaluations(self._measured(X, y, int(rng.integers(2**31))), self.max_evaluations) as scores:
            return self._searched(scores, rng)

    def _searched(self, scores: Evaluations, rng: np.random.Generator) -> Selection:
        """The selection of a search."""
        found = ScoredSubset(np.empty(0, dtype=np.intp), -np.inf)
        self.complete_ = False
        try:
            for found in self._walk(scores, rng):  # noqa: B007 - the last one counts
                pass
            self.complete_ = True
        except Stopped:
            found = self._stopped(scores, found)
        if not found.columns.size:
            found = self._one_column(scores)
        self.chosen_, self.score_ = np.sort(found.columns), found.score
        self.n_evaluations_ = scores.used
        self.trace_ = [(used, one.columns, one.score) for used, one in scores.trace]
        support = np.zeros(scores.n_features, dtype=bool)
        support[self.chosen_] = True
        return Selection(support, support.astype(np.float64))

    def _one_column(self, scores: Evaluations) -> ScoredSubset:
        """The best single column, where no set is better than the empty one: a model needs a column."""
        message = f"{self.part.name}: no set of columns scores higher than none; the best single one is selected"
        warnings.warn(message, NothingPasses, stacklevel=2)
        values = scores.measure.add(np.empty(0, dtype=np.intp), np.arange(scores.n_features))
        best = int(values.argmax())
        return ScoredSubset(np.array([best]), float(values[best]))

    def _stopped(self, scores: Evaluations, found: ScoredSubset) -> ScoredSubset:
        """What is selected when the evaluations are used up: the best set of all."""
        return scores.best or found
