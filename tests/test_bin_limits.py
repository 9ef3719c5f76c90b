"""Limits and losses of optimal bins against brute force, and their errors."""

from dataclasses import asdict

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from binning_oracle import line_error, partitions
from tamis.base.errors import TamisError
from tamis.discretize import BinMeans, Discretize, LineBins
from tamis.discretize.optimal.limits import BinLimits
from tamis.discretize.optimal.losses import Strips, number_losses
from tamis.discretize.optimal.numeric_target import line_bins, mean_bins
from tamis.discretize.optimal.optimal import limited_cuts
from tamis.kernels.bin_starts import bin_error, cheapest, room_for
from tamis.kernels.deviations import run_deviations
from tamis.kernels.leaving_starts import hold, leave, places_for
from tamis.kernels.optimal_binning import best_bins

NAN = float("nan")
WAYS = [(loss, centre) for loss in ("squared", "absolute") for centre in ("mean", "median")]


@st.composite
def limits(draw):
    """Limits that do not contradict each other one by one."""
    least, fewest, narrow = (draw(st.sampled_from(v)) for v in ([0, 1, 2, 3], [1, 1, 2, 4], [0.0, 0.0, 1.0, 2.5]))
    return BinLimits(
        fewest,
        draw(st.sampled_from([None, fewest, fewest + 2])),
        least,
        draw(st.sampled_from([None, None, max(least, 1) + 1, least + 4])),
        narrow,
        draw(st.sampled_from([None, None, narrow + 1.0, narrow + 4.0])),
    )


VALUES = [0.0, 1.0, 1.5, 2.0, 3.5, 5.0, 6.0, 8.0, 9.0, 9.5, 11.0, 12.0]


@st.composite
def columns(draw, most=7):
    n = draw(st.integers(1, most))
    x = draw(st.lists(st.sampled_from(VALUES), min_size=n, max_size=n))
    return np.array(x), np.random.default_rng(draw(st.integers(0, 10**6)))


def deviations(y, weight, loss, centre):
    """The loss of one bin, by numpy on repeated rows."""
    y = np.repeat(y, weight)
    middle = y.mean() if centre == "mean" else np.median(y)
    return float((np.abs(y - middle) ** (2 if loss == "squared" else 1)).sum())


def allowed(x, weight, bins, limit):
    if np.unique(x).size == 1:
        return True
    for rows in bins:
        size, width = weight[rows].sum(), np.ptp(x[rows])
        if (limit.max_rows is not None and size > limit.max_rows) or (
            limit.max_width is not None and width > limit.max_width + 1e-9
        ):
            return False
        if len(bins) > 1 and (size < limit.min_rows or width < limit.min_width - 1e-9):
            return False
    return limit.min_bins <= len(bins) <= (limit.max_bins or len(bins))


def least_cost(x, weight, limit, each, error):
    costs = [
        sum(error(rows) + each for rows in bins) for bins in partitions(x, 0, None) if allowed(x, weight, bins, limit)
    ]
    return min(costs, default=None)


def as_arguments(limit):
    return asdict(limit)


def check_numbers(column, limit, gain, way):
    x, rng = column
    y, weight = np.round(rng.normal(size=x.size), 1) + 50, rng.integers(1, 3, x.size)
    if way == "line":
        find, options = line_bins, {}

        def error(rows):
            return line_error(np.repeat(x[rows], weight[rows]), np.repeat(y[rows], weight[rows]))
    else:
        find, options = mean_bins, {"loss": way[0], "centre": way[1]}

        def error(rows):
            return deviations(y[rows], weight[rows], *way)

    each = error(np.arange(x.size)) / max(weight.sum() - 1, 1) if gain is None else gain
    best = least_cost(x, weight, limit, each, error)
    if best is None:
        with pytest.raises(TamisError, match="x has no bins with"):
            find(x, y, min_gain=gain, sample_weight=weight, **options, **as_arguments(limit))
        return
    found = find(x, y, min_gain=gain, sample_weight=weight, **options, **as_arguments(limit))
    place = np.searchsorted(found.cuts, x, side="right")
    bins = [np.flatnonzero(place == b) for b in range(found.cuts.size + 1)]
    assert allowed(x, weight, bins, limit)
    assert found.cost == pytest.approx(best, abs=1e-7)
    assert sum(error(rows) + each for rows in bins) == pytest.approx(best, abs=1e-7)
    if way != "line":
        middle = np.mean if way[1] == "mean" else np.median
        expected = [middle(np.repeat(y[rows], weight[rows])) for rows in bins]
        np.testing.assert_allclose(found.means, expected, atol=1e-9)


