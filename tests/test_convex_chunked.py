"""Convex networks beyond memory: the same optimum in chunks as in memory, scipy, the searches, bad input."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from tamis.base.errors import TamisError
from tamis.base.shared_fit import Together
from tamis.classify import ConvexNet
from tamis.classify.convex_net.chunks import most_values
from tamis.margins.convex import LOSSES
from tamis.margins.kernel import kernel_values

#: MiB of working memory: some 5,000 values may be held, three rows of 200 at a time.
SMALL = 0.05


def rows_of(seed, n=200, columns=5, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    evidence = X[:, 0] * X[:, 1] + 0.5 * X[:, -1] + 0.5 * rng.normal(size=n)
    return X, np.digitize(evidence, np.quantile(evidence, np.arange(1, n_classes) / n_classes))


def in_chunks(X, y, weight=None, memory=SMALL, **options):
    with config_context(working_memory=memory):
        return ConvexNet(**options).fit(X, y, weight)


def assert_equal(chunked, whole, X, tol=1e-6):
    np.testing.assert_allclose(chunked.objective_, whole.objective_, rtol=1e-9)
    expected = whole.decision_function(X)
    np.testing.assert_allclose(chunked.decision_function(X), expected, atol=tol * np.abs(expected).max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", ["identity", "gram"])
@pytest.mark.parametrize(("low", "high"), [(None, None), (0.0, None), (-0.05, 0.1), (0.02, 0.3)])
def test_chunks_find_the_optimum_that_memory_does(loss, shape, low, high):
    X, y = rows_of(0)
    options = {"loss": loss, "shape": shape, "low": low, "high": high, "kernel": "gaussian", "penalty": 0.1}
    chunked, whole = in_chunks(X, y, **options), ConvexNet(**options).fit(X, y)
    assert_equal(chunked, whole, X)


@pytest.mark.parametrize("kernel", ["cosine", "linear", "polynomial", "exponential", "sigmoid"])
def test_other_kernels(kernel):
    X, y = rows_of(1, 150)
    options = {"kernel": kernel, "loss": "squared_hinge", "penalty": 0.5}
    assert_equal(in_chunks(X, y, **options), ConvexNet(**options).fit(X, y), X)


@pytest.mark.parametrize("shape", ["identity", "gram"])
def test_weights_equal_rows_and_sparse_rows(shape):
    X, y = rows_of(2, 160)
    X[np.abs(X) < 0.5] = 0.0
    X[-20:], y[-20:] = X[:20], y[:20]
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], size=160)
    options = {"shape": shape, "kernel": "gaussian", "penalty": 0.2, "class_weight": "balanced"}
    whole = ConvexNet(**options).fit(X, y, weight)
    assert_equal(in_chunks(X, y, weight, **options), whole, X)
    assert_equal(in_chunks(sp.csr_array(X), y, weight, **options), whole, X)


def test_a_matrix_of_ones_own_and_bounds_for_each():
    X, y = rows_of(3, 120)
    square = np.random.default_rng(1).normal(size=(120, 120))
    options = {"shape": square @ square.T / 120 + 0.1 * np.eye(120), "kernel": "gaussian"}
    assert_equal(in_chunks(X, y, **options), ConvexNet(**options).fit(X, y), X)
    options |= {"low": np.where(np.arange(120) % 3, -0.1, 0.0), "high": np.where(np.arange(120) % 3, 0.2, 0.0)}
    assert_equal(in_chunks(X, y, **options), ConvexNet(**options).fit(X, y), X)


def test_networks_of_several_classes_and_parameters_share_their_passes():
    X, y = rows_of(4, 150, n_classes=3)
    nets = [ConvexNet(kernel="gaussian", loss=loss, penalty=p) for loss in LOSSES for p in (0.1, 1.0)]
    with config_context(working_memory=SMALL):
        together = list(Together(nets, X, y))
    for one, net in zip(together, nets, strict=True):
        assert_equal(one, net.fit(X, y), X)


def test_at_the_optimum_no_coefficient_wants_to_move():
    X, y = rows_of(5)
    signs = np.where(y == 1, 1.0, -1.0)
    model = in_chunks(X, y, kernel="gaussian", penalty=0.1, low=0.0, high=0.3)
    coef = np.zeros(200)
    coef[model.support_] = model.coef_[0]
    coef *= signs
    K = kernel_values("gaussian", X, sigma=model.sigma_) * signs * signs[:, None]
    slope = -K @ (1.0 / (1.0 + np.exp(K @ coef))) + 0.2 * coef
    slack = 2e-9 * np.abs(K).sum(axis=1).max()
    assert (slope[coef < 0.3] > -slack).all()
    assert (slope[coef > 0.0] < slack).all()
    assert 0 < (coef == 0.0).sum() < 200


def test_scipy_finds_the_same():
    X, y = rows_of(6, 120)
    signs = np.where(y == 1, 1.0, -1.0)
    model = in_chunks(X, y, kernel="gaussian", penalty=0.1, loss="squared_hinge")
    K = kernel_values("gaussian", X, sigma=model.sigma_) * signs * signs[:, None]

    def both(a):
        short = np.maximum(0.0, 1.0 - K @ a)
        return short @ short + 0.1 * a @ a, -2.0 * K @ short + 0.2 * a

    found = minimize(both, np.zeros(120), jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 10_000})
    assert model.objective_[0] == pytest.approx(found.fun, rel=1e-9)
    coef = np.zeros(120)
    coef[model.support_] = model.coef_[0]
    np.testing.assert_allclose(coef * signs, found.x, atol=1e-5)


# Basis functions of one's own


def columns_of(X):
    return X.toarray() if sp.issparse(X) else X


def squares_of(X):
    return np.column_stack([X, X**2, np.ones(X.shape[0])])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("low", "high"), [(None, None), (-0.2, 0.5)])
def test_few_basis_functions_on_many_rows(loss, low, high):
    X, y = rows_of(7, 3000)
    options = {"basis": squares_of, "loss": loss, "low": low, "high": high}
    assert_equal(in_chunks(X, y, **options), ConvexNet(**options).fit(X, y), X)
    matrix = np.diag(np.linspace(0.0, 5.0, 11))
    options["shape"] = matrix
    assert_equal(in_chunks(X, y, **options), ConvexNet(**options).fit(X, y), X)


@pytest.mark.parametrize("low", [None, 0.0])
def test_many_basis_functions_on_few_rows_and_on_many(low):
    X, y = rows_of(8, 150)
    directions = np.random.default_rng(2).normal(size=(5, 120))

    def ridges(rows):
        return np.maximum(0.0, columns_of(rows) @ directions)

    options = {"basis": ridges, "low": low, "penalty": 3.0}
    whole = ConvexNet(**options).fit(X, y)
    for memory in (SMALL, 0.2):
        assert_equal(in_chunks(X, y, memory=memory, **options), whole, X)
    assert_equal(in_chunks(sp.csr_array(X), y, **options), whole, X)


def test_rows_are_given_to_the_basis_in_pieces():
    X, y = rows_of(9, 3000)
    seen = []

    def basis(rows):
        seen.append(rows.shape[0])
        return rows

    model = in_chunks(X, y, basis=basis)
    assert max(seen) <= 200
    seen.clear()
    with config_context(working_memory=SMALL):
        evidence = model.decision_function(X)
    assert len(seen) > 1
    np.testing.assert_allclose(evidence, X @ model.coef_[0])
    with pytest.raises(TamisError, match="returned 4 columns for some rows and 5 for others"):
        in_chunks(X, y, basis=lambda rows: rows if rows.shape[0] == most_root() else rows[:, :4])


def most_root():
    return int(np.sqrt(most_values()))


# The searches


@pytest.mark.parametrize("search", ["sfs", "pta", "sffs"])
@pytest.mark.parametrize("shape", ["identity", "gram"])
def test_searches_find_the_same_basis_functions(search, shape):
    X, y = rows_of(10, 150)
    options = {"sparsity": 6, "search": search, "shape": shape, "kernel": "gaussian", "penalty": 0.1}
    chunked, whole = in_chunks(X, y, **options), ConvexNet(**options).fit(X, y)
    np.testing.assert_array_equal(chunked.chosen_[0], whole.chosen_[0])
    np.testing.assert_allclose(chunked.path_, whole.path_, rtol=1e-9)
    assert_equal(chunked, whole, X)


def test_searches_of_other_networks():
    X, y = rows_of(11, 120, n_classes=3)
    weight = np.random.default_rng(3).choice([0.5, 1.0, 2.0], size=120)
    for options in (
        {"loss": "exponential", "low": 0.0, "high": 0.5},
        {"loss": "squared_hinge", "exhaustive": True, "search": "sfs"},
        {"basis": lambda rows: np.tile(rows, (1, 10)) ** np.arange(1, 51)[None] / 10.0 ** np.arange(1, 51)},
    ):
        chunked = in_chunks(X, y, weight, sparsity=3, **options)
        whole = ConvexNet(3, **options).fit(X, y, weight)
        for one, other in zip(chunked.chosen_, whole.chosen_, strict=True):
            np.testing.assert_array_equal(one, other)
        assert_equal(chunked, whole, X)


# Bad input, and memory


def test_bad_input():
    X, y = rows_of(12)
    with pytest.raises(TamisError, match="which memory does for 24; give a smaller 'sparsity'"):
        in_chunks(X, y, sparsity=40, search="sfs")
    with pytest.raises(TamisError, match=r"reach \S+; scale the columns first"):
        in_chunks(1e60 * X, y, kernel="linear")
    with pytest.raises(TamisError, match=r"reach \S+; scale the columns first"):
        in_chunks(1e60 * X, y, kernel="linear", sparsity=2)
    with pytest.raises(TamisError, match="too large to be held; scale the columns, or move 'low'"):
        in_chunks(1e3 * X, y, kernel="linear", loss="exponential", low=100.0)
    with pytest.raises(TamisError, match="'penalty' times 'shape' of convex_net"):
        in_chunks(X, y, penalty=1e308)
    with pytest.raises(TamisError, match="kernel overflows"):
        in_chunks(X, y, kernel="polynomial", degree=2000)
    with pytest.warns(ConvergenceWarning, match="not settled to tol=1e-09"):
        in_chunks(X, y, max_iter=1, penalty=1e-6)


def test_rows_of_zeros_and_coefficients_without_a_choice():
    y = np.arange(120) % 2
    assert in_chunks(np.zeros((120, 2)), y, kernel="linear", shape=np.eye(120)).support_.size == 0
    held = in_chunks(*rows_of(13), low=0.0, high=0.0)
    assert held.support_.size == 0
    fixed = in_chunks(*rows_of(13), low=0.1, high=0.1)
    np.testing.assert_allclose(np.abs(fixed.coef_), 0.1)


@pytest.mark.slow
def test_the_default_memory_is_kept_with_a_matrix_several_times_as_large():
    X, y = rows_of(14, 20_000, 4)
    tracemalloc.start()
    model = ConvexNet(kernel="gaussian", shape="gram", tol=1e-6).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The matrix alone takes 3.2 GB.
    assert peak < 1.6e9
    assert model.score(X[:2000], y[:2000]) > 0.8
