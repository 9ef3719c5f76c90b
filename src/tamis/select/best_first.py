"""Best-first search: go on from the best set that was not expanded yet."""

import heapq
from collections.abc import Iterator
from itertools import count
from typing import Any, ClassVar, Literal

import numpy as np

from tamis.base._sklearn import StrOptions, integer
from tamis.base.part import Limits, Part
from tamis.base.task import WantedTask
from tamis.subsets.evaluations import EQUAL, Evaluations, ScoredSubset
from tamis.subsets.search import SubsetSearch


class BestFirst(SubsetSearch):
    """Best-first search: expand the best set that was not expanded yet, until several expansions bring nothing better.

    To expand a set is to evaluate all sets with one column more, one column less, or both. Unlike hill climbing the
    search can return to an earlier set: all sets that were evaluated wait in one list.

    Parameters
    ----------
    measure : str, default="cfs"
        What sets are scored by: "cfs" (the merit of correlation-based feature selection), "cfs_pearson", "classifier"
        (the cross-validated score of `estimator`), "inconsistency", "bic" or "convex_net". The last and
        "inconsistency" are for classes alone. Of numbers "cfs" goes by Pearson correlation, as in Hall: a missing value
        counts as the mean of its column, and nominal columns are refused.
    estimator, scoring, caution, cv
        Of the measure "classifier", as for :class:`SFS`.
    bins : str, optional
        Of "cfs" and "inconsistency": how numeric columns become states, as for :class:`MRMR`; by default "modl" for the
        first and "auto" for the second.
    direction : {"forward", "backward", "both"}, default="forward"
        Forward searches begin with no column and add, backward ones begin with all and remove. "both" begins with none,
        adds and removes.
    patience : int, default=5
        Expansions in a row without a better set after which the search ends.
    max_evaluations : int, optional
        Sets that may be evaluated; the best of these is selected.
    n_jobs : int, optional
        Processes of the measure "classifier".
    random_state : int, Generator, RandomState or None, default=None
        Seeds the folds of the measure "classifier".
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default what `estimator` is for, and without one numbers with
        fractions are numbers.

    Attributes
    ----------
    chosen_ : int array
        The selected columns.
    score_ : float
        Their score.
    n_evaluations_ : int
        Sets that were evaluated.
    trace_ : list of (int, int array, float)
        Every set that was the best so far: the number of evaluations, its columns and its score.
    complete_ : bool
        False if `max_evaluations` ended the search.

    See Also
    --------
    SFFS : Adds and removes one column at a time, for a given number of columns.

    Notes
    -----
    Of sets with equal scores the smaller one is better and expanded first, then the one that was evaluated first.

    References
    ----------
    Xu, Yan and Chang (1988), "Best first strategy for feature selection"; Hall (2000), "Correlation-based feature
    selection for discrete and numeric class machine learning".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import BestFirst
    >>> X, y = np.random.default_rng(0).normal(size=(100, 4)), np.repeat([0, 1], 50)
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> BestFirst().fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "best_first",
        positional=("measure",),
        paper="Xu, Yan and Chang 1988; Souza, Japkowicz and Matwin 2005",
        phrase="selects features by best-first search with the measure {measure}",
        numbers_only=SubsetSearch.numbers_only,
        only=SubsetSearch.only,
        limits=Limits(columns=2_000),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubsetSearch._parameter_constraints,
        "direction": [StrOptions({"forward", "backward", "both"})],
        "patience": [integer(1)],
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
        direction: Literal["forward", "backward", "both"] = "forward",
        patience: int = 5,
        max_evaluations: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        super().__init__(
            measure,
            estimator=estimator,
            bins=bins,
            scoring=scoring,
            caution=caution,
            cv=cv,
            max_evaluations=max_evaluations,
            n_jobs=n_jobs,
            random_state=random_state,
            task=task,
        )
        self.direction = direction
        self.patience = patience

    def _walk(self, scores: Evaluations, rng: np.random.Generator) -> Iterator[ScoredSubset]:
        every = np.arange(scores.n_features)
        start = every if self.direction == "backward" else every[:0]
        best = ScoredSubset(start, scores.of(start))
        yield best
        numbers = count()
        waiting = [(-best.score, start.size, next(numbers), start)]
        seen = {start.tobytes()}
        idle = 0
        while waiting and idle < self.patience:
            columns = heapq.heappop(waiting)[-1]
            before = best
            for found in self._expanded(scores, columns, every):
                if (key := found.columns.tobytes()) in seen:
                    continue
                seen.add(key)
                # Scores that differ by rounding alone are equal, so that the size decides.
                rounded = round(found.score / EQUAL) * EQUAL
                heapq.heappush(waiting, (-rounded, found.columns.size, next(numbers), found.columns))
                if found.beats(best):
                    best = found
            if best is before:
                idle += 1
            else:
                idle = 0
                yield best

    def _expanded(self, scores: Evaluations, columns: np.ndarray, every: np.ndarray) -> Iterator[ScoredSubset]:
        """The sets that differ from one by a column."""
        outside = np.delete(every, columns)
        if self.direction != "backward" and outside.size:
            for j, score in zip(outside, scores.add(columns, outside).tolist(), strict=True):
                yield ScoredSubset(np.sort(np.append(columns, j)), score)
        if self.direction != "forward" and columns.size:
            for j, score in zip(columns, scores.remove(columns, columns).tolist(), strict=True):
                yield ScoredSubset(columns[columns != j], score)
