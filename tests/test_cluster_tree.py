"""Cluster trees: gain ratios against sums over all midpoints, Ward against scipy and by hand; planted; bad input."""

from functools import partial
from itertools import pairwise
from math import log2

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.stats import binom
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import balanced_accuracy_score

import tamis
from planted import planted
from tamis.base.cut import NothingPasses
from tamis.base.errors import DataError, TamisError
from tamis.base.shared_fit import Together, grouped
from tamis.compose.recipe import to_text
from tamis.kernels.gain_ratio import gain_splits
from tamis.select import ClusterTree
from tamis.select.cluster_tree.ward_patterns import WardPatterns
from tamis.trees.columns import sorted_columns
from tamis.trees.gain_ratio import first_splits, gained, grow_by_gain_ratio, pessimistic


def problem(n_classes: int = 2, rows: int = 120, columns: int = 10) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.8)
    X[:, [2, 7]] += 3.0 * y[:, None]
    return X, y


def entropy(codes) -> float:
    shares = np.unique(codes, return_counts=True)[1] / len(codes)
    return -sum(share * log2(share) for share in shares)


def by_midpoints(column, codes) -> tuple[float, float, list[float]]:
    """The largest gain, the largest ratio among the splits that make it, and those splits."""
    values = np.unique(column)
    found = []
    for low, high in pairwise(values):
        left = column <= low
        share = left.mean()
        gain = entropy(codes) - share * entropy(codes[left]) - (1 - share) * entropy(codes[~left])
        found.append((gain, gain / -(share * log2(share) + (1 - share) * log2(1 - share)), low / 2 + high / 2))
    if not found:
        return -1.0, 0.0, []
    top = max(one[0] for one in found)
    best = [one for one in found if one[0] > top - 1e-9]
    ratio = max(one[1] for one in best)
    return top, ratio, [one[2] for one in best if one[1] > ratio - 1e-9]


@st.composite
def tables(draw):
    n, p = draw(st.integers(2, 14)), draw(st.integers(1, 4))
    values = st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.0, -1.5, 0.3, 7.0])
    X = draw(hnp.arrays(np.float64, (n, p), elements=values))
    return X, draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2)))


@given(tables(), st.sampled_from([np.float32, np.float64]), st.sampled_from([np.asarray, sp.csr_array]))
@settings(max_examples=150)
def test_the_kernel_finds_what_all_midpoints_show(table, real, form) -> None:
    X, codes = table
    X = X.astype(real)
    (columns,) = sorted_columns(form(X), whole=True)
    counts = np.bincount(codes, minlength=3)
    plogp = np.array([n * log2(n) if n else 0.0 for n in range(len(codes) + 1)])
    gain, ratio, split, gap = np.empty((4, X.shape[1]))
    gain_splits(
        *(columns.begin, columns.end, columns.rows, columns.values, codes, counts, plogp), gain, ratio, split, gap
    )
    for j, column in enumerate(X.T.astype(np.float64)):
        top, best_ratio, places = by_midpoints(column, codes)
        assert gain[j] == pytest.approx(top, abs=1e-9)
        assert ratio[j] == pytest.approx(best_ratio, abs=1e-9)
        if places:
            assert min(abs(split[j] - place) for place in places) < 1e-6
            values = np.unique(column)
            assert gap[j] == pytest.approx(values[values > split[j]].min() - values[values < split[j]].max(), abs=1e-6)


def test_the_gain_ratio_by_hand() -> None:
    # Quinlan's days: humidity above or not above 80 with play yes or no.
    humidity = np.array([85, 90, 78, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 80], dtype=float)
    play = np.array([0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0])
    gain, ratio, places = by_midpoints(humidity, play)
    assert (round(gain, 3), places) == (0.102, [82.5])
    assert ratio == pytest.approx(0.1022 / entropy(humidity > 82.5), abs=1e-3)
    found, gap = first_splits(humidity[:, None], play, 2)
    assert found[0] == pytest.approx(gain, abs=1e-12)
    assert gap[0] == pytest.approx(5 / 31)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_tree_takes_the_best_ratio_of_those_with_enough_gain(n_classes, form) -> None:
    not_the_largest_gain = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.8)
        codes = (X[:, 0] + rng.normal(size=40) > 0) * rng.integers(1, n_classes, 40)
        tree = grow_by_gain_ratio(form(X), codes, n_classes)
        assert (tree.prediction[tree.leaves(form(X))] == codes).all()
        nodes = [(0, np.arange(40))]
        for node, rows in nodes:
            if tree.is_leaf[node]:
                assert np.unique(codes[rows]).size == 1
                continue
            found = [by_midpoints(X[rows, j], codes[rows]) for j in range(5)]
            gain, ratio = (np.array(one) for one in list(zip(*found, strict=True))[:2])
            enough = gain >= gain[gain >= 0].mean() - 1e-9
            chosen = tree.feature[node]
            assert enough[chosen]
            assert ratio[chosen] >= ratio[enough].max() - 1e-9
            assert min(abs(tree.split[node] - place) for place in found[chosen][2]) < 1e-9
            not_the_largest_gain += gain[chosen] < gain.max() - 1e-9
            left = X[rows, chosen] < tree.split[node]
            nodes += [(tree.left[node], rows[left]), (tree.right[node], rows[~left])]
    assert not_the_largest_gain > 3


