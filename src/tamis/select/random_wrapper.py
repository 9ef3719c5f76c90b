"""Random wrapper: evaluate random sets of columns, select the best."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import integer
from tamis.base.part import Limits, Part
from tamis.base.task import WantedTask
from tamis.subsets.evaluations import Evaluations, ScoredSubset
from tamis.subsets.search import SubsetSearch

#: Sets drawn at a time.
_BATCH = 256


class RandomWrapper(SubsetSearch):
    """Evaluate random sets of columns by a model and select the best: what a search without guidance reaches.

    Each column is in a set with probability one half.

    Parameters
    ----------
    estimator, bins, scoring, caution, cv, max_evaluations, n_jobs, task
        As for :class:`BestFirst`.
    n_iter : int, optional
        Sets to draw; by default ten times as many as there are columns.
    measure : str, default="classifier"
        As for :class:`BestFirst`.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the sets, and the folds of the measure "classifier".

    Attributes
    ----------
    chosen_, score_, n_evaluations_, trace_, complete_
        As for :class:`BestFirst`.

    See Also
    --------
    Fortal : Draws columns by how often another selector chose them.

    References
    ----------
    Souza, Japkowicz and Matwin (2005), "Feature selection with a general hybrid algorithm", section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import RandomWrapper
    >>> X, y = np.random.default_rng(0).normal(size=(100, 4)), np.repeat([0, 1], 50)
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> RandomWrapper(random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "random_wrapper",
        positional=("estimator",),
        paper="Souza, Japkowicz and Matwin 2005",
        phrase="selects the best of many random sets of features for {estimator}",
        numbers_only=SubsetSearch.numbers_only,
        only=SubsetSearch.only,
        limits=Limits(columns=200),
        # A baseline: fortal draws better sets.
        searched=False,
    )
    draws_columns = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubsetSearch._parameter_constraints,
        "n_iter": [integer(1), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_iter: int | None = None,
        measure: str = "classifier",
        bins: str | None = None,
        scoring: str = "accuracy",
        caution: float = 0.0,
        cv: int = 5,
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
        self.n_iter = n_iter

    def _walk(self, scores: Evaluations, rng: np.random.Generator) -> Iterator[ScoredSubset]:
        width = scores.n_features
        left = 10 * width if self.n_iter is None else self.n_iter
        yield from best_of_draws(scores, np.full(width, 0.5), left, rng)


def best_of_draws(
    scores: Evaluations, chance: np.ndarray, n_draws: int, rng: np.random.Generator
) -> Iterator[ScoredSubset]:
    """Draw sets in which each column is with its own chance, and yield the best so far."""
    before = None
    for first in range(0, n_draws, _BATCH):
        sets = rng.random((min(_BATCH, n_draws - first), chance.size)) < chance
        scores.many(sets)
        if scores.best is not None and scores.best is not before:
            before = scores.best
            yield before
