"""LVQ against Kohonen's rules written out, GLVQ against differences and against sklvq's optimum; bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.classify import KNN, LVQ
from tamis.classify.lvq.beginning import Prototypes, first_prototypes
from tamis.classify.lvq.generalized import cost_and_slope
from tamis.compose.recipe import recipe, to_text
from tamis.kernels import lvq as kernels
from tamis.kernels.lvq import dense_lvq, sparse_lvq
from tamis.kernels.sparse import stored_arrays
from tamis.margins.kernel import squared_norms

FORMS = [np.asarray, sp.csr_array, sp.csc_matrix]
BY_ROW = ["lvq1", "olvq1", "lvq21", "lvq3"]
METHODS = ["glvq", *BY_ROW]


def problem(n_classes: int = 2, rows: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two clusters of each class, with zeros."""
    rng = np.random.default_rng(seed)
    cluster = rng.permutation(np.arange(rows) % (2 * n_classes))
    X = rng.normal(size=(2 * n_classes, 6))[cluster] * 2 + rng.normal(size=(rows, 6))
    X[np.abs(X) < 0.4] = 0.0
    return X, cluster % n_classes


def trained(X, y, order, classes, method, rate, window, epsilon, points):
    """Kohonen's rules, one row after another."""
    m, own = points.copy(), np.full(len(classes), rate)
    for t, i in enumerate(order):
        now, apart = rate * (1 - t / len(order)), np.sqrt(((X[i] - m) ** 2).sum(axis=1))
        first, second = np.argsort(apart, kind="stable")[:2]
        right = classes[[first, second]] == y[i]
        sign = np.where(right, 1.0, -1.0)
        if method == "lvq1":
            m[first] += sign[0] * now * (X[i] - m[first])
        elif method == "olvq1":
            own[first] = min(own[first] / (1 + sign[0] * own[first]), rate)
            m[first] += sign[0] * own[first] * (X[i] - m[first])
        elif right[0] != right[1]:
            if min(apart[first] / apart[second], apart[second] / apart[first]) > (1 - window) / (1 + window):
                for k, s in zip((first, second), sign, strict=True):
                    m[k] += s * now * (X[i] - m[k])
        elif right[0] and method == "lvq3":
            for k in (first, second):
                m[k] += epsilon * now * (X[i] - m[k])
    return m


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", BY_ROW)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_training_follows_the_rules(method, n_classes, form) -> None:
    X, y = problem(n_classes)
    rng = generator(3)
    begin = first_prototypes(X, y, 2, "rows", rng)
    points = begin.points
    rates = {"lvq1": 0.05, "olvq1": 0.3, "lvq21": 0.02, "lvq3": 0.02}
    for step in ("olvq1", method) if method in ("lvq21", "lvq3") else (method,):
        order = np.concatenate([rng.permutation(y.size) for _ in range(4)])
        points = trained(X, y, order, begin.classes, step, rates[step], 0.2, 0.2, points)
    found = LVQ(2, method, init="rows", max_iter=4, random_state=3).fit(form(X), y)
    np.testing.assert_allclose(found.prototypes_, points, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(found.prototype_classes_, begin.classes)
    np.testing.assert_array_equal(found.predict(form(X)), begin.classes[cdist(X, points).argmin(axis=1)])


@given(st.data())
@settings(deadline=None, max_examples=50)
def test_the_kernels_equal_their_twin(data) -> None:
    n, p, k = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6)), data.draw(st.integers(2, 4))
    values = st.sampled_from([0.0, 0.0, 1.0, -1.5, 0.25])
    X = np.array(data.draw(st.lists(values, min_size=n * p, max_size=n * p))).reshape(n, p)
    # Distances to prototypes off the grid of the values do not tie.
    points = np.random.default_rng(data.draw(st.integers(0, 9))).normal(size=(k, p))
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    classes = np.sort(np.array([0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=k - 2, max_size=k - 2))]))
    order = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=12)))
    rate, window = data.draw(st.sampled_from([0.01, 0.3, 0.9])), data.draw(st.sampled_from([0.1, 0.5]))
    for method, code in zip(BY_ROW, (kernels.LVQ1, kernels.OLVQ1, kernels.LVQ21, kernels.LVQ3), strict=True):
        expected = trained(X, y, order, classes, method, rate, window, 0.3, points)
        settings_ = (order, classes, code, rate, (1 - window) / (1 + window), 0.3)
        for kernel, rows in ((dense_lvq, (X,)), (sparse_lvq, stored_arrays(sp.csr_array(X)))):
            found = points.copy()
            kernel(*rows, y, *settings_, found)
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_sparse_prototypes_survive_many_steps() -> None:
    X, y = problem()
    X[:, 5] = 0.0
    order = np.random.default_rng(0).integers(0, y.size, 4000)
    points, classes = np.random.default_rng(1).normal(size=(2, 6)), np.array([0, 1])
    expected = trained(X, y, order, classes, "lvq1", 0.3, 0.2, 0.2, points)
    found = points.copy()
    sparse_lvq(*stored_arrays(sp.csr_array(X)), y, order, classes, kernels.LVQ1, 0.3, 0.67, 0.2, found)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_slope_of_the_smooth_cost_is_that_of_differences(form) -> None:
    X, y = problem(3)
    begin = first_prototypes(X, y, 2, "rows", generator(0))
    moved = begin.points + 0.1

    def cost(flat: np.ndarray) -> float:
        points = flat.reshape(moved.shape)
        apart, own = cdist(X, points, "sqeuclidean"), begin.classes == y[:, None]
        right, wrong = np.where(own, apart, np.inf).min(axis=1), np.where(own, np.inf, apart).min(axis=1)
        return float(expit(3.0 * (right - wrong) / (right + wrong)).mean())

    value, slope = cost_and_slope(form(X), squared_norms(X), y, Prototypes(moved, begin.classes), 3.0)
    assert value == pytest.approx(cost(moved.ravel()))
    h, units = 1e-6, np.eye(moved.size)
    expected = [(cost(moved.ravel() + h * e) - cost(moved.ravel() - h * e)) / (2 * h) for e in units]
    np.testing.assert_allclose(slope.ravel(), expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(("load", "cost"), [(load_iris, 0.245151003), (load_wine, 0.262277263)])
def test_the_smooth_cost_ends_where_sklvq_ends(load, cost) -> None:
    # sklvq 0.1.2: GLVQ with squared distances, a sigmoid of slope 2, L-BFGS, a prototype a class from its mean.
    X, y = load(return_X_y=True)
    found = LVQ(1, beta=2.0, max_iter=1000).fit(StandardScaler().fit_transform(X), y)
    assert found.cost_ == pytest.approx(cost, abs=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_training_lowers_the_smooth_cost(form) -> None:
    X, y = problem()
    costs = [LVQ(2, max_iter=steps, random_state=0).fit(form(X), y).cost_ for steps in (1, 5, 200)]
    assert costs[0] > costs[1] > costs[2]


def test_the_beginning() -> None:
    X, y = problem(3, rows=31)
    found = first_prototypes(X, y, 2, "kmeans", generator(0))
    rng = generator(0)
    for c in range(3):
        truth = KMeans(2, n_init=1, random_state=int(rng.integers(2**31))).fit(X[y == c]).cluster_centers_
        np.testing.assert_allclose(found.points[found.classes == c], truth)
    np.testing.assert_allclose(
        first_prototypes(sp.csr_array(X), y, 1, "kmeans", generator(0)).points,
        [X[y == c].mean(axis=0) for c in range(3)],
    )
    drawn = first_prototypes(X, y, 4, "rows", generator(0))
    assert all(any((X[y == c] == m).all(axis=1)) for m, c in zip(*drawn, strict=True))
    every = first_prototypes(X, y, 50, "rows", generator(0))
    np.testing.assert_array_equal(every.points, np.concatenate([X[y == c] for c in range(3)]))


@pytest.mark.parametrize("method", METHODS)
def test_clusters_are_learned(method) -> None:
    X, y = problem(3, rows=300)
    assert (LVQ(2, method, random_state=0).fit(X[::2], y[::2]).predict(X[1::2]) == y[1::2]).mean() > 0.85


@pytest.mark.parametrize("method", METHODS)
def test_rows_far_from_zero_and_large_units_change_nothing(method) -> None:
    X, y = problem()
    expected = LVQ(2, method, random_state=0).fit(X, y).decision_function(X)
    moved = 1e3 * X + 2.0**30
    np.testing.assert_allclose(
        LVQ(2, method, random_state=0).fit(moved, y).decision_function(moved), expected, atol=1e-4
    )


def test_evidence_is_the_relative_distance() -> None:
    X, y = problem()
    found = LVQ(2, random_state=0).fit(X, y)
    apart = cdist(X, found.prototypes_, "sqeuclidean")
    first, second = (apart[:, found.prototype_classes_ == c].min(axis=1) for c in (0, 1))
    np.testing.assert_allclose(found.decision_function(X), (first - second) / (first + second), rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_equal_rows_and_small_classes(method) -> None:
    X, y = np.repeat([[0.0, 1.0], [2.0, 0.0], [5.0, 5.0]], [6, 6, 1], axis=0), np.repeat([0, 1, 2], [6, 6, 1])
    found = LVQ(3, method, random_state=0).fit(X, y)
    assert np.bincount(found.prototype_classes_).tolist() == [3, 3, 1]
    assert found.predict(X).tolist() == y.tolist()


def test_every_row_a_prototype_is_the_nearest_neighbour() -> None:
    X, y = problem()
    Z = problem(seed=1)[0]
    # A rate near zero leaves them where they are.
    found = LVQ(99, "lvq1", init="rows", learning_rate=1e-12, max_iter=1).fit(X, y)
    np.testing.assert_array_equal(found.predict(Z), KNN(1).fit(X, y).predict(Z))


def test_the_recipe() -> None:
    assert to_text(recipe("standardize | lvq(3, method=olvq1)")) == to_text(recipe("standardize | lvq(3, olvq1)"))


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        (np.array([[1.0], [np.nan]]), [0, 1], "NaN"),
        (np.eye(2), [1, 1], "one class"),
        (np.array([[1e200], [-1e200]]), [0, 1], "squared distances overflow"),
    ],
)
def test_bad_input_is_refused(X, y, says) -> None:
    with pytest.raises(ValueError, match=says):
        LVQ().fit(X, y)
    if "overflow" in says:
        with pytest.raises(TamisError, match=says):
            LVQ(1).fit(np.eye(2), y).predict(X @ np.ones((1, 2)))


def test_every_kernel_declares_the_types_it_is_called_with() -> None:
    X, y = problem()
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for form in (X, X.astype(np.float32), np.asfortranarray(X), sp.csr_array(X), wide):
        LVQ(2, "lvq3", max_iter=1, random_state=0).fit(form, y)
    for each in (dense_lvq, sparse_lvq):
        used = set(each._ready)
        each.warm()
        assert used <= each._ready
        assert len(each._ready) == len(each.signatures)
