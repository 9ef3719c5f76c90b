"""The MDL histogram: its kernel against a plain twin, and input that is bad or hard to hold."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from slanted import slanted
from tamis.base.errors import TamisError
from tamis.classify import MDLHistogram
from tamis.classify.mdl_histogram.columns import Columns
from tamis.kernels.mdl_histogram import refined_cells


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_the_kernel_equals_its_twin(seed, levels, fractions):
    rng = np.random.default_rng(seed)
    n, p, c, n_cells = int(rng.integers(2, 40)), 3, int(rng.integers(2, 4)), int(rng.integers(1, 6))
    cell, classes = rng.integers(0, n_cells, n), rng.integers(0, c, n)
    weight = rng.random(n) + 0.2 if fractions else rng.integers(1, 4, n).astype(float)
    parts = rng.integers(0, 2**levels + 1, (p, n)).astype(np.uint8)
    zero = rng.integers(0, 2**levels, p).astype(np.uint8)
    listed = rng.random((p, n)) < 0.6
    parts = np.where(listed, parts, zero[:, None])

    def facts(group):
        """Bits of the mixed groups, how many groups there are, how many are mixed."""
        bits, mixed = 0.0, 0
        for one in np.unique(group):
            w = np.array([weight[(group == one) & (classes == k)].sum() for k in range(c)])
            w = w[w > 0]
            if w.size > 1:
                bits += -(w * np.log2(w / w.sum())).sum() + (c - 1) / 2 * max(0.0, np.log2(w.sum()))
                mixed += 1
        return np.array([bits, np.unique(group).size, mixed])

    total, members = np.zeros((n_cells, c)), np.zeros((n_cells, c), dtype=np.int64)
    np.add.at(total, (cell, classes), weight)
    np.add.at(members, (cell, classes), 1)
    starts = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    rows = np.concatenate([np.flatnonzero(one) for one in listed]).astype(np.int32)
    found = np.zeros((p, levels)), np.zeros((p, levels), dtype=np.int64), np.zeros((p, levels), dtype=np.int64)
    numbers = np.arange(1, 1 if fractions else weight.sum() + 1)
    logs = np.concatenate([[0.0] * (not fractions), numbers * np.log2(numbers)])
    fixed = (levels, cell, classes, weight, total, members, float(weight.min()), logs)
    refined_cells(starts, rows, parts[listed].copy(), zero, *fixed, *found)
    for j in range(p):
        for s in range(levels):
            finer = np.where(parts[j] == 2**levels, -1, parts[j] >> (levels - 1 - s))
            got = np.array([one[j, s] for one in found]) + facts(cell)
            np.testing.assert_allclose(got, facts(100 * cell + finer), atol=1e-9)


def test_the_kernel_declares_the_types_it_is_called_with():
    for dtype in (np.float32, np.float64):
        X, y = slanted(30, 10)
        for form in (np.asarray, sp.csr_array):
            MDLHistogram().fit(form(X.astype(dtype)), y, np.ones(30))
    used = set(refined_cells._ready)
    refined_cells.warm()
    assert used == refined_cells._ready
    assert len(used) == len(refined_cells.signatures)


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ahead": 0}, "'ahead'"),
        ({"ahead": 6}, "'ahead'"),
        ({"uphill": -1}, "'uphill'"),
        ({"max_depth": 25}, "'max_depth'"),
        ({"alpha": -0.5}, "'alpha'"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        MDLHistogram(**parameters).fit(*slanted(20, 0))


def test_infinity_text_and_a_class_without_weight_are_refused():
    X, y = slanted(20, 0)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        MDLHistogram().fit(X, y)
    with pytest.raises(ValueError, match="could not convert"):
        MDLHistogram().fit(np.full((20, 1), "red"), y)
    with pytest.raises(TamisError, match="mdl_histogram: no row of class 1 has a sample weight above zero"):
        MDLHistogram().fit(*slanted(20, 0), np.where(y == 1, 0.0, 1.0))


@pytest.mark.parametrize("scale", [1e308, 1e-308, 5e-324, 1.0])
def test_ends_that_are_hard_to_hold(scale):
    X = np.array([[-1.0], [-0.9], [0.8], [1.0]]) * scale
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MDLHistogram().fit(np.repeat(X, 9, axis=0), np.repeat([0, 0, 1, 1], 9))
        assert model.depths_.tolist() == [1]
        assert model.predict([[-np.finfo(float).max], [np.finfo(float).max]]).tolist() == [0, 1]


def test_columns_without_a_value_and_of_one_value():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = np.column_stack([np.full(40, np.nan), np.full(40, 7.0), np.zeros(40), y + 0.1 * rng.random(40)])
    for form in (np.asarray, sp.csr_array):
        model = MDLHistogram().fit(form(X), y)
        assert model.depths_.tolist() == [0, 0, 0, 1]
        assert model.predict(form(np.array([[3.0, np.nan, 9.0, 0.0], [3.0, 8.0, np.nan, 1.0]]))).tolist() == [0, 1]
    assert np.isnan(model.low_[0])
    assert MDLHistogram().fit(X[:, :3], y).predict_proba(X[:1, :3]).tolist() == [[0.5, 0.5]]


def test_values_that_a_sparse_matrix_holds_in_parts_are_added_up():
    X, y = slanted(80, 30)
    whole = MDLHistogram().fit(X, y)
    # Each value as two entries of its row: 5 less, and 5.
    parts = np.stack([X - 5.0, np.full(X.shape, 5.0)], axis=2).ravel()
    split = sp.csr_array((parts, np.tile([0, 0, 1, 1], len(X)), np.arange(0, parts.size + 1, 4)), shape=X.shape)
    model = MDLHistogram().fit(split, y)
    np.testing.assert_allclose(model.high_, whole.high_)
    np.testing.assert_array_equal(model.predict(split), whole.predict(X))


def test_two_rows():
    assert MDLHistogram().fit([[0.0], [1.0]], ["a", "b"]).depths_.tolist() == [0]


def test_columns_keep_the_codes_of_their_depth():
    """What is looked at after a step back is what was looked at before the step."""
    X, y = slanted(60, 30)
    for form in (np.asarray, sp.csr_array):
        columns = Columns(form(X), y.astype(np.intp), np.ones(60), 2, 3)
        cell, total = np.zeros(60, dtype=np.int64), np.bincount(y)[None, :].astype(float)
        before = columns.changes(cell, total, {})
        finer = columns.changes(cell, total, {0: 2})
        assert (finer[0][0] != before[0][0]).any()
        for one, other in zip(columns.changes(cell, total, {}), before, strict=True):
            np.testing.assert_array_equal(one, other)
