"""Support vector machines without an intercept against liblinear in the space of the kernel; at the optimum."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import tamis
from tamis.classify import SVM
from tamis.compose.recipe import to_text
from tamis.kernels.hinge_dual import hinge_rounds
from tamis.margins.kernel import kernel_values
from tamis.margins.solve import solve_gram_through_origin


def problem(n_classes=2, rows=60, columns=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % n_classes
    X = rng.normal(size=(rows, columns)) + 0.3
    X[:, 0] += 1.5 * (y == 1)
    X[:, 1] -= 1.5 * (y == 2)
    return X, y


def through_origin(gram, y, cost):
    """Outputs on the training rows by liblinear, in coordinates that have the Gram matrix."""
    value, vector = scipy.linalg.eigh(gram)
    Z = vector * np.sqrt(np.maximum(value, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVC(loss="hinge", dual=True, fit_intercept=False, tol=1e-9, max_iter=200_000, random_state=0)
        return Z @ model.fit(Z, y, sample_weight=cost).coef_[0]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("kernel", ["linear", "gaussian", "cosine"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_it_equals_liblinear_in_the_space_of_the_kernel(kernel, C, form):
    X, y = problem()
    model = SVM(kernel, C, sigma=3.0, degree=3, coef0=1.0, intercept=False).fit(form(X), y)
    gram = kernel_values(kernel, X, sigma=3.0, degree=3, coef0=1.0)
    expected = through_origin(gram, y, np.full(y.size, C))
    np.testing.assert_allclose(model.decision_function(form(X)), expected, atol=2e-4 * np.abs(expected).max())
    assert model.intercept_.tolist() == [0.0]


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_several_classes_are_one_against_the_rest(kernel):
    X, y = problem(3)
    options = {"degree": 3, "coef0": 1.0, "intercept": False}
    found = SVM(kernel, 2.0, multiclass="ovr", **options).fit(X, y).decision_function(X)
    for c in range(3):
        alone = SVM(kernel, 2.0, **options).fit(X, (y == c).astype(int)).decision_function(X)
        np.testing.assert_allclose(found[:, c], alone, atol=1e-6)
    assert SVM(kernel, 2.0, **options).fit(X, y).decision_function(X).shape == (60, 3)


def test_liblinear_on_the_columns():
    X, y = problem(rows=200)
    on_columns = SVM(C=0.5, solver="liblinear", tol=1e-6, intercept=False).fit(X, y)
    on_rows = SVM(C=0.5, solver="gram", intercept=False).fit(X, y)
    np.testing.assert_allclose(on_columns.coef_, on_rows.coef_, atol=1e-4)
    assert on_columns.intercept_.tolist() == [0.0]
    sparse = SVM(C=0.5, solver="liblinear", tol=1e-6, intercept=False).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, on_columns.coef_, atol=1e-4)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_at_the_optimum_no_weight_wants_to_move(C):
    X, y = problem(rows=80, columns=3)
    gram = kernel_values("gaussian", X, sigma=2.0)
    signs = np.where(y == 1, 1.0, -1.0)
    found = solve_gram_through_origin(gram, y == 1, np.full(80, C), tol=1e-3, max_iter=None)
    alpha = signs * found.weights
    slope = signs * (gram @ found.weights) - 1
    assert found.settled
    assert ((alpha >= 0) & (alpha <= C)).all()
    assert (slope[alpha == 0] >= -1e-8).all()
    assert (slope[alpha == C] <= 1e-8).all()
    np.testing.assert_allclose(slope[(alpha > 0) & (alpha < C)], 0.0, atol=1e-7)


def test_a_hard_margin_leaves_every_row_outside():
    X, y = problem()
    X[:, 0] += 6.0 * np.where(y == 1, 1, -1)
    model = SVM(C=np.inf, intercept=False).fit(X, y)
    margin = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert margin.min() == pytest.approx(1.0, abs=1e-6)


def test_the_order_and_number_of_rows_does_not_matter():
    X, y = problem()
    weight = np.random.default_rng(0).integers(1, 4, y.size)
    model = SVM("gaussian", 1.0, sigma=3.0, intercept=False)
    found = model.fit(X, y, sample_weight=weight).decision_function(X)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(y.size), weight))
    np.testing.assert_allclose(model.fit(X[order], y[order]).decision_function(X), found, atol=1e-6)


def test_costs_and_widths_are_found_without_an_intercept():
    X, y = problem(rows=90)
    model = SVM("gaussian", "auto", sigma="auto", intercept=False, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    given = SVM("gaussian", model.C_, sigma=model.sigma_, intercept=False).fit(X, y)
    np.testing.assert_allclose(given.decision_function(X), model.decision_function(X), atol=1e-6)


def test_recipes_write_it():
    text = "svm(cosine, degree=3, coef0=1.0, multiclass=ovr, intercept=false)"
    assert to_text(tamis.recipe(text)) == text


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.floats(0.01, 10.0))
def test_rounds_equal_their_twin(seed, most):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    Z = rng.normal(size=(n, 3))
    Z[rng.random(n) < 0.2] = 0.0
    gram, signs, cost = Z @ Z.T, rng.choice([-1.0, 1.0], n), rng.uniform(0.1, most + 0.1, n)
    alpha = rng.uniform(0, 1, n) * cost * (rng.random(n) < 0.5)
    expected, kept = alpha.copy(), alpha.copy()
    output = gram @ (signs * alpha)
    left = hinge_rounds(gram, signs, cost, 3, 1e-6, alpha, output)
    for _ in range(3):
        worst = 0.0
        for i in range(n):
            slope = signs[i] * (gram[i] @ (signs * expected)) - 1
            if (slope > 0 and expected[i] > 0) or (slope < 0 and expected[i] < cost[i]):
                worst = max(worst, abs(slope))
                step = -slope / gram[i, i] if gram[i, i] > 0 else -np.inf if slope > 0 else np.inf
                expected[i] = np.clip(expected[i] + step, 0, cost[i])
        if worst <= 1e-6:
            break
    np.testing.assert_allclose(alpha, expected, atol=1e-9)
    np.testing.assert_allclose(output, gram @ (signs * alpha), atol=1e-9)
    assert left == pytest.approx(worst, abs=1e-9)

    def objective(a):
        return a.sum() - (signs * a) @ gram @ (signs * a) / 2

    assert objective(alpha) >= objective(kept) - 1e-9
