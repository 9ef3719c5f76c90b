"""What all selectors share that score sets of columns by a measure of the user's choice."""

from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import HasMethods, StrOptions, integer
from tamis.base.errors import DataError, TamisError
from tamis.base.feature_tracking import steps_of
from tamis.base.inner_cv import CAUTION
from tamis.base.meta_estimators import TaskByModel, restricted
from tamis.base.nominal import CodedRows, TakesNominal
from tamis.base.predictions import RATES
from tamis.base.selector import Selector
from tamis.base.task import BOTH, Task, WantedTask, is_numeric, task_of
from tamis.base.types import Matrix, Target
from tamis.base.validation import column_names
from tamis.contingency.states import METHODS
from tamis.subsets.measure import Measure
from tamis.subsets.measures import MEASURES, MeasureSettings


class MeasuredSelector(TaskByModel, TakesNominal, Selector):
    """Base of the selectors that score sets of columns by a measure."""

    #: As far as the measure does.
    accepts_missing = True
    #: For the cards: measures that take neither nominal columns nor missing values, and the one with an estimator, on
    #: which it depends what that one takes.
    numbers_only: ClassVar[dict[str, tuple[Any, ...]]] = {
        "measure": tuple(name for name, one in MEASURES.items() if not one.by_states and name != "classifier")
    }
    only: ClassVar[dict[str, tuple[str, Any]]] = {"estimator": ("measure", "classifier")}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "measure": [StrOptions(set(MEASURES))],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "bins": [StrOptions(set(METHODS)), None],
        "scoring": [StrOptions(set(RATES))],
        "caution": CAUTION,
        "cv": [integer(2)],
        "n_jobs": [integer(), None],
        "random_state": ["random_state", np.random.Generator],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    measure: str
    estimator: Any
    bins: str | None
    scoring: str
    caution: float
    cv: int
    n_jobs: int | None
    random_state: int | np.random.Generator | np.random.RandomState | None
    task: WantedTask

    def _given_model(self) -> Any:
        return self.estimator if self.measure == "classifier" else None

    def _settled_task(self) -> WantedTask:
        return super()._settled_task() if MEASURES[self.measure].of_numbers else "classify"

    def _task(self, y: Any) -> Task:
        if not MEASURES[self.measure].of_numbers and self.tasks == BOTH and "regress" in (self.task, task_of(y)):
            others = ", ".join(name for name, one in MEASURES.items() if one.of_numbers)
            what = f"the measure {self.measure} is for classes, and the target holds numbers"
            raise TamisError(f"{self.part.name}: {what}; take one of {others}")
        return super()._task(y)

    def _measured(self, X: Matrix, y: Target, seed: Any) -> Measure:
        """The measure of validated rows; `seed` splits them into folds."""
        named, who = MEASURES[self.measure], self.part.name
        rows: Matrix | CodedRows = X
        if self.nominal_.any() and self.measure == "classifier" and _takes_nominal(self.estimator):
            rows = CodedRows(X, self.nominal_, self.levels_)
        elif self.nominal_.any() and (is_numeric(y) or not named.by_states):
            column = column_names(self)[int(self.nominal_.argmax())]
            of = " where the target holds numbers" if named.by_states else ""
            what = f"the measure {self.measure} takes no nominal column such as {column!r}{of}"
            raise DataError(f"{who}: {what}; put encode in front")
        settings = MeasureSettings(
            estimator=self.estimator,
            bins=self.bins,
            scoring=self.scoring,
            caution=float(self.caution),
            cv=self.cv,
            n_jobs=self.n_jobs,
            random_state=seed,
            classes=None if is_numeric(y) else self.classes_,
            who=who,
        )
        return named.make(rows, y, self.nominal_, settings)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.measure == "classifier" and self.estimator is not None:
            return restricted(tags, [self.estimator])
        tags.input_tags.allow_nan = MEASURES[self.measure].by_states
        return tags


def _takes_nominal(estimator: Any) -> bool:
    """Whether a model, or the first step of a pipeline, takes nominal columns."""
    return estimator is not None and bool(getattr(steps_of(estimator)[0], "takes_nominal", False))
