"""Incremental evaluators against classifiers refitted for every set of columns; their kernels against plain twins."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tamis.classify import C45, KNN, NaiveBayes, SSVTree
from tamis.incremental import fallback, gaussian_nb, nearest
from tamis.incremental.registry import evaluator_for
from tamis.kernels.compiler import all_kernels
from tamis.kernels.incremental import add_squares, bayes_votes, nearest_means, nearest_votes
from tamis.regress import KNNRegressor
from tamis.select import BestFirst

NEAREST = [
    KNeighborsClassifier(1),
    KNeighborsClassifier(4),
    KNeighborsClassifier(3, algorithm="brute", metric="euclidean"),
    KNeighborsClassifier(5, algorithm="ball_tree"),
    KNN(1),
    KNN(4),
    KNN(50),
]
BAYES = [GaussianNB(), GaussianNB(var_smoothing=0.3), GaussianNB(priors=[0.2, 0.3, 0.5])]
NOTHING = np.empty(0, dtype=np.intp)


def drawn(seed: int = 0, rows: int = 60, columns: int = 7, n_classes: int = 3) -> tuple:
    """Training rows, classes and test rows; columns of very different size, two of them equal."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % n_classes
    X, Z = rng.normal(size=(rows, columns)), rng.normal(size=(25, columns))
    X[:, 0] += y
    X[:, 1:4] *= [0.01, 30.0, 1.0]
    Z[:, 1:4] *= [0.01, 30.0, 1.0]
    X[:, -1], Z[:, -1] = X[:, 0], Z[:, 0]
    return X, y, Z


def fitted(model, X, y, Z, columns) -> np.ndarray:
    """The long way; columns in memory as a user would have them."""
    train, test = (M[:, columns].tocsr() if sp.issparse(M) else np.ascontiguousarray(M[:, columns]) for M in (X, Z))
    return clone(model).fit(train, y).predict(test)


def evaluator_of(model, X, y, Z):
    return evaluator_for(model)(model, X, y, Z)


def check(model, X, y, Z, columns, form=np.asarray) -> None:
    """Every other column joins, and every column leaves."""
    evaluator = evaluator_of(model, form(X), y, form(Z))
    columns = np.asarray(columns, dtype=np.intp)
    rest = np.setdiff1d(np.arange(X.shape[1]), columns)
    if isinstance(model, KNeighborsClassifier):
        # Its distances, and so its order of equals, depend on the form of the rows.
        X, Z = form(X), form(Z)
    wanted = np.array([fitted(model, X, y, Z, [*columns, j]) for j in rest])
    np.testing.assert_array_equal(evaluator.add(columns, rest), wanted.reshape(rest.size, Z.shape[0]))
    if columns.size > 1:
        wanted = [fitted(model, X, y, Z, columns[columns != j]) for j in columns]
        np.testing.assert_array_equal(evaluator.remove(columns, columns), wanted)


@pytest.mark.parametrize("model", NEAREST + BAYES, ids=str)
@pytest.mark.parametrize("columns", [[], [3], [2, 0], [5, 1, 2, 6, 0]])
def test_predictions_are_those_of_a_refit(model, columns, monkeypatch) -> None:
    X, y, Z = drawn()
    wanted = [fitted(model, X, y, Z, [*columns, j]) for j in range(7) if j not in columns]
    # On such numbers nothing depends on rounding: no prediction may need a refit.
    # scikit-learn's order of equals never matters.
    monkeypatch.setattr(fallback, "refitted", None)
    evaluator = evaluator_of(model, X, y, Z)
    columns = np.array(columns, dtype=np.intp)
    rest = np.setdiff1d(np.arange(7), columns)
    np.testing.assert_array_equal(evaluator.add(columns, rest), wanted)
    if columns.size > 1:
        wanted = [fitted(model, X, y, Z, columns[columns != j]) for j in columns[::-2]]
        np.testing.assert_array_equal(evaluator.remove(columns, columns[::-2]), wanted)


@st.composite
def tables(draw):
    """Few different values, so that distances and likelihoods are often equal, or equal but for rounding."""
    n, m, p = draw(st.integers(6, 25)), draw(st.integers(1, 8)), draw(st.integers(1, 5))
    values = st.sampled_from(
        draw(st.sampled_from([[0.0, 1.0, 2.0], [0.0, 0.1, 0.2, 0.3, 0.7], [1e6, 1e6 + 0.1, -3.0]]))
    )
    rows = draw(hnp.arrays(np.float64, (n + m, p), elements=values))
    n_classes = draw(st.integers(2, 4))
    y = np.concatenate((np.arange(n_classes), draw(hnp.arrays(np.intp, n - n_classes, elements=st.integers(0, 1)))))
    columns = draw(st.permutations(range(p)))[: draw(st.integers(0, p))]
    return rows[:n], y, rows[n:], columns


