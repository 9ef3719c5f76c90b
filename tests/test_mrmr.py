"""mRMR against naive recomputation and scikit-learn's mutual information; bounds, groups, forced columns; bad input."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from fast_select.mRMR import mRMR as FastSelect
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import mutual_info_score

from mrmr_oracle import measures, naive
from tamis import recipe
from tamis.base.errors import DataError, TamisError
from tamis.base.seeds import generator
from tamis.base.shared_fit import Together, grouped
from tamis.contingency.target_states import target_states
from tamis.select import MRMR
from tamis.select.mrmr import search as mrmr_search
from tamis.select.mrmr.redundancy import DenseCorrelation
from tamis.select.mrmr.search import Search, Units

CRITERIA = ["mid", "miq", "fcd", "fcq"]


def telling(X: np.ndarray) -> list[int]:
    return [j for j, column in enumerate(X.T) if np.unique(column[~np.isnan(column)]).size > 1]


@st.composite
def problems(draw, missing=False):
    n, p = draw(st.integers(5, 24)), draw(st.integers(2, 7))
    values = [0.0, 0.0, 1.0, 2.0, 3.0, *([np.nan] if missing else [])]
    X = draw(arrays(np.float64, (n, p), elements=st.sampled_from(values)))
    copied = draw(st.integers(0, p - 1))
    shift, sign = draw(st.sampled_from([(0.0, 1.0), (0.0, 2.0), (3.0, -1.0)]))
    X[:, copied] = shift + sign * X[:, draw(st.integers(0, p - 1))]
    y = draw(arrays(np.intp, n, elements=st.integers(0, 2)))
    y[:2] = [0, 1]
    return X, y


@pytest.mark.slow  # the package compiles itself for a dozen seconds
@pytest.mark.parametrize("criterion", ["mid", "miq"])
@pytest.mark.parametrize("seed", range(5))
def test_order_is_that_of_an_independent_package(criterion: str, seed: int) -> None:
    rng = generator(seed)
    y = rng.integers(0, 3, 200)
    X = rng.integers(0, 4, size=(200, 25))
    X[:, :8] = np.where(rng.random((200, 8)) < 0.4, y[:, None], X[:, :8])
    theirs = FastSelect(n_features_to_select=12, method=criterion.upper(), backend="cpu").fit(X, y)
    np.testing.assert_array_equal(MRMR(12, criterion=criterion).fit(X, y).chosen_, theirs.top_features_)


@given(problems(), st.sampled_from(CRITERIA), st.sampled_from([1, 2, 32]))
@settings(max_examples=150, deadline=None)
def test_equals_naive_recomputation(problem, criterion, ahead) -> None:
    X, y = problem
    relevance, redundancy = measures(X, y, criterion)
    units = [[j] for j in telling(X)]
    expected = naive(relevance, redundancy, quotient=criterion.endswith("q"), units=units)
    for form in (np.asarray, sp.csr_array, sp.csc_matrix):
        # With few candidates brought up to date at a time the bound decides about all others.
        with patch.object(mrmr_search, "_AHEAD", ahead):
            found = MRMR(10, criterion=criterion).fit(form(X), y)
        assert found.chosen_.tolist() == expected
        np.testing.assert_allclose(found.relevance_, relevance, rtol=2e-9, atol=1e-9)
        before = [redundancy[j, expected[:i]].mean() if i else 0.0 for i, j in enumerate(expected)]
        np.testing.assert_allclose(found.redundancy_, before, atol=1e-9)


@given(problems(), st.sampled_from(CRITERIA), st.data())
@settings(max_examples=100, deadline=None)
def test_numbers_equal_naive_recomputation(problem, criterion, data) -> None:
    X, _ = problem
    y = data.draw(arrays(np.float64, X.shape[0], elements=st.sampled_from([0.25, 0.5, 1.0, 2.0, 7.0])))
    target = target_states(y) if criterion.startswith("m") else y
    relevance, redundancy = measures(X, target, criterion)
    units = [[j] for j in telling(X)]
    expected = naive(relevance, redundancy, quotient=criterion.endswith("q"), units=units)
    for form in (np.asarray, sp.csr_array, sp.csc_matrix):
        found = MRMR(10, criterion=criterion, task="regress").fit(form(X), y)
        assert found.chosen_.tolist() == expected
        np.testing.assert_allclose(found.relevance_, relevance, rtol=2e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_numbers_by_quotient_are_those_of_an_independent_package(seed: int) -> None:
    mrmr = pytest.importorskip("mrmr")
    rng = generator(seed)
    X = rng.normal(size=(200, 30))
    X[:, 10:20] = X[:, :10] + 0.3 * rng.normal(size=(200, 10))
    y = X[:, :8].sum(axis=1) + rng.normal(size=200)
    theirs = mrmr.mrmr_regression(pd.DataFrame(X), pd.Series(y), K=12, show_progress=False)
    assert MRMR(12, criterion="fcq").fit(X, y).chosen_.tolist() == list(theirs)


@given(problems(missing=True), st.sampled_from(["mid", "miq"]))
@settings(max_examples=80, deadline=None)
def test_missing_values_are_left_out_of_pairs(problem, criterion) -> None:
    X, y = problem
    relevance, redundancy = measures(X, y, criterion)
    units = [[j] for j in telling(X)]
    expected = naive(relevance, redundancy, quotient=criterion == "miq", units=units)
    for form in (np.asarray, sp.csr_array):
        found = MRMR(10, criterion=criterion).fit(form(X), y)
        assert found.chosen_.tolist() == expected
        np.testing.assert_allclose(found.relevance_, relevance, rtol=2e-9, atol=1e-9)


@given(problems(), st.data(), st.sampled_from(CRITERIA))
@settings(max_examples=80, deadline=None)
def test_groups_come_in_whole_and_count_by_their_means(problem, data, criterion) -> None:
    X, y = problem
    labels = data.draw(st.lists(st.sampled_from("abc"), min_size=X.shape[1], max_size=X.shape[1]))
    relevance, redundancy = measures(X, y, criterion)
    units = [[j for j, other in enumerate(labels) if other == label] for label in dict.fromkeys(labels)]
    units = [unit for unit in units if set(unit) & set(telling(X))]
    expected = naive(relevance, redundancy, quotient=criterion.endswith("q"), units=units)
    found = MRMR(10, criterion=criterion, groups=labels).fit(X, y)
    assert found.chosen_.tolist() == expected
    before = [redundancy[j, expected[:i]].mean() if i else 0.0 for i, j in enumerate(expected)]
    np.testing.assert_allclose(found.redundancy_, before, atol=1e-9)


def wide() -> tuple[np.ndarray, np.ndarray]:
    rng = generator(3)
    y = rng.integers(0, 3, 120)
    X = rng.integers(0, 4, (120, 90)) * (rng.random((120, 90)) < 0.4)
    X[:, ::9] = np.where(rng.random((120, 10)) < 0.5, y[:, None], X[:, ::9])
    return X.astype(float), y


@pytest.mark.parametrize("criterion", CRITERIA)
def test_wide_data_by_the_bound_and_by_all_pairs(criterion) -> None:
    X, y = wide()
    relevance, redundancy = measures(X, y, criterion)
    expected = naive(relevance, redundancy, quotient=criterion.endswith("q"), units=[[j] for j in range(90)])
    for form, ahead in ((np.asarray, 32), (np.asarray, 1), (sp.csr_array, 1)):
        with patch.object(mrmr_search, "_AHEAD", ahead):
            found = MRMR(40, criterion=criterion).fit(form(X), y)
        assert found.chosen_.tolist() == expected[:40]


def test_mid_through_the_mutual_information_of_scikit_learn() -> None:
    X, y = wide()
    X = X[:, :15]
    shared = [[mutual_info_score(one, other) for other in (y, *X.T)] for one in X.T]
    order: list[int] = []
    for _ in range(10):
        left = [j for j in range(15) if j not in order]
        worth = [shared[j][0] - sum(shared[j][1 + i] for i in order) / max(1, len(order)) for j in left]
        order.append(left[int(np.argmax(worth))])
    assert MRMR(10).fit(X, y).chosen_.tolist() == order
    assert order != MRMR(10).fit(X, y).relevance_.argsort()[::-1][:10].tolist()


def test_curves_are_those_of_the_paper() -> None:
    rng = generator(0)
    X, y = rng.integers(0, 3, (60, 8)).astype(float), rng.integers(0, 2, 60)
    for criterion in CRITERIA:
        relevance, redundancy = measures(X, y, criterion)
        found = MRMR(6, criterion=criterion, groups=[0, 1, 2, 2, 3, 4, 5, 6]).fit(X, y)
        for m in range(1, found.chosen_.size + 1):
            chosen = found.chosen_[:m]
            assert found.relevance_curve_[m - 1] == pytest.approx(relevance[chosen].mean())
            assert found.redundancy_curve_[m - 1] == pytest.approx(redundancy[np.ix_(chosen, chosen)].sum() / m**2)


class Counted:
    """Counts the pairs that are computed."""

    def __init__(self, pairs) -> None:
        self._pairs, self.selected, self.computed = pairs, 0, []
        self.flat = pairs.flat

    def add(self, column) -> None:
        self.selected += 1
        self._pairs.add(column)

    def summed(self, columns, since) -> np.ndarray:
        self.computed += [
            (int(c), t) for c, first in zip(columns, since, strict=True) for t in range(first, self.selected)
        ]
        return self._pairs.summed(columns, since)


@pytest.mark.parametrize("quotient", [False, True])
def test_a_pair_is_computed_once_and_most_not_at_all(quotient) -> None:
    rng = generator(0)
    X = rng.normal(size=(100, 400))
    pairs = Counted(DenseCorrelation(X))
    search = Search(pairs, Units.of(None, 400), rng.random(400), np.ones(400, dtype=bool), quotient=quotient)
    search.add(np.empty(0, dtype=np.intp))
    for _ in range(30):
        assert search.step()
    assert len(set(pairs.computed)) == len(pairs.computed)
    assert len(pairs.computed) < (0.7 if quotient else 0.35) * sum(400 - t for t in range(1, 30))


class Given:
    """Columns with given redundancies."""

    def __init__(self, shared) -> None:
        self.flat, self._shared, self._selected = np.zeros(len(shared), dtype=bool), np.array(shared), []

    def add(self, column) -> None:
        self._selected.append(column)

    def summed(self, columns, since) -> np.ndarray:
        return np.array([self._shared[c, self._selected[s:]].sum() for c, s in zip(columns, since, strict=True)])


def test_a_bound_that_equals_the_best_is_looked_into() -> None:
    pairs = Given([[1, 0, 0.25], [0, 1, 0.25], [0.25, 0.25, 1]])
    search = Search(pairs, Units.of(None, 3), np.array([0.5, 0.75, 1.0]), np.ones(3, dtype=bool), quotient=False)
    search.add(np.empty(0, dtype=np.intp))
    with patch.object(mrmr_search, "_AHEAD", 1):
        assert search.step()
        assert search.step()
    assert search.order == [2, 1]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_duplicate_comes_late(criterion) -> None:
    rng = generator(1)
    y = np.arange(200) % 2
    X = rng.integers(0, 3, (200, 6)).astype(float)
    X[:, 1] += 2 * y * (rng.random(200) < 0.8)
    X[:, 4] += 2 * y * (rng.random(200) < 0.5)
    X[:, 5] = X[:, 1]
    found = MRMR(6, criterion=criterion).fit(X, y)
    assert found.chosen_[0] == 1
    assert found.relevance_[5] == found.relevance_[1]
    if criterion in ("mid", "miq"):
        assert found.chosen_[1] == 4
        assert found.chosen_.tolist().index(5) >= 2
    if criterion == "fcd":
        # F is so much larger than any correlation that it alone decides.
        assert found.chosen_[1] == 5


def test_constants_come_behind_what_repeats_more_than_it_tells() -> None:
    rng = generator(2)
    y = np.arange(60) % 2
    told = y * (rng.random(60) < 0.9)
    X = np.column_stack([np.ones(60), told, told, np.full(60, np.nan), 1 - told])
    for form in (np.asarray, sp.csr_array):
        found = MRMR(4).fit(form(X), y)
        assert found.chosen_.tolist() == [1, 2, 4]
        assert found.order_.tolist() == [1, 2, 4, 0, 3]
        assert found.get_support(indices=True).tolist() == [0, 1, 2, 4]
        assert found.scores_.tolist() == [1, 4, 3, 0, 2]
    assert MRMR(1).fit(np.ones((4, 2)), [0, 1, 0, 1]).get_support(indices=True).tolist() == [0]
    assert MRMR(1, criterion="fcq").fit(np.ones((4, 2)), [0, 1, 0, 1]).chosen_.size == 0


def test_an_infinite_f_counts_as_twice_the_largest() -> None:
    y = np.array([0, 0, 0, 1, 1, 1])
    X = np.column_stack([[1, 2, 1, 4, 5, 5], y, 1 - y, [0, 1, 0, 1, 0, 0]]).astype(float)
    found = MRMR(4, criterion="fcq").fit(X, y)
    assert found.relevance_[1] == found.relevance_[2] == pytest.approx(2 * found.relevance_[0])
    assert np.isfinite(found.relevance_curve_).all()
    alone = MRMR(2, criterion="fcd").fit(X[:, 1:3], y)
    assert alone.relevance_.tolist() == [1.0, 1.0]


def planted(rows: int = 150, columns: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(5)
    y = np.arange(rows) % 3
    X = rng.normal(size=(rows, columns))
    X[:, [3, 8, 11]] += y[:, None]
    return X, y


@pytest.mark.parametrize("criterion", CRITERIA)
def test_one_search_answers_every_k(criterion) -> None:
    X, y = planted()
    asked = [MRMR(k, criterion=criterion, groups=np.arange(20) // 2 * (np.arange(20) < 6)) for k in (1, 4, 7, 30)]
    assert len(grouped(asked)) == 1
    for one, together in zip(asked, Together(asked, X, y), strict=True):
        alone = MRMR(**one.get_params()).fit(X, y)
        for name in ("chosen_", "order_", "scores_", "support_", "redundancy_", "redundancy_curve_"):
            np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))


def test_more_than_there_are() -> None:
    X, y = planted()
    found = MRMR(99).fit(X, y)
    assert found.support_.all()
    assert sorted(found.chosen_) == list(range(20))
    assert (np.diff(found.scores_[found.order_]) < 0).all()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_what_is_forced_in_comes_first_and_counts(criterion) -> None:
    X, y = planted()
    X = 5 + np.rint(X)
    relevance, redundancy = measures(X, y, criterion)
    units = [[j] for j in range(20)]
    expected = naive(relevance, redundancy, quotient=criterion.endswith("q"), units=units, forced=(7, 2))
    found = MRMR(6, criterion=criterion, include=[7, 2]).fit(X, y)
    assert found.chosen_.tolist() == expected[:6]
    frame = pl.DataFrame(X, schema=[f"gene {j}" for j in range(20)])
    named = MRMR(6, criterion=criterion, include=["gene 7", "gene 2"]).fit(frame, y)
    assert named.chosen_.tolist() == expected[:6]
    assert MRMR(1, criterion=criterion, include=[7, 2]).fit(X, y).get_support(indices=True).tolist() == [2, 7]
    assert MRMR(2, criterion=criterion, include=4).fit(X, y).chosen_[0] == 4
    together = MRMR(3, criterion=criterion, include=4, groups=np.arange(20) % 10).fit(X, y)
    assert together.chosen_[:2].tolist() == [4, 14]
    assert together.support_.sum() == 4


def test_a_constant_can_be_forced_in() -> None:
    X, y = planted()
    X[:, 0] = 1.0
    for criterion in CRITERIA:
        assert MRMR(3, criterion=criterion, include=0).fit(X, y).chosen_[:2].tolist() == [
            0,
            int(MRMR(1, criterion=criterion).fit(X, y).chosen_[0]),
        ]


def test_candidates_are_the_most_relevant() -> None:
    X, y = planted()
    all_of_them = MRMR(20).fit(X, y)
    by_relevance = np.argsort(-all_of_them.relevance_)
    found = MRMR(8, candidates=5).fit(X, y)
    assert set(found.chosen_) == set(by_relevance[:5])
    # The search ends with the candidates; the rest are the next by relevance.
    assert set(found.get_support(indices=True)) == set(by_relevance[:8])
    assert found.order_[5:].tolist() == by_relevance[5:].tolist()
    whole = MRMR(8, candidates=5, groups=np.arange(20) // 2).fit(X, y)
    assert whole.chosen_.size == 6
    assert MRMR(5, candidates=20).fit(X, y).chosen_.tolist() == all_of_them.chosen_[:5].tolist()


@pytest.mark.parametrize("by", ["sigma", "equal_width", "equal_frequency", "ssv"])
def test_numbers_become_states_as_asked(by) -> None:
    X, y = planted()
    coarse = MRMR(3, bins=by).fit(X, y)
    assert set(coarse.chosen_) == {3, 8, 11}
    np.testing.assert_array_equal(
        MRMR(3, bins=by, criterion="fcd").fit(X, y).chosen_, MRMR(3, criterion="fcd").fit(X, y).chosen_
    )
    if by != "ssv":
        assert not np.array_equal(MRMR(3, bins=by, n_bins=2).fit(X, y).relevance_, coarse.relevance_)


def test_nominal_columns_are_states_as_they_are() -> None:
    rng = generator(0)
    y = np.arange(90) % 3
    colour = np.where(rng.random(90) < 0.7, y, rng.integers(0, 3, 90))
    frame = pl.DataFrame({"size": rng.normal(size=90), "colour": np.array(["red", "blue", "green"])[colour]})
    found = MRMR(1).fit(frame, y)
    assert found.get_feature_names_out().tolist() == ["colour"]
    assert found.relevance_[1] == pytest.approx(mutual_info_score(colour, y))
    with pytest.raises(DataError, match="criterion 'fcq' takes numbers and column 'colour' is nominal; put encode"):
        MRMR(1, criterion="fcq").fit(frame, y)


def test_missing_values_are_refused_by_correlation() -> None:
    X, y = planted()
    X[3, 4] = np.nan
    assert MRMR(3).fit(X, y).support_.sum() == 3
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match="NaN"):
            MRMR(3, criterion="fcd").fit(form(X), y)


def test_the_wrapper_stage_is_a_recipe() -> None:
    X, y = planted()
    model = recipe("mrmr(6) | sfs(knn(5), k=2, random_state=0) | knn(5)").fit(X, y)
    listed, chosen = model[0].get_support(indices=True), model[1].get_support(indices=True)
    assert listed.size == 6
    assert set(listed[chosen]) < {3, 8, 11}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"include": 20}, "include takes names of columns or numbers from 0 to 19; got 20"),
        ({"include": ["gene 1"]}, "got 'gene 1'"),
        ({"include": [1, True]}, "got True"),
        ({"include": [1.5]}, "got 1.5"),
        ({"include": [3, 3]}, r"include names a column twice: \[3, 3\]"),
        ({"groups": [1, 2]}, "groups must have a label for each of 20 columns; got 2"),
        ({"k": 0}, "k"),
        ({"criterion": "mim"}, "criterion"),
        ({"bins": "modl?"}, "bins"),
        ({"n_bins": 1}, "n_bins"),
        ({"candidates": 0}, "candidates"),
    ],
)
def test_bad_parameters(given, message) -> None:
    X, y = planted()
    with pytest.raises(ValueError, match=message):
        MRMR(**given).fit(X, y)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_infinity_is_refused(criterion) -> None:
    X, y = planted()
    X[3, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        MRMR(criterion=criterion).fit(X, y)


def test_the_errors_are_ours() -> None:
    X, y = planted()
    with pytest.raises(TamisError):
        MRMR(include=99).fit(X, y)
    with pytest.raises(TamisError):
        MRMR(groups=np.zeros((20, 1))).fit(X, y)


def test_the_picture_is_the_curves() -> None:
    X = np.random.default_rng(0).integers(0, 3, (40, 9))
    found = MRMR(4).fit(pl.DataFrame(X, schema=[f"<i>{j}" for j in range(9)]), X[:, 1] > 0)
    relevance, redundancy = found.plot().data
    np.testing.assert_array_equal(relevance.y, found.relevance_curve_)
    np.testing.assert_array_equal(redundancy.y, found.redundancy_curve_)
    assert relevance.text[0] == "1: &lt;i&gt;1"
