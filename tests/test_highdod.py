"""Outlying subspaces beside the whole lattice, in numpy and in plain loops."""

import math
from itertools import combinations, pairwise

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.estimator_checks import check_estimator

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.kernels.outlying_degree import full_degree, outlying_degrees
from tamis.outliers.highdod import HighDOD
from tamis.outliers.lattice import MOST, largest_size, lattice
from tamis.outliers.lattice import count as n_subspaces
from tamis.outliers.order import expected_left, next_size
from tamis.outliers.reference import Reference, degrees
from tamis.outliers.search import (
    SEARCHES,
    Sample,
    downward_saving,
    search,
    total_saving,
    upward_saving,
)


def mixed_table(seed, least=3):
    """A table of numbers, small whole numbers and letters, all in one array."""
    rng = generator(seed)
    n, d = int(rng.integers(20, 60)), int(rng.integers(least, 11))
    X = np.empty((n, d), dtype=object)
    for j in range(d):
        kind = rng.integers(3)
        letters, numbers = rng.choice(list("abcd"), n), rng.normal(size=n)
        X[:, j] = letters.tolist() if kind == 0 else numbers.tolist() if kind == 1 else np.round(2 * numbers).tolist()
    return X


def column_gap(column, a, b, power):
    """What a column adds to the distance of two rows without missing values."""
    if isinstance(column[0], str):
        return float(column[a] != column[b])
    return (abs(column[a] - column[b]) / (max(column) - min(column))) ** power


def whole_lattice(X, row, k, threshold, *, power=2):
    """The minimal outlying subspaces of a row with their degrees, by computing all degrees."""
    n, d = X.shape
    others = [i for i in range(n) if i != row]
    gaps = np.array([[column_gap(X[:, j].tolist(), row, i, power) for i in others] for j in range(d)])
    degree = {}
    for m in range(1, d + 1):
        for columns in combinations(range(d), m):
            degree[columns] = np.sort(gaps[list(columns)].sum(axis=0) ** (1 / power))[:k].sum()
    outlying = {columns for columns, value in degree.items() if value >= threshold}
    return {
        columns: degree[columns] for columns in outlying if not any(set(other) < set(columns) for other in outlying)
    }


@pytest.mark.parametrize("seed", range(50))
def test_found_is_what_the_whole_lattice_has(seed):
    X = mixed_table(seed)
    metric, power = (("euclidean", 2), ("manhattan", 1))[seed % 2]
    model = HighDOD(3, threshold="level", metric=metric, max_features=None, random_state=0).fit(X)
    rows = generator(seed).permutation(len(X))[:3]
    for found in model.outlying_subspaces(rows):
        expected = whole_lattice(X, found.row, 3, model.threshold_, power=power)
        assert {one.columns for one in found.subspaces} == set(expected)
        for one in found.subspaces:
            assert one.degree == pytest.approx(expected[one.columns], rel=1e-12)


def evaluated(X, name, **options):
    model = HighDOD(3, search=name, max_features=None, random_state=0, **options).fit(X)
    found = model.outlying_subspaces(range(len(X)), progress=False)
    return sum(one.n_evaluated for one in found), [[each.columns for each in one.subspaces] for one in found]


