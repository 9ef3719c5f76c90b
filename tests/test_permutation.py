"""The permutation test: held to the enumeration of all labelings, to uniform p-values on noise, and to a spy."""

import json
from dataclasses import replace
from itertools import combinations
from typing import ClassVar

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import kstest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.naive_bayes import GaussianNB

from planted import chain, dataset, planted
from tamis.base.errors import TamisError
from tamis.validation.folds import SmallClass
from tamis.validation.metrics import Metric, all_metrics
from tamis.validation.permutation import PermutationTest, permutation_test
from tamis.validation.whole import validate


def found(null: list[float], observed: float = 0.8, metric: str = "accuracy") -> PermutationTest:
    return PermutationTest("knn(1)", "data", "folds", 0, all_metrics[metric], observed, np.array(null), "rows")


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers the labels it was given, by the first column; answers with the first class it knows."""

    seen: ClassVar[list[dict[float, object]]] = []

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        Spy.seen.append(dict(zip(X[:, 0].tolist(), y.tolist(), strict=True)))
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.classes_[0])


class Picky(Spy):
    """Cannot learn labels other than those in its first column."""

    def fit(self, X, y):
        if not np.array_equal(X[:, 0], y):
            raise ValueError("these are not the true labels")
        return super().fit(X, y)


class NearestMean(ClassifierMixin, BaseEstimator):
    """Probabilities from the distances to the two classes' means; quick, as it checks nothing."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = [X[y == c].mean(axis=0) for c in self.classes_]
        return self

    def predict_proba(self, X):
        far = np.column_stack([((X - mean) ** 2).sum(axis=1) for mean in self.means_])
        return softmax(-far, axis=1)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_equal_to_the_enumeration_of_all_labelings() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(8, 1)), np.tile([0, 1], 4)
    X[:, 0] += y

    def loss(labels: np.ndarray) -> float:
        return validate(NearestMean(), X, labels, folds=2, metrics="log_loss").summary()["log_loss"].mean

    every = [loss(np.isin(np.arange(8), chosen).astype(int)) for chosen in combinations(range(8), 4)]
    assert len(every) == 70
    exact = np.mean(np.array(every) <= loss(y) + 1e-12)
    test = permutation_test(NearestMean(), X, y, n=200, folds=2, metric="log_loss")
    assert all(np.isclose(value, every).any() for value in test.null)
    # A labeling and its opposite have the same loss.
    assert 30 < np.unique(test.null.round(9)).size <= 35
    assert 0.02 < exact < 0.9
    assert test.pvalue == pytest.approx(exact, abs=3 * np.sqrt(exact * (1 - exact) / 200) + 1 / 201)


@pytest.mark.parametrize("split", ["folds", "official", "leave-one-out", "bootstrap"])
def test_the_observed_value_is_that_of_validate(split: str) -> None:
    X, y = planted(rows=20)
    data = dataset(X, y, split=np.tile(["train", "valid"], 10))
    for metric in ("ber", "auc"):
        options = {"split": split, "folds": 4, "repeats": 5 if split == "bootstrap" else None, "seed": 3}
        test = permutation_test(chain(), data, n=1, metric=metric, **options)
        expected = validate(chain(), data, metrics=metric, **options)
        assert test.observed == expected.summary()[metric].mean
        assert (test.recipe, test.data, test.split) == (expected.recipe, expected.data, expected.split)


def test_pvalues_are_uniform_where_there_is_nothing_to_find() -> None:
    pvalues = []
    for seed in range(50):
        X, y = np.random.default_rng(seed).normal(size=(20, 3)), np.tile([0, 1], 10)
        pvalues.append(permutation_test(NearestMean(), X, y, n=9, folds=2, metric="log_loss", seed=seed).pvalue)
    found = np.array(pvalues)
    assert set(np.round(found * 10)) == set(range(1, 11))
    # The p-values are multiples of 1/10; half a step down they are as likely above as below.
    assert kstest(found - 1 / 20, "uniform").pvalue > 0.05
    assert np.mean(found <= 0.2) < 0.35


