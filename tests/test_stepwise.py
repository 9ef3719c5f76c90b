"""Stepwise regression: every step against least squares on the rows, the tests against other formulas, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tamis.base.cut import NothingPasses
from tamis.base.errors import TamisError
from tamis.select import Stepwise
from tamis.subsets.stepwise_search import stepwise_search


def residuals(X: np.ndarray, targets: np.ndarray, columns: list[int]) -> np.ndarray:
    """Products of the residuals of the targets, by least squares on the rows."""
    design = np.column_stack([np.ones(len(X)), X[:, columns]])
    left = targets - design @ np.linalg.lstsq(design, targets, rcond=None)[0]
    return left.T @ left


def partial_f(X: np.ndarray, targets: np.ndarray, columns: list[int], j: int) -> tuple[float, float]:
    """Partial F of a column beside others, and its p-value."""
    n, m = targets.shape
    ratio = np.linalg.det(residuals(X, targets, [*columns, j])) / np.linalg.det(residuals(X, targets, columns))
    freedom = n - len(columns) - 1 - m
    f = (1 - ratio) / ratio * freedom / m
    return f, float(stats.f.sf(f, m, freedom))


def plain_stepwise(
    X: np.ndarray, targets: np.ndarray, p_enter: float, p_remove: float
) -> tuple[list[int], list[tuple[int, bool]], list[float]]:
    """The columns, the steps and their p-values; every test fits the rows anew."""
    rank, scaled = np.linalg.matrix_rank, (X - X.mean(axis=0)) / np.abs(X).max(axis=0)
    columns: list[int] = []
    steps: list[tuple[int, bool]] = []
    values: list[float] = []
    while True:
        inside = {j: partial_f(X, targets, [i for i in columns if i != j], j) for j in columns}
        worst = min(inside, key=lambda j: inside[j][0], default=None)
        if worst is not None and inside[worst][1] > p_remove:
            columns.remove(worst)
            steps.append((worst, False))
            values.append(inside[worst][1])
            continue
        outside = {
            j: partial_f(X, targets, columns, j)
            for j in range(X.shape[1])
            if j not in columns and rank(scaled[:, [*columns, j]]) == len(columns) + 1
        }
        if not outside:
            return columns, steps, values
        # Of columns that are the same beside those of the model, the first enters.
        most = max(f for f, _ in outside.values())
        best = min(j for j, (f, _) in outside.items() if f >= (1 - 1e-7) * most)
        if outside[best][1] > p_enter:
            return columns, steps, values
        columns.append(best)
        steps.append((best, True))
        values.append(outside[best][1])


def problem(seed: int, n_classes: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of unlike scales that go with the classes and with each other; a constant, a copy and a sum."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(60) % n_classes)
    common = rng.normal(size=(60, 2))
    X = rng.normal(size=(60, n_features)) + common @ rng.normal(size=(2, n_features))
    X += rng.normal(scale=0.4, size=(n_classes, n_features))[y]
    X = np.column_stack([X, np.full(60, 3.0), X[:, 0], X[:, 0] - 2 * X[:, 1]])
    return X * 10.0 ** rng.integers(-3, 4, n_features + 3), y


def indicators(y: np.ndarray) -> np.ndarray:
    """All classes but the last one, which the others settle."""
    return (np.arange(y.max()) == y[:, None]).astype(float)


@settings(max_examples=40)
@given(
    st.integers(0, 10_000), st.integers(2, 4), st.integers(2, 7), st.sampled_from([(0.05, 0.1), (0.3, 0.3), (0.5, 0.9)])
)
def test_every_step_is_that_of_least_squares(seed: int, n_classes: int, n_features: int, levels) -> None:
    X, y = problem(seed, n_classes, n_features)
    columns, steps, values = plain_stepwise(X, indicators(y), *levels)
    found = Stepwise(*levels, at_least=0).fit(X, y)
    assert [(step.column, step.enters) for step in found.steps_] == steps
    np.testing.assert_allclose([step.p for step in found.steps_], values, rtol=1e-5, atol=1e-12)
    assert found.chosen_.tolist() == columns
    assert np.flatnonzero(found.support_).tolist() == sorted(columns)
    assert found.order_[: len(columns)].tolist() == sorted(columns, key=lambda j: -found.scores_[j])
    # What is left out when the search ends has a p-value above the level, and what is in one below the other.
    assert (found.pvalues_[~found.support_] > levels[0]).all()
    assert (found.pvalues_[found.support_] <= levels[1]).all()


def test_a_column_leaves_that_others_have_replaced() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    target = X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=400)
    X[:, 0] = X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=400)
    y = (target > 0).astype(int)
    found = Stepwise().fit(X, y)
    steps = [(step.column, step.enters) for step in found.steps_]
    assert steps == [(0, True), (1, True), (2, True), (0, False)]
    assert sorted(found.chosen_) == [1, 2]


def test_two_classes_have_the_t_test_of_a_coefficient() -> None:
    X, y = problem(3, 2, 4)
    found = Stepwise(0.5, 0.5).fit(X[:, :4], y)
    design = np.column_stack([np.ones(60), X[:, found.chosen_]])
    coef = np.linalg.solve(design.T @ design, design.T @ y)
    freedom = 60 - design.shape[1]
    variance = ((y - design @ coef) ** 2).sum() / freedom * np.linalg.inv(design.T @ design).diagonal()
    t = (coef / np.sqrt(variance))[1:]
    np.testing.assert_allclose(found.scores_[found.chosen_], t**2, rtol=1e-8)
    np.testing.assert_allclose(found.pvalues_[found.chosen_], 2 * stats.t.sf(abs(t), freedom), rtol=1e-8)


def test_many_classes_have_the_test_of_discriminant_analysis() -> None:
    X, y = problem(5, 3, 5)
    X = X[:, :5]
    found = Stepwise(0.5, 0.6).fit(X, y)

    def wilks(columns: list[int]) -> float:
        some = X[:, columns]
        within = some - np.array([some[y == c].mean(axis=0) for c in range(3)])[y]
        total = some - some.mean(axis=0)
        return float(np.linalg.det(within.T @ within) / np.linalg.det(total.T @ total))

    chosen = found.chosen_.tolist()
    assert len(chosen) > 1
    for j in range(5):
        others = [i for i in chosen if i != j]
        ratio = wilks([*others, j]) / (wilks(others) if others else 1.0)
        f = (1 - ratio) / ratio * (60 - 3 - len(others)) / 2
        assert found.scores_[j] == pytest.approx(f)
        assert found.pvalues_[j] == pytest.approx(stats.f.sf(f, 2, 60 - 3 - len(others)))


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 2))
def test_targets_may_be_numbers(seed: int, n_targets: int) -> None:
    X, _ = problem(seed, 2, 5)
    rng = np.random.default_rng(seed)
    targets = rng.normal(size=(60, n_targets)) + X[:, [1]] / X[:, 1].std()
    found = stepwise_search(X, targets, p_enter=0.1, p_remove=0.2)
    columns, steps, _ = plain_stepwise(X, targets, 0.1, 0.2)
    assert found.columns.tolist() == columns
    assert [(step.column, step.enters) for step in found.steps] == steps
    # Neither a constant target nor the sum of others changes anything.
    more = np.column_stack([targets, np.full(60, 0.1), targets.sum(axis=1) - 7])
    again = stepwise_search(X, more, p_enter=0.1, p_remove=0.2)
    assert again.columns.tolist() == columns
    np.testing.assert_allclose(again.f, found.f, rtol=1e-6, atol=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 3))
def test_order_scale_form_and_names_of_classes_do_not_matter(seed: int, n_classes: int) -> None:
    X, y = problem(seed, n_classes, 5)
    X = X[:, :5]
    rng = np.random.default_rng(seed)
    found = Stepwise(at_least=0).fit(X, y)
    order = rng.permutation(5)
    moved = Stepwise(at_least=0).fit((X * [1e-3, 1, 1e3, -1, 2] + 5)[:, order], rng.permutation(n_classes)[y])
    assert order[moved.chosen_].tolist() == found.chosen_.tolist()
    np.testing.assert_allclose(moved.scores_, found.scores_[order], rtol=1e-6, atol=1e-9)
    sparse = Stepwise(at_least=0).fit(sp.csc_array(X), y)
    np.testing.assert_allclose(sparse.scores_, found.scores_, rtol=1e-6, atol=1e-9)


def test_a_perfect_fit_takes_no_more() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = np.column_stack([rng.normal(size=(30, 50)), 3.0 - 2 * y])
    found = Stepwise().fit(X, y)
    assert found.chosen_[-1] == 50 or found.chosen_.tolist() == [50]
    assert np.isfinite(found.scores_).all()
    three = np.arange(30) % 3
    X[:, -1] = three == 1
    found = Stepwise().fit(X, three)
    assert found.chosen_[0] == 50
    assert found.chosen_.size < 30
    assert np.isfinite(found.scores_).all()


def test_more_columns_than_rows_leave_a_degree_of_freedom() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3000)), np.arange(20) % 2
    found = Stepwise().fit(X, y)
    assert 1 <= found.chosen_.size <= 18
    assert Stepwise(k=3).fit(X, y).chosen_.tolist() == found.chosen_[:3].tolist()
    assert Stepwise().fit(X[:3], np.array([0, 1, 1])).chosen_.size <= 1


def test_columns_that_say_nothing() -> None:
    y = np.arange(40) % 2
    X = np.column_stack([np.ones(40), np.arange(40) // 3, np.zeros(40)])
    with pytest.warns(NothingPasses):
        assert Stepwise().fit(X, y).get_support(indices=True).tolist() == [1]
    none = Stepwise(at_least=0).fit(X, y)
    assert not none.support_.any()
    assert none.steps_ == []
    np.testing.assert_array_equal(none.pvalues_[[0, 2]], 1.0)


def test_weights_are_repeated_rows() -> None:
    X, y = problem(2, 3, 5)
    weight = np.random.default_rng(0).integers(0, 4, 60).astype(float)
    weighted = Stepwise().fit(X, y, sample_weight=weight)
    repeated = Stepwise().fit(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)))
    assert weighted.chosen_.tolist() == repeated.chosen_.tolist()
    np.testing.assert_allclose(weighted.pvalues_, repeated.pvalues_, rtol=1e-6)


def test_refusals() -> None:
    X, y = problem(0, 2, 3)
    with pytest.raises(TamisError, match=r"p_remove=0.01 must not be below p_enter=0.05"):
        Stepwise(p_remove=0.01).fit(X, y)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Stepwise().fit(X, y)
    with pytest.raises(ValueError, match="class"):
        Stepwise().fit(X[:, :1], np.zeros(60))


def test_numbers_are_fitted_as_they_are() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 6))
    y = 2 * X[:, 1] - X[:, 4] + 0.3 * rng.normal(size=80)
    found = Stepwise().fit(X, y)
    assert sorted(found.chosen_.tolist()) == [1, 4]
    whole = np.round(10 * y)
    told = Stepwise(task="regress").fit(X, whole)
    assert sorted(told.chosen_.tolist()) == [1, 4]
    design = np.column_stack([np.ones(80), X[:, [1, 4]]])
    residual = whole - design @ np.linalg.lstsq(design, whole, rcond=None)[0]
    variance = residual @ residual / (80 - 3) * np.linalg.inv(design.T @ design)[1, 1]
    coef = np.linalg.lstsq(design, whole, rcond=None)[0][1]
    assert told.scores_[1] == pytest.approx(coef**2 / variance)
