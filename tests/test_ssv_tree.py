"""The SSV tree as classifier and as selector, against explicit loops and the printed algorithm."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.model_selection import StratifiedKFold

from planted import planted
from ssv_oracle import path, rows_of_nodes
from tamis.base.cut import NothingPasses
from tamis.base.errors import DataError, TamisError
from tamis.base.seeds import generator
from tamis.classify import SSVTree
from tamis.select import SSVTreeSelector
from tamis.trees.split import CRITERIA

NAN = float("nan")


@st.composite
def problems(draw, missing=True):
    n, p = draw(st.integers(2, 24)), draw(st.integers(1, 4))
    values = [0.0, 0.0, 1.0, 2.0, 3.0, -1.5] + [NAN] * missing
    X = draw(hnp.arrays(np.float64, (n, p), elements=st.sampled_from(values)))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, draw(st.integers(1, 3)))))
    assume(np.unique(y).size > 1)
    return X, y


class Node:
    """A node with its subnodes and the training rows that fall into it."""

    def __init__(self, tree, X, y, priors, number=0, passed=None):
        passed = rows_of_nodes(tree, X) if passed is None else passed
        counted = np.bincount(y[passed[number]], minlength=priors.size) * priors
        self.errors = counted.sum() - counted.max()
        self.answer = int(np.argmax(counted))
        self.feature = int(tree.feature[number])
        children = [] if self.feature < 0 else [int(tree.left[number]), int(tree.right[number])]
        self.subnodes = [Node(tree, X, y, priors, child, passed) for child in children]

    @property
    def gain(self):
        return self.errors - sum(node.errors for node in self.subnodes)

    def splits(self):
        """All nodes below and at this one that are split."""
        found = [self] if self.subnodes else []
        return found + [node for below in self.subnodes for node in below.splits()]

    def final(self):
        """The splits whose subnodes are leaves."""
        return [node for node in self.splits() if not any(below.subnodes for below in node.subnodes)]


def priors_of(y, n_classes, criterion):
    return np.ones(n_classes) if criterion == "ssv" else len(y) / (n_classes * np.bincount(y, minlength=n_classes))


# The classifier.


@given(problems(), st.sampled_from(CRITERIA))
def test_a_full_tree_answers_consistent_rows_rightly(problem, criterion):
    X, y = problem
    _, first = np.unique(np.nan_to_num(X, nan=0.0), axis=0, return_index=True)
    X, y = np.nan_to_num(X[first], nan=0.0), y[first]
    assume(np.unique(y).size > 1)
    model = SSVTree(criterion, prune=None).fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.prune_ == -np.inf


@given(problems(), st.sampled_from(CRITERIA), st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5]))
def test_pruning_deletes_final_splits_one_by_one(problem, criterion, degree):
    X, y = problem
    y = np.unique(y, return_inverse=True)[1]
    full, model = (SSVTree(criterion, prune=d).fit(X, y) for d in (None, degree))
    root = Node(full.tree_, X, y, priors_of(y, y.max() + 1, criterion))
    while doomed := [node for node in root.final() if node.gain <= degree + 1e-9]:
        doomed[0].subnodes = []
    kept = sorted(node.feature for node in root.splits())
    assert sorted(model.tree_.feature[~model.tree_.is_leaf]) == kept


@given(problems(), st.sampled_from(CRITERIA), st.sampled_from([None, 1]))
def test_probabilities_are_the_shares_in_the_leaf(problem, criterion, prune):
    X, y = problem
    y = np.unique(y, return_inverse=True)[1]
    model = SSVTree(criterion, prune=prune).fit(X, y)
    passed = rows_of_nodes(model.tree_, X)
    priors = priors_of(y, y.max() + 1, criterion)
    for row, found in zip(X, model.predict_proba(X), strict=True):
        counted = np.bincount(y[passed[list(path(model.tree_, row))[-1]]], minlength=priors.size) * priors
        np.testing.assert_allclose(found, counted / counted.sum())


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("caution", [0.0, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_auto_equals_a_loop_over_degrees_and_folds(criterion, caution, seed):
    X, y = planted(seed, rows=90, columns=9)
    y = np.where(generator(seed).random(90) < 0.2, 2, y)
    model = SSVTree(criterion, cv=5, caution=caution, random_state=seed).fit(X, y)
    splitter = StratifiedKFold(5, shuffle=True, random_state=int(generator(seed).integers(2**31)))
    # Rows are dealt in the order of their length.
    order = np.argsort(np.linalg.norm(X, axis=1), kind="stable")
    accuracy = []
    for train, test in ((np.sort(order[a]), np.sort(order[b])) for a, b in splitter.split(X[order], y[order])):
        weight = np.ones(y.size) if criterion == "ssv" else 1 / np.bincount(y[train])[y]
        degrees = [d if d == -np.inf else d * train.size / y.size for d in model.degrees_]
        trees = [SSVTree(criterion, prune=None if d == -np.inf else d).fit(X[train], y[train]) for d in degrees]
        accuracy.append([tree.score(X[test], y[test], sample_weight=weight[test]) for tree in trees])
    np.testing.assert_allclose(model.cv_accuracy_, np.mean(accuracy, axis=0))
    worth = np.mean(accuracy, axis=0) - caution * np.std(accuracy, axis=0, ddof=1)
    best = np.flatnonzero(worth > worth.max() - 1e-12)[0]
    assert model.prune_ == model.degrees_[best]
    assert len(model.degrees_) > 2
    assert (np.diff(model.degrees_) < 0).all()
    again = SSVTree(criterion, prune=None if best == len(worth) - 1 else model.prune_).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_auto_prunes_noise_and_keeps_a_signal():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 10))
    X[:, 4] += 4 * y
    model = SSVTree(random_state=0).fit(X, y)
    assert 4 in model.tree_.feature
    full = SSVTree(prune=None).fit(X, y)
    assert model.tree_.feature.size < full.tree_.feature.size
    assert model.cv_accuracy_[model.degrees_ == model.prune_] >= model.cv_accuracy_[-1]


@given(problems(missing=False), st.data())
def test_weights_count_as_repeated_rows(problem, data):
    X, y = problem
    weight = data.draw(hnp.arrays(np.int64, y.size, elements=st.integers(0, 3)))
    assume(np.unique(y[weight > 0]).size == np.unique(y).size)
    weighted = SSVTree(prune=1).fit(X, y, sample_weight=weight)
    repeated = SSVTree(prune=1).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


@given(problems(), st.sampled_from(CRITERIA))
def test_sparse_trees_equal_dense_ones(problem, criterion):
    X, y = problem
    dense = SSVTree(criterion, prune=None).fit(X, y)
    for layout in (sp.csr_array(X), sp.csc_matrix(X)):
        sparse = SSVTree(criterion, prune=None).fit(layout, y)
        for name in ("feature", "split", "left", "right", "missing_left", "weight"):
            np.testing.assert_array_equal(getattr(sparse.tree_, name), getattr(dense.tree_, name))
        np.testing.assert_array_equal(sparse.predict_proba(layout), dense.predict_proba(X))
        np.testing.assert_array_equal(sparse.holes_, np.isnan(X).any(axis=0))


def mixed(n=120, seed=0):
    """Class 1 is what is green or red and of size 3 or more; some values are missing."""
    rng = np.random.default_rng(seed)
    colour = np.array(["red", "green", "blue", "grey", "black"])[rng.integers(0, 5, n)]
    size = rng.integers(0, 7, n).astype(float)
    y = np.where(np.isin(colour, ["red", "green"]) & (size >= 3), "in", "out")
    return {"noise": rng.normal(size=n), "colour": colour.tolist(), "size": size.tolist()}, y


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_nominal_columns_as_they_are(frame):
    columns, y = mixed()
    model = SSVTree(prune=0).fit(frame(columns), y)
    assert (model.predict(frame(columns)) == y).all()
    assert set(model.tree_.feature) == {-1, 1, 2}
    assert len(model.rules()) == 3
    new = {"noise": [0.0] * 3, "colour": ["red", "red", "blue"], "size": [5.0, 2.0, 5.0]}
    assert model.predict(frame(new)).tolist() == ["in", "out", "out"]


def test_missing_numbers_go_to_the_heavier_side_and_new_levels_to_the_left():
    columns, y = mixed()
    for place in range(0, 120, 7):
        columns["colour"][place] = None
        columns["size"][(place + 3) % 120] = None
    X = pl.DataFrame(columns)
    model = SSVTree(prune=None).fit(X, y)
    coded = model._read(X, reset=False)
    passed = rows_of_nodes(model.tree_, coded)
    np.testing.assert_array_equal(model.tree_.weight.sum(axis=1), [len(rows) for rows in passed])
    for node in np.flatnonzero(~model.tree_.is_leaf & ~np.isnan(model.tree_.split)):
        known = [i for i in passed[node] if not np.isnan(coded[i, model.tree_.feature[node]])]
        left = len(set(known) & set(passed[model.tree_.left[node]]))
        assert bool(model.tree_.missing_left[node]) == (left >= len(known) - left)
    new = model._read(X.head(1).with_columns(colour=pl.lit("violet")), reset=False)
    for node in path(model.tree_, new[0]):
        if model.tree_.feature[node] == 0 and np.isnan(model.tree_.split[node]):
            assert model.tree_.left[node] in path(model.tree_, new[0])


def test_a_missing_name_is_a_level_of_its_own():
    X = pl.DataFrame({"colour": ["red", None, "blue", None, "red", "blue"], "size": [1.0, 2, 3, 4, 5, 6]})
    model = SSVTree(prune=None).fit(X, [0, 1, 0, 1, 0, 0])
    assert [str(rule) for rule in model.rules()] == [
        "IF colour is not missing THEN 0  (4 rows)",
        "IF colour is missing THEN 1  (2 rows)",
    ]


def test_depth_is_held():
    X, y = planted(1)
    for depth in (1, 2, 3):
        tree = SSVTree(prune=None, max_depth=depth).fit(X, y).tree_
        longest = max(len(list(path(tree, row))) - 1 for row in X)
        assert longest == depth
        assert tree.is_leaf.sum() <= 2**depth


def test_balanced_error_heeds_a_rare_class():
    rng = np.random.default_rng(2)
    y = (np.arange(400) < 12).astype(int)
    X = np.column_stack([y + rng.normal(scale=0.45, size=400), rng.normal(size=400)])
    found = {c: SSVTree(c, max_depth=1, prune=None).fit(X, y).predict(X) for c in CRITERIA}
    assert found["balanced_error"][y == 1].mean() > 0.8
    assert found["balanced_error"][y == 1].mean() > found["ssv"][y == 1].mean()


@pytest.mark.parametrize(
    "parameters", [{"prune": -1.0}, {"prune": "cv"}, {"criterion": "gini"}, {"max_depth": 0}, {"cv": 1}]
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}'"):
        SSVTree(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_bad_data():
    with pytest.raises(ValueError, match="infinity"):
        SSVTree().fit([[1.0], [np.inf], [2.0]], [0, 1, 0])
    with pytest.raises(TamisError, match="one class"):
        SSVTree().fit(np.eye(3), [1, 1, 1])
    with pytest.raises(TamisError, match='prune="auto" needs a class with at least two rows'):
        SSVTree().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(DataError, match="infinity"):
        SSVTree().fit(pl.DataFrame({"a": [1.0, np.inf], "b": ["x", "y"]}), [0, 1])


def test_columns_that_say_nothing_leave_one_leaf():
    model = SSVTree(prune=None).fit(np.column_stack([np.full(5, 3.0), np.full(5, NAN)]), [0, 1, 1, 1, 0])
    assert model.tree_.feature.tolist() == [-1]
    np.testing.assert_allclose(model.predict_proba([[0.0, 0.0]]), [[0.4, 0.6]])


# The selector.


def algorithm_1(root, n_features, *, literal=False):
    """Grabczewski and Jankowski's Algorithm 1, line by line; step c as long as it applies, or once."""
    rank = {}
    features = set(range(n_features))
    i = 0
    while features:
        used = {node.feature for node in root.splits()}
        for f in features - used:
            rank[f] = i
        features &= used
        final = root.final()
        for node in [n for n in final if n.gain <= min(m.gain for m in final) + 1e-9]:
            node.subnodes = []
        while idle := [node for node in root.final() if node.gain <= 1e-9]:
            for node in idle:
                node.subnodes = []
            if literal:
                break
        i += 1
    return [rank[f] for f in range(n_features)]


