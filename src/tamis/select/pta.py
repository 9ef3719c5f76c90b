"""Plus l, take away r: add features, remove some of them, and again."""

from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import integer
from tamis.base.errors import TamisError
from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.task import WantedTask
from tamis.base.types import FloatArray
from tamis.subsets.evaluations import ScoredSubset
from tamis.subsets.measure import Measure
from tamis.subsets.sequential import Sequential, Steps, best_addition, best_removal, best_single


class PTA(Sequential):
    """Plus l, take away r: add `plus` features, remove `minus`, and repeat, so that superseded features can leave.

    Features are added and removed one by one as in :class:`SFS` and :class:`SBS`, with the same score. The best set of
    each size that the search finds counts.

    Parameters
    ----------
    estimator, k, tol, measure, bins, scoring, caution, cv, n_jobs, random_state, task
        As for :class:`SFS`.
    plus : int, default=3
        Features added in a turn.
    minus : int, default=1
        Features removed in a turn, fewer than `plus`.

    Attributes
    ----------
    chosen_, scores_, order_
        As for :class:`SFS`.
    path_ : float array
        Scores of the best sets of 1, 2, ... features, up to the selected set.

    See Also
    --------
    SFFS : Removes features as long as that helps, instead of a fixed number.

    Notes
    -----
    As for :class:`SFS`. The search for `k` features runs until a turn begins with `k` or more; later turns do not
    return to this size. So a search for a larger `k` gives the same set. Without `k` the first size is selected whose
    best set scores more than that of the next size, less `tol`.

    References
    ----------
    Stearns (1976), "On selecting features for pattern classifiers".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import PTA
    >>> X, y = np.random.default_rng(0).normal(size=(100, 4)), np.repeat([0, 1], 50)
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> PTA(k=2, random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "pta",
        positional=("estimator",),
        search={"k": geom(1, 100, 5)},
        paper="Stearns 1976; Kittler 1978",
        numbers_only=Sequential.numbers_only,
        only=Sequential.only,
        limits=Limits(columns=60),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Sequential._parameter_constraints,
        "plus": [integer(1)],
        "minus": [integer(0)],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        k: int | None = None,
        plus: int = 3,
        minus: int = 1,
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
        super().__init__(
            estimator,
            k=k,
            tol=tol,
            measure=measure,
            bins=bins,
            scoring=scoring,
            caution=caution,
            cv=cv,
            n_jobs=n_jobs,
            random_state=random_state,
            task=task,
        )
        self.plus = plus
        self.minus = minus

    def _subset_score(self, X: Any, y: Any) -> Measure:
        if self.plus <= self.minus:
            raise TamisError(f"pta: plus must be larger than minus; got plus={self.plus}, minus={self.minus}")
        return super()._subset_score(X, y)

    def _steps(self, score: Measure, alone: FloatArray, n_features: int) -> Steps:
        current = ScoredSubset(np.empty(0, dtype=np.intp), 0.0)
        settled = 0
        while settled < n_features:
            for _ in range(min(self.plus, n_features - current.columns.size)):
                current = (
                    best_addition(score, current.columns, n_features) if current.columns.size else best_single(alone)
                )
                yield current, []
            full = current.columns.size == n_features
            for _ in range(min(self.minus, current.columns.size - 1)):
                current = best_removal(score, current.columns)
                yield current, []
            # Later turns do not return to this size.
            settled = n_features if full else current.columns.size
            yield current, range(1, settled + 1)