def varying(X, columns) -> bool:
    """Whether every set that `check` forms has a column that is not constant: other sets are never evaluated."""
    own = [j for j in range(X.shape[1]) if np.ptp(X[:, j]) > 0]
    return len(own) == X.shape[1] or len(set(own) & set(columns)) > 1


@settings(max_examples=80)
@given(tables(), st.sampled_from([np.asarray, sp.csc_array]), st.sampled_from([1, 2, 3, 5]), st.booleans())
def test_equal_distances(table, form, k, own) -> None:
    X, y, Z, columns = table
    check(KNN(k) if own else KNeighborsClassifier(k), X, y, Z, columns, form)


@settings(max_examples=80)
@given(tables(), st.sampled_from([np.asarray, sp.csc_array, sp.csc_matrix]), st.sampled_from([1e-9, 1e-3]))
def test_equal_likelihoods(table, form, smoothing) -> None:
    X, y, Z, columns = table
    if varying(X, columns):
        check(GaussianNB(var_smoothing=smoothing), X, y, Z, columns, form)


@pytest.mark.parametrize("model", [KNeighborsClassifier(3), KNN(3), GaussianNB()], ids=str)
@pytest.mark.parametrize("shift", [0.0, 1e3, 1e7])
def test_far_from_zero(model, shift) -> None:
    X, y, Z = drawn(1)
    check(model, X + shift, y, Z + shift, [2, 4, 0])


@pytest.mark.parametrize("model", [KNeighborsClassifier(3), KNN(3), GaussianNB()], ids=str)
def test_blocks_change_nothing(model, monkeypatch) -> None:
    X, y, Z = drawn(2)
    X[np.abs(X) < 0.4] = 0.0
    Z[np.abs(Z) < 0.4] = 0.0
    monkeypatch.setattr(nearest, "_BLOCK", 130)
    monkeypatch.setattr(gaussian_nb, "_BLOCK", 30)
    for form in (np.asarray, sp.csc_array):
        check(model, X, y, Z, [2, 4, 0, 1], form)


@pytest.mark.parametrize("model", [KNeighborsClassifier(3), KNN(3), GaussianNB()], ids=str)
def test_a_set_may_grow_shrink_and_be_another(model) -> None:
    X, y, Z = drawn(3, columns=9)
    evaluator = evaluator_of(model, X, y, Z)
    for columns in ([], [4], [4, 2], [4, 2, 7], [4, 7], [4, 7, 0], [7, 4], [1, 3, 5, 6]):
        rest = np.setdiff1d(np.arange(9), columns)
        wanted = [fitted(model, X, y, Z, [*columns, j]) for j in rest]
        np.testing.assert_array_equal(evaluator.add(np.array(columns, dtype=np.intp), rest), wanted)


def test_removing_a_huge_column_loses_no_digits() -> None:
    X, y, Z = drawn(4)
    X[:, 2] *= 1e9
    Z[:, 2] *= 1e9
    for model in (KNN(3), KNeighborsClassifier(3), GaussianNB(), GaussianNB(var_smoothing=0.0)):
        check(model, X, y, Z, [2, 0, 1, 4])


def test_which_classifiers_have_an_evaluator() -> None:
    X, y, Z = drawn()
    for model in (GaussianNB(), KNeighborsClassifier(), KNN(), LinearDiscriminantAnalysis(), RidgeClassifier()):
        assert evaluator_of(model, X, y, Z) is not None
    assert evaluator_of(NearestCentroid(), X, y, Z) is not None

    class Own(KNN):
        pass

    class OwnBayes(GaussianNB):
        pass

    for model in (Own(), OwnBayes(), make_pipeline(StandardScaler(), GaussianNB()), DecisionTreeClassifier()):
        assert evaluator_for(model) is None
    uncovered = [
        KNeighborsClassifier(weights="distance"),
        KNeighborsClassifier(p=1),
        KNeighborsClassifier(metric="manhattan"),
        KNeighborsClassifier(61),
        KNN("auto"),
        KNN(metric="canberra"),
        KNN(alpha=1.0),
        GaussianNB(priors=[0.5, 0.5]),
        GaussianNB(priors=[0.5, 0.5, 0.0]),
    ]
    for model in uncovered:
        assert evaluator_of(model, X, y, Z) is None
    assert evaluator_of(KNeighborsClassifier(algorithm="kd_tree"), sp.csc_array(X), y, sp.csc_array(Z)) is None
    for model in (KNN(), KNeighborsClassifier(), GaussianNB()):
        assert evaluator_of(model, X * 1e200, y, Z) is None


