"""Wrapper: rank single features by a model, then extend a base set while it helps."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs

from tamis.base._sklearn import integer
from tamis.base.cut import rank
from tamis.base.errors import TamisError
from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.selector import Selection
from tamis.base.shared_fit import SharedFit
from tamis.base.task import WantedTask
from tamis.base.types import FloatArray
from tamis.base.validation import named_columns
from tamis.subsets.evaluations import EQUAL
from tamis.subsets.measure import Measure
from tamis.subsets.subset_selector import SubsetSelector, score_of

#: Features evaluated at once by a model that is updated rather than refitted.
_AHEAD = 32


class _Searched(NamedTuple):
    """Score of each feature alone and their order; the features as they were added, and the score after each."""

    scores: FloatArray
    order: np.ndarray
    chosen: list[int]
    path: list[float]


class Wrapper(SharedFit, SubsetSelector):
    """Rank single features by the score of a model, then add each in turn that improves it.

    The score of a set of features is that of :class:`SFS`. Every feature is evaluated alone, which gives the ranking.
    Then, beginning with `base`, each feature is tried once in that order, and added when it raises the score by more
    than `tol`.

    Parameters
    ----------
    estimator, measure, bins, scoring, caution, cv, n_jobs, random_state, task
        As for :class:`SFS`. The selection suits this model: take the one that follows.
    k : int, optional
        The most features to select, including `base`; with ``extend=False`` exactly this many.
    base : column, list of columns, optional
        Numbers (from 0) or names of features to begin with; always selected. By default the best single feature.
    extend : bool, default=True
        False stops after the ranking and selects its `k` best (`base` first).
    tol : float, default=0.0
        A feature must raise the score by more than this.

    Attributes
    ----------
    scores_ : float array of shape (n_features,)
        Score of each feature alone.
    order_ : int array
        Column numbers by falling `scores_`.
    chosen_ : int array
        The selected features, in the order in which they were added.
    path_ : float array
        With ``extend=True``: score of the first set (`base`, or the best feature), then after each feature added.

    See Also
    --------
    SFS : Tries all remaining features at each step.

    Notes
    -----
    As for :class:`SFS`. The cost is up to two fits per feature and fold, or much less for a model that need not be
    refitted for every set: see :mod:`tamis.incremental.registry`. Sparse columns are passed to the model as they
    are if it takes them; if not, the columns of one set at a time are made dense.

    References
    ----------
    Grabczewski and Jankowski (2006), "Mining for complex models comprising feature selection and classification",
    section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Wrapper
    >>> X, y = np.random.default_rng(0).normal(size=(100, 4)), np.repeat([0, 1], 50)
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> Wrapper(random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "wrapper",
        positional=("estimator",),
        search={"k": geom(1, 100, 5)},
        paper="Grabczewski and Jankowski 2006, section 2.2",
        numbers_only=SubsetSelector.numbers_only,
        only=SubsetSelector.only,
        limits=Limits(columns=200),
    )
    #: The features added for a smaller k are the first of those for a larger one.
    shared_parameters = ("k",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubsetSelector._parameter_constraints,
        "base": [integer(0), str, "array-like", None],
        "extend": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        k: int | None = None,
        base: Any = None,
        extend: bool = True,
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
        self.base = base
        self.extend = extend

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> _Searched:
        names = list(getattr(self, "feature_names_in_", []))
        base = named_columns(self.base, X.shape[1], names, "wrapper: base")
        for one in estimators:
            one._check_k(len(base))
        score = self._subset_score(X, y)
        scores = score.add(np.empty(0, dtype=np.intp), np.arange(X.shape[1]))
        ranking = rank(scores)
        if self.extend:
            most = None if any(one.k is None for one in estimators) else max(int(one.k or 0) for one in estimators)
            return _Searched(scores, ranking, *self._extended(score, scores, ranking, base, most))
        return _Searched(scores, ranking, [*base, *(int(j) for j in ranking if j not in base)], [])

    def _finish(self, prepared: _Searched) -> Selection:
        self.chosen_ = np.array(prepared.chosen[: self.k], dtype=np.intp)
        if self.extend:
            later = len(prepared.chosen) - self.chosen_.size
            self.path_ = np.array(prepared.path[: len(prepared.path) - later])
        support = np.zeros(prepared.scores.shape[0], dtype=bool)
        support[self.chosen_] = True
        return Selection(support, prepared.scores, prepared.order)

    def _extended(
        self, score: Measure, scores: FloatArray, ranking: np.ndarray, base: list[int], most: int | None
    ) -> tuple[list[int], list[float]]:
        """The first set, then every feature in the order of the ranking that helps; and the score after each."""
        chosen = base or [int(ranking[0])]
        path = [score_of(score, np.array(base)) if base else float(scores[ranking[0]])]
        waiting = ranking[~np.isin(ranking, chosen)]
        # The next few are evaluated together; those behind the first that helps are evaluated again with it.
        ahead = _AHEAD if getattr(score, "incremental", True) else effective_n_jobs(self.n_jobs)
        while waiting.size and path[-1] + self.tol + EQUAL < self._highest and (most is None or len(chosen) < most):
            scores_with = score.add(np.array(chosen), waiting[:ahead])
            helps = np.flatnonzero(scores_with > path[-1] + self.tol + EQUAL)
            if helps.size:
                chosen = [*chosen, int(waiting[helps[0]])]
                path.append(float(scores_with[helps[0]]))
            waiting = waiting[helps[0] + 1 if helps.size else ahead :]
        return chosen, path

    def _check_k(self, n_base: int) -> None:
        if not self.extend and self.k is None:
            raise TamisError("wrapper: extend=False needs k, the number of features to select")
        if self.k is not None and n_base > self.k:
            raise TamisError(f"wrapper: base has {n_base} columns, more than k={self.k}")