def test_the_pvalue_is_the_smallest_where_there_is_something_to_find() -> None:
    X, y = planted(rows=40, columns=100)
    X[:, 3] += 4 * y
    test = permutation_test(chain(), X, y, n=39, folds=4, metric="accuracy")
    assert test.pvalue == 1 / 40
    assert test.significant()
    assert test.observed > 0.9
    assert test.mean == pytest.approx(0.5, abs=0.1)
    assert test.sentence() == f"accuracy {test.observed:.4g}; of 39 relabelings none did as well (p = 0.025)"


def test_selection_is_part_of_what_is_tested() -> None:
    """Noise in many columns: selected with the test rows it would look learnable, and p would be small."""
    X, y = np.random.default_rng(3).normal(size=(30, 1000)), np.tile([0, 1], 15)
    test = permutation_test(chain(5), X, y, n=19, folds=3)
    assert test.pvalue > 0.1
    assert test.mean == pytest.approx(0.5, abs=0.1)


def test_any_number_of_jobs_gives_the_same_bits() -> None:
    X, y = planted(rows=30)
    one, two = (
        permutation_test(ExtraTreesClassifier(3), X, y, n=6, folds=3, seed=1, engine=e) for e in (None, "local(2)")
    )
    assert one == two
    assert one.null.tolist() == two.null.tolist()
    assert np.unique(one.null).size > 1
    assert one != permutation_test(ExtraTreesClassifier(3), X, y, n=6, folds=3, seed=2)


def test_many_models_are_tried_on_the_same_labels() -> None:
    X, y = planted(rows=30)
    both = permutation_test([chain(), "knn(3)"], X, y, n=4, folds=3)
    assert both == [permutation_test(model, X, y, n=4, folds=3) for model in (chain(), "knn(3)")]
    assert [test.recipe for test in both][1] == "knn(3)"
    many = permutation_test("knn({1, 3})", X, y, n=4, folds=3)
    assert [test.recipe for test in many] == ["knn(1)", "knn(3)"]
    assert many[1] == both[1]


def test_more_relabelings_begin_with_the_fewer() -> None:
    X, y = planted(rows=20)
    few, more = (permutation_test(NearestMean(), X, y, n=n, folds=2, metric="log_loss") for n in (3, 5))
    assert few.null.tolist() == more.null[:3].tolist()


def test_labels_are_permuted_over_rows() -> None:
    Spy.seen.clear()
    y = np.repeat(["a", "b"], [8, 4])
    test = permutation_test(Spy(), np.arange(12.0)[:, None], y, n=5, folds=2)
    assert test.exchanged == "rows"
    permuted = [Spy.seen[2 * k] | Spy.seen[2 * k + 1] for k in range(6)]
    assert permuted[0] == dict(enumerate(y.tolist()))
    for one in permuted:
        assert sorted(one.values()) == y.tolist()
    assert len({tuple(one[i] for i in range(12)) for one in permuted}) == 6


def test_labels_are_permuted_over_groups_of_one_class() -> None:
    groups = np.repeat(np.arange(8), [1, 2, 3, 4, 1, 2, 3, 4])
    y = (groups % 2).astype(int)
    Spy.seen.clear()
    test = permutation_test(Spy(), np.arange(20.0)[:, None], y, n=5, folds=2, groups=groups)
    assert test.exchanged == "groups"
    for k in range(6):
        one = Spy.seen[2 * k] | Spy.seen[2 * k + 1]
        of_group = [{one[i] for i in np.flatnonzero(groups == g)} for g in range(8)]
        assert all(len(labels) == 1 for labels in of_group)
        assert sum(labels == {1} for labels in of_group) == 4
    y[-1] = 0
    assert permutation_test(Spy(), np.arange(20.0)[:, None], y, n=1, folds=2, groups=groups).exchanged == "rows"


@pytest.mark.parametrize("split", ["pooled", "official"])
def test_rows_that_take_no_part_keep_their_labels(split: str) -> None:
    parts = np.repeat(["train", "valid", "test"], 8)
    y = np.concatenate([np.tile(["a", "b"], 8), np.repeat("c", 8)])
    Spy.seen.clear()
    permutation_test(Spy(), dataset(np.arange(24.0)[:, None], y, split=parts), n=5, split=split, folds=2)
    assert {label for one in Spy.seen for label in one.values()} == {"a", "b"}


