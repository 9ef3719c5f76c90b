"""Incremental evaluators of linear discriminants, ridge and nearest centroids against refits of the classifiers."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import NearestCentroid
from sklearn.utils import get_tags

from tamis.incremental import column_updates, fallback
from tamis.incremental.centroid import centroid_evaluator
from tamis.incremental.column_updates import leaders
from tamis.incremental.linear import lda_evaluator, ridge_evaluator

SKEWED = [0.6, 0.1, 0.3]
LDA = LinearDiscriminantAnalysis
MODELS = [
    (lda_evaluator, LDA()),
    (lda_evaluator, LDA(tol=0.0)),
    (lda_evaluator, LDA(priors=SKEWED)),
    (lda_evaluator, LDA(solver="lsqr")),
    (lda_evaluator, LDA(solver="lsqr", priors=SKEWED)),
    (ridge_evaluator, RidgeClassifier()),
    (ridge_evaluator, RidgeClassifier(alpha=0.0)),
    (ridge_evaluator, RidgeClassifier(alpha=30.0, class_weight="balanced")),
    (ridge_evaluator, RidgeClassifier(alpha=0.1, solver="svd")),
    (ridge_evaluator, RidgeClassifier(fit_intercept=False, solver="cholesky")),
    (centroid_evaluator, NearestCentroid()),
    (centroid_evaluator, NearestCentroid(priors="empirical")),
    (centroid_evaluator, NearestCentroid(priors=SKEWED)),
]
NAMES = [" ".join(repr(model).split()) for _, model in MODELS]
KINDS = ["normal", "offset", "scales", "counts", "binary", "collinear"]
each_model = pytest.mark.parametrize(("evaluator_of", "model"), MODELS, ids=NAMES)


def problem(seed, *, n_classes=3, n_rows=60, n_columns=9, kind="normal"):
    """Training rows, unbalanced classes (each at least twice) and test rows."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.repeat(np.arange(n_classes), 2), rng.integers(0, n_classes, n_rows) % 2])
    codes = np.concatenate([y, rng.integers(0, n_classes, 25)])
    mixed = np.eye(n_columns) + 0.4 * rng.normal(size=(n_columns, n_columns))
    rows = (rng.normal(size=(codes.size, n_columns)) + rng.normal(size=(n_classes, n_columns))[codes]) @ mixed
    if kind == "offset":
        rows += 10.0 ** rng.integers(0, 6, n_columns)
    elif kind == "scales":
        rows *= 10.0 ** rng.integers(-4, 5, n_columns)
    elif kind == "counts":
        rows = np.round(rows).clip(0)
    elif kind == "binary":
        rows = (rows > 0.5).astype(float)
    elif kind == "collinear":
        rows[:, 1], rows[:, 2], rows[:, 3] = rows[:, 0], rows[:, 0] - rows[:, 4], 0.1
        rows[:, 5] = rows[:, 0] + 1e-5 * rows[:, 5]
    return rows[: y.size], y, rows[y.size :]


def fitted(model, X, y, Z, columns):
    """Predictions of the classifier on just these columns; its error where it cannot be fitted on them."""
    train, test = X[:, columns], Z[:, columns]
    if sp.issparse(train) and get_tags(model).input_tags.sparse:
        train, test = train.tocsr(), test.tocsr()
    else:
        train, test = (np.ascontiguousarray(A.toarray() if sp.issparse(A) else A) for A in (train, test))
    return outcome(lambda: clone(model).fit(train, y).predict(test))


