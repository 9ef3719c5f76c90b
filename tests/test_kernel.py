"""Kernel functions against scikit-learn's, and what holds for any rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import pairwise

from tamis.base.errors import TamisError
from tamis.margins.kernel import (
    GROUNDS,
    apply,
    ground,
    inner_products,
    kernel_values,
    squared_distances,
    squared_norms,
)

SETTINGS = {"sigma": 3.0, "degree": 2, "coef0": 0.5}
ORACLES = {
    "linear": lambda X, Z: pairwise.linear_kernel(X, Z),
    "gaussian": lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=1 / 3),
    "exponential": lambda X, Z: np.exp(-pairwise.euclidean_distances(X, Z) / 3),
    "polynomial": lambda X, Z: pairwise.polynomial_kernel(X, Z, degree=2, gamma=1 / 3, coef0=0.5),
    "cosine": lambda X, Z: (pairwise.cosine_similarity(X, Z) + 0.5) ** 2,
    "sigmoid": lambda X, Z: pairwise.sigmoid_kernel(X, Z, gamma=1 / 3, coef0=0.5),
}


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X, Z = (rng.normal(size=(n, 7)) * (rng.random((n, 7)) < 0.5) for n in (6, 9))
    return X, Z


def test_every_kernel_has_an_oracle() -> None:
    assert set(ORACLES) == set(GROUNDS)


@pytest.mark.parametrize("name", sorted(GROUNDS))
@pytest.mark.parametrize("x_form", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("z_form", [np.asarray, sp.csr_matrix])
def test_equals_scikit_learn(name, x_form, z_form, rows) -> None:
    X, Z = rows
    found = kernel_values(name, x_form(X), z_form(Z), **SETTINGS)
    assert type(found) is np.ndarray
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, ORACLES[name](X, Z), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(GROUNDS))
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_of_rows_with_themselves(name, form, rows) -> None:
    X = rows[0]
    np.testing.assert_allclose(kernel_values(name, form(X), **SETTINGS), ORACLES[name](X, X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_float32_rows_are_summed_in_float64(form) -> None:
    rng = np.random.default_rng(1)
    X = (100 + rng.normal(size=(5, 3000))).astype(np.float32)
    exact = X.astype(np.float64) @ X.astype(np.float64).T
    np.testing.assert_allclose(inner_products(form(X)), exact, rtol=1e-13)
    np.testing.assert_allclose(inner_products(form(X), form(X.copy())), exact, rtol=1e-13)
    np.testing.assert_allclose(squared_norms(form(X)), exact.diagonal(), rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_change_nothing(dtype, monkeypatch, rows) -> None:
    X, Z = (M.astype(dtype) for M in rows)
    whole = inner_products(X, Z), inner_products(sp.csr_matrix(X), sp.csr_matrix(Z))
    monkeypatch.setattr("tamis.margins.kernel._BLOCK", 20)
    for one, other in zip(
        whole, (inner_products(X, Z), inner_products(sp.csr_matrix(X), sp.csr_matrix(Z))), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-14)


def test_repeated_entries_of_a_sparse_matrix_are_added() -> None:
    twice = sp.csr_matrix((np.array([1.0, 2.0, 5.0]), np.array([3, 3, 0]), np.array([0, 2, 3])), shape=(2, 4))
    dense = np.array([[0.0, 0.0, 0.0, 3.0], [5.0, 0.0, 0.0, 0.0]])
    for name in GROUNDS:
        np.testing.assert_allclose(
            kernel_values(name, twice, twice.copy(), **SETTINGS), kernel_values(name, dense, dense.copy(), **SETTINGS)
        )
    assert twice.nnz == 3


def test_a_row_of_zeros_has_no_direction() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(ground("cosine", X), [[0.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("name", sorted(GROUNDS))
def test_ground_serves_many_parameters(name, rows) -> None:
    X, Z = rows
    base = ground(name, X, Z)
    kept = base.copy()
    for sigma in (0.5, 2.0):
        direct = kernel_values(name, X, Z, sigma=sigma, degree=3, coef0=1.0)
        np.testing.assert_array_equal(apply(name, base, sigma=sigma, degree=3, coef0=1.0), direct)
    np.testing.assert_array_equal(base, kept)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.floats(-1e6, 1e6)),
    st.floats(0.01, 100),
)
def test_distances_and_definiteness(X, sigma) -> None:
    distances = ground("gaussian", X)
    assert (distances >= 0).all()
    assert not distances.diagonal().any()
    largest = squared_norms(X).max()
    np.testing.assert_allclose(distances, ((X[:, None] - X) ** 2).sum(axis=2), atol=1e-13 * largest, rtol=1e-9)
    for name in ("gaussian", "exponential"):
        gram = kernel_values(name, X, sigma=sigma)
        np.testing.assert_array_equal(gram, gram.T)
        assert (gram.diagonal() == 1).all()
    assert np.linalg.eigvalsh(kernel_values("gaussian", X / 1e6, sigma=sigma)).min() > -1e-9


def test_distances_from_products_alone() -> None:
    X, Z = np.array([[1.0, 2.0]]), np.array([[4.0, 6.0], [1.0, 2.0]])
    found = squared_distances(inner_products(X, Z), squared_norms(X), squared_norms(Z))
    np.testing.assert_array_equal(found, [[25.0, 0.0]])


def test_overflow_is_said_in_words() -> None:
    with pytest.raises(TamisError, match="polynomial kernel overflows"):
        kernel_values("polynomial", np.full((2, 2), 1e60), degree=5)


@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.sampled_from([0.0, 0.0, 1.5, -2.0])
    ),
    st.sampled_from([np.float32, np.float64]),
)
def test_sparse_rows_with_themselves_equal_the_plain_product(X: np.ndarray, dtype: type) -> None:
    sparse = sp.csr_array(X.astype(dtype))
    np.testing.assert_array_equal(inner_products(sparse), X @ X.T)
    twice = sp.csr_array(
        (np.repeat(sparse.data / 2, 2), np.repeat(sparse.indices, 2), 2 * sparse.indptr), shape=sparse.shape
    )
    np.testing.assert_array_equal(inner_products(twice), X @ X.T)
