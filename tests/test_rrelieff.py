"""RReliefF against the formulas of its paper, row by row."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tamis
from tamis.neighbours import relief_weights
from tamis.scores import cc, rrelieff
from tamis.select import Ranking

FORMS = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix]


def twin(X, y, k, *, sigma=None, nominal=False, metric="manhattan", asked=None):
    """Figure 3 of Robnik-Sikonja and Kononenko (1997), with a missing difference as the mean of the row's others."""
    with np.errstate(invalid="ignore"):
        span = np.array([np.ptp(x[~np.isnan(x)]) if (~np.isnan(x)).any() else 0.0 for x in X.T])
        gap = np.abs(X[:, None] - X) / np.where(span > 0, span, 1.0)
        gap = np.where(nominal & ~np.isnan(gap), gap > 0, gap)
        known = ~np.isnan(gap)
        apart = np.where(known, gap if metric == "manhattan" else gap**2, 0.0).sum(axis=2) / known.sum(axis=2)
    apart = np.round(np.where(known.any(axis=2), apart, np.inf), 9)
    if np.ptp(y) == 0:
        return np.zeros(X.shape[1])
    target = np.abs(y[:, None] - y) / np.ptp(y)
    n_y, n_f, n_both, m = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0
    for i in range(len(y)) if asked is None else asked:
        near = [j for j in np.argsort(apart[i], kind="stable") if j != i and apart[i, j] < np.inf][:k]
        if not near:
            continue
        m += 1
        place = np.arange(1, len(near) + 1)
        influence = np.ones(len(near)) if sigma is None else np.exp(-((place / sigma) ** 2))
        influence = influence / influence.sum()
        n_y += influence @ target[i, near]
        for f in range(X.shape[1]):
            seen = known[i, near, f]
            for total, each in ((n_f, influence), (n_both, influence * target[i, near])):
                if each[seen].sum() > 0:
                    total[f] += each.sum() * (each[seen] @ gap[i, near, f][seen]) / each[seen].sum()
    first = n_both / n_y if n_y else 0.0
    return first - ((n_f - n_both) / (m - n_y) if m > n_y + 1e-12 else 0.0)


def problem(n_rows=60, n_columns=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(n_rows, n_columns))
    return X, X[:, 0] * X[:, 1] + rng.normal(size=n_rows)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("metric", ["manhattan", "euclidean"])
@pytest.mark.parametrize("sigma", [None, 2.0, 20.0])
def test_equals_the_formulas_of_the_paper(form, metric, sigma):
    X, y = problem()
    for k in (1, 5, 59):
        found = rrelieff(form(X), y, n_neighbors=k, metric=metric, sigma=sigma)
        np.testing.assert_allclose(found, twin(X, y, k, metric=metric, sigma=sigma), atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@given(st.data())
@settings(max_examples=40)
def test_equals_the_twin(form, data):
    n_rows, n_columns = data.draw(st.integers(3, 12)), data.draw(st.integers(1, 5))
    # Few values, so that many distances and targets are equal.
    values = st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0, -1.5, np.nan])
    X = data.draw(arrays(np.float64, (n_rows, n_columns), elements=values))
    X[np.isnan(X).all(axis=1), 0] = 1.0
    y = data.draw(arrays(np.float64, n_rows, elements=st.sampled_from([0.0, 0.5, 1.0, 4.0])))
    k, sigma = data.draw(st.integers(1, 5)), data.draw(st.sampled_from([None, 1.5]))
    found = rrelieff(form(X), y, n_neighbors=k, sigma=sigma, task="regress")
    np.testing.assert_allclose(found, twin(X, y, k, sigma=sigma), atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_nominal_columns_differ_by_zero_or_one(missing):
    X, y = problem(40)
    nominal = np.arange(8) % 3 == 1
    X[:, nominal] = np.floor(X[:, nominal]) % 4
    X[np.random.default_rng(1).random(X.shape) < missing] = np.nan
    table = X.astype(object)
    for i, j in np.argwhere(nominal & ~np.isnan(X)):
        table[i, j] = f"level {X[i, j]:.0f}"
    table[:, nominal] = np.where(np.isnan(X[:, nominal]), None, table[:, nominal])
    expected = twin(X, y, 4, nominal=nominal)
    np.testing.assert_allclose(rrelieff(table, y, n_neighbors=4), expected, atol=1e-12)
    model = Ranking("rrelieff", k=3, options={"n_neighbors": 4}).fit(table, y)
    np.testing.assert_allclose(model.scores_, expected, atol=1e-12)


@pytest.mark.parametrize("sigma", [None, 3.0])
@pytest.mark.parametrize("form", FORMS)
def test_weights_count_as_repeated_rows(form, sigma):
    rng = np.random.default_rng(0)
    X, y = problem(50)
    X = np.floor(X)
    X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.integers(0, 4, len(y))
    repeated = rrelieff(form(np.repeat(X, weight, axis=0)), np.repeat(y, weight), sigma=sigma)
    np.testing.assert_allclose(rrelieff(form(X), y, sample_weight=weight, sigma=sigma), repeated, atol=1e-9)


def test_a_sample_asks_some_rows_about_all():
    X, y = problem(40)
    drawn = np.random.default_rng(np.random.SeedSequence(7)).choice(40, 15, replace=False)
    np.testing.assert_allclose(rrelieff(X, y, sample=15, random_state=7), twin(X, y, 10, asked=drawn), atol=1e-12)
    np.testing.assert_array_equal(rrelieff(X, y, sample=40), rrelieff(X, y))


def test_keeping_few_neighbours_at_a_time_changes_nothing(monkeypatch):
    X, y = problem(600, 5)
    expected = rrelieff(X, y)
    monkeypatch.setattr(relief_weights, "_KEPT", 1)
    np.testing.assert_allclose(rrelieff(X, y), expected, rtol=1e-9)


@settings(max_examples=20)
@given(scale=st.floats(1e-6, 1e6), shift=st.floats(-100, 100), seed=st.integers(0, 20))
def test_scale_and_place_of_column_and_target_change_nothing(scale, shift, seed):
    X, y = problem(30, 5, seed)
    expected = rrelieff(X, y)
    moved = X.copy()
    moved[:, 2] = X[:, 2] * -scale + shift
    np.testing.assert_allclose(rrelieff(moved, y * scale + shift, task="regress"), expected, atol=1e-6)
    order = np.random.default_rng(seed).permutation(5)
    np.testing.assert_allclose(rrelieff(X[:, order], y), expected[order], atol=1e-12)


def test_a_product_is_found_where_single_columns_say_nothing():
    X = np.random.default_rng(0).random((400, 12))
    y = (X[:, 4] - 0.5) * (X[:, 9] - 0.5)
    assert set(np.argsort(-rrelieff(X, y))[:2]) == {4, 9}
    assert set(np.argsort(-cc(X, y))[:2]) != {4, 9}


def test_a_recipe_gives_the_number_of_neighbours():
    X, y = problem()
    model = tamis.recipe("rrelieff(3, n_neighbors=5, sigma=20)").fit(X, y)
    assert model.get_support().sum() == 3
    np.testing.assert_array_equal(model.scores_, rrelieff(X, y, n_neighbors=5, sigma=20.0))
