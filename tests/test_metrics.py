"""Measures of predictions, held to scikit-learn, closed forms and repeated sampling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from tamis.base.errors import TamisError
from tamis.validation.metrics import FoldPredictions, Metric, all_metrics, ber, chosen, standard_error


def answers(seed: int, n_classes: int, rows: int = 80, ties: bool = False) -> FoldPredictions:
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=rows - n_classes)])
    probabilities = rng.dirichlet(np.ones(n_classes), rows)
    probabilities[np.arange(rows), truth] += rng.uniform(0, 1, rows)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    labels = probabilities.argmax(axis=1)
    scores = probabilities.round(1) if ties else probabilities
    return FoldPredictions(truth, labels, n_classes, scores[:, 1] if n_classes == 2 else scores, probabilities)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("ties", [False, True])
def test_equal_to_scikit_learn(n_classes: int, ties: bool) -> None:
    a = answers(n_classes, n_classes, ties=ties)
    if n_classes == 2:
        auc = sk.roc_auc_score(a.truth, a.scores)
    else:
        auc = np.mean([sk.roc_auc_score(a.truth == c, a.scores[:, c]) for c in range(n_classes)])
        if not ties:
            assert auc == pytest.approx(sk.roc_auc_score(a.truth, a.scores, multi_class="ovr"))
    expected = {
        "ber": 1 - sk.balanced_accuracy_score(a.truth, a.labels),
        "balanced_accuracy": sk.balanced_accuracy_score(a.truth, a.labels),
        "accuracy": sk.accuracy_score(a.truth, a.labels),
        "auc": auc,
        "f1_micro": sk.f1_score(a.truth, a.labels, average="micro"),
        "f1_macro": sk.f1_score(a.truth, a.labels, average="macro", zero_division=0),
        "log_loss": sk.log_loss(a.truth, a.probabilities, labels=range(n_classes)),
    }
    assert {name: metric(a) for name, metric in all_metrics.items()} == pytest.approx(expected, rel=1e-12)


def test_ber_of_two_classes_by_its_formula() -> None:
    tp, fn, tn, fp = 7, 3, 80, 10
    truth = np.repeat([1, 1, 0, 0], [tp, fn, tn, fp])
    labels = np.repeat([1, 0, 0, 1], [tp, fn, tn, fp])
    assert ber(FoldPredictions(truth, labels, 2)) == pytest.approx(0.5 * (fn / (tp + fn) + fp / (tn + fp)))


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_f1_micro_is_scikit_learns(seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    truth, labels = rng.integers(n_classes, size=(2, 20))
    expected = sk.f1_score(truth, labels, average="micro")
    assert all_metrics["f1_micro"](FoldPredictions(truth, labels, n_classes)) == pytest.approx(expected)


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_f1_macro_is_scikit_learns_when_classes_are_absent(seed: int, n_classes: int) -> None:
    truth, labels = np.random.default_rng(seed).integers(n_classes, size=(2, 4))
    expected = sk.f1_score(truth, labels, average="macro", zero_division=0)
    assert all_metrics["f1_macro"](FoldPredictions(truth, labels, n_classes)) == pytest.approx(expected)


def test_absent_class_is_left_out() -> None:
    truth, labels = np.array([0, 0, 2, 2]), np.array([0, 1, 2, 2])
    scores = np.array([[0.9, 0.0, 0.1], [0.2, 0.7, 0.1], [0.3, 0.1, 0.6], [0.1, 0.1, 0.8]])
    a = FoldPredictions(truth, labels, 3, scores)
    assert ber(a) == pytest.approx((0.5 + 0.0) / 2)
    assert all_metrics["auc"](a) == pytest.approx((0.75 + 1.0) / 2)


def test_auc_needs_two_classes_present() -> None:
    one = FoldPredictions(np.array([1, 1]), np.array([1, 0]), 2, np.array([0.3, 0.1]))
    assert np.isnan(all_metrics["auc"](one))
    assert np.isnan(standard_error(all_metrics["auc"], one))
    assert ber(one) == 0.5


def test_auc_of_labels_alone_is_one_minus_ber() -> None:
    for n_classes in (2, 4):
        full = answers(1, n_classes)
        bare = FoldPredictions(full.truth, full.labels, n_classes)
        assert all_metrics["auc"](bare) == pytest.approx(1 - ber(bare))
    two = answers(1, 2)
    assert all_metrics["auc"](FoldPredictions(two.truth, two.labels, 2)) == pytest.approx(
        sk.roc_auc_score(two.truth, two.labels)
    )


def test_auc_takes_infinite_evidence() -> None:
    a = FoldPredictions(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), 2, np.array([-np.inf, 0.0, 0.0, np.inf]))
    assert all_metrics["auc"](a) == pytest.approx((4 - 0.5) / 4)


def test_impossible_certainty_has_a_finite_log_loss() -> None:
    a = FoldPredictions(np.array([0, 1]), np.array([1, 1]), 2, None, np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert all_metrics["log_loss"](a) == pytest.approx(sk.log_loss([0, 1], a.probabilities))


def test_log_loss_needs_probabilities() -> None:
    with pytest.raises(TamisError, match="log_loss needs class probabilities"):
        all_metrics["log_loss"](FoldPredictions(np.array([0, 1]), np.array([0, 1]), 2))


@pytest.mark.parametrize("name", ["ber", "balanced_accuracy"])
def test_standard_error_of_ber_by_its_formula(name: str) -> None:
    truth = np.repeat([0, 1], [40, 10])
    labels = truth.copy()
    labels[:8] = 1
    labels[40:43] = 0
    expected = 0.5 * np.sqrt(0.2 * 0.8 / 40 + 0.3 * 0.7 / 10)
    assert standard_error(all_metrics[name], FoldPredictions(truth, labels, 2)) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["ber", "accuracy", "f1_micro"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_closed_standard_errors_agree_with_the_bootstrap(name: str, n_classes: int) -> None:
    a = answers(3, n_classes, rows=400)
    closed = all_metrics[name]
    free = Metric(name, name, closed.better, closed.needs, closed.function)
    # Drawing within classes holds the class sizes fixed, which matters little to accuracy here.
    assert standard_error(free, a) == pytest.approx(standard_error(closed, a), rel=0.15)


def test_bootstrap_error_of_auc_agrees_with_fresh_samples() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [60, 40])

    def sample() -> FoldPredictions:
        scores = rng.normal(size=100) + truth
        return FoldPredictions(truth, (scores > 0.5).astype(int), 2, scores)

    auc = all_metrics["auc"]
    spread = np.std([auc(sample()) for _ in range(400)], ddof=1)
    errors = [standard_error(auc, sample(), seed=s) for s in range(5)]
    assert np.mean(errors) == pytest.approx(spread, rel=0.15)


def test_bootstrap_is_seeded() -> None:
    a = answers(0, 3)
    metric = all_metrics["f1_macro"]
    assert standard_error(metric, a, seed=1) == standard_error(metric, a, seed=1)
    assert standard_error(metric, a, seed=1) != standard_error(metric, a, seed=2)


def test_chosen_by_name_and_by_metric() -> None:
    own = Metric("errors", "errors", "low", "labels", lambda a: float((a.truth != a.labels).sum()))
    assert [m.name for m in chosen(["auc", own, "auc"])] == ["auc", "errors"]
    assert chosen("ber") == (all_metrics["ber"],)
    with pytest.raises(TamisError, match="no metric is called 'beer'; there are: ber, "):
        chosen("beer")
    with pytest.raises(TamisError, match="metrics is empty"):
        chosen([])
