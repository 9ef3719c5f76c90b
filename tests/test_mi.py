"""Mutual information and information gain against scikit-learn, in every form that data comes in."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

from tamis.base.errors import DataError, TamisError
from tamis.base.part import Part
from tamis.base.score import score
from tamis.contingency.states import METHODS
from tamis.discretize import Discretize
from tamis.kernels.compiler import all_kernels
from tamis.scores import ig, mi
from tamis.select import Ranking

NAN = float("nan")


@st.composite
def problems(draw, values):
    n, p = draw(st.integers(2, 60)), draw(st.integers(1, 4))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    X = draw(hnp.arrays(dtype, (n, p), elements=st.sampled_from(values), fill=st.nothing()))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3), fill=st.nothing()))
    y[:2] = 0, 1
    return X, y


def forms(X):
    return [X, np.asfortranarray(X), sp.csr_array(X), sp.csc_matrix(X)]


def oracle(X, y):
    """Scikit-learn's score of each column, over the rows in which it is known."""
    known = ~np.isnan(X)
    codes = [np.unique(x, return_inverse=True)[1] for x in X.T]
    return [mutual_info_score(x[k], y[k]) if k.any() else 0.0 for x, k in zip(codes, known.T, strict=True)]


@given(problems([0.0, 0.0, 1.0, 2.0, -3.0, 100.0, NAN]))
def test_mi_equals_scikit_learn_on_whole_numbers(problem):
    X, y = problem
    for form in forms(X):
        np.testing.assert_allclose(mi(form, y), oracle(X, y), atol=1e-9)


@given(problems([0.0, 0.0, 1.0, 0.25, -3.5, NAN]), st.sampled_from(["sigma", "equal_width", "equal_frequency"]))
def test_mi_equals_scikit_learn_on_bins(problem, by):
    X, y = problem
    wanted = oracle(Discretize(by).fit_transform(X), y)
    for form in forms(X):
        np.testing.assert_allclose(mi(form, y, bins=by), wanted, atol=1e-9)


@given(problems([0.0, 0.0, 1.0, 0.25, -3.5, NAN]))
def test_every_value_may_be_a_state(problem):
    X, y = problem
    for form in forms(X):
        np.testing.assert_allclose(mi(form, y, bins="values"), oracle(X, y), atol=1e-9)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint16])
@pytest.mark.parametrize("n_states", [2, 8, 20, 100])
@pytest.mark.parametrize("by", ["auto", "values"])
def test_integers_of_every_type(dtype, n_states, by):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = ((rng.integers(0, n_states, (400, 7)) + y[:, None] * [0, 0, 0, 1, 1, 2, 2]) % n_states).astype(dtype)
    as_they_are = by == "values" or n_states <= 32
    wanted = mutual_info_classif(X, y, discrete_features=True) if as_they_are else mi(X.astype(float), y, bins="sigma")
    wide = np.zeros((400, 14), dtype=dtype)
    wide[:, ::2] = X
    for form in (X, np.asfortranarray(X), wide[:, ::2]):
        np.testing.assert_allclose(mi(form, y, bins=by), wanted, atol=1e-9)


