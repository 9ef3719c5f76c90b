"""The search for the complex model, from data to a fitted model with an honest estimate."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

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
from tamis.mining.final_models import OFFERS, final_offers, honest_estimates, offer_results
from tamis.mining.mined import Mined, Offered, Run, inner_estimate, leaderboard
from tamis.mining.offers import Offers, Prefer, Rule, Wishes
from tamis.mining.run.store import Store
from tamis.mining.runner import SPENT, Batch, Progress, Runner
from tamis.mining.search_state import RemainingWork, SearchState
from tamis.mining.space import space
from tamis.mining.substitutes import Substitutes, noted_substitutes
from tamis.mining.trials import Trials
from tamis.mining.trials import inner_folds as split_rows
from tamis.validation.execute.driver import Driver, warn_again
from tamis.validation.experiment import Experiment
from tamis.validation.fold_result import FoldResult
from tamis.validation.folds import StratifiedFolds
from tamis.validation.result import Estimate, Validation

#: The time of a run without a given budget.
DEFAULT_BUDGET = "10m"

#: How the error of a search is estimated.
Estimator = Literal["nested", "bootstrap"]

#: In words, where an estimate comes from.
_NESTED, _CORRECTED = "the search repeated within each", "corrected for the choice by the bootstrap"

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
    estimate: Estimator = "nested",
    prefer: Prefer = "best",
    max_features: int | None = None,
    rule: Rule = "shrunk",
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
    best selections, tuning, substitution of parts, committees. Inner folds evaluate each recipe as a whole, and their
    predictions decide what the search offers: the best ensemble, the best single model and the smallest that does about
    as well, each fitted on all rows.

    The best of many models looks better in the folds that chose it than it is. For the honest estimate the whole search
    is repeated within the training rows of every outer fold, and its choice is evaluated on the unseen test rows. With
    ``estimate="bootstrap"`` there is one search, with all the time, and only the choice is repeated, on samples of the
    rows (:mod:`tamis.mining.bootstrap_estimate`). With the official split there is one search, on the training rows,
    and the official test rows give the estimate.

    Parameters
    ----------
    X : Dataset, array, sparse matrix or data frame
        A Dataset brings its classes, groups and official split.
    y : array of shape (n_rows,), optional
        Class labels, if `X` is not a Dataset.
    budget : str, float or Budget, optional
        Time for everything, such as "10m"; ten minutes by default, and no limit if `trials` is given. Kernels that
        have to be compiled first, once on a machine, take no time of it.
    trials : int, optional
        Recipes that each search may try. With this alone the result depends on the seed only.
    engine : str, default="local"
        Who computes: "serial", "local" (a process for each core), "local(3)" or "dask://host:port". The result does not
        depend on it.
    run : path, optional
        The run file, which stores every result. An existing run is resumed. By default nothing is stored.
    split : {"folds", "official"}, optional
        Where the honest estimate comes from: all rows by default, or the official test rows.
    folds : int, default=5
        Outer folds of a nested estimate.
    inner_folds : int, default=5
        Folds within the rows of a search.
    groups : array of shape (n_rows,), optional
        Rows of one group are never divided between training and test.
    metric : str, default="ber"
        The metric that the search optimizes.
    estimate : {"nested", "bootstrap"}, default="nested"
        How the honest error is estimated. A nested estimate takes a search for each outer fold besides the one for the
        model, so that each has the less time. That by the bootstrap costs no search, but is too small where there is
        little to find: about 45 % on permuted classes of wide data.
    prefer : {"best", "single", "small"}, default="best"
        Which offer becomes the model: the ensemble, the best single model, or the one with the fewest features within
        one standard error of the best. All are in ``models_``.
    max_features : int, optional
        Most columns of any offer; of an ensemble, of all members together.
    rule : {"shrunk", "best", "cautious", "simplest"}, default="shrunk"
        How the best single model is chosen: by its log loss, moved towards the mean of its family by as much as its
        noise says (:mod:`tamis.mining.shrinkage`), or by the metric as :func:`tamis.validation.nested.choose` does.
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
    for name, value, kind in (("rule", rule, Rule), ("prefer", prefer, Prefer), ("estimate", estimate, Estimator)):
        if value not in get_args(kind):
            raise TamisError(f"{name} must be one of {', '.join(get_args(kind))}; got {value!r}")
    if max_features is not None:
        check_whole("max_features", max_features, 1)
    wishes = Wishes(prefer, rule, float(caution), max_features)
    experiment = Experiment.of(X, y, split=split, folds=folds, groups=groups, metrics=metric, seed=seed)
    with tempfile.TemporaryDirectory(prefix="tamis-") as folder:
        path = Path(run) if run is not None else Path(folder, "run.tamis")
        nested = estimate == "nested" or split == "official"
        identity = _identity(experiment, inner_folds, edited, nested=nested)
        with Store.open(path, identity) as store, experiment.driver(engine=engine, memory=memory) as driver:
            clock = Clock(limit, store.noted(SPENT, 0.0))
            session = _Session(experiment, store, driver, clock, inner_folds, wishes, progress, nested=nested)
            found = session.run(edited)
            store.note(SPENT, clock.spent)
            found.run_ = replace(found.run_, path=None if run is None else str(run), seconds=clock.spent)
            if run is not None and finish is not None:
                finish(found, experiment, store)
    return found


class _Session:
    """One run: the searches, what they offer, and the final fits."""

    def __init__(
        self,
        experiment: Experiment,
        store: Store,
        driver: Driver,
        clock: Clock,
        inner_folds: int,
        wishes: Wishes,
        progress: Callable[[Progress], None] | None,
        *,
        nested: bool,
    ) -> None:
        self._experiment, self._store, self._clock, self._inner_folds = experiment, store, clock, inner_folds
        self._wishes, self._nested, self._workers = wishes, nested, driver.workers
        self._runner = Runner(store, driver, clock, progress=progress)

    def run(self, edits: Edits) -> Mined:
        searches = self._searches(edits)
        self._runner.prepare(searches, single=getattr(self._experiment.data.X, "dtype", None) == np.float32)
        self._runner.run(searches)
        offers = [self._offers(search) for search in searches]
        # The clock still stands at the start of the last round, so that all of this can be repeated.
        corrected = self._corrected_estimates(searches[-1])
        self._clock.freeze(None)
        outer = self._outer(searches, offers) if self._nested else {}
        found = self._mined(searches[-1], offers, outer, corrected)
        found.substitutes_ = self._substitutes(found, searches[-1].trials)
        return found

    def _searches(self, edits: Edits) -> list[SearchState]:
        """For a nested estimate a search for every outer split; and one on all rows unless the split is official."""
        experiment, data = self._experiment, self._experiment.data
        traits, codes = data_traits(data), np.unique(data.y, return_inverse=True)[1]
        rows = [split.train for split in experiment.splits] if self._nested else []
        if not experiment.scheme.one_test:
            rows.append(experiment.rows)
        assert experiment.metrics is not None
        metric = experiment.metrics[0]
        outer_splits = max(1.0, len(experiment.splits) / self._workers) if self._nested else 0.0
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
                    codes,
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

    def _offers(self, search: SearchState) -> Offers:
        found = final_offers(search, self._wishes, self._experiment.data.groups)
        if found is None:
            errors = [one.error for one in search.trials.by_recipe.values() if one.error]
            why = f": {errors[0]}" if errors else "; give it a larger budget"
            raise TamisError(f"no recipe could be evaluated in the time of the budget{why}")
        return found

    def _outer(self, searches: Sequence[SearchState], offers: Sequence[Offers]) -> dict[Prefer, list[FoldResult]]:
        """The results of offers on the outer splits, each by the search within its training rows.

        On an official split these are all offers, else the preferred one.
        """
        names = OFFERS if self._experiment.scheme.one_test else (self._wishes.prefer,)
        batches = [
            Batch(number, "outer", split, tuple(dict.fromkeys(offers[number].text(name) for name in names)))
            for number, split in enumerate(self._experiment.splits)
        ]
        found: dict[Prefer, list[FoldResult]] = {name: [] for name in names}
        for batch, findings in zip(batches, self._runner.evaluate(batches, searches), strict=True):
            for name in names:
                result = findings[offers[batch.search].text(name)]
                if isinstance(result, TamisError):
                    raise result
                found[name].append(result)
        warn_again(found[self._wishes.prefer])
        return found

    def _corrected_estimates(self, search: SearchState) -> dict[Prefer, dict[str, Estimate]]:
        """The estimates of all offers by the bootstrap; none where the official test rows give them."""
        if self._experiment.scheme.one_test:
            return {}
        return honest_estimates(search, self._wishes, self._experiment.data.groups, self._experiment.metrics)

    def _mined(
        self,
        search: SearchState,
        offers: Sequence[Offers],
        outer: Mapping[Prefer, list[FoldResult]],
        corrected: Mapping[Prefer, Mapping[str, Estimate]],
    ) -> Mined:
        experiment, data, trials = self._experiment, self._experiment.data, search.trials
        offered = self._offered(search, offers[-1], outer, corrected)
        chosen = offered[self._wishes.prefer]
        found = Mined(chosen.model)
        found.models_ = offered
        found.recipe_, found.selected_features_ = chosen.recipe, chosen.selected_features
        found.validation_, found.inner_estimate_ = chosen.validation, chosen.inner_estimate
        found.classes_ = data.classes
        found.n_features_in_ = data.n_features
        if data.has_names:
            found.feature_names_in_ = data.feature_names
        found.leaderboard_ = leaderboard(trials)
        chosen_outside = offers[: len(experiment.splits)] if self._nested else ()
        found.run_ = Run(
            path=None,
            seconds=self._clock.spent,
            search=trials.number,
            n_tried=len(trials.by_recipe),
            choices=tuple(one.text(self._wishes.prefer) for one in chosen_outside),
            failed={one.recipe: one.error for one in trials.by_recipe.values() if one.error},
        )
        return found

    def _offered(
        self,
        search: SearchState,
        offers: Offers,
        outer: Mapping[Prefer, list[FoldResult]],
        corrected: Mapping[Prefer, Mapping[str, Estimate]],
    ) -> dict[str, Offered]:
        """Every offer, fitted on all rows, with its estimates."""
        experiment = self._experiment
        found: dict[str, Offered] = {}
        fitted: dict[str, Any] = {}
        for name in OFFERS:
            text = offers.text(name)
            if text not in fitted:
                fitted[text] = self._fitted(text)
            model = fitted[text]
            if name in outer:
                split = str(experiment.scheme) if experiment.scheme.one_test else f"{experiment.scheme}, {_NESTED}"
                validation = replace(experiment.validation(model, outer[name]), split=split)
            else:
                validation = self._corrected(search, offers, name, corrected[name])
            found[name] = Offered(
                recipe=text,
                model=model,
                selected_features=self._used(model),
                validation=replace(validation, recipe="the choice of the search"),
                inner_estimate=inner_estimate(search.trials, search.trials.by_recipe[text]),
            )
        return found

    def _substitutes(self, found: Mined, trials: Trials) -> Substitutes:
        """What could stand in for the features of the model, or of the best single one if it is an ensemble.

        An ensemble would be fitted again, all its members, for every exchange.
        """
        prefer = self._wishes.prefer
        offered = found.models_["single" if prefer == "best" else prefer]
        inner, left = trials.inner, self._clock.left
        return noted_substitutes(
            offered,
            self._experiment,
            [inner.splits[number] for number in inner.folds if inner.splits[number].repeat == 0],
            self._store,
            seconds=None if left is None else max(0.0, left),
            n_jobs=self._workers,
        )

    def _corrected(
        self, search: SearchState, offers: Offers, name: Prefer, estimates: Mapping[str, Estimate]
    ) -> Validation:
        """The predictions of the inner folds, with estimates that are corrected for the choice."""
        splits, results = offer_results(search, offers, name)
        within = replace(
            self._experiment,
            scheme=StratifiedFolds(self._inner_folds),
            splits=tuple(search.trials.inner.splits[i] for i in splits),
        )
        found = within.validation(self._runner.model(offers.text(name)), results)
        return replace(found, split=f"{within.scheme}, {_CORRECTED}", estimates={**found.estimates, **estimates})

    def _fitted(self, text: str) -> Any:
        data, rows = self._experiment.data, self._experiment.rows
        model = seeded(clone(self._runner.model(text)), spawn(self._experiment.seed, _LAST_FIT))
        with parallel_config("threading", n_jobs=cpu_count()):
            return model.fit(_safe_indexing(data.X, rows), data.y[rows])

    def _used(self, model: Any) -> np.ndarray:
        """The names of the columns that a fitted model uses."""
        data = self._experiment.data
        mask = used_features(model, data.n_features)
        return data.feature_names[np.arange(data.n_features) if mask is None else np.flatnonzero(mask)]


def _identity(experiment: Experiment, inner_folds: int, edits: Edits, *, nested: bool) -> dict[str, Any]:
    return {
        "data": experiment.data.name,
        "fingerprint": fingerprint(experiment.data),
        "seed": experiment.seed,
        "split": str(experiment.scheme) if nested else "one search",
        "inner_folds": inner_folds,
        "metric": experiment.metrics[0].name if experiment.metrics else "",
        **edits.to_dict(),
    }
