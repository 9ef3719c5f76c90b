"""Optimal bins against brute force, against plain dynamic programming and ruptures, and on planted problems."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from binning_oracle import cost_of, line_error, mean_error, partitions
from tamis.base.errors import TamisError
from tamis.bins.class_tables import class_tables
from tamis.discretize import Discretize
from tamis.discretize.optimal.numeric_target import line_bins, mean_bins
from tamis.discretize.optimal.optimal import optimal_cuts
from tamis.discretize.optimal.rectangles import rectangles
from tamis.kernels.optimal_binning import best_bins, sum_values
from tamis.kernels.rectangles import best_rectangles
from tamis.trees.columns import sorted_columns

NAN = float("nan")
VALUES = [0.0, 0.0, -0.0, 1.0, 2.0, 3.0, 4.5, 7.0, 8.0, 9.0, -1.0, -2.5, NAN]


@st.composite
def problems(draw, most=12, columns=3, classes=3):
    n, p = draw(st.integers(2, most)), draw(st.integers(1, columns))
    X = draw(hnp.arrays(np.float64, (n, p), elements=st.sampled_from(VALUES), fill=st.nothing()))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, draw(st.integers(1, classes - 1)))))
    assume(np.unique(y).size > 1)
    return X, np.unique(y, return_inverse=True)[1]


gains = st.sampled_from(["auto", 0.0, 0.1, 0.3, 0.7, 2.0])


def class_error(y, n_classes):
    """Half the squared error of the class indicators about their mean, row by row."""
    indicators = np.eye(n_classes)[y]
    return 0.5 * float(((indicators - indicators.mean(axis=0)) ** 2).sum())


def within(max_bins, min_rows):
    """Limits as the kernel takes them."""
    return np.array([1, max_bins]), np.array([min_rows, np.inf, 0.0, np.inf])


# Against brute force


@given(problems(), gains, st.sampled_from([None, 1, 2, 3]), st.sampled_from([1, 2, 4]))
@settings(max_examples=80)
def test_cuts_cost_as_little_as_the_best_of_all(problem, gain, max_bins, min_rows):
    X, y = problem
    k = int(y.max()) + 1
    found = optimal_cuts(X, y, min_gain=gain, max_bins=max_bins, min_rows=min_rows).apart()
    for j, cuts in enumerate(found):
        known = ~np.isnan(X[:, j])
        x, codes = X[known, j], y[known]
        if not known.any():
            assert cuts.size == 0
            continue
        whole = class_error(codes, k)
        each = whole / max(x.size - 1, 1) if gain == "auto" else gain

        def error(rows, codes=codes):
            return class_error(codes[rows], k)

        best = min(sum(error(rows) + each for rows in bins) for bins in partitions(x, min_rows, max_bins))
        assert cost_of(cuts, x, error, each) == pytest.approx(best, abs=1e-9)
        sizes = np.bincount(np.searchsorted(cuts, x, side="right"))
        assert cuts.size == 0 or sizes.min() >= min_rows
        assert max_bins is None or cuts.size < max_bins


@given(
    hnp.arrays(np.float64, st.integers(1, 10), elements=st.sampled_from([0.0, 1.0, 2.0, 3.5, 5.0, 6.0, 8.0, 9.0])),
    st.integers(0, 10**6),
    st.sampled_from([None, 0.0, 0.2, 1.0]),
    st.sampled_from([None, 2, 3]),
    st.sampled_from([1, 2, 3]),
)
def test_bins_of_numeric_targets_cost_as_little_as_the_best_of_all(x, seed, gain, max_bins, min_rows):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=x.size) + 100
    for find, error in ((mean_bins, mean_error), (line_bins, line_error)):
        found = find(x, y, min_gain=gain, max_bins=max_bins, min_rows=min_rows)
        whole = error(x, y)
        each = whole / max(x.size - 1, 1) if gain is None else gain
        best = min(sum(error(x[r], y[r]) + each for r in bins) for bins in partitions(x, min_rows, max_bins))
        assert found.cost == pytest.approx(best, abs=1e-8)
        assert cost_of(found.cuts, x, lambda r, e=error: e(x[r], y[r]), each) == pytest.approx(best, abs=1e-8)
        left = float(((y - found.values(x)) ** 2).sum())
        assert left + each * (found.cuts.size + 1) == pytest.approx(best, abs=1e-8)


def plain_paths(sums, gain, min_weight, max_bins=None):
    """The least cost by plain dynamic programming without pruning, a row of costs at a time."""
    below = np.concatenate((np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)))
    m = sums.shape[0]
    path = np.full(m + 1, np.inf)
    path[0] = 0.0
    before, best = path.copy(), np.inf
    for _ in range(max_bins or 1):
        now = path if max_bins is None else np.full(m + 1, np.inf)
        for t in range(1, m + 1):
            part = below[t] - below[:t]
            error = part[:, 1] - (part[:, 2:] ** 2).sum(axis=1) / part[:, 0]
            from_here = (path if max_bins is None else before)[:t] + error + gain
            now[t] = from_here[part[:, 0] >= min_weight - 1e-9].min(initial=np.inf)
        before, best = now, min(best, now[m])
    return best


@pytest.mark.parametrize("numbers", [1, 2, 3])
@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_pruning_loses_nothing_on_long_columns(numbers, noise):
    rng = np.random.default_rng(numbers)
    n = 600
    mean = np.repeat(rng.normal(size=(6, numbers)), n // 6, axis=0)
    y = mean + noise * rng.normal(size=(n, numbers))
    y -= y.mean(axis=0)
    weight = rng.integers(1, 4, n).astype(float)
    sums = np.column_stack((weight, weight * (y**2).sum(axis=1), weight[:, None] * y))
    begins, cost = np.empty(n, dtype=bool), np.empty(1)
    column = np.array([0, n]), np.arange(n, dtype=float)
    for gain in (0.01, 1.0, 5.0, 100.0):
        for least in (1, 25):
            best_bins(*column, sums, np.array([gain]), *within(0, least), False, begins, cost)
            assert cost[0] == pytest.approx(plain_paths(sums, gain, least), rel=1e-10)
    for most in (3, 7):
        best_bins(*column, sums, np.array([0.01]), *within(most, 1), False, begins, cost)
        assert cost[0] == pytest.approx(plain_paths(sums, 0.01, 1, most), rel=1e-10)
        assert begins.sum() < most


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0, 1.0, -0.4, 1e4]), st.integers(1, 12)), min_size=2, max_size=9),
    st.sampled_from([0.0, 0.01, 1.0]),
    st.sampled_from([None, 2, 3]),
    st.sampled_from([1e-6, 1.0, 4.0]),
    st.booleans(),
)
def test_runs_of_one_value_fill_no_more_than_there_is_room_for(runs, gain, most, least, weighted):
    # Where costs are equal but for rounding the pieces of the line multiply; the plain kernel looks at every index.
    y = np.concatenate([np.full(n, value) for value, n in runs])
    weight = np.random.default_rng(len(y)).random(y.size) + 0.1 if weighted else np.ones(y.size)
    y = y - np.average(y, weights=weight)
    sums = np.column_stack((weight, weight * y**2, weight * y))
    begins, cost = np.empty(y.size, dtype=bool), np.empty(1)
    column = np.array([0, y.size]), np.arange(y.size, dtype=float)
    best_bins.python(*column, sums, np.array([gain]), *within(most or 0, least), False, begins, cost)
    alone = gain + (weight * y**2).sum()
    expected = min(plain_paths(sums, gain, least, most), alone)
    assert cost[0] == pytest.approx(expected, rel=1e-9, abs=1e-11 * alone)


def test_free_bins_of_pure_runs_take_no_longer():
    n = 100_000
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) >= n // 2
    assert optimal_cuts(X, y.astype(int), min_gain=0.0).values.tolist() == [n / 2 - 0.5]


def test_rows_whose_weight_is_lost_beside_others():
    weight = np.array([1, 1, 1e-20, 1, 1, 1])
    for find in (mean_bins, line_bins):
        found = find(np.arange(6.0), [0, 0, 0, 1, 1, 1.0], min_rows=1, sample_weight=weight)
        assert np.isfinite(found.cost)
    for y in (np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 2, 1, 1, 1])):
        assert optimal_cuts(np.arange(6.0)[:, None], y, min_rows=1, sample_weight=weight).values.size == 1
    assert np.isfinite(rectangles([1, 2, 3, 1.0], [1, 2, 3, 3.0], [0, 1, 0, 1.0], min_rows=0).means).all()


def test_missing_values_have_no_bin():
    bins, lines = (find(np.arange(20.0), np.arange(20.0) > 9) for find in (mean_bins, line_bins))
    plane = rectangles(np.arange(20.0), np.zeros(20), np.arange(20.0) > 9)
    for found in (bins.values([np.nan, 1.0]), lines.values([np.nan, 1.0]), lines.slopes_at([np.nan, 1.0])):
        assert np.isnan(found).tolist() == [True, False]
    assert np.isnan(plane.values([np.nan, 1.0], [0.0, 0.0])).tolist() == [True, False]
    assert np.isnan(mean_bins(np.arange(20.0), np.eye(20)).values([np.nan])).all()
    assert bins.values(1.0) == plane.values(1.0, 0.0) == 0.0


def test_pruning_loses_nothing_for_lines_on_long_columns():
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(120))
    y = np.abs(x - 0.4) + 0.05 * rng.normal(size=120)
    for gain in (0.001, 0.02):
        path = np.full(121, np.inf)
        path[0] = 0.0
        for t in range(10, 121):
            for s in range(t - 9):
                if path[s] < np.inf:
                    path[t] = min(path[t], path[s] + line_error(x[s:t], y[s:t]) + gain)
        assert line_bins(x, y, min_gain=gain).cost == pytest.approx(path[120], rel=1e-9)


def test_cuts_are_those_of_ruptures():
    ruptures = pytest.importorskip("ruptures")
    rng = np.random.default_rng(3)
    y = np.repeat(rng.normal(size=10), 100) + rng.normal(size=1000)
    for gain in (2.0, 5.0):
        theirs = ruptures.Pelt(model="l2", min_size=1, jump=1).fit(y).predict(pen=gain)
        ours = mean_bins(np.arange(1000), y, min_gain=gain, min_rows=1)
        assert (ours.cuts + 0.5).tolist() == theirs[:-1]


# Kernels and their twins


@given(problems(most=30, columns=4, classes=4))
@settings(max_examples=25)
def test_tables_of_values_equal_their_twin(problem):
    X, y = problem
    k = int(y.max()) + 1
    weight = 1.0 + np.arange(y.size) % 3
    for layout in (X, X.astype(np.float32), sp.csr_array(X), sp.csc_matrix(X)):
        seen = 0
        for table in class_tables(layout, y, weight, k):
            for place, j in enumerate(table.features):
                part = slice(table.first[place], table.first[place + 1])
                column = X[:, j]
                values = np.unique(column[~np.isnan(column)])
                np.testing.assert_array_equal(table.values[part], values)
                expected = [[weight[(column == v) & (y == c)].sum() for c in range(k)] for v in values]
                np.testing.assert_allclose(table.totals[part].reshape(-1, k), np.reshape(expected, (-1, k)))
                seen += 1
            # Half the squared error of the indicators, however many classes there are.
            sums, total = table.sums().sum(axis=0), table.totals.sum(axis=0)
            if total.sum() > 0:
                error = 0.5 * (total.sum() - (total**2).sum() / total.sum())
                assert sums[1] - (sums[2:] ** 2).sum() / sums[0] == pytest.approx(error, abs=1e-9)
        assert seen == X.shape[1]


@given(problems(most=14), gains, st.sampled_from([0, 2]), st.sampled_from([1.0, 3.0]))
@settings(max_examples=25)
def test_compiled_and_plain_kernels_agree(problem, gain, max_bins, least):
    X, y = problem
    k = int(y.max()) + 1
    columns = next(sorted_columns(X, whole=True))
    total = np.bincount(y).astype(float)
    made = []
    for count, solve in ((sum_values, best_bins), (sum_values.python, best_bins.python)):
        room = columns.values.size + X.shape[1]
        first, value, table = np.empty(X.shape[1] + 1, dtype=np.int64), np.empty(room), np.empty((room, k))
        size = count(
            *(columns.begin, columns.end, columns.rows, columns.values),
            *(y, np.ones((y.size, 1)), total, first, value, table),
        )
        sums = np.column_stack((table[:size].sum(axis=1), table[:size].sum(axis=1), table[:size]))
        begins, cost = np.empty(size, dtype=bool), np.empty(X.shape[1])
        penalty = np.full(X.shape[1], -1.0 if gain == "auto" else gain)
        solve(first, value[:size], sums, penalty, *within(max_bins, least), False, begins, cost)
        made.append((first, value[:size], table[:size], begins, cost))
    for compiled, plain in zip(*made, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-12, atol=1e-12)


# Properties


@given(problems(most=40), gains, st.sampled_from([1, 3]))
@settings(max_examples=25)
def test_every_layout_has_the_same_cuts(problem, gain, min_rows):
    X, y = problem
    dense = optimal_cuts(X, y, min_gain=gain, min_rows=min_rows)
    stored = sp.csr_array(np.ones_like(X))
    stored.data[:] = X.ravel()
    for layout in (np.asfortranarray(X), sp.csr_array(X), sp.csc_matrix(X), stored):
        found = optimal_cuts(layout, y, min_gain=gain, min_rows=min_rows)
        np.testing.assert_array_equal(found.first, dense.first)
        np.testing.assert_array_equal(found.values, dense.values)


@given(problems(most=30), gains, st.integers(0, 10**6))
@settings(max_examples=25)
def test_weights_count_as_repeated_rows(problem, gain, seed):
    X, y = problem
    times = np.random.default_rng(seed).integers(0, 4, y.size)
    assume(np.unique(y[times > 0]).size == y.max() + 1)
    weighted = optimal_cuts(X, y, times.astype(float), min_gain=gain, min_rows=3)
    repeated = optimal_cuts(np.repeat(X, times, axis=0), np.repeat(y, times), min_gain=gain, min_rows=3)
    np.testing.assert_array_equal(weighted.first, repeated.first)
    np.testing.assert_array_equal(weighted.values, repeated.values)


@given(problems(most=30), gains)
@settings(max_examples=25)
def test_order_of_rows_and_scale_of_columns_do_not_matter(problem, gain):
    X, y = problem
    order = np.random.default_rng(0).permutation(y.size)
    here = optimal_cuts(X, y, min_gain=gain, min_rows=2)
    there = optimal_cuts(4 * X[order] + 1, y[order], min_gain=gain, min_rows=2)
    np.testing.assert_array_equal(there.first, here.first)
    np.testing.assert_allclose(there.values, 4 * here.values + 1)


def test_planted_bins_are_found_and_many_classes_too():
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(3000))
    share = np.select([x < 0.2, x < 0.5, x < 0.7], [0.1, 0.8, 0.3], 0.9)
    two = (rng.random(3000) < share).astype(int)
    np.testing.assert_allclose(optimal_cuts(x[:, None], two, min_gain=3.0).values, [0.2, 0.5, 0.7], atol=0.01)
    five = np.where(rng.random(3000) < 0.2, rng.integers(0, 5, 3000), np.array([3, 1, 0, 4, 2])[(5 * x).astype(int)])
    np.testing.assert_allclose(optimal_cuts(x[:, None], five, min_gain=5.0).values, [0.2, 0.4, 0.6, 0.8], atol=0.01)


def test_pure_runs_are_not_cut_even_when_bins_are_free():
    x = np.arange(30.0)[:, None]
    y = np.repeat([0, 1, 2], 10)
    for codes in (y, np.minimum(y, 1)):
        cuts = optimal_cuts(x, codes, min_gain=0, min_rows=1).values
        assert cuts.tolist() == [9.5, 19.5][: codes.max()]


def test_discretize_takes_it():
    x = np.arange(60.0)[:, None]
    y = np.repeat(["a", "b", "a"], 20)
    model = Discretize("optimal").fit(x, y)
    assert model.cuts_[0].tolist() == [19.5, 39.5]
    assert Discretize("optimal", max_bins=2).fit(x, y).cuts_[0].size == 1
    assert Discretize("optimal", min_gain=100).fit(x, y).cuts_[0].size == 0
    assert Discretize("optimal").fit(x[:19], [*y[:18], "b"]).cuts_[0].size == 0


# Rectangles


def guillotine(p, q, y, rows, gain, least):
    """The least cost of all divisions by cuts from side to side, by recursion over sets of rows."""
    part = y[rows]
    best = float(((part - part.mean(axis=0)) ** 2).sum()) + gain if rows.size >= least else np.inf
    for axis in (p, q):
        for value in np.unique(axis[rows])[1:]:
            low, high = rows[axis[rows] < value], rows[axis[rows] >= value]
            if min(low.size, high.size) >= least:
                best = min(best, guillotine(p, q, y, low, gain, least) + guillotine(p, q, y, high, gain, least))
    return best


@given(st.integers(2, 9), st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.4]), st.sampled_from([1, 2]))
@settings(max_examples=30)
def test_rectangles_cost_as_little_as_the_best_of_all(n, seed, gain, least):
    rng = np.random.default_rng(seed)
    p, q = rng.integers(0, 5, n).astype(float), rng.integers(0, 5, n).astype(float)
    y = rng.integers(0, 2, n).astype(float)
    found = rectangles(p, q, y, min_gain=gain, min_rows=least)
    assert found.all_lines
    best = guillotine(p, q, y, np.arange(n), gain, least if n >= least else 0)
    assert found.cost == pytest.approx(best, abs=1e-9)
    place = found.places(p, q)
    assert ((y - found.values(p, q)) ** 2).sum() + gain * len(found.bounds) == pytest.approx(best, abs=1e-9)
    assert np.bincount(place, minlength=len(found.bounds)).min() >= min(least, n)


def test_rectangles_share_out_the_plane_and_the_heuristic_finds_a_planted_one():
    rng = np.random.default_rng(1)
    p, q = rng.random((2, 4000))
    inside = (p > 0.3) & (p < 0.7) & (q > 0.5)
    codes = (rng.random(4000) < np.where(inside, 0.9, 0.1)).astype(int)
    found = rectangles(p, q, np.eye(2)[codes], min_gain=20.0)
    assert not found.all_lines
    assert len(found.bounds) == 4
    assert np.abs(found.values(p, q)[:, 1] - np.where(inside, 0.9, 0.1)).mean() < 0.05
    a, b = rng.normal(size=(2, 500))
    low_p, high_p, low_q, high_q = found.bounds.T[:, :, None]
    assert ((low_p <= a) & (a < high_p) & (low_q <= b) & (b < high_q)).sum(axis=0).tolist() == [1] * 500


def test_a_division_that_turns_around_a_middle_rectangle_is_not_tried():
    p, q = (np.ravel(one).astype(float) for one in np.meshgrid(np.arange(3), np.arange(3)))
    # Four rectangles of two cells turn around the middle cell.
    y = np.array([[0, 0, 1], [2, 9, 1], [2, 3, 3]], dtype=float)[p.astype(int), q.astype(int)]
    found = rectangles(p, q, y, min_gain=0.1, min_rows=1)
    assert found.all_lines
    assert found.cost > 5 * 0.1 + 0.05


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.sampled_from([1.0, 3.0]))
@settings(max_examples=10)
def test_compiled_and_plain_rectangles_agree(seed, gain, least):
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, (3, 4)).astype(float)
    weight[0, 0] = 1.0
    ones = np.floor(rng.random((3, 4)) * (weight + 1))
    sums = np.stack((weight, ones, ones), axis=2)
    results = []
    for solve in (best_rectangles, best_rectangles.python):
        found = np.empty((13, 4), dtype=np.int64)
        results.append((solve(sums, gain, least, found), found))
    assert results[0][0] == pytest.approx(results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1.0]), "shapes"),
        (([NAN, NAN], [1.0, 2.0]), "no row of positive weight"),
        (([1, np.inf], [1.0, 2.0]), "infinity"),
        (([1, 2], [1.0, NAN]), "finite"),
        (([], []), "no row of positive weight"),
        (([1, 2], [1.0, 1e200]), "squares could overflow"),
        (([-1.7e308, 1.7e308], [1.0, 2.0]), "squares could overflow"),
    ],
)
def test_bad_targets_are_refused(arguments, message):
    for find in (mean_bins, line_bins):
        with pytest.raises(TamisError, match=message):
            find(*arguments)


def test_bad_parameters_are_refused():
    with pytest.raises(TamisError, match="min_gain takes a number of at least 0; got -1"):
        mean_bins([1, 2], [1, 2], min_gain=-1)
    with pytest.raises(TamisError, match="max_bins takes"):
        mean_bins([1, 2], [1, 2], max_bins=0)
    with pytest.raises(TamisError, match="max_bins takes a whole number"):
        mean_bins([1, 2], [1, 2], max_bins=2.5)
    with pytest.raises(TamisError, match="one target"):
        line_bins([1, 2], [[1, 2], [1, 2]])
    with pytest.raises(TamisError, match="shapes"):
        rectangles([1, 2], [1], [0, 1])
    with pytest.raises(TamisError, match="no row"):
        rectangles([1, NAN], [NAN, 1], [0, 1])
    for weight in ([1, -1], [1, np.nan], [0, 0]):
        with pytest.raises(TamisError, match="weight"):
            rectangles([1, 2], [1, 2], [0, 1], sample_weight=weight)
    with pytest.raises(TamisError, match="most"):
        rectangles([1, 2], [1, 2], [0, 1], most=1)
    with pytest.raises(TamisError, match="infinity"):
        rectangles([1, np.inf], [1, 2], [0, 1])


def test_infinity_is_named_by_its_column():
    X = np.ones((4, 2))
    X[1, 1] = np.inf
    with pytest.raises(TamisError, match="column 1"):
        optimal_cuts(X, np.array([0, 1, 0, 1]))
