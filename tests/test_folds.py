"""Ways to split: nothing lost, nothing twice, nothing on both sides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import LeaveOneOut as SklearnLeaveOneOut
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from tamis.base.errors import TamisError
from tamis.base.seeds import spawn
from tamis.validation.experiment import scheme
from tamis.validation.folds import LeaveOneOut, OfficialSplit, Pooled, SmallClass, StratifiedFolds


@given(st.integers(2, 5), st.integers(1, 3), st.lists(st.integers(5, 12), min_size=2, max_size=4), st.integers(0, 99))
def test_every_row_is_tested_once_per_repeat(folds: int, repeats: int, sizes: list[int], seed: int) -> None:
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    splits = StratifiedFolds(folds, repeats).splits(y, seed=seed)
    assert [(s.repeat, s.fold) for s in splits] == [(r, f) for r in range(repeats) for f in range(folds)]
    for repeat in range(repeats):
        tested = np.concatenate([s.test for s in splits if s.repeat == repeat])
        assert np.array_equal(np.sort(tested), np.arange(y.size))
    for s in splits:
        assert np.array_equal(np.sort(np.concatenate([s.train, s.test])), np.arange(y.size))
        counts = np.bincount(y[s.test], minlength=len(sizes))
        assert np.all(np.abs(counts - np.array(sizes) / folds) < 1)


def test_the_folds_are_scikit_learns() -> None:
    y = np.random.default_rng(0).permutation(np.repeat(["a", "b", "c"], [10, 15, 20]))
    splits = StratifiedFolds(5, repeats=2).splits(y, seed=4)
    for repeat in (0, 1):
        cv = StratifiedKFold(5, shuffle=True, random_state=spawn(4, repeat))
        ours = [s for s in splits if s.repeat == repeat]
        for s, (train, test) in zip(ours, cv.split(y, y), strict=True):
            assert np.array_equal(s.train, train)
            assert np.array_equal(s.test, test)


def test_repeats_and_seeds_differ_and_return() -> None:
    y = np.repeat([0, 1], 20)
    first, second = (s.test for s in StratifiedFolds(2, repeats=2).splits(y) if s.fold == 0)
    assert not np.array_equal(first, second)
    again = StratifiedFolds(2).splits(y)[0].test
    assert np.array_equal(first, again)
    assert not np.array_equal(first, StratifiedFolds(2).splits(y, seed=1)[0].test)


@given(st.integers(0, 200))
def test_groups_never_straddle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], 30))
    groups = rng.integers(12, size=60)
    for s in StratifiedFolds(3, repeats=2).splits(y, groups=groups, seed=seed):
        assert not set(groups[s.train]) & set(groups[s.test])


def test_group_folds_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    y, groups = rng.permutation(np.repeat([0, 1], 30)), rng.integers(12, size=60)
    cv = StratifiedGroupKFold(3, shuffle=True, random_state=spawn(7, 0))
    for s, (train, test) in zip(
        StratifiedFolds(3).splits(y, groups=groups, seed=7), cv.split(y, y, groups), strict=True
    ):
        assert np.array_equal(s.train, train)
        assert np.array_equal(s.test, test)


def test_leave_one_out_is_scikit_learns() -> None:
    y = np.array([0, 1, 0, 1, 1])
    for s, (train, test) in zip(LeaveOneOut().splits(y), SklearnLeaveOneOut().split(y), strict=True):
        assert np.array_equal(s.train, train)
        assert np.array_equal(s.test, test)


def test_leave_one_out_with_groups_leaves_one_group_out() -> None:
    groups = np.array(["b", "a", "b", "c"])
    tests = [s.test.tolist() for s in LeaveOneOut().splits(np.array([0, 1, 0, 1]), groups=groups)]
    assert tests == [[1], [0, 2], [3]]


def test_official_split_prefers_valid() -> None:
    parts = np.array(["train", "valid", "test", "train"])
    (s,) = OfficialSplit().splits(np.zeros(4), parts=parts)
    assert (s.train.tolist(), s.test.tolist()) == ([0, 3], [1])
    (s,) = OfficialSplit().splits(np.zeros(3), parts=np.array(["test", "train", "train"]))
    assert (s.train.tolist(), s.test.tolist()) == ([1, 2], [0])


def test_pooled_takes_train_and_valid_together() -> None:
    parts = np.repeat(["train", "test", "valid"], [10, 10, 10])
    y = np.tile([0, 1], 15)
    splits = Pooled(StratifiedFolds(5)).splits(y, parts=parts)
    assert sorted(np.concatenate([s.test for s in splits])) == [*range(10), *range(20, 30)]
    assert not np.isin(np.concatenate([s.train for s in splits]), np.arange(10, 20)).any()
    without = np.where(parts == "valid", "train", parts)
    splits = Pooled(StratifiedFolds(5)).splits(y, parts=without)
    assert sorted(np.concatenate([s.test for s in splits])) == [*range(30)]


def test_pooled_keeps_groups_together() -> None:
    parts = np.repeat(["train", "test", "valid"], [10, 10, 10])
    groups = np.arange(30) // 2 % 5
    for s in Pooled(StratifiedFolds(2)).splits(np.tile([0, 1], 15), groups=groups, parts=parts):
        assert not set(groups[s.train]) & set(groups[s.test])


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (None, "4 stratified folds, 2 times"),
        ("folds", "4 stratified folds, 2 times"),
        ("pooled", "4 stratified folds, 2 times of the pooled rows"),
    ],
)
def test_words(word: str | None, text: str) -> None:
    assert str(scheme(word, folds=4, repeats=2)) == text


def test_bad_splits_in_one_sentence() -> None:
    y = np.repeat(["big", "small"], [30, 3])
    with pytest.raises(TamisError, match="no class has 31 rows for the 31 folds; take 30 folds or leave-one-out"):
        StratifiedFolds(31).splits(y)
    with pytest.raises(TamisError, match="2 groups cannot be split into 3 folds; take at most 2 folds"):
        StratifiedFolds(3).splits(y, groups=np.arange(33) % 2)
    with pytest.raises(TamisError, match="folds must be a whole number of 2 or more; got 1"):
        StratifiedFolds(1)
    with pytest.raises(TamisError, match="repeats must be a whole number of 1 or more; got 0"):
        StratifiedFolds(3, 0)
    with pytest.raises(TamisError, match="has no official split"):
        OfficialSplit().splits(y)
    with pytest.raises(TamisError, match=r"needs labelled rows of 'train' and of 'valid' or 'test'; got 'train'"):
        OfficialSplit().splits(y, parts=np.full(33, "train"))
    with pytest.raises(TamisError, match="leave-one-out needs two groups or more; got 1"):
        LeaveOneOut().splits(y, groups=np.zeros(33))
    with pytest.raises(TamisError, match="official, leave-one-out or bootstrap; got 'random'"):
        scheme("random")
    with pytest.raises(TamisError, match="repeats must be 1; got 3"):
        scheme("official", repeats=3)


def test_a_class_that_cannot_be_in_every_fold_is_told_of_by_name() -> None:
    y = np.repeat(["big", "small"], [30, 3])
    with pytest.warns(SmallClass, match="class 'small' has 3 rows, fewer than the 10 folds") as said:
        splits = StratifiedFolds(10).splits(y)
    assert len(said) == 1
    assert sorted(np.concatenate([s.test for s in splits])) == list(range(33))
    assert sum((y[s.test] == "small").any() for s in splits) == 3
    with pytest.warns(SmallClass, match="class 7 has 1 row, fewer than the 2 folds"):
        StratifiedFolds(2).splits(np.array([1, 1, 7]))
