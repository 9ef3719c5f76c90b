"""States of columns and the cuts of sigma, equal width and equal frequency against NumPy, dense and sparse."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ragged import NAN, layouts
from tamis.base.errors import DataError, TamisError
from tamis.bins.values import MOST
from tamis.contingency.states import METHODS, states
from tamis.discretize import Discretize

WHOLE = [0.0, 0.0, 0.0, -0.0, 1.0, 2.0, 3.0, -1.0, 70.0, -3e9, NAN]
MIXED = [*WHOLE, 0.5, -2.25, 1e-3]
UNSUPERVISED = ["sigma", "equal_width", "equal_frequency"]


@st.composite
def matrices(draw, values=MIXED, most=40):
    shape = draw(st.integers(1, most)), draw(st.integers(1, 4))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return draw(hnp.arrays(dtype, shape, elements=st.sampled_from(values), fill=st.nothing()))


def full(found, n_columns):
    """The states as one array (columns, rows), whatever form they are in."""
    if found.codes is not None:
        return found.codes
    out = np.repeat(found.zero[:, None], found.n_rows, axis=1)
    for j in range(n_columns):
        entries = slice(found.indptr[j], found.indptr[j + 1])
        assert (found.stored[entries] != found.zero[j]).all()
        out[j, found.rows[entries]] = found.stored[entries]
    return out


def ranks(x):
    """Places among the distinct known values, -1 where missing."""
    known = ~np.isnan(x)
    out = np.full(x.size, -1)
    out[known] = np.unique(x[known], return_inverse=True)[1]
    return out


def sigma_states(x, n_bins=3):
    """The states of Peng and Ding, in exact arithmetic but for the root."""
    known = x[~np.isnan(x)].astype(float)
    out = np.where(np.isnan(x), -1, 0)
    if np.unique(known).size < 2:
        return out
    exact = [Fraction(v) for v in known]
    mean = sum(exact) / len(exact)
    away = np.array([np.nan if np.isnan(v) else float(Fraction(float(v)) - mean) for v in x])
    if n_bins == 2:
        return np.where(np.isnan(x), -1, away >= 0)
    half = np.sqrt(float(sum((v - mean) ** 2 for v in exact) / (len(exact) - 1))) / 2
    close = 1e-9 * half
    return np.where(np.isnan(x), -1, 1 + (away > half + close) - (away < -half - close))


@given(matrices(WHOLE))
def test_whole_numbers_are_taken_as_they_are(X):
    wanted = np.stack([ranks(x) for x in X.T])
    for layout in layouts(X):
        found = states(layout)
        np.testing.assert_array_equal(full(found, X.shape[1]), wanted)
        np.testing.assert_array_equal(found.sizes, np.maximum(wanted.max(axis=1) + 1, 1))


@given(matrices())
def test_every_value_may_be_a_state(X):
    wanted = np.stack([ranks(x) for x in X.T])
    for layout in layouts(X):
        np.testing.assert_array_equal(full(states(layout, by="values"), X.shape[1]), wanted)


@given(matrices([0.0, 0.0, 1.0, 2.0, 0.5, -2.25, 3.125, NAN]), st.sampled_from([2, 3]))
def test_sigma_equals_exact_arithmetic(X, n_bins):
    wanted = np.stack([sigma_states(x, n_bins) for x in X.T])
    for layout in layouts(X):
        found = states(layout, by="sigma", n_bins=n_bins)
        np.testing.assert_array_equal(full(found, X.shape[1]), wanted)
        np.testing.assert_array_equal(found.sizes, np.maximum(wanted.max(axis=1) + 1, 1))


def test_sigma_cuts_the_colon_data_as_published(shared_data):
    raw = np.load(shared_data / "colon" / "colon_raw.npz", allow_pickle=False)
    theirs = np.load(shared_data / "colon" / "colon_mrmr_discretized.npz", allow_pickle=False)
    found = states(raw["X"].astype(float), by="sigma").codes.T
    assert (found - 1 != np.sign(theirs["X"])).sum() <= 1


def test_weights_may_be_shares():
    X = np.random.default_rng(0).normal(size=(50, 4))
    share = states(X, by="sigma", sample_weight=np.full(50, 1 / 50))
    assert (share.sizes == 3).all()


def test_sigma_keeps_its_digits_far_from_zero():
    X = np.random.default_rng(0).integers(-100, 100, (200, 3)) / 2.0**12
    for form in (np.asarray, sp.csc_array):
        found = states(form(X + 2.0**30), by="sigma")
        np.testing.assert_array_equal(full(found, 3), states(X, by="sigma").codes)
    assert (found.sizes == 3).all()


@given(matrices([0.0, 1.0, 2.0, 0.5, -2.25, NAN]))
def test_auto_cuts_what_is_not_whole(X):
    wanted = []
    for x in X.T:
        whole = (x[~np.isnan(x)] % 1 == 0).all()
        wanted.append(ranks(x) if whole else sigma_states(x))
    for layout in layouts(X):
        np.testing.assert_array_equal(full(states(layout), X.shape[1]), np.stack(wanted))


@pytest.mark.parametrize("factor", [1, 1000])
@pytest.mark.parametrize("few", [True, False])
def test_auto_cuts_more_than_32_whole_numbers(few, factor):
    x = factor * np.arange(32.0 if few else 33.0)
    for X in (x[:, None], sp.csc_array(x[:, None]), (x[:, None]).astype(np.int64), x[:, None].astype(np.int32)):
        found = states(X)
        assert found.sizes[0] == (32 if few else 3)
        np.testing.assert_array_equal(full(found, 1)[0], np.arange(32) if few else sigma_states(x))


def test_nominal_columns_are_taken_as_they_are_whatever_the_way():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 50, 300).astype(float)
    levels[:5] = NAN
    X = np.column_stack([rng.normal(size=300), levels])
    y = rng.integers(0, 2, 300)
    for by in METHODS:
        found = states(X, y, by, nominal=np.array([False, True]))
        np.testing.assert_array_equal(found.codes[1], ranks(levels))
        np.testing.assert_array_equal(found.codes[0], states(X[:, :1], y, by).codes[0])


def test_many_states_take_more_than_a_byte():
    x = np.random.default_rng(0).permutation(500) / 8
    found = states(np.column_stack([x, np.round(x)]), by="values")
    assert found.codes.dtype == np.int32
    np.testing.assert_array_equal(found.codes, [ranks(x), ranks(np.round(x))])
    assert states(np.round(x)[:, None], by="values").codes.dtype == np.int8


@pytest.mark.parametrize("by", METHODS)
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array])
def test_more_columns_than_are_copied_at_a_time(by, form):
    rng = np.random.default_rng(0)
    X = rng.random((40, 600)).round(1) * rng.integers(0, 2, (40, 600))
    X[:, ::7] *= 10
    y = rng.integers(0, 2, 40)
    found = states(form(X), y, by)
    for j in (0, 1, 511, 512, 599):
        np.testing.assert_array_equal(full(found, 600)[j], states(X[:, [j]], y, by).codes[0])


@given(matrices(), st.sampled_from(METHODS[:-2]), st.data())
def test_weights_count_as_repeated_rows(X, by, data):
    times = data.draw(hnp.arrays(np.int64, X.shape[0], elements=st.integers(0, 3)))
    if times.sum() == 0:
        times[0] = 1
    repeated = states(np.repeat(X, times, axis=0), by=by)
    for layout in layouts(X):
        weighted = full(states(layout, by=by, sample_weight=times.astype(float)), X.shape[1])
        np.testing.assert_array_equal(np.repeat(weighted, times, axis=1), full(repeated, X.shape[1]))


@given(matrices(), st.sampled_from(UNSUPERVISED), st.sampled_from([2, 3]))
def test_states_are_the_bins_of_discretize(X, by, n_bins):
    model = Discretize(by, n_bins=n_bins).fit(X)
    wanted = np.nan_to_num(model.transform(X), nan=-1)
    for layout in layouts(X):
        np.testing.assert_array_equal(full(states(layout, by=by, n_bins=n_bins), X.shape[1]).T, wanted)
        for one, other in zip(Discretize(by, n_bins=n_bins).fit(layout).cuts_, model.cuts_, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_ssv_is_that_of_discretize():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 5)) + y[:, None] * [0, 0, 1, 2, 3]
    X[:, 0] = y + 2 * rng.integers(0, 3, 120) + rng.random(120)
    wanted = Discretize("ssv", random_state=0).fit_transform(X, y)
    assert wanted.max() > 1
    np.testing.assert_array_equal(states(X, y, "ssv").codes.T, wanted)
    assert states(X, y, "ssv", n_bins=2).sizes.max() == 2
    with pytest.raises(TamisError, match="pass y"):
        states(X, by="ssv")


@pytest.mark.parametrize("n_bins", [2, 3, 10])
def test_equal_width_is_linspace(n_bins):
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:, 2] *= np.abs(X[:, 2]) > 1
    wanted = [np.linspace(x.min(), x.max(), n_bins + 1)[1:-1] for x in X.T]
    for layout in layouts(X):
        for cuts, other in zip(Discretize("equal_width", n_bins=n_bins).fit(layout).cuts_, wanted, strict=True):
            np.testing.assert_allclose(cuts, other, rtol=1e-12, atol=1e-15)
    assert [c.size for c in Discretize("equal_width").fit(X).cuts_] == [9, 9, 9]


@pytest.mark.parametrize("n_rows", [20, 64, 97])
@pytest.mark.parametrize("n_bins", [2, 4, 8])
def test_equal_frequency_is_quantile(n_rows, n_bins):
    X = np.random.default_rng(n_rows).normal(size=(n_rows, 3))
    share = np.arange(1, n_bins) / n_bins
    wanted = np.quantile(X, share, axis=0, method="averaged_inverted_cdf")
    for layout in layouts(X):
        model = Discretize("equal_frequency", n_bins=n_bins).fit(layout)
        np.testing.assert_allclose(np.column_stack(model.cuts_), wanted)
        bins = model.transform(layout)
        bins = bins.toarray() + model.zero_ if sp.issparse(bins) else bins
        sizes = np.array([np.bincount(b.astype(int), minlength=n_bins) for b in bins.T])
        assert sizes.max() - sizes.min() <= 1
    assert [c.size for c in Discretize("equal_frequency").fit(X).cuts_] == [9, 9, 9]


def test_cuts_between_singles_part_them_as_doubles_do():
    below = np.float32(0.1)
    above = np.nextafter(below, np.float32(1))
    X = np.array([[below], [above], [below], [above]])
    found = states(X, by="equal_frequency", n_bins=2)
    np.testing.assert_array_equal(found.codes, [[0, 1, 0, 1]])


@pytest.mark.parametrize("by", METHODS)
def test_infinity_is_named_by_its_column(by):
    y = np.arange(6) % 2
    for value in (np.inf, -np.inf):
        for rest in (np.tile(np.arange(6.0)[:, None], 3), np.random.default_rng(0).random((6, 3))):
            X = rest.copy()
            X[2, 1] = value
            for layout in (X, np.asfortranarray(X), sp.csr_array(X)):
                with pytest.raises(DataError, match="column 1"):
                    states(layout, y, by)


def test_too_many_values_are_named_by_their_column():
    x = np.arange(MOST + 1) / 2
    X = np.column_stack([x // 1000, x])
    for layout in (X, sp.csr_array(X)):
        with pytest.raises(DataError, match=r"column 1 .* 10001 distinct values"):
            states(layout, by="values")
    assert states(X[:-1], by="values").sizes[1] == MOST
    with pytest.raises(DataError, match=r"column 1 .* 10001 levels, .* leave it out"):
        states(X, by="sigma", nominal=np.array([False, True]))


@pytest.mark.parametrize("n_bins", [1, 4])
def test_sigma_makes_two_or_three_bins(n_bins):
    with pytest.raises(ValueError, match="n_bins"):
        Discretize("sigma", n_bins=n_bins).fit(np.eye(3))


@pytest.mark.parametrize("by", METHODS)
def test_constants_and_columns_without_values_have_one_state(by):
    X = np.column_stack([np.full(9, 0.1), np.full(9, NAN), np.zeros(9), np.full(9, -7.0)])
    for layout in layouts(X):
        found = states(layout, np.arange(9) % 2, by)
        np.testing.assert_array_equal(found.sizes, 1)
        np.testing.assert_array_equal(full(found, 4), np.where(np.isnan(X.T), -1, 0))


@pytest.mark.parametrize("by", UNSUPERVISED)
def test_unsupervised_ways_do_without_classes(by):
    X = np.random.default_rng(0).random((30, 2))
    model = Discretize(by).fit(X)
    assert not hasattr(model, "classes_")
    assert not model.__sklearn_tags__().target_tags.required
    np.testing.assert_array_equal(model.transform(X), Discretize(by).fit(X, np.arange(30) % 2).transform(X))


def test_equal_width_refuses_what_lies_too_far_apart():
    X = np.array([[0.0, -1e308], [1.0, 1e308]])
    with pytest.raises(DataError, match="column 1"):
        Discretize("equal_width").fit(X)


def test_neighbouring_numbers_leave_room_for_one_cut():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)], [1.0]])
    for by in ("equal_width", "equal_frequency"):
        assert Discretize(by, n_bins=9).fit_transform(X).ravel().tolist() == [0.0, 1.0, 0.0]
