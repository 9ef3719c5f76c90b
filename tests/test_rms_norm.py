"""RMSNorm against its formula."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tamis.transform import RMSNorm


@pytest.fixture(name="X")
def matrix():
    rng = np.random.default_rng(0)
    return 3 + 40 * rng.normal(size=(50, 9)) * (rng.random((50, 9)) < 0.5)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix])
def test_mean_squared_length_becomes_one(X, form):
    model = RMSNorm().fit(form(X))
    np.testing.assert_allclose(model.scale_, np.sqrt((np.linalg.norm(X, axis=1) ** 2).mean()))
    out = model.transform(form(X))
    assert sp.issparse(out) == sp.issparse(form(X))
    out = out.toarray() if sp.issparse(out) else out
    np.testing.assert_allclose((out**2).sum(axis=1).mean(), 1)
    np.testing.assert_allclose(out * model.scale_, X)


def test_new_rows_are_divided_by_what_was_learnt(X):
    model = RMSNorm().fit(X)
    np.testing.assert_allclose(model.transform(5 * X), 5 * model.transform(X))


@given(st.floats(1e-6, 1e6), st.integers(0, 99))
def test_the_unit_of_the_data_does_not_matter(unit, seed):
    X = np.random.default_rng(seed).normal(size=(6, 3))
    np.testing.assert_allclose(RMSNorm().fit_transform(unit * X), RMSNorm().fit_transform(X))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_zeros_stay_zeros(form):
    model = RMSNorm().fit(form(np.zeros((4, 3))))
    assert model.scale_ == 1.0
    assert not np.asarray(model.transform(np.zeros((2, 3)))).any()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_float32_stays_and_is_added_up_in_float64(form):
    X = np.full((20_000, 5), 0.1, dtype=np.float32)
    model = RMSNorm().fit(form(X))
    np.testing.assert_allclose(model.scale_, np.sqrt(5) * np.float64(np.float32(0.1)), rtol=1e-12)
    assert model.transform(form(X)).dtype == np.float32


def test_missing_values_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        RMSNorm().fit(np.array([[1.0, np.nan]]))
