"""Grown and pruned trees against brute force at every node, and what must hold of them on any data."""

import time
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ssv_oracle import best_split, best_subset, path, rows_of_nodes, sides
from tamis.base.errors import DataError
from tamis.trees.grow import grow
from tamis.trees.prune import degrees, gains, pruned
from tamis.trees.split import CRITERIA

NAN = np.nan


@st.composite
def tables(draw, most=20, nominal=True, missing=True):
    """Rows of few values, so that splits tie: matrix, codes, weights, number of classes, mask of nominal columns."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, p, n_classes = draw(st.integers(1, most)), draw(st.integers(1, 4)), draw(st.integers(2, 4))
    span = draw(st.sampled_from([2, 4, 50]))
    X = rng.integers(-span // 2, span, (n, p)) / 2
    names = rng.random(p) < (0.5 if nominal and draw(st.booleans()) else 0.0)
    X[:, names] = rng.integers(0, 5, (n, int(names.sum())))
    if missing and draw(st.booleans()):
        X[rng.random((n, p)) < 0.2] = NAN
    codes = rng.integers(0, n_classes, n)
    weight = rng.choice([1.0, 2.0, 0.5], n) if draw(st.booleans()) else np.ones(n)
    return X.astype(draw(st.sampled_from([np.float32, np.float64]))), codes, weight, n_classes, names


def grown(table, criterion="ssv", **options):
    X, codes, weight, n_classes, names = table
    nominal = names if names.any() else None
    return grow(X, codes, weight, n_classes=n_classes, criterion=criterion, nominal=nominal, **options)


def same_tree(a, b):
    for name in ("feature", "split", "left", "right", "missing_left", "subset", "inside", "weight", "priors"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def depths(tree):
    depth = np.zeros(tree.feature.size, dtype=int)
    for node in np.flatnonzero(~tree.is_leaf):
        depth[[tree.left[node], tree.right[node]]] = depth[node] + 1
    return depth


def told_apart(X, codes):
    """Whether rows of different classes always differ in a column in which both are known."""
    with np.errstate(invalid="ignore"):
        return all(
            codes[i] == codes[j] or (~np.isnan(X[i]) & ~np.isnan(X[j]) & (X[i] != X[j])).any()
            for i, j in combinations(range(codes.size), 2)
        )


@settings(max_examples=200)
@given(tables(most=40), st.sampled_from(CRITERIA))
def test_consistent_rows_are_all_answered_rightly(table, criterion):
    """A missing number may go to either side, so it tells no rows apart; what is known in both does."""
    X, codes, *_ = table
    assume(told_apart(X, codes))
    tree = grown(table, criterion)
    assert tree.prediction[tree.leaves(X)].tolist() == codes.tolist()
    assert not tree.errors[tree.is_leaf].any()


@settings(max_examples=150)
@given(tables(most=40), st.sampled_from(CRITERIA))
def test_a_mixed_leaf_cannot_be_split(table, criterion):
    X, codes, weight, n_classes, names = table
    tree = grown(table, criterion)
    for node, rows in enumerate(rows_of_nodes(tree, X)):
        assert rows
        total = np.bincount(codes[rows], weights=weight[rows], minlength=n_classes)
        np.testing.assert_allclose(tree.weight[node], total, rtol=1e-12)
        if tree.is_leaf[node] and np.unique(codes[rows]).size > 1:
            for column, name in zip(X[rows].T, names, strict=True):
                column = np.where(np.isnan(column), 99, column) if name else column
                known = ~np.isnan(column)
                assert np.unique(column[known]).size < 2 or np.unique(codes[rows][known]).size < 2


def best_of(X, codes, weight, n_classes, names, criterion):
    """The best split or subset of every column, None where there is none; a missing name is a level."""
    rows = codes, [Fraction(w) for w in weight], n_classes, criterion
    return [
        best_subset(np.where(np.isnan(column), 99, column).astype(int).tolist(), *rows)
        if name
        else best_split(column, *rows)
        for column, name in zip(X.T, names, strict=True)
    ]


def check_node(tree, node, table, rows, criterion):
    """That a node's split is the best of its rows, by every rule in turn."""
    X, codes, weight, n_classes, names = table
    found = best_of(X[rows], codes[rows], weight[rows], n_classes, names, criterion)
    found = [(f if names[j] or f is None else (f.worth, f.same)) for j, f in enumerate(found)], found
    rank = {j: (f[0], -f[1]) for j, f in enumerate(found[0]) if f is not None}
    feature = int(tree.feature[node])
    assert rank[feature] == max(rank.values())
    column = X[rows][:, feature]
    known = ~np.isnan(column)
    if names[feature]:
        inside = np.append(tree.inside[tree.subset[node] : tree.subset[node + 1]], not tree.missing_left[node])
        left = ~inside[np.where(known, column, -1).astype(int)]
        known[:] = True
    else:
        heavier = column[known] < tree.split[node]
        assert tree.missing_left[node] == (2 * weight[rows][known] @ heavier >= weight[rows][known].sum())
        left = column[known] < tree.split[node]
        assert tree.split[node] == float(found[1][feature].split)
        with np.errstate(invalid="ignore"):
            ranges = [Fraction(float(np.nanmax(c)) - float(np.nanmin(c))) for c in X[:, list(rank)].T]
        wide = {j: found[1][j].gap / r for j, r in zip(rank, ranges, strict=True) if not names[j]}
        wide = {j: width for j, width in wide.items() if rank[j] == rank[feature]}
        assert feature == max(wide, key=wide.__getitem__)
    parted = sides(left, codes[rows][known], [Fraction(w) for w in weight[rows][known]], n_classes)
    assert (parted.worth(criterion), -parted.same) == rank[feature]


