"""Linear discriminant analysis against scikit-learn's, also with more columns than rows; bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils._param_validation import InvalidParameterError

from tamis.base.errors import TamisError
from tamis.classify import LDA


def problem(n_classes, rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.r_[np.repeat(np.arange(n_classes), 3), rng.integers(0, n_classes, rows - 3 * n_classes)])
    X = rng.normal(size=(rows, columns)) @ np.diag(np.geomspace(0.1, 10, columns)) + 3.0
    X[:, : columns // 2] += rng.normal(size=(n_classes, columns // 2))[y]
    return X, y


def oracle(shrinkage):
    return LinearDiscriminantAnalysis(solver="svd" if shrinkage is None else "lsqr", shrinkage=shrinkage)


@pytest.mark.parametrize("shrinkage", ["auto", 0.05, 0.7, 1.0, None])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize(("rows", "columns"), [(80, 10), (40, 40), (30, 120), (20, 1)])
def test_equals_scikit_learn(rows, columns, n_classes, shrinkage) -> None:
    X, y = problem(n_classes, rows, columns)
    words = np.array(list("ecabd"))[:n_classes]
    truth = oracle(shrinkage).fit(X, words[y])
    model = LDA(shrinkage).fit(X, words[y])
    np.testing.assert_allclose(model.coef_, truth.coef_, rtol=1e-6, atol=1e-8 * np.abs(truth.coef_).max())
    Z = problem(n_classes, rows, columns, seed=1)[0]
    np.testing.assert_allclose(model.predict_proba(Z), truth.predict_proba(Z), rtol=1e-5, atol=1e-8)
    np.testing.assert_array_equal(model.predict(Z), truth.predict(Z))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 3), st.integers(10, 25), st.integers(2, 60))
def test_auto_equals_scikit_learn_with_constant_columns(seed, n_classes, rows, columns) -> None:
    X, y = problem(n_classes, rows, columns, seed)
    rng = np.random.default_rng(seed)
    X = np.column_stack([X, np.full(rows, 0.1), X[:, 0], rng.integers(0, 2, rows) * (y == 0)])
    truth = oracle("auto").fit(X, y)
    np.testing.assert_allclose(LDA().fit(X, y).predict_proba(X), truth.predict_proba(X), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("columns", [3, 30])
def test_nothing_shrunk_is_the_least_of_the_solutions(columns) -> None:
    X, y = problem(3, 20, columns)
    truth = oracle(0.0).fit(X, y)
    np.testing.assert_allclose(LDA(0.0).fit(X, y).coef_, truth.coef_, rtol=1e-5, atol=1e-6 * np.abs(truth.coef_).max())


def test_classes_of_one_and_two_rows() -> None:
    # Two rows lie opposite each other about their mean and one on it: there is nothing to shrink by.
    X = np.random.default_rng(0).normal(size=(5, 12))
    y = [0, 0, 1, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        truth = oracle("auto").fit(X, y)
    np.testing.assert_allclose(LDA().fit(X, y).predict_proba(X), truth.predict_proba(X), rtol=1e-5, atol=1e-8)
    rows = np.r_[X, X + 1.0, X - 1.0]
    labels = [0] * 14 + [1]
    assert np.isfinite(LDA().fit(rows, labels).predict_proba(rows)).all()


def test_single_precision_is_computed_in_double() -> None:
    X, y = problem(3, 30, 60)
    single = X.astype(np.float32)
    np.testing.assert_array_equal(LDA().fit(single, y).coef_, LDA().fit(single.astype(float), y).coef_)


def test_bad_input() -> None:
    X, y = problem(2, 20, 4)
    for bad in ("some", -0.1, 1.1):
        with pytest.raises(InvalidParameterError):
            LDA(bad).fit(X, y)
    with pytest.raises(TamisError, match="lda takes no sparse data"):
        LDA().fit(sp.csr_array(X), y)
    with pytest.raises(TamisError, match="lda takes no sparse data"):
        LDA().fit(X, y).predict(sp.csr_array(X))
    with pytest.raises(TamisError, match="more rows than classes; got 2 rows of 2 classes"):
        LDA().fit(X[:2], [0, 1])
