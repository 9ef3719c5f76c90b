"""Judges of linear discriminants, ridge and nearest centroids: what they say is what the classifier fitted says."""

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

from tamis.incremental import column_updates as judge_updating
from tamis.incremental import fallback as doubt
from tamis.incremental.centroid import centroid_judge
from tamis.incremental.column_updates import leaders
from tamis.incremental.linear import lda_judge, ridge_judge

SKEWED = [0.6, 0.1, 0.3]
LDA = LinearDiscriminantAnalysis
MODELS = [
    (lda_judge, LDA()),
    (lda_judge, LDA(tol=0.0)),
    (lda_judge, LDA(priors=SKEWED)),
    (lda_judge, LDA(solver="lsqr")),
    (lda_judge, LDA(solver="lsqr", priors=SKEWED)),
    (ridge_judge, RidgeClassifier()),
    (ridge_judge, RidgeClassifier(alpha=0.0)),
    (ridge_judge, RidgeClassifier(alpha=30.0, class_weight="balanced")),
    (ridge_judge, RidgeClassifier(alpha=0.1, solver="svd")),
    (ridge_judge, RidgeClassifier(fit_intercept=False, solver="cholesky")),
    (centroid_judge, NearestCentroid()),
    (centroid_judge, NearestCentroid(priors="empirical")),
    (centroid_judge, NearestCentroid(priors=SKEWED)),
]
NAMES = [" ".join(repr(model).split()) for _, model in MODELS]
KINDS = ["normal", "offset", "scales", "counts", "binary", "collinear"]
each_model = pytest.mark.parametrize(("judge_of", "model"), MODELS, ids=NAMES)


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
    """Answers of the classifier on just these columns; a refusal where it cannot learn from them."""
    learn, judged = X[:, columns], Z[:, columns]
    if sp.issparse(learn) and get_tags(model).input_tags.sparse:
        learn, judged = learn.tocsr(), judged.tocsr()
    else:
        learn, judged = (np.ascontiguousarray(A.toarray() if sp.issparse(A) else A) for A in (learn, judged))
    return outcome(lambda: clone(model).fit(learn, y).predict(judged))


