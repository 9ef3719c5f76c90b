"""Logistic regression against scikit-learn's and the conditions of its optimum; weights; masks; bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import InvalidParameterError

from tamis.base.errors import TamisError
from tamis.classify import Logistic, logistic

FORMS = [np.asarray, sp.csr_matrix, sp.csr_array]


def problem(n_classes=2, rows=80, columns=12, seed=0, zeros=0.4):
    """Rows with zeros, classes that overlap and are not of one size."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, rows, p=np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2))
    y[:n_classes] = np.arange(n_classes)
    X = rng.normal(1.0, 1.0, (rows, columns)) * (rng.random((rows, columns)) >= zeros)
    X[:, :3] += y[:, None] * rng.normal(size=3)
    return X, y


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("shape", [(80, 12), (30, 90)])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [0.01, 10.0])
def test_l2_equals_scikit_learn(C, n_classes, shape, class_weight, form) -> None:
    X, y = problem(n_classes, *shape)
    oracle = LogisticRegression(C=C, class_weight=class_weight, tol=1e-10, max_iter=20_000).fit(X, y)
    model = Logistic(C=C, class_weight=class_weight).fit(form(X), np.array(list("dbca"))[y])
    order = np.argsort(np.array(list("dbca"))[:n_classes])
    np.testing.assert_allclose(model.predict_proba(form(X)), oracle.predict_proba(X)[:, order], atol=1e-5)
    np.testing.assert_allclose(model.model_.predict_proba(form(X)), model.predict_proba(form(X)), atol=1e-12)
    assert model.coef_.shape == (1 if n_classes == 2 else n_classes, shape[1])
    assert not hasattr(model, "used_")


def test_large_problems_are_solved_in_other_ways(monkeypatch) -> None:
    X, y = problem(3, 60, 20)
    exact = Logistic().fit(X, y)
    assert exact.model_.solver == "newton-cholesky"
    monkeypatch.setattr(logistic, "_CHEAP", 0)
    quick = Logistic().fit(X, y)
    assert quick.model_.solver == "lbfgs"
    np.testing.assert_allclose(quick.predict_proba(X), exact.predict_proba(X), atol=1e-4)
    # When that takes too long, Newton's method takes over.
    monkeypatch.setattr(logistic, "_STEPS", 2)
    slow = Logistic().fit(X, y)
    assert slow.model_.solver == "newton-cholesky"
    np.testing.assert_allclose(slow.predict_proba(X), exact.predict_proba(X), atol=1e-9)
    # Unless there are too many unknowns for it.
    monkeypatch.setattr(logistic, "_NEWTON", 10)
    for shape in ((60, 20), (20, 60)):
        X, y = problem(3, *shape)
        found = Logistic().fit(X, y)
        assert found.model_.solver == "lbfgs"
        assert found.coef_.shape == (3, shape[1])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1e-4, 1.0, 1e4]), st.sampled_from([0.1, 1.0, 10.0]), st.integers(5, 60))
