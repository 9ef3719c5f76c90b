"""Intervals by MODL against exact optima, plain twins, planted intervals and noise."""

from math import comb, log

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from modl_oracle import cost_of, least_cost, plain_search, planted
from ragged import NAN, layouts, problems
from tamis.base.errors import DataError, TamisError
from tamis.contingency.states import states
from tamis.discretize import Discretize
from tamis.discretize.modl import modl_intervals
from tamis.kernels.modl import FEW, interval_cuts
from tamis.scores import mi, modl
from tamis.select import MRMR, Ranking


def check_optimal(x, y, most=None):
    n_classes = int(y.max()) + 1
    (cuts,), (gain,) = (a if i else a.apart() for i, a in enumerate(modl_intervals(x[:, None], y, max_bins=most)))
    found = cost_of(x.astype(float), y, cuts, n_classes)
    assert found == pytest.approx(least_cost(x.astype(float), y, n_classes, most), abs=1e-9)
    assert gain == pytest.approx(cost_of(x, y, [], n_classes) - found, abs=1e-9)
    assert (gain > 0) == (cuts.size > 0)


@given(problems())
def test_few_values_are_cut_at_the_optimum(problem):
    X, y = problem
    for x in X.T:
        if not np.isnan(x).all():
            check_optimal(x, y)


@pytest.mark.parametrize("seed", range(40))
def test_sixty_rows_are_cut_at_the_optimum(seed):
    check_optimal(*planted(seed))
    check_optimal(*planted(seed), most=3)


def above_optimum(seeds, **size):
    """By what share the cost is above the least one."""
    found = []
    for seed in seeds:
        x, y = planted(seed, **size)
        n_classes = int(y.max()) + 1
        found.append(
            cost_of(x, y, modl_intervals(x[:, None], y).cuts.values, n_classes) / least_cost(x, y, n_classes) - 1
        )
    return np.array(found)


@pytest.mark.slow
def test_five_hundred_problems_are_cut_at_the_optimum():
    assert above_optimum(range(1000, 1500)).max() < 1e-9


@pytest.mark.slow
def test_columns_too_long_for_all_intervals_are_cut_near_the_optimum():
    above = above_optimum(range(1, 361, 3), most=260, least=160)
    assert (above < 1e-9).mean() >= 0.95
    assert above.max() < 0.01


@pytest.mark.parametrize("seed", range(6))
def test_the_search_equals_a_plain_one(seed):
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 3
    y = np.repeat(rng.integers(0, n_classes, 8), 25)
    y = np.where(rng.random(200) < 0.6, rng.integers(0, n_classes, 200), y)
    assert np.count_nonzero(np.diff(y)) >= FEW
    cuts = modl_intervals(np.arange(200.0)[:, None], y, n_classes).cuts.values
    assert (cuts + 0.5).astype(int).tolist() == plain_search(y, n_classes)
    assert cuts.size > 0


def test_planted_intervals_are_found():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 3))
    y = ((X[:, 0] > 0.3) & (X[:, 0] < 0.6)) ^ (rng.random(2000) < 0.2)
    one, other, none = modl_intervals(X, y.astype(int)).cuts.apart()
    np.testing.assert_allclose(one, [0.3, 0.6], atol=0.01)
    assert other.size == none.size == 0
    classes = np.array([3, 1, 0, 4, 2])[(5 * X[:, 1]).astype(int)]
    classes = np.where(rng.random(2000) < 0.3, rng.integers(0, 5, 2000), classes)
    np.testing.assert_allclose(modl_intervals(X[:, [1]], classes).cuts.values, [0.2, 0.4, 0.6, 0.8], atol=0.01)


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_noise_is_left_in_one_interval(n_classes):
    rng = np.random.default_rng(1)
    cuts = modl_intervals(rng.random((1000, 1000)), rng.permutation(np.arange(1000) % n_classes)).cuts
    assert (cuts.count == 0).mean() >= 0.99


