"""The measures of subset search by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tamis.base.nominal import CodedRows
from tamis.base.task import is_numeric
from tamis.base.types import Mask, Matrix, Target
from tamis.subsets.bic import BIC
from tamis.subsets.cfs import CFS
from tamis.subsets.classifier import ClassifierAccuracy
from tamis.subsets.convex import ConvexOptimum
from tamis.subsets.inconsistency import Inconsistency
from tamis.subsets.measure import Measure
from tamis.subsets.usable_rows import means_for_missing


@dataclass(frozen=True)
class MeasureSettings:
    """What a measure is made with, beside the rows: the parameters of a search that concern it."""

    estimator: Any
    bins: str | None
    scoring: str
    caution: float
    cv: int
    n_jobs: int | None
    random_state: Any
    classes: Any
    who: str

    @property
    def states(self) -> dict[str, Any]:
        """How columns become states; each measure has a default of its own."""
        return {} if self.bins is None else {"bins": self.bins}


@dataclass(frozen=True)
class NamedMeasure:
    """A measure that a search can name.

    Attributes
    ----------
    make : callable
        From rows, class codes or numbers, the mask of nominal columns and the settings.
    bins : str or None
        Where columns count as states, how numeric ones become these by default.
    of_numbers : bool
        Whether the target may hold numbers.
    """

    make: Callable[[Any, Target, Mask, MeasureSettings], Measure]
    bins: str | None = None
    of_numbers: bool = False

    @property
    def by_states(self) -> bool:
        """Whether columns count as states, so that nominal ones and missing values are welcome."""
        return self.bins is not None


def _classifier(X: Matrix | CodedRows, y: Target, nominal: Mask, settings: MeasureSettings) -> Measure:
    return ClassifierAccuracy.of(
        X,
        y,
        settings.estimator,
        classes=settings.classes,
        scoring=settings.scoring,
        caution=settings.caution,
        cv=settings.cv,
        n_jobs=settings.n_jobs,
        random_state=settings.random_state,
        who=settings.who,
    )


def _cfs(X: Matrix, y: Target, nominal: Mask, settings: MeasureSettings) -> Measure:
    # Hall (2000) takes symmetrical uncertainty for classes and correlation for numbers, with means for missing values.
    if is_numeric(y):
        return CFS.of(means_for_missing(X), y, nominal, correlation="pearson")
    return CFS.of(X, y, nominal, **settings.states)


#: "cfs" is the merit of correlation-based feature selection by symmetrical uncertainty, "cfs_pearson" by correlation;
#: of numbers both are by correlation. "classifier" is the cross-validated accuracy of a classifier, or R2 of a
#: regressor; "inconsistency" minus the inconsistency rate; "bic" minus the Bayesian information criterion of a linear
#: model; "convex_net" the optimum of a convex network.
MEASURES: dict[str, NamedMeasure] = {
    "cfs": NamedMeasure(_cfs, CFS.BINS, of_numbers=True),
    "cfs_pearson": NamedMeasure(lambda X, y, nominal, s: CFS.of(X, y, nominal, correlation="pearson"), of_numbers=True),
    "classifier": NamedMeasure(_classifier, of_numbers=True),
    "inconsistency": NamedMeasure(
        lambda X, y, nominal, s: Inconsistency.of(X, y, nominal, **s.states), Inconsistency.BINS
    ),
    "bic": NamedMeasure(lambda X, y, nominal, s: BIC.of(X, y), of_numbers=True),
    "convex_net": NamedMeasure(lambda X, y, nominal, s: ConvexOptimum.of(X, y)),
}
