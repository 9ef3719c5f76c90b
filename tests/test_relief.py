"""Relief and ReliefF against scikit-rebate, a closed form and a slow twin."""

import tracemalloc
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import skrebate.relieff
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from skrebate import ReliefF

import tamis
from tamis import scores
from tamis.base.errors import DataError, TamisError
from tamis.neighbours import relief_weights as neighbour_weights
from tamis.scores import relief, relieff
from tamis.select import Ranking

FORMS = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix]


def problem(n_rows=60, n_columns=12, n_classes=2, seed=0):
    """Continuous columns, the first three of which shift with the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = rng.gamma(2.0, size=(n_rows, n_columns))
    X[:, :3] += y[:, None]
    return X, y


def gaps(X, nominal):
    """Difference of every two rows in every column, NaN where one is missing."""
    with np.errstate(invalid="ignore"):
        span = np.array([np.ptp(x[~np.isnan(x)]) if (~np.isnan(x)).any() else 0.0 for x in X.T])
        gap = np.abs(X[:, None] - X) / np.where(span > 0, span, 1.0)
    return np.where(nominal & ~np.isnan(gap), gap > 0, gap)


def twin(X, y, k, *, nominal=False, metric="manhattan", one_miss=False, asked=None):
    """The scores by their formula, one row at a time; every row is taken to know something."""
    gap = gaps(X, nominal)
    with np.errstate(invalid="ignore"):
        known = ~np.isnan(gap)
        apart = np.where(known, gap if metric == "manhattan" else gap**2, 0.0).sum(axis=2) / known.sum(axis=2)
    apart = np.round(np.where(known.any(axis=2), apart, np.inf), 9)
    share = np.bincount(y) / len(y)
    total, count = np.zeros(X.shape[1]), 0
    for i in range(len(y)) if asked is None else asked:
        order = [j for j in np.argsort(apart[i], kind="stable") if j != i and apart[i, j] < np.inf]
        hits = [j for j in order if y[j] == y[i]][:k]
        groups = [(share[c] / (1 - share[y[i]]), [j for j in order if y[j] == c][:k]) for c in set(y) - {y[i]}]
        if one_miss:
            groups = [(1.0, [j for j in order if y[j] != y[i]][:k])]
        if not hits or not any(misses for _, misses in groups):
            continue
        count += 1
        for factor, near in [(-1.0, hits), *groups]:
            for f in range(X.shape[1]):
                seen = [gap[i, j, f] for j in near if not np.isnan(gap[i, j, f])]
                total[f] += factor * np.mean(seen) if seen else 0.0
    return total / max(count, 1)


def peer(X, y, k):
    """Scikit-rebate's scores; it takes the row itself as well when a class has no more than k rows."""
    return ReliefF(n_neighbors=k, n_jobs=1).fit(X.copy(), y).feature_importances_


@pytest.mark.parametrize("k", [1, 10, 29])
def test_continuous_columns_equal_scikit_rebate(k):
    X, y = problem(n_columns=30)
    np.testing.assert_allclose(relieff(X, y, n_neighbors=k), peer(X, y, k), rtol=1e-9)


def test_balanced_classes_equal_scikit_rebate():
    X, y = problem(n_classes=3)
    np.testing.assert_allclose(relieff(X, y, n_neighbors=5), peer(X, y, 5), rtol=1e-9)


def test_missing_values_equal_scikit_rebate():
    X, y = problem()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    np.testing.assert_allclose(relieff(X, y, n_neighbors=5), peer(X, y, 5), rtol=1e-9)


@pytest.mark.parametrize("k", [1, 5, 20])
def test_nominal_columns_equal_scikit_rebate(monkeypatch, k):
    # Its sort leaves open which of equals come first; ours are taken by row number.
    stable = SimpleNamespace(**vars(np) | {"argsort": partial(np.argsort, kind="stable")})
    monkeypatch.setattr(skrebate.relieff, "np", stable)
    X = np.random.default_rng(0).integers(0, 4, (60, 15))
    y = (X[:, 0] > 1).astype(int)
    names = np.array(["n", "e", "s", "w"], dtype=object)
    np.testing.assert_allclose(relieff(names[X], y, n_neighbors=k), peer(X.astype(float), y, k), rtol=1e-9, atol=1e-15)


def test_classes_of_different_sizes_count_by_their_shares():
    # Constant within each class: a hit adds nothing, and a miss in c adds the distance to c, whichever row it is.
    y = np.repeat([0, 1, 2], [2, 3, 5])
    value, share = np.array([0.0, 0.25, 1.0]), np.array([0.2, 0.3, 0.5])
    apart = np.abs(value[:, None] - value)
    expected = sum(share[a] * share[c] / (1 - share[a]) * apart[a, c] for a in range(3) for c in range(3))
    np.testing.assert_allclose(relieff(value[y][:, None] * 8 - 3, y), [expected])


