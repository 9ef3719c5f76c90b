"""One run of the search: its searches, what they offer, and the final fits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from joblib import cpu_count, parallel_config
from sklearn.base import clone

from tamis.base._sklearn import _safe_indexing
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import used_features
from tamis.base.seeds import seeded, spawn
from tamis.mining.budget import Clock
from tamis.mining.data_traits import data_traits
from tamis.mining.edits import Edits
from tamis.mining.final_models import OFFERS, final_offers, honest_estimates, offer_results
from tamis.mining.mined import Mined, Offered, Run, inner_estimate, leaderboard
from tamis.mining.offers import Offers, Prefer, Wishes
from tamis.mining.run.store import Store
from tamis.mining.runner import Batch, Progress, Runner
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

#: In words, where an estimate comes from.
_NESTED, _CORRECTED = "the search repeated within each", "corrected for the choice by the bootstrap"

#: Distinguishes the seed of the final fit from the other seeds of a run.
_LAST_FIT = 2**31


class Session:
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
        """The results of all offers on the outer splits, each by the search within its training rows."""
        batches = [
            Batch(number, "outer", split, tuple(dict.fromkeys(offers[number].text(name) for name in OFFERS)))
            for number, split in enumerate(self._experiment.splits)
        ]
        found: dict[Prefer, list[FoldResult]] = {name: [] for name in OFFERS}
        for batch, findings in zip(batches, self._runner.evaluate(batches, searches), strict=True):
            for name in OFFERS:
                result = findings[offers[batch.search].text(name)]
                if isinstance(result, TamisError):
                    raise result
                found[name].append(result)
        warn_again(found[self._wishes.prefer])
        return found

    def _corrected_estimates(self, search: SearchState) -> dict[Prefer, dict[str, Estimate]]:
        """The estimates of all offers by the bootstrap; none where the outer splits give them."""
        if self._nested:
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
