"""LSI against NumPy's singular value decomposition and scikit-learn's, on dense and sparse rows of every shape."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import make_pipeline

from tamis.base.feature_tracking import trace_columns
from tamis.base.shared_fit import fit_together, grouped
from tamis.margins import principal_axes
from tamis.select import Ranking
from tamis.transform import LSI

SHAPES = {"tall": (60, 12), "wide": (12, 60), "square": (20, 20)}
FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_matrix}


def counts(shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.exponential(0.7, shape[1]), shape).astype(float)


@pytest.fixture(params=["whole", "lanczos"])
def route(request, monkeypatch):
    """The way large problems take, taken by small ones."""
    if request.param == "lanczos":
        monkeypatch.setattr(principal_axes, "_ALL", 4)
        monkeypatch.setattr(principal_axes, "_LEADING", 3)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_equals_the_decomposition_of_numpy(shape, form, route):
    X = counts(shape)
    model = LSI(3).fit(form(X))
    _, values, axes = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(model.singular_values_, values[:3])
    sign = np.sign(axes[np.arange(3), np.abs(axes[:3]).argmax(axis=1)])[:, None]
    np.testing.assert_allclose(model.components_, axes[:3] * sign, atol=1e-8)
    np.testing.assert_allclose(model.transform(form(X)), X @ (axes[:3] * sign).T, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(model.transform(form(X)), axis=0), values[:3])


def test_few_components_of_sparse_rows_need_no_dense_matrix(monkeypatch):
    X = sp.random_array((1100, 1200), density=0.01, format="csr", rng=np.random.default_rng(0))
    whole = LSI(200).fit(X)
    monkeypatch.setattr(principal_axes.CentredRows, "square", lambda self: pytest.fail("the square matrix was formed"))
    few = LSI(10).fit(X)
    np.testing.assert_allclose(few.singular_values_, whole.singular_values_[:10])
    np.testing.assert_allclose(few.components_, whole.components_[:10], atol=1e-8)


def test_equals_scikit_learn_on_new_rows():
    X = counts((80, 30))
    peer = TruncatedSVD(4, algorithm="arpack", random_state=0).fit(X[:60])
    found = LSI(4).fit(sp.csr_array(X[:60])).transform(X[60:])
    expected = peer.transform(X[60:])
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)


@given(st.integers(0, 999), st.sampled_from(sorted(SHAPES)))
def test_signs_do_not_hang_on_the_form_and_rank_k_is_the_best(seed, shape):
    X = counts(SHAPES[shape], seed)
    dense, sparse = LSI(4).fit(X), LSI(4).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-7)
    assert (dense.components_.max(axis=1) >= -dense.components_.min(axis=1) - 1e-6).all()
    left = np.linalg.norm(X - dense.transform(X) @ dense.components_)
    np.testing.assert_allclose(left**2, (np.linalg.svd(X, compute_uv=False)[4:] ** 2).sum(), rtol=1e-9)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_one_decomposition_serves_every_number(shape):
    X = sp.csr_array(counts(shape))
    models = [LSI(k) for k in (1, 3, 6)]
    assert len(grouped(models)) == 1
    together = fit_together(models, X, None)
    for place, model in enumerate(models):
        np.testing.assert_allclose(together.fitted(place).components_, model.fit(X).components_, atol=1e-9)


def test_no_more_components_than_the_rank():
    X = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 1.0, 2.0])
    for form in FORMS.values():
        assert LSI(3).fit_transform(form(X)).shape == (3, 1)
        assert LSI(3).fit_transform(form(np.zeros((3, 4)))).tolist() == [[0.0]] * 3


def test_sparse_rows_are_never_made_dense(monkeypatch):
    X = sp.random_array((3000, 200_000), density=1e-4, format="csr", rng=np.random.default_rng(0))

    def refuse(self, *args, **kwargs):
        raise AssertionError("made dense")

    monkeypatch.setattr(sp.csr_array, "toarray", refuse)
    assert LSI(2).fit_transform(X).shape == (3000, 2)


def test_columns_are_mixed():
    X, y = counts((30, 6)), np.arange(30) % 2
    model = make_pipeline(Ranking(k=4), LSI(2)).fit(X, y)
    assert trace_columns(model, 6) is None
    assert LSI(2).fit(X).get_feature_names_out().tolist() == ["lsi0", "lsi1"]
    assert LSI(2).fit_transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("k", [0, -1, 0.5, "all", None])
def test_bad_number_is_named(k):
    with pytest.raises(ValueError, match="'n_components' parameter"):
        LSI(k).fit(counts((9, 5)))
    with pytest.raises(ValueError, match="NaN"):
        LSI().fit(np.array([[1.0, np.nan], [0.0, 1.0]]))
