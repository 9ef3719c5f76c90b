"""The two solvers of the SVM's two-class problem: optimality, and one against the other."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_classification

from tamis.classify import SVM
from tamis.margins.solve import solve_columns, solve_gram


def two_classes(n_rows=120, n_columns=8, seed=0):
    return make_classification(
        n_rows, n_columns, n_informative=4, n_redundant=0, flip_y=0.1, weights=[0.7], random_state=seed
    )


def duality_gap(gram, s, cost, weights, intercept) -> float:
    """Primal minus dual objective, as a share of the primal; also checks that `weights` are feasible."""
    assert (s * weights >= 0).all()
    assert (s * weights <= cost * (1 + 1e-12)).all()
    assert abs(weights.sum()) <= 1e-9 * np.abs(weights).sum()
    length = weights @ gram @ weights
    primal = length / 2 + cost @ np.maximum(0.0, 1 - s * (gram @ weights + intercept))
    return (primal - (np.abs(weights).sum() - length / 2)) / primal


@given(
    st.integers(0, 2**32 - 1), st.integers(4, 40), st.integers(1, 60), st.floats(-3, 3), st.booleans(), st.booleans()
)
def test_no_other_solution_is_better(seed, n_rows, n_columns, log_cost, repeated, rounded) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X = X.round(0) if rounded else X
    X[n_rows // 2 :] = X[: n_rows - n_rows // 2] if repeated else X[n_rows // 2 :]
    s = np.where(rng.random(n_rows) < 0.5, 1.0, -1.0)
    s[:2] = -1.0, 1.0
    gram = X @ X.T / n_columns
    cost = 10**log_cost * rng.uniform(0.5, 2.0, n_rows)
    found = solve_gram(gram, s > 0, cost, tol=1e-3, max_iter=None)
    assert found.settled
    assert duality_gap(gram, s, cost, found.weights, found.intercept) < 1e-7


def assert_solvers_agree(X, y, **parameters) -> None:
    one, other = (SVM(solver=solver, **parameters).fit(X, y) for solver in ("gram", "liblinear"))
    first, second = (X @ model.coef_.T + model.intercept_ for model in (one, other))
    assert np.sqrt(np.mean((first - second) ** 2)) < 0.05 * first.std()
    assert np.mean(one.predict(X) == other.predict(X)) > 0.99


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_solvers_agree_where_classes_are_apart(C, form, seed) -> None:
    X, y = make_blobs(200, 4, centers=[[0, 0, 0, 0], [4, 4, 0, 0], [-4, 4, 1, 0]], random_state=seed)
    assert_solvers_agree(form(X), y, C=C)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_solvers_agree_where_classes_overlap(C, form, class_weight) -> None:
    X, y = two_classes(600, 10)
    assert_solvers_agree(form(X / X.std(axis=0) + 0.5), y, C=C, class_weight=class_weight)


def test_long_column_numbers_are_taken() -> None:
    X, y = two_classes()
    long = sp.csr_matrix(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for solver in ("gram", "liblinear"):
        expected = SVM(solver=solver).fit(sp.csr_matrix(X), y).decision_function(X)
        np.testing.assert_allclose(SVM(solver=solver).fit(long, y).decision_function(long), expected, rtol=1e-9)
    assert long.indices.dtype == np.int64


def test_columns_get_the_best_intercept() -> None:
    X, y = two_classes(300, 5)
    cost = np.random.default_rng(0).uniform(0.5, 2.0, 300)
    found = solve_columns(X, y == 1, cost, tol=1e-3, max_iter=None)
    s = np.where(y == 1, 1.0, -1.0)

    def loss(b):
        return cost @ np.maximum(0.0, 1 - s * (X @ found.weights + b))

    # The loss is piecewise linear in b: it is smallest at one of its corners.
    assert loss(found.intercept) <= min(map(loss, s - X @ found.weights)) * (1 + 1e-12)
