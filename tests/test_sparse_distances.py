"""The compiled sparse distances against a plain twin and against scipy."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from tamis.kernels.sparse import stored_arrays
from tamis.kernels.sparse_distances import CANBERRA, MAXIMUM, POWER, csr_distances

CASES = [(POWER, 1.0), (POWER, 2.0), (POWER, 3.5), (CANBERRA, 1.0), (MAXIMUM, 1.0)]


def twin(X: np.ndarray, Z: np.ndarray, metric: int, alpha: float) -> np.ndarray:
    gap = np.abs(X[:, None] - Z)
    if metric == POWER:
        return (gap**alpha).sum(axis=2)
    if metric == MAXIMUM:
        return gap.max(axis=2, initial=0.0)
    size = np.abs(X)[:, None] + np.abs(Z)
    return np.divide(gap, size, out=np.zeros_like(gap), where=size > 0).sum(axis=2)


def compiled(X: sp.csr_matrix, Z: sp.csr_matrix, metric: int, alpha: float) -> np.ndarray:
    out = np.full((X.shape[0], Z.shape[0]), np.nan)
    csr_distances(*stored_arrays(X), *stored_arrays(Z), X.shape[1], metric, alpha, out)
    return out


values = st.one_of(st.just(0.0), st.sampled_from([1.0, -1.0, 0.5]), st.floats(-100, 100))


@given(st.data(), st.integers(1, 6), st.sampled_from(CASES))
def test_equals_the_twin(data, n_columns, case) -> None:
    X, Z = (data.draw(arrays(np.float64, (data.draw(st.integers(1, 5)), n_columns), elements=values)) for _ in "xz")
    found = compiled(sp.csr_matrix(X), sp.csr_matrix(Z), *case)
    np.testing.assert_allclose(found, twin(X, Z, *case), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("metric", "alpha", "name", "options"),
    [
        (POWER, 1.0, "cityblock", {}),
        (POWER, 2.0, "sqeuclidean", {}),
        (CANBERRA, 1.0, "canberra", {}),
        (MAXIMUM, 1.0, "chebyshev", {}),
    ],
)
def test_equals_scipy(metric, alpha, name, options, index) -> None:
    X, Z = (sp.random(n, 300, 0.1, format="csr", random_state=n) for n in (20, 30))
    X.data -= 0.5
    for part in (X, Z):
        part.indices, part.indptr = part.indices.astype(index), part.indptr.astype(index)
    found = compiled(X, Z, metric, alpha)
    np.testing.assert_allclose(found, cdist(X.toarray(), Z.toarray(), name, **options), rtol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_a_row_is_nowhere_but_at_its_own_place(case) -> None:
    X = sp.random(20, 50, 0.3, format="csr", random_state=0)
    assert not compiled(X, X.copy(), *case).diagonal().any()


@pytest.mark.parametrize("case", CASES)
def test_stored_zeros_and_the_order_of_columns_do_not_matter(case) -> None:
    tidy = sp.csr_matrix(np.array([[0.0, 2.0, 0.0, -3.0], [1.0, 0.0, 0.0, 4.0]]))
    untidy = sp.csr_matrix(
        (np.array([-3.0, 0.0, 2.0, 4.0, 1.0]), np.array([3, 0, 1, 3, 0]), np.array([0, 3, 5])), shape=(2, 4)
    )
    np.testing.assert_allclose(compiled(untidy, tidy, *case), compiled(tidy, tidy, *case), rtol=1e-15)
    np.testing.assert_allclose(compiled(tidy, untidy, *case), compiled(tidy, tidy, *case), rtol=1e-15)


def test_empty_rows() -> None:
    empty, one = sp.csr_matrix((2, 3)), sp.csr_matrix(np.array([[0.0, -2.0, 0.0]]))
    np.testing.assert_array_equal(compiled(empty, one, POWER, 3.0), [[8.0], [8.0]])
    np.testing.assert_array_equal(compiled(one, empty, CANBERRA, 1.0), [[1.0, 1.0]])
    np.testing.assert_array_equal(compiled(empty, empty, MAXIMUM, 1.0), np.zeros((2, 2)))