@pytest.mark.parametrize("metric", ["manhattan", "euclidean"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@given(st.data())
@settings(max_examples=30)
def test_equals_the_twin(form, metric, data):
    n_rows, n_columns = data.draw(st.integers(4, 14)), data.draw(st.integers(1, 6))
    # Few values, so that many distances are equal.
    values = st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0, -1.5, np.nan])
    X = data.draw(arrays(np.float64, (n_rows, n_columns), elements=values))
    X[np.isnan(X).all(axis=1), 0] = 1.0
    y = np.concatenate([[0, 0, 1], data.draw(arrays(np.intp, n_rows - 3, elements=st.integers(0, 2)))])
    y = np.unique(y, return_inverse=True)[1]
    k = data.draw(st.integers(1, 5))
    found = relieff(form(X), y, n_neighbors=k, metric=metric)
    np.testing.assert_allclose(found, twin(X, y, k, metric=metric), atol=1e-12)
    found = relief(form(X), y, metric=metric)
    np.testing.assert_allclose(found, twin(X, y, 1, metric=metric, one_miss=True), atol=1e-12)


@pytest.mark.parametrize("metric", ["manhattan", "euclidean"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_mixed_columns_equal_the_twin(metric, missing):
    rng = np.random.default_rng(0)
    X, y = problem(40, 8, 3)
    nominal = np.arange(8) % 3 == 1
    X[:, nominal] = np.floor(X[:, nominal]) % 4
    X[rng.random(X.shape) < missing] = np.nan
    table = X.astype(object)
    for i, j in np.argwhere(nominal & ~np.isnan(X)):
        table[i, j] = f"level {X[i, j]:.0f}"
    table[:, nominal] = np.where(np.isnan(X[:, nominal]), None, table[:, nominal])
    expected = twin(X, y, 4, nominal=nominal, metric=metric)
    np.testing.assert_allclose(relieff(table, y, n_neighbors=4, metric=metric), expected, atol=1e-12)
    model = Ranking("relieff", k=3, options={"n_neighbors": 4, "metric": metric}).fit(table, y)
    np.testing.assert_allclose(model.scores_, expected, atol=1e-12)


def test_relief_is_relieff_with_one_neighbour_for_two_classes():
    X, y = problem()
    np.testing.assert_allclose(relief(X, y), relieff(X, y, n_neighbors=1), rtol=1e-12)
    np.testing.assert_allclose(relief(X, y), peer(X, y, 1), rtol=1e-9)


@pytest.mark.parametrize("metric", ["manhattan", "euclidean"])
@pytest.mark.parametrize("form", FORMS)
def test_more_rows_than_one_slab(form, metric):
    rng = np.random.default_rng(0)
    X, y = problem(300, 7, 3)
    X *= rng.random(X.shape) < 0.5
    np.testing.assert_allclose(relieff(form(X), y, metric=metric), twin(X, y, 10, metric=metric), rtol=1e-9)


def test_keeping_few_neighbours_at_a_time_changes_nothing(monkeypatch):
    X, y = problem(600, 5)
    expected = relieff(X, y)
    monkeypatch.setattr(neighbour_weights, "_KEPT", 1)
    np.testing.assert_allclose(relieff(X, y), expected, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("each", [relief, relieff])
def test_weights_count_as_repeated_rows(each, form):
    rng = np.random.default_rng(0)
    X, y = problem(50, 6, 3)
    X = np.floor(X)
    X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.integers(0, 4, len(y))
    repeated = each(form(np.repeat(X, weight, axis=0)), np.repeat(y, weight))
    np.testing.assert_allclose(each(form(X), y, sample_weight=weight), repeated, rtol=1e-9)


def test_weights_below_one_take_more_neighbours():
    X, y = problem()
    halves = np.full(len(y), 0.5)
    np.testing.assert_allclose(relieff(X, y, n_neighbors=5, sample_weight=halves), relieff(X, y, n_neighbors=10))


def test_a_sample_asks_some_rows_about_all():
    X, y = problem(40, 6)
    drawn = np.random.default_rng(np.random.SeedSequence(7)).choice(40, 15, replace=False)
    found = relieff(X, y, sample=15, random_state=7)
    np.testing.assert_allclose(found, twin(X, y, 10, asked=drawn), rtol=1e-9)
    assert not np.allclose(found, relieff(X, y))
    np.testing.assert_array_equal(relieff(X, y, sample=15), relieff(X, y, sample=15))
    np.testing.assert_array_equal(relieff(X, y, sample=40), relieff(X, y))


@pytest.mark.parametrize("each", [relief, relieff])
@settings(max_examples=20)
@given(scale=st.floats(1e-6, 1e6), shift=st.floats(-100, 100), seed=st.integers(0, 20))
def test_scale_and_place_of_a_column_change_nothing_and_columns_may_move(each, scale, shift, seed):
    X, y = problem(30, 5, seed=seed)
    expected = each(X, y)
    moved = X.copy()
    moved[:, 2] = X[:, 2] * -scale + shift
    np.testing.assert_allclose(each(moved, y), expected, atol=1e-6)
    order = np.random.default_rng(seed).permutation(5)
    np.testing.assert_allclose(each(X[:, order], y), expected[order], atol=1e-12)


def test_digits_far_from_zero_are_kept():
    X, y = problem()
    for form in FORMS:
        np.testing.assert_allclose(relieff(form(X + 1e9), y), relieff(X, y), atol=1e-5)


def test_equal_distances_do_not_hang_on_rounding():
    # Thirds and fifths do not add up exactly; in another order they differ in the last digits.
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, (80, 10)), rng.integers(0, 6, (80, 10))]).astype(float)
    y = np.arange(80) % 2
    expected = relieff(X, y, n_neighbors=3)
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(20)
        np.testing.assert_allclose(relieff(X[:, order], y, n_neighbors=3), expected[order], atol=1e-12)
    np.testing.assert_allclose(relieff(sp.csr_array(X), y, n_neighbors=3), expected, atol=1e-12)