def test_more_noise_is_cut_when_rows_are_few():
    rng = np.random.default_rng(2)
    cuts = modl_intervals(rng.random((100, 1000)), rng.permutation(np.arange(100) % 2)).cuts
    assert 0 < (cuts.count > 0).mean() < 0.03


@given(problems(most=40), st.data())
def test_weights_count_as_repeated_rows(problem, data):
    X, y = problem
    times = data.draw(hnp.arrays(np.int64, y.size, elements=st.integers(0, 3)))
    assume(times.sum() > 0)
    repeated = modl_intervals(np.repeat(X, times, axis=0), np.repeat(y, times))
    for layout in layouts(X):
        weighted = modl_intervals(layout, y, sample_weight=times.astype(float))
        np.testing.assert_array_equal(weighted.cuts.values, repeated.cuts.values)
        np.testing.assert_array_equal(weighted.cuts.count, repeated.cuts.count)
        np.testing.assert_array_equal(weighted.gains, repeated.gains)


def test_weights_may_be_fractions():
    x, y = planted(10, most=300, least=300)
    X = x[:, None]
    one, half = modl_intervals(X, y), modl_intervals(X, y, sample_weight=np.full(300, 0.5))
    assert 0.3 * one.gains[0] < half.gains[0] < 0.5 * one.gains[0]
    tiny = modl_intervals(X, y, sample_weight=1.0 + 1e-9 * np.arange(300))
    np.testing.assert_array_equal(tiny.cuts.values, one.cuts.values)
    np.testing.assert_allclose(tiny.gains, one.gains, rtol=1e-6)
    sparse = modl_intervals(sp.csc_array(X * (x > 0.4)), y, sample_weight=np.full(300, 0.1) * (1 + y))
    dense = modl_intervals(X * (x > 0.4), y, sample_weight=np.full(300, 0.1) * (1 + y))
    np.testing.assert_array_equal(sparse.cuts.values, dense.cuts.values)
    np.testing.assert_allclose(sparse.gains, dense.gains)


def test_huge_weights_are_more_than_factorials_are_listed_for():
    x, y = planted(7, most=300, least=300)
    small, huge = (modl_intervals(x[:, None], y, sample_weight=np.full(300, w)).gains[0] for w in (1.0, 1e7))
    assert huge > 1e6 * small
    assert modl_intervals(x[:, None], y, sample_weight=np.full(300, 1e18)).gains[0] > 0


def test_missing_values_stored_in_parts_are_counted_once():
    x, y = np.arange(40.0), np.arange(40) // 20
    x[::5] = NAN
    rows = np.sort(np.append(np.arange(40), np.flatnonzero(np.isnan(x))))
    parts = sp.csc_matrix((x[rows], rows, [0, rows.size]), shape=(40, 1))
    assert parts.nnz == 48
    np.testing.assert_array_equal(modl(parts, y), modl(x[:, None], y))


def test_rows_without_weight_leave_nothing():
    X = np.random.default_rng(0).random((9, 2))
    found = modl_intervals(X, np.arange(9) % 3, sample_weight=np.zeros(9))
    assert found.cuts.count.tolist() == found.gains.tolist() == [0, 0]
    assert modl_intervals(X[:, :0], np.arange(9) % 3).gains.size == 0


@given(problems(most=60))
def test_every_layout_has_the_same_intervals(problem):
    X, y = problem
    wanted = modl_intervals(X, y)
    for layout in layouts(X)[1:]:
        found = modl_intervals(layout, y)
        np.testing.assert_array_equal(found.cuts.values, wanted.cuts.values)
        np.testing.assert_array_equal(found.gains, wanted.gains)