def plain_votes(squares, test, train, codes, k, n_classes) -> np.ndarray:
    """The vote by sorting, of equal distances the earlier row first."""
    predicted = []
    for x, z in zip(test, train, strict=True):
        order = np.argsort(squares + (x[:, None] - z) ** 2, axis=1, kind="stable")[:, :k]
        votes = (codes[order][:, :, None] == np.arange(n_classes)).sum(axis=1)
        predicted.append(votes.argmax(axis=1))
    return np.array(predicted)


@given(st.integers(0, 1000), st.integers(1, 12), st.booleans(), st.booleans())
def test_votes_equal_their_twin(seed, k, whole, ordered) -> None:
    rng = np.random.default_rng(seed)
    test, train = (rng.integers(0, 4, (3, n)).astype(float) if whole else rng.normal(size=(3, n)) for n in (5, 12))
    squares, codes = np.zeros((5, 12)), rng.integers(0, 3, 12)
    add_squares(test, train, squares)
    np.testing.assert_allclose(squares, ((test[:, :, None] - train[:, None]) ** 2).sum(axis=0), rtol=1e-12)
    order = np.argsort(squares, axis=1) if ordered else np.empty((0, 0), dtype=np.intp)
    known = np.take_along_axis(squares, order, axis=1) if ordered else squares
    predicted, certain = np.empty((3, 5), dtype=np.intp), np.empty(3, dtype=bool)
    nearest_votes(known, order, test, train, np.zeros(5), codes, k, 3, 1e-11, 0.0, True, predicted, certain)
    assert certain.all()
    np.testing.assert_array_equal(predicted, plain_votes(squares, test, train, codes, k, 3))
    nearest_votes(known, order, test, train, np.zeros(5), codes, k, 3, 1e-11, 0.0, False, predicted, certain)
    np.testing.assert_array_equal(predicted[certain], plain_votes(squares, test, train, codes, k, 3)[certain])


@given(st.integers(0, 1000), st.integers(1, 12), st.booleans(), st.booleans())
def test_means_equal_their_twin(seed, k, whole, ordered) -> None:
    rng = np.random.default_rng(seed)
    test, train = (rng.integers(0, 4, (3, n)).astype(float) if whole else rng.normal(size=(3, n)) for n in (5, 12))
    squares, numbers = np.zeros((5, 12)), rng.normal(size=12).round(1)
    add_squares(test, train, squares)
    order = np.argsort(squares, axis=1) if ordered else np.empty((0, 0), dtype=np.intp)
    known = np.take_along_axis(squares, order, axis=1) if ordered else squares
    each = squares + (test[:, :, None] - train[:, None]) ** 2
    expected = numbers[np.argsort(each, axis=2, kind="stable")[:, :, :k]].mean(axis=2)
    predicted, certain = np.empty((3, 5)), np.empty(3, dtype=bool)
    nearest_means(known, order, test, train, np.zeros(5), numbers, k, 1e-11, 0.0, True, predicted, certain)
    assert certain.all()
    np.testing.assert_allclose(predicted, expected, atol=1e-12)
    nearest_means(known, order, test, train, np.zeros(5), numbers, k, 1e-11, 0.0, False, predicted, certain)
    np.testing.assert_allclose(predicted[certain], expected[certain], atol=1e-12)
    assert whole or certain.all()


def plain_bayes(values, mean, variance, smoothing, prior) -> np.ndarray:
    variance = (variance + smoothing)[:, :, None]
    terms = np.log(2 * np.pi * variance) + (values[:, None] - mean[:, :, None]) ** 2 / variance
    return (prior[:, None] - terms.sum(axis=0) / 2).argmax(axis=0)


