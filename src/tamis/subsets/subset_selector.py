"""What the searches share that add and remove one feature at a time."""

from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import integer, real
from tamis.base.meta_estimators import restricted
from tamis.base.task import WantedTask, is_numeric
from tamis.base.types import Matrix, Target
from tamis.incremental.subset_score import SubsetScore
from tamis.subsets.classifier import usual_model
from tamis.subsets.measure import Measure
from tamis.subsets.measured import MeasuredSelector


class SubsetSelector(MeasuredSelector):
    """Base of the selectors that change a set of columns step by step, by default for a model."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MeasuredSelector._parameter_constraints,
        "k": [integer(1), None],
        "tol": [real(0, None, "left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        k: int | None = None,
        tol: float = 0.0,
        measure: str = "classifier",
        bins: str | None = None,
        scoring: str = "accuracy",
        caution: float = 0.0,
        cv: int = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.estimator = estimator
        self.k = k
        self.tol = tol
        self.measure = measure
        self.bins = bins
        self.scoring = scoring
        self.caution = caution
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.task = task

    @property
    def _highest(self) -> float:
        """A score that no set exceeds."""
        return 1.0 if self.measure == "classifier" else np.inf

    def _model(self, y: Target = None) -> Any:
        return usual_model(y) if self.estimator is None else self.estimator

    def _subset_score(self, X: Matrix, y: Target) -> Measure:
        if self.measure != "classifier" or self.nominal_.any():
            return self._measured(X, y, self.random_state)
        # Not the measure of that name: columns reach the model in the order in which they were added.
        return SubsetScore.cross_validated(
            self._model(y),
            X,
            y,
            None if is_numeric(y) else self.classes_,
            scoring=self.scoring,
            caution=self.caution,
            cv=self.cv,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            who=self.part.name,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        return restricted(tags, [self._model()]) if self.measure == "classifier" else tags


def score_of(measure: Measure, columns: np.ndarray) -> float:
    """Score of one set of at least one column, by its last one."""
    return float(measure.add(columns[:-1], columns[-1:])[0])
