"""Nearest neighbours, committees and blends of numbers against scikit-learn and explicit loops."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import used_features
from tamis.base.inner_cv import inner_folds
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.shared_fit import Together
from tamis.compose.catalog import entry
from tamis.compose.recipe import recipe, to_text
from tamis.regress import BlendRegressor, CommitteeRegressor, ForestRegressor, KNNRegressor, Lasso, Ridge
from tamis.transform import Standardize


def problem(rows: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5))
    return X, 20 + 3 * X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=rows)


# Nearest neighbours.


@pytest.mark.parametrize("metric", ["minkowski", "chebyshev", "canberra"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("k", [1, 4])
def test_neighbours_are_those_of_scikit_learn(metric, form, k):
    X, y = problem()
    Z = np.random.default_rng(1).normal(size=(30, 5))
    peer = KNeighborsRegressor(k, metric=metric, algorithm="brute").fit(X, y)
    np.testing.assert_allclose(KNNRegressor(k, metric=metric).fit(form(X), y).predict(form(Z)), peer.predict(Z))


def test_one_search_serves_every_number_of_neighbours():
    X, y = problem()
    models = [KNNRegressor(k, random_state=0) for k in (1, 7, 500, "auto")]
    together = list(Together(models, X, y))
    shared = KNNRegressor._predict_all(together, X)
    for alone, fitted, predicted in zip(models, together, shared, strict=True):
        expected = alone.fit(X, y).predict(X)
        np.testing.assert_array_equal(fitted.predict(X), expected)
        np.testing.assert_array_equal(predicted, expected)


def test_the_number_of_neighbours_is_the_best_of_the_folds():
    X, y = problem()
    model = KNNRegressor("auto", cv=5, max_neighbors=12, random_state=3).fit(X, y)
    errors = np.zeros((5, 12))
    z = (y - y.mean()) / y.std()
    for fold, (train, test) in enumerate(inner_folds(z, 5, 3, "k")):
        for k in range(1, 13):
            peer = KNeighborsRegressor(k).fit(X[train], z[train])
            errors[fold, k - 1] = np.mean((z[test] - peer.predict(X[test])) ** 2)
    np.testing.assert_allclose(model.cv_r2_, 1 - errors.mean(axis=0))
    assert model.n_neighbors_ == errors.mean(axis=0).argmin() + 1


def test_symbols_are_as_far_apart_as_their_mean_targets():
    colours = ["red"] * 4 + ["blue"] * 4 + ["green"] * 4
    frame = pl.DataFrame({"colour": colours, "size": np.tile([0.0, 1.0, 2.0, 3.0], 3)})
    y = np.array([10.0] * 4 + [11.0] * 4 + [30.0] * 4)
    new = pl.DataFrame({"colour": ["red", "green", "yellow"], "size": [1.4, 1.4, 1.4]})
    # Red is next to blue, 1/20 of the range of the means apart; what is not known has the mean of all, nearer to blue.
    np.testing.assert_allclose(KNNRegressor(2).fit(frame, y).predict(new), [10.5, 30.0, 11.0])
    np.testing.assert_allclose(KNNRegressor(2, symbols="overlap").fit(frame, y).predict(new)[:2], [10.0, 30.0])


def test_folds_are_stratified_by_the_size_of_the_target():
    y = np.random.default_rng(0).permutation(60).astype(float)
    for _, test in inner_folds(y, 6, 0, "k"):
        # Every fold tests one of each six rows that follow each other.
        np.testing.assert_array_equal(np.sort(y[test] // 6), np.arange(10))
    with pytest.raises(TamisError, match="at least two rows"):
        inner_folds(np.ones(1), 5, 0, "k")


# Committees.


@pytest.mark.parametrize(
    "model",
    [Ridge(), make_pipeline(Standardize(), KNNRegressor(3)), ForestRegressor(3)],
    ids=["ridge", "chain", "random"],
)
def test_a_committee_is_the_mean_of_a_loop(model):
    X, y = problem()
    Z = np.random.default_rng(1).normal(size=(30, 5))
    found = CommitteeRegressor(5, model, random_state=3).fit(X, y)
    seed = int(generator(3).integers(2**31))
    predicted, errors = [], []
    for fold, (train, test) in enumerate(inner_folds(y, 5, seed, "committee")):
        member = seeded(clone(model), spawn(seed, fold)).fit(X[train], y[train])
        predicted.append(member.predict(Z))
        errors.append(np.sqrt(np.mean((y[test] - member.predict(X[test])) ** 2)))
    np.testing.assert_allclose(found.predict(Z), np.mean(predicted, axis=0))
    np.testing.assert_allclose(found.cv_rmse_, errors)
    np.testing.assert_allclose(found.cv_estimate_["rmse"]["mean"], np.mean(errors))


def test_a_committee_uses_the_columns_of_its_members():
    X, y = problem()
    found = CommitteeRegressor(3, Lasso(0.5), random_state=0).fit(X, y)
    expected = np.any([member.used_ for member in found.estimators_], axis=0)
    np.testing.assert_array_equal(used_features(found, 5), expected)
    assert not expected.all()


def test_frames_with_text_reach_the_members():
    X, y = problem()
    frame = pd.DataFrame(X, columns=list("abcde")).assign(colour=["red", "blue", "green"] * 30)
    for model in (CommitteeRegressor(3, KNNRegressor(3)), BlendRegressor([KNNRegressor(3), KNNRegressor(5)])):
        assert model.fit(frame, y).score(frame, y) > 0.3


# Blends.


def test_a_blend_is_the_weighted_mean_of_its_models():
    X, y = problem()
    Z = np.random.default_rng(1).normal(size=(30, 5))
    models = [Ridge(1.0), KNNRegressor(3), LinearRegression()]
    found = BlendRegressor(models, weights=[3, 1, 0], random_state=0).fit(X, y)
    assert len(found.estimators_) == 2
    expected = (3 * Ridge(1.0).fit(X, y).predict(Z) + KNNRegressor(3).fit(X, y).predict(Z)) / 4
    np.testing.assert_allclose(found.predict(Z), expected)
    even = BlendRegressor().fit(X, y).predict(Z)
    np.testing.assert_allclose(even, (Ridge().fit(X, y).predict(Z) + KNNRegressor().fit(X, y).predict(Z)) / 2)


def test_wrong_models_and_weights_are_refused():
    X, y = problem()
    with pytest.raises(TamisError, match=r"blend: model 2 must be a regressor; got DecisionTreeClassifier\(\)"):
        BlendRegressor([Ridge(), DecisionTreeClassifier()]).fit(X, y)
    with pytest.raises(TamisError, match="committee: estimator must be a regressor"):
        CommitteeRegressor(3, DecisionTreeClassifier()).fit(X, y)
    with pytest.raises(TamisError, match="blend needs at least one model"):
        BlendRegressor([]).fit(X, y)
    with pytest.raises(TamisError, match="blend: weights takes a number of zero or more for each of 2 models"):
        BlendRegressor([Ridge(), Ridge()], weights=[1, -1]).fit(X, y)


# Recipes.


@pytest.mark.parametrize(
    "text",
    [
        "ridge(1.0)",
        "knn(3, metric=chebyshev)",
        "committee(3, forest(5))",
        "blend(ridge, knn(3), weights=[2, 1])",
        "elastic_net(0.1, 0.9)",
        "svr(gaussian, C=10)",
        "tree(max_depth=3)",
        "boost(10)",
    ],
)
def test_a_recipe_builds_a_regressor_and_prints_again(text):
    X, y = problem()
    model = recipe(text, task="regress").fit(X, y)
    assert model.score(X, y) > 0.3
    assert recipe(to_text(model), task="regress").get_params().keys() == model.get_params().keys()
    assert to_text(recipe(to_text(model), task="regress")) == to_text(model)


@pytest.mark.parametrize(("word", "task", "other"), [("logistic", "regress", "ridge"), ("svr", "classify", "svm")])
def test_a_word_of_the_other_task_names_its_counterpart(word, task, other):
    with pytest.raises(TamisError, match=f"take {other}"):
        entry(word).serving(task)
