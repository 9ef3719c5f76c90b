"""RLSC against scikit-learn's kernel ridge regression, refits without a row, and single machines; bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given as drawn
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.utils._param_validation import InvalidParameterError

import tamis
from tamis.base.errors import TamisError
from tamis.base.shared_fit import Together
from tamis.classify import RLSC
from tamis.classify.rlsc import rlsc as module
from tamis.margins.kernel_width import MULTIPLES, spread_width
from tamis.validation.whole import validate

KERNELS = {
    "linear": linear_kernel,
    "gaussian": lambda X, Z: rbf_kernel(X, Z, gamma=1 / 5),
    "polynomial": lambda X, Z: polynomial_kernel(X, Z, degree=2, gamma=1 / 5, coef0=0.5),
}
OPTIONS = {"sigma": 5.0, "degree": 2, "coef0": 0.5}


def problem(rows=50, columns=7, classes=2, seed=0):
    """Rows with many zeros, codes of classes of different size, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.6)
    y = np.arange(rows) % (classes + 1) % classes
    X[:, 0] += y
    return X, y, rng.random(rows) + 0.1


def signs(y):
    """A column of +1 and -1 for each machine."""
    return np.where(y[:, None] == (np.arange(y.max() + 1) if y.max() > 1 else [1]), 1.0, -1.0)


def oracle(kernel, X, y, Z, alpha, weight=None):
    """Decisions of scikit-learn's kernel ridge regression of the codes, a column for each machine."""
    model = KernelRidge(alpha=alpha, kernel="precomputed").fit(KERNELS[kernel](X, X), signs(y), sample_weight=weight)
    return model.predict(KERNELS[kernel](Z, X))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)], ids=["dense", "sparse", "float32"]
)
def test_it_is_kernel_ridge_regression_of_the_codes(kernel, classes, form):
    X, y, weight = problem(classes=classes)
    Z = problem(30, seed=1)[0]
    X, Z = form(X), form(Z)
    dense, other = (np.asarray(M.toarray() if sp.issparse(M) else M, dtype=np.float64) for M in (X, Z))
    for given in (None, weight):
        total = len(y) if given is None else given.sum()
        model = RLSC(kernel, 0.02, **OPTIONS).fit(X, y, sample_weight=given)
        expected = oracle(kernel, dense, y, other, 0.02 * total, given)
        found = model.decision_function(Z)
        np.testing.assert_allclose(found.reshape(len(other), -1), expected, rtol=1e-6, atol=1e-9)
        labels = (expected[:, 0] > 0).astype(int) if classes == 2 else expected.argmax(axis=1)
        np.testing.assert_array_equal(model.predict(Z), labels)


def test_the_linear_kernel_is_ridge_classification_without_an_intercept():
    X, y, _ = problem(40, 90)
    model, peer = RLSC("linear", 0.5).fit(X, y), RidgeClassifier(alpha=20.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], np.ravel(peer.coef_), rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_errors_on_rows_left_out_are_those_of_refits(kernel, classes, class_weight):
    X, y, _ = problem(25, classes=classes)
    model = RLSC(kernel, class_weight=class_weight, **OPTIONS).fit(X, y)
    size = np.bincount(y)
    cost = len(y) / (size.size * size[y]) if class_weight else np.ones(len(y))
    candidates = model.candidates_[0]
    assert candidates.shape == (41, 3)
    for place in (0, 15, 25):
        _, penalty, error = candidates[place]
        squares = np.zeros(len(y))
        for row in range(len(y)):
            others = np.delete(np.arange(len(y)), row)
            codes = signs(y)
            peer = KernelRidge(alpha=len(y) * penalty, kernel="precomputed")
            peer.fit(KERNELS[kernel](X[others], X[others]), codes[others], sample_weight=cost[others])
            squares[row] = np.mean((codes[row] - peer.predict(KERNELS[kernel](X[[row]], X[others]))[0]) ** 2)
        np.testing.assert_allclose(error, np.sqrt(np.average(squares, weights=cost)), rtol=1e-6)
    best = candidates[candidates[:, 2].argmin(), 1]
    np.testing.assert_allclose(model.penalties_, [best])
    given = RLSC(kernel, float(best), class_weight=class_weight, **OPTIONS).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), given.decision_function(X), rtol=1e-6, atol=1e-8)


