"""Scores against NumPy, SciPy and scikit-learn, and the properties they share."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import feature_selection

from tamis import scores
from tamis.base.errors import TamisError
from tamis.base.part import Part
from tamis.base.score import score

SUPERVISED = [s for s in scores.all_scores.values() if s.supervised and "classify" in s.tasks]
VALUE_INVARIANT = ["cc", "fisher", "s2n", "t", "f"]


@pytest.fixture(params=[2, 4], ids=["two classes", "four classes"])
def problem(request):
    rng = np.random.default_rng(request.param)
    y = rng.integers(0, request.param, 80)
    X = rng.gamma(2.0, size=(80, 12)) + 0.4 * y[:, None] * (np.arange(12) < 4)
    return X * (rng.random((80, 12)) < 0.7), y


def test_cc_is_pearson_for_two_classes(problem):
    X, y = problem
    y = y % 2
    expected = [abs(np.corrcoef(x, y)[0, 1]) for x in X.T]
    np.testing.assert_allclose(scores.cc(X, y), expected)
    np.testing.assert_allclose(scores.cc(X, y, classes="ordered"), expected)


def test_cc_of_ordered_classes_is_pearson_with_their_codes(problem):
    X, y = problem
    np.testing.assert_allclose(scores.cc(X, y, classes="ordered"), [abs(np.corrcoef(x, y)[0, 1]) for x in X.T])


def test_cc_of_nominal_classes_is_the_share_of_variance_between_them(problem):
    X, y = problem
    fitted = np.array([X[y == c].mean(axis=0) for c in range(y.max() + 1)])[y]
    np.testing.assert_allclose(scores.cc(X, y), np.sqrt(fitted.var(axis=0) / X.var(axis=0)))


def test_f_equals_scikit_learn(problem):
    values, pvalues = feature_selection.f_classif(*problem)
    np.testing.assert_allclose(scores.f(*problem), values)
    np.testing.assert_allclose(scores.f.pvalues(*problem), pvalues)


@pytest.mark.parametrize("welch", [False, True])
def test_t_equals_scipy(problem, welch):
    X, y = problem
    pairs = [(a, b) for a in range(y.max() + 1) for b in range(a + 1, y.max() + 1)]
    tests = [stats.ttest_ind(X[y == a], X[y == b], equal_var=not welch) for a, b in pairs]
    np.testing.assert_allclose(scores.t(X, y, welch=welch), np.max([abs(t.statistic) for t in tests], axis=0))
    expected = np.minimum(len(pairs) * np.min([t.pvalue for t in tests], axis=0), 1)
    np.testing.assert_allclose(scores.t.pvalues(X, y, welch=welch), expected)


def test_fisher_and_signal_to_noise_by_their_formulas(problem):
    X, y = problem
    k = y.max() + 1
    share = np.bincount(y) / len(y)
    fisher, s2n, total = 0.0, 0.0, 0.0
    for a in range(k):
        for b in range(a + 1, k):
            gap = X[y == a].mean(axis=0) - X[y == b].mean(axis=0)
            total += share[a] * share[b]
            fisher = fisher + share[a] * share[b] * gap**2 / (X[y == a].var(axis=0) + X[y == b].var(axis=0))
            s2n = s2n + share[a] * share[b] * abs(gap) / (X[y == a].std(axis=0) + X[y == b].std(axis=0))
    np.testing.assert_allclose(scores.fisher(X, y), fisher / total)
    np.testing.assert_allclose(scores.s2n(X, y), s2n / total)


def test_chi2_of_counts_equals_scikit_learn(problem):
    values, pvalues = feature_selection.chi2(*problem)
    np.testing.assert_allclose(scores.chi2(*problem), values)
    np.testing.assert_allclose(scores.chi2.pvalues(*problem), pvalues)


def test_chi2_of_presence_equals_scipy_table_by_table(problem):
    X, y = problem
    expected = np.zeros(X.shape[1])
    smallest = np.ones(X.shape[1])
    for c in range(y.max() + 1):
        for j in range(X.shape[1]):
            present = X[:, j] != 0
            table = [[(present & (y == c)).sum(), (present & (y != c)).sum()]]
            table.append([(~present & (y == c)).sum(), (~present & (y != c)).sum()])
            found = stats.chi2_contingency(table, correction=False)
            expected[j] += (y == c).mean() * found.statistic
            smallest[j] = min(smallest[j], found.pvalue)
    np.testing.assert_allclose(scores.chi2(X, y, of="presence"), expected)
    tests = 1 if y.max() == 1 else y.max() + 1
    np.testing.assert_allclose(scores.chi2.pvalues(X, y, of="presence"), np.minimum(tests * smallest, 1))


def test_unsupervised_scores_need_no_classes(problem):
    X, _ = problem
    np.testing.assert_allclose(scores.variance(X), X.var(axis=0))
    np.testing.assert_array_equal(scores.count(X), (X != 0).sum(axis=0))


@pytest.mark.parametrize("each", scores.all_scores.values(), ids=lambda s: s.name)
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix, np.asfortranarray])
def test_sparse_equals_dense(each, form, problem):
    X, y = problem
    np.testing.assert_allclose(each(form(X), y), each(X, y), rtol=1e-9)
    np.testing.assert_allclose(each(form(X.astype(np.float32)), y), each(X, y), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("each", scores.all_scores.values(), ids=lambda s: s.name)
def test_missing_values_are_left_out(each, problem):
    X, y = problem
    holes = X.copy()
    holes[::3] = np.nan
    known = np.arange(len(y)) % 3 != 0
    for form in (np.asarray, sp.csr_array, sp.csc_array):
        np.testing.assert_allclose(each(form(holes), y), each(X[known], y[known]), rtol=1e-9)


@pytest.mark.parametrize("each", scores.all_scores.values(), ids=lambda s: s.name)
def test_useless_columns_score_zero_and_never_nan(each):
    y = np.arange(30) % 3
    empty = np.column_stack([np.zeros(30), np.full(30, np.nan)])
    np.testing.assert_array_equal(each(empty, y), 0.0)
    np.testing.assert_array_equal(each(sp.csr_array(empty), y), 0.0)
    constant = np.full((30, 1), 0.1)
    # The numbers of rows, in all classes and on average in one, are not zero where nothing varies.
    expected = {"count": 30.0, "wf": 10.0}.get(each.name, 0.0)
    np.testing.assert_allclose(each(constant, y), expected, atol=1e-12)
    if each.has_pvalues:
        np.testing.assert_allclose(each.pvalues(empty, y), 1.0)


@pytest.mark.parametrize("name", ["fisher", "s2n", "t", "f"])
def test_a_perfect_separator_beats_everything(name):
    X = np.column_stack([[1.0, 1.0, 2.0, 2.0], [0.0, 1.0, 5.0, 6.0]])
    found = scores.get(name)
    assert found(X, [0, 0, 1, 1])[0] == np.inf
    if found.has_pvalues:
        assert found.pvalues(X, [0, 0, 1, 1])[0] == 0.0


@pytest.mark.parametrize("name", VALUE_INVARIANT)
@given(shift=st.floats(-1e3, 1e3), scale=st.floats(1e-3, 1e3), seed=st.integers(0, 50))
def test_shift_and_scale_change_nothing(name, shift, scale, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((20, 3)), np.arange(20) % 2
    found = scores.get(name)
    np.testing.assert_allclose(found(X * scale + shift, y), found(X, y), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("each", SUPERVISED, ids=lambda s: s.name)
@given(seed=st.integers(0, 30))
def test_row_order_and_class_names_do_not_matter(each, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.random((25, 4)), rng.integers(0, 3, 25)
    y[:3] = [0, 1, 2]
    order = rng.permutation(25)
    names = np.array(["a", "b", "c"])
    np.testing.assert_allclose(each(X[order], names[y][order]), each(X, y), rtol=1e-9)


@pytest.mark.parametrize("each", SUPERVISED, ids=lambda s: s.name)
def test_bad_input_gets_one_clear_sentence(each):
    X = np.ones((4, 2))
    with pytest.raises(TamisError, match="at least 2 classes"):
        each(X, [1, 1, 1, 1])
    with pytest.raises(TamisError, match="needs the target"):
        each(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        each(X, [0, 1])
    with pytest.raises(ValueError, match="infinity"):
        each(np.array([[1.0, np.inf], [0.0, 1.0]]), [0, 1])
    with pytest.raises(TamisError, match="has no option 'colour'"):
        each(X, [0, 1, 0, 1], colour=3)
    with pytest.raises(ValueError, match="0 sample"):
        each(np.empty((0, 3)), [])


def test_wrong_values_are_refused():
    with pytest.raises(TamisError, match="Negative values in data"):
        scores.chi2([[-1.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="'of' parameter of chi2"):
        scores.chi2([[1.0], [1.0]], [0, 1], of="colour")
    with pytest.raises(TamisError, match="fisher has no p-values"):
        scores.fisher.pvalues([[1.0], [2.0]], [0, 1])
    with pytest.raises(TamisError, match="no score is called 'fishr'"):
        scores.get("fishr")
    with pytest.raises(AttributeError, match="fishr"):
        _ = scores.fishr


def test_an_option_without_a_constraint_is_a_mistake_of_the_author():
    with pytest.raises(TypeError, match="every option needs a constraint"):

        @score(Part("mine"))
        def mine(X, y, sample_weight, *, speed=1):
            return X


def test_a_hundred_thousand_columns():
    X = sp.random_array((40, 100_000), density=0.01, random_state=0, format="csr")
    for each in scores.all_scores.values():
        values = each(X, np.arange(40) % 2)
        assert values.shape == (100_000,)
        assert not np.isnan(values).any()
