"""The MDL histogram: its code length written out again, every division of small problems, and planted classes."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from slanted import slanted
from tamis.classify import MDLHistogram
from tamis.classify.mdl_histogram.code_length import axes_bits, log_star

log2 = math.log2


def cell_of(row, low, high, depths):
    """The cell of a row, one axis at a time; None for a missing value."""
    found = []
    for value, a, b, depth in zip(row, low, high, depths, strict=True):
        if depth == 0:
            continue
        if math.isnan(value):
            found.append(None)
        else:
            share = (value - a) / (b - a) if b > a else 0.0
            found.append(min(max(math.floor(share * 2**depth), 0), 2**depth - 1))
    return tuple(found)


def code_length(X, y, depths, weight=None):
    """Kudo and Tenmoto's eq. 1, first form, from the rows: dictionaries, whole binomials, no arrays."""
    weight = [1.0] * len(y) if weight is None else weight
    low = [min((v for v in column if v == v), default=0.0) for column in X.T]
    high = [max((v for v in column if v == v), default=0.0) for column in X.T]
    cells = {}
    for row, label, w in zip(X.tolist(), y.tolist(), weight, strict=True):
        if w > 0:
            cells.setdefault(cell_of(row, low, high, depths), Counter())[label] += w
    c, m = len(set(y.tolist())), X.shape[1]
    mixed = [counts for counts in cells.values() if len(counts) > 1]
    bits = log2(len(cells)) + log2(math.comb(len(cells), len(mixed))) + (len(cells) - len(mixed)) * log2(c)
    for counts in mixed:
        n = sum(counts.values())
        bits -= sum(k * log2(k / n) for k in counts.values())
        bits += (c - 1) / 2 * max(0.0, log2(n))
    divided = sorted(int(d) for d in depths if d > 0)
    bits += log2(m) + log2(math.comb(m, m - len(divided)))
    if divided:
        d, k = sum(divided), min(m, max(2, len(divided)))
        star = d
        while (star := log2(star)) > 0:
            bits += star
        bits -= sum(di * log2(di / d) for di in divided)
        bits += -(k - 1) / 2 * log2(d) + log2(d) + sum(log2(di) for di in divided[:-2])
    return bits


@st.composite
def problems(draw):
    n, m = draw(st.integers(4, 60)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    values = draw(st.sampled_from(["real", "few", "skewed", "holes"]))
    X = rng.random((n, m))
    if values == "few":
        X = np.floor(4 * X) * (rng.random((n, m)) < 0.7)
    elif values == "skewed":
        X = np.exp(4 * X)
    elif values == "holes":
        X[rng.random((n, m)) < 0.2] = np.nan
    score = np.nan_to_num(X) @ rng.normal(size=m)
    y = np.digitize(score, np.quantile(score, [0.3, 0.8][: draw(st.integers(1, 2))]))
    y = np.where(rng.random(n) < 0.1, rng.integers(0, y.max() + 1, n), y)
    y[: y.max() + 1] = np.arange(y.max() + 1)
    return X, y


# The code


@pytest.mark.parametrize(("number", "bits"), [(0, 0.0), (1, 0.0), (2, 1.0), (3, log2(3) + log2(log2(3))), (16, 7.0)])
def test_the_universal_code_of_whole_numbers(number, bits):
    assert log_star(number) == pytest.approx(bits)


def test_the_printed_form_for_two_columns():
    """With m = 2 every term of eq. 1 is as printed, whichever axes are divided."""
    for d1, d2 in product(range(5), repeat=2):
        d = d1 + d2
        printed = 1 + log2(math.comb(2, (d1 > 0) + (d2 > 0)))
        if d:
            printed += log_star(d) + sum(-di * log2(di / d) for di in (d1, d2) if di) - 1 / 2 * log2(d) + log2(d)
        assert axes_bits([d1, d2], 2) == pytest.approx(printed)


def test_columns_that_are_not_divided_cost_bits_and_give_none_back():
    lengths = [axes_bits([2, 1], m) for m in (2, 10, 1000, 100_000)]
    assert lengths == sorted(lengths)
    assert lengths[-1] - lengths[-2] == pytest.approx(3 * log2(100), abs=0.1)


@settings(max_examples=40)
@given(problems(), st.booleans())
def test_the_length_is_that_of_the_paper_and_no_single_step_is_shorter(problem, weighted):
    X, y = problem
    weight = np.random.default_rng(len(y)).integers(1, 4, len(y)) / 2 if weighted else None
    model = MDLHistogram(max_depth=6).fit(X, y, weight)
    assert model.undivided_bits_ == pytest.approx(code_length(X, y, [0] * X.shape[1], weight))
    assert model.bits_ == pytest.approx(code_length(X, y, model.depths_, weight))
    assert model.bits_ <= model.undivided_bits_
    np.testing.assert_array_equal(model.depths_, np.bincount(model.halved_, minlength=X.shape[1]))
    for axis in range(X.shape[1]):
        for more in (-6, -5, -4, -3, -2, -1, 1, 2, 3):
            other = model.depths_.copy()
            other[axis] += more
            if 0 <= other[axis] <= 6:
                assert code_length(X, y, other, weight) >= model.bits_ - 1e-6


def test_the_best_of_all_divisions_is_nearly_always_found():
    """Against every division of two axes up to 2^4 intervals each: lines, blobs, steps, exclusive or, and noise."""
    rng = np.random.default_rng(1)
    hits = 0
    for trial in range(40):
        X = rng.random((80, 2))
        y = [
            (X @ rng.normal(size=2) > 0.3).astype(int),
            np.digitize(X[:, 1], [0.3, 0.7]),
            ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int),
            rng.integers(0, 2, 80),
        ][trial % 4]
        y[:2] = 0, 1
        found = MDLHistogram(max_depth=4).fit(X, y).bits_
        best = min(code_length(X, y, depths) for depths in product(range(5), repeat=2))
        assert found >= best - 1e-9
        hits += found <= best + 1e-6
    assert hits >= 38


