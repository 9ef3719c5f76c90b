"""Ensembles from stored predictions: what they are computed to be is what they are when they are fitted."""

import numpy as np
import pytest

from alone import evaluate_all
from tamis.compose.recipe import recipe
from tamis.mining.calibration import fit_calibration, log_losses
from tamis.mining.ensembles import (
    Ensemble,
    ensemble_results,
    entry_weights,
    select_ensemble,
)
from tamis.mining.library import ClassLibrary, library
from tamis.validation import validate_many
from tamis.validation.experiment import Experiment
from tamis.validation.fold_result import FoldResult

MEMBERS = ["cc(4) | knn(3)", "ssv(4) | svm(linear)", "cc(4) | nrbf(5.0)", "cc(4) | svm(gaussian)", "ssv(4) | knn(1)"]


def problem(n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.minimum(np.arange(90) % (n_classes + 1), n_classes - 1))
    X = rng.normal(size=(90, 8))
    X[:, :4] += y[:, None] * rng.uniform(0.4, 0.9, 4)
    return X, y


def evaluated(n_classes: int = 2) -> tuple[Experiment, list[dict[str, FoldResult]], ClassLibrary]:
    experiment = Experiment.of(*problem(n_classes), folds=5)
    found = evaluate_all([recipe(text) for text in MEMBERS], experiment.data, experiment.splits)
    results = [dict(zip(MEMBERS, one, strict=True)) for one in zip(*found, strict=True)]
    return experiment, results, library(MEMBERS, [m.split(" ")[0] for m in MEMBERS], results)


def chosen(known: ClassLibrary, *, balanced: bool, seed: int = 0) -> Ensemble:
    weight = entry_weights(known.truth, np.ones(known.truth.size), balanced=balanced)
    calibration = fit_calibration(known.probabilities, known.truth, weight)
    return select_ensemble(
        calibration,
        log_losses(known.probabilities, known.truth, calibration),
        weight,
        balanced=balanced,
        seed=seed,
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("balanced", [True, False])
def test_an_ensemble_predicts_the_same_when_it_is_fitted(n_classes: int, balanced: bool) -> None:
    """Of deterministic members: the mean of stored predictions against the recipe, validated like any model."""
    experiment, results, known = evaluated(n_classes)
    ensemble = chosen(known, balanced=balanced)
    shares = [np.bincount(experiment.data.y[s.train]) / s.train.size for s in experiment.splits]
    computed = ensemble_results(ensemble, known, results, shares)
    (fitted,) = evaluate_all([recipe(ensemble.text(known))], experiment.data, experiment.splits)
    for one, real in zip(computed, fitted, strict=True):
        np.testing.assert_allclose(one.predictions.probabilities, real.predictions.probabilities, atol=1e-9)
        assert one.predictions.labels.tolist() == real.predictions.labels.tolist()
        assert one.metrics.keys() == real.metrics.keys()
        np.testing.assert_allclose([*one.metrics.values()], [*real.metrics.values()])
        assert one.selected.tolist() == real.selected.tolist()


def test_the_recipe_of_an_ensemble_can_be_validated() -> None:
    _, _, known = evaluated()
    text = chosen(known, balanced=True).text(known)
    assert validate_many([text], *problem(), folds=5)[0].recipe == text


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (3, 4)])
def test_the_log_loss_of_two_is_at_most_that_of_the_better_one(pair: tuple[int, int]) -> None:
    """Two models are one bag, in which no vote is given that does not help."""
    known = evaluated()[2].models(pair)
    weight = np.ones(known.truth.size)
    calibration = fit_calibration(known.probabilities, known.truth, weight)
    losses = log_losses(known.probabilities, known.truth, calibration)
    ensemble = select_ensemble(calibration, losses, weight, balanced=False, seed=0)
    together = -np.log(ensemble.probabilities(known)[np.arange(weight.size), known.truth]).sum()
    assert together <= losses.sum(axis=1).min() + 1e-9


def test_the_members_have_votes_the_first_the_most() -> None:
    _, _, known = evaluated()
    votes = chosen(known, balanced=True).votes
    assert (np.diff(votes) <= 0).all()
    assert (votes > 0).all()


def test_same_seed_same_members_and_rows_without_weight_do_not_count() -> None:
    _, _, known = evaluated()
    first, again = chosen(known, balanced=True), chosen(known, balanced=True)
    assert first.text(known) == again.text(known)
    weight = np.where(np.arange(known.truth.size) % 3 == 0, 0.0, 1.0)
    calibration = fit_calibration(known.probabilities, known.truth, weight)
    losses = log_losses(known.probabilities, known.truth, calibration)
    other = losses.copy()
    other[:, weight == 0] = np.random.default_rng(0).exponential(size=other[:, weight == 0].shape)
    votes = [select_ensemble(calibration, own, weight, balanced=False, seed=3) for own in (losses, other)]
    assert votes[0].members.tolist() == votes[1].members.tolist()
    assert votes[0].votes.tolist() == votes[1].votes.tolist()


def test_balanced_weights_give_every_class_the_same_sum() -> None:
    truth, counts = np.array([0, 0, 0, 1, 2, 2]), np.array([1.0, 0.0, 2.0, 1.0, 1.0, 1.0])
    weight = entry_weights(truth, counts, balanced=True)
    np.testing.assert_allclose(np.bincount(truth, weights=weight), [2.0, 2.0, 2.0])
    assert weight[1] == 0
    assert entry_weights(truth, counts, balanced=False) is counts


def test_entries_of_a_library_are_rows_and_groups_are_units() -> None:
    experiment, results, known = evaluated()
    rows = np.concatenate([s.test for s in experiment.splits])
    assert known.truth.tolist() == experiment.data.y[rows].tolist()
    assert known.unit.tolist() == rows.tolist()
    assert known.stratum.tolist() == experiment.data.y.tolist()
    groups = np.arange(90) // 2
    grouped = library(MEMBERS, MEMBERS, results, groups)
    assert grouped.unit.tolist() == groups[rows].tolist()
    assert grouped.stratum.size == 45
    assert known.union_size([0, 1]) <= known.sizes[0] + known.sizes[1]
    part = known.models([3, 1])
    assert part.recipes == (MEMBERS[3], MEMBERS[1])
    np.testing.assert_array_equal(part.probabilities[1], known.probabilities[1])


def test_bags_without_the_only_good_model_do_not_count() -> None:
    """Nine bad models are the better half of about half of the bags, and must not outvote the good one."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 400)
    right = np.vstack([rng.random((1, 400)) < 0.95, rng.random((9, 400)) < 0.7])
    own = np.where(right, 0.9, 0.1)
    probabilities = np.where(truth[None, :, None] == np.arange(2), own[:, :, None], 1 - own[:, :, None])
    calibration = fit_calibration(probabilities, truth, np.ones(400))
    losses = log_losses(probabilities, truth, calibration)
    ensemble = select_ensemble(calibration, losses, np.ones(400), balanced=False, seed=0)
    assert ensemble.members[0] == 0
    together = np.average(np.exp(-losses[ensemble.members]), axis=0, weights=ensemble.votes)
    assert -np.log(together).sum() <= losses[0].sum() + 1e-9
