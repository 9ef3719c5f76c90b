"""Probit regression against a general optimiser and the conditions of its optimum; weights; masks; bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError

from tamis.base.errors import TamisError
from tamis.classify import Probit
from tamis.classify.probit import gaussian, laplace, probit
from tamis.classify.probit.likelihood import Problem
from tamis.kernels.sparse import stored_arrays
from tamis.kernels.weighted_lasso import csc_weighted_lasso

FORMS = [np.asarray, sp.csr_matrix, sp.csr_array]


def problem(n_classes=2, rows=80, columns=12, seed=0, zeros=0.4):
    """Rows with zeros, classes that overlap and are not of one size."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, rows, p=np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2))
    y[:n_classes] = np.arange(n_classes)
    X = rng.normal(1.0, 1.0, (rows, columns)) * (rng.random((rows, columns)) >= zeros)
    X[:, :3] += y[:, None] * rng.normal(size=3)
    return X, y


def pulls(X, signs, w, b):
    """Minus the derivative of the loss by the evidence of each row, from the densities."""
    margins = signs * (X @ w + b)
    return signs * norm.pdf(margins) / norm.cdf(margins)


def penalised(X, signs, cost, variance):
    """The objective of the Gaussian prior, minimised by a general optimiser."""

    def value(v):
        return -cost @ norm.logcdf(signs * (X @ v[:-1] + v[-1])) + v[:-1] @ v[:-1] / (2 * variance)

    def slope(v):
        pull = cost * pulls(X, signs, v[:-1], v[-1])
        return np.append(v[:-1] / variance - X.T @ pull, -pull.sum())

    start = np.zeros(X.shape[1] + 1)
    return minimize(value, start, jac=slope, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}).x


@pytest.fixture(params=["system", "conjugate gradients"])
def route(request, monkeypatch):
    """The way large problems take, taken by small ones."""
    if request.param != "system":
        monkeypatch.setattr(probit, "_SMALL", 0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("shape", [(80, 12), (30, 90)])
@pytest.mark.parametrize("variance", [0.01, 5.0])
def test_the_gaussian_prior_equals_a_general_optimiser(variance, shape, class_weight, form, route) -> None:
    X, y = problem(2, *shape)
    cost = (y.size / (2 * np.bincount(y)))[y] if class_weight else np.ones(y.size)
    oracle = penalised(X, 2 * y - 1, cost, variance)
    model = Probit(variance=variance, class_weight=class_weight).fit(form(X), np.array(["no", "yes"])[y])
    np.testing.assert_allclose(model.coef_[0], oracle[:-1], atol=2e-6)
    np.testing.assert_allclose(model.intercept_, oracle[-1:], atol=2e-6)
    expected = norm.cdf(X @ oracle[:-1] + oracle[-1])
    np.testing.assert_allclose(model.predict_proba(form(X))[:, 1], expected, atol=1e-6)
    assert not hasattr(model, "used_")


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_large_data_is_solved_nearly_as_exactly(prior, monkeypatch) -> None:
    X, y = problem(3, 60, 90)
    exact = Probit(prior, 10.0).fit(X, y)
    for module in (probit, gaussian, laplace):
        monkeypatch.setattr(module, "_SMALL", 0)
    near = Probit(prior, 10.0).fit(X, y)
    assert (near.coef_ != exact.coef_).any()
    np.testing.assert_allclose(near.coef_, exact.coef_, atol=1e-3 * np.abs(exact.coef_).max())


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_several_classes_are_fitted_one_against_the_rest(prior) -> None:
    X, y = problem(3)
    model = Probit(prior, class_weight="balanced").fit(X, y)
    weight = (y.size / (3 * np.bincount(y)))[y]
    each = [Probit(prior).fit(X, y == c, sample_weight=weight) for c in range(3)]
    np.testing.assert_allclose(model.coef_, np.concatenate([one.coef_ for one in each]), rtol=1e-9)
    share = np.column_stack([one.predict_proba(X)[:, 1] for one in each])
    np.testing.assert_allclose(model.predict_proba(X), share / share.sum(axis=1, keepdims=True), rtol=1e-9)
    assert model.coef_.shape == (3, 12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1e-4, 1.0, 1e4]), st.sampled_from([0.1, 1.0, 1e4]), st.integers(2, 60))
