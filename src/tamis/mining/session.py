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
from tamis.mining.mined import Mined, MinedRegressor, Offered, Run, inner_estimate, known_rows, leaderboard
from tamis.mining.offers import Prefer, Wishes
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
from tamis.validation.folds import StratifiedFolds, stratify_by
from tamis.validation.result import Estimate, Validation

#: In words, where an estimate comes from.
_NESTED, _CORRECTED = "the search repeated within each", "corrected for the choice by the bootstrap"

#: Share of the time for the search on all rows, where searches within outer folds follow.
_MAIN_SHARE = 0.5

#: Distinguishes the seed of the final fit from the other seeds of a run.
_LAST_FIT = 2**31


class Session:
    """One run: the searches, what they offer, and the final fits.

    The search on all rows comes first, with half of the time. Those within the outer folds share the rest: the honest
    estimate is that of shorter searches on fewer rows, and rather too large than too small.
    """

    def __init__(
        self,
        experiment: Experiment,
        store: Store,
        driver: Driver,
        clock: Clock,
        inner_folds: int,
        edits: Edits,
        wishes: Wishes,
        progress: Callable[[Progress], None] | None,
        *,
        nested: bool,
    ) -> None:
        self._experiment, self._store, self._clock, self._inner_folds = experiment, store, clock, inner_folds
        self._wishes, self._nested, self._workers = wishes, nested, driver.workers
        self._traits = data_traits(experiment.data)
        data = experiment.data
        self._labels = stratify_by(data.y, data.task, inner_folds)
        self._codes = np.unique(self._labels, return_inverse=True)[1]
        self._main, self._outer = self._searches(edits)
        self._runner = Runner([*self._outer, self._main], store, driver, clock, progress=progress)

    def run(self) -> Mined:
        self._runner.prepare(single=getattr(self._experiment.data.X, "dtype", None) == np.float32)
        self._runner.run("search", [self._main], _MAIN_SHARE if self._outer else 1.0)
        # The clock still stands at the start of the last round, so that the choice can be repeated.
        offers, keep = self._offers(self._main), self._clock.reserved
        corrected = self._corrected_estimates()
        outer_offers = [offers]
        if self._outer:
            self._runner.run("estimate", self._outer, keep=keep)
            outer_offers = [self._offers(search) for search in self._outer]
        self._clock.freeze(None)
        outer = self._outer_results(outer_offers) if self._nested else {}
        choices = [one[self._wishes.prefer] for one in outer_offers] if self._nested else []
        found = self._mined(self._offered(offers, outer, corrected), choices)
        found.substitutes_ = self._substitutes(found)
        return found

    def _searches(self, edits: Edits) -> tuple[SearchState, list[SearchState]]:
        """The search on all rows, and for a nested estimate one for every outer split.

        With an official split the only search is that on its training rows: the others must not take part in the
        choice.
        """
        rows, splits = self._experiment.rows, self._experiment.splits
        if self._experiment.scheme.one_test:
            train = splits[0].train
            remaining = RemainingWork(1.0, train.size, rows.size)
            return self._search(0, train, edits, load=1.0, remaining=remaining), []
        if not self._nested:
            remaining = RemainingWork(0.0, rows.size, rows.size)
            return self._search(0, rows, edits, load=1.0, remaining=remaining), []
        turns = max(1.0, len(splits) / self._workers)
        outer = [
            self._search(
                number, split.train, edits, load=len(splits), remaining=RemainingWork(turns, split.train.size, 0)
            )
            for number, split in enumerate(splits)
        ]
        remaining = RemainingWork(0.0, rows.size, rows.size)
        return self._search(len(splits), rows, edits, load=1.0, remaining=remaining), outer

    def _search(
        self, number: int, rows: np.ndarray, edits: Edits, *, load: float, remaining: RemainingWork
    ) -> SearchState:
        experiment, data = self._experiment, self._experiment.data
        assert experiment.metrics is not None
        folds = split_rows(
            rows,
            self._labels,
            data.groups,
            search=number,
            folds=self._inner_folds,
            seed=experiment.seed,
            task=data.task,
        )
        trials = Trials(number, folds, experiment.metrics[0])
        return SearchState(
            trials,
            space(self._traits.for_rows(data.y[rows]), edits, self._seconds(load)),
            self._clock,
            experiment.seed,
            self._codes,
            stored=partial(self._stored_results, trials),
            store=partial(self._store_results, trials),
            load=load / self._workers,
            remaining=remaining,
        )

    def _seconds(self, load: float) -> float | None:
        """The time of each of `load` searches that run beside each other, if there is a limit."""
        limit = self._clock.budget.seconds
        return None if limit is None else limit / max(1.0, load)

    def _stored_results(self, trials: Trials, split: int, recipes: Sequence[str]) -> dict[str, FoldResult]:
        found = self._store.find(trials.number, trials.inner.name(split), recipes)
        return {text: one for text, one in found.items() if isinstance(one, FoldResult)}

    def _store_results(self, trials: Trials, split: int, results: Mapping[str, FoldResult]) -> None:
        self._store.put(trials.number, trials.inner.name(split), results)

    def _offers(self, search: SearchState) -> dict[Prefer, str]:
        """The recipes of the offers of a search; their library, with the predictions of all models, is not kept."""
        found = final_offers(search, self._wishes, self._experiment.data.groups)
        if found is None:
            errors = [one.error for one in search.trials.by_recipe.values() if one.error]
            why = f": {errors[0]}" if errors else "; give it a larger budget"
            raise TamisError(f"no recipe could be evaluated in the time of the budget{why}")
        return {name: found.text(name) for name in OFFERS}

    def _outer_results(self, offers: Sequence[Mapping[Prefer, str]]) -> dict[Prefer, list[FoldResult]]:
        """The results of all offers on the outer splits, each by the search within its training rows."""
        batches = [
            Batch(number, "outer", split, tuple(dict.fromkeys(offers[number].values())))
            for number, split in enumerate(self._experiment.splits)
        ]
        found: dict[Prefer, list[FoldResult]] = {name: [] for name in OFFERS}
        for batch, findings in zip(batches, self._runner.evaluate(batches), strict=True):
            for name in OFFERS:
                result = findings[offers[batch.search][name]]
                if isinstance(result, TamisError):
                    raise result
                found[name].append(result)
        warn_again(found[self._wishes.prefer])
        return found

    def _corrected_estimates(self) -> dict[Prefer, dict[str, Estimate]]:
        """The estimates of all offers by the bootstrap; none where the outer splits give them."""
        if self._nested:
            return {}
        return honest_estimates(self._main, self._wishes, self._experiment.data.groups, self._experiment.metrics)

    def _mined(self, offered: dict[str, Offered], choices: Sequence[str]) -> Mined:
        data, trials = self._experiment.data, self._main.trials
        chosen = offered[self._wishes.prefer]
        found = (Mined if data.task == "classify" else MinedRegressor)(chosen.model)
        found.models_ = offered
        found.recipe_, found.selected_features_ = chosen.recipe, chosen.selected_features
        found.validation_, found.inner_estimate_ = chosen.validation, chosen.inner_estimate
        found.plan_ = data.plan
        found._fitted_rows = known_rows(_safe_indexing(data.X, self._experiment.rows))
        if data.task == "classify":
            found.classes_ = data.classes
        found.n_features_in_ = data.n_features
        if data.has_names:
            found.feature_names_in_ = data.feature_names
        found.leaderboard_ = leaderboard(trials)
        found.run_ = Run(
            path=None,
            seconds=self._clock.spent,
            search=trials.number,
            n_tried=found.leaderboard_.height,
            choices=tuple(choices),
            failed={one.recipe: one.error for one in trials.by_recipe.values() if one.error},
        )
        return found

    def _offered(
        self,
        offers: Mapping[Prefer, str],
        outer: Mapping[Prefer, list[FoldResult]],
        corrected: Mapping[Prefer, Mapping[str, Estimate]],
    ) -> dict[str, Offered]:
        """Every offer, fitted on all rows, with its estimates."""
        experiment = self._experiment
        found: dict[str, Offered] = {}
        fitted: dict[str, Any] = {}
        for name in OFFERS:
            text = offers[name]
            if text not in fitted:
                fitted[text] = self._fitted(text)
            model = fitted[text]
            if name in outer:
                split = str(experiment.scheme) if experiment.scheme.one_test else f"{experiment.scheme}, {_NESTED}"
                validation = replace(experiment.validation(model, outer[name]), split=split)
            else:
                validation = self._corrected(text, corrected[name])
            found[name] = Offered(
                recipe=text,
                model=model,
                selected_features=self._used(model),
                validation=replace(validation, recipe="the choice of the search"),
                inner_estimate=inner_estimate(self._main.trials, self._main.trials.by_recipe[text]),
            )
        return found

    def _substitutes(self, found: Mined) -> Substitutes:
        """What could stand in for the features of the model, or of the best single one if it is an ensemble.

        An ensemble would be fitted again, all its members, for every exchange.
        """
        prefer = self._wishes.prefer
        offered = found.models_["single" if prefer == "best" else prefer]
        inner, left = self._main.trials.inner, self._clock.left
        return noted_substitutes(
            offered,
            self._experiment,
            [inner.splits[number] for number in inner.folds if inner.splits[number].repeat == 0],
            self._store,
            seconds=None if left is None else max(0.0, left),
            n_jobs=self._workers,
        )

    def _corrected(self, text: str, estimates: Mapping[str, Estimate]) -> Validation:
        """The predictions of the inner folds, with estimates that are corrected for the choice."""
        splits, results = offer_results(self._main, text)
        within = replace(
            self._experiment,
            scheme=StratifiedFolds(self._inner_folds),
            splits=tuple(self._main.trials.inner.splits[i] for i in splits),
        )
        found = within.validation(self._runner.model(text), results)
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