@settings(max_examples=100)
@given(tables(most=14), st.sampled_from(CRITERIA))
def test_every_split_is_the_best_of_its_rows(table, criterion):
    tree = grown(table, criterion)
    for node, rows in enumerate(rows_of_nodes(tree, table[0])):
        if not tree.is_leaf[node]:
            check_node(tree, node, table, rows, criterion)


@given(tables(most=60, nominal=False), st.sampled_from(CRITERIA))
def test_sparse_and_dense_trees_are_the_same(table, criterion):
    X, *rest = table
    tree = grown(table, criterion)
    for layout in (np.asfortranarray(X), sp.csr_array(X), sp.csc_array(X), sp.coo_array(X)):
        other = grown((layout, *rest), criterion)
        same_tree(tree, other)
        assert other.leaves(layout).tolist() == tree.leaves(X).tolist()


def test_rows_and_caller_s_arrays_are_left_alone():
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 3, (40, 5)).astype(np.float64)
    for layout in (X, sp.csc_array(X), sp.csr_array(X)):
        arrays = [layout] if layout is X else [layout.data, layout.indices, layout.indptr]
        before = [a.copy() for a in arrays]
        for a in arrays:
            a.flags.writeable = False
        grow(layout, rng.integers(0, 3, 40), np.ones(40), n_classes=3)
        assert all((a == b).all() for a, b in zip(arrays, before, strict=True))
        for a in arrays:
            a.flags.writeable = True


@given(tables(most=40), st.sampled_from(CRITERIA), st.integers(0, 100))
def test_the_order_of_rows_does_not_matter(table, criterion, seed):
    X, codes, weight, n_classes, names = table
    order = np.random.default_rng(seed).permutation(codes.size)
    same_tree(grown(table, criterion), grown((X[order], codes[order], weight[order], n_classes, names), criterion))


@given(st.integers(0, 10**6), st.sampled_from(CRITERIA))
def test_the_order_of_columns_does_not_matter(seed, criterion):
    """Random numbers: no two columns have the same gap around an equally good split."""
    rng = np.random.default_rng(seed)
    X, codes, order = rng.standard_normal((30, 5)), rng.integers(0, 3, 30), rng.permutation(5)
    tree, other = (grow(x, codes, np.ones(30), n_classes=3, criterion=criterion) for x in (X, X[:, order]))
    np.testing.assert_array_equal(np.append(order, -1)[other.feature], tree.feature)
    np.testing.assert_array_equal(other.split, tree.split)


