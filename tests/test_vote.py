"""The committee of selectors against counting sets; order of equals; members that cannot be traced; bad input."""

from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold, mutual_info_classif
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import tamis
from drawn import Drawn
from planted import planted
from tamis.base.cut import NothingPasses
from tamis.base.errors import TamisError
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.selector import Selection, Selector
from tamis.compose.recipe import to_text
from tamis.select import Ranking, Vote
from tamis.transform import Encode, Impute, Standardize


class Fixed(Selector):
    """Keeps the columns it is told to, ranked in the order given."""

    _parameter_constraints: ClassVar[dict] = {"columns": ["array-like"]}

    def __init__(self, columns=(0,)):
        self.columns = columns

    def _select(self, X, y):
        scores = np.zeros(X.shape[1])
        scores[list(self.columns)] = 1.0 + np.arange(len(self.columns))[::-1]
        return Selection(scores > 0, scores)


def some(seed: int = 0, rows: int = 30, columns: int = 8) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(seed).normal(size=(rows, columns)), np.arange(rows) % 2


sets = st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=1, max_size=5)


@given(sets, st.data())
def test_votes_are_counted(chosen, data) -> None:
    X, y = some()
    needed = data.draw(st.one_of(st.none(), st.integers(1, len(chosen))))
    threshold = len(chosen) // 2 + 1 if needed is None else needed
    counted = [sum(j in one for one in chosen) for j in range(8)]
    model = Vote([Fixed(sorted(one)) for one in chosen], at_least=needed)
    expected = {j for j in range(8) if counted[j] >= threshold}
    if expected:
        model.fit(X, y)
    else:
        with pytest.warns(NothingPasses, match=f"no feature has {threshold} votes"):
            model.fit(X, y)
        expected = {j for j in range(8) if counted[j] == max(counted)}
    assert model.votes_.tolist() == counted
    assert model.scores_.tolist() == counted
    assert set(model.get_support(indices=True)) == expected
    assert all(counted[a] >= counted[b] for a, b in pairwise(model.order_))
    assert sorted(model.order_) == list(range(8))


@given(sets)
def test_one_vote_is_the_union_and_all_votes_the_intersection(chosen) -> None:
    X, y = some()
    members = [Fixed(sorted(one)) for one in chosen]
    assert set(Vote(members, at_least=1).fit(X, y).get_support(indices=True)) == set.union(*chosen)
    common = set.intersection(*chosen)
    if common:
        assert set(Vote(members, at_least=len(members)).fit(X, y).get_support(indices=True)) == common


def test_equal_votes_go_by_the_mean_place_then_by_column() -> None:
    X, y = some(columns=5)
    # Places of 1 and 3 in the two rankings: 0 and 2 against 1 and 0; of 0, 2 and 4 what column order leaves.
    model = Vote([Fixed([1, 3, 0]), Fixed([3, 2, 1])], at_least=1).fit(X, y)
    places = [model.estimators_[0].order_.tolist(), model.estimators_[1].order_.tolist()]
    assert places == [[1, 3, 0, 2, 4], [3, 2, 1, 0, 4]]
    assert model.votes_.tolist() == [1, 2, 1, 2, 0]
    # 0: (2 + 3) / 2, 2: (3 + 1) / 2.
    assert model.order_.tolist() == [3, 1, 2, 0, 4]
    draws = Vote([Fixed([4, 2]), Fixed([2, 4])]).fit(X, y)
    assert draws.order_.tolist()[:2] == [2, 4]


def test_members_that_do_not_rank_have_votes_alone() -> None:
    X, y = some()
    X[:, 5] = 1.0
    informative = SelectKBest(partial(mutual_info_classif, random_state=0), k=2)
    model = Vote([VarianceThreshold(), informative], at_least=1).fit(X, y)
    assert model.votes_[5] == 0
    assert model.order_[-1] == 5
    assert model.order_.tolist() == sorted(range(8), key=lambda j: (-model.votes_[j], j))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_pipelines_vote_with_the_columns_they_keep(form) -> None:
    X, y = planted()
    X = np.abs(X)
    X[:, 0] = 1.0
    members = [
        make_pipeline(Standardize(), Ranking("cc", k=5)),
        make_pipeline(Ranking("variance"), make_pipeline("passthrough", Ranking("f", k=6))),
        Ranking("fisher", k=7),
    ]
    model = Vote(members, at_least=2).fit(form(X), y)
    kept = [set(Ranking(by, k=k).fit(X, y).get_support(indices=True)) for by, k in (("cc", 5), ("f", 6), ("fisher", 7))]
    assert model.votes_.tolist() == [sum(j in one for one in kept) for j in range(X.shape[1])]
    # Column 0 never reaches the second member's selector, and comes last.
    assert model.order_[-1] == 0


def test_a_column_in_several_copies_counts_once() -> None:
    X, y = some(columns=3)
    many = make_pipeline(Encode(), Ranking("cc", k=2))
    assert Vote([many]).fit(X, y).votes_.max() == 1


def test_planted_features_are_found() -> None:
    X, y = planted(rows=100)
    assert Vote([Ranking(by, k=4) for by in ("cc", "fisher", "s2n")]).fit(X, y).support_[[3, 8]].all()


def test_without_one_vote_the_first_of_the_ranking_is_kept() -> None:
    X, y = some()
    with pytest.warns(NothingPasses, match="no feature has 1 votes; the best 1, with 0, selected instead"):
        model = Vote([Ranking("cc", threshold=2.0, at_least=0)]).fit(X, y)
    assert model.support_.sum() == 1
    assert model.support_[np.argmax(Ranking("cc").fit(X, y).scores_)]