def test_the_gaussian_prior_is_optimal_at_any_scale(seed, scale, variance, columns) -> None:
    X, y = problem(2, 30, max(columns, 3), seed)
    # The variance is given in units of the data: the same problem at every scale.
    X, variance = X * scale, variance / scale**2
    model = Probit(variance=variance).fit(X, y)
    gap = pulls(X, 2 * y - 1, model.coef_[0], model.intercept_[0])
    size = np.abs(gap).sum()
    assert abs(gap.sum()) < 1e-5 * size
    np.testing.assert_allclose(variance * X.T @ gap, model.coef_[0], atol=1e-5 * np.abs(model.coef_).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("zeros", [0.0, 0.5])
@pytest.mark.parametrize("variance", [0.05, 2.0, 1e4])
def test_the_laplace_prior_is_optimal(variance, zeros, form) -> None:
    X, y = problem(2, 60, 100, zeros=zeros)
    model = Probit("laplace", variance).fit(form(X), y)
    gap = pulls(X, 2 * y - 1, model.coef_[0], model.intercept_[0])
    pull = X.T @ gap / np.sqrt(2 / variance)
    used = model.used_
    assert 0 < used.sum() < 60
    np.testing.assert_array_equal(used, model.coef_[0] != 0)
    np.testing.assert_allclose(pull[used], np.sign(model.coef_[0][used]), atol=2e-6)
    assert np.abs(pull[~used]).max() < 1 + 2e-6
    assert abs(gap.sum()) < 2e-6 * np.abs(gap).sum()


def test_the_laplace_prior_has_the_smallest_objective() -> None:
    X, y = problem(2, 40, 6)
    signs = 2 * y - 1

    # Each weight as the difference of two that are not negative: smooth, within bounds.
    def value(v):
        w = v[:6] - v[6:12]
        pull = pulls(X, signs, w, v[12])
        by_weight = -X.T @ pull
        slope = np.concatenate([by_weight + np.sqrt(2 / 0.5), -by_weight + np.sqrt(2 / 0.5), [-pull.sum()]])
        return -log_ndtr(signs * (X @ w + v[12])).sum() + np.sqrt(2 / 0.5) * v[:12].sum(), slope

    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000}
    bounds = [(0, None)] * 12 + [(None, None)]
    oracle = minimize(value, np.zeros(13), jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    model = Probit("laplace", 0.5).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], oracle[:6] - oracle[6:12], atol=1e-5)
    np.testing.assert_allclose(model.intercept_, oracle[12:], atol=1e-5)


@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.3, 3.0]))
def test_the_kernel_equals_plain_rounds(seed, penalty) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(1.0, 1.0, (15, 6)) * (rng.random((15, 6)) < 0.6)
    X[:, 5] = 2.0
    curvature, pull = rng.random(15), rng.normal(size=15)
    C = sp.csc_array(X)
    weights, shift = rng.normal(size=6) * (rng.random(6) < 0.5), np.zeros(1)
    weights[5] = 0.0
    plain, common = weights.copy(), 0.0
    # The twin moves the intercept and then every column, on the residuals themselves.
    for _ in range(2000):
        rest = pull - curvature * (X @ (plain - weights) + common)
        common += rest.sum() / curvature.sum()
        for j in range(5):
            rest = pull - curvature * (X @ (plain - weights) + common)
            bend = curvature @ X[:, j] ** 2
            if bend > 0:
                reach = plain[j] * bend + X[:, j] @ rest
                plain[j] = np.sign(reach) * max(abs(reach) - penalty, 0.0) / bend
    found, rest = weights.copy(), pull.copy()
    csc_weighted_lasso(*stored_arrays(C), curvature, penalty, 1e-11, 5000, found, rest, shift)
    np.testing.assert_allclose(found, plain, atol=1e-6)
    np.testing.assert_allclose(shift[0], common, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_that_the_laplace_prior_leaves_out_do_not_count(n_classes) -> None:
    X, y = problem(n_classes, 50, 40)
    model = Probit("laplace", 0.1).fit(X, y)
    assert 0 < model.used_.sum() < 40
    other = np.where(model.used_, X, np.random.default_rng(1).normal(size=X.shape))
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(X))


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_weight_is_so_many_rows(prior, n_classes, class_weight) -> None:
    X, y = problem(n_classes, 40, 50, zeros=0.0)
    weight = np.random.default_rng(0).integers(0, 4, 40)
    weighted = Probit(prior, class_weight=class_weight).fit(X, y, sample_weight=weight)
    repeated = Probit(prior, class_weight=class_weight).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_fits_together_equal_fits_alone(prior) -> None:
    from tamis.base.shared_fit import fit_together, grouped

    X, y = problem(3, 30, 50)
    models = [Probit(prior, variance) for variance in (0.1, 10.0)]
    assert len(grouped(models)) == 1
    together = fit_together(models, X, y)
    for place, model in enumerate(models):
        np.testing.assert_array_equal(together.fitted(place).coef_, model.fit(X, y).coef_)


