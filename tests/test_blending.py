"""A blend chosen from stored answers: what it is said to be value_of is what it is value_of."""

from itertools import product

import numpy as np
import pytest

from alone import evaluate_all
from tamis.compose.recipe import recipe, to_text
from tamis.mining.ensembles import blend
from tamis.validation import validate_many
from tamis.validation.experiment import Experiment
from tamis.validation.fold_result import FoldResult
from tamis.validation.metrics import all_metrics

MEMBERS = ["cc(4) | knn(3)", "ssv(4) | svm(linear)", "cc(4) | nrbf(5.0)", "cc(4) | svm(gaussian)", "ssv(4) | knn(1)"]


def problem(n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(90) % n_classes)
    X = rng.normal(size=(90, 8))
    X[:, :4] += y[:, None] * rng.uniform(0.4, 0.9, 4)
    return X, y


def evaluated(n_classes: int = 2, seed: int = 0) -> tuple[Experiment, list[dict[str, FoldResult]]]:
    experiment = Experiment.of(*problem(n_classes, seed), folds=5)
    found = evaluate_all([recipe(text) for text in MEMBERS], experiment.data, experiment.splits)
    return experiment, [dict(zip(MEMBERS, results, strict=True)) for results in zip(*found, strict=True)]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_blend_predicts_the_same_when_it_is_fitted(n_classes: int) -> None:
    """The votes of deterministic members, averaged, against the blend validated like any model."""
    experiment, results = evaluated(n_classes)
    found = blend(MEMBERS, results, all_metrics["ber"])
    assert found is not None
    (fitted,) = evaluate_all([recipe(found[0])], experiment.data, experiment.splits)
    for computed, real in zip(found[1], fitted, strict=True):
        np.testing.assert_allclose(computed.predictions.probabilities, real.predictions.probabilities, atol=1e-12)
        assert computed.predictions.labels.tolist() == real.predictions.labels.tolist()
        assert computed.metrics.keys() == real.metrics.keys()
        np.testing.assert_allclose([*computed.metrics.values()], [*real.metrics.values()])
        assert computed.selected.tolist() == real.selected.tolist()


@pytest.mark.parametrize("metric", ["ber", "auc", "log_loss"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_a_blend_is_no_worse_than_the_best_models_and_no_vote_more_would_help(metric: str, seed: int) -> None:
    """By brute force: against the means of the best one, two, ... models, and against every vote more."""
    experiment, results = evaluated(seed=seed)
    measure = all_metrics[metric]
    sign = 1 if measure.better == "high" else -1

    def value_of(members: list[str]) -> float:
        (own,) = evaluate_all([recipe(f"blend({', '.join(members)})")], experiment.data, experiment.splits)
        return sign * float(np.mean([one.metrics[metric] for one in own]))

    order = sorted(MEMBERS, key=lambda m: -value_of([m]))
    best = max(value_of(order[:n]) for n in range(1, 6))
    found = blend(order, results, measure)
    if found is None:
        value, votes = value_of(order[:1]), order[:1]
    else:
        value = sign * float(np.mean([one.metrics[metric] for one in found[1]]))
        model = recipe(found[0])
        weights = model.weights or [1] * len(model.estimators)
        votes = [to_text(m) for m, times in zip(model.estimators, weights, strict=True) for _ in range(times)]
        assert value == pytest.approx(value_of(votes))
    assert value >= best - 1e-9
    if len(votes) < 8:
        assert all(value_of([*votes, m]) <= value + 1e-9 for m in MEMBERS)


def test_one_model_is_no_blend() -> None:
    _, results = evaluated()
    assert blend(MEMBERS[:1], results, all_metrics["ber"]) is None
    assert blend([], results, all_metrics["ber"]) is None
    assert blend(MEMBERS, [], all_metrics["ber"]) is None


def test_models_that_use_many_more_columns_than_the_best_stay_out() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 100))
    X[:, :4] += 0.7 * y[:, None]
    experiment = Experiment.of(X, y, folds=4)
    members = ["cc(4) | knn(3)", "cc(5) | svm(linear)", "knn(3)", "svm(linear)"]
    found = evaluate_all([recipe(text) for text in members], experiment.data, experiment.splits)
    results = [dict(zip(members, one, strict=True)) for one in zip(*found, strict=True)]
    blended = blend(members, results, all_metrics["log_loss"])
    assert blended is not None
    assert all(one.selected.size <= 9 for one in blended[1])


def test_a_model_without_a_result_on_some_split_stays_out() -> None:
    _, results = evaluated()
    for lost, metric in product(MEMBERS[1:3], ["ber"]):
        partly = [{m: r for m, r in one.items() if m != lost or i} for i, one in enumerate(results)]
        found = blend(MEMBERS, partly, all_metrics[metric])
        assert found is None or lost not in found[0]


def test_the_recipe_of_a_blend_can_be_validated() -> None:
    _, results = evaluated()
    found = blend(MEMBERS, results, all_metrics["ber"])
    assert found is not None
    assert validate_many([found[0]], *problem(), folds=5)[0].recipe == found[0]
