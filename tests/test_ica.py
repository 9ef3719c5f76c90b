"""ICA against planted sources and scikit-learn's FastICA; sparse = dense; bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import trace_columns
from tamis.base.shared_fit import fit_together, grouped
from tamis.select import Ranking
from tamis.transform import ICA

FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_matrix}


def mixed(seed=0, rows=400, sources=3, columns=8):
    """Sources far from normal, and sparse sums of them."""
    rng = np.random.default_rng(seed)
    s = rng.exponential(1.0, (rows, sources)) * (rng.random((rows, sources)) < 0.4)
    return s, s @ (rng.normal(size=(sources, columns)) * (rng.random((sources, columns)) < 0.7))


@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_finds_planted_sources(form, fun):
    sources, X = mixed()
    model = ICA(5, fun=fun, random_state=0).fit(form(X))
    found = model.transform(form(X))
    # There are three directions with variance.
    assert found.shape == (400, 3)
    likeness = np.abs(np.corrcoef(found.T, sources.T)[:3, 3:])
    assert sorted(likeness.argmax(axis=1)) == [0, 1, 2]
    assert likeness.max(axis=1).min() > 0.98


def test_equals_scikit_learn():
    _, X = mixed(1)
    peer = FastICA(3, whiten="unit-variance", tol=1e-8, max_iter=2000, random_state=0).fit_transform(X)
    found = ICA(3, tol=1e-8, max_iter=2000, random_state=0).fit_transform(X)
    likeness = np.abs(np.corrcoef(found.T, peer.T)[:3, 3:])
    np.testing.assert_allclose(np.sort(likeness.max(axis=1)), 1.0, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_components_are_white_and_do_not_depend_on_the_form(seed):
    _, X = mixed(seed)
    dense, sparse = (ICA(3, random_state=seed).fit(form(X)) for form in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(np.cov(dense.transform(X).T), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(dense.transform(X).mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-6)
    assert (dense.components_.max(axis=1) >= -dense.components_.min(axis=1) - 1e-6).all()
    np.testing.assert_array_equal(ICA(3, random_state=seed).fit(X).components_, dense.components_)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_one_whitening_serves_every_number_of_components(form):
    X = form(mixed(2, sources=6, columns=20)[1])
    models = [ICA(k, tol=1e-8, random_state=0) for k in (2, 6, 4, 9)]
    (group,) = grouped(models)
    assert len(group.estimators) == 4
    together = fit_together(models, X, None)
    for place, model in enumerate(models):
        found, alone = together.fitted(place), model.fit(X)
        assert (found.n_components_, found.n_iter_) == (alone.n_components_, alone.n_iter_)
        np.testing.assert_allclose(found.components_, alone.components_, atol=1e-6)
    # Another start is another rotation.
    assert len(grouped([ICA(2, random_state=0), ICA(2, random_state=1)])) == 2


def test_sparse_rows_are_never_made_dense(monkeypatch):
    X = sp.random_array((2500, 100_000), density=1e-4, format="csr", rng=np.random.default_rng(0))

    def refuse(self, *args, **kwargs):
        raise AssertionError("made dense")

    monkeypatch.setattr(sp.csr_array, "toarray", refuse)
    assert ICA(2, tol=0.1, random_state=0).fit_transform(X).shape == (2500, 2)


def test_rows_all_alike_give_one_empty_component():
    assert ICA(2).fit_transform(np.ones((4, 3))).tolist() == [[0.0]] * 4


def test_columns_are_mixed():
    _, X = mixed()
    model = make_pipeline(Ranking(k=4), ICA(2, random_state=0)).fit(X, np.arange(400) % 2)
    assert trace_columns(model, 8) is None
    fitted = ICA(2, random_state=0).fit(X)
    assert fitted.get_feature_names_out().tolist() == ["ica0", "ica1"]
    assert fitted.transform(X.astype(np.float32)).dtype == np.float32


def test_a_start_that_runs_in_a_circle_is_followed_by_another():
    X = np.random.default_rng(0).integers(0, 9, size=(40, 6)).astype(float)
    # One start in ten does not settle here, and warnings are errors.
    for seed in range(15):
        ICA(6, random_state=seed).fit(X)
    # Here none settles with all components at once.
    X[:20, 0] += 5
    model = ICA(6, random_state=0).fit(X)
    np.testing.assert_allclose(np.cov(model.transform(X).T), np.eye(6), atol=1e-9)


def test_what_is_not_settled_is_told():
    _, X = mixed()
    with pytest.warns(ConvergenceWarning, match="ica is not settled after max_iter=1 iterations"):
        ICA(3, tol=1e-12, max_iter=1, random_state=0).fit(X)


@pytest.mark.parametrize("bad", [{"n_components": 0}, {"fun": "tanh"}, {"tol": 0.0}, {"max_iter": 0}])
def test_bad_parameters_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        ICA(**bad).fit(mixed()[1])


def test_bad_rows_are_refused():
    with pytest.raises(TamisError, match="at least 2 rows"):
        ICA().fit(np.ones((1, 3)))
    with pytest.raises(ValueError, match="NaN"):
        ICA().fit(np.array([[1.0, np.nan], [0.0, 1.0]]))
