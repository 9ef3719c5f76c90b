"""Wrapper: rank single features by a classifier, then extend a base set while it helps."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs

from tamis.base._sklearn import Interval
from tamis.base.cut import rank
from tamis.base.errors import TamisError
from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.selector import Selection
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray
from tamis.base.validation import named_columns
from tamis.incremental.subset_score import EQUAL, SubsetScore, SubsetSelector

#: Features tried at once by a classifier that is not fitted for each.
_AHEAD = 32


class _Searched(NamedTuple):
    """Worth of each feature alone and their order; the features in the order in which they came in, and the worths."""

    scores: FloatArray
    order: np.ndarray
    chosen: list[int]
    path: list[float]


class Wrapper(SharedFit, SubsetSelector):
    """Keep the features with which a classifier does best: rank them one by one, then add those that help.

    The worth of a set of features is the mean accuracy of the classifier on them over the folds of an internal
    stratified cross-validation on the training rows, less `caution` deviations. First every feature is judged alone,
    which gives the ranking. Then, beginning with `base`, the features are tried in that order, each once, and one is
    added when it raises the worth of the set by more than `tol`.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier, or a pipeline that ends in one. By default scikit-learn's ``GaussianNB()``. The wrapper suits the
        classifier it is run with: take the one that follows.
    k : int, optional
        The most features to keep, those of `base` counted; with ``extend=False`` how many to keep.
    base : column, list of columns, optional
        Numbers (from 0) or names of features to begin with; they are always kept. By default the best single feature.
    extend : bool, default=True
        False stops after the ranking and keeps its `k` best (`base` first).
    tol : float, default=0.0
        A feature must raise the worth by more than this.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        What is averaged over the folds; balanced accuracy is the mean over classes.
    caution : float, default=0.0
        How many deviations over the folds count against a set (Grabczewski and Jankowski, eq. 25).
    cv : int, default=5
        Folds of the internal cross-validation; fewer when the largest class has fewer rows.
    n_jobs : int, optional
        Processes that judge features side by side; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Deals the rows into folds, and seeds a classifier that has no seed of its own: all sets meet the same folds
        and seeds.

    Attributes
    ----------
    scores_ : float array of shape (n_features,)
        Worth of each feature alone.
    order_ : int array
        In the order of the scores.
    chosen_ : int array
        The features kept, in the order in which they came in.
    path_ : float array
        With ``extend=True``: worth of the first set (`base`, or the best feature), then after each feature added.

    Notes
    -----
    The worth is no honest estimate of accuracy on new data: it is the best of many, seen by the choice. Validate
    the whole model instead (``tamis.validate``). The cost is up to two fits per feature and fold, or much less for a
    classifier that need not be fitted for every set: see :mod:`tamis.incremental.registry`.

    Features that are constant in the training rows of a fold tell nothing: without others they are judged as if they
    named the commonest class there.

    Sparse columns are handed to the classifier as they are if it takes them; if not, the columns of one set at a time
    are made dense.

    References
    ----------
    Grabczewski and Jankowski (2006), "Mining for complex models comprising feature selection and classification",
    section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Wrapper
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> Wrapper(random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "wrapper",
        positional=("estimator",),
        search={"k": geom(1, 100, 5)},
        paper="Grabczewski and Jankowski 2006, section 2.2",
        limits=Limits(columns=200),
    )
    #: The features added for a smaller k are the first of those for a larger one.
    shared_parameters = ("k",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubsetSelector._parameter_constraints,
        "base": [Interval(Integral, 0, None, closed="left"), str, "array-like", None],
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
        scoring: str = "accuracy",
        caution: float = 0.0,
        cv: int = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.k = k
        self.base = base
        self.extend = extend
        self.tol = tol
        self.scoring = scoring
        self.caution = caution
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _prepare(self, asked: Sequence[Self], X: Any, y: Any) -> _Searched:
        base = self._base(X.shape[1])
        for one in asked:
            one._check_k(len(base))
        score = self._subset_score(X, y)
        scores = score.add(np.empty(0, dtype=np.intp), np.arange(X.shape[1]))
        ranking = rank(scores)
        if self.extend:
            most = None if any(one.k is None for one in asked) else max(int(one.k or 0) for one in asked)
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
        self, score: SubsetScore, scores: FloatArray, ranking: np.ndarray, base: list[int], most: int | None
    ) -> tuple[list[int], list[float]]:
        """The first set, then every feature in the order of the ranking that helps; and the worth after each."""
        chosen = base or [int(ranking[0])]
        path = [score.of(np.array(base)) if base else float(scores[ranking[0]])]
        waiting = ranking[~np.isin(ranking, chosen)]
        # The next few are looked at together; what was tried beside the one that helps is tried again with it.
        ahead = _AHEAD if score.incremental else effective_n_jobs(self.n_jobs)
        # No set is worth more than 1.
        while waiting.size and path[-1] + self.tol + EQUAL < 1 and (most is None or len(chosen) < most):
            worths = score.add(np.array(chosen), waiting[:ahead])
            helps = np.flatnonzero(worths > path[-1] + self.tol + EQUAL)
            if helps.size:
                chosen = [*chosen, int(waiting[helps[0]])]
                path.append(float(worths[helps[0]]))
            waiting = waiting[helps[0] + 1 if helps.size else ahead :]
        return chosen, path

    def _check_k(self, n_base: int) -> None:
        if not self.extend and self.k is None:
            raise TamisError("wrapper: extend=False needs k, the number of features to keep")
        if self.k is not None and n_base > self.k:
            raise TamisError(f"wrapper: base has {n_base} columns, more than k={self.k}")

    def _base(self, n_features: int) -> list[int]:
        """The columns meant by `base`."""
        return named_columns(self.base, n_features, list(getattr(self, "feature_names_in_", [])), "wrapper: base")
