"""Regression lines of optimal bins in place of values: brute force, ruptures, ends, sparse, and use in recipes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tamis
from binning_oracle import line_error, partitions
from tamis.base.errors import TamisError
from tamis.discretize import BinMeans, LineBins
from tamis.discretize.optimal import line_bins

NAN = float("nan")
VALUES = [0.0, 0.0, 1.0, 2.0, 3.5, 5.0, 6.0, 8.0, -1.0, -2.5, NAN]


def problem(seed=0, n=120, sparse=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    if sparse:
        X *= rng.random(X.shape) < 0.4
    return X, 5.0 + np.abs(X[:, 0]) + 0.3 * rng.normal(size=n)


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 2)), elements=st.sampled_from(VALUES)),
    st.integers(0, 10**6),
    st.sampled_from(["auto", 0.0, 0.2, 1.0]),
    st.sampled_from([None, 2]),
    st.sampled_from([1, 3]),
)
@settings(max_examples=40)
def test_lines_cost_as_little_as_the_best_of_all(X, seed, gain, max_bins, min_rows):
    y = np.random.default_rng(seed).normal(size=X.shape[0]) + 100.25
    model = LineBins(min_rows, min_gain=gain, max_bins=max_bins, cv=None).fit(X, y)
    out = model.transform(X)
    for j, cuts in enumerate(model.cuts_):
        known = ~np.isnan(X[:, j])
        if not known.any():
            assert cuts.size == 0
            continue
        x, target = X[known, j], y[known]
        each = line_error(x, target) / max(x.size - 1, 1) if gain == "auto" else gain
        best = min(sum(line_error(x[r], target[r]) + each for r in b) for b in partitions(x, min_rows, max_bins))
        left = ((target - out[known, j]) ** 2).sum() + each * (cuts.size + 1)
        assert left == pytest.approx(best, abs=1e-8)


def test_values_and_slopes_are_those_of_the_function_of_one_column():
    X, y = problem(1, 300)
    X[::7, 2] = NAN
    value, slope = (LineBins(20, output=output).fit(X, y) for output in ("value", "slope"))
    for j in range(4):
        found, known = line_bins(X[:, j], y, min_rows=20), ~np.isnan(X[:, j])
        np.testing.assert_array_equal(value.cuts_[j], found.cuts)
        np.testing.assert_allclose(value.transform(X)[known, j], found.values(X[known, j]), rtol=1e-9)
        np.testing.assert_allclose(slope.transform(X)[known, j], found.slopes_at(X[known, j]), atol=1e-9)
    assert value.transform(X)[0, 2] == pytest.approx(y[::7].mean())
    assert slope.transform(X)[0, 2] == 0
    assert sum(cuts.size for cuts in value.cuts_) > 0


def test_cuts_are_those_of_ruptures():
    ruptures = pytest.importorskip("ruptures")
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(70))
    y = np.select([x < 0.3, x < 0.7], [3 * x, 2 - x], 4 * x - 3) + 0.1 * rng.normal(size=70)
    signal = np.column_stack((y, np.ones(70), x))
    for bins in (2, 3, 4):
        theirs = ruptures.Dynp(model="linear", min_size=8, jump=1).fit(signal).predict(n_bkps=bins - 1)
        (cuts,) = LineBins(8, min_gain=0, max_bins=bins).fit(x[:, None], y).cuts_
        assert np.searchsorted(x, cuts).tolist() == theirs[:-1]


def test_lines_end_with_the_values_of_their_bin():
    x = np.concatenate((np.arange(10.0), 100 + np.arange(10.0)))
    y = np.concatenate((np.arange(10.0), 50 - 2 * np.arange(10.0)))
    model = LineBins().fit(x[:, None], y)
    assert model.cuts_[0].tolist() == [54.5]
    np.testing.assert_array_equal(model.ends_[0], [[0, 9], [100, 109]])
    np.testing.assert_allclose(model.values_[0], [[0, 9], [50, 32]], atol=1e-12)
    out = model.transform([[-5.0], [3.5], [40.0], [60.0], [100.5], [1000.0]]).ravel()
    np.testing.assert_allclose(out, [0, 3.5, 9, 50, 49, 32], atol=1e-12)


def test_a_distant_column_loses_no_digits():
    X, y = problem(2, 200)
    model, far = LineBins(20).fit(X, y), LineBins(20).fit(X + 2.0**30, y)
    np.testing.assert_allclose(far.transform(X + 2.0**30), model.transform(X), rtol=1e-6)
    huge = LineBins(20).fit(X * 1e300, y)
    np.testing.assert_allclose(huge.transform(X * 1e300), model.transform(X), rtol=1e-9)


@given(st.integers(0, 10**6), st.sampled_from(["value", "slope"]))
@settings(max_examples=20)
def test_sparse_values_are_dense_ones_less_that_of_zero(seed, output):
    X, y = problem(seed, 60, sparse=True)
    X[seed % 60, 1] = NAN
    dense, sparse = LineBins(6, output=output).fit(X, y), LineBins(6, output=output).fit(sp.csr_array(X), y)
    new = np.concatenate([X, X + 0.5, np.zeros((1, 4))])
    expected = dense.transform(new) - dense.transform(np.zeros((1, 4)))
    np.testing.assert_allclose(sparse.transform(sp.csc_matrix(new)).toarray(), expected, atol=1e-8)
    np.testing.assert_allclose(sparse.transform(new), expected, atol=1e-8)


def test_columns_of_one_value_and_single_rows():
    X, y = np.column_stack((np.ones(30), np.zeros(30), np.full(30, NAN))), np.arange(30) / 7
    np.testing.assert_allclose(LineBins().fit(X, y).transform(X), y.mean())
    assert not LineBins(output="slope").fit(X, y).transform(X).any()
    assert LineBins().fit([[3.0]], [2.5]).transform([[7.0]]).tolist() == [[2.5]]


def test_wide_sparse_rows_are_never_filled():
    X = sp.random_array((60, 20_000), density=1e-3, format="csr", rng=np.random.default_rng(8))
    out = LineBins(2, cv=2, random_state=0).fit_transform(X, np.arange(60) / 7)
    assert out.shape == X.shape
    assert out.nnz <= X.nnz


def test_fewer_lines_than_means_follow_a_curve():
    rng = np.random.default_rng(4)
    X = 4 * rng.random((400, 2)) - 2
    y = np.abs(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=400)
    found = {
        text: tamis.validate(text, X, y, folds=5).summary()["r2"].mean
        for text in ("standardize | ridge", "line_bins(100) | ridge")
    }
    assert found["standardize | ridge"] < 0.9
    assert found["line_bins(100) | ridge"] > 0.97
    x, y = X[:, :1], y - X[:, 1]
    lines, means = (part(20, min_gain=0.1).fit(x, y).cuts_[0].size for part in (LineBins, BinMeans))
    assert lines == 1
    assert means > 3
    assert tamis.recipe("line_bins | knn(3)").steps[1][1].__class__.__name__ == "KNNRegressor"


def test_classes_are_refused_with_the_part_to_take_instead():
    X, y = problem()
    words = np.where(y > y.mean(), "b", "a")
    sentence = "line_bins is for numbers, and the target holds classes: take bin_means"
    with pytest.raises(TamisError, match=sentence):
        LineBins().fit(X, words)
    with pytest.raises(TamisError, match=sentence):
        tamis.validate("line_bins | knn(3)", X, words)
    with pytest.raises(TamisError, match=r"cv needs at least two rows, got 1 sample"):
        LineBins().fit_transform(X[:1], y[:1])
    with pytest.raises(ValueError, match="output"):
        LineBins(output="level").fit(X, y)
    with pytest.raises(ValueError, match="requires y"):
        LineBins().fit(X)