@given(st.integers(0, 1000), st.integers(0, 4))
def test_likelihoods_equal_their_twin(seed, size) -> None:
    rng = np.random.default_rng(seed)
    prior = np.log(rng.dirichlet(np.ones(3)))
    values, mean, variance = rng.normal(size=(7, 9)), rng.normal(size=(7, 3)), rng.uniform(0.1, 2, size=(7, 3))
    known, own = np.hstack((values, mean, variance)), rng.permutation(7)
    predicted, after = np.empty((3, 9), dtype=np.intp), np.array([0.1, 0.2, 0.1])
    bayes_votes(known, np.append(own[:size], own[4:]), size, 0.1, after, prior, 1.0, 1e-10, predicted)
    for i in range(3):
        columns = [*own[:size], own[4 + i]]
        expected = plain_bayes(values[columns], mean[columns], variance[columns], after[i], prior)
        np.testing.assert_array_equal(predicted[i], expected)
    bayes_votes(known, np.append(own, own[4:]), 7, 0.1, after, prior, -1.0, 1e-10, predicted)
    for i in range(3):
        columns = np.delete(own, 4 + i)
        expected = plain_bayes(values[columns], mean[columns], variance[columns], after[i], prior)
        np.testing.assert_array_equal(predicted[i], expected)
    # Two classes that are alike cannot be told apart, nor can what is not a number.
    known[:, 9:] = np.hstack((mean[:, :1], mean[:, :1], mean[:, :1], variance[:, :1], variance[:, :1], variance[:, :1]))
    known[6, 9:] = np.nan
    bayes_votes(known, np.array([0, 1, 5, 6]), 1, 0.1, after, np.zeros(3), 1.0, 1e-10, predicted)
    assert (predicted == -1).all()


def test_kernels_declare_the_types_they_are_called_with() -> None:
    kernels = {k.__name__: k for k in all_kernels()}
    X, y, Z = drawn()
    for model in (KNN(3), GaussianNB()):
        check(model, X, y, Z, [1, 2, 3])
        check(model, X, y, Z, [1, 2, 3], sp.csc_array)
    evaluator_of(KNNRegressor(3), X, y + 0.5, Z).add(np.array([1]), np.array([2, 3]))
    for name in ("add_squares", "nearest_votes", "nearest_means", "bayes_votes"):
        kernels[name].warm()
        assert len(kernels[name]._ready) == len(kernels[name].signatures)


@pytest.mark.parametrize("distribution", ["gaussian", "bernoulli", "poisson", "states"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_naive_bayes_of_all_kinds_adds_up(distribution, n_classes) -> None:
    rng = np.random.default_rng(3)
    y = np.arange(60) % n_classes
    X = rng.poisson(1 + y[:, None] * (np.arange(6) % 3 == 0), size=(60, 6)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = 2.0
    model = NaiveBayes(distribution, bins="values")
    evaluator = evaluator_for(model)(model, X[:40], y[:40], X[40:])
    for columns in ([], [0], [0, 3, 5]):
        outside = np.setdiff1d(np.arange(6), columns)
        found = evaluator.add(np.array(columns, dtype=int), outside)
        for j, own in zip(outside, found, strict=True):
            some = [*columns, j]
            np.testing.assert_array_equal(own, model.fit(X[:40][:, some], y[:40]).predict(X[40:][:, some]))
        if len(columns) > 1:
            found = evaluator.remove(np.array(columns), np.array(columns))
            for j, own in zip(columns, found, strict=True):
                some = [one for one in columns if one != j]
                np.testing.assert_array_equal(own, model.fit(X[:40][:, some], y[:40]).predict(X[40:][:, some]))


def test_naive_bayes_is_refitted_where_columns_depend_on_each_other() -> None:
    y = np.arange(20) % 2
    model = NaiveBayes("multinomial")
    assert evaluator_for(model)(model, np.ones((20, 3)), y, np.ones((5, 3))) is None


@pytest.mark.parametrize(
    "model", [NaiveBayes("states"), NaiveBayes(), C45(), KNN(3), SSVTree(random_state=0)], ids=lambda m: m.part.name
)
def test_wrappers_take_nominal_columns_as_the_classifier_does(model) -> None:
    """Scores of sets of nominal and numeric columns are those of fits on the data frame itself."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    words = np.array(["red", "green", "blue", "grey"], dtype=object)
    frame = pl.DataFrame(
        {
            "noise": words[rng.integers(0, 4, 60)],
            "size": y + rng.normal(size=60),
            "colour": words[np.where(rng.random(60) < 0.3, 3, y)],
            "width": rng.normal(size=60),
        }
    )
    found = BestFirst("classifier", estimator=model, cv=3, random_state=0, patience=2).fit(frame, y)
    assert {"size", "colour"} & set(found.get_feature_names_out())
    measure = found._measured(*found._begin(frame, y), 7)
    sets = rng.random((12, 4)) < 0.5
    sets[0] = True
    scores = measure.many(sets)
    parts = [(fold.train, fold.test) for fold in measure.score.folds]
    for one, score in zip(sets, scores, strict=True):
        some = frame.select([name for name, there in zip(frame.columns, one, strict=True) if there])
        if not one.any():
            continue
        right = [
            np.mean(clone(model).fit(some[train], y[train]).predict(some[test]) == y[test]) for train, test in parts
        ]
        assert score == pytest.approx(np.mean(right), abs=1e-12)
