"""Class-by-state counts against plain NumPy twins, and the information of tables against scikit-learn."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import mutual_info_score

from tamis.contingency.information import mutual_information
from tamis.kernels.contingency import column_counts, few_counts, row_counts, stored_counts

DTYPES = [np.int8, np.uint8, np.int16, np.int32, np.int64]


@st.composite
def problems(draw, lowest=0, most=300, wide=False):
    """Codes from `lowest` on, classes and row weights (whole numbers one each, or fractions)."""
    n, p = draw(st.integers(1, most)), draw(st.integers(1, 6))
    size = draw(st.integers(1, 40 if wide else 9))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    codes = rng.integers(lowest, lowest + size, (n, p))
    classes = rng.integers(0, draw(st.integers(1, 4)), n)
    if draw(st.booleans()):
        return codes, classes, np.ones(n, dtype=np.int32)
    return codes, classes, rng.choice([0.0, 0.25, 1.0, 3.0], n)


def plain_counts(codes, classes, weight, sizes, lowest):
    """Every count by a mask; codes outside of a column's states are left out."""
    first = np.concatenate(([0], np.cumsum(sizes)))
    counts = np.zeros((classes.max() + 1, first[-1]), dtype=weight.dtype)
    for c in range(counts.shape[0]):
        for j, size in enumerate(sizes):
            for s in range(size):
                counts[c, first[j] + s] = weight[(classes == c) & (codes[:, j] == lowest[j] + s)].sum()
    return counts, first


@given(problems(lowest=2, wide=True), st.sampled_from(DTYPES))
def test_counts_of_rows(problem, dtype):
    codes, classes, weight = problem
    lowest = codes.min(axis=0)
    wanted, first = plain_counts(codes, classes, weight, codes.max(axis=0) - lowest + 1, lowest)
    counts = np.zeros_like(wanted)
    row_counts(codes.astype(dtype), first[:-1] - lowest, classes, weight, counts)
    np.testing.assert_allclose(counts, wanted)


@given(problems(lowest=-5))
def test_counts_of_rows_below_zero(problem):
    codes, classes, weight = problem
    lowest = codes.min(axis=0)
    wanted, first = plain_counts(codes, classes, weight, codes.max(axis=0) - lowest + 1, lowest)
    counts = np.zeros_like(wanted)
    row_counts(codes.astype(np.int8), first[:-1] - lowest, classes, weight, counts)
    np.testing.assert_allclose(counts, wanted)


@given(problems(lowest=-1, most=900), st.integers(1, 8))
def test_counts_of_a_few_states(problem, n_states):
    codes, classes, _ = problem
    p = codes.shape[1]
    wanted, _ = plain_counts(codes, classes, np.ones(classes.size, dtype=np.int32), [n_states] * p, [0] * p)
    order = np.argsort(classes, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(classes))))
    for dtype in (np.int8, np.uint8):
        counts = np.zeros_like(wanted)
        few_counts(codes.astype(dtype), np.arange(n_states, dtype=dtype), order, starts, counts)
        np.testing.assert_array_equal(counts, wanted)


def test_counts_of_more_columns_and_rows_than_are_passed_together():
    rng = np.random.default_rng(0)
    codes, classes = rng.integers(-1, 3, (700, 2100)).astype(np.int8), rng.integers(0, 2, 700)
    wanted, first = plain_counts(codes, classes, np.ones(700, dtype=np.int32), [4] * 2100, [-1] * 2100)
    compared, placed = np.zeros_like(wanted), np.zeros_like(wanted)
    order, starts = np.argsort(classes, kind="stable"), np.array([0, (classes == 0).sum(), 700])
    few_counts(codes, np.arange(-1, 3, dtype=np.int8), order, starts, compared)
    row_counts(codes, first[:-1] + 1, classes, np.ones(700, dtype=np.int32), placed)
    np.testing.assert_array_equal(compared, wanted)
    np.testing.assert_array_equal(placed, wanted)


@given(problems(lowest=-1, wide=True), st.sampled_from([np.int8, np.int16, np.int32]))
def test_counts_of_columns(problem, dtype):
    codes, classes, weight = problem
    sizes = np.maximum(codes.max(axis=0), 0) + 1
    wanted, first = plain_counts(codes, classes, weight, sizes, np.zeros_like(sizes))
    counts = np.zeros_like(wanted)
    column_counts(np.ascontiguousarray(codes.T.astype(dtype)), first, classes, weight, counts)
    np.testing.assert_allclose(counts, wanted)


@given(problems(lowest=-1), st.integers(0, 3))
def test_counts_of_stored_entries(problem, zero):
    codes, classes, weight = problem
    sizes = np.maximum(codes.max(axis=0), zero) + 1
    wanted, first = plain_counts(codes, classes, weight, sizes, np.zeros_like(sizes))
    kept = (codes != zero).T
    indptr = np.concatenate(([0], np.cumsum(kept.sum(axis=1))))
    rows = np.nonzero(kept)[1].astype(np.int32)
    members = np.bincount(classes)
    size = np.bincount(classes, weights=weight).astype(weight.dtype)
    counts = np.zeros_like(wanted)
    zeros = np.full(sizes.size, zero)
    stored = codes.T[kept].astype(np.int32)
    stored_counts(indptr, rows, stored, zeros, first, classes, weight, members, size, counts)
    np.testing.assert_allclose(counts, wanted, atol=1e-12)
    # Where no row is left, nothing may be left of the weight either.
    assert not counts[wanted == 0].any()


def test_weights_that_do_not_add_up_leave_nothing_where_no_row_is_left():
    weight = np.array([0.1, 0.2, 0.3])
    counts = np.zeros((1, 2))
    entries = np.array([0, 3]), np.arange(3, dtype=np.int32), np.ones(3, dtype=np.int32)
    assert weight.sum() - 0.1 - 0.2 - 0.3 != 0
    stored_counts(
        *(*entries, np.array([0]), np.array([0, 2]), np.zeros(3, dtype=np.intp), weight),
        *(np.array([3]), np.array([weight.sum()]), counts),
    )
    assert counts[0, 0] == 0


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(1, 5)), elements=st.integers(0, 30)))
def test_information_of_a_table(table):
    rows, columns = np.nonzero(table)
    wanted = 0.0
    if rows.size:
        one, other = np.repeat(rows, table[rows, columns]), np.repeat(columns, table[rows, columns])
        wanted = mutual_info_score(one, other)
    for form in (table, table.astype(np.int32), table.astype(float), table * 0.3):
        found = mutual_information(form)
        assert found.shape == (1,)
        assert found[0] == pytest.approx(wanted, abs=1e-12)
        assert found[0] >= 0


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 1000))
def test_tables_side_by_side(sizes, seed):
    first = np.concatenate(([0], np.cumsum(sizes)))
    counts = np.random.default_rng(seed).integers(0, 9, (3, first[-1]))
    alone = [mutual_information(counts[:, a:b])[0] for a, b in pairwise(first)]
    np.testing.assert_allclose(mutual_information(counts, first), alone, atol=1e-14)


@pytest.mark.parametrize("scale", [1, 1_000_003, 0.1])
def test_independent_counts_have_no_information_at_all(scale):
    counts = np.outer([1, 2, 3], [4, 1, 7]) * scale
    assert mutual_information(counts)[0] == 0
    assert mutual_information(counts[:, :1])[0] == 0
    assert mutual_information(np.zeros((2, 3)))[0] == 0
