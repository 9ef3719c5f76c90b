"""The measures of subset search by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tamis.base.nominal import CodedRows
from tamis.base.types import Codes, Mask, Matrix
from tamis.subsets.bic import BIC
from tamis.subsets.cfs import CFS
from tamis.subsets.classifier import ClassifierAccuracy
from tamis.subsets.convex import ConvexOptimum
from tamis.subsets.inconsistency import Inconsistency
from tamis.subsets.measure import Measure


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
        From rows, class codes, the mask of nominal columns and the settings.
    bins : str or None
        Where columns count as states, how numeric ones become these by default.
    """

    make: Callable[[Any, Codes, Mask, MeasureSettings], Measure]
    bins: str | None = None

    @property
    def by_states(self) -> bool:
        """Whether columns count as states, so that nominal ones and missing values are welcome."""
        return self.bins is not None


def _classifier(X: Matrix | CodedRows, y: Codes, nominal: Mask, settings: MeasureSettings) -> Measure:
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


#: "cfs" is the merit of correlation-based feature selection by symmetrical uncertainty, "cfs_pearson" by correlation;
#: "classifier" the cross-validated accuracy of a classifier; "inconsistency" minus the inconsistency rate; "bic" minus
#: the Bayesian information criterion of a linear model; "convex_net" the optimum of a convex network.
MEASURES: dict[str, NamedMeasure] = {
    "cfs": NamedMeasure(lambda X, y, nominal, s: CFS.of(X, y, nominal, **s.states), CFS.BINS),
    "cfs_pearson": NamedMeasure(lambda X, y, nominal, s: CFS.of(X, y, nominal, correlation="pearson")),
    "classifier": NamedMeasure(_classifier),
    "inconsistency": NamedMeasure(
        lambda X, y, nominal, s: Inconsistency.of(X, y, nominal, **s.states), Inconsistency.BINS
    ),
    "bic": NamedMeasure(lambda X, y, nominal, s: BIC.of(X, y)),
    "convex_net": NamedMeasure(lambda X, y, nominal, s: ConvexOptimum.of(X, y)),
}
