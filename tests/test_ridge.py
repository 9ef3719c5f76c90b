"""Ridge regression against the normal equations, scikit-learn and explicit refits without a row."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given as drawn
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

import tamis
from tamis.base.errors import TamisError
from tamis.base.shared_fit import Together
from tamis.regress import Ridge
from tamis.regress.ridge import ridge as module
from tamis.transform import Standardize


def problem(rows: int, columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with many zeros and columns of different means, a target of large mean, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.5) + 2.0 * (np.arange(columns) % 3)
    return X, 500.0 + X[:, 0] * 2 - X[:, 1] + rng.normal(size=rows), rng.random(rows) + 0.1


def normal_equations(X, y, weight, alpha):
    """Weights and intercept with an unpenalised column of ones."""
    rows = np.column_stack([X, np.ones(len(y))])
    penalty = np.diag([alpha] * X.shape[1] + [0.0])
    found = np.linalg.solve(rows.T @ (rows * weight[:, None]) + penalty, rows.T @ (weight * y))
    return found[:-1], found[-1]


@pytest.mark.parametrize("shape", [(60, 7), (15, 80), (20, 20)])
@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)], ids=["dense", "sparse", "float32"]
)
@pytest.mark.parametrize("alpha", [0.3, 30.0])
def test_it_solves_the_normal_equations(shape, form, alpha):
    X, y, weight = problem(*shape)
    X = form(X)
    dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    for given in (None, weight):
        model = Ridge(alpha).fit(X, y, sample_weight=given)
        coef, intercept = normal_equations(dense, y, np.ones(len(y)) if given is None else given, alpha)
        np.testing.assert_allclose(model.coef_, coef, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(model.intercept_, intercept, rtol=1e-9)
        np.testing.assert_allclose(model.predict(X), dense @ coef + intercept, rtol=1e-9)


@pytest.mark.parametrize("shape", [(60, 7), (15, 80)])
def test_without_a_penalty_it_is_least_squares_of_the_smallest_weights(shape):
    X, y, _ = problem(*shape)
    model, peer = Ridge(0.0).fit(X, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shape", [(40, 6), (12, 50)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_errors_on_rows_left_out_are_those_of_refits(shape, form):
    X, y, _ = problem(*shape)
    model = Ridge().fit(form(X), y)
    for place in (0, 10, 20, 25):
        alpha = model.alphas_[place]
        errors = []
        for row in range(len(y)):
            others = np.delete(np.arange(len(y)), row)
            coef, intercept = normal_equations(X[others], y[others], np.ones(len(others)), alpha)
            errors.append(y[row] - X[row] @ coef - intercept)
        np.testing.assert_allclose(model.loo_rmse_[place], np.sqrt(np.mean(np.square(errors))), rtol=1e-5)
    peer = RidgeCV(alphas=model.alphas_, scoring=None).fit(X, y)
    np.testing.assert_allclose(model.alpha_, peer.alpha_)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-5, atol=1e-8)


def test_weighted_rows_are_left_out_as_copies_or_as_a_whole():
    X, y, weight = problem(30, 5)
    counts = np.random.default_rng(1).integers(0, 4, 30)
    counted = Ridge().fit(X, y, sample_weight=counts)
    repeated = Ridge().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(counted.loo_rmse_, repeated.loo_rmse_, rtol=1e-6)
    model = Ridge().fit(X, y, sample_weight=weight)
    place, errors = 22, []
    for row in range(30):
        others = np.delete(np.arange(30), row)
        coef, intercept = normal_equations(X[others], y[others], weight[others], model.alphas_[place])
        errors.append(y[row] - X[row] @ coef - intercept)
    np.testing.assert_allclose(
        model.loo_rmse_[place], np.sqrt(np.average(np.square(errors), weights=weight)), rtol=1e-6
    )


@pytest.mark.parametrize("shape", [(60, 7), (15, 80)])
def test_fitted_together_they_are_what_they_are_alone(shape):
    X, y, _ = problem(*shape)
    models = [Ridge(alpha) for alpha in (*np.geomspace(1e-3, 1e3, 12).tolist(), "auto")]
    for alone, shared in zip(models, Together(models, X, y), strict=True):
        np.testing.assert_allclose(shared.coef_, alone.fit(X, y).coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(shared.predict(X), alone.predict(X))


@pytest.mark.parametrize("shape", [(60, 7), (15, 80)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_large_equations_are_solved_otherwise_with_the_same_result(shape, form, monkeypatch):
    X, y, weight = problem(*shape)
    expected = Ridge(3.0).fit(X, y, sample_weight=weight)
    monkeypatch.setattr(module, "_SMALL", 0)
    by_factor = Ridge(3.0).fit(form(X), y, sample_weight=weight)
    np.testing.assert_allclose(by_factor.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
    monkeypatch.setattr(module, "_LARGE", 1)
    by_gradients = Ridge(3.0).fit(form(X), y, sample_weight=weight)
    np.testing.assert_allclose(by_gradients.predict(X), expected.predict(X), rtol=1e-5)
    monkeypatch.setattr(module, "_MOST", 10)
    few = Ridge().fit(form(X), y)
    assert few.alphas_.size == 45
    assert np.isfinite(few.predict(X)).all()


def test_noise_is_shrunk_away_and_a_clean_line_is_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 200))
    assert np.ptp(Ridge().fit(X, rng.normal(size=50)).predict(X)) < 1.0
    clean = Ridge().fit(X[:, :5], X[:, 0])
    np.testing.assert_allclose(clean.coef_, [1, 0, 0, 0, 0], atol=1e-6)


@drawn(st.integers(2, 12), st.integers(1, 12), st.integers(0, 10_000))
def test_any_shape_has_a_finite_model(rows, columns, seed):
    rng = np.random.default_rng(seed)
    X, y = np.round(rng.normal(size=(rows, columns)), 1), np.round(rng.normal(size=rows), 1)
    for model in (Ridge(), Ridge(0.0), Ridge(1.0)):
        assert np.isfinite(model.fit(X, y).predict(X)).all()


def test_constant_targets_and_columns_are_predicted_by_the_mean():
    X, y, _ = problem(20, 4)
    assert set(Ridge().fit(X, np.full(20, 0.1)).predict(X)) == {0.1}
    np.testing.assert_allclose(Ridge().fit(np.ones((20, 3)), y).predict(np.ones((2, 3))), y.mean())


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_very_small_and_very_large_targets(size):
    X, y, _ = problem(30, 4)
    y = y - y.mean()
    np.testing.assert_allclose(Ridge().fit(X, size * y).predict(X) / size, Ridge().fit(X, y).predict(X), atol=1e-9)


def test_classes_are_refused_in_a_sentence():
    X, _, _ = problem(20, 4)
    with pytest.raises(TamisError, match=r"^ridge .*the target holds 'a'"):
        Ridge().fit(X, ["a", "b"] * 10)
    with pytest.raises(ValueError, match=r"above zero|non-zero"):
        Ridge().fit(X, np.arange(20.0), sample_weight=np.zeros(20))


def test_diabetes(shared_data, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    data = tamis.load("diabetes_lars")
    folds = KFold(10, shuffle=True, random_state=0)
    ours, peer = (
        -cross_val_score(
            make_pipeline(Standardize(), model), data.X, data.y, cv=folds, scoring="neg_mean_squared_error"
        )
        for model in (Ridge(), RidgeCV(np.geomspace(1e-3, 1e5, 50)))
    )
    assert ours.mean() < 1.005 * peer.mean()
    assert 52 < np.sqrt(ours.mean()) < 57