@given(tables(most=25), st.sampled_from(CRITERIA), st.integers(0, 100))
def test_whole_weights_are_repeated_rows(table, criterion, seed):
    X, codes, _, n_classes, names = table
    times = np.random.default_rng(seed).integers(1, 4, codes.size)
    repeated = X.repeat(times, axis=0), codes.repeat(times), np.ones(times.sum()), n_classes, names
    same_tree(grown((X, codes, times.astype(float), n_classes, names), criterion), grown(repeated, criterion))


@given(tables(most=40), st.sampled_from(CRITERIA), st.integers(0, 4))
def test_depth_stops_the_same_tree(table, criterion, max_depth):
    whole = grown(table, criterion)
    same_tree(grown(table, criterion, max_depth=max_depth), whole.cut_at(depths(whole) >= max_depth))


@given(tables(most=40), st.sampled_from(CRITERIA))
def test_scale_of_columns_does_not_matter(table, criterion):
    X, codes, weight, n_classes, names = table
    factor = np.where(names, 1.0, 2.0 ** np.arange(names.size)).astype(X.dtype)
    tree, scaled = grown(table, criterion), grown((X * factor, codes, weight, n_classes, names), criterion)
    np.testing.assert_array_equal(scaled.feature, tree.feature)
    np.testing.assert_array_equal(scaled.split, tree.split * factor[tree.feature])


@given(tables(most=40), st.sampled_from(CRITERIA), st.integers(0, 10**6))
def test_a_cut_tree_answers_as_a_walk_that_stops(table, criterion, seed):
    X = table[0]
    tree = grown(table, criterion)
    stop = np.random.default_rng(seed).random(tree.feature.size) < 0.3
    cut = tree.cut_at(stop)
    assert cut.left[~cut.is_leaf].tolist() == (cut.right[~cut.is_leaf] - 1).tolist()
    assert sorted([*cut.left[~cut.is_leaf], *cut.right[~cut.is_leaf]]) == list(range(1, cut.feature.size))
    ends = [next(node for node in path(tree, row) if stop[node] or tree.is_leaf[node]) for row in X]
    np.testing.assert_array_equal(cut.weight[cut.leaves(X)], tree.weight[ends])
    np.testing.assert_array_equal(cut.prediction[cut.leaves(X)], tree.prediction[ends])
    assert cut.subset.size == cut.feature.size + 1
    assert cut.subset[-1] == cut.inside.size
    same_tree(tree.cut_at(np.zeros(stop.size, dtype=bool)), tree)


def literally_pruned(tree, degree):
    """Nodes left as leaves by deleting final splits with G(N) <= degree, again and again."""
    feature, errors = tree.feature.copy(), tree.errors
    while True:
        inner = np.flatnonzero(feature >= 0)
        final = [n for n in inner if feature[tree.left[n]] < 0 and feature[tree.right[n]] < 0]
        bad = [n for n in final if errors[n] - errors[tree.left[n]] - errors[tree.right[n]] <= degree + 1e-9]
        if not bad:
            return feature
        feature[bad] = -1


@given(tables(most=40), st.sampled_from(CRITERIA))
def test_degrees_are_those_of_repeated_deletion(table, criterion):
    tree = grown(table, criterion)
    degree = degrees(tree)
    assert (degree[tree.is_leaf] == -np.inf).all()
    assert (degree[~tree.is_leaf] >= 0).all()
    for d in [0.0, *degree[~tree.is_leaf], 0.3, 1e9]:
        np.testing.assert_array_equal(literally_pruned(tree, d) < 0, degree <= d + 1e-9)
        same_tree(pruned(tree, d), tree.cut_at(degree <= d + 1e-9))
    assert pruned(tree, 1e9).feature.tolist() == [-1]


@given(tables(most=40), st.sampled_from(CRITERIA))
def test_pruning_to_degree_zero_loses_nothing_and_pruned_trees_are_nested(table, criterion):
    X, codes, weight, *_ = table
    tree = grown(table, criterion)
    gain = gains(tree)
    assert (gain >= 0).all()
    counted = weight * tree.priors[codes]

    def error(of):
        return counted @ (of.prediction[of.leaves(X)] != codes)

    none = pruned(tree, 0.0)
    assert error(none) == pytest.approx(error(tree), abs=1e-9)
    assert error(none) == pytest.approx(none.errors[none.is_leaf].sum(), abs=1e-9)
    assert none.feature.size == tree.feature.size or (gain[~tree.is_leaf] == 0).any()
    before = none
    for d in np.unique(degrees(tree)[~tree.is_leaf]):
        after = pruned(tree, d)
        same_tree(after, pruned(before, d))
        assert after.feature.size <= before.feature.size
        assert error(after) >= error(before) - 1e-9
        before = after