def outcome(answer):
    """What comes back, or the reason why nothing does; scikit-learn warns of collinear columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(answer()).tolist()
        except (ValueError, IndexError) as refusal:
            return str(refusal)


def assert_same(judge_of, model, X, y, Z, columns, candidates):
    """Every candidate joins, then every column leaves; those that the classifier refuses are asked about alone."""
    judge = judge_of(model, X, y, Z)
    questions = [(judge.add, {j: np.append(columns, j) for j in candidates})]
    if columns.size > 1:
        questions.append((judge.remove, {j: columns[columns != j] for j in columns}))
    for ask, sets in questions:
        expected = {j: fitted(model, X, y, Z, changed) for j, changed in sets.items()}
        answered = [j for j, said in expected.items() if isinstance(said, list)]
        for j in expected.keys() - answered:
            assert str(outcome(lambda j=j, ask=ask: ask(columns, np.array([j])))).endswith(expected[j])
        said = outcome(lambda ask=ask, asked=answered: ask(columns, np.array(asked, dtype=np.intp)))
        assert said == [expected[j] for j in answered]


@pytest.fixture
def fits(monkeypatch):
    """The training rows that a judge hands to the classifier itself."""
    made = []
    refitted = doubt.refitted

    def counted(model, learn, labels, judged):
        made.append(learn)
        return refitted(model, learn, labels, judged)

    monkeypatch.setattr(doubt, "refitted", counted)
    return made


@each_model
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), size=st.integers(0, 7), kind=st.sampled_from(KINDS), dtype=st.sampled_from("df"))
def test_answers_are_those_of_a_fit(judge_of, model, seed, size, kind, dtype) -> None:
    X, y, Z = problem(seed, kind=kind)
    columns = np.random.default_rng(seed).permutation(X.shape[1])
    assert_same(judge_of, model, X.astype(dtype), y, Z.astype(dtype), columns[:size], columns[size:])


@each_model
@pytest.mark.parametrize("n_classes", [2, 5])
def test_two_and_many_classes(judge_of, model, n_classes) -> None:
    if isinstance(getattr(model, "priors", None), list):
        model = clone(model).set_params(
            priors=(np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()).tolist()
        )
    X, y, Z = problem(1, n_classes=n_classes)
    for size in (0, 5):
        assert_same(judge_of, model, X, y, Z, np.arange(size), np.arange(size, 9))


@each_model
def test_more_columns_than_rows(judge_of, model) -> None:
    X, y, Z = problem(0, n_rows=6, n_columns=30)
    assert_same(judge_of, model, X, y, Z, np.arange(20), np.arange(20, 30))


@each_model
def test_sparse_is_dense(judge_of, model) -> None:
    X, y, Z = problem(2, kind="counts")
    columns, candidates = np.array([3, 0, 5]), np.array([1, 7, 2, 4])
    judge = judge_of(model, sp.csc_matrix(X), y, sp.csc_matrix(Z))
    if isinstance(model, RidgeClassifier) and model.fit_intercept:
        assert judge is None
        return
    assert_same(judge_of, model, sp.csc_matrix(X), y, sp.csc_matrix(Z), columns, candidates)
    np.testing.assert_array_equal(judge.add(columns, candidates), judge_of(model, X, y, Z).add(columns, candidates))


@each_model
@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix])
def test_blocks_do_not_matter(judge_of, model, form, monkeypatch) -> None:
    X, y, Z = problem(3)
    judge = judge_of(model, form(X), y, form(Z))
    if judge is None:
        return
    columns, candidates = np.arange(4), np.arange(4, 9)
    once = judge.add(columns, candidates), judge.remove(columns, columns)
    monkeypatch.setattr(judge_updating, "NUMBERS", 700)
    again = judge_of(model, form(X), y, form(Z))
    np.testing.assert_array_equal(again.add(columns, candidates), once[0])
    np.testing.assert_array_equal(again.remove(columns, columns), once[1])


@each_model
@pytest.mark.parametrize("kind", ["normal", "counts"])
def test_ordinary_data_needs_no_fit(judge_of, model, kind, fits) -> None:
    X, y, Z = problem(4, n_rows=200, kind=kind)
    # Without an intercept a row of zeros is a tie.
    Z = Z + 0.5 if kind == "counts" else Z
    judge = judge_of(model, X, y, Z)
    for size in range(6):
        judge.add(np.arange(size), np.arange(size, 9))
        if size > 1:
            judge.remove(np.arange(size), np.arange(size))
    assert fits == []


@pytest.mark.parametrize(("judge_of", "model"), [MODELS[0], MODELS[3]])
def test_only_what_is_singular_is_fitted(judge_of, model, fits) -> None:
    X, y, Z = problem(5)
    X[:, 8], Z[:, 8] = X[:, 0] + X[:, 1], Z[:, 0] + Z[:, 1]
    X[:, 7] = Z[:, 7] = 1.0
    assert_same(judge_of, model, X, y, Z, np.arange(4), np.arange(4, 9))
    assert len(fits) == 2
    np.testing.assert_array_equal(fits[0], X[:, [0, 1, 2, 3, 7]])
    np.testing.assert_array_equal(fits[1], X[:, [0, 1, 2, 3, 8]])


def test_ties_are_settled_by_the_classifier(fits) -> None:
    X, y, Z = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1]), np.array([[2.5], [0.0], [5.0]])
    empty = np.array([], dtype=int)
    for judge_of, model in ((lda_judge, LDA()), (ridge_judge, RidgeClassifier()), (centroid_judge, NearestCentroid())):
        fits.clear()
        np.testing.assert_array_equal(judge_of(model, X, y, Z).add(empty, np.array([0])), [fitted(model, X, y, Z, [0])])
        assert len(fits) == 1


@each_model
def test_columns_that_do_not_vary(judge_of, model) -> None:
    X, y, Z = problem(6)
    X[:, :2] = Z[:, :2] = 0.1
    X[:, 2] = y
    assert_same(judge_of, model, X, y, Z, np.array([0]), np.array([1, 2, 3]))
    assert_same(judge_of, model, X, y, Z, np.array([], dtype=int), np.array([1, 2, 3]))


@each_model
def test_no_candidates_no_answers(judge_of, model) -> None:
    X, y, Z = problem(0)
    nobody = np.array([], dtype=int)
    judge = judge_of(model, X, y, Z)
    for columns in (nobody, np.arange(3)):
        assert judge.add(columns, nobody).shape == (0, Z.shape[0])
    assert judge.remove(np.arange(3), nobody).shape == (0, Z.shape[0])


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
    assert_same(lda_judge, LDA(), rows[:90], codes, rows[90:], np.array([0]), np.array([1, 2]))
    assert_same(lda_judge, LDA(tol=1e-7), rows[:90], codes, rows[90:], np.array([0]), np.array([1, 2]))


@pytest.mark.parametrize(
    ("judge_of", "model"),
    [
        (lda_judge, LDA(solver="eigen")),
        (lda_judge, LDA(solver="lsqr", shrinkage=0.1)),
        (lda_judge, LDA(solver="lsqr", shrinkage="auto")),
        (lda_judge, LDA(n_components=1)),
        (lda_judge, LDA(tol=0.5)),
        (lda_judge, LDA(priors=[0.5, 0.5])),
        (lda_judge, LDA(priors=[0.5, 0.5, 0.5])),
        (lda_judge, LDA(priors=[0.5, 0.5, 0.0])),
        (lda_judge, RidgeClassifier()),
        (lda_judge, type("Other", (LDA,), {})()),
        (ridge_judge, RidgeClassifier(solver="lsqr")),
        (ridge_judge, RidgeClassifier(positive=True)),
        (ridge_judge, RidgeClassifier(alpha=[1.0, 2.0, 3.0])),
        (ridge_judge, RidgeClassifier(alpha=-1.0)),
        (ridge_judge, RidgeClassifier(class_weight={0: 2.0})),
        (ridge_judge, LDA()),
        (centroid_judge, NearestCentroid(metric="manhattan")),
        (centroid_judge, NearestCentroid(shrink_threshold=0.1)),
        (centroid_judge, NearestCentroid(priors=[0.5, 0.5])),
        (centroid_judge, NearestCentroid(priors=[0.5, 0.5, 0.5])),
        (centroid_judge, NearestCentroid(priors=[0.5, 0.5, 0.0])),
        (centroid_judge, NearestCentroid(priors=np.array(SKEWED))),
        (centroid_judge, NearestCentroid(priors="none")),
        (centroid_judge, LDA()),
    ],
)
def test_what_is_not_covered_is_left_to_fits(judge_of, model) -> None:
    assert judge_of(model, *problem(0)) is None


@pytest.mark.parametrize(("judge_of", "model"), [MODELS[0], MODELS[10]])
def test_a_row_for_each_class_is_left_to_fits(judge_of, model) -> None:
    X, _, Z = problem(0)
    assert judge_of(model, X[:3], np.arange(3), Z) is None


@given(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=2, max_size=5))
def test_leaders_are_the_first_of_the_highest(scores) -> None:
    scores = np.array(scores, dtype=float)
    winner, lead = leaders(iter(scores))
    ordered = np.sort(scores, axis=0)
    np.testing.assert_array_equal(winner, scores.argmax(axis=0))
    np.testing.assert_array_equal(lead, ordered[-1] - ordered[-2])
