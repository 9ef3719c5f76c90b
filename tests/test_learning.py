"""The learning curve: equal to validation at full size, nested below it, and watched by a spy."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from planted import chain, dataset, planted
from tamis.base.errors import TamisError
from tamis.validation.folds import StratifiedFolds
from tamis.validation.learning import learning_curve
from tamis.validation.metrics import Metric, accuracy
from tamis.validation.whole import validate


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers the rows it was fitted on and asked of, told by their first column."""

    fitted: ClassVar[list[list[int]]] = []
    asked: ClassVar[list[list[int]]] = []

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        Spy.fitted.append(X[:, 0].astype(int).tolist())
        return self

    def predict(self, X):
        Spy.asked.append(X[:, 0].astype(int).tolist())
        return np.full(X.shape[0], self.classes_[0])


def spied(y: np.ndarray, sizes: tuple[Any, ...], **options: Any) -> tuple[list[list[list[int]]], list[list[list[int]]]]:
    """The training rows and the test rows of each size and split."""
    Spy.fitted.clear()
    Spy.asked.clear()
    curve = learning_curve(Spy(), np.arange(float(y.size))[:, None], y, sizes=sizes, **options)
    n = len(Spy.fitted) // len(sizes)
    assert curve.rows.tolist() == [
        np.mean([len(rows) for rows in Spy.fitted[i * n : (i + 1) * n]]) for i in range(len(sizes))
    ]
    return tuple([all_of[i * n : (i + 1) * n] for i in range(len(sizes))] for all_of in (Spy.fitted, Spy.asked))


