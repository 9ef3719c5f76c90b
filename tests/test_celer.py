"""Lasso and elastic net by celer: what scikit-learn's descent gives, to rounding, and what it needs of the problem."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import enet_path

from tamis.base.shared_fit import Together
from tamis.regress import ElasticNet, Lasso
from tamis.regress.elastic_net import descent, optimum
from tamis.regress.elastic_net.descent import descend, highest_penalty
from tamis.regress.elastic_net.optimum import optima
from tamis.regress.elastic_net.problem import Problem
from tamis.regress.elastic_net.working_sets import celer_weights

pytest.importorskip("celer")

#: Shares of the highest penalty, as "auto" tries them, some of them.
SHARES = np.geomspace(1.0, 1e-2, 10)


def wide(rows: int, columns: int, seed: int, kind: str = "dense"):
    """More columns than rows, and a target of four of them with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * np.geomspace(0.5, 2, columns)
    if kind == "correlated":
        X = np.cumsum(X, axis=1) + 5
    if kind == "sparse":
        X = sp.csr_array(X * (rng.random(X.shape) < 0.4))
    if kind == "equal":
        X[:, columns // 2 :] = -X[:, : columns - columns // 2]
    if kind == "binary":
        X = (X > 0.5).astype(float)
    y = np.asarray(X[:, :4] @ [2.0, -1.0, 1.0, 1.0]) + rng.normal(size=rows)
    return X, (y - y.mean()) / max(y.std(), 0.1), rng.integers(1, 4, rows).astype(float)


def without_celer(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if celer were not installed."""
    for name in [name for name in sys.modules if name.split(".")[0] == "celer"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "celer", None)


def violation(X, y, weight, penalty, ratio, solution) -> float:
    """How far the gradient is from the penalty's, in units of the penalty."""
    share = weight / weight.sum()
    residual = y - np.asarray(X @ solution.weights) - solution.intercept
    gradient = np.asarray(X.T @ (share * residual)) - penalty * (1 - ratio) * solution.weights
    used = solution.weights != 0
    gap = np.abs(gradient[used] - penalty * ratio * np.sign(solution.weights[used])).max(initial=0)
    return max(gap, np.abs(gradient).max() - penalty * ratio, abs(share @ residual)) / (penalty * ratio)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(4, 25),
    st.integers(1, 60),
    st.integers(0, 10_000),
    st.sampled_from(["dense", "correlated", "sparse", "equal", "binary"]),
    st.sampled_from([1.0, 0.5, 0.05]),
    st.booleans(),
)
def test_paths_do_not_depend_on_the_solver(rows, more, seed, kind, ratio, weighted):
    X, y, weight = wide(rows, rows + more, seed, kind)
    weight = weight if weighted else np.ones(rows)
    highest = highest_penalty(X, y, weight, ratio)
    assume(highest > 1e-6)
    penalties = (highest * SHARES).tolist()
    with pytest.MonkeyPatch.context() as patch:
        ours = descend(X, y, weight, penalties, ratio, exact=False)
        patch.setattr(descent, "celer_weights", lambda *args: None)
        plain = descend(X, y, weight, penalties, ratio, exact=False)
    size = max(np.abs(one.weights).max() for one in plain) or 1.0
    for penalty, one, other in zip(penalties, ours, plain, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-9, atol=1e-9 * size)
        np.testing.assert_allclose(one.intercept, other.intercept, rtol=1e-9, atol=1e-9 * size)
        assert one.settled
        # Where several optima are found to share a set of dependent columns, scikit-learn's tolerance remains.
        assert violation(X, y, weight, penalty, ratio, one) < (1e-3 if kind in ("binary", "equal") else 1e-8)


@pytest.mark.parametrize("ratio", [1.0, 0.3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_it_is_celer_that_solves_wide_problems(monkeypatch, ratio, form):
    X, y, weight = wide(30, 200, 0)
    penalties = (highest_penalty(X, y, np.ones(30), ratio) * SHARES).tolist()
    oracle = enet_path(X - X.mean(axis=0), y, l1_ratio=ratio, alphas=penalties, tol=1e-14, max_iter=100_000)[1]
    monkeypatch.setattr(descent, "_descent", lambda *args: pytest.fail("scikit-learn was asked"))
    found = descend(form(X), y, np.ones(30), penalties, ratio, exact=True)
    np.testing.assert_allclose(np.column_stack([one.weights for one in found]), oracle, atol=1e-6)
    if form is np.asarray:
        descend(X, y, weight, penalties, ratio, exact=True)


def test_other_problems_are_left_to_scikit_learn():
    X, y, weight = wide(20, 60, 0)
    assert celer_weights(Problem(sp.csr_array(X), y, weight), [0.1], 1.0) is None
    assert celer_weights(Problem(X, y, weight), [0.1], 1.0) is not None
    # More rows than columns: not asked at all.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descent, "celer_weights", lambda *args: pytest.fail("celer was asked"))
        descend(X.T.copy(), np.arange(60.0), np.ones(60), [0.1], 1.0, exact=True)


@pytest.mark.parametrize("make", [Lasso, ElasticNet])
def test_fits_are_the_same_without_celer(monkeypatch, make):
    X, y, weight = wide(40, 150, 3)
    models = [make(alpha, random_state=0) for alpha in ("auto", 0.4, 0.05, 0.004)]
    fitted = list(Together(models, X, y))
    weighted = make(0.1).fit(X, y, sample_weight=weight)
    without_celer(monkeypatch)
    assert celer_weights(Problem(X, y, weight), [0.1], 1.0) is None
    for model, found in zip(models, fitted, strict=True):
        model.fit(X, y)
        np.testing.assert_allclose(found.coef_, model.coef_, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(found.intercept_, model.intercept_, atol=1e-10)
        assert found.share_ == model.share_
    np.testing.assert_allclose(weighted.coef_, make(0.1).fit(X, y, sample_weight=weight).coef_, atol=1e-10)


def test_celer_is_imported_when_it_is_needed_and_is_silent():
    code = """
import sys, warnings
import numpy as np
from tamis.regress import Lasso
X = np.random.default_rng(0).normal(size=(20, 50))
Lasso(0.5).fit(X.T, np.arange(50.0))
assert "celer" not in sys.modules
Lasso(0.5).fit(X, np.arange(20.0))
assert "celer" in sys.modules
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stdout + done.stderr


def test_weights_that_are_not_near_the_optimum_are_corrected(monkeypatch):
    """Columns enter and leave, one at a time where there are as many as the rows allow."""
    X, y, _ = wide(15, 40, 5)
    task = Problem(X, y, np.ones(15))
    penalties = (highest_penalty(X, y, np.ones(15), 1.0) * SHARES).tolist()
    oracle = enet_path(task.rows, y, l1_ratio=1.0, alphas=penalties, tol=1e-15, max_iter=200_000)[1].T
    rng = np.random.default_rng(0)
    for start in (
        np.zeros_like(oracle),
        oracle + 0.1 * rng.normal(size=oracle.shape) * (rng.random(oracle.shape) < 0.2),
    ):
        found = optima(task, penalties, 1.0, list(start), unique=True)
        for one, weights in zip(found, oracle, strict=True):
            assert one is not None
            np.testing.assert_allclose(one.weights, weights, atol=1e-5)
    monkeypatch.setattr(optimum, "_COLUMNS", 3)
    few = optima(task, penalties, 1.0, list(oracle), unique=True)
    assert [one is not None for one in few] == [np.count_nonzero(weights) <= 3 for weights in oracle]


def test_of_equal_columns_one_is_used_and_other_optima_are_recognized():
    X, y, _ = wide(20, 60, 0, "equal")
    penalty = 0.1 * highest_penalty(X, y, np.ones(20), 1.0)
    task = Problem(X, y, np.ones(20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        halves = enet_path(task.rows[:, :30], y, l1_ratio=1.0, alphas=[penalty], tol=1e-12, max_iter=100_000)[1][:, 0]
    both = np.concatenate([halves, -halves]) / 2
    assert optima(task, [penalty], 1.0, [both], unique=True) == [None]
    (one,) = optima(task, [penalty], 1.0, [both], unique=False)
    np.testing.assert_allclose(one.weights, np.concatenate([halves, np.zeros(30)]), atol=1e-6)
