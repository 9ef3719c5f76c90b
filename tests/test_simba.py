"""Simba against the paper's algorithm written out, its gradient against differences, and its promises; bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from tamis.base.cut import NothingPasses
from tamis.base.seeds import generator
from tamis.kernels.simba import dense_climb, dense_near, sparse_climb, sparse_near
from tamis.kernels.sparse import stored_arrays
from tamis.neighbours.row_margins import usual_beta
from tamis.select import Simba

FORMS = [np.asarray, sp.csr_array, sp.csc_matrix]


def problem(n_classes: int = 2, rows: int = 60, columns: int = 7, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns of unlike scales with zeros; two tell the classes apart, one is constant."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = rng.normal(size=(rows, columns)) * np.linspace(0.5, 2, columns) * (rng.random((rows, columns)) < 0.8)
    X[:, [1, 4]] += 1.2 * y[:, None]
    X[:, 3] = 0.7
    return X, y


def near(X: np.ndarray, y: np.ndarray, i: int, w: np.ndarray) -> tuple[int, int, np.ndarray]:
    """The nearest hit and miss of a row, and all distances from it."""
    apart = np.sqrt((w**2 * (X - X[i]) ** 2).sum(axis=1))
    other = np.where(np.arange(len(y)) == i, np.inf, apart)
    return int(np.where(y == y[i], other, np.inf).argmin()), int(np.where(y == y[i], np.inf, other).argmin()), apart


def compared(y: np.ndarray) -> np.ndarray:
    """The rows that have another one of their class."""
    return np.flatnonzero(np.bincount(y)[y] > 1)


def margins(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    found = []
    for i in compared(y):
        hit, miss, apart = near(X, y, i, w)
        found.append((apart[miss] - apart[hit]) / 2)
    return np.array(found)


def by_the_paper(X, y, utility, seed, n_passes, beta=None, step=1.0, n_starts=1):
    """Figure 2 of the paper, passes over all rows in place of rows drawn; the scores and the utilities."""
    order = np.argsort(y, kind="stable")
    varies = np.ptp(X, axis=0) > 0
    X, y = X[order][:, varies], y[order]
    X = X / np.sqrt(X.var(axis=0).mean())
    rng, n = generator(seed), X.shape[1]
    beta = 1 / np.abs(margins(X, y, np.ones(n))).mean() if beta is None else beta
    found, utilities = [], []
    for start in range(n_starts):
        w = rng.random(n) if start else np.ones(n)
        for _ in range(n_passes):
            for i in rng.permutation(compared(y)):
                hit, miss, apart = near(X, y, i, w)
                margin = (apart[miss] - apart[hit]) / 2
                slope = 1.0 if utility == "linear" else 4 * expit(beta * margin) * expit(-beta * margin)
                by_miss, by_hit = (X[i] - X[miss]) ** 2 / apart[miss], (X[i] - X[hit]) ** 2 / apart[hit]
                w = w + step * slope * 0.5 * (by_miss - by_hit) * w
        w = w / np.abs(w).max()
        at_end = margins(X, y, w)
        utilities.append(at_end.mean() if utility == "linear" else expit(beta * at_end).mean())
        found.append(w**2)
    scores = np.zeros(varies.size)
    scores[varies] = found[int(np.argmax(utilities))]
    return scores, np.array(utilities)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [{}, {"utility": "sigmoid"}, {"utility": "sigmoid", "beta": 3.0, "step": 0.3}, {"n_starts": 3}],
    ids=lambda o: "-".join(map(str, o)),
)
def test_weights_and_order_are_those_of_the_paper(options, n_classes, form) -> None:
    X, y = problem(n_classes)
    expected, utilities = by_the_paper(X, y, seed=5, n_passes=2, **{"utility": "linear", **options})
    found = Simba(3, random_state=5, n_passes=2, **options).fit(form(X), y)
    np.testing.assert_allclose(found.scores_, expected, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(found.utilities_, utilities, rtol=1e-9)
    np.testing.assert_array_equal(found.order_, np.argsort(-expected, kind="stable"))
    np.testing.assert_array_equal(np.flatnonzero(found.support_), np.sort(found.order_[:3]))


@pytest.mark.parametrize("sigmoid", [False, True])
def test_a_step_is_along_the_gradient_of_the_utility(sigmoid) -> None:
    X, y = problem()
    w, beta, i = np.linspace(0.5, 1.5, X.shape[1]), 2.0, 7

    def utility(at: np.ndarray) -> float:
        margin = margins(X, y, at)[i]
        return 4 / beta * expit(beta * margin) if sigmoid else margin

    moved, h = w.copy(), 1e-6
    dense_climb(np.ascontiguousarray(X.T), y, np.array([i]), sigmoid, beta, 0.01, moved)
    slope = [(utility(w + h * e) - utility(w - h * e)) / (2 * h) for e in np.eye(w.size)]
    np.testing.assert_allclose((moved - w) / 0.01, slope, rtol=1e-5, atol=1e-8)


@st.composite
def tables(draw):
    """Rows of few values, so that distances tie and are zero; every class has two rows or more."""
    n, p = draw(st.integers(4, 9)), draw(st.integers(1, 9))
    X = np.array(draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, -2.0, 0.5]), min_size=n * p, max_size=n * p)))
    y = np.array([0, 0, 1, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 4, max_size=n - 4))])
    w = np.array(draw(st.lists(st.sampled_from([0.0, 1.0, -0.5, 2.0]), min_size=p, max_size=p)))
    return X.reshape(n, p), y, w


@given(tables(), st.booleans())
@settings(deadline=None, max_examples=50)
def test_the_kernels_equal_their_twin(table, sigmoid) -> None:
    X, y, w = table
    every = np.arange(y.size)
    expected = w.copy()
    for i in every:
        hit, miss, apart = near(X, y, i, expected)
        margin = (apart[miss] - apart[hit]) / 2
        slope = 4 * expit(margin) * expit(-margin) if sigmoid else 1.0
        change = np.zeros(w.size)
        for place, sign in ((miss, 1.0), (hit, -1.0)):
            if apart[place] > 0:
                change += sign * (X[i] - X[place]) ** 2 / apart[place]
        expected = expected + 0.25 * slope * change * expected
    columns = (np.ascontiguousarray(X.T),)
    rows = (*stored_arrays(sp.csr_array(X)), *stored_arrays(sp.csc_array(X)))
    for climb, distances, stored in ((dense_climb, dense_near, columns), (sparse_climb, sparse_near, rows)):
        found, apart = w.copy(), np.empty((y.size, 2))
        climb(*stored, y, every, sigmoid, 1.0, 0.5, found)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        distances(*stored, y, every, w, apart)
        twin = [near(X, y, i, w) for i in every]
        np.testing.assert_allclose(apart, [[d[hit], d[miss]] for hit, miss, d in twin], rtol=1e-9, atol=1e-7)


def test_columns_that_tell_only_together_are_found_among_many() -> None:
    X = np.random.default_rng(0).normal(size=(300, 40))
    y = X[:, 5] * X[:, 31] > 0
    assert Simba(2, random_state=0).fit(X, y).get_support(indices=True).tolist() == [5, 31]


def test_equal_columns_share_and_constants_get_nothing() -> None:
    X, y = problem()
    found = Simba(random_state=0).fit(np.column_stack([X, X[:, 4], np.zeros(len(y))]), y)
    np.testing.assert_allclose(found.scores_[7], found.scores_[4], rtol=1e-12)
    assert found.scores_[[3, 8]].tolist() == [0, 0]
    assert found.support_.tolist() == [True, True, True, False, True, True, True, True, False]


@pytest.mark.parametrize("utility", ["linear", "sigmoid"])
def test_the_unit_of_the_data_changes_nothing(utility) -> None:
    X, y = problem()
    expected = Simba(random_state=0, utility=utility).fit(X, y).scores_
    for scale in (1e-6, 1e6):
        np.testing.assert_allclose(
            Simba(random_state=0, utility=utility).fit(scale * X, y).scores_, expected, rtol=1e-6
        )


def test_a_row_alone_in_its_class_is_only_a_miss() -> None:
    X, y = problem(rows=21)
    y[4] = 9
    expected, _ = by_the_paper(X, y, "linear", seed=0, n_passes=2)
    np.testing.assert_allclose(Simba(random_state=0, n_passes=2).fit(X, y).scores_, expected, rtol=1e-8)


def test_constants_alone_warn() -> None:
    with pytest.warns(NothingPasses):
        found = Simba(random_state=0).fit(np.ones((6, 3)), [0, 0, 0, 1, 1, 1])
    assert found.scores_.tolist() == [0, 0, 0]
    assert found.support_.tolist() == [True, False, False]


def test_beta_is_one_where_there_are_no_margins() -> None:
    assert usual_beta(np.zeros(3)) == 1.0
    assert usual_beta(np.array([0.5, -0.5])) == 2.0


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        (np.eye(3), [0, 1, 2], "needs a class with two rows or more"),
        (np.array([[1.0], [np.nan], [2.0]]), [0, 0, 1], "NaN"),
        (np.array([[1.0], [np.inf], [2.0]]), [0, 0, 1], "infinity"),
        (np.eye(3), [1, 1, 1], "one class"),
        (np.array([[1e300], [-1e300], [0.0]]), [0, 0, 1], "overflow"),
    ],
)
def test_bad_input_is_refused(X, y, says) -> None:
    with pytest.raises(ValueError, match=says):
        Simba().fit(X, y)


def test_every_kernel_declares_the_types_it_is_called_with() -> None:
    X, y = problem()
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for form in (X, X.astype(np.float32), np.asfortranarray(X), sp.csr_array(X), wide):
        Simba(random_state=0, n_passes=1).fit(form, y)
    for each in (dense_near, dense_climb, sparse_near, sparse_climb):
        used = set(each._ready)
        each.warm()
        assert used <= each._ready
        assert len(each._ready) == len(each.signatures)