@pytest.mark.parametrize("split", ["folds", "pooled", "official", "leave-one-out"])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_whole_of_the_rows_is_validation(split: str, grouped: bool) -> None:
    X, y = planted(rows=24)
    data = dataset(X, y, split=np.tile(["train", "valid"], 12), groups=np.arange(24) // 3 if grouped else None)
    model = ExtraTreesClassifier(3)
    curve = learning_curve(model, data, sizes=(0.6, 1.0), split=split, folds=3, seed=4)
    expected = validate(model, data, split=split, folds=3, seed=4)
    assert curve.validations[-1] == expected
    assert curve.validations[0] != expected
    assert (curve.recipe, curve.data, curve.split) == (expected.recipe, expected.data, expected.split)


@settings(max_examples=10)
@given(st.lists(st.integers(6, 20), min_size=2, max_size=4), st.integers(0, 99))
def test_sets_are_nested_stratified_and_judged_alike(sizes: list[int], seed: int) -> None:
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    shares = (0.3, 0.55, 0.8, 1.0)
    fitted, asked = spied(y, shares, folds=3, repeats=2, seed=seed)
    splits = StratifiedFolds(3, 2).splits(y, seed=seed)
    for share, trained, tested in zip(shares, fitted, asked, strict=True):
        assert tested == [s.test.tolist() for s in splits]
        for s, rows in zip(splits, trained, strict=True):
            assert len(set(rows)) == len(rows) == round(share * s.train.size)
            per_class = np.bincount(y[rows], minlength=len(sizes))
            exact = np.bincount(y[s.train], minlength=len(sizes)) * len(rows) / s.train.size
            assert np.all(np.abs(per_class - exact) < len(sizes))
            assert per_class.min() >= 1
    for small, large in pairwise(fitted):
        assert all(set(a) < set(b) for a, b in zip(small, large, strict=True))
    assert fitted[-1] == [s.train.tolist() for s in splits]


def test_two_equal_classes_stay_equal() -> None:
    fitted, _ = spied(np.tile([0, 1], 30), (6, 12, 30), folds=3)
    for size, trained in zip((6, 12, 30), fitted, strict=True):
        for rows in trained:
            assert np.bincount(np.array(rows) % 2).tolist() == [size / 2, size / 2]


def test_small_sets_are_drawn_at_random() -> None:
    y = np.tile([0, 1], 30)
    (first,), _ = spied(y, (4,), folds=2, repeats=20)
    taken = np.bincount(np.concatenate(first), minlength=60)
    # 160 draws over 60 rows; the first rows have no better chance.
    assert (taken > 0).sum() > 45
    assert taken.max() < 12
    (again,), _ = spied(y, (4,), folds=2, repeats=20)
    (other,), _ = spied(y, (4,), folds=2, repeats=20, seed=1)
    assert first == again
    assert first != other


@settings(max_examples=12)
@given(st.integers(0, 99))
def test_groups_are_never_divided(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(18), rng.integers(1, 5, size=18))
    y = groups % 2 if seed % 2 else rng.permutation(np.arange(groups.size) % 2)
    fitted, asked = spied(y, (0.4, 0.7, 1.0), groups=groups, folds=3, seed=seed)
    for share, trained, whole in zip((0.4, 0.7), fitted, [fitted[-1]] * 2, strict=False):
        for rows, every, tested in zip(trained, whole, asked[0], strict=True):
            inside = np.isin(groups[every], groups[rows])
            assert np.array(every)[inside].tolist() == rows
            assert not set(groups[rows]) & set(groups[tested])
            # As few groups as hold the rows asked for: without the largest of them it would be too few.
            assert round(share * len(every)) <= len(rows) < round(share * len(every)) + np.bincount(groups).max()
    for small, large in pairwise(fitted):
        assert all(set(a) <= set(b) for a, b in zip(small, large, strict=True))


def test_sizes_may_be_rows_shares_and_in_any_order() -> None:
    X, y = planted(rows=40)
    curve = learning_curve(GaussianNB(), X, y, sizes=[1.0, 8, 0.5, np.int64(12)], folds=4)
    assert curve.sizes == (8, 12, 0.5, 1.0)
    assert curve.rows.tolist() == [8, 12, 15, 30]
    assert [v.split for v in curve.validations] == [
        "4 stratified folds, 8 of the training rows",
        "4 stratified folds, 12 of the training rows",
        "4 stratified folds, 0.5 of the training rows",
        "4 stratified folds",
    ]
    assert learning_curve(GaussianNB(), X, y, sizes=0.5, folds=4).sizes == (0.5,)


def test_the_gain_of_the_last_step() -> None:
    X, y = planted()
    curve = learning_curve(chain(), X, y, sizes=(0.2, 0.5, 1.0), folds=5, repeats=2, metrics=["accuracy", "ber"])
    before, after = (v.values["accuracy"] for v in curve.validations[1:])
    gain, se = curve.last_gain
    assert gain == pytest.approx((after - before).mean())
    assert se == pytest.approx((after - before).std(ddof=1) * np.sqrt(1 / 10 + 12 / 48))
    low = learning_curve(chain(), X, y, sizes=(0.2, 0.5, 1.0), folds=5, repeats=2, metrics="ber")
    assert low.last_gain == pytest.approx((gain, se))
    single = learning_curve(chain(), X[:20], y[:20], sizes=(0.5, 1.0), split="leave-one-out", metrics="accuracy")
    first, second = (v.summary()["accuracy"] for v in single.validations)
    assert single.last_gain == pytest.approx((second.mean - first.mean, np.hypot(first.se, second.se)))


def test_whether_more_rows_would_help_in_words() -> None:
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 100)
    X = rng.normal(size=(200, 30)) + 0.5 * y[:, None]
    curve = learning_curve(LogisticRegression(), X, y, sizes=(0.05, 1.0), folds=5, metrics="accuracy")
    gain, se = curve.last_gain
    step = f"from 8 to 160 training rows accuracy improves by {gain:.4f} +- {se:.4f}"
    assert curve.sentence() == f"more rows would probably help: {step}"
    upside_down = Metric("right", "right answers", "low", "labels", accuracy)
    worse = learning_curve(LogisticRegression(), X, y, sizes=(0.05, 1.0), folds=5, metrics=upside_down)
    step = f"from 8 to 160 training rows right answers worsens by {gain:.4f} +- {se:.4f}"
    assert worse.sentence() == f"more rows do not help: {step}"
    noise = learning_curve(LogisticRegression(), rng.normal(size=(200, 3)), y, sizes=(0.5, 1.0), folds=5)
    assert noise.sentence().startswith("no clear sign that more rows would help: from 80 to 160 training rows BER ")
    one = replace(curve, sizes=(1.0,), validations=curve.validations[1:])
    assert one.sentence().startswith("whether more rows would help is unknown")