def test_weighted_rows_are_left_out_as_copies_or_as_a_whole():
    X, y, weight = problem(30)
    counts = np.random.default_rng(1).integers(0, 4, 30)
    counted = RLSC(sigma="auto").fit(X, y, sample_weight=counts)
    repeated = RLSC(sigma="auto").fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(counted.candidates_[0], repeated.candidates_[0], rtol=1e-6)
    _, penalty, error = RLSC(**OPTIONS).fit(X, y, sample_weight=weight).candidates_[0][20]
    squares = []
    for row in range(30):
        others = np.delete(np.arange(30), row)
        alpha = weight.sum() * penalty
        found = oracle("gaussian", X[others], y[others], X[[row]], alpha, weight[others])
        squares.append((signs(y)[row, 0] - found[0, 0]) ** 2)
    np.testing.assert_allclose(error, np.sqrt(np.average(squares, weights=weight)), rtol=1e-6)


def test_the_width_is_the_one_of_the_smallest_error():
    X, y, _ = problem()
    widths = spread_width(X, np.ones(len(y))) * MULTIPLES
    each = [RLSC(sigma=float(width)).fit(X, y) for width in widths]
    errors = [one.candidates_[0][:, 2].min() for one in each]
    model = RLSC(sigma="auto").fit(X, y)
    np.testing.assert_allclose(model.sigmas_, [widths[np.argmin(errors)]])
    np.testing.assert_allclose(model.decision_function(X), each[np.argmin(errors)].decision_function(X), rtol=1e-7)
    assert RLSC().fit(X, y).sigmas_ == pytest.approx(widths[2])
    # With a given penalty the widths are compared by it alone.
    assert RLSC(penalty=0.1, sigma="auto").fit(X, y).candidates_[0].shape == (7, 3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_machines_average_to_the_mean_of_single_ones(kernel):
    X, y, _ = problem(60, classes=3)
    Z = problem(20, seed=1)[0]
    model = RLSC(kernel, 0.05, n_estimators=4, max_samples=0.3, random_state=3, **OPTIONS).fit(X, y)
    # The rows of a machine are those that the same seed draws for it.
    drawn = list(model._draw(X, y, np.ones(60)))
    assert len(drawn) == 4
    assert {tuple(np.bincount(y[own > 0])) for own in drawn} == {tuple(np.round(0.3 * np.bincount(y)).astype(int))}
    assert len({tuple(np.flatnonzero(own)) for own in drawn}) == 4
    single = [RLSC(kernel, 0.05, **OPTIONS).fit(X[own > 0], y[own > 0]).decision_function(Z) for own in drawn]
    np.testing.assert_allclose(model.decision_function(Z), np.mean(single, axis=0), rtol=1e-9, atol=1e-12)


def test_all_rows_in_one_machine_are_the_single_model():
    X, y, _ = problem()
    one, many = RLSC(sigma="auto").fit(X, y), RLSC(sigma="auto", n_estimators=9, random_state=1).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), many.decision_function(X))
    assert many.penalties_.shape == many.sigmas_.shape == (1,)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_machines_of_several_widths(form):
    X, y, weight = problem(80)
    options = {"sigma": "auto", "n_estimators": 12, "max_samples": 0.2, "random_state": 0}
    model = RLSC(**options).fit(form(X), y, sample_weight=weight)
    assert model.widths_.size > 1
    assert set(model.sigmas_) == set(model.widths_)
    assert model.dual_coef_.shape == (model.widths_.size, model.support_.size, 1)
    vectors = model.support_vectors_
    np.testing.assert_array_equal(vectors.toarray() if sp.issparse(vectors) else vectors, X[model.support_])
    again = RLSC(**options).fit(form(X), y, sample_weight=weight)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    other = RLSC(**{**options, "random_state": 1}).fit(form(X), y, sample_weight=weight)
    assert not np.array_equal(other.decision_function(X), model.decision_function(X))


def test_copies_of_a_row_are_drawn_like_rows():
    X, y, _ = problem(40)
    counts = np.random.default_rng(1).integers(0, 4, 40)
    model = RLSC(n_estimators=5, max_samples=0.3, random_state=0)
    weighted = model.fit(X, y, sample_weight=counts).decision_function(X)
    repeated = model.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("machines", [{}, {"n_estimators": 3, "max_samples": 0.5, "random_state": 0}])
