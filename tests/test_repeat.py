"""Repeated selection against an explicit loop; when it stops; sparse columns; bad input."""

import warnings
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectFromModel, VarianceThreshold
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
from tamis.select import Ranking, Repeat
from tamis.transform import Standardize


class ForwardLeast(Selector):
    """A full-featured filter: columns, best first, that correlate little with those taken before."""

    _parameter_constraints: ClassVar[dict] = {}

    def _select(self, X, y):
        worth = np.abs(np.corrcoef(X.T, y)[-1, :-1])
        taken = []
        for j in np.argsort(-worth):
            if worth[j] > 0.2 and all(abs(np.corrcoef(X[:, i], X[:, j])[0, 1]) < 0.5 for i in taken):
                taken.append(int(j))
        scores = np.zeros(X.shape[1])
        scores[taken] = worth[taken]
        return Selection(scores > 0, scores)


def by_hand(selector, X, y, times, k) -> list[list[int]]:
    left, rounds = list(range(X.shape[1])), []
    for _ in range(times):
        if not left:
            break
        fitted = clone(selector).fit(X[:, left], y)
        taken = [left[j] for j in fitted.order_ if fitted.support_[j]][:k]
        if not taken:
            break
        rounds.append(taken)
        left = [j for j in left if j not in taken]
    return rounds


def twins(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three informative columns (0, 1, 2), each with a near copy (3, 4, 5), and four of noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 10))
    X[:, :3] += np.array([2.0, 1.5, 1.0]) * y[:, None]
    X[:, 3:6] = X[:, :3] + 0.05 * rng.normal(size=(120, 3))
    return X, y


@pytest.mark.parametrize("selector", [ForwardLeast(), Ranking("cc", k=4), Ranking("f", fdr=0.05), Drawn(3)])
@pytest.mark.parametrize("times", [1, 2, 5, 30])
@pytest.mark.parametrize("k", [1, 2, None])
def test_rounds_are_those_of_a_loop(selector, times, k) -> None:
    X, y = twins()
    with warnings.catch_warnings():
        # The loop below does not stop at a warning; the rounds before it must agree.
        warnings.simplefilter("ignore", NothingPasses)
        expected = by_hand(selector, X, y, times, k)
    found = [taken.tolist() for taken in Repeat(selector, times=times, k=k).fit(X, y).rounds_]
    assert found == expected[: len(found)]
    if not (isinstance(selector, Ranking) and selector.fdr):
        assert len(found) == len(expected)


def test_a_full_featured_filter_picks_up_the_near_copies_later() -> None:
    X, y = twins()
    once = set(Repeat(ForwardLeast(), times=1).fit(X, y).get_support(indices=True))
    twice = set(Repeat(ForwardLeast(), times=2).fit(X, y).get_support(indices=True))
    assert len(once & {0, 1, 2, 3, 4, 5}) == 3
    assert {0, 1, 2, 3, 4, 5} <= twice


def test_k_is_never_filled_up_with_what_the_filter_does_not_keep() -> None:
    X, y = twins()
    model = Repeat(ForwardLeast(), times=9, k=8).fit(X, y)
    assert all(0 < taken.size < 8 for taken in model.rounds_)
    assert len(model.rounds_) < 9
    noise = np.abs(np.corrcoef(X.T, y)[-1, :-1]) <= 0.2
    assert noise.any()
    assert not model.support_[noise].any()


def test_scores_and_ranking_follow_the_order_of_picking() -> None:
    X, y = twins()
    model = Repeat(ForwardLeast(), times=3, k=2).fit(X, y)
    picked = np.concatenate(model.rounds_)
    np.testing.assert_array_equal(model.order_[: picked.size], picked)
    np.testing.assert_array_equal(np.sort(model.order_), np.arange(10))
    np.testing.assert_array_equal(np.argsort(-model.scores_, kind="stable")[: picked.size], picked)
    assert model.scores_[model.rounds_[0]].tolist() == [3.0, 2.5]
    assert (model.scores_[~model.support_] == 0).all()
    np.testing.assert_array_equal(model.support_, model.scores_ > 0)


def test_what_is_left_is_ranked_by_the_last_round() -> None:
    X, y = twins()
    model = Repeat(Ranking("cc", k=2), times=2).fit(X, y)
    np.testing.assert_array_equal(model.order_, Ranking("cc").fit(X, y).order_)


def test_it_stops_when_nothing_is_left() -> None:
    X, y = twins()
    model = Repeat(Ranking("cc", k=4), times=50).fit(X, y)
    assert [taken.size for taken in model.rounds_] == [4, 4, 2]
    assert model.support_.all()


