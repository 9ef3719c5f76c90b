"""G-flip against the paper's algorithm written out and against its own promise, that no flip helps; bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from tamis.base.cut import NothingPasses
from tamis.base.seeds import generator
from tamis.kernels.gflip import flip, flipped_near
from tamis.select import GFlip

UTILITIES = ["linear", "sigmoid", "zero_one"]


def problem(n_classes: int = 2, rows: int = 60, columns: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns of unlike scales with zeros; three tell the classes apart, one is constant."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = rng.normal(size=(rows, columns)) * np.linspace(0.5, 2, columns) * (rng.random((rows, columns)) < 0.8)
    X[:, [1, 4, 6]] += 1.2 * y[:, None]
    X[:, 3] = 0.7
    return X, y


class Paper:
    """The evaluation function of the paper, with all distances computed anew for each set."""

    def __init__(self, X: np.ndarray, y: np.ndarray, utility: str) -> None:
        unit = np.sqrt(X.var(axis=0)[np.ptp(X, axis=0) > 0].mean())
        self.X, self.y, self.utility = X / unit, y, utility
        self.beta = 1.0
        self.beta = 1 / np.abs(self.margins(np.arange(X.shape[1]))).mean() if utility == "sigmoid" else 1.0

    def margins(self, columns) -> np.ndarray:
        Z = self.X[:, sorted(columns)]
        apart = cdist(Z, Z) if Z.shape[1] else np.zeros((len(Z), len(Z)))
        np.fill_diagonal(apart, np.inf)
        alike = self.y == self.y[:, None]
        return (np.where(alike, np.inf, apart).min(axis=1) - np.where(alike, apart, np.inf).min(axis=1)) / 2

    def __call__(self, columns) -> float:
        found = self.margins(columns)
        if self.utility == "linear":
            return float(found.mean())
        # A margin of rounding is one of zero.
        return float(np.mean(expit(self.beta * found) if self.utility == "sigmoid" else found > 1e-9))


def by_the_paper(X: np.ndarray, y: np.ndarray, utility: str, seed: int) -> tuple[set[int], Paper]:
    """Figure 1 of the paper."""
    value, rng = Paper(X, y, utility), generator(seed)
    varies, chosen, flipped = np.flatnonzero(np.ptp(X, axis=0) > 0), set[int](), True
    while flipped:
        flipped = False
        for j in varies[rng.permutation(varies.size)].tolist():
            with_it, without = value(chosen | {j}), value(chosen - {j})
            if j not in chosen and with_it > without + 1e-12:
                chosen, flipped = chosen | {j}, True
            elif j in chosen and without > with_it + 1e-12:
                chosen, flipped = chosen - {j}, True
    return chosen, value


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_set_and_the_order_are_those_of_the_paper(utility, n_classes, form, seed) -> None:
    X, y = problem(n_classes, seed=seed)
    chosen, value = by_the_paper(X, y, utility, seed)
    found = GFlip(utility, random_state=seed).fit(form(X), y)
    assert found.get_support(indices=True).tolist() == sorted(chosen)
    gains = np.array([value(chosen | {j}) - value(chosen - {j}) for j in range(X.shape[1])])
    np.testing.assert_allclose(found.scores_, gains, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.utilities_, [value(chosen)], rtol=1e-9)
    inside = np.isin(found.order_, list(chosen))
    assert inside[: len(chosen)].all()
    for part in (found.scores_[found.order_[inside]], found.scores_[found.order_[~inside]]):
        assert (np.diff(part) <= 1e-9).all()


@pytest.mark.parametrize("utility", UTILITIES)
def test_the_best_of_several_starts_counts(utility) -> None:
    X, y = problem()
    found = GFlip(utility, n_starts=4, random_state=0).fit(X, y)
    value = Paper(X, y, utility)
    assert found.utilities_.shape == (4,)
    assert found.utilities_[0] == pytest.approx(GFlip(utility, random_state=0).fit(X, y).utilities_[0])
    assert found.utilities_.max() == pytest.approx(value(found.get_support(indices=True)))


def test_zero_one_is_the_accuracy_of_the_nearest_other_row() -> None:
    X, y = problem()
    found = GFlip("zero_one", random_state=0).fit(X, y)
    right = cross_val_score(KNeighborsClassifier(1), found.transform(X), y, cv=LeaveOneOut()).mean()
    assert found.utilities_[0] == pytest.approx(right)


@given(st.data())
@settings(deadline=None, max_examples=50)
def test_the_kernels_equal_their_twin(data) -> None:
    size = data.draw(st.lists(st.integers(0, 4), min_size=2, max_size=3))
    n = sum(size) + 1
    size[0] += 1
    starts, y = np.cumsum([0, *size]), np.repeat(np.arange(len(size)), size)
    values = st.sampled_from([0.0, 0.5, -1.0, 2.0])
    x, z = (np.array(data.draw(st.lists(values, min_size=n, max_size=n))) for _ in range(2))
    sign = data.draw(st.sampled_from([1.0, -1.0]))
    squares = (z[:, None] - z) ** 2
    np.fill_diagonal(squares, np.inf)
    expected = squares + sign * (x[:, None] - x) ** 2
    near = np.empty((2, n))
    flipped_near(squares, x, sign, starts, near)
    alike = y[:, None] == y
    np.testing.assert_allclose(near[0], np.where(alike, expected, np.inf).min(axis=1))
    np.testing.assert_allclose(near[1], np.where(alike, np.inf, expected).min(axis=1))
    flip(x, sign, squares)
    np.testing.assert_allclose(squares, expected)


def test_a_class_larger_than_a_tile(monkeypatch) -> None:
    X = np.random.default_rng(0).normal(size=(1100, 3))
    squares = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    near, starts = np.empty((2, 1100)), np.array([0, 1050, 1100])
    flipped_near(squares, X[:, 0].copy(), -1.0, starts, near)
    expected = cdist(X[:, 1:], X[:, 1:], "sqeuclidean")
    np.fill_diagonal(expected, np.inf)
    alike = (np.arange(1100) < 1050)[:, None] == (np.arange(1100) < 1050)
    np.testing.assert_allclose(near[0], np.where(alike, expected, np.inf).min(axis=1), atol=1e-9)
    np.testing.assert_allclose(near[1], np.where(alike, np.inf, expected).min(axis=1), atol=1e-9)


def test_a_search_that_does_not_end_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="still changed in pass 1"):
        found = GFlip(max_iter=1, random_state=0).fit(*problem())
    assert found.n_iter_ == 1


def test_without_a_column_that_helps_the_first_is_selected_with_a_warning() -> None:
    X = np.array([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]])
    with pytest.warns(NothingPasses):
        found = GFlip(random_state=0).fit(X, [0, 0, 1, 1])
    assert found.support_.sum() == 1
    with pytest.warns(NothingPasses):
        GFlip(random_state=0).fit(np.ones((4, 2)), [0, 0, 1, 1])


def test_a_row_alone_in_its_class_is_only_a_miss() -> None:
    X, y = problem(rows=21)
    y[4] = 9
    found = GFlip(random_state=0).fit(X, y)
    assert np.isfinite(found.scores_).all()
    assert np.isfinite(found.utilities_).all()


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        (np.eye(3), [0, 1, 2], "gflip needs a class with two rows or more"),
        (np.array([[1.0], [np.nan], [2.0]]), [0, 0, 1], "NaN"),
        (np.eye(3), [1, 1, 1], "one class"),
    ],
)
def test_bad_input_is_refused(X, y, says) -> None:
    with pytest.raises(ValueError, match=says):
        GFlip().fit(X, y)


def test_every_kernel_declares_the_types_it_is_called_with() -> None:
    X, y = problem()
    for form in (X, X.astype(np.float32), np.asfortranarray(X), sp.csr_array(X), sp.csc_array(X)):
        GFlip(random_state=0).fit(form, y)
    for each in (flipped_near, flip):
        used = set(each._ready)
        each.warm()
        assert used <= each._ready
        assert len(each._ready) == len(each.signatures)