def test_l2_is_optimal_at_any_scale(seed, scale, C, columns) -> None:
    X, y = problem(2, 30, columns, seed)
    # C is given in units of the data: the same problem at every scale.
    X, C = X * scale, C / scale**2
    model = Logistic(C=C).fit(X, y)
    gap = y - expit(X @ model.coef_[0] + model.intercept_[0])
    assert abs(gap.sum()) < 1e-5
    np.testing.assert_allclose(C * X.T @ gap, model.coef_[0], atol=1e-5 * np.abs(model.coef_).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("zeros", [0.0, 0.5])
@pytest.mark.parametrize("C", [0.1, 2.0, 100.0])
def test_l1_is_optimal(C, zeros, form) -> None:
    X, y = problem(2, 60, 100, zeros=zeros)
    model = Logistic("l1", C).fit(form(X), y)
    gap = y - expit(X @ model.coef_[0] + model.intercept_[0])
    pull = C * X.T @ gap
    used = model.used_
    assert 0 < used.sum() < 60
    np.testing.assert_array_equal(used, model.coef_[0] != 0)
    np.testing.assert_allclose(pull[used], np.sign(model.coef_[0][used]), atol=5e-3)
    assert np.abs(pull[~used]).max() < 1 + 5e-3
    # liblinear asks a thousandth of an intercept's size, so that its gradient need not be quite zero.
    assert C * abs(gap.sum()) < 2e-3


def test_l1_takes_the_right_solver_and_each_class_against_the_rest() -> None:
    X, y = problem(3)
    model = Logistic("l1", class_weight="balanced").fit(X, y)
    cost = (y.size / (3 * np.bincount(y)))[y]
    options = {"solver": "liblinear", "tol": 1e-12, "max_iter": 500, "random_state": 0, "intercept_scaling": 1e3}
    options |= {"penalty": "l1"} if LogisticRegression().penalty == "l2" else {"l1_ratio": 1.0}
    each = [LogisticRegression(**options).fit(X, y == c, sample_weight=cost) for c in range(3)]
    np.testing.assert_allclose(model.coef_, np.concatenate([one.coef_ for one in each]), rtol=1e-12)
    share = np.column_stack([one.predict_proba(X)[:, 1] for one in each])
    np.testing.assert_allclose(model.predict_proba(X), share / share.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_allclose(model.model_.predict_proba(X), model.predict_proba(X), rtol=1e-9)
    assert model.used_.tolist() == model.coef_.any(axis=0).tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_that_l1_leaves_out_do_not_count(n_classes) -> None:
    X, y = problem(n_classes, 50, 40)
    model = Logistic("l1", 0.3).fit(X, y)
    assert 0 < model.used_.sum() < 40
    other = np.where(model.used_, X, np.random.default_rng(1).normal(size=X.shape))
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(X))


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_weight_is_so_many_rows(penalty, n_classes, class_weight) -> None:
    X, y = problem(n_classes, 40, 50, zeros=0.0)
    weight = np.random.default_rng(0).integers(0, 4, 40)
    weighted = Logistic(penalty, class_weight=class_weight).fit(X, y, sample_weight=weight)
    repeated = Logistic(penalty, class_weight=class_weight).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_evidence_beyond_all_numbers_still_names_the_class() -> None:
    X, y = problem(3)
    model = Logistic("l1", 10.0).fit(X, y)
    far = 1e4 * np.random.default_rng(0).normal(size=(200, 12))
    margin = far @ model.coef_.T + model.intercept_
    against_all = margin.max(axis=1) < -800
    assert against_all.any()
    np.testing.assert_array_equal(model.predict(far)[against_all], margin[against_all].argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1.0)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_data_without_information_gives_the_shares(penalty) -> None:
    for X in (np.zeros((10, 3)), np.zeros((10, 30)), np.ones((10, 3)), sp.csr_array((10, 30))):
        found = Logistic(penalty).fit(X, [0] * 7 + [1] * 3).predict_proba(X)
        np.testing.assert_allclose(found[:, 1], 0.3, atol=2e-3)


def test_what_is_not_settled_is_told(monkeypatch) -> None:
    X, y = problem(2, 80, 30)
    make = Logistic._make
    monkeypatch.setattr(Logistic, "_make", lambda self, *size: make(self, *size).set_params(max_iter=1))
    monkeypatch.setattr(logistic, "_LAST", 1)
    monkeypatch.setattr(logistic, "_NEWTON", 0)
    monkeypatch.setattr(logistic, "_CHEAP", 0)
    for penalty in ("l2", "l1"):
        with pytest.warns(ConvergenceWarning, match=f"logistic is not settled with penalty={penalty}, C=7; scale"):
            Logistic(penalty, 7.0).fit(X, y)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_raw_columns_settle_in_silence(penalty, C) -> None:
    X, y = problem(2, 100, 20, zeros=0.0)
    X = 480 + X * np.geomspace(0.1, 100, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Logistic(penalty, C).fit(X, y)


def test_bad_input() -> None:
    X, y = problem()
    for bad in ({"penalty": "l3"}, {"C": 0.0}, {"C": -1.0}, {"class_weight": "yes"}):
        with pytest.raises(InvalidParameterError):
            Logistic(**bad).fit(X, y)
    with pytest.raises(TamisError, match="logistic: no row of class 1 has a sample weight above zero"):
        Logistic().fit(X, y, sample_weight=y == 0)
    with pytest.raises(ValueError, match="NaN"):
        Logistic().fit(np.full((4, 2), np.nan), [0, 1, 0, 1])
    with pytest.raises(TamisError, match="one class"):
        Logistic().fit(X, np.zeros(len(y)))