def test_contradictory_rows_share_a_leaf():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    for layout in (X, sp.csr_array(X)):
        tree = grow(layout, np.array([0, 1, 1, 0]), np.ones(4), n_classes=2)
        assert tree.weight.tolist() == [[2, 2], [1, 2], [1, 0]]
        assert tree.prediction.tolist() == [0, 1, 0]


def test_a_row_of_missing_values_goes_to_the_heavier_side():
    X = np.array([[1.0], [2.0], [2.0], [NAN]])
    for weight, side in ((np.ones(4), 2), (np.array([5.0, 1.0, 1.0, 1.0]), 1)):
        tree = grow(X, np.array([0, 1, 1, 0]), weight, n_classes=2)
        assert tree.leaves(X).tolist() == [1, 2, 2, side]


def test_a_level_that_was_not_seen_goes_to_the_heavier_side():
    X = np.array([[0.0], [0.0], [0.0], [3.0]])
    tree = grow(X, np.array([0, 0, 0, 1]), np.ones(4), n_classes=2, nominal=np.array([True]))
    assert tree.prediction[tree.leaves(np.array([[0.0], [3.0], [1.0], [9.0], [NAN]]))].tolist() == [0, 1, 0, 0, 0]


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_named_by_its_column(value):
    X = np.ones((4, 3))
    X[1, 2] = value
    for layout in (X, sp.csr_array(X), sp.csc_array(X)):
        with pytest.raises(DataError, match="column 2 "):
            grow(layout, np.array([0, 1, 0, 1]), np.ones(4), n_classes=2)


@pytest.mark.parametrize("X", [np.zeros((5, 2)), np.full((5, 2), NAN), np.full((5, 1), 3.0), np.array([[4.0]])])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_nothing_to_split(X, criterion):
    for layout in (X, sp.csr_array(X)):
        tree = grow(layout, np.arange(len(X)) % 2, np.ones(len(X)), n_classes=3, criterion=criterion)
        assert tree.feature.tolist() == [-1]
        assert tree.leaves(layout).tolist() == [0] * len(X)
        assert tree.weight.shape == (1, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbouring_numbers_are_told_apart(dtype):
    """They have no midpoint, and zero is a block of its own."""
    tiny, top = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    x = np.array(
        [-top, -1, np.nextafter(dtype(-1), dtype(0)), -tiny, 0, tiny, 1, np.nextafter(dtype(1), dtype(2)), top]
    )
    X = x.astype(dtype)[:, None]
    for codes in (np.arange(9) % 2, np.arange(9) % 3, np.arange(9)):
        for layout in (X, sp.csr_array(X)):
            tree = grow(layout, codes, np.ones(9), n_classes=9)
            assert tree.prediction[tree.leaves(layout)].tolist() == codes.tolist()


def test_a_hundred_thousand_sparse_columns_are_quick():
    S = sp.random_array((200, 100_000), density=0.005, rng=0, format="csr")
    codes = np.random.default_rng(0).integers(0, 2, 200)
    grow(S[:20], codes[:20], np.ones(20), n_classes=2)
    start = time.process_time()
    tree = grow(S, codes, np.ones(200), n_classes=2)
    assert time.process_time() - start < 10
    assert tree.prediction[tree.leaves(S)].tolist() == codes.tolist()


def test_infinity_beside_nominal_columns_is_named_by_its_column():
    X = np.array([[0.0, 1.0, np.inf], [1.0, 2.0, 1.0]])
    with pytest.raises(DataError, match="column 2 "):
        grow(X, np.array([0, 1]), np.ones(2), n_classes=2, nominal=np.array([True, False, False]))


def test_a_row_without_known_values_does_not_make_a_chain_of_splits():
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[7] = np.nan
    tree = grow(X, (np.arange(300) == 7).astype(np.intp), np.ones(300), n_classes=2)
    assert tree.feature.tolist() == [-1]
