"""The challenge's measures and tournament against oracles and by hand, and the entries that models make."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.tree import ExtraTreeClassifier

import tamis
from tamis.base.errors import DataError, TamisError
from tamis.challenge.score import EntryScore, Submission, average, score_entry, score_submission
from tamis.challenge.submission import make_submission
from tamis.challenge.tournament import Match, match, tournament
from tamis.data.dataset import Dataset


def entry(
    missed: int = 0, false: int = 0, *, of: tuple[int, int] = (10, 10), used: int = 100, probes: int | None = None
) -> EntryScore:
    """The score of an entry that misses some positive rows, the first ones, and some negative ones, of 100 features."""
    truth = np.repeat([1, -1], of)
    said = np.repeat([-1, 1, -1], [missed, of[0] - missed + false, of[1] - false])
    known = None if probes is None else np.arange(100) < probes
    return score_entry(truth, said, features=np.arange(used), n_features=100, probes=known)


@given(st.integers(0, 2**32 - 1), st.integers(4, 60), st.booleans())
def test_measures_are_scikit_learns(seed: int, rows: int, few: bool) -> None:
    rng = np.random.default_rng(seed)
    truth = np.concatenate([[-1, 1], rng.choice([-1, 1], rows)])
    said = rng.choice([-1, 1], rows + 2)
    sure = rng.integers(0, 3, rows + 2) if few else rng.random(rows + 2)
    found = score_entry(truth, said, sure, n_features=3)
    assert found.ber == pytest.approx(1 - balanced_accuracy_score(truth, said))
    assert found.auc == pytest.approx(roc_auc_score(truth, said * sure))
    assert score_entry(truth, said, n_features=3).auc == pytest.approx(1 - found.ber)
    assert np.array_equal(found.wrong, truth != said)


def test_measures_by_hand() -> None:
    # 1 of 4 positive rows missed, 3 of 10 negative ones: (1/4 + 3/10) / 2 = 0.275, and its deviation
    # 1/2 sqrt(1/4 3/4 / 4 + 3/10 7/10 / 10) = 1/2 sqrt(0.046875 + 0.021) = 0.13026...
    found = entry(1, 3, of=(4, 10), used=20, probes=5)
    assert found.ber == pytest.approx(0.275)
    assert found.ber_error == pytest.approx(0.5 * np.sqrt(0.067875))
    assert (found.f_feat, found.f_probe) == (0.2, 0.25)
    measures = {key: getattr(found, key) for key in ("ber", "ber_error", "auc", "f_feat", "f_probe")}
    counts = {"rows": 14, "errors": 4, "features_used": 20, "features": 100, "probes_used": 5}
    assert found.to_dict() == measures | counts
    assert entry().f_feat == 1.0
    assert entry().f_probe is None


def test_means_over_data_sets() -> None:
    one, two = entry(2, used=10, probes=5), entry(0, used=30, probes=3)
    found = average({"one": one, "two": two})
    # BERs of 0.1 and 0; the error of their mean is half the root of 0.1^2 0.4 + 0: 1/2 * 1/2 sqrt(0.2 0.8 / 10).
    assert found == pytest.approx(
        {"ber": 0.05, "ber_error": np.sqrt(0.016) / 4, "auc": 0.95, "f_feat": 0.2, "f_probe": 0.3}
    )
    assert average({"one": one, "two": entry()})["f_probe"] is None
    with pytest.raises(TamisError, match="scores is empty"):
        average({})


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 1], [1, 1]), {}, "truth must hold both"),
        (([], []), {}, "truth must be a list of -1 and"),
        (([1, -1], [1]), {}, "one for each of the 2 rows; got 1"),
        (([1, -1], [1, 0]), {}, "labels must be -1 and .1; got 0 in place 2"),
        (([1, -1], [1, -1], [1.0]), {}, "confidences must be one for each of the 2 rows"),
        (([1, -1], [1, -1], [1.0, -0.5]), {}, "not below 0; got -0.5 in place 2"),
        (([1, -1], [1, -1], [1.0, np.nan]), {}, "got nan in place 2"),
        (([1, -1], [1, -1], None, [0, 0]), {}, "distinct columns; got 1 of them again"),
        (([1, -1], [1, -1], None, [5]), {}, "columns from 0 to 4; got 5"),
        (([1, -1], [1, -1], None, [-1]), {}, "columns from 0 to 4; got -1"),
        (([1, -1], [1, -1], None, []), {}, "at least one column number"),
        (([1, -1], [1, -1]), {"probes": [True]}, "probes must be a mask of 5 features"),
        (([1, -1], [1, -1]), {"n_features": 0}, "n_features must be a whole number"),
    ],
)
def test_answers_that_cannot_be_judged(arguments: Any, options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(TamisError, match=message):
        score_entry(*arguments, **{"n_features": 5, **options})


def test_mcnemar_decides() -> None:
    # 6 rows missed by the second alone, none by the first alone: p = 2 / 2^6 = 0.031. Errors come before features.
    assert match(entry(0, used=100), entry(6, used=1)) == Match(1, "mcnemar")
    assert match(entry(6, used=1), entry(0, used=100)) == Match(-1, "mcnemar")
    # 5 rows: p = 2 / 2^5 = 0.0625, so features decide instead.
    assert match(entry(0, used=100), entry(5, used=1)) == Match(-1, "features")
    # The forms differ for 6 rows: (6 - 1)^2 / 6 = 4.17 is p = 0.041, for 5 (5 - 1)^2 / 5 = 3.2 is p = 0.074.
    assert match(entry(0), entry(6), test="chi2") == Match(1, "mcnemar")
    assert match(entry(0), entry(5), test="chi2") == Match(0, "draw")
    # 9 against 2: exact p = 2 (1 + 11 + 55) / 2^11 = 0.065; chi2 6^2 / 11 = 3.27, p = 0.070. 10 against 2: exact
    # p = 2 (1 + 12 + 66) / 2^12 = 0.0386. BERs 2/20 and 10/20.
    assert match(entry(0, 2), entry(9, 0)) == Match(0, "draw")
    assert match(entry(0, 2), entry(10, 0)) == Match(1, "mcnemar")


def test_the_lower_ber_wins_even_with_more_errors() -> None:
    # First: 3 of 4 positive rows missed, BER 3/8. Second: 12 of 96 negative ones, BER 1/16.
    # 3 against 12: p = 2 (1 + 15 + 105 + 455) / 2^15 = 0.035.
    assert match(entry(3, 0, of=(4, 96)), entry(0, 12, of=(4, 96))) == Match(-1, "mcnemar")
    # 1 of 10 positive rows and 10 of 100 negative ones: both BERs are 0.05, though 1 against 10 is
    # p = 2 (1 + 11) / 2^11 = 0.012. The next rule is asked.
    first, second = entry(1, 0, of=(10, 100), used=90), entry(0, 10, of=(10, 100), used=30)
    assert match(first, second) == Match(-1, "features")


def test_features_decide() -> None:
    assert match(entry(used=10), entry(used=16)) == Match(1, "features")
    assert match(entry(used=16, probes=0), entry(used=10, probes=10)) == Match(-1, "features")


@pytest.mark.parametrize("used", range(5, 96, 5))
def test_five_hundredths_apart_are_not_more_than_five_hundredths(used: int) -> None:
    # In floating point 0.55 - 0.5 is above 0.05.
    assert match(entry(used=used), entry(used=used + 5)) == Match(0, "draw")
    assert match(entry(used=used - 1), entry(used=used + 5)) == Match(1, "features")


def test_probes_decide() -> None:
    # 20 features each, 6 probes against 4: 0.30 and 0.20.
    assert match(entry(used=20, probes=6), entry(used=20, probes=4)) == Match(-1, "probes")
    # 20 features and 4 probes, 25 features and 4 probes: 0.20 and 0.16.
    assert match(entry(used=20, probes=4), entry(used=25, probes=4)) == Match(0, "draw")
    # 5 against 4 of 20: 0.05 apart exactly.
    assert match(entry(used=20, probes=5), entry(used=20, probes=4)) == Match(0, "draw")
    # Not known for one of them.
    assert match(entry(used=20, probes=20), entry(used=20)) == Match(0, "draw")


def test_draw() -> None:
    assert match(entry(1), entry(2)) == Match(0, "draw")


def random_entries(seed: int, n: int, data: tuple[str, ...]) -> dict[str, dict[str, EntryScore]]:
    """Entries of all qualities, some with few features and few probes."""
    rng = np.random.default_rng(seed)
    truth = {name: np.concatenate([[-1, 1], rng.choice([-1, 1], 60, p=[0.7, 0.3])]) for name in data}
    found: dict[str, dict[str, EntryScore]] = {}
    for i in range(n):
        found[f"entry {i}"] = {}
        for name in data:
            flip = rng.random(truth[name].size) < rng.uniform(0.0, 0.5)
            used = rng.permutation(40)[: rng.integers(1, 41)]
            known = None if name == data[-1] else np.arange(40) < 20
            said = np.where(flip, -truth[name], truth[name])
            found[f"entry {i}"][name] = score_entry(truth[name], said, features=used, n_features=40, probes=known)
    return found


@settings(max_examples=5)
@given(st.integers(0, 1000), st.sampled_from(["exact", "chi2"]))
def test_thirty_six_entries(seed: int, test: str) -> None:
    data = ("a", "b", "c")
    entries = random_entries(seed, 36, data)
    found = tournament(entries, test=test)
    assert found.data == data
    for name in data:
        result, rules = found.results[name], found.rules[name]
        assert np.array_equal(result, -result.T)
        assert np.array_equal(rules, rules.T)
        assert ((result == 0) == np.isin(rules, ("draw", ""))).all()
        assert (rules.diagonal() == "").all()
        assert found.points[name].sum() == 0
        steps = found.scores[name] / (100 / 35)
        assert np.allclose(steps, np.rint(steps), atol=1e-9)
        assert np.abs(found.scores[name]).max() <= 100
    assert "probes" not in found.rules["c"]
    decided = found.decided()
    assert sum(decided.values()) == 3 * 36 * 35 // 2
    assert all(decided.values())
    assert np.allclose(found.overall, np.mean([found.scores[name] for name in data], axis=0))
    # Places are those of the overall scores: as many entries come before as have a higher one.
    assert found.ranks.tolist() == [1 + int((found.overall > own + 1e-9).sum()) for own in found.overall]


@given(st.permutations(range(7)))
def test_permuting_the_entries_permutes_the_standings(order: list[int]) -> None:
    entries = random_entries(1, 7, ("a", "b"))
    names = list(entries)
    plain, moved = tournament(entries), tournament({names[i]: entries[names[i]] for i in order})
    assert moved.overall.tolist() == plain.overall[order].tolist()
    assert moved.ranks.tolist() == plain.ranks[order].tolist()
    for name in ("a", "b"):
        assert np.array_equal(moved.results[name], plain.results[name][np.ix_(order, order)])


def test_standings_by_hand() -> None:
    entries = {
        "good": {"a": entry(0), "b": entry(0, used=50)},
        "bad": {"a": entry(9), "b": entry(0, used=90)},
        "small": {"a": entry(0, used=10), "b": entry(10, used=10)},
    }
    # On a: good beats bad (9 rows), small beats both (features, and 9 rows). On b: good beats bad by features
    # (0.5, 0.9), both beat small (10 rows).
    found = tournament(entries)
    assert {name: points.tolist() for name, points in found.points.items()} == {"a": [0, -2, 2], "b": [2, 0, -2]}
    assert found.scores["a"].tolist() == [0.0, -100.0, 100.0]
    assert found.overall.tolist() == [50.0, -50.0, 0.0]
    assert found.ranks.tolist() == [1, 3, 2]
    assert found.decided() == {"mcnemar": 4, "features": 2, "probes": 0, "draw": 0}
    told = found.to_dict()
    order = [(place["rank"], place["entry"], place["score"]) for place in told["standings"]]
    assert order == [(1, "good", 50.0), (2, "small", 0.0), (3, "bad", -50.0)]
    assert told["standings"][0]["data"]["b"] == {"points": 2, "score": 100.0}
    assert told["matches"][0] == {"data": "a", "first": "good", "second": "bad", "result": 1, "rule": "mcnemar"}
    assert len(told["matches"]) == 6


def test_entries_that_cannot_meet() -> None:
    with pytest.raises(TamisError, match="at least two entries; got 1"):
        tournament({"a": {"x": entry()}})
    with pytest.raises(TamisError, match="entry 'b' has no score on 'y'"):
        tournament({"a": {"x": entry(), "y": entry()}, "b": {"x": entry()}})
    with pytest.raises(TamisError, match="at least one data set; got none"):
        tournament({"a": {}, "b": {}})
    with pytest.raises(TamisError, match="same rows"):
        tournament({"a": {"x": entry()}, "b": {"x": entry(of=(9, 10))}})
    with pytest.raises(TamisError, match="100 and 5 features"):
        match(entry(), score_entry([1, -1], [1, -1], n_features=5))
    with pytest.raises(TamisError, match="test must be one of"):
        tournament({"a": {"x": entry()}, "b": {"x": entry()}}, test="coin")


@pytest.fixture(scope="module")
def toy() -> Dataset:
    """Five features of which 3 and then 1 tell the classes; 30 train rows, 20 valid rows and 10 without classes."""
    rng = np.random.default_rng(0)
    y = np.tile([-1, 1], 30)
    X = rng.normal(size=(60, 5))
    X[:, 3] += 2.0 * y
    X[:, 1] += 1.0 * y
    return Dataset(
        X=X[:50],
        y=y[:50],
        feature_names=np.array([f"x{i}" for i in range(5)]),
        name="toy",
        split=np.repeat(["train", "valid"], [30, 20]),
        unlabelled={"test": X[50:]},
        roles=np.array(["probe", "informative", "probe", "informative", "probe"]),
    )


def test_a_model_answers_for_every_part(toy: Dataset) -> None:
    made = make_submission("standardize | cc(2) | knn(3)", toy)
    assert {part: labels.size for part, labels in made.labels.items()} == {"train": 30, "valid": 20, "test": 10}
    assert made.features.tolist() == [3, 1]
    found = score_submission(made, toy)
    judged = tamis.validate("standardize | cc(2) | knn(3)", toy, split="official", metrics=("ber", "auc")).summary()
    assert found.ber == pytest.approx(judged["ber"].mean)
    assert found.ber_error == pytest.approx(judged["ber"].se)
    assert found.auc == pytest.approx(judged["auc"].mean)
    assert (found.f_feat, found.f_probe) == (0.4, 0.0)
    model = tamis.recipe("standardize | cc(2) | knn(3)").fit(toy.X[:30], toy.y[:30])
    assert np.array_equal(made.labels["test"], model.predict(toy.unlabelled["test"]))


def test_chance_falls_as_in_validation(toy: Dataset) -> None:
    model = ExtraTreeClassifier(max_features=1, max_depth=2)
    for seed in range(4):
        judged = tamis.validate(model, toy, split="official", seed=seed).summary()["auc"].mean
        assert score_submission(make_submission(model, toy, seed=seed), toy).auc == pytest.approx(judged)
    assert not hasattr(model, "tree_")


class Oddity(ClassifierMixin, BaseEstimator):
    """Says the second class throughout, whatever its evidence: endless for the first row, against it for the second."""

    def fit(self, X: Any, y: Any) -> "Oddity":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), self.classes_[1])

    def decision_function(self, X: Any) -> np.ndarray:
        return np.concatenate([[np.inf, -1.0], np.full(len(X) - 2, 0.5)])


def test_confidences_are_finite_and_speak_for_the_label(toy: Dataset) -> None:
    made = make_submission(Oddity(), toy)
    assert made.confidences["test"].tolist() == [np.finfo(np.float64).max, 0.0, *[0.5] * 8]
    assert made.labels["test"].tolist() == [1] * 10


def test_pooled_rows_are_learnt_from_too(toy: Dataset) -> None:
    made = make_submission("cc(2) | knn(1)", toy, train="pooled")
    assert score_submission(made, toy, "train").ber == score_submission(made, toy, "valid").ber == 0.0
    assert score_submission(make_submission("cc(2) | knn(1)", toy), toy, "valid").ber > 0.0
    whole = replace(toy, split=None, unlabelled={})
    made = make_submission("cc(2) | knn(1)", whole, train="pooled")
    assert list(made.labels) == ["train"]
    assert score_submission(made, whole, "train").ber == 0.0


def test_features_come_in_the_order_of_the_last_ranking_of_columns(toy: Dataset) -> None:
    assert make_submission("cc(3) | variance(2) | knn(3)", toy).features.tolist() == [3, 1]
    assert make_submission("variance(3) | cc(2) | knn(3)", toy).features.tolist() == [3, 1]
    assert make_submission("knn(3)", toy).features.tolist() == [0, 1, 2, 3, 4]
    # Components are no columns: what reached them is used, in the order of the ranking before.
    assert make_submission("cc(2) | pca(2) | variance(1) | knn(3)", toy).features.tolist() == [3, 1]


def test_words_as_classes_are_signed_in_sorted_order(toy: Dataset) -> None:
    words = replace(toy, y=np.where(toy.y == 1, "zebra", "ant"))
    plain, named = make_submission("cc(2) | knn(3)", toy), make_submission("cc(2) | knn(3)", words)
    assert np.array_equal(named.labels["valid"], plain.labels["valid"])
    assert score_submission(named, words).ber == score_submission(plain, toy).ber


def test_what_cannot_be_entered(toy: Dataset) -> None:
    with pytest.raises(DataError, match="toy: has 3 classes, the challenge is about two"):
        make_submission("knn(3)", replace(toy, y=np.arange(50) % 3))
    with pytest.raises(TamisError, match="does not predict"):
        make_submission("cc(3)", toy)
    with pytest.raises(TamisError, match="train must be train or pooled; got 'all'"):
        make_submission("knn(3)", toy, train="all")
    with pytest.raises(DataError, match="toy: has no valid rows whose classes are known"):
        make_submission("knn(3)", replace(toy.rows(np.arange(30)), unlabelled={"valid": toy.X[30:]}), train="pooled")
    with pytest.raises(DataError, match="has no test rows whose classes are known, only train, valid"):
        score_submission(make_submission("knn(3)", toy), toy, "test")
    one_class = replace(toy, split=np.where(toy.y == 1, toy.split, "train"))
    with pytest.raises(DataError, match="its valid rows are all of class 1"):
        score_submission(make_submission("knn(3)", one_class), one_class)
    with pytest.raises(TamisError, match="no labels for the valid rows of toy"):
        score_submission(Submission("toy", {"train": [1, -1]}), toy)
    with pytest.raises(TamisError, match=r"name must be a plain file name; got '\.\./toy'"):
        Submission("../toy", {"train": [1, -1]})
    with pytest.raises(TamisError, match="labels must be of train, valid, test; got 'private'"):
        Submission("toy", {"private": [1, -1]})
    with pytest.raises(TamisError, match="labels must be of train, valid, test; got none"):
        Submission("toy", {})
