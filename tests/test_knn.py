"""Nearest neighbours against scikit-learn, scipy and plain cross-validation; the order of equals; bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.classify import KNN
from tamis.neighbours.nearest import nearest

FORMS = [np.asarray, sp.csr_matrix, sp.csr_array]
MEASURES = [
    ("minkowski", 1.0, "cityblock", {}),
    ("minkowski", 2.0, "euclidean", {}),
    ("minkowski", 3.0, "minkowski", {"p": 3}),
    ("canberra", 2.0, "canberra", {}),
    ("chebyshev", 2.0, "chebyshev", {}),
]
NAMES = [f"{metric}-{alpha:g}" for metric, alpha, _, _ in MEASURES]


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_classification(400, 12, n_informative=6, n_classes=3, flip_y=0.1, random_state=0)
    X[np.abs(X) < 0.4] = 0.0
    return X[:250], y[:250], X[250:]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("metric", "alpha", "scipy_name", "options"), MEASURES, ids=NAMES)
def test_neighbours_are_scipys(form, metric, alpha, scipy_name, options, problem) -> None:
    Z, _, X = problem
    expected = np.argsort(cdist(X, Z, scipy_name, **options), axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(nearest(form(X), form(Z), 7, metric=metric, alpha=alpha), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("metric", "alpha", "scipy_name", "options"), MEASURES, ids=NAMES)
@pytest.mark.parametrize("k", [1, 5, 20])
def test_probabilities_are_scikit_learns(metric, alpha, scipy_name, options, k, dtype, problem) -> None:
    # No two distances are equal: scikit-learn leaves the order of equals open.
    jitter = np.random.default_rng(6).normal(size=(400, 12))
    Z, y, X = (problem[0] + jitter[:250]).astype(dtype), problem[1], (problem[2] + jitter[250:]).astype(dtype)
    theirs = KNeighborsClassifier(k, metric=scipy_name, algorithm="brute", **options).fit(Z, y)
    ours = KNN(k, metric=metric, alpha=alpha).fit(Z, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize(("metric", "alpha"), [m[:2] for m in MEASURES], ids=NAMES)
def test_dense_and_sparse_may_be_mixed(metric, alpha, problem) -> None:
    Z, y, X = problem
    expected = KNN(metric=metric, alpha=alpha).fit(Z, y).predict_proba(X)
    for train, test in ((np.asarray, sp.csr_matrix), (sp.csr_matrix, np.asarray), (sp.csr_array, sp.csc_matrix)):
        found = KNN(metric=metric, alpha=alpha).fit(train(Z), y).predict_proba(test(X))
        np.testing.assert_array_equal(found, expected)


def brute_accuracy(X, y, k_max, parts) -> np.ndarray:
    """Accuracy of each k by fitting a classifier for each k and fold."""
    return np.array(
        [
            np.mean([KNeighborsClassifier(k).fit(X[a], y[a]).score(X[b], y[b]) for a, b in parts])
            for k in range(1, k_max + 1)
        ]
    )


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("seed", [0, 1])
def test_auto_is_plain_cross_validation(form, seed, problem) -> None:
    X, y, _ = problem
    model = KNN("auto", max_neighbors=12, cv=5, random_state=seed).fit(form(X), y)
    splitter = StratifiedKFold(5, shuffle=True, random_state=int(generator(seed).integers(2**31)))
    expected = brute_accuracy(X, y, 12, list(splitter.split(X, y)))
    np.testing.assert_allclose(model.cv_accuracy_, expected, rtol=1e-12)
    assert model.n_neighbors_ == 1 + np.flatnonzero(expected == expected.max())[0]
    assert model.n_neighbors_ > 1
    again = KNN(model.n_neighbors_).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(problem[2]), again.predict_proba(problem[2]))


def test_auto_takes_the_smallest_of_equals() -> None:
    X = np.repeat([[0.0], [10.0]], 20, axis=0) + np.arange(40)[:, None] * 1e-3
    model = KNN("auto", max_neighbors=7, random_state=0).fit(X, np.repeat([0, 1], 20))
    np.testing.assert_array_equal(model.cv_accuracy_, np.ones(7))
    assert model.n_neighbors_ == 1


def test_auto_stays_within_the_smallest_training_part_and_the_classes() -> None:
    X, y = np.arange(7.0)[:, None], np.array([0, 0, 0, 0, 1, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KNN("auto", random_state=0).fit(X, y)
    # The largest class has four rows: four folds, of at most two rows each.
    assert model.cv_accuracy_.shape == (5,)


def test_auto_needs_two_rows_of_some_class() -> None:
    with pytest.raises(TamisError, match="at least two rows"):
        KNN("auto").fit(np.eye(3), [0, 1, 2])


def in_plain_order(X, Z, k, scipy_name, options) -> np.ndarray:
    distances = cdist(X, Z, scipy_name, **options).round(9)
    return np.array([np.lexsort((np.arange(Z.shape[0]), row))[:k] for row in distances])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("metric", "alpha", "scipy_name", "options"), MEASURES, ids=NAMES)
def test_the_earlier_of_repeated_rows_is_nearer(form, metric, alpha, scipy_name, options) -> None:
    rng = np.random.default_rng(3)
    # Decimals, so that inner products of repeated rows round differently; long rows, to cross BLAS's blocks.
    Z = np.tile(rng.normal(size=(5, 700)).round(1), (40, 1)) + 0.1
    X = rng.normal(size=(30, 700)).round(1)
    for k in (1, 30, 45, 200):
        expected = in_plain_order(X, Z, k, scipy_name, options)
        np.testing.assert_array_equal(nearest(form(X), form(Z), k, metric=metric, alpha=alpha), expected)


small = st.integers(-3, 3).map(lambda v: v / 10)


@given(st.data(), st.integers(1, 3), st.sampled_from(range(len(MEASURES))), st.booleans())
def test_equals_are_in_the_order_of_rows(data, n_columns, number, sparse) -> None:
    metric, alpha, scipy_name, options = MEASURES[number]
    Z = data.draw(arrays(np.float64, (data.draw(st.integers(1, 30)), n_columns), elements=small))
    X = data.draw(arrays(np.float64, (4, n_columns), elements=small))
    k = data.draw(st.integers(1, Z.shape[0]))
    form = sp.csr_matrix if sparse else np.asarray
    found = nearest(form(X), form(Z), k, metric=metric, alpha=alpha)
    np.testing.assert_array_equal(found, in_plain_order(X, Z, k, scipy_name, options))


def test_distance_is_measured_where_inner_products_lose_it() -> None:
    rng = np.random.default_rng(4)
    Z, X = (1e7 + rng.normal(size=(n, 3)) for n in (60, 10))
    expected = np.argsort(cdist(X, Z), axis=1)[:, :5]
    for form in (np.asarray, sp.csr_matrix):
        np.testing.assert_array_equal(nearest(form(X), form(Z), 5), expected)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_batches_change_nothing(form, monkeypatch, problem) -> None:
    Z, _, X = problem
    whole = [nearest(form(X), form(Z), 4, metric=metric) for metric in ("minkowski", "canberra")]
    monkeypatch.setattr("tamis.neighbours.nearest._BLOCK", 700)
    for metric, expected in zip(("minkowski", "canberra"), whole, strict=True):
        np.testing.assert_array_equal(nearest(form(X), form(Z), 4, metric=metric), expected)


def test_canberra_is_the_printed_formula_for_data_of_zero_and_above() -> None:
    rng = np.random.default_rng(5)
    X, Z = (rng.random((n, 4)) + 0.01 for n in (5, 20))
    printed = (np.abs(X[:, None] - Z) / np.abs(X[:, None] + Z)).sum(axis=2)
    np.testing.assert_array_equal(nearest(X, Z, 20, metric="canberra"), np.argsort(printed, axis=1))


def test_all_rows_vote_when_k_is_larger() -> None:
    model = KNN(99).fit([[0.0], [1.0], [5.0]], ["b", "a", "a"])
    assert model.n_neighbors_ == 3
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[2 / 3, 1 / 3]])


def test_the_first_class_wins_a_draw() -> None:
    assert KNN(2).fit([[0.0], [1.0]], ["b", "a"]).predict([[0.0]])[0] == "a"


@pytest.mark.parametrize("metric", ["minkowski", "canberra"])
def test_repeated_entries_of_a_sparse_matrix_are_added_in_a_copy(metric) -> None:
    twice = sp.csr_matrix((np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    kept = twice.copy()
    assert nearest(twice, np.array([[0.0, 3.0], [5.0, 0.0]]), 1, metric=metric).tolist() == [[0], [1]]
    np.testing.assert_array_equal(twice.data, kept.data)
    np.testing.assert_array_equal(twice.indices, kept.indices)


def test_rows_without_values() -> None:
    model = KNN(1, metric="chebyshev").fit(sp.csr_matrix((4, 3)), [0, 1, 1, 1])
    assert model.predict(sp.csr_matrix((2, 3))).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"n_neighbors": 0}, "'n_neighbors'"),
        ({"n_neighbors": "many"}, "'n_neighbors'"),
        ({"n_neighbors": 1.5}, "'n_neighbors'"),
        ({"metric": "cosine"}, "'metric'"),
        ({"alpha": 0.5}, "'alpha'"),
        ({"alpha": np.inf}, "'alpha'"),
        ({"cv": 1}, "'cv'"),
        ({"max_neighbors": 0}, "'max_neighbors'"),
    ],
)
def test_wrong_parameters(parameters, match) -> None:
    with pytest.raises(ValueError, match=match):
        KNN(**parameters).fit(np.eye(4), [0, 0, 1, 1])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(("alpha", "value"), [(2.0, 1e200), (100.0, 1e4)])
def test_overflow_is_said_in_words(form, alpha, value) -> None:
    model = KNN(alpha=alpha).fit(form(np.diag([value, value, 1.0])), [0, 1, 1])
    with pytest.raises(TamisError, match="overflow"):
        model.predict(form(np.eye(3)))