def test_exclusive_or_is_found_where_single_columns_say_nothing():
    rng = np.random.default_rng(0)
    X = rng.random((300, 20))
    y = (X[:, 4] > 0.5) ^ (X[:, 11] > 0.5)
    for each in (relief, relieff):
        assert set(np.argsort(-each(X, y))[:2]) == {4, 11}
    for name in ("cc", "f", "s2n", "stump"):
        assert set(np.argsort(-scores.get(name)(X, y))[:2]) != {4, 11}


def test_a_row_is_never_its_own_neighbour():
    X = np.array([[0.0], [0.5], [1.0], [1.0]])
    misses, hits = [1.0, 0.5, 0.75, 0.75], [0.5, 0.5, 0.0, 0.0]
    for form in FORMS:
        np.testing.assert_allclose(relieff(form(X), [0, 0, 1, 1]), [np.mean(misses) - np.mean(hits)])


def test_a_row_alone_in_its_class_is_not_asked():
    X = np.array([[0.0, 1.0], [0.2, 0.0], [1.0, 0.5]])
    np.testing.assert_allclose(relieff(X, [0, 0, 1]), twin(X, np.array([0, 0, 1]), 10))
    np.testing.assert_allclose(relieff(X, [0, 0, 1])[0], (1.0 - 0.2 + 0.8 - 0.2) / 2)


def test_columns_that_say_nothing_score_zero():
    X, y = problem()
    X[:, 4], X[:, 5], X[:, 6] = 0.1, np.nan, 0.0
    for form in FORMS:
        np.testing.assert_array_equal(relieff(form(X), y)[4:7], 0.0)
    np.testing.assert_array_equal(relieff(np.full((6, 2), np.nan), [0, 0, 0, 1, 1, 1]), 0.0)


def test_memory_grows_with_the_rows_not_with_their_square():
    rng = np.random.default_rng(0)
    X, y = rng.random((4000, 3)), np.arange(4000) % 2
    relieff(X[:300], y[:300])
    for form in (np.asarray, sp.csr_array):
        tracemalloc.start()
        relieff(form(X), y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # All distances would take 128 MB.
        assert peak < 50e6


@pytest.mark.parametrize("each", [relief, relieff])
def test_bad_input_gets_one_clear_sentence(each):
    X, y = problem()
    with pytest.raises(TamisError, match=f"{each.name} needs a class with two rows or more"):
        each(X[:3], [0, 1, 2])
    with pytest.raises(TamisError, match="at least 2 classes"):
        each(X, np.zeros(60))
    for value in (np.inf, -np.inf):
        X[7, 5] = value
        for form in FORMS:
            with pytest.raises(DataError, match=r"column 5 .* infinity"):
                each(form(X), y)
    X[7, 5], X[8, 5] = 1e308, -1e308
    with pytest.raises(DataError, match=r"column 5 .* too far apart"):
        each(X, y)
    with pytest.raises(ValueError, match="'metric' parameter"):
        each(X, y, metric="cosine")
    with pytest.raises(ValueError, match="'sample' parameter"):
        each(X, y, sample=0)


def test_recipes_tell_columns_to_keep_from_neighbours_to_ask():
    X, y = problem()
    model = tamis.recipe("relieff(3, n_neighbors=5)").fit(X, y)
    assert model.get_support().sum() == 3
    np.testing.assert_array_equal(model.scores_, relieff(X, y, n_neighbors=5))
    with pytest.raises(ValueError, match="'n_neighbors' parameter"):
        relieff(X, y, n_neighbors=0)
