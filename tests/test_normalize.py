"""Normalize against scikit-learn's Normalizer and closed forms."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import Normalizer

from tamis.transform import Normalize

NORMS = {"l1": lambda x: np.abs(x).sum(), "l2": lambda x: np.sqrt((x**2).sum()), "max": lambda x: np.abs(x).max()}


@pytest.fixture(name="X")
def matrix():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.5)
    X[4] = 0
    return X


@pytest.mark.parametrize("norm", NORMS)
def test_rows_get_length_one_and_zero_rows_stay(X, norm):
    got = Normalize(norm).fit_transform(X)
    np.testing.assert_allclose(got, Normalizer(norm).fit_transform(X))
    lengths = np.array([NORMS[norm](row) for row in X])
    np.testing.assert_allclose([NORMS[norm](row) for row in got], lengths > 0)
    np.testing.assert_allclose(got * lengths[:, None], X)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix])
@pytest.mark.parametrize("norm", NORMS)
def test_sparse_equals_dense_and_stays_sparse(X, norm, form):
    got = Normalize(norm).fit_transform(form(X))
    assert sp.issparse(got)
    assert got.nnz == np.count_nonzero(X)
    np.testing.assert_allclose(got.toarray(), Normalize(norm).fit_transform(X))


@pytest.mark.parametrize("norm", NORMS)
def test_values_stored_twice_count_as_their_sum(norm):
    twice = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    expected = np.array([[3.0, 4.0]]) / NORMS[norm](np.array([3.0, 4.0]))
    np.testing.assert_allclose(Normalize(norm).fit_transform(twice).toarray(), expected)
    assert twice.nnz == 3


def test_rows_do_not_depend_on_the_rows_of_fit(X):
    np.testing.assert_array_equal(Normalize().fit(X[:3]).transform(X), Normalize().fit_transform(X))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_float32_stays(X, form):
    assert Normalize().fit_transform(form(X.astype(np.float32))).dtype == np.float32


def test_bad_input_is_refused(X):
    with pytest.raises(ValueError, match="'norm' parameter"):
        Normalize("l3").fit(X)
    with pytest.raises(ValueError, match="NaN"):
        Normalize().fit(np.array([[1.0, np.nan]]))
    with pytest.raises(ValueError, match="5 features"):
        Normalize().fit(X).transform(X[:, :5])
