"""Ridge regression with a penalty by rows left out: sets of columns that differ by one, against fits of each."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import RidgeCV

from tamis.base.errors import TamisError
from tamis.compose.parser import parse
from tamis.incremental import column_updates, fallback, ridge_auto, subset_score
from tamis.incremental.registry import evaluator_for
from tamis.incremental.ridge_auto import AutoRidgeEvaluator
from tamis.kernels.left_out import left_out_squares
from tamis.regress import Ridge
from tamis.regress.ridge.normal_equations import EQUAL, FREE, PENALTIES
from tamis.select import PTA, SBS, SFFS, SFS

NOBODY = np.array([], dtype=np.intp)


def problem(seed=0, rows=70, columns=9, kind="normal", noise=1.0):
    """Training rows, their numbers, and 25 test rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + 25, columns)) @ (np.eye(columns) + 0.4 * rng.normal(size=(columns, columns)))
    y = 5.0 + X[:, : min(3, columns)] @ np.array([2.0, -1.0, 0.5])[: min(3, columns)] + noise * rng.normal(size=len(X))
    if kind == "offset":
        X += 10.0 ** rng.integers(0, 6, columns)
    elif kind == "scales":
        X *= 10.0 ** rng.integers(-3, 4, columns)
    elif kind == "binary":
        X = (X > 0.7).astype(float)
    elif kind == "collinear":
        X[:, 1], X[:, 2], X[:, 3] = X[:, 0], X[:, 0] - X[:, 4], 0.1
        X[:, 5] = X[:, 0] + 1e-5 * X[:, 5]
    return X[:rows], y[:rows], X[rows:]


def evaluator(X, y, Z) -> AutoRidgeEvaluator:
    model = Ridge()
    found = evaluator_for(model)(model, X, y, Z)
    assert isinstance(found, AutoRidgeEvaluator)
    return found


def assert_fits(X, y, Z, columns, candidates, atol=1e-7) -> None:
    """Every candidate joins, then every column leaves."""
    one = evaluator(X, y, Z)
    changes = [(one.add(columns, candidates), [np.append(columns, j) for j in candidates])]
    if columns.size > 1:
        changes.append((one.remove(columns, columns), [columns[columns != j] for j in columns]))
    for predicted, sets in changes:
        expected = [fallback.refitted(Ridge(), X[:, some], y, Z[:, some]) for some in sets]
        np.testing.assert_allclose(predicted, expected, atol=atol * y.std(), rtol=0)


