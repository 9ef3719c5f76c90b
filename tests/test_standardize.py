"""Standardize against scikit-learn's StandardScaler and closed forms."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamis.base.errors import TamisError
from tamis.transform import Standardize

VALUES = st.floats(-1e3, 1e3).map(lambda v: round(v, 3))


@pytest.fixture(name="X")
def matrix():
    rng = np.random.default_rng(0)
    return rng.gamma(2.0, size=(60, 7)) * (rng.random((60, 7)) < 0.6) * np.geomspace(0.01, 100, 7)


@pytest.mark.parametrize("order", ["C", "F"])
def test_equals_scikit_learn_on_dense_rows(X, order):
    X = np.asarray(X, order=order)
    ours, theirs = Standardize().fit(X), StandardScaler().fit(X)
    np.testing.assert_allclose(ours.mean_, theirs.mean_)
    np.testing.assert_allclose(ours.scale_, theirs.scale_)
    np.testing.assert_allclose(ours.transform(X[:9]), theirs.transform(X[:9]), atol=1e-12)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])
def test_sparse_rows_are_scaled_as_scikit_learn_does(X, form):
    got = Standardize().fit_transform(form(X))
    assert sp.issparse(got)
    assert got.nnz == np.count_nonzero(X)
    expected = StandardScaler(with_mean=False).fit_transform(sp.csr_array(X))
    np.testing.assert_allclose(got.toarray(), expected.toarray())


@pytest.mark.parametrize("per", ["feature", "matrix"])
def test_sparse_differs_from_dense_by_a_shift(X, per):
    dense = Standardize(per).fit_transform(X)
    sparse = Standardize(per).fit_transform(sp.csr_array(X)).toarray()
    np.testing.assert_allclose(sparse - sparse[0], dense - dense[0], atol=1e-12)
    np.testing.assert_allclose(sparse, Standardize(per, center=False).fit_transform(X))


@pytest.mark.parametrize("missing", [False, True])
def test_matrix_takes_one_mean_and_one_deviation(X, missing):
    if missing:
        X[::5, 2] = np.nan
    model = Standardize("matrix").fit(X)
    np.testing.assert_allclose(model.mean_, [np.nanmean(X)])
    np.testing.assert_allclose(model.scale_, [np.nanstd(X)])
    np.testing.assert_allclose(model.transform(X), (X - np.nanmean(X)) / np.nanstd(X))
    np.testing.assert_allclose(Standardize("matrix").fit(sp.csr_array(X)).scale_, [np.nanstd(X)])


def test_missing_values_are_left_out_and_passed_on(X):
    X[3, 0] = X[:, 6] = np.nan
    ours = Standardize().fit(X)
    known = np.delete(X[:, 0], 3)
    np.testing.assert_allclose([ours.mean_[0], ours.scale_[0]], [known.mean(), known.std()])
    np.testing.assert_array_equal(np.isnan(ours.transform(X)), np.isnan(X))
    sparse = Standardize().fit_transform(sp.csr_array(X)).toarray()
    np.testing.assert_array_equal(np.isnan(sparse), np.isnan(X))


@pytest.mark.parametrize("per", ["feature", "matrix"])
@pytest.mark.parametrize("value", [0.1, 1e9 + 0.1, -1 / 3, 0.0])
def test_constants_become_exactly_zero(per, value):
    X = np.full((77, 3), value)
    model = Standardize(per).fit(X)
    np.testing.assert_array_equal(model.transform(X), 0.0)
    np.testing.assert_array_equal(model.scale_, 1.0)
    np.testing.assert_allclose(model.transform(X + 1), 1.0, rtol=1e-6)


def test_a_constant_column_with_holes_becomes_zero_beside_one_that_varies():
    X = np.array([[np.nan, 1.0], [0.1, 2.0], [0.1, 3.0], [0.1, 4.0]])
    np.testing.assert_array_equal(Standardize().fit_transform(X)[:, 0], [np.nan, 0, 0, 0])


def test_float32_stays_and_keeps_its_digits_beside_a_large_mean():
    rng = np.random.default_rng(1)
    X = (1e6 + rng.integers(0, 9, (500, 2))).astype(np.float32)
    got = Standardize().fit_transform(X)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, StandardScaler().fit_transform(X.astype(np.float64)), atol=1e-5)
    assert Standardize().fit_transform(sp.csr_array(X)).dtype == np.float32


@given(arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=VALUES))
def test_result_has_mean_zero_and_deviation_one_or_zero(X):
    out = Standardize().fit_transform(X)
    np.testing.assert_allclose(out.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(out.std(axis=0), np.ptp(X, axis=0) > 0, atol=1e-6)


def test_centring_sparse_rows_is_refused(X):
    with pytest.raises(TamisError, match="cannot centre sparse input"):
        Standardize(center=True).fit(sp.csr_array(X))
    with pytest.raises(TamisError, match="cannot centre sparse input"):
        Standardize().fit(X).transform(sp.csr_array(X))


@pytest.mark.parametrize(("parameters", "named"), [({"per": "row"}, "per"), ({"center": "no"}, "center")])
def test_bad_parameters_are_named(X, parameters, named):
    with pytest.raises(ValueError, match=f"'{named}' parameter"):
        Standardize(**parameters).fit(X)


@pytest.mark.parametrize("bad", [np.array([[1.0, np.inf]]), np.empty((0, 2)), np.zeros(3)])
def test_bad_rows_are_refused(bad):
    with pytest.raises(ValueError, match=r"infinity|0 sample|2D array"):
        Standardize().fit(bad)


def test_names_pass_through_a_pipeline(X):
    pipe = make_pipeline(Standardize(), Standardize("matrix")).set_output(transform="polars")
    assert pipe.fit_transform(X).columns == [f"x{j}" for j in range(7)]
