"""The multilayer perceptron is scikit-learn's; its weights, warnings and refusals; importance by it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.neural_network import MLPRegressor as Network

import tamis
from tamis.base.errors import TamisError
from tamis.base.seeds import generator, spawn
from tamis.base.validation import few_digits
from tamis.classify import MLP
from tamis.margins import perceptron
from tamis.regress import MLPRegressor
from tamis.select import Importance

SEED = int(generator(3).integers(2**31))


def problem(rows=90, columns=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.8)
    return X, (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0).astype(int)


def bare(cls, sizes, alpha):
    options = {"tol": 1e-4, "max_iter": 1_000, "max_fun": 10_000, "random_state": SEED}
    return cls(hidden_layer_sizes=sizes, activation="tanh", solver="lbfgs", alpha=alpha, **options)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("sizes", "layers"), [(5, (5,)), ([4, 3], (4, 3))])
def test_probabilities_are_those_of_scikit_learn(classes, sizes, layers):
    X, y = problem()
    y = y + (classes == 3) * (X[:, 3] > 1)
    expected = bare(MLPClassifier, layers, 0.5).fit(X, y).predict_proba(X)
    words = np.array(["a", "b", "c"])[y]
    model = MLP(sizes, alpha=0.5, random_state=3).fit(X, words)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)
    assert model.n_iter_ > 1
    for form in (sp.csr_array, sp.csc_matrix):
        np.testing.assert_allclose(model.fit(form(X), words).predict_proba(form(X)), expected, rtol=1e-9)


def test_numbers_are_those_of_scikit_learn():
    X, _ = problem()
    y = 100.0 + 7.0 * X[:, 0] * X[:, 1]
    target, zero, unit = few_digits(y, None)
    expected = zero + unit * bare(Network, (5,), 0.5).fit(X, target).predict(X)
    model = MLPRegressor(5, alpha=0.5, random_state=3).fit(X, y)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9)
    np.testing.assert_allclose(model.fit(sp.csr_array(X), y).predict(sp.csr_array(X)), expected, rtol=1e-9)
    assert model.score(X, y) > 0.5


def test_balanced_classes_weigh_the_same():
    X, y = problem()
    few = np.flatnonzero((y == 1) | (np.arange(y.size) % 4 == 0))
    X, y = X[few], y[few]
    weight = y.size / (2 * np.bincount(y)[y])
    balanced = MLP(3, class_weight="balanced", random_state=0).fit(X, y)
    weighted = MLP(3, random_state=0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(balanced.predict_proba(X), weighted.predict_proba(X), rtol=1e-6)
    assert not np.allclose(balanced.predict_proba(X), MLP(3, random_state=0).fit(X, y).predict_proba(X), rtol=1e-3)


def test_backpropagation_is_scikit_learns():
    X, y = problem()
    y = y + (X[:, 3] > 1)
    options = {"activation": "logistic", "solver": "sgd", "learning_rate_init": 0.2, "max_iter": 8}
    expected = MLPClassifier((9,), alpha=0.01, random_state=SEED, **options)
    model = MLP(units_per_class=3, activation="logistic", alpha=0.01, solver="sgd", learning_rate=0.2, max_iter=8)
    with pytest.warns(ConvergenceWarning):
        expected.fit(X, y)
    with pytest.warns(ConvergenceWarning, match="mlp is not settled after 8 steps"):
        model.set_params(random_state=3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_several_trainings_the_best_on_the_training_rows_is_taken(weighted):
    X, y = problem()
    weight = np.random.default_rng(0).integers(1, 4, y.size).astype(float) if weighted else None
    given = {} if weight is None else {"sample_weight": weight}
    model = MLP(2, alpha=0.01, trainings=6, random_state=5).fit(X, y, **given)
    seed = int(generator(5).integers(2**31))
    alone = [MLP(2, alpha=0.01, random_state=spawn(seed, number)).fit(X, y, **given) for number in range(6)]
    scores = [one.score(X, y, **given) for one in alone]
    assert len(set(scores)) > 2
    np.testing.assert_array_equal(model.predict_proba(X), alone[int(np.argmax(scores))].predict_proba(X))
    assert model.n_iter_ == alone[int(np.argmax(scores))].n_iter_


def test_a_seed_decides_and_float32_is_widened():
    X, y = problem()
    first = MLP(5, random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(MLP(5, random_state=0).fit(X, y).predict_proba(X), first)
    assert not np.array_equal(MLP(5, random_state=1).fit(X, y).predict_proba(X), first)
    single = X.astype(np.float32)
    model = MLP(5, random_state=0).fit(single, y)
    expected = MLP(5, random_state=0).fit(single.astype(np.float64), y).predict_proba(single.astype(np.float64))
    np.testing.assert_array_equal(model.predict_proba(single), expected)


def test_it_warns_where_training_stops_early():
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="mlp is not settled after 3 steps; standardize, raise alpha or max_it"):
        MLP(max_iter=3, random_state=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="mlp is not settled"):
        MLPRegressor(max_iter=3, random_state=0).fit(X, X[:, 0])


@pytest.mark.parametrize("sizes", [[], [3, 0], [2.5], ["a"]])
def test_layers_are_numbers_of_units(sizes):
    X, y = problem()
    with pytest.raises(TamisError, match="'hidden_layer_sizes' of mlp takes numbers of units of 1 or more, one a la"):
        MLP(sizes).fit(X, y)


def test_large_sparse_data_stays_sparse(monkeypatch):
    X, y = problem()
    expected = MLP(4, random_state=0).fit(X, y).predict_proba(X)
    monkeypatch.setattr(perceptron, "_FEW", 100)
    found = MLP(4, random_state=0).fit(sp.csr_array(X), y).predict_proba(sp.csr_array(X))
    np.testing.assert_allclose(found, expected, atol=0.02)
    assert (found != expected).any()


def test_importance_by_a_perceptron_finds_the_columns_of_a_product():
    X, y = problem(300, 12)
    found = Importance(MLP(6), 3, values=10, rows=100, random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.get_support(indices=True), [0, 1, 2])


def test_recipes_of_both_tasks():
    X, y = problem(200)
    found = tamis.validate("standardize | mlp([6, 3], alpha=0.3)", X, y, folds=3, seed=0)
    assert found.estimates["ber"].mean < 0.25
    numbers = tamis.validate("standardize | mlp(6)", X, X[:, 0] * X[:, 1], folds=3, seed=0)
    assert numbers.estimates["r2"].mean > 0.5