def test_both_priors_have_the_given_variance() -> None:
    # With one row of each class and one column, the objective has one unknown: the weight.
    X, y = np.array([[-1.0], [1.0]]), [0, 1]
    grid = np.linspace(0, 6, 600_001)
    for prior, price in (("gaussian", grid**2 / 6), ("laplace", np.sqrt(2 / 3) * grid)):
        best = grid[np.argmin(price - 2 * log_ndtr(grid))]
        np.testing.assert_allclose(Probit(prior, 3.0).fit(X, y).coef_, [[best]], atol=1e-4)


def test_slopes_are_derivatives_far_out_too() -> None:
    one = Problem.of(np.array([True, False, True]), np.array([1.0, 2.0, 0.5]))
    for far in (-300.0, -30.0, 0.0, 3.0):
        evidence = np.array([far, -far, far])
        pull, curvature = one.slopes(evidence)
        for i, step in enumerate(np.eye(3) * 1e-4):
            up, down, here = one.loss(evidence + step), one.loss(evidence - step), one.loss(evidence)
            np.testing.assert_allclose(pull[i], (down - up) / 2e-4, rtol=1e-5, atol=1e-8)
            np.testing.assert_allclose(curvature[i], (up - 2 * here + down) / 1e-8, rtol=0.05, atol=2e-3 * here)


def test_evidence_beyond_all_numbers_still_names_the_class() -> None:
    X, y = problem(3)
    model = Probit(variance=10.0).fit(X, y)
    far = 1e4 * np.random.default_rng(0).normal(size=(200, 12))
    margin = far @ model.coef_.T + model.intercept_
    against_all = margin.max(axis=1) < -800
    assert against_all.any()
    np.testing.assert_array_equal(model.predict(far)[against_all], margin[against_all].argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1.0)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_data_without_information_gives_the_shares(prior, route) -> None:
    for X in (np.zeros((10, 3)), np.zeros((10, 30)), np.ones((10, 3)), sp.csr_array((10, 30)), sp.csr_array((10, 3))):
        found = Probit(prior).fit(X, [0] * 7 + [1] * 3).predict_proba(X)
        np.testing.assert_allclose(found[:, 1], 0.3, atol=1e-6)
    # The start is the optimum itself.
    np.testing.assert_array_equal(Probit(prior).fit(sp.csr_array((4, 5)), [0, 0, 1, 1]).coef_, 0)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
@pytest.mark.parametrize("variance", [1e-3, 1.0, 1e3])
def test_raw_columns_settle_in_silence(prior, variance) -> None:
    X, y = problem(2, 100, 20, zeros=0.0)
    X = 480 + X * np.geomspace(0.1, 100, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Probit(prior, variance).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.7


def test_what_is_not_settled_is_told(monkeypatch) -> None:
    X, y = problem(2, 80, 30)
    monkeypatch.setattr(gaussian, "STEPS", 1)
    monkeypatch.setattr(laplace, "STEPS", 1)
    for prior in ("gaussian", "laplace"):
        with pytest.warns(ConvergenceWarning, match=f"probit is not settled with prior={prior}, variance=7; scale"):
            Probit(prior, 7.0).fit(X, y)


def test_probabilities_are_of_the_normal_distribution() -> None:
    X, y = problem()
    model = Probit().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], ndtr(X @ model.coef_[0] + model.intercept_[0]), rtol=1e-12)


def test_bad_input() -> None:
    X, y = problem()
    for bad in ({"prior": "jeffreys"}, {"variance": 0.0}, {"variance": -1.0}, {"class_weight": "yes"}):
        with pytest.raises(InvalidParameterError):
            Probit(**bad).fit(X, y)
    with pytest.raises(TamisError, match="probit: no row of class 1 has a sample weight above zero"):
        Probit().fit(X, y, sample_weight=y == 0)
    with pytest.raises(ValueError, match="NaN"):
        Probit().fit(np.full((4, 2), np.nan), [0, 1, 0, 1])
    with pytest.raises(TamisError, match="one class"):
        Probit().fit(X, np.zeros(len(y)))