gains, ways = st.sampled_from([None, 0.0, 0.2, 2.0]), st.sampled_from([*WAYS, "line"])


@given(columns(), limits(), gains, ways)
@settings(max_examples=60)
def test_limited_bins_of_numbers_cost_as_little_as_the_best_of_all(column, limit, gain, way):
    check_numbers(column, limit, gain, way)


@pytest.mark.slow
@given(columns(most=12), limits(), gains, ways)
@settings(max_examples=400)
def test_limited_bins_of_twelve_numbers_cost_as_little_as_the_best_of_all(column, limit, gain, way):
    check_numbers(column, limit, gain, way)


def check_classes(column, limit, gain, way, k):
    x, rng = column
    x = np.append(x, NAN)
    y = rng.integers(0, k, x.size)
    y[0] = k - 1
    weight = rng.integers(1, 3, x.size)
    indicators = np.eye(k)[y]

    def error(rows):
        return 0.5 * sum(deviations(one, weight[rows], *way) for one in indicators[rows].T)

    known = np.arange(x.size - 1)
    each = error(known) / max(weight[known].sum() - 1, 1) if gain == "auto" else gain
    best = least_cost(x[:-1], weight[:-1], limit, each, error)
    # Two columns, of which the first is easy.
    X = np.column_stack((np.zeros(x.size), x))
    found = []
    for layout in (X, sp.csr_array(X)):
        if best is None:
            with pytest.raises(TamisError, match=r"column 1 \(counted from 0\) has no bins with"):
                limited_cuts(layout, y, weight.astype(float), limit, gain, *way)
            continue
        constant, cuts = limited_cuts(layout, y, weight.astype(float), limit, gain, *way).apart()
        assert constant.size == 0
        found.append(cuts)
        place = np.searchsorted(cuts, x[:-1], side="right")
        bins = [np.flatnonzero(place == b) for b in range(cuts.size + 1)]
        assert allowed(x[:-1], weight[:-1], bins, limit)
        assert sum(error(rows) + each for rows in bins) == pytest.approx(best, abs=1e-9)
    assert not found or found[0].tolist() == found[1].tolist()


penalties = st.sampled_from(["auto", 0.0, 0.3])


@given(columns(), limits(), penalties, st.sampled_from(WAYS), st.integers(2, 3))
@settings(max_examples=60)
def test_limited_bins_of_classes_cost_as_little_as_the_best_of_all(column, limit, gain, way, k):
    check_classes(column, limit, gain, way, k)


@pytest.mark.slow
@given(columns(most=12), limits(), penalties, st.sampled_from(WAYS), st.integers(2, 3))
@settings(max_examples=400)
def test_limited_bins_of_twelve_classes_cost_as_little_as_the_best_of_all(column, limit, gain, way, k):
    check_classes(column, limit, gain, way, k)


def plain_windows(sums, x, gain, limit):
    """The least cost by dynamic programming over all pairs and all numbers of bins, without pruning."""
    below = np.concatenate((np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)))
    m = x.size
    costs = np.full((m + 1, m + 1), np.inf)
    for t in range(1, m + 1):
        part = below[t] - below[:t]
        fits = (part[:, 0] >= limit.min_rows) & (part[:, 0] <= (limit.max_rows or np.inf))
        width = x[t - 1] - x[:t]
        fits &= (width >= limit.min_width) & (width <= (limit.max_width or np.inf))
        errors = part[:, 1] - (part[:, 2:] ** 2).sum(axis=1) / part[:, 0] + gain
        costs[:t, t] = np.where(fits, errors, np.inf)
    path = np.full(m + 1, np.inf)
    path[0], best = 0.0, np.inf
    for bins in range(1, (limit.max_bins or m) + 1):
        path = (path[:, None] + costs).min(axis=0)
        if bins >= limit.min_bins:
            best = min(best, path[m])
    return best


