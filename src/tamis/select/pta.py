"""Plus l, take away r: add features, remove some of them, and again."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import Interval
from tamis.base.errors import TamisError
from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.types import FloatArray
from tamis.incremental.sequential import ScoredSubset, Sequential, Steps, best_addition, best_removal, best_single
from tamis.incremental.subset_score import SubsetScore


class PTA(Sequential):
    """Add `plus` features, take `minus` away, and again: so a feature that others made needless can leave.

    The worth of a set is that of :class:`SFS`, and features come and go one by one as there and in :class:`SBS`. For
    each size the best set of all that the search meets is kept.

    Parameters
    ----------
    model, k, gain, measure, caution, folds, n_jobs, random_state
        As for :class:`SFS`.
    plus : int, default=3
        Features added in a turn.
    minus : int, default=1
        Features taken away in a turn, fewer than are added.

    Attributes
    ----------
    chosen_ : int array
        The features kept, in the order in which they came in.
    path_ : float array
        Worth of the best sets of 1, 2, ... features, up to those kept.
    scores_, order_
        As for :class:`SFS`.

    Notes
    -----
    As for :class:`SFS`. The search for `k` features goes on until it begins a turn with `k` or more, after which it
    cannot come back to this size; so the answer is the same whether the search was made for this `k` or a larger one.
    Without `k` the answer has the first size whose best set is worth more than that of one feature more, less `tol`.

    References
    ----------
    Stearns (1976), "On selecting features for pattern classifiers".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import PTA
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> PTA(k=2, random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "pta",
        positional=("estimator",),
        search={"k": geom(1, 100, 5)},
        paper="Stearns 1976; Kittler 1978",
        limits=Limits(columns=60),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Sequential._parameter_constraints,
        "plus": [Interval(Integral, 1, None, closed="left")],
        "minus": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        k: int | None = None,
        plus: int = 3,
        minus: int = 1,
        tol: float = 0.0,
        scoring: str = "accuracy",
        caution: float = 0.0,
        cv: int = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            estimator,
            k=k,
            tol=tol,
            scoring=scoring,
            caution=caution,
            cv=cv,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.plus = plus
        self.minus = minus

    def _subset_score(self, X: Any, y: Any) -> SubsetScore:
        if self.plus <= self.minus:
            raise TamisError(f"pta: plus must be larger than minus; got plus={self.plus}, minus={self.minus}")
        return super()._subset_score(X, y)

    def _steps(self, score: SubsetScore, alone: FloatArray, n_features: int) -> Steps:
        met = ScoredSubset(np.empty(0, dtype=np.intp), 0.0)
        done = 0
        while done < n_features:
            for _ in range(min(self.plus, n_features - met.columns.size)):
                met = best_addition(score, met.columns, n_features) if met.columns.size else best_single(alone)
                yield met, []
            full = met.columns.size == n_features
            for _ in range(min(self.minus, met.columns.size - 1)):
                met = best_removal(score, met.columns)
                yield met, []
            # A turn that begins here does not meet this size again.
            done = n_features if full else met.columns.size
            yield met, range(1, done + 1)