@given(problems(), st.sampled_from(CRITERIA), st.booleans())
def test_ranks_equal_algorithm_1_on_an_explicit_tree(problem, criterion, literal):
    X, y = problem
    y = np.unique(y, return_inverse=True)[1]
    found = SSVTreeSelector(criterion=criterion, at_least=0, literal=literal).fit(X, y)
    root = Node(found.tree_, X, y, priors_of(y, y.max() + 1, criterion))
    assert found.scores_.tolist() == algorithm_1(root, X.shape[1], literal=literal)


def test_step_c_to_the_letter_spreads_the_ranks():
    X, y = planted(0, rows=300, columns=30)
    found, literal = (SSVTreeSelector(literal=one).fit(X, y) for one in (False, True))
    root = Node(literal.tree_, X, y, np.ones(2))
    assert literal.scores_.tolist() == algorithm_1(root, 30, literal=True)
    assert literal.scores_.max() > found.scores_.max()
    np.testing.assert_array_equal(literal.get_support(), found.get_support())


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ranks_of_large_trees_equal_algorithm_1(seed):
    X, y = planted(seed, rows=300, columns=30)
    found = SSVTreeSelector().fit(X, y)
    root = Node(found.tree_, X, y, np.ones(2))
    assert len(root.splits()) > 20
    assert found.scores_.tolist() == algorithm_1(root, 30)
    assert found.scores_.max() > 3


