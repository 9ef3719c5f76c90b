"""Cuts by separability against brute force, against one tree a column, and on planted intervals."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

import tamis
from ragged import NAN, VALUES, problems
from ssv_oracle import best_split
from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.classify import KNN, SSVTree
from tamis.compose.catalog import entry
from tamis.compose.chain import to_text
from tamis.discretize import Discretize
from tamis.kernels.cuts import column_cuts, cuts_right
from tamis.scores import ssv
from tamis.trees.columns import sorted_columns
from tamis.trees.prune import degrees, pruned


def grown(x, y, priors):
    """Every cut of a column by recursion, as nested tuples (cut, gain, left, right); None for a leaf."""
    known = ~np.isnan(x)
    x, y = x[known], y[known]

    def errors(rows):
        counted = np.bincount(y[rows], minlength=priors.size) * priors
        return counted.sum() - counted.max()

    def part(rows):
        if np.unique(y[rows]).size < 2:
            return None
        best = best_split(x[rows], y[rows].tolist(), [1] * int(rows.sum()), priors.size, "ssv")
        if best is None:
            return None
        cut = float(best.split)
        left, right = rows & (x < cut), rows & (x >= cut)
        return cut, errors(rows) - errors(left) - errors(right), part(left), part(right)

    return part(np.ones(x.size, dtype=bool))


def kept(node, min_gain):
    """The cuts that stay when last splits of too little gain are taken back."""
    if node is None:
        return []
    cut, gain, left, right = node
    below = kept(left, min_gain) + kept(right, min_gain)
    return sorted([cut, *below]) if below or gain >= min_gain - 1e-9 else []


@given(problems(), st.sampled_from([0, 1, 2, 2.5, 4]), st.sampled_from([None, "balanced"]))
def test_cuts_equal_brute_force(problem, min_gain, class_weight):
    X, y = problem
    size = np.bincount(y)
    priors = y.size / (size.size * size) if class_weight else np.ones(size.size)
    model = Discretize(min_gain=min_gain, class_weight=class_weight).fit(X, y)
    for j, cuts in enumerate(model.cuts_):
        assert cuts.tolist() == kept(grown(X[:, j].astype(float), y, priors), min_gain)


@given(problems(), st.sampled_from([0, 1, 3]))
def test_every_layout_has_the_same_cuts(problem, min_gain):
    X, y = problem
    dense = Discretize(min_gain=min_gain).fit(X, y)
    explicit = sp.csr_array(np.ones_like(X))
    explicit.data[:] = X.ravel()
    for layout in (np.asfortranarray(X), sp.csr_array(X), sp.csc_matrix(X), explicit):
        found = Discretize(min_gain=min_gain).fit(layout, y)
        for one, other in zip(dense.cuts_, found.cuts_, strict=True):
            np.testing.assert_array_equal(one, other)


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 5]), st.booleans())
def test_cuts_are_the_splits_of_a_tree_on_one_column(seed, min_gain, huge):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3)).round(rng.integers(0, 4)) * (1e300 if huge else 1)
    y = rng.integers(0, 3, 120)
    model = Discretize(min_gain=min_gain).fit(X, y)
    for j in range(3):
        tree = SSVTree(prune=min_gain - 1).fit(X[:, [j]], y).tree_
        np.testing.assert_array_equal(model.cuts_[j], np.sort(tree.split[~tree.is_leaf]))


@given(problems())
def test_compiled_and_plain_kernels_agree(problem):
    X, y = problem
    columns = next(sorted_columns(X, whole=True))
    priors = 1.0 + np.arange(y.max() + 1)
    used = np.arange(y.size) % 3 > 0
    given = columns.begin, columns.end, columns.rows, columns.values, y, used, priors
    tried = np.tile([np.inf, 1.0, 0.0, -np.inf], X.shape[1])
    first = 4 * np.arange(X.shape[1] + 1)
    outputs = []
    for search, answer in ((column_cuts, cuts_right), (column_cuts.python, cuts_right.python)):
        cut, degree, count = np.zeros(X.size), np.zeros(X.size), np.zeros(X.shape[1], dtype=np.int64)
        right = np.zeros(tried.size)
        search(*given, cut, degree, count)
        answer(*given, cut, degree, count, first, tried, right)
        outputs.append((cut, degree, count, right))
    for compiled, plain in zip(*outputs, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("caution", [0.0, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_auto_equals_a_loop_over_degrees_and_folds(caution, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 80)
    X = rng.normal(size=(80, 6)) + np.array([0, 0, 0.5, 1, 2, 4]) * (y == 1)[:, None]
    X[:, 3] = X[:, 3].round()
    model = Discretize(cv=5, caution=caution, random_state=seed).fit(X, y)
    splitter = StratifiedKFold(5, shuffle=True, random_state=int(generator(seed).integers(2**31)))
    folds = list(splitter.split(X, y))

    bins = []
    for j in range(6):
        x = X[:, [j]]
        full = SSVTree(prune=None).fit(x, y).tree_
        steps = np.unique(degrees(full)[~full.is_leaf])
        tried = [np.inf, *((steps[1:] + steps[:-1]) / 2)[::-1], -np.inf]
        accuracy = []
        for train, test in folds:
            part = SSVTree(prune=None).fit(x[train], y[train]).tree_
            smaller = [pruned(part, d * train.size / 80) for d in tried]
            accuracy.append([np.mean(tree.prediction[tree.leaves(x[test])] == y[test]) for tree in smaller])
        worth = np.mean(accuracy, axis=0) - caution * np.std(accuracy, axis=0, ddof=1)
        best = pruned(full, tried[np.flatnonzero(worth > worth.max() - 1e-12)[0]])
        np.testing.assert_array_equal(model.cuts_[j], np.sort(best.split[~best.is_leaf]))
        bins.append(model.cuts_[j].size + 1)
    assert len(set(bins)) > 1


def test_planted_intervals_are_found_and_noise_is_left_in_one_bin():
    rng = np.random.default_rng(5)
    X = rng.random((300, 200))
    flip = rng.random(300) < 0.05
    y = ((X[:, 7] > 0.3) & (X[:, 7] < 0.6)) ^ flip
    cuts = Discretize(random_state=0).fit(X, y).cuts_
    np.testing.assert_allclose(cuts[7], [0.3, 0.6], atol=0.02)
    assert np.mean([cut.size > 0 for j, cut in enumerate(cuts) if j != 7]) < 0.06


def test_many_classes_each_with_its_interval():
    rng = np.random.default_rng(6)
    X = rng.random((400, 1)) * 5
    y = np.array(list("dbaec"))[X[:, 0].astype(int)]
    (cuts,) = Discretize(random_state=1).fit(X, y).cuts_
    np.testing.assert_allclose(cuts, [1, 2, 3, 4], atol=0.1)


@given(problems(values=VALUES[:-1]))
def test_the_score_of_the_codes_is_the_score_of_the_values(problem):
    X, y = problem
    codes = Discretize(min_gain=0).fit_transform(X, y)
    np.testing.assert_allclose(ssv(codes, y), ssv(X, y))


@given(problems(), st.integers(1, 4))
def test_no_more_bins_than_allowed(problem, most):
    X, y = problem
    free, held = Discretize(min_gain=0).fit(X, y), Discretize(min_gain=0, max_bins=most).fit(X, y)
    for all_cuts, cuts in zip(free.cuts_, held.cuts_, strict=True):
        assert cuts.size < most
        assert set(cuts) <= set(all_cuts)
        assert all_cuts.size >= most or cuts.size == all_cuts.size


def test_the_best_cuts_stay_when_bins_are_few():
    x = np.concatenate([np.arange(10), np.arange(10, 30), np.arange(30, 34)])[:, None].astype(float)
    y = np.repeat([0, 1, 0], [10, 20, 4])
    assert Discretize(min_gain=0, max_bins=2).fit(x, y).cuts_[0].tolist() == [9.5]
    assert Discretize(min_gain=0, max_bins=3).fit(x, y).cuts_[0].tolist() == [9.5, 29.5]


def test_balance_heeds_a_rare_class():
    rng = np.random.default_rng(7)
    y = (np.arange(300) < 20).astype(int)
    X = (3 * y + rng.normal(size=300) * 2)[:, None]
    plain, balanced = (Discretize(class_weight=b, random_state=0).fit(X, y).cuts_[0] for b in (None, "balanced"))
    assert plain.size == 0
    assert balanced.size > 0


@given(problems(), st.sampled_from([0, 1]))
def test_codes_count_the_cuts_at_or_below(problem, min_gain):
    X, y = problem
    model = Discretize(min_gain=min_gain).fit(X, y)
    new = np.concatenate([X, X + 0.5, X - 100, X + 100]).astype(X.dtype)
    for cut in np.concatenate(model.cuts_):
        new = np.vstack([new, np.full(X.shape[1], cut, dtype=X.dtype)])
    codes = model.transform(new)
    assert codes.dtype == X.dtype
    for j, cuts in enumerate(model.cuts_):
        for value, code in zip(new[:, j], codes[:, j], strict=True):
            assert np.isnan(code) if np.isnan(value) else code == sum(cut <= value for cut in cuts)


@given(problems(), st.sampled_from([sp.csr_array, sp.csr_matrix, sp.csc_array]))
def test_sparse_codes_are_dense_codes_less_that_of_zero(problem, layout):
    X, y = problem
    dense, sparse = Discretize(min_gain=0).fit(X, y), Discretize(min_gain=0).fit(layout(X), y)
    codes = sparse.transform(layout(X))
    assert codes.format == "csr"
    assert codes.dtype == X.dtype
    assert codes.data.all()
    zero = np.array([(cuts <= 0).sum() for cuts in dense.cuts_])
    np.testing.assert_array_equal(codes.toarray(), dense.transform(X) - zero)
    np.testing.assert_array_equal(sparse.transform(X), codes.toarray())
    assert (sparse.zero_ == zero).all()
    assert not dense.zero_.any()


def test_an_array_below_zero_and_a_sparse_matrix_after_it():
    y = [0, 0, 1, 1]
    positive = Discretize(min_gain=0).fit([[0.0], [1.0], [2.0], [3.0]], y)
    assert positive.transform(sp.csr_array([[0.0], [2.0]])).toarray().tolist() == [[0.0], [1.0]]
    negative = Discretize(min_gain=0).fit([[-2.0], [-1.0], [1.0], [3.0]], y)
    assert negative.transform([[-1.0], [0.0]]).tolist() == [[0.0], [1.0]]
    with pytest.raises(TamisError, match="fit it on a sparse matrix"):
        negative.transform(sp.csr_array([[0.0], [2.0]]))


def test_wide_sparse_rows_are_never_filled():
    X = sp.random_array((60, 200_000), density=2e-4, format="csr", rng=np.random.default_rng(8))
    y = np.arange(60) % 2
    codes = Discretize(min_gain=1).fit(X, y).transform(X)
    assert codes.shape == X.shape
    assert codes.nnz <= X.nnz


def test_columns_that_cannot_be_cut():
    X = np.column_stack([np.full(6, 3.0), np.zeros(6), np.full(6, NAN), [NAN, NAN, NAN, 1, 1, 1]])
    for min_gain in ("auto", 0):
        model = Discretize(min_gain=min_gain, random_state=0).fit(X, [0, 1, 0, 1, 0, 1])
        assert [cuts.size for cuts in model.cuts_] == [0, 0, 0, 0]
        np.testing.assert_array_equal(model.transform(X), np.where(np.isnan(X), X, 0))


def test_missing_values_are_left_out_of_the_choice():
    rng = np.random.default_rng(9)
    X = rng.random((200, 2))
    y = X[:, 0] > 0.4
    X[rng.random(200) < 0.3, 0] = NAN
    model = Discretize(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.cuts_[0], [0.4], atol=0.02)
    assert np.isnan(model.transform(X)[:, 0]).sum() == np.isnan(X[:, 0]).sum()


def test_it_is_a_transform_in_recipes_and_pipelines():
    X = pl.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 7})
    y = np.arange(40) // 20
    model = tamis.recipe("discretize(ssv, min_gain=1) | knn(3)")
    assert to_text(model) == "discretize(ssv, min_gain=1) | knn(3)"
    assert (model.fit(X, y).predict(X) == y).all()
    assert entry("discretize").kind == "transform"
    named = Discretize(min_gain=1).set_output(transform="polars").fit(X, y).transform(X)
    assert named.columns == ["a", "b"]
    assert make_pipeline(Discretize(random_state=0), KNN(1)).fit(X, y).score(X, y) == 1


@pytest.mark.parametrize(
    "parameters",
    [{"by": "sigmoid"}, {"min_gain": -1}, {"min_gain": "cv"}, {"max_bins": 0}, {"cv": 1}, {"caution": -1.0}],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}'"):
        Discretize(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_bad_data():
    with pytest.raises(ValueError, match="requires y to be passed"):
        Discretize().fit(np.eye(3))
    with pytest.raises(TamisError, match="one class"):
        Discretize().fit(np.eye(3), [1, 1, 1])
    with pytest.raises(TamisError, match='min_gain="auto" needs a class with at least two rows'):
        Discretize().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="infinity"):
        Discretize(min_gain=0).fit([[1.0], [np.inf]], [0, 1])


def test_blocks_of_columns_add_up(monkeypatch):
    rng = np.random.default_rng(10)
    X, y = rng.integers(-2, 3, (40, 11)).astype(float), rng.integers(0, 2, 40)
    whole = Discretize(random_state=0, caution=0).fit(X, y).cuts_
    monkeypatch.setattr("tamis.trees.columns._BLOCK", 160)
    for one, other in zip(whole, Discretize(random_state=0, caution=0).fit(X, y).cuts_, strict=True):
        np.testing.assert_array_equal(one, other)
    assert any(cuts.size for cuts in whole)
