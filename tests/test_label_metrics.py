"""Metrics of sets of labels, held against scikit-learn and against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import accuracy_score, precision_recall_fscore_support
from sklearn.metrics import hamming_loss as sklearn_hamming_loss

from tamis.base.errors import TamisError
from tamis.compose.each_label import best_threshold
from tamis.validation.several.metrics import (
    LabelPredictions,
    all_label_metrics,
    breakeven,
    label_breakevens,
    label_rates,
    label_standard_errors,
)

shapes = st.tuples(st.integers(1, 9), st.integers(1, 5))
pairs = shapes.flatmap(lambda shape: st.tuples(hnp.arrays(bool, shape), hnp.arrays(bool, shape)))
#: Few different scores, so that ties are frequent.
scored = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        hnp.arrays(bool, n), hnp.arrays(float, n, elements=st.sampled_from([-2.0, -0.5, 0.0, 1.0, 3.0]))
    )
)


@given(pairs)
def test_rates_are_those_of_scikit_learn(pair) -> None:
    truth, labels = pair
    given_ = LabelPredictions(truth, labels, labels.astype(float))
    found = {name: metric(given_) for name, metric in all_label_metrics.items()}
    # scikit-learn takes one column for two classes, so there is a second that says nothing.
    t, p = (np.column_stack([one, np.zeros(len(one), dtype=bool)]).astype(int) for one in (truth, labels))
    kinds = ("precision", "recall", "f1")
    micro = precision_recall_fscore_support(t, p, average="micro", zero_division=0)
    assert [found[f"{kind}_micro"] for kind in kinds] == pytest.approx(micro[:3])
    tested = np.flatnonzero(truth.any(axis=0))
    if tested.size:
        macro = precision_recall_fscore_support(t, p, average="macro", labels=tested, zero_division=0)
        assert [found[f"{kind}_macro"] for kind in kinds] == pytest.approx(macro[:3])
    else:
        assert np.isnan([found[f"{kind}_macro"] for kind in kinds]).all()
    each = precision_recall_fscore_support(t, p, average=None, zero_division=0)
    rates = label_rates(given_)
    for mine, theirs in zip(rates, each, strict=False):
        assert mine[tested] == pytest.approx(theirs[tested])
    assert np.isnan(np.delete(rates.recall, tested)).all()
    assert np.isnan(np.delete(rates.f1, tested)).all()
    assert found["subset_accuracy"] == pytest.approx(accuracy_score(t, p))
    assert found["hamming_loss"] * truth.shape[1] == pytest.approx(sklearn_hamming_loss(t, p) * t.shape[1])


def _by_threshold(truth: np.ndarray, scores: np.ndarray):
    """Precision, recall, F1 and the predicted rows for every threshold that makes a difference."""
    for threshold in np.unique(scores)[::-1]:
        predicted = scores >= threshold
        right = (truth & predicted).sum()
        precision, recall = right / predicted.sum(), right / truth.sum()
        yield precision, recall, 2 * right / (predicted.sum() + truth.sum()), predicted


@given(scored)
def test_the_breakeven_point_is_that_of_brute_force(pair) -> None:
    truth, scores = pair
    if not truth.any():
        assert np.isnan(breakeven(truth, scores))
        return
    points = [(round(abs(p - r), 12), -(p + r) / 2) for p, r, *_ in _by_threshold(truth, scores)]
    assert breakeven(truth, scores) == pytest.approx(-min(points)[1])


@given(scored)
def test_the_breakeven_point_without_ties_is_the_precision_at_the_number_of_positives(pair) -> None:
    truth, scores = pair
    scores = scores + np.arange(scores.size) / 100
    if truth.any():
        best = np.argsort(-scores)[: truth.sum()]
        assert breakeven(truth, scores) == pytest.approx(truth[best].mean())


def test_breakeven_points_over_labels() -> None:
    truth = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]], dtype=bool)
    scores = np.array([[9.0, 1.0, 5.0], [2.0, 8.0, 5.0], [3.0, 7.0, 5.0], [1.0, 2.0, 5.0]])
    given_ = LabelPredictions(truth, truth, scores)
    assert label_breakevens(given_)[:2].tolist() == [0.5, 1.0]
    assert np.isnan(label_breakevens(given_)[2])
    assert all_label_metrics["breakeven_macro"](given_) == 0.75
    assert all_label_metrics["breakeven_micro"](given_) == breakeven(truth.ravel(), scores.ravel())


@given(scored)
def test_no_threshold_has_a_higher_f1(pair) -> None:
    truth, scores = pair
    threshold = best_threshold(truth, scores)
    if not truth.any():
        assert threshold == np.inf
        return
    points = list(_by_threshold(truth, scores))
    best = max(f1 for *_, f1, _ in points)
    first = next(predicted for *_, f1, predicted in points if f1 == best)
    assert np.array_equal(scores >= threshold, first)


def test_a_threshold_beside_infinite_scores_and_neighbouring_numbers() -> None:
    truth = np.array([True, True, False])
    assert best_threshold(truth, np.array([2.0, 1.0, -np.inf])) == 1.0
    assert best_threshold(np.array([True, False, False]), np.array([np.inf, 1.0, 0.0])) == np.inf
    near = np.array([2.0, np.nextafter(1.0, 2.0), 1.0])
    assert ((near >= best_threshold(truth, near)) == truth).all()


def test_standard_errors_are_those_of_the_binomial_where_there_is_one() -> None:
    rng = np.random.default_rng(0)
    truth, labels = rng.random((400, 3)) < 0.5, rng.random((400, 3)) < 0.5
    given_ = LabelPredictions(truth, labels, labels.astype(float))
    errors = label_standard_errors(given_)
    p = all_label_metrics["subset_accuracy"](given_)
    assert errors["subset_accuracy"] == pytest.approx(np.sqrt(p * (1 - p) / 400), rel=0.15)
    n, recall = truth.sum(), all_label_metrics["recall_micro"](given_)
    assert errors["recall_micro"] == pytest.approx(np.sqrt(recall * (1 - recall) / n), rel=0.15)
    assert np.isnan(errors["breakeven_micro"])
    assert errors == pytest.approx(label_standard_errors(given_), nan_ok=True, rel=0)


def test_shapes_must_agree() -> None:
    with pytest.raises(TamisError, match="shapes differ"):
        LabelPredictions(np.ones((2, 2), bool), np.ones((2, 1), bool), np.ones((2, 2)))