@given(st.integers(0, 10**6), st.booleans())
def test_only_the_order_of_values_and_rows_of_the_same_class_counts(seed, long):
    x, y = planted(seed, **({"most": 200, "least": 150} if long else {}))
    rng = np.random.default_rng(seed)
    gain = modl_intervals(x[:, None], y).gains[0]
    order = rng.permutation(y.size)
    assert modl_intervals(x[order, None], y[order]).gains[0] == gain
    assert modl_intervals(np.exp(3 * x)[:, None] - 5, y).gains[0] == gain
    assert modl_intervals(x[:, None], rng.permutation(y.max() + 1)[y]).gains[0] == pytest.approx(gain, abs=1e-9)
    if not long:
        assert modl_intervals(-x[:, None], y).gains[0] == pytest.approx(gain, abs=1e-9)


def test_a_class_more_makes_intervals_dearer():
    x, y = planted(7)
    assert modl_intervals(x[:, None], y, 6).gains[0] < modl_intervals(x[:, None], y).gains[0]


def test_no_more_intervals_than_allowed():
    x = np.arange(400.0)[:, None]
    y = np.repeat([0, 1, 0, 1], 100)
    y[::5] = 0
    sizes = [modl_intervals(x, y, max_bins=most).cuts.values.size for most in (1, 2, 3, 4, 9)]
    assert sizes == [0, 1, 2, 3, 3]
    assert [c.size for c in Discretize("modl", max_bins=2).fit(x, y).cuts_] == [1]


def test_discretize_and_states_have_the_same_bins():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 4)) * (rng.random((200, 4)) < 0.7)
    y = ((np.abs(X[:, 0]) > 0.9) | (X[:, 1] > 0.5)).astype(int)
    X[:5, 1] = NAN
    bins = np.nan_to_num(Discretize("modl").fit_transform(X, y), nan=-1)
    assert bins.max() >= 2
    np.testing.assert_array_equal(states(X, y, "modl").codes.T, bins)
    assert states(X, y, "modl", n_bins=2).sizes.max() == 2
    assert (mi(X, y, bins="modl") > 0).tolist() == (modl(X, y) > 0).tolist() == [True, True, False, False]
    assert MRMR(2, bins="modl").fit(X, y).get_support().tolist() == [True, True, False, False]
    with pytest.raises(TamisError, match="pass y"):
        states(X, by="modl")


def test_the_score_is_the_gain_for_each_row():
    X = np.column_stack([np.arange(40.0), np.arange(40.0) % 5, np.full(40, 7.0), np.full(40, NAN)])
    y = np.repeat([0, 1], 20)
    wanted = (log(comb(40, 20)) - 2 * log(21)) / 40
    np.testing.assert_allclose(modl(X, y), [wanted, 0, 0, 0])
    np.testing.assert_allclose(modl(X, y, sample_weight=np.full(40, 2.0))[0], (log(comb(80, 40)) - 2 * log(41)) / 80)
    X[::4, 0] = NAN
    np.testing.assert_allclose(modl(X, y)[0], (log(comb(30, 15)) - 2 * log(16)) / 30)


def test_a_ranking_without_a_number_leaves_out_what_says_nothing():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 30))
    y = X[:, 3] - X[:, 8] > 0
    assert np.flatnonzero(Ranking("modl").fit(X, y).get_support()).tolist() == [3, 8]


def test_infinity_is_named_by_its_column():
    X = np.random.default_rng(0).random((8, 3))
    X[3, 2] = np.inf
    for layout in layouts(X):
        with pytest.raises(DataError, match="column 2"):
            modl(layout, np.arange(8) % 2)
        with pytest.raises(DataError, match="column 2"):
            modl_intervals(layout, np.arange(8) % 2)


def test_the_kernel_declares_the_types_it_is_called_with():
    X, y = np.random.default_rng(0).random((20, 2)), np.arange(20) % 2
    for layout in (X, X.astype(np.float32), sp.csr_array(X), sp.csc_array(X)):
        modl_intervals(layout, y, sample_weight=np.full(20, 0.5))
        modl_intervals(layout, y.astype(np.int32))
    used = set(interval_cuts._ready)
    interval_cuts.warm()
    assert used <= interval_cuts._ready
    assert len(interval_cuts._ready) == len(interval_cuts.signatures) == 1