def test_missing_values_pass_when_every_member_takes_them() -> None:
    X, y = some()
    X[::3, 2] = np.nan
    assert Vote([Ranking("cc", k=2), Ranking("f", k=2)]).fit(X, y).n_features_in_ == 8
    filled = Vote([Ranking("cc", k=2), make_pipeline(Impute(), Fixed([1]))], at_least=1)
    assert filled.fit(X, y).support_[1]
    with pytest.raises(ValueError, match="NaN"):
        Vote([Ranking("cc", k=2), Fixed([1])]).fit(X, y)


def test_classes_are_needed_when_a_member_needs_them() -> None:
    X, _ = some()
    assert Vote([Ranking("variance", k=3), Ranking("count", k=3)], at_least=1).fit(X).support_.sum() >= 3
    for supervised in (Ranking("cc", k=3), make_pipeline(Ranking("cc", k=3), Ranking("variance", k=2))):
        with pytest.raises(ValueError, match="requires y"):
            Vote([Ranking("variance", k=3), supervised]).fit(X)


def test_members_get_the_labels_as_they_are() -> None:
    X, y = some()
    model = Vote([Fixed([1])]).fit(X, np.array(["ill", "well"])[y])
    assert model.estimators_[0].classes_.tolist() == ["ill", "well"]


def test_one_seed_one_result_for_any_number_of_workers() -> None:
    X, y = some(columns=60)
    members = [Drawn(), make_pipeline(Standardize(), Drawn()), Drawn(random_state=5)]
    one = Vote(members, random_state=3).fit(X, y)
    np.testing.assert_array_equal(Vote(members, random_state=3, n_jobs=2).fit(X, y).votes_, one.votes_)
    assert not np.array_equal(Vote(members, random_state=4).fit(X, y).votes_, one.votes_)
    supports = [m.get_support() if hasattr(m, "get_support") else m[-1].get_support() for m in one.estimators_]
    assert not np.array_equal(supports[0], supports[1])
    np.testing.assert_array_equal(supports[2], Drawn(random_state=5).fit(X, y).support_)
    seed = int(generator(3).integers(2**31))
    np.testing.assert_array_equal(supports[0], seeded(Drawn(), spawn(seed, 0)).fit(X, y).support_)
    assert members[0].random_state is None


def test_warnings_of_members_are_heard_from_workers_too() -> None:
    X, y = some()
    for n_jobs in (1, 2):
        with pytest.warns(NothingPasses, match="0 of 8 features meet the cut"):
            Vote([Ranking("cc", threshold=2.0), Ranking("cc", k=1)], n_jobs=n_jobs).fit(X, y)


def test_parameters_of_members_are_reached_by_number() -> None:
    model = Vote([Ranking("cc", k=3), make_pipeline(Standardize(), Drawn())], at_least=2)
    deep = model.get_params()
    assert deep["estimators_1__k"] == 3
    assert deep["estimators_2__drawn__random_state"] is None
    assert "estimators_1" not in model.get_params(deep=False)
    copy = clone(model)
    assert copy.set_params(estimators_1__k=7, estimators_2__drawn__random_state=1, at_least=1) is copy
    assert (copy.estimators[0].k, copy.estimators[1][-1].random_state, copy.at_least) == (7, 1, 1)
    assert (model.estimators[0].k, model.at_least) == (3, 2)
    copy.set_params(estimators_1=Fixed([2]), estimators_1__columns=[3])
    assert (type(copy.estimators[0]), copy.estimators[0].columns) == (Fixed, [3])
    assert copy.set_params(estimators=[Fixed([1])]).get_params()["estimators_1__columns"] == [1]
    with pytest.raises(ValueError, match="estimators_9"):
        model.set_params(estimators_9__k=1)
    assert seeded(clone(model), 1).estimators[1][-1].random_state is not None


def test_a_recipe_votes() -> None:
    X, y = planted()
    model = tamis.recipe("vote(cc(6), standardize | f(9), variance, at_least=3)")
    expected = Vote([Ranking("cc", k=6), Ranking("f", k=9), Ranking("variance")], at_least=3).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).support_, expected.support_)
    assert to_text(model) == "vote(cc(6), standardize | f(9), variance, at_least=3)"


class Opaque(BaseEstimator):
    """Selects, but of columns of its own making."""

    def fit(self, X, y=None):
        return self

    def get_support(self):
        return np.ones(3, dtype=bool)


@pytest.mark.parametrize(
    ("members", "match"),
    [
        ([], "vote needs at least one member"),
        (
            [Fixed([1]), GaussianNB()],
            r"vote: member 2 must be a selector or a pipeline that ends in one; got GaussianNB",
        ),
        ([make_pipeline(Fixed([1]), Standardize())], "vote: member 1 must be a selector"),
        (["cc"], "vote: member 1 must be a selector"),
        ([make_pipeline(PCA(2), Ranking("cc", k=1))], "vote: member 1: the columns selected by .* cannot be traced"),
        ([Fixed([1]), Opaque()], "vote: member 2: the columns selected by .* cannot be traced"),
        ([Fixed([1]), Fixed([2])], "vote: at_least must be at most the number of members, 2; got 3"),
    ],
)
def test_bad_members(members, match) -> None:
    X, y = some()
    with pytest.raises(TamisError, match=match):
        Vote(members, at_least=3 if "at_least" in match else None).fit(X, y)


@pytest.mark.parametrize("parameters", [{"estimators": 5}, {"at_least": 0}, {"at_least": 1.5}, {"n_jobs": "all"}])
def test_wrong_parameters(parameters) -> None:
    X, y = some()
    with pytest.raises(ValueError, match=f"'{next(iter(parameters))}'"):
        Vote(**parameters).fit(X, y)
