"""Corona against a direct implementation of the paper's algorithms, and what it refuses."""

import warnings
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

import tamis
from tamis.base.errors import TamisError
from tamis.base.shared_fit import Together
from tamis.select import RFE, Corona
from tamis.select.corona import variables_of
from tamis.series import planted

#: Of libsvm in the oracle: elimination magnifies what the machines are off by.
EXACT = 1e-8


def algorithms_2_to_4(correlations, y, k, C=1.0, aggregate=np.max):
    """Variables that remain, and the eliminated ones: the paper's algorithms with SVC refitted at each step."""
    remaining, gone = list(range(correlations.shape[1])), []
    while len(remaining) > k:
        n = len(remaining)
        # Algorithm 2: the upper triangle, row by row.
        T = np.array(
            [np.concatenate([R[i, i + 1 :] for i in range(n)]) for R in correlations[:, remaining][:, :, remaining]]
        )
        machine = SVC(kernel="linear", C=C, tol=EXACT).fit(T, y)
        weights = np.abs(machine.coef_).mean(axis=0)
        # Algorithm 4: the symmetric matrix of weights, aggregated by column, without the diagonal.
        W, count = np.zeros((n, n)), 0
        for i in range(n):
            W[i, i + 1 :] = weights[count : count + n - i - 1]
            count += n - i - 1
        W += W.T
        rows = [np.delete(W[:, i], i) for i in range(n)]
        gone.append(remaining.pop(lightest([aggregate(row) for row in rows], [row.mean() for row in rows])))
    return remaining, gone


def lightest(weights, means):
    """The lightest variable; of equal ones that of the smallest mean, then the last."""
    near = np.flatnonzero(np.isclose(weights, np.min(weights), rtol=1e-6))
    means = np.array(means)[near]
    return int(near[np.isclose(means, means.min(), rtol=1e-6)][-1])