def test_it_stops_when_features_are_kept_by_default_alone() -> None:
    X, y = twins()
    strict = Ranking("cc", threshold=0.4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Repeat(strict, times=5).fit(X, y)
    assert len(model.rounds_) == 1
    np.testing.assert_array_equal(model.support_, strict.fit(X, y).support_)


def test_the_first_round_counts_even_so() -> None:
    X, y = twins()
    with pytest.warns(NothingPasses, match="0 of 10 features") as warned:
        model = Repeat(Ranking("cc", threshold=2.0), times=5).fit(X, y)
    assert len(warned) == 1
    assert [taken.size for taken in model.rounds_] == [1]
    empty = Repeat(Ranking("cc", threshold=2.0, at_least=0), times=5).fit(X, y)
    assert empty.rounds_ == []
    assert not empty.support_.any()
    np.testing.assert_array_equal(empty.order_, Ranking("cc").fit(X, y).order_)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 4))
def test_sparse_is_dense_and_columns_may_move(seed, times, k) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((24, 9)) * (rng.random((24, 9)) < 0.5)
    y = np.arange(24) % 3
    model = Repeat(Ranking("f", k=3), times=times, k=k)
    expected = model.fit(X, y).scores_
    for form in (sp.csr_array, sp.csc_matrix):
        np.testing.assert_array_equal(clone(model).fit(form(X), y).scores_, expected)
    order = rng.permutation(9)
    np.testing.assert_array_equal(clone(model).fit(X[:, order], y).scores_, expected[order])


def test_pipelines_and_selectors_that_do_not_rank() -> None:
    X, y = planted()
    piped = Repeat(make_pipeline(Standardize(), Ranking("cc", k=3)), times=3).fit(X, y)
    np.testing.assert_array_equal(piped.support_, Ranking("cc", k=9).fit(X, y).support_)
    X[:, 5] = 1.0
    plain = Repeat(VarianceThreshold(0.5), times=1).fit(X, y)
    np.testing.assert_array_equal(plain.support_, X.var(axis=0) > 0.5)
    with pytest.raises(TamisError, match="repeat: k needs a selector that ranks; VarianceThreshold"):
        Repeat(VarianceThreshold(), k=2).fit(X, y)


def test_columns_dropped_before_the_selector_come_last() -> None:
    X, y = twins()
    X[:, 2] = 1.0
    model = Repeat(make_pipeline(Ranking("variance"), Ranking("cc", k=2)), times=2).fit(X, y)
    assert model.order_[-1] == 2


def test_one_seed_one_result_and_another_seed_in_each_round() -> None:
    X, y = planted()
    model = Repeat(Drawn(), times=3, k=4, random_state=2)
    first = model.fit(X, y).rounds_
    for one, two in zip(first, clone(model).fit(X, y).rounds_, strict=True):
        np.testing.assert_array_equal(one, two)
    seed = int(generator(2).integers(2**31))
    np.testing.assert_array_equal(first[0], seeded(Drawn(), spawn(seed, 0)).fit(X, y).order_[:4])
    left = np.setdiff1d(np.arange(40), first[0])
    second = seeded(Drawn(), spawn(seed, 1)).fit(X[:, left], y).order_[:4]
    np.testing.assert_array_equal(first[1], left[second])
    forest = SelectFromModel(ExtraTreesClassifier(5))
    same = [Repeat(forest, times=2, random_state=1).fit(X, y).support_ for _ in range(2)]
    np.testing.assert_array_equal(*same)


def test_classes_and_missing_values_as_the_selector_takes_them() -> None:
    X, y = twins()
    assert Repeat(Ranking("variance", k=2), times=2).fit(X).support_.sum() == 4
    X[::5, 7] = np.nan
    assert Repeat(Ranking("cc", k=2), times=2).fit(X, y).support_.sum() == 4
    with pytest.raises(ValueError, match="NaN"):
        Repeat(Drawn()).fit(X, y)


def test_a_recipe_repeats() -> None:
    X, y = planted()
    text = "repeat(standardize | cc(5), times=3, k=2)"
    model = tamis.recipe(text)
    assert to_text(model) == text
    np.testing.assert_array_equal(model.fit(X, y).support_, Ranking("cc", k=6).fit(X, y).support_)
    assert model.get_params()["estimator__cc__k"] == 5


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"estimator": GaussianNB()}, "'estimator'"),
        (
            {"estimator": Standardize()},
            "repeat: estimator must be a selector or a pipeline that ends in one; got Standardize",
        ),
        (
            {"estimator": make_pipeline(PCA(2), Ranking("cc", k=1))},
            "repeat: the columns selected by .* cannot be traced",
        ),
        ({"times": 0}, "'times'"),
        ({"k": 0}, "'k'"),
    ],
)
def test_wrong_parameters(parameters, match) -> None:
    X, y = planted()
    with pytest.raises(ValueError, match=match):
        Repeat(**parameters).fit(X, y)