def test_a_column_of_many_small_parts_needs_enough_gain() -> None:
    # One row at the end of column 0 is all of class 1: the best ratio of all, and hardly any gain.
    codes = np.array([0] * 20 + [1] * 20)
    X = np.column_stack([np.r_[np.zeros(39), 1.0], codes * 2.0 + np.tile([0, 1.5], 20)])
    by_hand = [by_midpoints(X[:, j], codes) for j in range(2)]
    assert by_hand[0][0] < by_hand[1][0]
    assert grow_by_gain_ratio(X, codes, 2).feature[0] == 1


def test_equal_columns_are_told_apart_by_their_spread() -> None:
    X = np.array([[0.0, 0.0, 0.0], [1.0, 3.0, 2.0]])
    codes = np.array([0, 1])
    assert grow_by_gain_ratio(X, codes, 2).feature[0] == 0
    assert grow_by_gain_ratio(X, codes, 2, np.array([2.0, 1.0, 5.0])).feature[0] == 1


def test_no_gain_no_split() -> None:
    # Neither column tells anything by itself.
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    assert grow_by_gain_ratio(X, np.array([0, 1, 1, 0]), 2).is_leaf.tolist() == [True]


def test_what_the_columns_gain_adds_up_to_the_entropy() -> None:
    X, y = problem(3)
    tree = grow_by_gain_ratio(X, y, 3)
    found = gained(tree, 12)
    assert found.sum() == pytest.approx(entropy(y))
    assert set(np.flatnonzero(found)) <= set(tree.feature[~tree.is_leaf])
    stump = tree.cut_at(np.arange(tree.feature.shape[0]) > 0)
    (used,) = np.flatnonzero(gained(stump, 12))
    assert gained(stump, 12)[used] == pytest.approx(by_midpoints(X[:, used], y)[0])


@pytest.mark.parametrize("confidence", [0.1, 0.25, 0.6])
def test_pruning_compares_upper_limits_of_errors(confidence) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    codes = (X[:, 0] > 0.5) ^ (rng.random(80) < 0.1)
    codes = codes.astype(int)
    tree = grow_by_gain_ratio(X, codes, 2)

    def limit(node) -> float:
        n, e = tree.weight[node].sum(), tree.errors[node]
        shares = np.linspace(0, 1, 20_001)
        return n * shares[np.flatnonzero(binom.cdf(e, n, shares) >= confidence)[-1]]

    def expected(node) -> tuple[float, int]:
        """Errors and leaves of the best subtree."""
        if tree.is_leaf[node]:
            return limit(node), 1
        (a, many_a), (b, many_b) = expected(tree.left[node]), expected(tree.right[node])
        return (limit(node), 1) if limit(node) <= a + b else (a + b, many_a + many_b)

    small = pessimistic(tree, confidence)
    assert small.is_leaf.sum() == expected(0)[1]
    assert 1 < small.is_leaf.sum() <= tree.is_leaf.sum() - (confidence < 0.6)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_clusters_are_those_of_scipy_and_scikit_learn(form, standardize) -> None:
    X, y = problem()
    X *= np.logspace(-1, 1, 10)
    scaled = X / X.std(axis=0) if standardize else X
    ward = WardPatterns(form(X), y, False, standardize)
    for size in (2, 3, 17, 60, 120):
        labels = cut_tree(linkage(scaled, "ward"), size).ravel()
        peer = AgglomerativeClustering(size).fit(scaled).labels_
        rows, codes = ward.cut(size)
        got = rows.toarray() if sp.issparse(rows) else rows
        assert sp.issparse(rows) == (form is not np.asarray)
        for given_labels in (labels, peer):
            expected = np.array([X[given_labels == c].mean(axis=0) for c in range(size)])
            answer = [np.bincount(y[given_labels == c]).argmax() for c in range(size)]
            here, there = np.lexsort(got.T.round(6)), np.lexsort(expected.T.round(6))
            np.testing.assert_allclose(got[here], expected[there], atol=1e-9)
            np.testing.assert_array_equal(codes[here], np.array(answer)[there])