def problem(n_classes=2, n_items=60, n_variables=7, seed=0):
    """Correlation matrices of items whose classes differ in some correlations, and the table of their pairs."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_items) % n_classes
    mixing = rng.normal(size=(n_classes, n_variables, n_variables)) * 0.35 + np.eye(n_variables)
    matrices = np.array([np.corrcoef(mixing[c] @ rng.normal(size=(n_variables, 30))) for c in y])
    return matrices, matrices[:, *np.triu_indices(n_variables, 1)], y


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_ranks_as_the_algorithms_of_the_paper(n_classes, C):
    for seed in range(3):
        matrices, X, y = problem(n_classes, seed=seed)
        remaining, gone = algorithms_2_to_4(matrices, y, 2, C)
        found = Corona(2, C=C).fit(X, y)
        assert set(found.variable_order_[:2]) == set(remaining)
        assert found.variable_order_[2:].tolist() == gone[::-1]


def test_one_path_serves_every_number_of_variables():
    matrices, X, y = problem(3)
    for k, found in zip(range(2, 8), Together([Corona(k) for k in range(2, 8)], X, y), strict=True):
        remaining, _ = algorithms_2_to_4(matrices, y, k)
        assert np.flatnonzero(found.variable_support_).tolist() == sorted(remaining)
        pairs = [p for p, pair in enumerate(combinations(range(7), 2)) if set(pair) <= set(remaining)]
        assert found.get_support(indices=True).tolist() == pairs
        np.testing.assert_array_equal(found.variable_order_, Corona(k).fit(X, y).variable_order_)


@given(st.integers(0, 1000), st.integers(2, 3), st.integers(4, 8), st.sampled_from([0.05, 1.0, 100.0]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_machines_on_the_remaining_products_are_those_fitted_alone(seed, n_classes, n_variables, C, mean):
    matrices, X, y = problem(n_classes, 36, n_variables, seed)
    aggregate = np.mean if mean else np.max
    remaining, gone = algorithms_2_to_4(matrices, y, 2, C, aggregate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = Corona(2, C=C, aggregate="mean" if mean else "max").fit(X, y)
    assert found.variable_order_[2:].tolist() == gone[::-1]
    assert set(found.variable_order_[:2]) == set(remaining)


def test_variables_with_a_column_each_are_eliminated_as_by_rfe():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 9))
    y = (X[:, 2] + X[:, 7] + 0.3 * rng.normal(size=50) > 0).astype(int)
    found, by_columns = Corona(1, columns=1).fit(X, y), RFE(1, step=1).fit(X, y)
    np.testing.assert_array_equal(found.order_, by_columns.order_)
    np.testing.assert_array_equal(found.variable_order_, by_columns.order_)


def test_variables_with_several_columns_leave_with_all_of_them():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 12))
    y = (X[:, 3] + X[:, 10] > 0).astype(int)
    found = Corona(2, columns=3, aggregate="mean").fit(X, y)
    assert found.get_support(indices=True).tolist() == [3, 4, 5, 9, 10, 11]
    remaining, weights = list(range(4)), None
    while len(remaining) > 2:
        own = np.concatenate([np.arange(3 * v, 3 * v + 3) for v in remaining])
        weights = np.abs(SVC(kernel="linear", tol=EXACT).fit(X[:, own], y).coef_[0]).reshape(-1, 3).mean(axis=1)
        remaining.pop(int(weights.argmin()))
    assert np.flatnonzero(found.variable_support_).tolist() == remaining


def test_names_of_variables_say_what_belongs_together():
    _, X, y = problem(2)
    plain = Corona(3).fit(X, y)
    shuffle = np.random.default_rng(0).permutation(X.shape[1])
    pairs = np.array([(f"s{a}", f"s{b}") for a, b in combinations(range(7), 2)])
    named = Corona(3, columns=pairs[shuffle]).fit(X[:, shuffle], y)
    kept = {f"s{v}" for v in np.flatnonzero(plain.variable_support_)}
    assert set(named.variable_names_[named.variable_support_]) == kept
    np.testing.assert_array_equal(named.support_, plain.support_[shuffle])


def test_several_variables_may_leave_at_once():
    _, X, y = problem(2, n_variables=12)
    found = Corona(2, step=4).fit(X, y)
    assert found.sizes_.tolist() == [12, 8, 4]
    assert Corona(fraction=0.5, step=0.3).fit(X, y).sizes_.tolist() == [12, 9, 7]
    assert Corona().fit(X, y).variable_support_.sum() == 6


def test_more_variables_than_there_are_keeps_all():
    _, X, y = problem(2)
    assert Corona(50).fit(X, y).get_support().all()


def test_sparse_rows_and_weights_count_as_they_should():
    _, X, y = problem(3)
    dense = Corona(2).fit(X, y)
    np.testing.assert_array_equal(dense.variable_order_, Corona(2).fit(sp.csr_matrix(X), y).variable_order_)
    weight = np.random.default_rng(0).integers(0, 3, y.size)
    twice = np.repeat(np.arange(y.size), weight)
    weighted = Corona(2).fit(X, y, sample_weight=weight).variable_order_
    np.testing.assert_array_equal(weighted, Corona(2).fit(X[twice], y[twice]).variable_order_)


def test_constant_and_repeated_items_and_columns_do_no_harm():
    _, X, y = problem(2)
    X[:, :6] = 0.0  # the pairs of the first variable: it was constant in every item
    found = Corona(2).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert found.variable_order_[-1] == 0
    same = Corona(2).fit(np.zeros((6, 3)), [0, 1, 0, 1, 0, 1])
    assert same.variable_order_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("parameters", "n_columns", "message"),
    [
        ({}, 7, "7 columns are not the pairs of any number of variables, of which 4 have 6"),
        ({"k": 1}, 6, "k must be at least 2"),
        ({"columns": 4}, 6, "6 columns cannot be shared out to variables with 4 each"),
        ({"columns": ["a", "b"]}, 6, "must name one or two variables for each of 6 columns; got shape (2,)"),
        ({"columns": [["a", "a"]] * 6}, 6, "pairs a variable with itself"),
        ({"columns": 0}, 6, "'columns' parameter"),
        ({"aggregate": "min"}, 6, "'aggregate' parameter"),
    ],
)
def test_refuses_in_one_sentence(parameters, n_columns, message):
    X = np.random.default_rng(0).normal(size=(8, n_columns))
    with pytest.raises(ValueError, match=r".") as refused:
        Corona(**parameters).fit(X, [0, 1] * 4)
    assert message in str(refused.value)


def test_refuses_missing_values():
    X = np.ones((4, 3))
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Corona(2).fit(X, [0, 1, 0, 1])


def test_pairs_are_those_of_the_upper_triangle():
    for n in range(2, 30):
        _, members = variables_of("pairs", n * (n - 1) // 2)
        assert [tuple(pair) for pair in members] == [*combinations(range(n), 2)]


def test_finds_the_planted_variables_within_folds():
    table = planted(80, 8, 50).correlations()
    found = tamis.validate("corona(2) | svm(linear)", table, folds=4)
    assert found.summary()["ber"].mean < 0.1
    assert all("r1" in table.feature_names[columns[0]] for columns in found.selected)


def test_a_recipe_prints_back():
    text = "corona(5, columns=3, aggregate=mean) | svm(linear)"
    assert tamis.compose.recipe.to_text(tamis.recipe(text)) == text
    with pytest.raises(TamisError, match="pairs"):
        tamis.recipe("corona(3) | svm").fit(np.ones((4, 4)), [0, 1, 0, 1])