def test_rank_0_is_for_unused_features():
    X, y = planted(4)
    found = SSVTreeSelector().fit(X, y)
    used = np.unique(found.tree_.feature[~found.tree_.is_leaf])
    np.testing.assert_array_equal(np.flatnonzero(found.scores_), used)
    np.testing.assert_array_equal(found.get_support(indices=True), used)


def test_k_keeps_the_best_and_none_of_rank_0():
    X, y = planted(4)
    everything = SSVTreeSelector().fit(X, y)
    for k in (1, 2, 3, 40):
        found = SSVTreeSelector(k).fit(X, y)
        assert found.get_support().sum() == min(k, (everything.scores_ > 0).sum())
        assert found.scores_[found.get_support()].min() >= np.sort(everything.scores_)[-k:].min()
        assert (found.scores_[found.get_support()] > 0).all()


def test_planted_features_are_kept():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 50))
    y = (X[:, 11] > 0).astype(int) + 2 * (X[:, 30] > 0.5)
    assert SSVTreeSelector().fit(X, y).get_support(indices=True).tolist() == [11, 30]


@given(problems(), st.sampled_from(CRITERIA))
def test_sparse_ranks_equal_dense_ones(problem, criterion):
    X, y = problem
    dense = SSVTreeSelector(criterion=criterion, at_least=0).fit(X, y)
    for layout in (sp.csr_array(X), sp.csc_matrix(X)):
        sparse = SSVTreeSelector(criterion=criterion, at_least=0).fit(layout, y)
        np.testing.assert_array_equal(sparse.scores_, dense.scores_)


def test_the_selector_takes_nominal_columns_and_says_when_nothing_is_used():
    columns, y = mixed()
    found = SSVTreeSelector().fit(pl.DataFrame(columns), y)
    assert found.get_feature_names_out().tolist() == ["colour", "size"]
    with pytest.warns(NothingPasses):
        found = SSVTreeSelector().fit(np.ones((4, 3)), [0, 1, 0, 1])
    assert found.scores_.tolist() == [0, 0, 0]
    assert found.get_support().sum() == 1