def outcome(call):
    """What comes back, or the reason why nothing does; scikit-learn warns of collinear columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(call()).tolist()
        except (ValueError, IndexError) as refusal:
            return str(refusal)


def assert_same(evaluator_of, model, X, y, Z, columns, candidates):
    """Every candidate joins, then every column leaves; those that the classifier refuses are evaluated alone."""
    evaluator = evaluator_of(model, X, y, Z)
    changes = [(evaluator.add, {j: np.append(columns, j) for j in candidates})]
    if columns.size > 1:
        changes.append((evaluator.remove, {j: columns[columns != j] for j in columns}))
    for change, sets in changes:
        expected = {j: fitted(model, X, y, Z, some) for j, some in sets.items()}
        fine = [j for j, predicted in expected.items() if isinstance(predicted, list)]
        for j in expected.keys() - fine:
            assert str(outcome(lambda j=j, change=change: change(columns, np.array([j])))).endswith(expected[j])
        predicted = outcome(lambda change=change, fine=fine: change(columns, np.array(fine, dtype=np.intp)))
        assert predicted == [expected[j] for j in fine]


@pytest.fixture
def fits(monkeypatch):
    """The training rows on which an evaluator refits the classifier."""
    made = []
    refitted = fallback.refitted

    def counted(model, train, labels, test):
        made.append(train)
        return refitted(model, train, labels, test)

    monkeypatch.setattr(fallback, "refitted", counted)
    return made


@each_model
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), size=st.integers(0, 7), kind=st.sampled_from(KINDS), dtype=st.sampled_from("df"))
def test_predictions_are_those_of_a_fit(evaluator_of, model, seed, size, kind, dtype) -> None:
    X, y, Z = problem(seed, kind=kind)
    columns = np.random.default_rng(seed).permutation(X.shape[1])
    assert_same(evaluator_of, model, X.astype(dtype), y, Z.astype(dtype), columns[:size], columns[size:])


@each_model
@pytest.mark.parametrize("n_classes", [2, 5])
def test_two_and_many_classes(evaluator_of, model, n_classes) -> None:
    if isinstance(getattr(model, "priors", None), list):
        model = clone(model).set_params(
            priors=(np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()).tolist()
        )
    X, y, Z = problem(1, n_classes=n_classes)
    for size in (0, 5):
        assert_same(evaluator_of, model, X, y, Z, np.arange(size), np.arange(size, 9))


@each_model
def test_more_columns_than_rows(evaluator_of, model) -> None:
    X, y, Z = problem(0, n_rows=6, n_columns=30)
    assert_same(evaluator_of, model, X, y, Z, np.arange(20), np.arange(20, 30))


@each_model
def test_sparse_is_dense(evaluator_of, model) -> None:
    X, y, Z = problem(2, kind="counts")
    columns, candidates = np.array([3, 0, 5]), np.array([1, 7, 2, 4])
    evaluator = evaluator_of(model, sp.csc_matrix(X), y, sp.csc_matrix(Z))
    if isinstance(model, RidgeClassifier) and model.fit_intercept:
        assert evaluator is None
        return
    assert_same(evaluator_of, model, sp.csc_matrix(X), y, sp.csc_matrix(Z), columns, candidates)
    np.testing.assert_array_equal(
        evaluator.add(columns, candidates), evaluator_of(model, X, y, Z).add(columns, candidates)
    )


@each_model
@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix])
def test_blocks_do_not_matter(evaluator_of, model, form, monkeypatch) -> None:
    X, y, Z = problem(3)
    evaluator = evaluator_of(model, form(X), y, form(Z))
    if evaluator is None:
        return
    columns, candidates = np.arange(4), np.arange(4, 9)
    once = evaluator.add(columns, candidates), evaluator.remove(columns, columns)
    monkeypatch.setattr(column_updates, "NUMBERS", 700)
    again = evaluator_of(model, form(X), y, form(Z))
    np.testing.assert_array_equal(again.add(columns, candidates), once[0])
    np.testing.assert_array_equal(again.remove(columns, columns), once[1])


@each_model
@pytest.mark.parametrize("kind", ["normal", "counts"])
def test_ordinary_data_needs_no_fit(evaluator_of, model, kind, fits) -> None:
    X, y, Z = problem(4, n_rows=200, kind=kind)
    # Without an intercept a row of zeros is a tie.
    Z = Z + 0.5 if kind == "counts" else Z
    evaluator = evaluator_of(model, X, y, Z)
    for size in range(6):
        evaluator.add(np.arange(size), np.arange(size, 9))
        if size > 1:
            evaluator.remove(np.arange(size), np.arange(size))
    assert fits == []


@pytest.mark.parametrize(("evaluator_of", "model"), [MODELS[0], MODELS[3]])
def test_only_what_is_singular_is_fitted(evaluator_of, model, fits) -> None:
    X, y, Z = problem(5)
    X[:, 8], Z[:, 8] = X[:, 0] + X[:, 1], Z[:, 0] + Z[:, 1]
    X[:, 7] = Z[:, 7] = 1.0
    assert_same(evaluator_of, model, X, y, Z, np.arange(4), np.arange(4, 9))
    assert len(fits) == 2
    np.testing.assert_array_equal(fits[0], X[:, [0, 1, 2, 3, 7]])
    np.testing.assert_array_equal(fits[1], X[:, [0, 1, 2, 3, 8]])


def test_ties_are_settled_by_the_classifier(fits) -> None:
    X, y, Z = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1]), np.array([[2.5], [0.0], [5.0]])
    empty = np.array([], dtype=int)
    for evaluator_of, model in (MODELS[0], MODELS[5], MODELS[10]):
        fits.clear()
        np.testing.assert_array_equal(
            evaluator_of(model, X, y, Z).add(empty, np.array([0])), [fitted(model, X, y, Z, [0])]
        )
        assert len(fits) == 1


@each_model
def test_columns_that_do_not_vary(evaluator_of, model) -> None:
    X, y, Z = problem(6)
    X[:, :2] = Z[:, :2] = 0.1
    X[:, 2] = y
    assert_same(evaluator_of, model, X, y, Z, np.array([0]), np.array([1, 2, 3]))
    assert_same(evaluator_of, model, X, y, Z, np.array([], dtype=int), np.array([1, 2, 3]))


@each_model
def test_no_candidates_no_predictions(evaluator_of, model) -> None:
    X, y, Z = problem(0)
    nobody = np.array([], dtype=int)
    evaluator = evaluator_of(model, X, y, Z)
    for columns in (nobody, np.arange(3)):
        assert evaluator.add(columns, nobody).shape == (0, Z.shape[0])
    assert evaluator.remove(np.arange(3), nobody).shape == (0, Z.shape[0])


def test_directions_that_the_solver_drops() -> None:
    """Means so nearly on a line that scikit-learn leaves out what is off it."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 30)
    rows = rng.normal(size=(180, 3))
    for k in range(3):
        rows[:90][codes == k] -= rows[:90][codes == k].mean(axis=0)
    rows[:90, 0] += 1e4 * codes
    rows[:90, 1] += 1e-1 * (codes == 1)
    rows[90:, 0] += 5e3 * (np.arange(90) % 5)
    assert_same(lda_evaluator, LDA(), rows[:90], codes, rows[90:], np.array([0]), np.array([1, 2]))
    assert_same(lda_evaluator, LDA(tol=1e-7), rows[:90], codes, rows[90:], np.array([0]), np.array([1, 2]))