@pytest.mark.parametrize("lowest", [-128, -3, 112])
def test_integers_at_the_ends_of_their_range(lowest):
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 16, (300, 4)), rng.integers(0, 2, 300)
    wanted = mutual_info_classif(codes, y, discrete_features=True)
    np.testing.assert_allclose(mi((codes + lowest).astype(np.int8), y), wanted, atol=1e-9)
    np.testing.assert_allclose(mi((codes + lowest + 128).astype(np.uint8), y), wanted, atol=1e-9)
    far = np.where(codes > 7, np.iinfo(np.int64).max, np.iinfo(np.int64).min)
    np.testing.assert_allclose(mi(far, y), mi(codes // 8, y), atol=1e-9)


def test_integers_do_not_become_floats():
    seen = []

    @score(Part("kept"), supervised=False, takes_codes=True)
    def kept(X, y, sample_weight):
        seen.append(X)
        return np.zeros(2)

    X = np.eye(4, 2, dtype=np.int8)
    kept(X)
    kept(X.astype(np.uint32))
    assert [x.dtype for x in seen] == [np.int8, np.float64]
    assert np.shares_memory(seen[0], X)
    assert mi.takes_codes


def test_mixed_integer_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([rng.integers(0, 3, 200), rng.integers(0, 1000, 200), 10_000 * rng.integers(0, 4, 200)])
    found = mi(X, y)
    np.testing.assert_allclose(found[[0, 2]], mutual_info_classif(X[:, [0, 2]], y, discrete_features=True), atol=1e-9)
    np.testing.assert_allclose(found[1], mi(X[:, [1]].astype(float), y, bins="sigma")[0], atol=1e-9)
    assert mi(X, y, bins="sigma")[2] == pytest.approx(mi(X.astype(float), y, bins="sigma")[2])


@pytest.mark.parametrize("n_states", [3, 30])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, np.int16])
def test_more_columns_than_are_copied_at_a_time(form, n_states):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = rng.integers(0, n_states, (60, 1100)).astype(float)
    found = mi(form(X), y)
    for j in (0, 511, 512, 1099):
        assert found[j] == pytest.approx(mutual_info_score(X[:, j], y), abs=1e-9)


@given(problems([0.0, 0.0, 1.0, 0.25, -3.5, 2.0, NAN]), st.sampled_from(METHODS[:-1]), st.data())
def test_weights_count_as_repeated_rows(problem, by, data):
    X, y = problem
    times = data.draw(hnp.arrays(np.int64, y.size, elements=st.integers(0, 3)))
    times[:2] = 1
    repeated = mi(np.repeat(X, times, axis=0), np.repeat(y, times), bins=by)
    gain = ig(np.repeat(X, times, axis=0), np.repeat(y, times))
    for form in forms(X):
        np.testing.assert_allclose(mi(form, y, sample_weight=times, bins=by), repeated, atol=1e-9)
        np.testing.assert_allclose(ig(form, y, sample_weight=times), gain, atol=1e-9)
    codes = np.nan_to_num(X).astype(np.int8)
    weighted = mi(codes, y, sample_weight=times / 7)
    np.testing.assert_allclose(weighted, mi(np.repeat(codes, times, axis=0), np.repeat(y, times)), atol=1e-9)


@given(problems([0.0, 0.0, 1.0, 0.25, -3.5, NAN]))
def test_ig_is_the_information_of_presence(problem):
    X, y = problem
    wanted = oracle(np.where(np.isnan(X), NAN, X != 0), y)
    for form in forms(X):
        np.testing.assert_allclose(ig(form, y), wanted, atol=1e-9)
        np.testing.assert_array_equal(ig(form, y, of="states"), mi(form, y))
        np.testing.assert_array_equal(
            ig(form, y, of="states", bins="sigma", n_bins=2), mi(form, y, bins="sigma", n_bins=2)
        )


def test_ig_is_the_drop_of_entropy():
    def entropy(y):
        share = np.bincount(y) / y.size
        return -sum(p * np.log(p) for p in share if p > 0)

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 80)
    word = (rng.random(80) < 0.2 + 0.3 * y).astype(float)
    present = word > 0
    wanted = entropy(y) - present.mean() * entropy(y[present]) - (~present).mean() * entropy(y[~present])
    assert ig(word[:, None], y)[0] == pytest.approx(wanted, abs=1e-12)


def test_nominal_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    levels = np.array([f"level {i}" for i in range(40)])[(rng.integers(0, 20, 150) + 20 * y)]
    number = rng.normal(size=150)
    words = [None if i < 4 else str(v) for i, v in enumerate(levels)]
    frame = pl.DataFrame({"number": number, "word": words})
    wanted = mutual_info_score(levels[4:], y[4:])
    for by in METHODS[:-1]:
        found = mi(frame, y, bins=by)
        assert found[1] == pytest.approx(wanted, abs=1e-9)
        assert found[0] == pytest.approx(mi(number[:, None], y, bins=by)[0])
    assert ig(frame, y)[1] == pytest.approx(wanted, abs=1e-9)
    assert ig(frame, y)[0] == 0
    assert Ranking("mi", k=1).fit(frame, y).get_support().tolist() == [False, True]


