"""Genetic search: sets of columns that are crossed, mutated and selected over generations."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import integer, real
from tamis.base.part import Limits, Part
from tamis.base.task import WantedTask
from tamis.base.types import FloatArray, Mask
from tamis.subsets.evaluations import Evaluations, ScoredSubset
from tamis.subsets.search import SubsetSearch


class Genetic(SubsetSearch):
    """Genetic search: cross and mutate the better sets of a population, generation after generation.

    A set is a string of bits, one a column. The first generation is drawn at random: of each set a share of the
    columns, itself drawn uniformly, so that sets of all sizes take part. Parents win tournaments of two sets; with
    probability `crossover` a child takes every bit from either parent by the toss of a coin (uniform crossover), else
    it copies the first; then each bit flips with probability `mutation`. The best sets of a generation live on
    unchanged (elitism).

    Parameters
    ----------
    measure, estimator, bins, scoring, caution, cv, max_evaluations, n_jobs, task
        As for :class:`BestFirst`.
    population : int, default=50
        Sets in a generation.
    generations : int, default=200
        Most generations.
    crossover : float, default=0.6
        Probability that the parents of a child are crossed.
    mutation : float, default=0.001
        Probability that a bit flips.
    elite : int, default=1
        Sets that live on unchanged.
    patience : int, optional
        Generations in a row without a better set after which the search ends; by default all are run.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the search, and the folds of the measure "classifier".

    Attributes
    ----------
    chosen_, score_, n_evaluations_, trace_, complete_
        As for :class:`BestFirst`.
    n_generations_ : int
        Generations after the first.

    Notes
    -----
    The defaults are those of Souza, Japkowicz and Matwin (2005), who leave selection and crossover open. A tournament
    depends on the order of scores alone, so that any measure will do. Of sets with equal scores the smaller one wins. A
    set that was evaluated before costs nothing: `n_evaluations_` counts different sets.

    References
    ----------
    Vafaie and De Jong (1992), "Genetic algorithms as a tool for feature selection in machine learning".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Genetic
    >>> X, y = np.random.default_rng(0).normal(size=(100, 6)), np.repeat([0, 1], 50)
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> Genetic(generations=20, random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "genetic",
        positional=("measure",),
        paper="Vafaie and De Jong 1992; Souza, Japkowicz and Matwin 2005",
        phrase="selects features by genetic search with the measure {measure}",
        numbers_only=SubsetSearch.numbers_only,
        only=SubsetSearch.only,
        limits=Limits(columns=500),
    )
    draws_columns = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubsetSearch._parameter_constraints,
        "population": [integer(2)],
        "generations": [integer(0)],
        "crossover": [real(0, 1, "both")],
        "mutation": [real(0, 1, "both")],
        "elite": [integer(0)],
        "patience": [integer(1), None],
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
        population: int = 50,
        generations: int = 200,
        crossover: float = 0.6,
        mutation: float = 0.001,
        elite: int = 1,
        patience: int | None = None,
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
        self.population = population
        self.generations = generations
        self.crossover = crossover
        self.mutation = mutation
        self.elite = elite
        self.patience = patience

    def _walk(self, scores: Evaluations, rng: np.random.Generator) -> Iterator[ScoredSubset]:
        size = (self.population, scores.n_features)
        sets = rng.random(size) < rng.random((self.population, 1))
        fitness = scores.many(sets)
        best = scores.best
        assert best is not None
        yield best
        idle = self.n_generations_ = 0
        while self.n_generations_ < self.generations and (self.patience is None or idle < self.patience):
            self.n_generations_ += 1
            order = _best_first(sets, fitness)
            # A tournament is won by the set that comes first in the order.
            mothers, fathers = (sets[order[rng.integers(size[0], size=(2, size[0])).min(axis=0)]] for _ in range(2))
            crossed = (rng.random((size[0], 1)) < self.crossover) & (rng.random(size) < 0.5)
            children = np.where(crossed, fathers, mothers) ^ (rng.random(size) < self.mutation)
            kept = min(self.elite, size[0])
            children[:kept] = sets[order[:kept]]
            sets, fitness = children, scores.many(children)
            idle += 1
            if scores.best is not None and scores.best is not best:
                best, idle = scores.best, 0
                yield best


def _best_first(sets: Mask, fitness: FloatArray) -> np.ndarray:
    """Places of the sets by falling score; of equal ones the smaller comes first."""
    return np.lexsort((sets.sum(axis=1), -fitness.round(12)))
