"""PCA against scikit-learn's full decomposition, on dense and sparse rows of every shape."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import decomposition

from tamis.base.errors import TamisError
from tamis.margins import principal_axes
from tamis.transform import PCA

SHAPES = {"tall": (60, 12), "wide": (12, 60), "square": (20, 20)}
FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_matrix}


def rows(shape, seed=0):
    rng = np.random.default_rng(seed)
    return (2 + rng.normal(size=shape) * rng.exponential(size=shape[1])) * (rng.random(shape) < 0.4)


def aligned(ours, theirs):
    """The oracle's rows, turned to our sign."""
    return theirs * np.sign((ours * theirs).sum(axis=1))[:, None]


@pytest.fixture(params=["whole", "lanczos", "lanczos, matrix free"])
def route(request, monkeypatch):
    """The ways large problems take, taken by small ones."""
    if request.param != "whole":
        monkeypatch.setattr(principal_axes, "_ALL", 4)
        monkeypatch.setattr(principal_axes, "_LEADING", 3)
    if request.param == "lanczos, matrix free":
        monkeypatch.setattr(principal_axes, "_FORMED", 4)
    return request.param


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_equals_scikit_learn(shape, form, route):
    X = rows(shape)
    ours, theirs = PCA(3).fit(form(X)), decomposition.PCA(3, svd_solver="full").fit(X)
    np.testing.assert_allclose(ours.components_, aligned(ours.components_, theirs.components_), atol=1e-9)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    np.testing.assert_allclose(ours.mean_, theirs.mean_)
    expected = aligned(ours.transform(X).T, theirs.transform(X).T).T
    np.testing.assert_allclose(ours.transform(form(X)), expected, atol=1e-9)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_first_components_do_not_depend_on_k(shape, form, route):
    X = form(rows(shape))
    longest = PCA(11).fit(X)
    for k in range(1, 11):
        np.testing.assert_allclose(PCA(k).fit(X).components_, longest.components_[:k], atol=1e-9)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_first_components_do_not_depend_on_k_where_variances_are_equal(form):
    X = np.kron(np.eye(6), [1.0, -1.0])
    longest = PCA(5).fit(form(X))
    np.testing.assert_allclose(longest.explained_variance_, longest.explained_variance_[0])
    for k in range(1, 5):
        np.testing.assert_allclose(PCA(k).fit(form(X)).components_, longest.components_[:k], atol=1e-14)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_equal_variances_give_one_result_by_iteration_too(form, monkeypatch):
    monkeypatch.setattr(principal_axes, "_ALL", 4)
    monkeypatch.setattr(principal_axes, "_LEADING", 4)
    X = form(np.eye(40))
    found = PCA(4).fit(X).components_
    np.testing.assert_allclose(found @ found.T, np.eye(4), atol=1e-12)
    np.testing.assert_array_equal(PCA(4).fit(X).components_, found)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_share_of_variance_takes_as_many_as_scikit_learn(shape, share, route):
    X = rows(shape)
    expected = decomposition.PCA(share, svd_solver="full").fit(X).n_components_
    for form in FORMS.values():
        model = PCA(share).fit(form(X))
        assert model.n_components_ == expected
        assert model.explained_variance_ratio_.sum() >= share


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_no_more_components_than_there_is_variance(shape, form):
    X = form(rows(shape))
    model = PCA(1000).fit(X)
    assert model.n_components_ == min(shape[0] - 1, shape[1])
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(model.n_components_), atol=1e-9)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1)
    projected = model.transform(X)
    np.testing.assert_allclose(projected @ model.components_ + model.mean_, rows(shape), atol=1e-9)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_low_rank_rows_give_their_rank(form):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, (15, 3)) @ rng.integers(-2, 3, (3, 40)) * 1e4
    model = PCA(10).fit(form(X))
    assert model.n_components_ == 3
    assert np.abs(model.transform(form(X + 1.0))).max() < 1e8


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
@pytest.mark.parametrize("k", [2, 0.5])
def test_rows_all_alike_give_one_empty_component(form, shape, k):
    X = form(np.full(shape, 0.1))
    model = PCA(k, whiten=True).fit(X)
    assert model.n_components_ == 1
    np.testing.assert_array_equal(model.explained_variance_, 0)
    np.testing.assert_array_equal(model.explained_variance_ratio_, 0)
    np.testing.assert_allclose(model.transform(X), 0, atol=1e-15)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_whitened_projections_have_variance_one(form):
    X = form(rows((60, 12)))
    white = PCA(4, whiten=True).fit_transform(X)
    np.testing.assert_allclose(np.cov(white.T), np.eye(4), atol=1e-9)
    plain = PCA(4).fit(X)
    np.testing.assert_allclose(white * np.sqrt(plain.explained_variance_), plain.transform(X), atol=1e-9)


@given(st.integers(0, 999), st.sampled_from(sorted(SHAPES)))
def test_largest_loading_is_positive_and_signs_do_not_hang_on_the_form(seed, shape):
    X = rows(SHAPES[shape], seed)
    dense, sparse = PCA(4).fit(X).components_, PCA(4).fit(sp.csr_array(X)).components_
    assert (dense.max(axis=1) >= -dense.min(axis=1) - 1e-6).all()
    np.testing.assert_allclose(sparse, dense, atol=1e-7)


def test_first_of_equal_loadings_is_positive():
    X = np.array([[1.0, -1.0], [-1.0, 1.0], [0.1, 0.1]])
    half = np.sqrt(0.5)
    np.testing.assert_allclose(PCA(1).fit(X).components_, [[half, -half]])
    np.testing.assert_allclose(PCA(1).fit(sp.csr_array(-X)).components_, [[half, -half]])


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_float32_stays_and_is_decomposed_in_float64(form):
    X = rows((30, 50)).astype(np.float32)
    single, double = PCA(3).fit(form(X)), PCA(3).fit(form(X.astype(np.float64)))
    np.testing.assert_allclose(single.components_, double.components_, atol=1e-10)
    out = single.transform(form(X))
    assert out.dtype == np.float32
    np.testing.assert_allclose(out, double.transform(form(X.astype(np.float64))), atol=1e-4)


def test_names_count_the_components():
    assert PCA(3).set_output(transform="pandas").fit_transform(rows((9, 5))).columns.tolist() == [
        "pca0",
        "pca1",
        "pca2",
    ]


@pytest.mark.parametrize("k", [0, -1, 1.0, 1.5, 0.0, "all", None])
def test_bad_k_is_named(k):
    with pytest.raises(ValueError, match="'n_components' parameter"):
        PCA(k).fit(rows((9, 5)))


def test_bad_rows_are_refused():
    with pytest.raises(TamisError, match="at least 2 rows"):
        PCA().fit(np.ones((1, 3)))
    with pytest.raises(ValueError, match="NaN"):
        PCA().fit(np.array([[1.0, np.nan], [0.0, 1.0]]))