def test_constants_and_what_is_not_known_score_nothing():
    y = np.arange(20) % 3
    X = np.column_stack([np.full(20, 0.1), np.zeros(20), np.full(20, NAN), np.where(np.arange(20) < 1, 5.0, NAN)])
    for by in METHODS:
        for form in forms(X):
            np.testing.assert_array_equal(mi(form, y, bins=by), 0)
            np.testing.assert_array_equal(ig(form, y), 0)
    np.testing.assert_array_equal(mi(np.full((20, 2), 7), y), 0)


def test_columns_may_move():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(50, 3)), rng.integers(0, 4, (50, 3)), rng.integers(0, 999, (50, 3))])
    y, order = rng.integers(0, 2, 50), rng.permutation(9)
    for form in (np.asarray, sp.csr_array):
        np.testing.assert_array_equal(mi(form(X[:, order]), y), mi(form(X), y)[order])


def test_a_perfect_feature_has_the_entropy_of_the_classes():
    y = np.repeat([0, 1, 2], [10, 20, 30])
    entropy = -sum(p * np.log(p) for p in (1 / 6, 2 / 6, 3 / 6))
    assert mi((10 - y)[:, None], y)[0] == pytest.approx(entropy, abs=1e-12)
    assert ig((y == 1)[:, None], (y == 1))[0] == pytest.approx(-1 / 3 * np.log(1 / 3) - 2 / 3 * np.log(2 / 3))


@pytest.mark.parametrize("by", METHODS)
def test_infinity_is_named_by_its_column(by):
    X = np.random.default_rng(0).random((8, 3))
    X[3, 2] = np.inf
    for form in forms(X):
        with pytest.raises(DataError, match="column 2"):
            mi(form, np.arange(8) % 2, bins=by)
        with pytest.raises(DataError, match="column 2"):
            ig(form, np.arange(8) % 2)


def test_bad_input():
    X, y = np.random.default_rng(0).random((10_100, 1)), np.arange(10_100) % 2
    with pytest.raises(DataError, match=r"column 0 .* at most 10000"):
        mi(X, y, bins="values")
    with pytest.raises(TamisError, match="one class"):
        mi(X, np.zeros(10_100))
    with pytest.raises(TamisError, match="pass y"):
        mi(X)
    with pytest.raises(ValueError, match="0 sample"):
        mi(np.empty((0, 3), dtype=np.int8), [])
    with pytest.raises(ValueError, match="0 feature"):
        mi(np.empty((3, 0), dtype=np.int8), [0, 1, 0])
    with pytest.raises(ValueError, match="inconsistent"):
        mi(np.eye(3, dtype=np.int8), [0, 1])
    with pytest.raises(ValueError, match="2D array"):
        mi(np.arange(3), [0, 1, 0])
    with pytest.raises(ValueError, match="'bins'"):
        mi(X, y, bins="octiles")
    with pytest.raises(ValueError, match="'n_bins'"):
        mi(X, y, n_bins=1)
    with pytest.raises(TamisError, match="2 or 3 bins"):
        mi(X, y, n_bins=5)
    with pytest.raises(TamisError, match="no p-values"):
        mi.pvalues(X, y)


def test_every_kernel_declares_the_types_it_is_called_with():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    names = ("few_counts", "stored_counts", "whole_values", "few_values", "row_states", "segment_states")
    kernels = {k.__name__: k for k in all_kernels() if k.__name__ in (*names, "quantile_cuts")}
    for dtype in (np.float32, np.float64):
        X = rng.random((40, 3)).astype(dtype)
        for form in (X, X.round(), 1000 * X.round(), sp.csr_array(X), sp.csc_array(X.round())):
            for by in METHODS[:-1]:
                mi(form, y, bins=by)
                mi(form, y, bins=by, sample_weight=np.ones(40))
    mi(rng.integers(0, 3, (40, 2)).astype(np.uint8), y)
    assert len(kernels) == 7
    for kernel in kernels.values():
        used = set(kernel._ready)
        kernel.warm()
        assert used <= kernel._ready
        assert len(kernel._ready) == len(kernel.signatures)
