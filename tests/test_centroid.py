"""Shrunken centroids against scikit-learn's and the rule as the paper prints it; masks; bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestCentroid
from sklearn.utils._param_validation import InvalidParameterError

from tamis.base.errors import TamisError
from tamis.classify import Centroid

FORMS = [np.asarray, sp.csr_matrix, sp.csc_array]


def problem(n_classes=2, rows=60, columns=15, seed=0):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), np.arange(n_classes), rng.integers(0, n_classes, rows - 2 * n_classes)]
    X = rng.normal(size=(rows, columns)) * np.linspace(0.5, 3, columns) * (rng.random((rows, columns)) < 0.7)
    X[:, :4] += 1.5 * rng.normal(size=(n_classes, 4))[y]
    return X, y


def by_the_paper(X, y, shrink, class_weight, Z):
    """Probabilities by the formulas with loops over classes; the centroids are scikit-learn's."""
    share = np.full(y.max() + 1, 1 / (y.max() + 1)) if class_weight else np.bincount(y) / y.size
    truth = NearestCentroid(shrink_threshold=shrink or None).fit(X, y)
    spread = truth.within_class_std_dev_ + np.median(truth.within_class_std_dev_)
    score = [
        ((Z - c) ** 2 / spread**2).sum(axis=1) - 2 * np.log(p) for c, p in zip(truth.centroids_, share, strict=True)
    ]
    likely = np.exp(-(np.array(score).T - np.min(score, axis=0)[:, None]) / 2)
    return likely / likely.sum(axis=1, keepdims=True), truth.centroids_


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("shrink", [0.0, 0.7, 2.0])
def test_equals_scikit_learns_centroids_and_the_papers_rule(shrink, n_classes, class_weight, form) -> None:
    X, y = problem(n_classes)
    Z = problem(n_classes, seed=1)[0]
    expected, centroids = by_the_paper(X, y, shrink, class_weight, Z)
    model = Centroid(shrink, class_weight=class_weight).fit(form(X), y)
    np.testing.assert_allclose(model.centroids_, centroids, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(form(Z)), expected, rtol=1e-7, atol=1e-12)
    np.testing.assert_array_equal(model.predict(form(Z)), expected.argmax(axis=1))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.floats(0, 4))
def test_used_columns_are_those_whose_centroids_differ(seed, n_classes, shrink) -> None:
    X, y = problem(n_classes, seed=seed)
    X[:, 5] = 0.1
    model = Centroid(shrink).fit(X, y)
    apart = np.ptp(model.centroids_, axis=0) > 1e-12
    np.testing.assert_array_equal(model.used_, apart)
    assert not model.used_[5]
    other = np.where(model.used_, X, np.random.default_rng(1).normal(size=X.shape))
    np.testing.assert_allclose(model.predict_proba(other), model.predict_proba(X), rtol=1e-12)
    further = Centroid(shrink + 0.5).fit(X, y)
    assert further.used_.any()
    if further.shrink_threshold_ == shrink + 0.5:
        assert not (further.used_ & ~model.used_).any()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_threshold_that_leaves_nothing_is_half_of_the_largest_difference(n_classes) -> None:
    X, y = problem(n_classes)
    size = np.bincount(y)
    means = np.array([X[y == c].mean(axis=0) for c in range(n_classes)])
    away = (means - X.mean(axis=0)) / np.sqrt(1 / size - 1 / y.size)[:, None] / Centroid().fit(X, y).spread_
    largest = np.abs(away).max()
    for shrink in (largest * (1 + 1e-9), 1e6):
        model = Centroid(shrink).fit(X, y)
        assert model.shrink_threshold_ == pytest.approx(largest / 2)
        np.testing.assert_allclose(model.centroids_, Centroid(largest / 2).fit(X, y).centroids_)
    for shrink in (0.0, largest * (1 - 1e-9)):
        assert Centroid(shrink).fit(X, y).shrink_threshold_ == shrink


def test_columns_that_are_all_constant_leave_the_shares() -> None:
    y = problem(3)[1]
    model = Centroid(1.0).fit(np.ones((y.size, 2)), y)
    assert not model.used_.any()
    np.testing.assert_allclose(model.predict_proba(np.ones((2, 2))), np.tile(np.bincount(y) / y.size, (2, 1)))


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_weight_is_so_many_rows(class_weight) -> None:
    X, y = problem(3)
    weight = np.random.default_rng(0).integers(0, 4, y.size)
    weighted = Centroid(0.5, class_weight=class_weight).fit(X, y, sample_weight=weight)
    repeated = Centroid(0.5, class_weight=class_weight).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)


def test_constant_columns_change_nothing() -> None:
    X, y = problem()
    padded = np.column_stack([X, np.full((60, 40), 0.3)])
    expected = Centroid(0.5).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(Centroid(0.5).fit(padded, y).predict_proba(padded), expected, rtol=1e-9)


def test_no_spread_within_classes_does_no_harm() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for X in (np.array([[0.0], [0.0], [1.0]]), np.array([[0.0, 1.0, 3.0], [0.0, 1.0, 4.0], [1.0, 0.0, 3.0]])):
            model = Centroid(class_weight="balanced").fit(X, [0, 0, 1])
            np.testing.assert_array_equal(model.predict(X), [0, 0, 1])
            tiny = Centroid(class_weight="balanced").fit(1e-9 * X, [0, 0, 1])
            np.testing.assert_allclose(tiny.predict_proba(1e-9 * X), model.predict_proba(X))
        assert Centroid().fit([[0.0], [4.0]], [0, 1]).predict([[1.0]]) == [0]
        np.testing.assert_allclose(Centroid().fit([[1.0], [1.0]], [0, 1]).predict_proba([[9.0]]), [[0.5, 0.5]])


def test_bad_input() -> None:
    X, y = problem()
    for bad in ({"shrink_threshold": -1.0}, {"shrink_threshold": "much"}, {"class_weight": 2}):
        with pytest.raises(InvalidParameterError):
            Centroid(**bad).fit(X, y)
    with pytest.raises(TamisError, match="centroid: no row of class 1"):
        Centroid().fit(X, y, sample_weight=y == 0)