@pytest.mark.parametrize("numbers", [1, 2])
@pytest.mark.parametrize(
    "limit",
    [
        BinLimits(min_rows=1, max_rows=40),
        BinLimits(min_rows=5, max_rows=23, max_bins=14),
        BinLimits(min_rows=4, min_width=0.05, max_width=0.2),
        BinLimits(min_bins=12, min_rows=1),
        BinLimits(min_bins=9, max_bins=11, min_rows=3, max_width=0.3),
        BinLimits(min_bins=20, max_bins=20, min_rows=1),
    ],
)
def test_pruning_within_limits_loses_nothing_on_long_columns(limit, numbers):
    rng = np.random.default_rng(numbers)
    n = 150
    x = np.sort(rng.random(n))
    y = np.repeat(rng.normal(size=(5, numbers)), n // 5, axis=0) + 0.7 * rng.normal(size=(n, numbers))
    weight = rng.integers(1, 3, n).astype(float)
    sums = np.column_stack((weight, weight * (y**2).sum(axis=1), weight[:, None] * y))
    for gain in (0.05, 2.0, 20.0):
        begins, cost = limit.solve(np.zeros(1), np.array([0, n]), x, sums, gain)
        assert cost[0] == pytest.approx(plain_windows(sums, x, gain, limit), rel=1e-10)
        assert limit.min_bins <= begins.sum() + 1 <= (limit.max_bins or n)


def check_long(seed, most, numbers, gain):
    """Columns of all kinds within limits of all kinds cost what dynamic programming over all pairs finds."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, most))
    x = np.sort(rng.random(n))
    steps = np.repeat(rng.random((n // 6 + 1, numbers)), 6, axis=0)[:n]
    # Noise about steps, numbers with many ties, zeros and ones, and a random walk.
    noisy, walk = steps + 0.3 * rng.normal(size=steps.shape), np.cumsum(rng.normal(size=steps.shape), axis=0)
    y = [noisy, np.round(steps, 1), (rng.random(steps.shape) < steps) * 1.0, walk][rng.integers(4)]
    weight = rng.integers(1, 3, n).astype(float)
    few, least, narrow = int(rng.integers(1, 6)), float(rng.integers(0, 6)), 0.1 * rng.random() * rng.integers(2)
    limit = BinLimits(
        few,
        few + int(rng.integers(6)) if rng.random() < 0.5 else None,
        least,
        least + 2 + float(rng.integers(n)) if rng.random() < 0.8 else None,
        narrow,
        narrow + rng.random() / 2 if rng.random() < 0.5 else None,
    )
    sums = np.column_stack((weight, weight * (y**2).sum(axis=1), weight[:, None] * y))
    best = plain_windows(sums, x, gain, limit)
    if few == 1 and weight.sum() <= (limit.max_rows or np.inf) and np.ptp(x) <= (limit.max_width or np.inf):
        # A single bin may have fewer rows, and be narrower, than the limits say.
        best = min(best, sums[:, 1].sum() - (sums[:, 2:].sum(axis=0) ** 2).sum() / weight.sum() + gain)
    if np.isinf(best):
        with pytest.raises(TamisError, match=r"column 0 .* has no bins with"):
            limit.solve(np.zeros(1), np.array([0, n]), x, sums, gain)
        return
    begins, cost = limit.solve(np.zeros(1), np.array([0, n]), x, sums, gain)
    assert cost[0] == pytest.approx(best, rel=1e-9, abs=1e-9)
    place = np.cumsum(begins)
    bins = [np.flatnonzero(place == b) for b in range(place[-1] + 1)]
    assert allowed(x, weight, bins, limit)
    totals = np.array([sums[rows].sum(axis=0) for rows in bins])
    spent = totals[:, 1].sum() - ((totals[:, 2:] ** 2).sum(axis=1) / totals[:, 0]).sum() + gain * len(bins)
    assert spent == pytest.approx(best, rel=1e-9, abs=1e-9)


any_seed, some_gains = st.integers(0, 10**6), st.sampled_from([0.0, 0.02, 0.3, 2.0, 20.0])


@given(any_seed, st.integers(1, 3), some_gains)
@settings(max_examples=60)
def test_starts_that_leave_and_come_back_lose_nothing(seed, numbers, gain):
    check_long(seed, 60, numbers, gain)


@pytest.mark.slow
@given(any_seed, st.integers(1, 3), some_gains)
@settings(max_examples=1000)
def test_starts_of_long_columns_that_leave_and_come_back_lose_nothing(seed, numbers, gain):
    check_long(seed, 300, numbers, gain)


@pytest.mark.parametrize("numbers", [1, 2])
def test_the_starts_held_are_those_that_may_be_the_best_of_what_is_left(numbers):
    rng = np.random.default_rng(numbers)
    m, later, close = 60, 8, 1e-12
    y = (rng.random((m + later, numbers)) < 0.4) * 1.0
    sums = np.column_stack((np.ones(m + later), y.sum(axis=1), y))
    below = np.concatenate((np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)))
    before = np.zeros(m + later)
    for t in range(1, m + later):
        before[t] = min(before[s] + 1 + bin_error(below, s, t, False) for s in range(t))
    before[[4, 9]] = np.inf

    def held_of(begin):
        lists = places_for(m)
        room = room_for(below, m + later, numbers == 1, False)
        found = hold(below, begin, m, numbers == 1, close, before, *room, *lists)
        return lists, found[-1]

    (held, waiting, following, _), count = held_of(0)
    came_back = 0
    for gone in range(m):
        known = set(held[:count].tolist())
        alone, size = held_of(gone)
        assert known == set(alone[0][:size].tolist())
        for t in range(m, m + later + 1):
            options = [(before[s] + bin_error(below, s, t, False), s) for s in range(gone, m)]
            best, at = cheapest(below, t, 0.0, False, close, before, held, count, np.inf, 0)
            assert best == pytest.approx(min(options)[0])
            assert at in known or np.isinf(best)
        count = leave(gone, held, count, waiting, following)
        came_back += len(set(held[:count].tolist()) - known)
    assert count == 0
    assert came_back > 2


def test_a_forced_number_may_be_passed_when_more_bins_are_cheaper():
    # With bins of 2 to 3 rows, 4 bins cut the runs, 5 do not: the best of at least 4 are 5.
    y = np.repeat([0.0, 1.0, 0.0, 1.0, 0.0], 2)
    found = mean_bins(np.arange(10.0), y, min_gain=0.01, min_bins=4, min_rows=2, max_rows=3)
    assert found.cuts.tolist() == [1.5, 3.5, 5.5, 7.5]
    with pytest.raises(TamisError, match="max_bins=3 and max_rows=3"):
        mean_bins(np.arange(10.0), y, max_bins=3, min_rows=2, max_rows=3)


def test_compiled_and_plain_kernels_agree_within_limits():
    rng = np.random.default_rng(0)
    n = 25
    x, y = np.sort(rng.random(n)), np.round(rng.normal(size=n), 1)
    ones = np.ones(n)
    shape = np.array([4, 6]), np.array([1.0, 9.0, 0.0, 0.5])
    for numbers in (y[:, None], np.column_stack((y, y**2))):
        sums, made = np.column_stack((ones, (numbers**2).sum(axis=1), numbers)), []
        for solve in (best_bins, best_bins.python):
            begins, cost = np.empty(n, dtype=bool), np.empty(1)
            solve(np.array([0, n]), x, sums, np.array([0.1]), *shape, False, begins, cost)
            made.append((begins.tolist(), round(float(cost[0]), 9)))
        assert made[0] == made[1]
    distinct, ranks = np.unique(y, return_inverse=True)
    for median in (False, True):
        for squared in (False, True):
            losses = []
            for fill in (run_deviations, run_deviations.python):
                losses.append(np.zeros((5, 5)))
                fill(np.arange(0, 26, 5), ranks.astype(np.int64), distinct, ones, median, squared, losses[-1])
            np.testing.assert_allclose(losses[0], losses[1], atol=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_losses_of_runs_are_those_of_numpy(way):
    rng = np.random.default_rng(5)
    x, y = np.round(rng.normal(size=300), 1), rng.normal(size=300)
    y[::3] = 0.5
    weight = rng.integers(1, 4, 300)
    strips = Strips.of(x, weight, most=12)
    assert strips.low.size <= 12
    found = number_losses(strips, y, weight.astype(float), *way)
    for s in range(strips.low.size):
        for t in range(s, strips.low.size):
            rows = (strips.strip >= s) & (strips.strip <= t)
            assert found[s, t] == pytest.approx(deviations(y[rows], weight[rows], *way), abs=1e-9)


def test_medians_stand_outliers_that_means_do_not():
    rng = np.random.default_rng(1)
    x = np.arange(400.0)
    y = np.where(x < 200, 0.0, 1.0) + 0.1 * rng.normal(size=400)
    y[rng.choice(400, 12, replace=False)] = 80.0
    robust = mean_bins(x, y, loss="absolute", centre="median", min_gain=20.0)
    assert robust.cuts.tolist() == [199.5]
    np.testing.assert_allclose(robust.means, [0, 1], atol=0.05)
    assert mean_bins(x, y, min_gain=20.0).cuts.tolist() != [199.5]


def test_absolute_values_about_shares_are_twice_the_squares():
    rng = np.random.default_rng(2)
    x = rng.random((3000, 1))
    y = (rng.random(3000) < np.where(x[:, 0] < 0.4, 0.2, 0.7)).astype(int)
    twice, once = (
        limited_cuts(x, y, None, BinLimits(), gain, loss) for loss, gain in (("absolute", 8.0), ("squared", 4.0))
    )
    # Although there are 3000 values.
    assert twice.values.tolist() == once.values.tolist()
    assert once.values.size == 1


def test_columns_of_many_values_are_divided_at_a_thousand_places():
    rng = np.random.default_rng(0)
    x = rng.random(1500)
    y = (x > 0.3) + 0.1 * rng.normal(size=1500)
    found = mean_bins(x, y, loss="absolute", centre="median", min_gain=50.0)
    assert not found.exact
    np.testing.assert_allclose(found.cuts, [0.3], atol=0.002)
    assert mean_bins(x, y, min_gain=50.0).exact
    with pytest.raises(TamisError, match=r"max_rows=1: .* 1000 strips of neighbouring values"):
        mean_bins(x, y, centre="median", min_rows=1, max_rows=1)


def test_the_transforms_take_limits():
    x = np.arange(60.0)[:, None]
    y = np.repeat(["a", "b", "a"], 20)
    assert [c.size for c in Discretize("optimal", min_bins=5).fit(x, y).cuts_] == [4]
    assert np.diff(Discretize("optimal", max_rows=12).fit(x, y).cuts_[0]).max() <= 12
    assert np.diff(Discretize("optimal", min_width=25).fit(x, y).cuts_[0]).size == 0
    assert [c.size for c in BinMeans(min_bins=4).fit(x, y).cuts_] == [3]
    numbers = np.abs(x[:, 0] - 30) + 0.5
    assert [c.size for c in LineBins(max_width=15).fit(x, numbers).cuts_] == [3]
    majority = Discretize("optimal", loss="absolute", centre="median", min_rows=1).fit(x, y)
    assert majority.cuts_[0].tolist() == [19.5, 39.5]
    cuts = Discretize("optimal", loss="absolute", centre="median", task="regress").fit(x, numbers).cuts_
    assert len(cuts) == 1
    assert cuts[0].size > 2


@pytest.mark.parametrize(
    ("limit", "named"),
    [
        ({"min_bins": 4, "max_rows": 50}, "min_bins=4 and min_rows=10"),
        ({"max_rows": 2, "min_width": 5.0, "min_rows": 1}, "max_rows=2 and min_width=5"),
        ({"min_rows": 1, "max_width": 0.5, "max_bins": 20, "max_rows": 25}, "max_bins=20 and max_width=0.5"),
        ({"min_bins": 31, "min_rows": 1}, "min_bins=31"),
    ],
)
def test_limits_that_cannot_be_kept_are_named(limit, named):
    x, y = np.arange(30.0), np.arange(30) % 7 / 3
    with pytest.raises(TamisError, match=f"x has no bins with {named}: it has 30 rows and 30 distinct values"):
        mean_bins(x, y, **limit)
    with pytest.raises(TamisError, match=r"column 0 \(counted from 0\) has no bins with"):
        Discretize("optimal", **limit, centre="median").fit(x[:, None], y)


def test_limits_that_contradict_each_other_are_refused():
    for words, limit in (
        ("min_bins=3 and max_bins=2", {"min_bins": 3, "max_bins": 2}),
        ("min_rows=10 and max_rows=5", {"max_rows": 5}),
        ("min_width=2 and max_width=1.5", {"min_width": 2, "max_width": 1.5}),
        ("max_rows takes a number of at least 0; got -1", {"max_rows": -1}),
        ("loss takes 'squared' or 'absolute'; got 'huber'", {"loss": "huber"}),
    ):
        with pytest.raises(TamisError, match=words):
            mean_bins(np.arange(9.0), np.arange(9.0), **limit)
