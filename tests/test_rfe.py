"""Recursive elimination against scikit-learn's and an explicit loop; shared runs; rounding; bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import feature_selection
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from planted import planted
from tamis.base.errors import TamisError
from tamis.base.shared_fit import Together
from tamis.data import load
from tamis.margins import elimination
from tamis.margins.kernel import inner_products
from tamis.select import RFE


def classes(n_classes, n_columns=40, n_rows=90, seed=0):
    return make_classification(
        n_rows, n_columns, n_informative=6, n_redundant=4, n_classes=n_classes, flip_y=0.1, random_state=seed
    )


def eliminated(X, y, k, step, weight=None, **machine):
    """An explicit loop: the columns kept, and groups of those dropped together, the last first."""
    columns, gone = np.arange(X.shape[1]), []
    while columns.size > k:
        found = SVC(kernel="linear", tol=1e-6, **machine).fit(X[:, columns], y, sample_weight=weight)
        worth = (found.coef_**2).sum(axis=0)
        drop = step if isinstance(step, int) else max(1, int(step * columns.size))
        worst = np.argsort(worth)[: min(drop, columns.size - k)]
        gone.insert(0, set(columns[worst]))
        columns = np.delete(columns, worst)
    return set(columns), gone


def kept(selector):
    return set(selector.get_support(indices=True))


def assert_same(found, expected):
    for name in ("support_", "order_", "scores_", "sizes_", "n_support_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("C", [0.01, 0.3])
@pytest.mark.parametrize("k", [1, 5, 38])
def test_equals_scikit_learn(n_classes, step, C, k):
    X, y = classes(n_classes)
    oracle = feature_selection.RFE(SVC(kernel="linear", C=C, tol=1e-6), n_features_to_select=k, step=step).fit(X, y)
    found = RFE(k, step=step, C=C).fit(X, y)
    np.testing.assert_array_equal(found.support_, oracle.support_)
    # Columns that left together have one rank with scikit-learn.
    assert (np.diff(oracle.ranking_[found.order_]) >= 0).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("step", "sizes"), [(0.3, [40, 28, 20, 14, 10, 7, 5, 4]), (0.6, [40, 16, 7])])
def test_a_share_is_of_the_columns_that_remain(n_classes, step, sizes):
    X, y = classes(n_classes)
    found = RFE(3, step=step).fit(X, y)
    remain, gone = eliminated(X, y, 3, step)
    assert kept(found) == remain
    assert found.sizes_.tolist() == sizes
    place = 3
    for group in gone:
        assert set(found.order_[place : place + len(group)]) == group
        place += len(group)


@pytest.mark.parametrize("step", [7, 0.4])
def test_a_size_in_the_middle_of_a_round_is_where_a_run_would_stop(step):
    X, y = classes(3)
    sizes = range(1, 41, 2)
    for k, found in zip(sizes, Together([RFE(k, step=step) for k in sizes], X, y), strict=True):
        assert kept(found) == eliminated(X, y, k, step)[0]


def test_columns_that_are_kept_are_ranked_by_the_last_machine():
    X, y = classes(2)
    found = RFE(10, step=30).fit(X, y)
    weights = SVC(kernel="linear", tol=1e-6).fit(X, y).coef_[0]
    np.testing.assert_array_equal(found.order_, np.argsort(-np.abs(weights)))
    np.testing.assert_array_equal(found.scores_[found.order_], np.arange(40)[::-1])


def test_weights_and_balance_change_the_cost():
    X, y = classes(2, n_rows=120)
    y[:60] = 0
    weight = np.random.default_rng(0).uniform(0.0, 3.0, 120).round(1)
    weight[::7] = 0.0
    found = RFE(6, step=0.2).fit(X, y, sample_weight=weight)
    assert kept(found) == eliminated(X, y, 6, 0.2, weight)[0] != kept(RFE(6, step=0.2).fit(X, y))
    balanced = RFE(6, step=0.2, C=0.01, class_weight="balanced").fit(X, y)
    assert kept(balanced) == eliminated(X, y, 6, 0.2, C=0.01, class_weight="balanced")[0]
    assert kept(balanced) != kept(RFE(6, step=0.2, C=0.01).fit(X, y))


def test_a_hard_margin_is_the_limit_of_large_costs():
    X, y = classes(2, n_columns=300)
    found = RFE(100, C=np.inf).fit(X, y)
    assert kept(found) == eliminated(X, y, 100, 0.1, C=1e6)[0]
    np.testing.assert_array_equal(found.order_, RFE(100, C=np.inf).fit(1e-3 * X + 5, y).order_)


def test_finds_what_was_planted():
    X, y = planted(rows=120, columns=300)
    assert kept(RFE(2).fit(X, y)) == {3, 8}
    assert kept(RFE(2, step=0.5).fit(sp.csr_array(X), y)) == {3, 8}


def test_finds_on_real_data_what_scikit_learn_finds(shared_data, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    data = load("leukemia")
    X = StandardScaler().fit_transform(data.X)
    oracle = feature_selection.RFE(SVC(kernel="linear", tol=1e-6), n_features_to_select=20, step=300).fit(X, data.y)
    found = RFE(20, step=300).fit(X, data.y)
    np.testing.assert_array_equal(found.support_, oracle.support_)
    assert (np.diff(oracle.ranking_[found.order_]) >= 0).all()


@st.composite
def problems(draw):
    n, p = draw(st.integers(2, 20)), draw(st.integers(1, 12))
    X = draw(hnp.arrays(np.float64, (n, p), elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.5, 0.3])))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, draw(st.integers(1, 3)))))
    assume(np.unique(y).size > 1)
    step = draw(st.one_of(st.integers(1, 5), st.sampled_from([0.1, 0.3, 0.5, 0.9])))
    return X, y, step


@given(problems(), st.sets(st.integers(1, 14), min_size=1), st.sampled_from([0.1, 0.5, None]))
def test_one_run_serves_all_sizes(problem, sizes, fraction):
    X, y, step = problem
    asked = [{"k": k} for k in sizes] + [{"fraction": fraction}]
    before: set[int] = set()
    together = Together([RFE(**one, step=step) for one in asked], X, y)
    for one, found in sorted(zip(asked, together, strict=True), key=lambda pair: pair[1].support_.sum()):
        assert_same(found, RFE(**one, step=step).fit(X, y))
        assert before <= kept(found)
        before = kept(found)


@given(problems(), st.integers(1, 5))
def test_sparse_equals_dense(problem, k):
    X, y, step = problem
    expected = RFE(k, step=step).fit(X, y)
    for form in (sp.csr_array, sp.csc_matrix):
        found = RFE(k, step=step).fit(form(X), y)
        np.testing.assert_array_equal(found.order_, expected.order_)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("step", [1, 0.3])
def test_of_copies_the_later_leaves_first(n_classes, step):
    y = np.arange(21) % n_classes
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(21, 11))
        place = np.argsort(RFE(3, step=step).fit(np.column_stack([X, -X]), y).order_)
        assert (place[:11] < place[11:]).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("value", [0.1, 1e5, 0.0])
def test_constants_leave_first(form, value):
    X, y = classes(3, n_columns=20)
    # What rounding leaves of their weights is in proportion to them, and must not count.
    X[:, :2] = value, 3 * value
    found = RFE(5, step=1).fit(form(X), y)
    assert found.order_[-2:].tolist() == [0, 1]
    np.testing.assert_array_equal(found.order_[:-2] - 2, RFE(5, step=1).fit(X[:, 2:], y).order_)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_subtracted_products_stay_exact(form):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 200)), np.arange(30) % 2
    # Large columns leave first: nearly all digits of the first matrix leave with them.
    X[:, :100] *= np.logspace(8, 0, 100)
    remaining = elimination.ByRows(form(X), y, np.ones(30))
    for first in range(2, 200, 2):
        remaining.keep(np.arange(first - 2, 200) >= first)
        expected = inner_products(X[:, first:])
        np.testing.assert_allclose(remaining._gram, expected, rtol=0, atol=1e-11 * expected.trace())


def test_subtracted_products_rank_like_those_computed_anew(monkeypatch):
    X, y = classes(3, n_columns=100)
    expected = RFE(2, step=0.05).fit(X, y)
    monkeypatch.setattr(elimination, "_WORN", 0.0)
    np.testing.assert_array_equal(RFE(2, step=0.05).fit(X, y).order_, expected.order_)


def test_many_rows_are_left_to_liblinear():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_100, 12))
    weights = np.array([0, 0, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0])
    y = X @ weights + 2 * rng.normal(size=4_100) > 4
    X[:, 5] = 7.0
    for form in (np.asarray, sp.csr_array):
        found = RFE(3, step=2).fit(form(X), y)
        assert found.order_[:5].tolist() == [2, 3, 4, 6, 7]
        assert found.order_[-1] == 5
        assert not hasattr(found, "n_support_")


def test_all_columns_are_kept_when_there_are_no_more():
    X, y = classes(2, n_columns=12)
    found = RFE(50).fit(X, y)
    assert found.support_.all()
    assert found.sizes_.tolist() == [12]
    assert RFE().fit(X[:, :11], y).support_.sum() == 6
    assert RFE(fraction=0.25).fit(X, y).support_.sum() == 3
    assert RFE().fit(X[:, :1], y).support_.tolist() == [True]
    assert kept(RFE(1).fit([[0.0, 1.0, 2.0], [0.0, 2.0, 5.0]], ["a", "b"])) == {2}


def test_columns_that_say_nothing_go_from_the_last():
    found = RFE(2, step=1).fit(np.full((6, 5), 0.1), [0, 1, 0, 1, 0, 1])
    assert found.order_.tolist() == [0, 1, 2, 3, 4]


def test_no_hard_margin_is_told_to_those_whom_it_concerns():
    X, y = classes(2, n_columns=300)
    wide, narrow = RFE(200, C=np.inf), RFE(5, C=np.inf)
    together = Together([wide, narrow], X, y)
    together.fitted(0)
    with pytest.warns(ConvergenceWarning, match="no hard margin found on .* columns and fewer"):
        together.fitted(1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "'k' parameter"),
        ({"k": 2, "fraction": 0.5}, "got k and fraction"),
        ({"step": 0}, "'step' parameter"),
        ({"step": 1.0}, "'step' parameter"),
        ({"step": 2.5}, "'step' parameter"),
        ({"C": 0.0}, "'C' parameter"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X, y = classes(2)
    with pytest.raises(ValueError, match=message):
        RFE(**parameters).fit(X, y)


def test_bad_input_is_refused():
    X, y = classes(2)
    with pytest.raises(TamisError, match="RFE needs at least 2 classes"):
        RFE(2).fit(X, np.zeros(90))
    with pytest.raises(TamisError, match="no row of class 1 has a sample weight above zero"):
        RFE(2).fit(X, y, sample_weight=(y == 0).astype(float))
    for wide in (np.asarray, sp.csr_array):
        with pytest.raises(TamisError, match="overflow; scale the columns"):
            RFE(2).fit(wide(X * 1e200), y)
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        RFE(2).fit(X, y)
