"""Lasso and elastic net against their optimality conditions and scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet as Peer
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

import tamis
from tamis.base.feature_tracking import used_features
from tamis.base.shared_fit import Together
from tamis.regress import ElasticNet, Lasso
from tamis.regress.elastic_net import descent
from tamis.transform import Standardize


def problem(rows: int, columns: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with many zeros, a target of three columns with a large mean, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.6) + (np.arange(columns) % 2)
    return X, 1e4 + 30 * (X[:, :3] @ [3.0, -2.0, 1.0] + rng.normal(size=rows)), rng.random(rows) + 0.1


def violation(model, X, y, weight, ratio) -> float:
    """How far the gradient is from the penalty's, in units of the penalty, for the target in units of its deviation."""
    share = weight / weight.sum()
    scale = np.sqrt(share @ (y - share @ y) ** 2)
    coef, residual = model.coef_ / scale, (y - model.predict(X)) / scale
    np.testing.assert_allclose(share @ residual, 0, atol=1e-8)
    gradient = X.T @ (share * residual) - model.alpha_ * (1 - ratio) * coef
    least = model.alpha_ * ratio
    used = coef != 0
    return (
        max(np.abs(gradient[used] - least * np.sign(coef[used])).max(initial=0), np.abs(gradient).max() - least) / least
    )


@pytest.mark.parametrize("shape", [(80, 10), (25, 120)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("alpha", [0.02, 0.3])
def test_solutions_are_optimal(shape, form, alpha):
    X, y, weight = problem(*shape)
    for model, ratio in ((Lasso(alpha), 1.0), (ElasticNet(alpha, 0.3), 0.3)):
        for given in (None, weight):
            model.fit(form(X), y, sample_weight=given)
            assert violation(model, X, y, np.ones(len(y)) if given is None else given, ratio) < 1e-7
            np.testing.assert_array_equal(model.used_, model.coef_ != 0)
            assert 0 < model.used_.sum() <= (min(shape) if ratio == 1 else shape[1])


@pytest.mark.parametrize("shape", [(80, 10), (25, 120)])
def test_it_is_what_scikit_learn_finds(shape):
    X, y, weight = problem(*shape)
    share = weight / weight.sum()
    mean = share @ y
    scale = np.sqrt(share @ (y - mean) ** 2)
    for model, ratio in ((Lasso(0.1), 1.0), (ElasticNet(0.1), 0.5)):
        model.fit(X, y, sample_weight=weight)
        peer = Peer(alpha=model.alpha_, l1_ratio=ratio, tol=1e-12, max_iter=100_000)
        peer.fit(X, (y - mean) / scale, sample_weight=weight)
        np.testing.assert_allclose(model.coef_, scale * peer.coef_, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(model.intercept_, mean + scale * peer.intercept_)


def test_at_the_highest_penalty_no_column_is_used_and_just_below_it_one():
    X, y, _ = problem(80, 10)
    for make in (Lasso, ElasticNet):
        empty = make(1.0).fit(X, y)
        assert not empty.used_.any()
        np.testing.assert_allclose(empty.predict(X), y.mean())
        assert make(0.999).fit(X, y).used_.sum() == 1


@pytest.mark.parametrize("shape", [(80, 10), (25, 120)])
def test_fitted_together_they_are_what_they_are_alone(shape):
    X, y, _ = problem(*shape)
    models = [Lasso(alpha, random_state=0) for alpha in (0.05, 0.5, 0.01, "auto", 2.0)]
    for alone, shared in zip(models, Together(models, X, y), strict=True):
        np.testing.assert_allclose(shared.coef_, alone.fit(X, y).coef_, rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(shared.used_, alone.used_)
        np.testing.assert_allclose(shared.predict(X), alone.predict(X))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_cross_validation_selects_what_predicts(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 300))
    y = 5 + X[:, :4] @ [2.0, 2.0, -2.0, 2.0] + rng.normal(size=100)
    model = Lasso(random_state=0).fit(form(X), y)
    assert model.used_[:4].all()
    assert model.used_.sum() < 60
    assert model.cv_r2_.max() > 0.8
    assert model.shares_[model.cv_r2_.argmax()] == model.share_
    cautious = Lasso(caution=1.0, random_state=0).fit(form(X), y)
    assert cautious.share_ >= model.share_
    noise = Lasso(random_state=0).fit(form(X), rng.normal(size=100))
    assert noise.used_.sum() < 10


def test_a_target_of_which_no_column_says_anything():
    X, y, _ = problem(30, 5)
    for make in (Lasso, ElasticNet):
        for alpha in (0.1, "auto"):
            assert set(make(alpha).fit(X, np.full(30, 0.1)).predict(X)) == {0.1}
            model = make(alpha).fit(np.full((30, 3), 0.1), y)
            assert not model.used_.any()
            np.testing.assert_allclose(model.predict(np.ones((1, 3))), y.mean())


def test_the_columns_in_use_are_tracked():
    X, y, _ = problem(80, 10)
    model = make_pipeline(Standardize(), Lasso(0.3)).fit(X, y)
    np.testing.assert_array_equal(used_features(model, 10), model[-1].used_)


@pytest.mark.parametrize("shape", [(80, 10), (10, 80)])
def test_a_solver_that_stops_early_is_reported(monkeypatch, shape):
    X, y, _ = problem(*shape)
    monkeypatch.setattr(descent, "optima", lambda problem, penalties, *args, **options: [None] * len(penalties))
    monkeypatch.setattr(descent, "_FINE", (1e-15, 1))
    with pytest.warns(ConvergenceWarning, match=r"lasso is not settled with alpha=0\.1"):
        Lasso(0.1).fit(X, y)


def test_diabetes(shared_data, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    data = tamis.load("diabetes_lars")
    folds = KFold(10, shuffle=True, random_state=0)
    ours, net, peer = (
        -cross_val_score(
            make_pipeline(Standardize(), model), data.X, data.y, cv=folds, scoring="neg_mean_squared_error"
        )
        for model in (Lasso(random_state=0), ElasticNet(random_state=0), LassoCV(cv=5))
    )
    assert ours.mean() < 1.01 * peer.mean()
    assert net.mean() < 1.01 * peer.mean()