@pytest.mark.parametrize("seed", range(0, 50, 5))
def test_the_dynamic_search_evaluates_the_fewest_subspaces_and_all_find_the_same(seed):
    X = mixed_table(seed, 4)
    found = {name: evaluated(X, name, threshold="level") for name in SEARCHES}
    assert all(one[1] == found["dynamic"][1] for one in found.values())
    assert found["dynamic"][0] < min(found[name][0] for name in ("top_down", "bottom_up", "random"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_the_dynamic_search_evaluates_the_fewest_subspaces_of_all_sets(seed):
    X = mixed_table(seed, 4)
    others = ("top_down", "bottom_up", "random")
    assert evaluated(X, "dynamic", threshold="level")[0] < min(
        evaluated(X, name, threshold="level")[0] for name in others
    )
    # Few rows are outlying there, most only in almost all columns, where nothing is better than to begin from the top.
    assert evaluated(X, "dynamic")[0] <= min(evaluated(X, name)[0] for name in others)


def test_the_share_of_outlying_rows_is_at_most_the_contamination():
    X = generator(0).normal(size=(150, 6))
    for size in (1, 2, 6):
        model = HighDOD(contamination=0.1, max_features=size, random_state=0).fit(X)
        outlying = [one.is_outlying for one in model.outlying_subspaces(range(150))]
        # A peak is found by adding the best column, which can miss a higher one.
        assert 8 <= sum(outlying) <= (15 if size in (1, 6) else 18)


def test_a_planted_row_is_found_in_its_columns_and_named():
    rng = generator(0)
    age = rng.uniform(20, 70, 400)
    frame = pl.DataFrame(
        {
            "age": age,
            "income": 1000 * age + rng.normal(0, 1500, 400),
            "height": rng.normal(170, 8, 400),
            "town": rng.choice(["Rome", "Oslo", "Bern"], 400),
        }
    ).with_row_index("row")
    frame = frame.with_columns(
        age=pl.when(pl.col("row") == 17).then(25.0).otherwise("age"),
        income=pl.when(pl.col("row") == 17).then(65000.0).otherwise("income"),
    ).drop("row")
    model = HighDOD(max_features=2, random_state=0).fit(frame)
    (found,) = model.outlying_subspaces(17)
    assert found.sentence() == "row 17 is unlike its neighbours in age and income"
    assert found.to_dict()["subspaces"][0]["columns"] == ["age", "income"]
    new = frame[[17]]
    (found,) = model.outlying_subspaces(new)
    # The row of fit is a neighbour of its copy, and its distance of 0 is not enough.
    assert [one.names for one in found.subspaces] == [("age", "income")]
    assert found.sentence() == "new row 0 is unlike its neighbours in age and income"
    assert model.neighbours(new, ["age", "income"])[0] == 17
    assert 17 not in model.neighbours(17)


def test_a_cap_finds_all_minimal_subspaces_up_to_its_size():
    X = mixed_table(4)
    whole = HighDOD(3, threshold=0.4, max_features=None, random_state=0).fit(X)
    for size in (1, 2, 3):
        capped = HighDOD(3, threshold=0.4, max_features=size, random_state=0).fit(X)
        for all_sizes, up_to in zip(
            whole.outlying_subspaces(range(20)), capped.outlying_subspaces(range(20)), strict=True
        ):
            expected = [one.columns for one in all_sizes.subspaces if len(one.columns) <= size]
            assert [one.columns for one in up_to.subspaces] == expected


def test_degrees_are_those_of_nearest_neighbours():
    X = generator(1).normal(size=(80, 5))
    model = HighDOD(4, random_state=0).fit(X)
    scaled = X / np.ptp(X, axis=0)
    for columns in ([0], [1, 3], [0, 1, 2, 3, 4]):
        distances, near = NearestNeighbors(n_neighbors=5).fit(scaled[:, columns]).kneighbors(scaled[:, columns])
        np.testing.assert_allclose(model.outlying_degree(range(80), columns), distances[:, 1:].sum(axis=1))
        assert model.neighbours(7, columns).tolist() == near[7, 1:].tolist()
    new = generator(2).normal(size=(6, 5))
    distances = NearestNeighbors(n_neighbors=4).fit(scaled).kneighbors(new / np.ptp(X, axis=0))[0]
    np.testing.assert_allclose(model.outlying_degree(new), distances.sum(axis=1))
    order = np.argsort(-model.outlying_degree(range(80)))
    assert model.most_outlying(7).tolist() == order[:7].tolist()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_rounding_never_makes_a_degree_smaller_when_columns_are_added(seed):
    rng = generator(seed)
    gaps = rng.random((6, 12)) ** rng.integers(1, 9, size=(6, 1)) * 10.0 ** rng.integers(-9, 3, size=(6, 1))
    for squared in (True, False):
        value = {}
        for m in range(1, 7):
            subspaces = lattice(6, 6).members[m]
            found = degrees(gaps, subspaces, 3, squared=squared)
            for columns, degree in zip(subspaces.tolist(), found.tolist(), strict=True):
                value[frozenset(columns)] = degree
        for columns, degree in value.items():
            assert all(degree >= value[columns - {j}] for j in columns if len(columns) > 1)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_kernel_equals_its_twin(seed, k, squared):
    rng = generator(seed)
    gaps = np.round(rng.random((5, int(rng.integers(k, 30)))), int(rng.integers(1, 9)))
    threshold = float(rng.random() * k)
    for m in range(1, 6):
        subspaces = lattice(5, 5).members[m]
        out, limited = np.full((2, len(subspaces)), np.inf)
        for least, found in ((-np.inf, out), (threshold, limited)):
            sums, near = np.empty((m, int(rng.integers(1, 12)))), np.empty((len(subspaces), k))
            count = np.zeros(len(subspaces), dtype=np.intp)
            outlying_degrees(gaps, subspaces, k, squared, least, sums, count, near, found)
        twin = [np.sort(gaps[columns].sum(axis=0)) for columns in subspaces]
        twin = [(np.sqrt(one) if squared else one)[:k].sum() for one in twin]
        np.testing.assert_allclose(out, twin, rtol=1e-12)
        np.testing.assert_array_equal(limited >= threshold, out >= threshold)
        np.testing.assert_array_equal(limited[out >= threshold], out[out >= threshold])


def test_the_degree_in_all_columns_equals_its_twin():
    rng = generator(3)
    X = np.column_stack([rng.normal(size=(40, 3)), rng.integers(0, 3, 40)])
    X[rng.random(X.shape) < 0.1] = np.nan
    nominal = np.array([False, False, False, True])
    for metric in ("euclidean", "manhattan"):
        reference = Reference.of(X, nominal, metric=metric)
        values = np.ascontiguousarray(reference.columns.T)
        for row in range(40):
            gaps, known, _ = reference.gaps(reference.columns[:, row], row)
            subspace = np.arange(known.size, dtype=np.int32)[None, ::-1].copy()
            twin = degrees(gaps, subspace, 5, squared=reference.squared)[0]
            got = full_degree(values, nominal, reference.missing, row, 5, reference.squared, -np.inf)
            assert got == pytest.approx(twin)
            below = full_degree(values, nominal, reference.missing, row, 5, reference.squared, twin + 0.1)
            assert below < twin + 0.1


@pytest.mark.parametrize(("columns", "largest"), [(1, 1), (2, 2), (6, 4), (7, 7), (30, 2)])
def test_the_lattice_has_every_subspace_once_in_order(columns, largest):
    found = lattice(columns, largest)
    assert found.size == sum(map(len, found.members.values())) == n_subspaces(columns, largest)
    for m, members in found.members.items():
        rows = [tuple(row) for row in members.tolist()]
        assert rows == sorted(rows)
        assert set(rows) == {tuple(sorted(one, reverse=True)) for one in combinations(range(columns), m)}
        if m > 1:
            smaller = [tuple(row) for row in found.members[m - 1].tolist()]
            for row, places in zip(rows, found.below[m].tolist(), strict=True):
                assert [smaller[p] for p in places] == [row[:p] + row[p + 1 :] for p in range(m)]


def test_the_saving_factors_are_those_of_the_paper():
    assert [downward_saving(m) for m in (1, 2, 4)] == [0.0, 2.0, 4 * 1 + 6 * 2 + 4 * 3]
    assert [upward_saving(m, 4, 4) for m in (1, 3, 4)] == [3 * 2 + 3 * 3 + 1 * 4, 4.0, 0.0]
    found, up = lattice(4, 4), np.array([1.0, 0.5, 0.5, 0.0])
    fresh = {1: 4, 2: 6, 3: 4, 4: 1}
    assert total_saving(1, found, fresh, up) == upward_saving(1, 4, 4)
    assert total_saving(2, found, fresh, up) == 0.5 * 2.0 + 0.5 * upward_saving(2, 4, 4)
    assert total_saving(4, found, fresh, up) == downward_saving(4)
    # A half of the smaller and a quarter of the larger are left: 2 of 4 columns below, 4 of 16 columns above.
    left = {1: 2, 2: 6, 3: 0, 4: 1}
    assert total_saving(2, found, left, up) == 0.5 * 0.5 * 2.0 + 0.5 * (4 / 16) * upward_saving(2, 4, 4)
    assert total_saving(3, found, left, up) < 0


def expected(n_columns, low, t, high, unknown, outlying, shares):
    """How many subspaces of size t two evaluated sizes leave; None stands for none."""
    total = {m: math.comb(n_columns, m) for m in unknown}
    q = {m: min(max((shares[m - 1] * total[m] - outlying[m]) / n, 0), 1) for m, n in unknown.items() if n}
    up = down = 0.0
    if low:
        chances = math.sqrt(math.comb(t, low) * t / low)
        up = min(q[t], 1 - (1 - unknown[low] * q.get(low, 0) / total[low]) ** chances)
    if high:
        chances = math.comb(n_columns - t, high - t)
        chances = math.sqrt(chances * (n_columns - t) / (n_columns - high)) if high < n_columns else 1
        down = min(1 - q[t], 1 - (1 - unknown[high] * (1 - q.get(high, 0)) / total[high]) ** chances)
    return unknown[t] * (1 - up - down)


def fewest(n_columns, low, high, unknown, outlying, shares):
    """The fewest expected evaluations between two evaluated sizes, and the first size, by trying every order."""
    sizes = [t for t in unknown if (low or 0) < t < (high or len(unknown) + 1)]
    if not sizes:
        return 0.0, None
    each = {
        t: expected(n_columns, low, t, high, unknown, outlying, shares)
        + fewest(n_columns, low, t, unknown, outlying, shares)[0]
        + fewest(n_columns, t, high, unknown, outlying, shares)[0]
        for t in sizes
    }
    first = min(each, key=each.get)
    return each[first], first


@pytest.mark.parametrize("seed", range(6))
def test_the_next_size_begins_the_search_of_fewest_expected_evaluations(seed):
    rng = generator(seed)
    n_columns, largest = ((7, 7), (9, 5))[seed % 2]
    shares = np.sort(rng.random(largest)) ** rng.integers(1, 4)
    unknown = {m: math.comb(n_columns, m) for m in range(1, largest + 1)}
    none = dict.fromkeys(unknown, 0)
    first = fewest(n_columns, None, None, unknown, none, shares)[1]
    assert next_size(n_columns, unknown, none, shares[None], np.ones(1)) == first
    # Halfway: the first size is decided, and of the others some are.
    outlying = {m: int(n * shares[m - 1] / 2) for m, n in unknown.items()}
    some = {m: 0 if m == first else n - outlying[m] - n // 4 for m, n in unknown.items()}
    ways = [fewest(n_columns, *ends, some, outlying, shares)[1] for ends in ((None, first), (first, None))]
    cheapest = min((m for m in ways if m), key=some.get)
    assert next_size(n_columns, some, outlying, shares[None], np.ones(1)) == cheapest


def test_expected_subspaces_are_means_over_what_the_shares_may_be():
    unknown, outlying = {1: 3, 2: 9, 3: 8, 4: 2}, {1: 1, 2: 0, 3: 2, 4: 0}
    shares, weights = np.array([[0.2, 0.3, 0.5, 0.8], [0.0, 0.0, 0.4, 1.0]]), np.array([0.25, 0.75])
    left = expected_left(5, unknown, outlying, shares, weights)
    for low, t, high in ((0, 2, 4), (1, 3, 5), (0, 1, 5), (2, 3, 4)):
        ends = low or None, high if high < 5 else None
        parts = [expected(5, ends[0], t, ends[1], unknown, outlying, one) for one in shares]
        assert left[low, t, high] == pytest.approx(weights @ parts)


def test_top_down_prunes_subsets_only_and_bottom_up_supersets_only():
    spaces = lattice(5, 5)

    def run(order, outlying):
        asked = []

        def evaluate(subspaces):
            asked.extend(tuple(one) for one in subspaces.tolist())
            return np.array([float(outlying(set(one))) for one in subspaces.tolist()])

        found = search(spaces, evaluate, 1.0, order=order, sample=Sample.even(5), rng=generator(0))
        assert found.n_evaluated == len(asked) == len(set(asked))
        return found.n_evaluated

    assert [run(order, lambda one: False) for order in ("top_down", "bottom_up")] == [1, 31]
    assert [run(order, lambda one: True) for order in ("top_down", "bottom_up")] == [31, 5]
    assert run("top_down", lambda one: 4 in one) == 16 + 1
    assert run("bottom_up", lambda one: 4 in one) == 15 + 1


def test_the_paper_s_threshold_is_a_multiple_of_the_level_of_single_columns():
    X = generator(5).normal(size=(60, 4))
    euclidean = HighDOD(threshold="level", factor=3.0, random_state=0).fit(X)
    means = [euclidean.outlying_degree(range(60), [j]).mean() for j in range(4)]
    assert euclidean.threshold_ == pytest.approx(3.0 * np.sqrt(np.square(means).sum()))
    manhattan = HighDOD(threshold="level", factor=3.0, metric="manhattan", random_state=0).fit(X)
    assert manhattan.threshold_ == pytest.approx(3.0 * np.sum(means))


def test_one_seed_gives_one_result_whatever_the_order_of_the_rows_asked_for():
    X = mixed_table(9)
    one, other = (HighDOD(3, random_state=4, threshold="level").fit(X) for _ in range(2))
    first = [found.to_dict() for found in one.outlying_subspaces([5, 1])]
    assert first == [found.to_dict() for found in other.outlying_subspaces([5, 1])]
    assert first[::-1] == [found.to_dict() for found in other.outlying_subspaces([1, 5])]


def test_a_missing_value_is_neither_near_nor_far_and_in_no_subspace_of_its_row():
    X = generator(6).normal(size=(100, 3))
    X[3, 1], X[4] = np.nan, np.nan
    X[5, 0] = 40.0
    model = HighDOD(max_features=None, random_state=0).fit(X)
    third, fourth, fifth = model.outlying_subspaces([3, 4, 5])
    assert third.unknown == ("x1",)
    assert not third.is_outlying
    assert fourth.sentence() == "row 4 is like its neighbours as far as is known: it has no values"
    assert fifth.subspaces[0].names == ("x0",)
    assert model.outlying_degree([3], [1]).tolist() == [0.0]
    # The mean squared difference of two known values.
    known = X[~np.isnan(X[:, 0]), 0]
    pairs = np.subtract.outer(known, known)[~np.eye(known.size, dtype=bool)] / np.ptp(known)
    assert model._reference.missing[0] == pytest.approx(np.mean(pairs**2))


def test_rows_with_copies_and_columns_with_one_value():
    X = generator(7).normal(size=(60, 3))
    X[:6] = 9.0
    X[:, 2] = 1.0
    model = HighDOD(5, threshold="level", max_features=None, random_state=0).fit(X)
    assert model.outlying_degree([0]).tolist() == [0.0]
    assert not model.outlying_subspaces([0])[0].is_outlying
    assert model.outlying_degree(range(60), [2]).tolist() == [0.0] * 60
    # A new value in the column of one value differs by 1 from each of five rows.
    assert model.outlying_degree([[9.0, 9.0, 1000.0]]).tolist() == [5.0]
    same = HighDOD(2, random_state=0).fit(np.ones((5, 2)))
    assert not any(found.is_outlying for found in same.outlying_subspaces(range(5)))


def test_one_column_and_one_row():
    X = np.append(np.arange(30.0), 200.0)[:, None]
    (found,) = HighDOD(3, random_state=0).fit(X).outlying_subspaces([30])
    assert found.sentence() == "row 30 is unlike its neighbours in x0"
    (found,) = HighDOD(3, random_state=0).fit(X).outlying_subspaces([10])
    assert found.sentence() == "row 10 is like its neighbours in its only column"
    with pytest.raises(TamisError, match=r"n_neighbors=5 needs 6 samples \(rows\) or more; got 1 sample$"):
        HighDOD().fit(np.ones((1, 2)))


def test_bad_input_is_refused_in_a_sentence():
    X = generator(8).normal(size=(30, 25))
    with pytest.raises(
        TamisError, match=r"max_features=None makes 3.36e\+07 subspaces of 25 columns, .* take 8 or fewer"
    ):
        HighDOD(max_features=None).fit(X)
    model = HighDOD(random_state=0).fit(X)
    with pytest.raises(TamisError, match="rows takes numbers from 0 to 29, or a table; got 30"):
        model.outlying_subspaces([3, 30])
    with pytest.raises(TamisError, match="outlying_degree: columns takes names of columns or numbers from 0 to 24"):
        model.outlying_degree([0], ["age"])
    with pytest.raises(ValueError, match="X has 2 features"):
        model.outlying_subspaces([[1.0, 2.0]])
    with pytest.raises(ValueError, match="infinity"):
        HighDOD().fit(np.where(X > 1, np.inf, X))
    with pytest.raises(TypeError, match="dense data is required"):
        HighDOD().fit(sp.csr_array(X))
    with pytest.raises(ValueError, match="'threshold' parameter"):
        HighDOD(threshold=0.0).fit(X)


def test_many_columns_have_smaller_subspaces():
    assert [largest_size("auto", d) for d in (1, 2, 50, 200, 10_000)] == [1, 2, 3, 2, 1]
    assert n_subspaces(116, 3) <= 2**18 < n_subspaces(117, 3)
    assert largest_size(None, 21) == 21
    assert n_subspaces(21, 21) <= MOST
    X = generator(9).normal(size=(40, 3000))
    X[7, 5] = 30.0
    (found,) = HighDOD(random_state=0).fit(X).outlying_subspaces([7])
    assert [one.names for one in found.subspaces] == [("x5",)]


def test_progress_rises_to_the_total_and_an_interrupt_ends_the_search():
    X = mixed_table(10)
    seen = []
    model = HighDOD(3, threshold="level", max_features=None, random_state=0).fit(X, progress=False)
    model.outlying_subspaces([0, 1], progress=lambda done, total: seen.append((done, total)))
    assert all(before <= after for before, after in pairwise(done for done, _ in seen))
    assert {total for _, total in seen} == {2}

    def interrupt(done, total):
        if done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.outlying_subspaces(range(10), progress=interrupt)
    assert model.outlying_subspaces([0])[0].row == 0


def test_scikit_learn_s_own_checks():
    check_estimator(HighDOD(2, random_state=0), on_skip=None)
