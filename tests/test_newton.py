"""Machines by Newton steps: the optimum of libsvm on the Gram matrix, from nothing and from a similar machine."""

import numpy as np
import pytest

from tamis.margins import elimination
from tamis.margins.elimination import ByNewton, ByRows
from tamis.margins.newton import solve_newton
from tamis.margins.pairs import gram_path
from tamis.margins.signed_rows import SignedRows


def problem(seed, n_rows=90, n_columns=14):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n_rows, n_columns)), np.arange(n_rows) % 2
    X[:, 0] += y
    return X - X.mean(axis=0), y, rng


def reference(X, y, cost):
    ((found,),) = gram_path(X @ X.T, y, [cost], np.zeros(len(y)), tol=1e-3, max_iter=None)
    return found.weights @ X, found.intercept


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_finds_the_optimum_and_that_of_fewer_columns(C):
    X, y, rng = problem(3)
    cost = C * rng.uniform(0.5, 2.0, len(y))
    rows = SignedRows.of(y == 1, cost)
    first = solve_newton(X, rows)
    fewer = np.ascontiguousarray(X[:, :9])
    for columns, found in ((X, first), (fewer, solve_newton(fewer, rows, first.alpha))):
        weights, intercept = reference(columns, y, cost)
        np.testing.assert_allclose(found.weights, weights, atol=1e-7 * np.abs(weights).max())
        assert found.intercept == pytest.approx(intercept, abs=1e-6)
        np.testing.assert_allclose((rows.signs * found.alpha) @ columns, found.weights, atol=1e-9)
        assert abs(rows.signs @ found.alpha) < 1e-8 * cost.sum()
        assert found.alpha.min() >= 0
        assert (found.alpha <= cost).all()


def test_classes_that_do_not_overlap_have_the_widest_margin():
    X, y, _ = problem(5, n_columns=3)
    X[:, 0] += 9 * y
    found = solve_newton(X - X.mean(axis=0), SignedRows.of(y == 1, np.full(len(y), 100.0)))
    weights, _ = reference(X - X.mean(axis=0), y, np.full(len(y), 100.0))
    np.testing.assert_allclose(found.weights, weights, rtol=1e-6)


@pytest.mark.parametrize("kind", ["repeated rows", "few values", "three classes", "a constant column"])
def test_columns_have_the_weights_of_the_gram_matrix_while_they_leave(kind):
    X, y, rng = problem(8, n_rows=60, n_columns=8)
    if kind == "repeated rows":
        X[30:] = X[:30]
    elif kind == "few values":
        X = rng.integers(0, 3, X.shape).astype(float)
    elif kind == "three classes":
        y = np.arange(60) % 3
    else:
        X[:, 2] = 1.1
    cost = np.full(60, 0.7)
    ours, theirs = ByNewton(X, y, cost), ByRows(X, y, cost)
    for before, n in ((8, 8), (8, 6), (6, 3)):
        kept = np.arange(before) < n
        ours.keep(kept)
        theirs.keep(kept)
        weights, machines = ours.machine_weights()
        expected, others = theirs.machine_weights()
        np.testing.assert_allclose(weights, expected, atol=1e-6)
        assert [one.bounded for one in machines] == [one.bounded for one in others]
        assert all(one.settled for one in machines)


def test_where_newton_does_not_arrive_the_rows_are_solved(monkeypatch):
    X, y, _ = problem(9, n_rows=40, n_columns=5)
    monkeypatch.setattr(elimination, "solve_newton", lambda *_: None)
    cost = np.ones(40)
    weights, machines = ByNewton(X, y, cost).machine_weights()
    np.testing.assert_allclose(weights, ByRows(X, y, cost).machine_weights()[0], atol=1e-9)
    assert machines[0].settled


def test_equal_rows_are_nothing_to_solve():
    rows = SignedRows.of(np.arange(6) % 2 == 1, np.ones(6))
    assert solve_newton(np.zeros((6, 2)), rows) is None
    assert ByNewton(np.full((6, 2), 3.3), np.arange(6) % 2, np.ones(6)).machine_weights()[0].tolist() == [[0.0], [0.0]]
