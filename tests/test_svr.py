"""Support vector regression against scikit-learn and its optimality conditions."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm

from tamis.base.shared_fit import Together
from tamis.margins.kernel import kernel_values
from tamis.margins.tube import solve_tube, solve_tube_columns
from tamis.regress import SVR
from tamis.regress import svr as module

KERNELS = ["linear", "gaussian", "exponential", "polynomial", "cosine"]


def problem(rows: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6)) * (rng.random((rows, 6)) < 0.7)
    y = 2e3 + 40 * (np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=rows))
    return X, y, rng.random(rows) + 0.5


def objective(model, X, y, weight, gram) -> float:
    """What is minimised, for the target in units of its deviation."""
    mean = np.average(y, weights=weight)
    scale = np.sqrt(np.average((y - mean) ** 2, weights=weight))
    dual = np.zeros(len(y))
    dual[model.support_] = model.dual_coef_ / scale
    slack = np.maximum(0, np.abs(y - model.predict(X)) / scale - model.epsilon)
    return dual @ gram @ dual / 2 + model.C * weight @ slack


@pytest.mark.parametrize(("kernel", "theirs"), [("linear", "linear"), ("gaussian", "rbf")])
@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_what_scikit_learn_finds(kernel, theirs, C, weighted):
    X, y, weight = problem()
    weight = weight if weighted else np.ones(len(y))
    mean = np.average(y, weights=weight)
    scale = np.sqrt(np.average((y - mean) ** 2, weights=weight))
    model = SVR(kernel, C, epsilon=0.2, sigma=3.0).fit(X, y, sample_weight=weight)
    peer = svm.SVR(kernel=theirs, C=C, gamma=1 / 3.0, epsilon=0.2, tol=1e-8).fit(X, (y - mean) / scale, weight)
    Z = np.random.default_rng(1).normal(size=(40, 6))
    np.testing.assert_allclose(model.predict(Z), mean + scale * peer.predict(Z), atol=1e-3 * scale)


@pytest.mark.parametrize("kernel", KERNELS)
def test_no_change_of_the_weights_is_better(kernel):
    X, y, weight = problem()
    options = {"sigma": 4.0, "degree": 2, "coef0": 1.0}
    model = SVR(kernel, 2.0, **options).fit(X, y, sample_weight=weight)
    gram = kernel_values(kernel, X, **options)
    least = objective(model, X, y, weight, gram)
    mean = np.average(y, weights=weight)
    scale = np.sqrt(np.average((y - mean) ** 2, weights=weight))
    rng = np.random.default_rng(2)
    dual = np.zeros(len(y))
    dual[model.support_] = model.dual_coef_ / scale
    start = (model.predict(X) - mean) / scale
    for size in (1e-4, 1e-2):
        for _ in range(20):
            step = size * rng.normal(size=len(y)) * np.abs(dual).max()
            moved = dual + step
            output = start + gram @ step + size * rng.normal()
            slack = np.maximum(0, np.abs((y - mean) / scale - output) - model.epsilon)
            assert moved @ gram @ moved / 2 + model.C * weight @ slack >= least - 1e-9


def test_the_optimum_is_exact():
    X, y, _ = problem(60)
    z = (y - y.mean()) / y.std()
    gram = X @ X.T
    found = solve_tube(gram.copy(), z, np.full(60, 3.0), 0.1, tol=1e-3, max_iter=None)
    output = gram @ found.weights + found.intercept
    free = (np.abs(found.weights) > 0) & (np.abs(found.weights) < 3.0)
    # Free rows lie on the edge of the tube, those at their cost outside and all others inside.
    np.testing.assert_allclose(z[free] - output[free], 0.1 * np.sign(found.weights[free]), atol=1e-8)
    assert (np.abs(z - output)[found.weights == 0] <= 0.1 + 1e-8).all()
    assert (np.abs(z - output)[np.abs(found.weights) >= 3.0] >= 0.1 - 1e-8).all()
    np.testing.assert_allclose(found.weights.sum(), 0, atol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_many_rows_are_solved_on_the_columns(form, monkeypatch):
    X, y, weight = problem(400)
    X = X + 1.0
    expected = SVR(C=0.5).fit(X, y, sample_weight=weight)
    monkeypatch.setattr(module, "suits_columns", lambda X: True)
    model = SVR(C=0.5).fit(form(X), y, sample_weight=weight)
    assert not hasattr(model, "support_")
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=0.05 * y.std())


def test_the_best_intercept_is_computed_for_the_weights():
    X, y, _ = problem(300)
    z = (y - y.mean()) / y.std()
    cost = np.full(300, 0.1)
    found = solve_tube_columns(X, z, cost, 0.1, tol=1e-6, max_iter=None)
    loss = [np.maximum(0, np.abs(z - X @ found.weights - found.intercept - b) - 0.1).sum() for b in (0, -1e-3, 1e-3)]
    assert loss[0] <= min(loss[1:]) + 1e-12


def test_fitted_together_they_are_what_they_are_alone():
    X, y, _ = problem()
    models = [SVR(kernel, C) for kernel in KERNELS for C in (0.1, 5.0)]
    for alone, shared in zip(models, Together(models, X, y), strict=True):
        np.testing.assert_allclose(shared.predict(X), alone.fit(X, y).predict(X), rtol=1e-9)


def test_a_wide_tube_and_a_constant_target_need_no_support_vectors():
    X, y, _ = problem()
    for kernel in ("linear", "gaussian"):
        flat = SVR(kernel, epsilon=10.0).fit(X, y)
        assert flat.support_.size == 0
        assert np.ptp(flat.predict(X)) == 0
        assert set(SVR(kernel).fit(X, np.full(len(y), 7.0)).predict(X)) == {7.0}
