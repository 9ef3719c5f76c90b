"""Random projections: the matrix they promise, distances that nearly stay, sparse = dense; bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline

from tamis.base.feature_tracking import trace_columns
from tamis.select import Ranking
from tamis.transform import RandomProjection


def rows(shape=(30, 500), seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * (rng.random(shape) < 0.2)


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


@pytest.mark.parametrize("distribution", ["gaussian", "sparse"])
def test_a_row_becomes_a_product_with_a_fixed_matrix(distribution):
    X = rows()
    model = RandomProjection(40, distribution, random_state=3).fit(X)
    R = dense(model.components_)
    assert R.shape == (40, 500)
    np.testing.assert_allclose(model.transform(X), X @ R.T, atol=1e-12)
    np.testing.assert_allclose(model.transform(sp.csr_array(X)), X @ R.T, atol=1e-12)
    again = RandomProjection(40, distribution, random_state=3).fit(sp.csr_array(rows(seed=9)))
    np.testing.assert_array_equal(dense(again.components_), R)
    other = RandomProjection(40, distribution, random_state=4).fit(X)
    assert (dense(other.components_) != R).any()


def test_columns_of_the_gaussian_matrix_are_of_length_one():
    R = RandomProjection(50, random_state=0).fit(rows()).components_
    np.testing.assert_allclose((R**2).sum(axis=0), 1)
    # Directions are nearly orthogonal, and no sign is preferred.
    products = R.T @ R - np.eye(500)
    assert abs(products.mean()) < 0.01
    np.testing.assert_allclose(products.std(), 1 / np.sqrt(50), rtol=0.05)


def test_the_sparse_matrix_has_three_values_and_few_of_them():
    R = RandomProjection(50, "sparse", random_state=0).fit(rows()).components_
    size = np.sqrt(np.sqrt(500) / 50)
    np.testing.assert_allclose(np.unique(R.data), [-size, size])
    np.testing.assert_allclose(R.nnz / (50 * 500), 1 / np.sqrt(500), rtol=0.1)


@pytest.mark.parametrize("distribution", ["gaussian", "sparse"])
def test_distances_nearly_stay(distribution):
    X = rows((20, 3000))
    Z = RandomProjection(1000, distribution, random_state=0).fit_transform(X)
    apart = np.triu_indices(20, 1)
    ratio = pairwise_distances(Z)[apart] / pairwise_distances(X)[apart]
    assert 0.85 < ratio.min() < ratio.max() < 1.15


@pytest.mark.parametrize("distribution", ["gaussian", "sparse"])
def test_no_more_sums_than_columns_and_names(distribution):
    X = rows((9, 5)).astype(np.float32)
    model = RandomProjection(100, distribution, random_state=0).fit(X)
    assert model.transform(X).shape == (9, 5)
    assert model.transform(sp.csr_array(X)).dtype == np.float32
    assert model.get_feature_names_out().tolist() == [f"randomprojection{i}" for i in range(5)]


def test_columns_are_mixed():
    X = rows((40, 6))
    model = make_pipeline(Ranking(k=4), RandomProjection(2, random_state=0)).fit(X, np.arange(40) % 2)
    assert trace_columns(model, 6) is None


@pytest.mark.parametrize("bad", [{"n_components": 0}, {"n_components": 0.5}, {"distribution": "cauchy"}])
def test_bad_parameters_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        RandomProjection(**bad).fit(rows())