@pytest.fixture
def fits(monkeypatch):
    """The sizes of the sets on which the evaluator refits."""
    made = []
    refitted = fallback.refitted

    def counted(model, train, labels, test):
        made.append(train.shape[1])
        return refitted(model, train, labels, test)

    monkeypatch.setattr(fallback, "refitted", counted)
    return made


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(2, 30), st.sampled_from([1, 15, 16, 45]))
@settings(max_examples=25)
def test_the_kernel_is_its_formula(seed, n_axes, n_rows, n_penalties) -> None:
    rng = np.random.default_rng(seed)
    places, target = rng.normal(size=(3, n_axes, n_rows)), rng.normal(size=n_rows)
    inverse, weights = rng.random((3, n_axes, n_penalties)) / 3, rng.normal(size=(3, n_axes, n_penalties))
    squares, free = np.empty((3, n_penalties)), np.empty((3, n_penalties))
    left_out_squares(places, target, inverse, weights, 0.3, squares, free)
    share = 1 - 1 / n_rows - np.einsum("cji,cja->cia", places**2, inverse)
    residual = target[:, None] - np.einsum("cji,cja->cia", places, weights)
    np.testing.assert_allclose(free, share.min(axis=1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(squares, ((residual / np.maximum(share, 0.3)) ** 2).sum(axis=1), rtol=1e-9)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(0, 8),
    kind=st.sampled_from(["normal", "offset", "scales", "binary", "collinear"]),
    noise=st.sampled_from([0.0, 1e-6, 1.0, 30.0]),
    sparse=st.booleans(),
)
def test_predictions_are_those_of_a_fit(seed, size, kind, noise, sparse) -> None:
    X, y, Z = problem(seed, kind=kind, noise=noise)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    if sparse:
        X, Z = sp.csc_array(X), sp.csc_array(Z)
    assert_fits(X, y, Z, order[:size], order[size:])


@pytest.mark.parametrize("rows", [2, 3, 6, 10, 12])
def test_few_rows_and_many_columns(rows) -> None:
    X, y, Z = problem(1, rows=rows, columns=20)
    for size in (0, 1, rows - 2, rows - 1, rows, 15):
        assert_fits(X, y, Z, np.arange(size), np.arange(size, 20))


@pytest.mark.parametrize("noise", [0.0, 1.0, 100.0])
def test_ordinary_data_needs_no_fit(noise, fits) -> None:
    X, y, Z = problem(4, rows=200, columns=12, noise=noise)
    one = evaluator(X, y, Z)
    for size in range(10):
        one.add(np.arange(size), np.arange(size, 12))
        if size > 1:
            one.remove(np.arange(size), np.arange(size))
    assert fits == []


def test_the_penalty_is_that_of_scikit_learn() -> None:
    """RidgeCV leaves out one row at a time too; with the same penalties it selects the same."""
    X, y, Z = problem(2)
    own = np.array([0, 4])
    predicted = evaluator(X, y, Z).add(own, np.array([1, 7]))
    for row, j in zip(predicted, (1, 7), strict=True):
        some = np.append(own, j)
        centred = X[:, some] - X[:, some].mean(axis=0)
        peer = RidgeCV(PENALTIES * np.linalg.eigvalsh(centred.T @ centred)[-1]).fit(X[:, some], y)
        np.testing.assert_allclose(row, peer.predict(Z[:, some]), rtol=1e-7)


def test_a_tie_between_penalties_is_left_to_a_fit(fits) -> None:
    X, y, Z = problem(6)
    alike = np.array([0.1, 0.1 * (1 + 1e-15)])
    predicted = AutoRidgeEvaluator(Ridge(), X, y, Z, alike, free=FREE, equal=EQUAL).add(NOBODY, np.array([0, 1]))
    assert fits == [1, 1]
    np.testing.assert_allclose(predicted, evaluator(X, y, Z).add(NOBODY, np.array([0, 1])), atol=1e-7)
    assert fits == [1, 1]


def test_directions_that_are_rounding_are_left_to_a_fit(fits) -> None:
    X, y, Z = problem(7)
    X[:, 8], X[:, 7] = X[:, 0], 0.1
    evaluator(X, y, Z).add(np.array([0, 1]), np.arange(2, 9))
    assert fits == [3, 3]
    assert_fits(X, y, Z, np.array([0, 1]), np.array([7, 8]))


def test_wide_sets_and_sets_as_wide_as_the_rows_are_fitted(fits, monkeypatch) -> None:
    X, y, Z = problem(3, rows=8, columns=12)
    one = evaluator(X, y, Z)
    one.add(np.arange(6), np.arange(6, 12))
    fits.clear()
    one.add(np.arange(7), np.array([7, 8]))
    one.remove(np.arange(9), np.array([3]))
    assert fits == [8, 8, 8]
    fits.clear()
    monkeypatch.setattr(ridge_auto, "_WIDE", 4)
    one.add(np.arange(3), np.array([5]))
    assert fits == [4]
    assert one.add(np.arange(3), NOBODY).shape == (0, 25)


def test_values_that_overflow_are_left_to_a_fit(fits) -> None:
    X, y, Z = problem()
    X[:, 3] *= 1e200
    with pytest.raises(TamisError, match="Ridge cannot be fitted on a set of 2 columns: array must not contain infs"):
        evaluator(X, y, Z).add(np.array([0]), np.array([1, 3]))
    assert fits == [2]


def test_blocks_do_not_matter(monkeypatch) -> None:
    X, y, Z = problem(3, columns=12)
    columns, candidates = np.arange(4), np.arange(4, 12)
    once = [evaluator(form(X), y, form(Z)).add(columns, candidates) for form in (np.asarray, sp.csc_array)]
    monkeypatch.setattr(column_updates, "NUMBERS", 700)
    monkeypatch.setattr(ridge_auto, "_BLOCK", 1_000)
    again = [evaluator(form(X), y, form(Z)).add(columns, candidates) for form in (np.asarray, sp.csc_array)]
    for before, after in zip(once, again, strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-12)
    np.testing.assert_allclose(once[1], once[0], rtol=1e-12)


@pytest.mark.parametrize("search", [SFS, SBS, PTA, SFFS])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_search_finds_the_subset_of_refits(search, sparse, monkeypatch) -> None:
    for seed in range(3):
        X, y, _ = problem(seed, rows=50, columns=6, kind=("normal", "binary", "collinear")[seed])
        rows = sp.csr_array(X) if sparse else X
        selector = search(k=3, cv=3, random_state=seed)
        fast = clone(selector).fit(rows, y)
        with monkeypatch.context() as patch:
            patch.setattr(subset_score, "evaluator_for", lambda model: None)
            slow = clone(selector).fit(rows, y)
        np.testing.assert_array_equal(fast.chosen_, slow.chosen_)
        np.testing.assert_allclose(fast.path_, slow.path_, atol=1e-9)
        np.testing.assert_allclose(fast.scores_, slow.scores_, atol=1e-9)


def test_in_a_recipe() -> None:
    X, y, Z = problem(5, rows=120, columns=10)
    model = parse("standardize | sfs(ridge, k=3, random_state=0) | ridge").build("regress").fit(X, y)
    assert set(model[1].chosen_) == {0, 1, 2}
    assert model.predict(Z).shape == (25,)
