"""Regression trees, forests and boosting against scikit-learn, and the pruning of a tree against brute force."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesRegressor as PeerExtra
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import KFold, cross_val_score
from sklearn.tree import DecisionTreeRegressor

import tamis
from tamis.base.errors import TamisError
from tamis.base.meta_estimators import library_seed
from tamis.base.shared_fit import Together
from tamis.base.validation import few_digits
from tamis.regress import BoostRegressor, ExtraTreesRegressor, ForestRegressor, TreeRegressor
from tamis.trees.cost_complexity import leaf_penalties, nodes_shown


def problem(rows: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6))
    return X, 700 + 50 * (2 * (X[:, 0] > 0) + X[:, 1] ** 2 + 0.3 * rng.normal(size=rows))


@pytest.mark.parametrize(
    ("model", "peer"),
    [
        (ForestRegressor(15, random_state=3), RandomForestRegressor(15, max_features=0.3)),
        (ExtraTreesRegressor(15, max_features=1.0, random_state=3), PeerExtra(15, max_features=1.0)),
        (BoostRegressor(15, random_state=3), HistGradientBoostingRegressor(max_iter=15, min_samples_leaf=15)),
        (TreeRegressor(prune=None, random_state=3), DecisionTreeRegressor()),
    ],
    ids=["forest", "extra_trees", "boost", "tree"],
)
def test_it_is_what_scikit_learn_fits(model, peer):
    X, y = problem()
    z, zero, unit = few_digits(y, None)
    Z = np.random.default_rng(1).normal(size=(60, 6))
    if hasattr(peer, "max_bins"):
        peer.set_params(max_bins=120, early_stopping=False)
    peer.set_params(random_state=library_seed(3)).fit(X, z)
    np.testing.assert_allclose(model.fit(X, y).predict(Z), zero + unit * peer.predict(Z))
    # The target in other units changes little: equal splits alone may be chosen otherwise.
    assert np.corrcoef(peer.fit(X, y).predict(Z), model.predict(Z))[0, 1] > 0.9


def test_a_target_keeps_seven_digits_and_whole_numbers_all():
    rng = np.random.default_rng(0)
    for y in (rng.normal(size=50), 1e9 + rng.normal(size=50), 1e-9 * rng.normal(size=50), rng.normal(size=50) * 1e200):
        z, zero, unit = few_digits(y, None)
        assert np.abs(z).max() < 16
        np.testing.assert_allclose(zero + unit * z, y, atol=2e-7 * y.std() if y.max() < 1e100 else 1e194)
    whole = rng.integers(0, 9, 50).astype(float)
    z, zero, unit = few_digits(whole, None)
    np.testing.assert_array_equal(zero + unit * z, whole)


def trees_below(left, right, node):
    """Every way to cut branches off below a node: its leaves."""
    yield (node,)
    if left[node] >= 0:
        for some, others in product(trees_below(left, right, left[node]), trees_below(left, right, right[node])):
            yield some + others


@pytest.mark.parametrize("seed", range(5))
def test_pruning_leaves_the_cheapest_tree(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    nodes = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(X, y).tree_
    left, right, risk = nodes.children_left, nodes.children_right, nodes.impurity * nodes.weighted_n_node_samples
    penalties = leaf_penalties(left, right, risk)
    every = list(trees_below(left, right, 0))
    tried = np.array([1e-6, *np.unique(penalties[left >= 0]) * 1.001])
    shown = nodes_shown(left, right, penalties, tried)
    leaves = np.flatnonzero(left < 0)
    for place, cost in enumerate(tried):
        mine = set(shown[leaves, place].tolist())
        best = min(every, key=lambda tree, cost=cost: (risk[list(tree)].sum() + cost * len(tree), len(tree)))
        assert mine == set(map(int, best))


@pytest.mark.parametrize("seed", range(3))
def test_the_costs_are_those_of_scikit_learn(seed):
    X, y = problem(seed=seed)
    tree = DecisionTreeRegressor(random_state=0).fit(X, few_digits(y, None)[0])
    nodes = tree.tree_
    mine = leaf_penalties(nodes.children_left, nodes.children_right, nodes.impurity * nodes.weighted_n_node_samples)
    theirs = tree.cost_complexity_pruning_path(X, few_digits(y, None)[0]).ccp_alphas[1:] * len(y)
    np.testing.assert_allclose(np.unique(mine[np.isfinite(mine)].round(9)), np.unique(theirs.round(9)), atol=1e-8)


def test_pruning_by_cross_validation_keeps_what_predicts():
    X, y = problem(300)
    full = TreeRegressor(prune=None, random_state=0).fit(X, y)
    pruned = TreeRegressor(random_state=0).fit(X, y)
    assert 3 < pruned.model_.get_n_leaves() < full.model_.get_n_leaves() / 2
    Z, z = problem(300, seed=1)
    assert pruned.score(Z, z) > full.score(Z, z)
    assert pruned.used_[:2].all()
    noise = TreeRegressor(random_state=0).fit(X, np.random.default_rng(5).normal(size=300))
    assert noise.model_.get_n_leaves() <= 3


def test_the_folds_try_the_trees_that_refits_would_be():
    X, y = problem(80)
    model = TreeRegressor(random_state=0, cv=4).fit(X, y)
    # A cost beyond all others leaves one leaf, which predicts the mean.
    assert model.costs_[0] == np.inf
    assert abs(model.cv_r2_[0]) < 0.1
    assert model.costs_[model.cv_r2_.argmax()] == model.prune_
    refit = TreeRegressor(prune=model.prune_, random_state=0).fit(X, y)
    np.testing.assert_array_equal(refit.predict(X), model.predict(X))


def test_one_tree_serves_every_cost():
    X, y = problem()
    models = [TreeRegressor(prune=prune, random_state=0) for prune in (None, 0.0, 0.5, 5.0, np.inf, "auto")]
    leaves = []
    for alone, shared in zip(models, Together(models, X, y), strict=True):
        np.testing.assert_array_equal(shared.predict(X), alone.fit(X, y).predict(X))
        leaves.append(shared.model_.get_n_leaves())
    assert leaves[:5] == sorted(leaves[:5], reverse=True)
    assert leaves[4] == 1


@pytest.mark.parametrize("library", ["sklearn", "lightgbm"])
def test_boosting_learns_from_few_rows(library):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(38, 20))
    y = 100 * (X[:, 0] > 0) + 10 * rng.normal(size=38)
    model = BoostRegressor(library=library).fit(X, y)
    assert model.min_samples_leaf_ == 4
    assert model.used_[0]
    assert model.feature_importances_.argmax() == 0
    np.testing.assert_allclose(model.feature_importances_.sum(), 1)
    folds = KFold(5, shuffle=True, random_state=0)
    assert cross_val_score(BoostRegressor(library=library), X, y, cv=folds).mean() > 0.5
    assert BoostRegressor(library=library).fit(X[:2], y[:2]).min_samples_leaf_ == 1


def test_sparse_rows_with_missing_values_are_refused():
    X, y = problem()
    X[0, 0] = np.nan
    for model in (ForestRegressor(5), ExtraTreesRegressor(5), TreeRegressor()):
        assert np.isfinite(model.fit(X, y).predict(X)).all()
        with pytest.raises(TamisError, match="missing values in dense data only"):
            model.fit(sp.csr_array(X), y)
    with pytest.raises(TamisError, match="takes no sparse data"):
        BoostRegressor().fit(sp.csr_array(np.nan_to_num(X)), y)


def test_diabetes(shared_data, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    data = tamis.load("diabetes_lars")
    folds = KFold(5, shuffle=True, random_state=0)
    for model, least in (
        (ForestRegressor(100, random_state=0), 0.38),
        (ExtraTreesRegressor(100, random_state=0), 0.38),
    ):
        assert cross_val_score(model, data.X, data.y, cv=folds).mean() > least
    assert cross_val_score(TreeRegressor(random_state=0), data.X, data.y, cv=folds).mean() > 0.2
