"""Scores of numeric targets against NumPy, SciPy and scikit-learn, and the properties they share."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.feature_selection import f_regression
from sklearn.metrics import mutual_info_score

from tamis import scores
from tamis.base.errors import DataError, TamisError
from tamis.contingency.target_states import target_states
from tamis.discretize import Discretize

FORMS = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, sp.csr_matrix]
NUMERIC = [s for s in scores.all_scores.values() if s.supervised and "regress" in s.tasks]
CLASSES_ONLY = [s for s in scores.all_scores.values() if s.supervised and "regress" not in s.tasks]


def problem(n_rows=80, seed=0):
    """Columns with zeros and ties, three of which the target depends on."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(n_rows, 9)) * (rng.random((n_rows, 9)) < 0.7)
    X[:, 5:7] = np.floor(X[:, 5:7])
    return X, X[:, 0] - 2.0 * X[:, 1] + X[:, 5] + rng.normal(size=n_rows) + 3.0


def test_the_scores_that_take_numbers():
    assert {s.name for s in NUMERIC} == {"cc", "f", "mi", "rrelieff", "spearman"}


@pytest.mark.parametrize("form", FORMS)
def test_cc_is_pearson(form):
    X, y = problem()
    np.testing.assert_allclose(scores.cc(form(X), y), [abs(stats.pearsonr(x, y).statistic) for x in X.T], rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_f_equals_scikit_learn(form):
    X, y = problem()
    values, pvalues = f_regression(X, y)
    np.testing.assert_allclose(scores.f(form(X), y), values, rtol=1e-9)
    np.testing.assert_allclose(scores.f.pvalues(form(X), y), pvalues, rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_spearman_equals_scipy(form):
    X, y = problem()
    for target in (y, np.round(y), -np.abs(y)):
        expected = [stats.spearmanr(x, target) for x in X.T]
        found = scores.spearman(form(X), target)
        np.testing.assert_allclose(found, [abs(one.statistic) for one in expected], rtol=1e-12)
        pvalues = scores.spearman.pvalues(form(X), target)
        np.testing.assert_allclose(pvalues, [one.pvalue for one in expected], rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bins", [None, 4])
def test_mi_is_that_of_states_of_equal_frequency(form, bins):
    X, y = problem(500)
    cut = Discretize("equal_frequency", n_bins=10 if bins is None else bins).fit(y[:, None])
    states = cut.transform(y[:, None]).ravel()
    columns = Discretize("equal_width", n_bins=4).fit_transform(X)
    expected = [mutual_info_score(x, states) for x in columns.T]
    found = scores.mi(form(X), y, bins="equal_width", n_bins=4, target_bins=bins)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(("n_rows", "states"), [(2, 2), (14, 3), (50, 4), (500, 10), (4000, 10)])
def test_few_rows_make_few_states(n_rows, states):
    y = np.random.default_rng(0).permutation(n_rows) / 7
    found = target_states(y)
    assert np.ptp(np.bincount(found)) <= 1
    assert found.max() + 1 == states
    assert (np.diff(found[np.argsort(y)]) >= 0).all()


def test_equal_numbers_are_one_state():
    np.testing.assert_array_equal(target_states(np.full(9, 0.1)), 0)
    # Most claims are zero: the others are states of their own.
    y = np.repeat([0.0, 1.5, 2.5], [95, 3, 2])
    np.testing.assert_array_equal(target_states(y), np.repeat([0, 1], [95, 5]))
    y = np.random.default_rng(0).integers(0, 6, 300) / 2
    assert len(np.unique(np.column_stack([y, target_states(y)]), axis=0)) == len(np.unique(y))


@pytest.mark.parametrize("each", NUMERIC, ids=lambda s: s.name)
@pytest.mark.parametrize("form", FORMS)
def test_sparse_equals_dense(each, form):
    X, y = problem()
    np.testing.assert_allclose(each(form(X), y), each(X, y), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(each(form(X.astype(np.float32)), y), each(X, y), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("each", [s for s in NUMERIC if s.columnwise], ids=lambda s: s.name)
def test_missing_values_are_left_out_pair_by_pair(each):
    X, y = problem(120)
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
    options = {"bins": "values", "target_bins": 4} if each.name == "mi" else {}
    if options:
        holes, y = np.floor(holes), np.floor(y) + 0.5
    for form in (np.asarray, sp.csr_array, sp.csc_array):
        found = each(form(holes), y, **options)
        for j, column in enumerate(holes.T):
            known = ~np.isnan(column)
            if each.name == "mi":
                # The target is cut once, by all rows.
                expected = mutual_info_score(column[known], target_states(y, 4)[known])
            else:
                expected = each(column[known][:, None], y[known])[0]
            np.testing.assert_allclose(found[j], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("each", NUMERIC, ids=lambda s: s.name)
@pytest.mark.parametrize("form", FORMS)
def test_weights_count_as_repeated_rows(each, form):
    X, y = problem()
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    repeated = form(np.repeat(X, weight, axis=0)), np.repeat(y, weight)
    np.testing.assert_allclose(each(form(X), y, sample_weight=weight), each(*repeated), rtol=1e-9, atol=1e-12)
    if each.has_pvalues:
        found = each.pvalues(form(X), y, sample_weight=weight)
        np.testing.assert_allclose(found, each.pvalues(*repeated), rtol=1e-8)


@pytest.mark.parametrize("each", NUMERIC, ids=lambda s: s.name)
def test_useless_columns_and_targets_score_zero(each):
    y = np.random.default_rng(0).normal(size=30)
    empty = np.column_stack([np.zeros(30), np.full(30, np.nan), np.full(30, 0.1)])
    alone = np.full((30, 1), np.nan)
    alone[3] = 1.0
    for form in FORMS:
        np.testing.assert_array_equal(each(form(empty), y), 0.0)
        np.testing.assert_array_equal(each(form(np.column_stack([alone, y])), y)[0], 0.0)
        constant = each(form(np.column_stack([y, empty])), np.full(30, 0.1))
        np.testing.assert_array_equal(constant, 0.0)
        if each.has_pvalues:
            np.testing.assert_array_equal(each.pvalues(form(empty), y), 1.0)


@pytest.mark.parametrize("form", FORMS)
def test_a_target_constant_where_a_column_is_known(form):
    x, y = np.arange(8.0), np.array([5.5, 5.5, 5.5, 5.5, 1e9, -1e9, 3.0, 4.0])
    x[4:] = np.nan
    X = np.column_stack([x, np.arange(8)])
    for each in (scores.cc, scores.f, scores.spearman):
        assert each(form(X), y)[0] == 0.0


@pytest.mark.parametrize("form", FORMS)
def test_a_line_is_perfect(form):
    x = np.random.default_rng(0).normal(size=50)
    X = np.column_stack([x, -x, np.exp(x)])
    for y in (3.0 * x + 7.0, 1e-8 * x):
        np.testing.assert_allclose(scores.cc(form(X), y)[:2], 1.0)
        assert scores.f(form(X), y)[:2].tolist() == [np.inf, np.inf]
        assert scores.f.pvalues(form(X), y)[:2].tolist() == [0.0, 0.0]
        np.testing.assert_allclose(scores.spearman(form(X), y), 1.0)
        assert scores.spearman.pvalues(form(X), y).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["cc", "f"])
def test_digits_far_from_zero_are_kept(form, name):
    X, y = problem(500)
    each = scores.get(name)
    np.testing.assert_allclose(each(form(X + 1e9), y + 1e9), each(X, y), rtol=1e-5)


@pytest.mark.parametrize("name", ["cc", "f", "spearman"])
@given(shift=st.floats(-1e3, 1e3), scale=st.floats(1e-3, 1e3), seed=st.integers(0, 50))
def test_shift_and_scale_change_nothing(name, shift, scale, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    each = scores.get(name)
    expected = each(X, y)
    np.testing.assert_allclose(each(X * scale + shift, y, task="regress"), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(each(X, shift - y * scale, task="regress"), expected, rtol=1e-6, atol=1e-9)


@given(seed=st.integers(0, 50))
def test_only_the_order_counts_for_spearman(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (25, 3)).astype(float), rng.integers(0, 9, 25) / 2
    y[0] = 0.5
    np.testing.assert_allclose(scores.spearman(X, y), scores.spearman(np.exp(X), y**3), rtol=1e-12)
    order = rng.permutation(25)
    np.testing.assert_allclose(scores.spearman(X, y), scores.spearman(X[order], y[order]), rtol=1e-12)


@pytest.mark.parametrize("each", NUMERIC, ids=lambda s: s.name)
def test_few_rows(each):
    X = np.array([[1.0, 2.0], [3.0, 2.0]])
    assert np.isfinite(each(X, [0.5, 1.5])).all()
    if each.has_pvalues:
        np.testing.assert_array_equal(each.pvalues(X, [0.5, 1.5]), 1.0)
    if each.name == "rrelieff":
        with pytest.raises(TamisError, match="rrelieff needs two rows at least; got n_samples = 1"):
            each(X[:1], [0.5])
    else:
        np.testing.assert_array_equal(each(X[:1], [0.5]), 0.0)


@pytest.mark.parametrize("each", NUMERIC, ids=lambda s: s.name)
def test_bad_input_gets_one_clear_sentence(each):
    X, y = problem()
    with pytest.raises(TamisError, match=f"{each.name} needs the target; pass y"):
        each(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        each(X, y[1:])
    for bad in (np.nan, np.inf):
        broken = y.copy()
        broken[7] = bad
        with pytest.raises(TamisError, match=f"{each.name} needs a finite number for every row; the target of row 7"):
            each(X, broken)
    with pytest.raises(TamisError, match="the target holds 'a'"):
        each(X, ["a"] * 80, task="regress")
    infinite = X.copy()
    infinite[3, 2] = np.inf
    for form in FORMS:
        with pytest.raises(DataError, match="column 2"):
            each(form(infinite), y)


@pytest.mark.parametrize("name", ["cc", "f"])
def test_a_target_too_large_to_square_is_refused(name):
    with pytest.raises(DataError, match="the target contains values too large to square"):
        scores.get(name)(np.arange(3.0)[:, None], [1e300, 0.5, 2.0])


@pytest.mark.parametrize("each", CLASSES_ONLY, ids=lambda s: s.name)
def test_scores_of_classes_refuse_numbers(each):
    X, y = problem()
    with pytest.raises(TamisError, match=f"{each.name} tells classes apart, and the target holds numbers"):
        each(X, y)
    with pytest.raises(TamisError, match=f"{each.name} is for classes, and the target holds numbers"):
        each(X, np.round(y), task="regress")


def test_scores_of_numbers_refuse_classes():
    X, _ = problem()
    with pytest.raises(TamisError, match="spearman is for numbers, and the target holds classes: take cc"):
        scores.spearman(X, np.arange(80) % 2, task="classify")
    with pytest.raises(TamisError, match="rrelieff needs numbers; the target holds 'a'"):
        scores.rrelieff(X, ["a", "b"] * 40)


@pytest.mark.parametrize("each", NUMERIC, ids=lambda s: s.name)
def test_whole_numbers_are_numbers_when_told(each):
    X, y = problem()
    whole = np.rint(3 * y).astype(int)
    np.testing.assert_allclose(each(X, whole, task="regress"), each(X, whole + 0.25), rtol=1e-9)


def test_a_hundred_thousand_columns():
    X = sp.random_array((40, 100_000), density=0.01, random_state=0, format="csr")
    y = np.random.default_rng(0).normal(size=40)
    for each in NUMERIC:
        values = each(X, y)
        assert values.shape == (100_000,)
        assert not np.isnan(values).any()