# Planted classes


def test_a_column_that_matters_more_is_divided_more_often():
    depths = {degrees: MDLHistogram().fit(*slanted(2000, degrees)).depths_ for degrees in (0, 20, 45, 70, 90)}
    assert depths[0].tolist() == [1, 0]
    assert depths[90].tolist() == [0, 1]
    assert depths[20][0] > depths[20][1] > 0
    assert depths[70][1] > depths[70][0] > 0
    assert abs(depths[45][0] - depths[45][1]) <= 1


def test_few_rows_select_and_many_come_near_the_best_error():
    small = MDLHistogram().fit(*slanted(40, 15))
    assert small.used_.tolist() == [True, False]
    new = slanted(20_000, 15, seed=1, noise=0.1)
    error = [1 - MDLHistogram().fit(*slanted(n, 15, seed=2, noise=0.1)).score(*new) for n in (50, 1000, 30_000)]
    assert error[0] > error[1] > error[2]
    assert error[2] < 0.12


def test_labels_drawn_at_random_divide_nothing():
    rng = np.random.default_rng(0)
    divided = [MDLHistogram().fit(rng.random((100, 10)), rng.permutation(100) % 2).depths_.any() for _ in range(60)]
    assert sum(divided) <= 5


def test_further_ahead_and_uphill():
    """A class in the middle of an axis needs two halvings at once, exclusive or a step that does not help alone."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 6))
    middle, either = (np.abs(X[:, 3] - 0.5) < 0.25).astype(int), ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int)
    assert MDLHistogram(1, uphill=0).fit(X, middle).depths_.tolist() == [0] * 6
    assert MDLHistogram(2, uphill=0).fit(X, middle).depths_.tolist() == [0, 0, 0, 2, 0, 0]
    assert MDLHistogram(uphill=0).fit(X[:, :2], either).depths_.tolist() == [0, 0]
    assert MDLHistogram(uphill=1).fit(X[:, :2], either).depths_.tolist() == [1, 1]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_one_column_among_a_hundred_thousand(form):
    rng = np.random.default_rng(0)
    y = np.arange(45) % 3
    X = sp.random_array((45, 100_000), density=0.02, rng=rng, format="lil") if form is sp.csr_array else None
    X = rng.random((45, 100_000), dtype=np.float32) if X is None else X
    X[:, [4321]] = (y / 2)[:, None]
    model = MDLHistogram().fit(form(X), y)
    assert np.flatnonzero(model.used_).tolist() == [4321]
    assert model.score(form(X), y) == 1.0


# Answers


def by_hand(model, X, y, row, weight):
    """Shares in the cell of a row, halvings taken back one by one while there is no training row in it."""
    for kept in range(len(model.halved_), -1, -1):
        depths = np.bincount(model.halved_[:kept], minlength=X.shape[1])
        mine = cell_of(row, model.low_, model.high_, depths)
        inside = np.array([cell_of(one, model.low_, model.high_, depths) == mine for one in X.tolist()])
        if inside.any():
            counts = np.bincount(y[inside], weights=weight[inside], minlength=y.max() + 1) + 0.5
            return counts / counts.sum()
    raise AssertionError


@settings(max_examples=25)
@given(problems())
def test_an_empty_cell_is_answered_by_the_one_it_was_cut_from(problem):
    X, y = problem
    rng = np.random.default_rng(len(y))
    weight = rng.integers(1, 3, len(y)).astype(float)
    model = MDLHistogram(max_depth=8).fit(X, y, weight)
    new = np.concatenate([X[:5], rng.normal(size=(10, X.shape[1])) * np.nanmax(X)])
    new[rng.random(new.shape) < 0.1] = np.nan
    expected = [by_hand(model, X, y, row, weight) for row in new.tolist()]
    np.testing.assert_allclose(model.predict_proba(new), expected)


def test_smoothing_is_of_the_probabilities_alone():
    X, y = slanted(300, 30, noise=0.1)
    plain, smooth = MDLHistogram(alpha=0.0).fit(X, y), MDLHistogram(alpha=2.0).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), smooth.predict(X))
    last = plain.weight_[-1]
    shares = {tuple(np.round(row, 12)) for row in last / last.sum(axis=1, keepdims=True)}
    assert {tuple(np.round(row, 12)) for row in plain.predict_proba(X)} == shares
    assert smooth.predict_proba(X).min() > 0


def test_a_missing_value_can_tell_the_class():
    rng = np.random.default_rng(0)
    X = rng.random((80, 3))
    y = rng.integers(0, 2, 80)
    X[y == 1, 2] = np.nan
    for form in (np.asarray, sp.csr_array):
        model = MDLHistogram().fit(form(X), y)
        assert model.depths_.tolist() == [0, 0, 1]
        assert model.score(form(X), y) == 1.0
    # Beside a column of one value, too.
    X[y == 0, 2] = 3.0
    assert MDLHistogram().fit(X, y).score(X, y) == 1.0


def test_missing_values_that_training_did_not_have_are_answered_without_that_column():
    X, y = slanted(500, 0)
    model = MDLHistogram(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[np.nan, 0.5]]), [np.bincount(y) / len(y)])


@settings(max_examples=30)
@given(problems(), st.sampled_from([1, 3, 5]), st.booleans())
def test_sparse_columns_give_what_dense_ones_give(problem, ahead, weighted):
    X, y = problem
    X = np.where(np.random.default_rng(len(y)).random(X.shape) < 0.5, 0.0, X - 0.5)
    weight = np.random.default_rng(1).random(len(y)) + 0.1 if weighted else None
    dense, sparse = (MDLHistogram(ahead).fit(form(X), y, weight) for form in (np.asarray, sp.csr_array))
    np.testing.assert_array_equal(sparse.halved_, dense.halved_)
    assert sparse.bits_ == pytest.approx(dense.bits_)
    np.testing.assert_array_equal(sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X))


@settings(max_examples=25)
@given(problems())
def test_weights_count_as_repeated_rows(problem):
    X, y = problem
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weight[[int(np.argmax(y == c)) for c in np.unique(y)]] = 1
    weighted, repeated = MDLHistogram().fit(X, y, weight), MDLHistogram().fit(np.repeat(X, weight, 0), y.repeat(weight))
    np.testing.assert_array_equal(weighted.halved_, repeated.halved_)
    assert weighted.bits_ == pytest.approx(repeated.bits_)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


@given(problems(), st.integers(-3, 3))
def test_the_unit_of_a_column_does_not_matter(problem, power):
    X, y = problem
    one, other = MDLHistogram().fit(X, y), MDLHistogram().fit(X * 4.0**power, y)
    np.testing.assert_array_equal(one.halved_, other.halved_)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X * 4.0**power))