@pytest.mark.parametrize(
    ("evaluator_of", "model"),
    [
        (lda_evaluator, LDA(solver="eigen")),
        (lda_evaluator, LDA(solver="lsqr", shrinkage=0.1)),
        (lda_evaluator, LDA(solver="lsqr", shrinkage="auto")),
        (lda_evaluator, LDA(n_components=1)),
        (lda_evaluator, LDA(tol=0.5)),
        (lda_evaluator, LDA(priors=[0.5, 0.5])),
        (lda_evaluator, LDA(priors=[0.5, 0.5, 0.5])),
        (lda_evaluator, LDA(priors=[0.5, 0.5, 0.0])),
        (lda_evaluator, RidgeClassifier()),
        (lda_evaluator, type("Other", (LDA,), {})()),
        (ridge_evaluator, RidgeClassifier(solver="lsqr")),
        (ridge_evaluator, RidgeClassifier(positive=True)),
        (ridge_evaluator, RidgeClassifier(alpha=[1.0, 2.0, 3.0])),
        (ridge_evaluator, RidgeClassifier(alpha=-1.0)),
        (ridge_evaluator, RidgeClassifier(class_weight={0: 2.0})),
        (ridge_evaluator, LDA()),
        (centroid_evaluator, NearestCentroid(metric="manhattan")),
        (centroid_evaluator, NearestCentroid(shrink_threshold=0.1)),
        (centroid_evaluator, NearestCentroid(priors=[0.5, 0.5])),
        (centroid_evaluator, NearestCentroid(priors=[0.5, 0.5, 0.5])),
        (centroid_evaluator, NearestCentroid(priors=[0.5, 0.5, 0.0])),
        (centroid_evaluator, NearestCentroid(priors=np.array(SKEWED))),
        (centroid_evaluator, NearestCentroid(priors="none")),
        (centroid_evaluator, LDA()),
    ],
)
def test_what_is_not_covered_is_left_to_fits(evaluator_of, model) -> None:
    assert evaluator_of(model, *problem(0)) is None


@pytest.mark.parametrize(("evaluator_of", "model"), [MODELS[0], MODELS[10]])
def test_a_row_for_each_class_is_left_to_fits(evaluator_of, model) -> None:
    X, _, Z = problem(0)
    assert evaluator_of(model, X[:3], np.arange(3), Z) is None


@given(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=2, max_size=5))
def test_leaders_are_the_first_of_the_highest(scores) -> None:
    scores = np.array(scores, dtype=float)
    winner, lead = leaders(iter(scores))
    ordered = np.sort(scores, axis=0)
    np.testing.assert_array_equal(winner, scores.argmax(axis=0))
    np.testing.assert_array_equal(lead, ordered[-1] - ordered[-2])
