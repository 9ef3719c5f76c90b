"""Numbers at the edge: rank, validate and mine are right, or warn, or refuse; never a traceback, never a NaN."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import bench_edges as bench

import tamis
from tamis.base.errors import DataError
from tamis.data.extreme_values import TooSmall, check_extremes

RIGHT = {"rank": "best column 0, score 0.62", "validate": "BER 0.2", "mine": "BER 0.2"}
INFINITE = "refused: data: row {} holds infinity in column '1'; give a finite number"
TOO_LARGE = "column 1 (counted from 0) contains infinity or values too large to square"
TOO_SMALL = "warns: data: column '{}': all values are below 1e-150"
ONE_ROW = "refused: data: class b has one row"

#: What each command says; one sentence where it is the same for all.
EXPECTED = {
    "one infinite value": INFINITE.format(4),
    "one value of 1e308": TOO_LARGE,
    "a useless column times 1e200": TOO_LARGE,
    "a useless column of denormal numbers": TOO_SMALL.format(1),
    "the useful column of denormal numbers": TOO_SMALL.format(0),
    "the useful column times 1e-200": TOO_SMALL.format(0),
    "the useful column times 1e100": RIGHT,
    "float16": RIGHT,
    "float16 near its largest value": RIGHT,
    "float16 that has overflowed": INFINITE.format(2),
    "whole numbers near 1e18": RIGHT,
    "truth values": {"rank": "best column 0", "validate": "BER 0.4", "mine": "BER 0.4"},
    "objects: numbers": RIGHT,
    "objects: numbers, words and None": RIGHT,
    "objects: something else": "refused: ",
    "complex numbers": "refused: data: takes numbers and text",
    "dates": "refused: data: takes numbers and text",
    "every row twice": {"rank": "best column 0", "validate": "30 rows are copies", "mine": "30 rows are copies"},
    "one row in each class": {
        "rank": "warns: The number of unique classes",
        "validate": "refused: every class has one row",
        "mine": "refused: every class has one row",
    },
    "two classes, one of one row": {"rank": "best column 0", "validate": ONE_ROW, "mine": ONE_ROW},
    "three classes, one of one row": {
        "rank": "best column 0",
        "validate": "warns: class 'c' has 1 row",
        "mine": "warns: class 'c' has 1 row",
    },
}


def test_every_case_is_expected_to_do_something():
    assert EXPECTED.keys() == bench.CASES.keys()


@pytest.mark.parametrize("command", ["rank", "validate", pytest.param("mine", marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", bench.CASES)
def test_it_is_right_or_warned_of_or_refused(case, command):
    expected = EXPECTED[case]
    assert (expected if isinstance(expected, str) else expected[command]) in bench.outcome(command, case)


@pytest.mark.parametrize("case", ["one infinite value", "every row twice", "two classes, one of one row"])
def test_mine_sees_the_edge_as_well(case):
    expected = EXPECTED[case]
    assert (expected if isinstance(expected, str) else expected["mine"]) in bench.outcome("mine", case)


def test_the_extremes_of_a_sparse_matrix_are_found():
    X = sp.csr_array(np.array([[0.0, 1.0, 1e-200], [0.0, 0.0, 1e-300], [2.0, 1e-200, 0.0]]))
    names = np.array(["a", "b", "c"])
    with pytest.warns(TooSmall, match="data: column 'c': all values are below"):
        check_extremes(X, names, "data")
    X.data[3] = -np.inf
    with pytest.raises(DataError, match="row 3 holds -infinity in column 'a'"):
        check_extremes(X, names, "data")


def test_numbers_that_a_scale_makes_right_are_as_good():
    X, y = bench.rows(), bench.classes()
    small = X * [1e-140, 1, 1, 1, 1, 1]
    np.testing.assert_allclose(tamis.rank(small, y)["score"], tamis.rank(X, y)["score"])
    # Missing values are no extremes.
    X[0, 2] = np.nan
    check_extremes(X, np.arange(6), "data")


def test_a_ranking_of_many_columns_takes_a_few_times_the_data():
    X, y = np.random.default_rng(0).standard_normal((20, 20_000)), np.arange(20) % 2
    tamis.rank(X[:, :2], y)
    tracemalloc.start()
    try:
        tamis.rank(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * X.nbytes


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("command", "most"), [("rank", 20), ("validate", 40), ("mine", 80)])
def test_large_tables_take_a_bounded_multiple_of_their_size(command, most):
    _, small = bench.peak(command, (20, 2))
    for rows, columns in bench.LARGE:
        _, size = bench.peak(command, (rows, columns))
        assert size - small < most * 8 * rows * columns
