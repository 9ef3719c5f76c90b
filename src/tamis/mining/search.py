"""The search for the complex model, from data to a fitted model with an honest estimate."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
from joblib import cpu_count, parallel_config
from sklearn.base import clone

from tamis.base._sklearn import _safe_indexing
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import used_features
from tamis.base.seeds import seeded, spawn
from tamis.base.validation import check_number, check_whole
from tamis.data.fingerprint import fingerprint
from tamis.mining.budget import Budget, Clock
from tamis.mining.budget import budget as read_budget
from tamis.mining.data_traits import data_traits
from tamis.mining.edits import Edits, read_edits
from tamis.mining.mined import Mined, Run, inner_estimate, leaderboard
from tamis.mining.run.store import Store
from tamis.mining.runner import SPENT, Batch, Progress, Runner
from tamis.mining.search_state import RemainingWork, SearchState
from tamis.mining.space import space
from tamis.mining.stages import choose_trial
from tamis.mining.trials import Trial, Trials
from tamis.mining.trials import inner_folds as split_rows
from tamis.validation.execute.driver import Driver, warn_again
from tamis.validation.experiment import Experiment
from tamis.validation.fold_result import FoldResult
from tamis.validation.nested import Rule

#: The time of a run without a given budget.
DEFAULT_BUDGET = "10m"

#: Distinguishes the seed of the final fit from the other seeds of a run.
_LAST_FIT = 2**31


def mine(
    X: Any,
    y: Any = None,
    *,
    budget: "str | float | Budget | None" = None,
    trials: int | None = None,
    engine: str = "local",
    run: str | Path | None = None,
    split: str | None = None,
    folds: int = 5,
    inner_folds: int = 5,
    groups: Any = None,
    metric: str = "ber",
    rule: Rule = "cautious",
    caution: float = 1.0,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    edits: "str | Path | Edits | None" = None,
    seed: int = 0,
    memory: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    finish: "Callable[[Mined, Experiment, Store], None] | None" = None,
) -> Mined:
    """Search for the complex model, and estimate honestly how well the search does on new data.

    The search goes through stages (:mod:`tamis.mining.stages`): base classifiers, selections, classifiers behind the
    best selections, tuning, substitution of parts, committees. Inner folds evaluate each recipe as a whole. For the
    honest estimate the same search is run within the training rows of every outer fold, and its choice is evaluated on
    the unseen test rows. With the official split there is one search, on the training rows. The returned model is the
    choice of a search on all rows (with the official split, of the one on the training rows), fitted on all rows.

    Parameters
    ----------
    X : Dataset, array, sparse matrix or data frame
        A Dataset brings its classes, groups and official split.
    y : array of shape (n_rows,), optional
        Class labels, if `X` is not a Dataset.
    budget : str, float or Budget, optional
        Time for everything, such as "10m"; ten minutes by default, and no limit if `trials` is given.
    trials : int, optional
        Recipes that each search may try, those within the outer folds too. With this alone the result depends on the
        seed only.
    engine : str, default="local"
        Who computes: "serial", "local" (a process for each core), "local(3)" or "dask://host:port". The result does not
        depend on it.
    run : path, optional
        The run file, which stores every result. An existing run is resumed. By default nothing is stored.
    split : {"folds", "official"}, optional
        Where the honest estimate comes from: outer folds by default, or the official test rows.
    folds : int, default=5
        Outer folds.
    inner_folds : int, default=5
        Folds within the rows of a search.
    groups : array of shape (n_rows,), optional
        Rows of one group are never divided between training and test.
    metric : str, default="ber"
        The metric that the search optimizes.
    rule : {"best", "cautious", "simplest"}, default="cautious"
        How a search chooses in the end (:func:`tamis.validation.nested.choose`).
    caution : float, default=1.0
        For "cautious": how many deviations count against a model (Grabczewski and Jankowski, eq. 25).
    only : list of str
        Templates: recipes with or without open arguments. If there are any, the search tries nothing else.
    without : list of str
        Parts that are not used.
    edits : path or Edits, optional
        The same from a TOML file, with ranges of parameters (:func:`tamis.mining.edits.read_edits`).
    seed : int, default=0
    memory : float, optional
        Bytes that shared intermediate rows may take in all workers together.
    progress : callable, optional
        Called with a :class:`~tamis.mining.runner.Progress` whenever something was computed.
    finish : callable, optional
        Called with the result, the experiment and the store when the search is over and its `run` file is still open.
        ``tamis.mine`` stores there what ``tamis.report`` needs (:func:`tamis.reporting.note_facts.note_facts`).

    Returns
    -------
    Mined
        A fitted classifier with the honest estimate, the inner estimate and all trials.

    See Also
    --------
    tamis.validate : The honest estimate of one recipe.
    tamis.report : The report of a run.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 50))
    >>> X[:, 7] += 3 * y
    >>> found = mine(X, y, trials=8, only=["cc | knn"], engine="serial", folds=2, inner_folds=2)
    >>> 7 in found.selected_features_, found.validation_.summary()["ber"].mean < 0.15
    (True, True)
    """
    check_whole("inner_folds", inner_folds, 2)
    check_number("caution", caution, 0, np.inf)
    limit = read_budget(DEFAULT_BUDGET if budget is None and trials is None else budget, trials)
    given = edits if isinstance(edits, Edits) else Edits() if edits is None else read_edits(Path(edits))
    edited = given.and_(only, without)
    if split not in (None, "folds", "official"):
        raise TamisError(f"split takes 'folds' or 'official' for a search; got {split!r}")
    if rule not in get_args(Rule):
        raise TamisError(f"rule must be one of {', '.join(get_args(Rule))}; got {rule!r}")
    experiment = Experiment.of(X, y, split=split, folds=folds, groups=groups, metrics=metric, seed=seed)
    with tempfile.TemporaryDirectory(prefix="tamis-") as folder:
        path = Path(run) if run is not None else Path(folder, "run.tamis")
        identity = _identity(experiment, inner_folds, edited)
        with Store.open(path, identity) as store, experiment.driver(engine=engine, memory=memory) as driver:
            clock = Clock(limit, store.noted(SPENT, 0.0))
            session = _Session(experiment, store, driver, clock, inner_folds, progress)
            found = session.run(edited, rule, float(caution))
            store.note(SPENT, clock.spent)
            found.run_ = replace(found.run_, path=None if run is None else str(run), seconds=clock.spent)
            if run is not None and finish is not None:
                finish(found, experiment, store)
    return found


class _Session:
    """One run: the searches, their choices, and the final fit."""

    def __init__(
        self,
        experiment: Experiment,
        store: Store,
        driver: Driver,
        clock: Clock,
        inner_folds: int,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._experiment, self._store, self._clock, self._inner_folds = experiment, store, clock, inner_folds
        self._workers = driver.workers
        self._runner = Runner(store, driver, clock, progress=progress)

    def run(self, edits: Edits, rule: Rule, caution: float) -> Mined:
        searches = self._searches(edits)
        self._runner.run(searches)
        choices = [self._choice(search, rule, caution) for search in searches]
        self._clock.freeze(None)
        outer = self._outer(searches, choices)
        warn_again(outer)
        return self._mined(searches[-1].trials, choices, outer)

    def _searches(self, edits: Edits) -> list[SearchState]:
        """A search for every outer split, and last one on all rows unless the split is the official one."""
        experiment, data = self._experiment, self._experiment.data
        traits = data_traits(data)
        rows = [split.train for split in experiment.splits]
        if not experiment.scheme.one_test:
            rows.append(experiment.rows)
        assert experiment.metrics is not None
        metric = experiment.metrics[0]
        outer_splits = max(1.0, len(experiment.splits) / self._workers)
        found = []
        for number, own in enumerate(rows):
            folds = split_rows(own, data.y, data.groups, search=number, folds=self._inner_folds, seed=experiment.seed)
            trials = Trials(number, folds, metric)
            found.append(
                SearchState(
                    trials,
                    space(traits.for_rows(data.y[own]), edits),
                    self._clock,
                    experiment.seed,
                    stored=partial(self._stored_results, trials),
                    store=partial(self._store_results, trials),
                    load=len(rows) / self._workers,
                    remaining=RemainingWork(outer_splits, own.size, experiment.rows.size),
                )
            )
        return found

    def _stored_results(self, trials: Trials, split: int, recipes: Sequence[str]) -> dict[str, FoldResult]:
        found = self._store.find(trials.number, trials.inner.name(split), recipes)
        return {text: one for text, one in found.items() if isinstance(one, FoldResult)}

    def _store_results(self, trials: Trials, split: int, results: Mapping[str, FoldResult]) -> None:
        self._store.put(trials.number, trials.inner.name(split), results)

    def _choice(self, search: SearchState, rule: Rule, caution: float) -> Trial:
        found = choose_trial(search, rule, caution)
        if found is None:
            errors = [one.error for one in search.trials.by_recipe.values() if one.error]
            why = f": {errors[0]}" if errors else "; give it a larger budget"
            raise TamisError(f"no recipe could be evaluated in the time of the budget{why}")
        return found

    def _outer(self, searches: Sequence[SearchState], choices: Sequence[Trial]) -> list[FoldResult]:
        """The results of the outer splits, each by the choice of the search within its training rows."""
        batches = [
            Batch(number, "outer", split, (choices[number].recipe,))
            for number, split in enumerate(self._experiment.splits)
        ]
        found = []
        for batch, findings in zip(batches, self._runner.evaluate(batches, searches), strict=True):
            result = findings[batch.recipes[0]]
            if isinstance(result, TamisError):
                raise result
            found.append(result)
        return found

    def _mined(self, trials: Trials, choices: Sequence[Trial], outer: list[FoldResult]) -> Mined:
        experiment, choice = self._experiment, choices[-1]
        data, rows = experiment.data, experiment.rows
        model = seeded(clone(self._runner.model(choice.recipe)), spawn(experiment.seed, _LAST_FIT))
        with parallel_config("threading", n_jobs=cpu_count()):
            model.fit(_safe_indexing(data.X, rows), data.y[rows])
        found = Mined(model)
        found.recipe_ = choice.recipe
        found.classes_ = data.classes
        found.n_features_in_ = data.n_features
        mask = used_features(model, data.n_features)
        used = np.arange(data.n_features) if mask is None else np.flatnonzero(mask)
        found.selected_features_ = data.feature_names[used]
        if data.has_names:
            found.feature_names_in_ = data.feature_names
        found.validation_ = replace(
            experiment.validation(model, outer),
            recipe="the choice of the search",
            split=f"{experiment.scheme}, the search within",
        )
        found.inner_estimate_ = inner_estimate(trials, choice)
        found.leaderboard_ = leaderboard(trials)
        found.run_ = Run(
            path=None,
            seconds=self._clock.spent,
            search=trials.number,
            n_tried=len(trials.by_recipe),
            choices=tuple(one.recipe for one in choices[: len(experiment.splits)]),
            failed={one.recipe: one.error for one in trials.by_recipe.values() if one.error},
        )
        return found


def _identity(experiment: Experiment, inner_folds: int, edits: Edits) -> dict[str, Any]:
    return {
        "data": experiment.data.name,
        "fingerprint": fingerprint(experiment.data),
        "seed": experiment.seed,
        "split": str(experiment.scheme),
        "inner_folds": inner_folds,
        "metric": experiment.metrics[0].name if experiment.metrics else "",
        **edits.to_dict(),
    }