@pytest.mark.parametrize(
    ("null", "metric", "at_least"),
    [
        ([0.5, 0.7, 0.9], "accuracy", 1),
        ([0.5, 0.7, 0.9], "ber", 2),
        ([0.8, 0.8, 0.5], "accuracy", 2),
        ([0.1 + 0.7, 0.8 - 1e-15, 0.8 + 1e-15], "accuracy", 3),
        ([0.8 - 1e-15, 0.8 + 1e-15, 0.81], "ber", 2),
        ([float("nan"), 0.1], "accuracy", 1),
        ([float("nan"), 0.9], "ber", 1),
    ],
)
def test_ties_and_missing_values_count_against_the_model(null: list[float], metric: str, at_least: int) -> None:
    test = found(null, metric=metric)
    assert test.at_least == at_least
    assert test.pvalue == (1 + at_least) / (1 + len(null))


def test_words() -> None:
    assert found([0.5] * 199).sentence() == "accuracy 0.8; of 199 relabelings none did as well (p = 0.005)"
    assert found([0.5, 0.8]).sentence() == "accuracy 0.8; of 2 relabelings 1 did as well (p = 0.667)"
    assert found([0.9, 0.8]).sentence() == "accuracy 0.8; of 2 relabelings all did as well (p = 1)"
    assert found([0.9]).sentence() == "accuracy 0.8; one relabeling did as well (p = 1)"
    assert found([0.1]).sentence() == "accuracy 0.8; one relabeling did not as well (p = 0.5)"
    assert str(found([0.5])).splitlines()[1] == "data: folds, labels permuted over rows, seed 0"


def test_result_is_json() -> None:
    plain = json.loads(json.dumps(found([0.5, float("nan")]).to_dict(), allow_nan=False))
    assert plain["null"] == [0.5, None]
    assert plain["pvalue"] == pytest.approx(2 / 3)
    assert plain["mean"] == 0.5
    assert plain["metric"] == "accuracy"
    assert found([float("nan")]).to_dict()["mean"] is None
    assert found([0.5]) != replace(found([0.5]), observed=0.7)
    assert found([0.5]) != "something else"


def test_progress_and_warnings_are_told_once() -> None:
    X, y = planted(rows=20)
    y[:] = np.arange(20) >= 3
    calls: list[tuple[int, int]] = []
    with pytest.warns(SmallClass) as said:
        permutation_test(GaussianNB(), X, y, n=3, folds=4, progress=lambda done, total: calls.append((done, total)))
    assert len(said) == 1
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_bad_input_in_one_sentence() -> None:
    X, y = planted(rows=20)
    with pytest.raises(TamisError, match="n must be a whole number of 1 or more; got 0"):
        permutation_test(chain(), X, y, n=0)
    with pytest.raises(TamisError, match="no metric is called 'auk'"):
        permutation_test(chain(), X, y, metric="auk")
    with pytest.raises(TamisError, match=r"metric must be one metric, by name or a Metric; got \['ber', 'auc'\]"):
        permutation_test(chain(), X, y, metric=["ber", "auc"])
    with pytest.raises(TamisError, match="log_loss needs class probabilities"):
        permutation_test(Spy(), X, y, n=1, folds=2, metric="log_loss")
    with pytest.raises(TamisError, match="model must be a scikit-learn estimator or a recipe; got 3"):
        permutation_test([chain(), 3], X, y)
    nothing = Metric("nothing", "nothing", "low", "labels", lambda a: float("nan"))
    with pytest.raises(TamisError, match="data: metric nothing is undefined for these splits; choose another"):
        permutation_test(chain(), X, y, n=1, folds=2, metric=nothing)
    with pytest.raises(TamisError, match="relabeling 1: repeat 1, fold 1: these are not the true labels"):
        permutation_test(Picky(), y[:, None], y, n=2, folds=2)
    with pytest.raises(TamisError, match="models is empty"):
        permutation_test([], X, y)
