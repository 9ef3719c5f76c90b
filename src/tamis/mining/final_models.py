"""What a search ends with: the library of its models, what it offers of them, and the honest error of each offer."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tamis.base.seeds import spawn
from tamis.compose.catalog import part_for
from tamis.mining.bootstrap_estimate import bootstrap_estimates
from tamis.mining.ensembles import ensemble_results, entry_weights
from tamis.mining.library import Library, library
from tamis.mining.number_ensembles import row_losses
from tamis.mining.offers import Chooser, Offers, Prefer, Wishes, chooser_of, is_balanced
from tamis.mining.search_state import SearchState
from tamis.mining.trials import Trial
from tamis.validation.fold_result import FoldResult
from tamis.validation.metrics import Metric, metrics_for
from tamis.validation.result import Estimate

#: All offers of a search.
OFFERS: tuple[Prefer, ...] = ("best", "single", "small")

#: Models from which on those that were evaluated most often are a library.
_ENOUGH = 8

#: Most models of a library, and most numbers of its predictions.
_MODELS, _NUMBERS = 2000, 20_000_000

#: Distinguish the seeds of the choice and of the estimate from the other seeds of a search.
_CHOICE, _ESTIMATE = 2**20, 2**20 + 1


def final_offers(state: SearchState, wishes: Wishes, groups: np.ndarray | None) -> Offers | None:
    """The offers of a search; None if nothing was evaluated.

    They are chosen among the models evaluated (nearly) most often, if these are enough. Under a limit of time they are
    models that can still be fitted within the tolerance, if there are any. The ensemble becomes a trial of its own.
    """
    splits, trials = _most_evaluated(state)
    if not trials:
        return None
    found = _chooser(state, splits, trials, wishes, groups).choose()
    if found.ensemble is not None:
        text = found.ensemble.text(found.library)
        if state.trials.add(text, "ensemble", None):
            members = [found.library.recipes[m] for m in found.ensemble.members]
            stored = [state.stored(split, members) for split in splits]
            results = ensemble_results(found.ensemble, found.library, stored, _shares(state, splits))
            for split, result in zip(splits, results, strict=True):
                state.store(split, {text: result})
                state.trials.record(text, split, result)
    return found


def honest_estimates(
    state: SearchState, wishes: Wishes, groups: np.ndarray | None, metrics: Sequence[Metric] | None
) -> dict[Prefer, dict[str, Estimate]]:
    """The error of each offer on new rows, by the bootstrap (:mod:`tamis.mining.bootstrap_estimate`).

    Every model that was tried takes part where the first look had every row: which of them went on is a part of the
    search too. Where it had only some rows, those that went on take part, and are evaluated on the other rows.
    """
    inner = state.trials.inner
    looked = np.unique(np.concatenate([inner.splits[i].test for i in inner.first]))
    everything = np.unique(np.concatenate([inner.splits[i].test for i in inner.folds]))
    splits, fresh = state.trials.levels()[1], np.setdiff1d(everything, looked)
    if not fresh.size:
        # A first look with fewer training rows says nothing of the folds.
        splits, fresh = inner.first if set(inner.first) <= set(inner.folds) else splits, everything
    trials = _some(state, splits)
    if not trials:
        splits, trials = _most_evaluated(state)
        fresh = everything
    chooser = _chooser(state, splits, trials, wishes, groups)
    rows = np.concatenate([inner.splits[i].test for i in splits])
    # Reports show more than the metric of the search; no model is fitted for them.
    wanted = list(dict.fromkeys([*(metrics or ()), *metrics_for(state.trials.metric.task).values()]))
    seed = spawn(state.seed, state.trials.number, _ESTIMATE)
    return bootstrap_estimates(chooser, wanted, OFFERS, evaluated=np.isin(rows, fresh), seed=seed)


def offer_results(state: SearchState, text: str) -> tuple[tuple[int, ...], list[FoldResult]]:
    """The splits of one repeat of the folds in which an offer was evaluated, every row once, and its results."""
    trial, inner = state.trials.by_recipe[text], state.trials.inner
    levels = state.trials.levels()
    level = next(level for level in (levels[1], levels[0], levels[2]) if trial.has(level))
    splits = tuple(i for i in level if inner.splits[i].repeat == 0)
    return splits, [state.stored(split, [text])[text] for split in splits]


def _most_evaluated(state: SearchState) -> tuple[tuple[int, ...], list[Trial]]:
    """The splits of the library and its trials: those of the most splits on which there are enough good models.

    When time runs out, the models that were evaluated most often may be quick ones and not the best. So the best of
    them must be as good as the best of all, within a standard error of the difference.
    """
    levels = [(splits, _some(state, splits)) for splits in state.trials.levels()]
    enough = [level for level in levels if len(level[1]) >= _ENOUGH]
    for splits, trials in enough[:-1]:
        if _keep_up(state, trials, *enough[-1]):
            return splits, trials
    return next(iter(enough[-1:] or [level for level in levels if level[1]] or levels))


def _keep_up(state: SearchState, trials: list[Trial], splits: Sequence[int], everyone: list[Trial]) -> bool:
    """Whether some trials are about as good on some splits as the best of those that were evaluated on these."""
    if not set(splits) <= set(state.trials.inner.folds):
        # A first look with fewer training rows says nothing of the folds.
        return True
    some = {trial.recipe for trial in trials}
    best, own = everyone[0].recipe, next((one.recipe for one in everyone if one.recipe in some), None)
    if own is None:
        return False
    found = [state.stored(split, [best, own]) for split in splits]
    truth = np.concatenate([one[best].predictions.truth for one in found])
    labels = {r: np.concatenate([one[r].predictions.labels for one in found]) for r in (best, own)}
    if state.trials.metric.task == "regress":
        losses = {r: row_losses(truth - values, absolute=False) for r, values in labels.items()}
        weight = np.ones(truth.size)
    else:
        losses = {r: (values != truth).astype(np.float64) for r, values in labels.items()}
        weight = entry_weights(truth, np.ones(truth.size), balanced=is_balanced(state.trials.metric))
    more = losses[own] - losses[best]
    share = weight / weight.sum()
    mean = float(share @ more)
    return mean <= float(np.sqrt(share**2 @ (more - mean) ** 2))


def _some(state: SearchState, splits: Sequence[int]) -> list[Trial]:
    """The trials evaluated on some splits that are not made of others, best first, as many as memory allows."""
    rows = sum(state.trials.inner.splits[i].test.size for i in splits)
    most = min(_MODELS, max(1, _NUMBERS // max(1, rows * (int(state.codes.max()) + 1))))
    return [one for one in state.trials.ranked(splits) if one.candidate is not None][:most]


def _chooser(
    state: SearchState, splits: Sequence[int], trials: Sequence[Trial], wishes: Wishes, groups: np.ndarray | None
) -> Chooser:
    left = state.clock.left_with_tolerance
    seconds = np.array([state.seconds_after(one) for one in trials])
    return chooser_of(
        replace(_library(state, splits, trials, groups), seconds=seconds),
        state.trials.metric,
        wishes,
        seed=spawn(state.seed, state.trials.number, _CHOICE),
        seconds=np.inf if left is None else max(0.0, left),
        test_to_train=state.trials.inner.test_to_train,
        combines=part_for("weighted_ensemble").name in state.space.committees,
    )


def _library(state: SearchState, splits: Sequence[int], trials: Sequence[Trial], groups: np.ndarray | None) -> Library:
    recipes = [one.recipe for one in trials]
    families = [one.candidate.closed.family for one in trials if one.candidate is not None]
    return library(recipes, families, [state.stored(split, recipes) for split in splits], groups)


def _shares(state: SearchState, splits: Sequence[int]) -> list[np.ndarray]:
    """The shares of the classes in the training rows of some splits."""
    codes = state.codes
    counts = [np.bincount(codes[state.trials.inner.splits[i].train], minlength=codes.max() + 1) for i in splits]
    return [own / own.sum() for own in counts]
