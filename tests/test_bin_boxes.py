"""Boxes of several columns, and the ordered single value of bins of many classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from tamis.base.errors import TamisError
from tamis.discretize import BinMeans, boxes, mean_bins, rectangles


def best_part(X, Y, weight, gain, least):
    """The least cost of all parts of the full greedy tree, by recursion over its nodes."""
    total = weight.sum()
    full = DecisionTreeRegressor(min_weight_fraction_leaf=least / total * (1 - 1e-9), random_state=0)
    nodes = full.fit(X, Y, sample_weight=weight).tree_

    def cost(node):
        # The mean squared error over the targets.
        leaf = nodes.impurity[node] * nodes.weighted_n_node_samples[node] * Y.shape[1] + gain
        left, right = nodes.children_left[node], nodes.children_right[node]
        return leaf if left < 0 else min(leaf, cost(left) + cost(right))

    return cost(0)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 3.0]), st.sampled_from([2, 5]), st.integers(1, 2))
@settings(max_examples=30)
def test_the_kept_part_of_the_greedy_tree_costs_least(seed, gain, least, targets):
    rng = np.random.default_rng(seed)
    X = rng.permuted(np.tile(np.arange(40.0), (3, 1)), axis=1).T
    Y = rng.normal(size=(40, targets)) + (X[:, :1] > 19) * (X[:, 1:2] > 9)
    weight = rng.integers(1, 3, 40).astype(float)
    found = boxes(X, Y, min_gain=gain, min_rows=least, sample_weight=weight)
    assert found.cost == pytest.approx(best_part(X, Y - Y.mean(axis=0), weight, gain, least), rel=1e-9)
    place = found.places(X)
    assert np.bincount(place, weights=weight, minlength=len(found.bounds)).min() >= least
    left = float(weight @ ((Y - found.values(X)) ** 2).sum(axis=1))
    assert left + gain * len(found.bounds) == pytest.approx(found.cost)
    # Anywhere there is exactly one box.
    points = rng.normal(20, 30, size=(200, 3))
    inside = (points[:, None] >= found.bounds[..., 0]) & (points[:, None] < found.bounds[..., 1])
    assert (inside.all(axis=2).sum(axis=1) == 1).all()


def test_a_planted_box_is_found_and_greedy_costs_no_less_than_exact():
    rng = np.random.default_rng(0)
    X = rng.random((3000, 4))
    inside = (X[:, 0] > 0.4) & (X[:, 1] < 0.6) & (X[:, 3] > 0.3)
    y = (rng.random(3000) < np.where(inside, 0.9, 0.1)).astype(float)
    found = boxes(X, y, min_gain=20.0)
    assert len(found.bounds) == 4
    assert np.abs(found.values(X) - np.where(inside, 0.9, 0.1)).mean() < 0.05
    grid = rng.integers(0, 6, (300, 2)).astype(float)
    z = ((grid[:, 0] > 2) ^ (grid[:, 1] > 1)) + 0.3 * rng.normal(size=300)
    greedy = boxes(grid, z)
    exact = rectangles(*grid.T, z)
    assert exact.all_lines
    assert greedy.cost >= exact.cost - 1e-9
    assert boxes(grid[:, :1], z).cost >= mean_bins(grid[:, 0], z).cost - 1e-9


def test_missing_values_and_bad_input_of_boxes():
    X = np.column_stack((np.arange(40.0), np.ones(40)))
    X[3, 0] = np.nan
    found = boxes(X, X[:, 1] * (np.arange(40) > 19))
    assert np.isnan(found.values(X)).tolist() == [i == 3 for i in range(40)]
    assert len(boxes(X[:5], np.arange(5)).bounds) == 1
    for words, arguments in (
        ("at least one column", ([1.0, 2.0], [1.0, 2.0])),
        ("no row of positive weight", ([[np.nan]], [1.0])),
        ("infinity", ([[np.inf]], [1.0])),
        ("shapes", (np.ones((3, 2)), [1.0])),
    ):
        with pytest.raises(TamisError, match=words):
            boxes(*arguments)
    with pytest.raises(TamisError, match="at least 0; got -1"):
        boxes(X, np.ones(40), min_rows=-1)


def test_the_ordered_value_is_the_mean_of_the_classes():
    # The paper's example: shares of 0.2, 0.7 and 0.1 of the classes 1, 2 and 3 make 1.9.
    x = np.repeat([0.0, 1.0], 10)[:, None]
    y = np.array([1, 1, 2, 2, 2, 2, 2, 2, 2, 3] + [3] * 10)
    model = BinMeans(output="ordered", min_gain=0).fit(x, y)
    np.testing.assert_allclose(model.transform([[0.0], [1.0], [np.nan]]).ravel(), [1.9, 3.0, y.mean()])
    words = np.array(["bad", "fair", "good"])[y - 1]
    np.testing.assert_allclose(BinMeans(output="ordered", min_gain=0).fit(x, words).means_[0].ravel(), [1.9, 3.0])
    tens = BinMeans(output="ordered", min_gain=0).fit(x, 10 * y)
    np.testing.assert_allclose(tens.means_[0].ravel(), [1.9, 3.0])
    assert model.get_feature_names_out().tolist() == ["x0"]
    assert model.origins_.tolist() == [0]


def test_ordered_values_of_training_rows_are_those_of_other_folds():
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = np.digitize(X[:, 0] + 0.2 * rng.normal(size=300), [0.4, 0.7])
    model = BinMeans(output="ordered", random_state=0)
    dense = model.fit_transform(X, y)
    assert dense.shape == (300, 3)
    assert abs(np.corrcoef(dense[:, 0], y)[0, 1]) > 0.7
    # A column of noise says nothing of the row's own class.
    assert np.corrcoef(dense[:, 1], y)[0, 1] < 0.1
    X[X < 0.5] = 0.0
    thin = BinMeans(output="ordered").fit(sp.csr_array(X), y).transform(sp.csr_array(X))
    full = BinMeans(output="ordered").fit(X, y)
    np.testing.assert_allclose(thin.toarray(), full.transform(X) - full.transform(np.zeros((1, 3))), atol=1e-12)