def test_clusters_of_classes_are_cut_at_one_height() -> None:
    X = np.array([[0.0], [1.0], [10.0], [10.5], [0.0], [0.2], [30.0]])
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    ward = WardPatterns(X, y, True, False)
    assert ward.least == 2
    for size, expected in [
        (7, [(0.0, 0), (0.0, 1), (0.2, 1), (1.0, 0), (10.0, 0), (10.5, 0), (30.0, 1)]),
        (6, [(0.0, 0), (0.1, 1), (1.0, 0), (10.0, 0), (10.5, 0), (30.0, 1)]),
        (5, [(0.0, 0), (0.1, 1), (1.0, 0), (10.25, 0), (30.0, 1)]),
        (4, [(0.1, 1), (0.5, 0), (10.25, 0), (30.0, 1)]),
        (3, [(0.1, 1), (5.375, 0), (30.0, 1)]),
        (2, [(5.375, 0), (30.2 / 3, 1)]),
    ]:
        rows, codes = ward.cut(size)
        got = sorted(zip(rows.ravel().tolist(), codes.tolist(), strict=True))
        np.testing.assert_allclose(got, expected, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rounding_makes_no_patterns_of_constants(form) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    X = np.column_stack([rng.normal(size=90), *(np.full(90, value) for value in rng.random(300))])
    X = np.column_stack([X, np.where(rng.random(90) < 0.5, 0.1, 0.1 + 1e-14)])
    for size in (5, 20, 44):
        rows, _ = WardPatterns(form(X), y, False, True).cut(size)
        values = rows.toarray() if sp.issparse(rows) else rows
        assert (values[:, 1:] == values[0, 1:]).all()
        assert np.unique(values[:, 0]).size == size


def test_copies_of_rows_are_one_pattern() -> None:
    rng = np.random.default_rng(0)
    few = rng.normal(size=(6, 30))
    X, y = np.repeat(few, 10, axis=0), np.repeat([0, 1, 0, 1, 0, 1], 10)
    order = rng.permutation(60)
    rows, codes = WardPatterns(X[order], y[order], False, True).cut(6)
    here, there = np.argsort(rows[:, 0]), np.argsort(few[:, 0])
    np.testing.assert_allclose(rows[here], few[there], atol=1e-10)
    np.testing.assert_array_equal(codes[here], np.array([0, 1] * 3)[there])


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_planted_columns_are_found(by_class, n_classes) -> None:
    X, y = problem(n_classes)
    for form in (np.asarray, sp.csr_array):
        found = ClusterTree(by_class=by_class, random_state=0).fit(form(X), y)
        assert set(found.get_support(indices=True)) <= {2, 7}
        assert found.accuracy_.max() > 0.8
        assert found.order_[0] in (2, 7)


def test_the_figures_are_those_of_the_trees() -> None:
    X, y = problem(3)
    found = ClusterTree(random_state=4, holdout=0.25, confidence=0.5).fit(X, y)
    assert found.sizes_[0] == 3
    assert found.sizes_[-1] == 45
    assert (np.diff(found.sizes_) > 0).all()
    clustered, held = found._divided(y)
    assert not set(clustered) & set(held)
    assert (np.bincount(y[held]), len(clustered) + len(held)) == (pytest.approx([10, 10, 10]), 120)
    ward = WardPatterns(X[clustered], y[clustered], False, True)
    for size, accuracy, n_used in zip(found.sizes_, found.accuracy_, found.n_used_, strict=True):
        tree = pessimistic(grow_by_gain_ratio(*ward.cut(size), 3, ward.spread), 0.5)
        said = tree.prediction[tree.leaves(X[held])]
        assert accuracy == pytest.approx(balanced_accuracy_score(y[held], said))
        assert n_used == np.unique(tree.feature[~tree.is_leaf]).size
    best = found.accuracy_ >= found.accuracy_.max() - 1e-12
    assert found.n_clusters_ in found.sizes_[best & (found.n_used_ == found.n_used_[best].min())]
    assert found.support_.sum() == found.n_used_[found.sizes_ == found.n_clusters_]


def test_the_number_of_clusters_grows_as_asked() -> None:
    X, y = problem()
    n_rows = 84
    assert ClusterTree(group_size=1, random_state=0).fit(X, y).sizes_[-1] == n_rows
    assert ClusterTree(group_size=10, random_state=0).fit(X, y).sizes_[-1] == n_rows // 10
    assert ClusterTree(max_clusters=7, random_state=0).fit(X, y).sizes_.tolist() == [2, 3, 4, 5, 6, 7]
    assert ClusterTree(steps=2, random_state=0).fit(X, y).sizes_.tolist() == [2, n_rows // 2]
    assert ClusterTree(max_rows=30, random_state=0).fit(X, y).sizes_[-1] == 15
    assert ClusterTree(max_rows=2, random_state=0).fit(X, y).sizes_.tolist() == [2]
    assert len(ClusterTree(holdout=0.001).fit(X, y)._divided(y)[1]) == 2
    assert len(ClusterTree(holdout=0.999).fit(X, y)._divided(y)[0]) == 2


def test_one_tree_ranks_for_every_k() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0) + 4 * (X[:, 2] > 0)
    make = partial(ClusterTree, by_class=True, random_state=0)
    (group,) = grouped([make(k) for k in (1, 2, 12)] + [make(), make(2, at_least=0)])
    together = list(Together(group.estimators, X, y))
    for one, found in zip(group.estimators, together, strict=True):
        own = clone(one).fit(X, y)
        np.testing.assert_array_equal(found.support_, own.support_)
        np.testing.assert_array_equal(found.order_, own.order_)
    assert set(together[3].get_support(indices=True)) >= {0, 1, 2}
    assert [found.support_.sum() for found in together[:2]] == [1, 2]
    assert set(np.flatnonzero(together[2].support_)) == set(np.flatnonzero(together[2].scores_))


def test_noise_leaves_a_warning_or_few_columns() -> None:
    X, y = planted(rows=100, columns=12)
    found = np.zeros(12)
    for seed in range(25):
        labels = np.random.default_rng(seed).permutation(y)
        found += ClusterTree(1, by_class=True, random_state=seed).fit(X, labels).support_
    assert found.sum() == 25
    assert found.max() <= 8


def test_without_a_split_the_best_column_is_kept_with_a_warning() -> None:
    X = np.ones((20, 4))
    for at_least in (1, 2):
        with pytest.warns(NothingPasses, match=f"0 of 4 features meet the cut; the best {at_least} selected"):
            found = ClusterTree(at_least=at_least).fit(X, [0, 1] * 10)
        assert found.support_.sum() == at_least
    assert not ClusterTree(at_least=0).fit(X, [0, 1] * 10).support_.any()


def test_columns_may_move() -> None:
    X, y = problem(3)
    order = np.random.default_rng(0).permutation(10)
    here, there = (ClusterTree(random_state=1).fit(rows, y) for rows in (X, X[:, order]))
    np.testing.assert_array_equal(there.support_, here.support_[order])
    np.testing.assert_allclose(there.scores_, here.scores_[order])


def test_scale_does_not_matter_when_standardised() -> None:
    X, y = problem()
    here, there = (ClusterTree(random_state=1).fit(rows, y) for rows in (X, X * np.logspace(-3, 3, 10) + 100.0))
    np.testing.assert_array_equal(there.support_, here.support_)


def test_many_sparse_columns() -> None:
    rng = np.random.default_rng(0)
    S = sp.random_array((60, 100_000), density=0.001, rng=rng, format="lil")
    y = np.arange(60) % 2
    S[y == 1, 77] = 5.0
    found = ClusterTree(by_class=True, random_state=0).fit(S.tocsr(), y)
    assert found.get_support(indices=True).tolist() == [77]


def test_recipes() -> None:
    for text in ("cluster_tree | knn(3)", "cluster_tree(5, max_clusters=50, holdout=0.2, by_class=true) | svm"):
        assert to_text(tamis.recipe(text)) == text
    X, y = problem()
    model = tamis.recipe("cluster_tree(1, random_state=3)").fit(X, y)
    np.testing.assert_array_equal(model.support_, ClusterTree(1, random_state=3).fit(X, y).support_)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"k": 0}, "k"),
        ({"max_clusters": 1}, "max_clusters"),
        ({"group_size": 0}, "group_size"),
        ({"steps": 0}, "steps"),
        ({"holdout": 1.0}, "holdout"),
        ({"confidence": 0.0}, "confidence"),
        ({"max_rows": 1}, "max_rows"),
        ({"at_least": -1}, "at_least"),
        ({"by_class": "yes"}, "by_class"),
    ],
)
def test_bad_parameters_are_refused(parameters, name) -> None:
    X, y = problem()
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        ClusterTree(**parameters).fit(X, y)


def test_bad_input_is_refused() -> None:
    X, y = problem()
    with pytest.raises(DataError, match="cluster_tree needs two rows of each class at least; class 'b' has one"):
        ClusterTree().fit(X[:3], ["a", "a", "b"])
    with pytest.raises(TamisError, match="at least 2 classes"):
        ClusterTree().fit(X, np.zeros(len(y)))
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match=r"column 0 .* too large to square"):
            ClusterTree(standardize=False).fit(form(X * 1e200), y)
    for bad in (np.nan, np.inf):
        X[2, 3] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            ClusterTree().fit(X, y)