def test_result_is_json_and_readable() -> None:
    X, y = planted(rows=40)
    curve = learning_curve(chain(), X, y, sizes=(0.5, 1.0), folds=4)
    plain = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert [line["rows"] for line in plain["table"]] == [15, 30]
    last = validate(chain(), X, y, folds=4).summary()["ber"]
    assert (plain["table"][1]["ber"], plain["table"][1]["ber_se"]) == (last.mean, last.se)
    assert plain["validations"][1]["metrics"]["ber"]["mean"] == last.mean
    assert (plain["metric"], plain["sentence"]) == ("ber", curve.sentence())
    lines = str(curve).splitlines()
    assert lines[0] == "StandardScaler() | cc(3) | LogisticRegression()"
    assert lines[-2].split() == ["1.0", "30", f"{last.mean:.4f}", "+-", f"{last.se:.4f}"]
    assert lines[-1] == curve.sentence()
    alone = learning_curve(chain(), X, y, sizes=1.0, folds=4).to_dict()
    assert (alone["last_gain"], alone["last_gain_se"]) == (None, None)


def test_jobs_models_and_progress() -> None:
    X, y = planted(rows=30)
    calls: list[tuple[int, int]] = []
    models = [ExtraTreesClassifier(3), "knn(1)"]
    one = learning_curve(models, X, y, sizes=(0.5, 1.0), folds=3, progress=lambda *count: calls.append(count))
    assert one == learning_curve(models, X, y, sizes=(0.5, 1.0), folds=3, n_jobs=2)
    assert one == [learning_curve(model, X, y, sizes=(0.5, 1.0), folds=3) for model in models]
    # Both models of a fold may be done at once.
    assert [total for _, total in calls] == [12] * len(calls)
    assert len(calls) >= 6
    assert sorted({done for done, _ in calls}) == [done for done, _ in calls]
    assert calls[-1] == (12, 12)
    assert one[0] != one[1]
    assert one[0] != "something else"


def test_warnings_are_told_once() -> None:
    X, y = planted(rows=30)
    with pytest.warns(ConvergenceWarning) as said:
        learning_curve(LogisticRegression(max_iter=1), X, y, sizes=(0.5, 1.0), folds=3)
    assert len({str(one.message) for one in said}) == len(said)
    assert all(one.filename == __file__ for one in said)


def test_bad_input_in_one_sentence() -> None:
    X, y = planted(rows=20)
    for size in (0, -1, 0.0, 1.5, float("nan"), True, "half"):
        with pytest.raises(TamisError, match="sizes must be shares above 0 and up to"):
            learning_curve(chain(), X, y, sizes=(size,))
    with pytest.raises(TamisError, match="sizes is empty"):
        learning_curve(chain(), X, y, sizes=())
    with pytest.raises(TamisError, match="sizes: repeat 1, fold 1 has 10 training rows; got 11"):
        learning_curve(chain(), X, y, sizes=(11,), folds=2)
    with pytest.raises(TamisError, match="sizes: 1 gives 1 training rows in repeat 1, fold 1, with 1 of 2 classes"):
        learning_curve(chain(), X, y, sizes=(1,), folds=2)
    with pytest.raises(TamisError, match=r"sizes: 5 and 0\.5 give the same training rows; leave one out"):
        learning_curve(chain(), X, y, sizes=(5, 0.5), folds=2)
    with pytest.raises(TamisError, match="size 4: repeat 1, fold 1: Expected n_neighbors"):
        learning_curve(KNeighborsClassifier(5), X, y, sizes=(4, 8), folds=2)
    with pytest.raises(TamisError, match="split must be folds, pooled, official or leave-one-out for a learning curve"):
        learning_curve(chain(), X, y, split="bootstrap")
    with pytest.raises(TamisError, match="models is empty"):
        learning_curve([], X, y)