def test_fitted_together_they_are_what_they_are_alone(machines):
    X, y, _ = problem(classes=3)
    models = [
        RLSC(kernel, penalty, class_weight=balance, **{**OPTIONS, "sigma": sigma}, **machines)
        for kernel, sigma in (("gaussian", "auto"), ("gaussian", 2.0), ("linear", 1.0), ("polynomial", 3.0))
        for penalty in (0.01, 1, "auto")
        for balance in (None, "balanced")
    ]
    models += [RLSC(penalty=float(penalty), **machines) for penalty in np.geomspace(1e-4, 1.0, 20)]
    for alone, shared in zip(models, Together(models, X, y), strict=True):
        alone.fit(X, y)
        np.testing.assert_allclose(shared.penalties_, alone.penalties_)
        np.testing.assert_allclose(shared.decision_function(X), alone.decision_function(X), rtol=1e-7, atol=1e-9)


@drawn(st.integers(2, 12), st.integers(1, 12), st.integers(2, 3), st.integers(0, 10_000))
def test_any_shape_has_a_finite_model(rows, columns, classes, seed):
    rng = np.random.default_rng(seed)
    X, y = np.round(rng.normal(size=(rows, columns)), 1), np.arange(rows) % min(rows, classes)
    for model in (RLSC(), RLSC("linear"), RLSC(penalty=1e-9), RLSC(n_estimators=3, max_samples=0.3, random_state=0)):
        assert np.isfinite(model.fit(X, y).decision_function(X)).all()


def test_rows_of_zeros_and_equal_rows_of_two_classes():
    y = np.array([0, 1, 1])
    for model in (RLSC("linear"), RLSC(), RLSC("polynomial")):
        assert np.isfinite(model.fit(np.zeros((3, 2)), y).decision_function(np.zeros((3, 2)))).all()
    # The larger class wins where rows tell nothing, unless classes are balanced.
    assert RLSC(penalty=0.01).fit(np.zeros((3, 2)), y).predict(np.zeros((1, 2))) == [1]
    np.testing.assert_allclose(
        RLSC(penalty=0.01, class_weight="balanced").fit(np.zeros((3, 2)), y).decision_function(np.zeros((1, 2))), 0.0
    )


def test_many_columns_enter_by_the_products_of_the_rows():
    X = sp.random(40, 100_000, 0.001, format="csr", random_state=0, dtype=np.float32)
    y = np.arange(40) % 2
    model = RLSC().fit(X, y)
    assert model.decision_function(X).shape == (40,)
    assert RLSC("linear").fit(X, y).coef_.shape == (1, 100_000)


def test_what_it_refuses(monkeypatch):
    X, y, _ = problem(20)
    with pytest.raises(InvalidParameterError, match="'penalty' parameter of RLSC"):
        RLSC(penalty=0.0).fit(X, y)
    with pytest.raises(InvalidParameterError, match="'max_samples' parameter of RLSC"):
        RLSC(max_samples=1.5).fit(X, y)
    with pytest.raises(InvalidParameterError, match="'coef0' parameter of RLSC"):
        RLSC("polynomial", coef0=-1.0).fit(X, y)
    with pytest.raises(TamisError, match="the polynomial kernel overflows"):
        RLSC("polynomial", degree=400, sigma=1e-3).fit(X, y)
    with pytest.raises(TamisError, match="no row of class 1 has a sample weight above zero"):
        RLSC().fit(X, y, sample_weight=1.0 * (y == 0))
    monkeypatch.setattr(module, "_MOST_ROWS", 15)
    with pytest.raises(TamisError, match=r"a machine of 20 rows .* at most 15 rows are taken, so fit several machines"):
        RLSC().fit(X, y)
    assert RLSC(n_estimators=2, max_samples=0.5).fit(X, y).penalties_.shape == (2,)


def test_it_learns_what_no_line_separates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    for text in ("rlsc(sigma=auto)", "rlsc(n_estimators=15, max_samples=0.2)"):
        assert validate(text, X, y, folds=3, seed=0).estimates["ber"].mean < 0.1
    assert validate("rlsc(linear)", X, y, folds=3, seed=0).estimates["ber"].mean > 0.3


def test_the_model_keeps_rows_of_its_own():
    X, y, _ = problem()
    Z = problem(10, seed=1)[0]
    model = RLSC().fit(X, y)
    expected = model.decision_function(Z)
    X[:] = 0.0
    np.testing.assert_array_equal(model.decision_function(Z), expected)


def test_the_recipe_names_it():
    assert tamis.recipe("rlsc(linear, 0.5)").get_params()["penalty"] == 0.5
