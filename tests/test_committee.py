"""The cross-validation committee against an explicit loop over folds and votes; no member sees its own test rows."""

from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import tamis
from planted import planted
from tamis.base.feature_tracking import used_features
from tamis.base.seeds import generator, seeded, spawn
from tamis.classify import KNN, SVM, Committee
from tamis.compose.recipe import to_text
from tamis.select import Ranking
from tamis.transform import Standardize
from tamis.validation.whole import validate


def problem(n_classes: int = 3, seed: int = 0, rows: int = 90) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = rng.normal(size=(rows, 8))
    X[:, :3] += 0.8 * (y[:, None] == np.arange(3))
    return X, y, rng.normal(size=(150, 8)) + 0.3


def members(model, X, y, folds, random_state) -> list[tuple]:
    """Fitted models with the rows each has not seen."""
    seed = int(generator(random_state).integers(2**31))
    splitter = StratifiedKFold(folds, shuffle=True, random_state=int(generator(seed).integers(2**31)))
    return [
        (seeded(clone(model), spawn(seed, fold)).fit(X[train], y[train]), test)
        for fold, (train, test) in enumerate(splitter.split(X, y))
    ]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [GaussianNB(), SVM(), make_pipeline(Standardize(), Ranking("cc", k=3), KNN(5)), ExtraTreesClassifier(3)],
    ids=["proba", "margins", "pipeline", "random"],
)
def test_votes_are_those_of_a_loop(model, n_classes) -> None:
    X, y, Z = problem(n_classes)
    labels = np.array(["a", "b", "c"])[y]
    found = Committee(5, model, random_state=3).fit(X, labels)
    single = members(model, X, labels, 5, 3)
    answers = np.array([m.predict(Z) for m, _ in single])
    votes = np.array([[sum(answers[:, row] == c) for c in found.classes_] for row in range(len(Z))])
    np.testing.assert_allclose(found.predict_proba(Z), votes / 5)
    said = found.predict(Z)
    ahead = np.sort(votes, axis=1)
    clear = ahead[:, -1] > ahead[:, -2]
    assert clear.any()
    np.testing.assert_array_equal(said[clear], found.classes_[votes.argmax(axis=1)][clear])
    for row in np.flatnonzero(~clear):
        assert said[row] in found.classes_[votes[row] == votes[row].max()]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_draws_are_decided_by_the_mean_evidence(n_classes) -> None:
    X, y, Z = problem(n_classes)
    found = Committee(4, GaussianNB(), random_state=0).fit(X, y)
    single = [m for m, _ in members(GaussianNB(), X, y, 4, 0)]
    votes = sum(np.eye(n_classes)[m.predict(Z)] for m in single)
    evidence = np.mean([m.predict_proba(Z) for m in single], axis=0)
    expected = [max(range(n_classes), key=lambda c, r=row: (votes[r, c], evidence[r, c])) for row in range(len(Z))]
    np.testing.assert_array_equal(found.predict(Z), expected)
    ahead = np.sort(votes, axis=1)
    drawn = ahead[:, -1] == ahead[:, -2]
    assert drawn.any()
    assert (votes[drawn].argmax(axis=1) != np.array(expected)[drawn]).any()
    decision = found.decision_function(Z)
    np.testing.assert_array_equal(decision > 0 if n_classes == 2 else decision.argmax(axis=1), expected)


class Mute(ClassifierMixin, BaseEstimator):
    """Names a class drawn with its seed for all rows, and gives no evidence."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.answer_ = self.classes_[generator(self.random_state).integers(self.classes_.size)]
        return self

    def predict(self, X):
        return np.repeat(self.answer_, len(X))


def test_without_evidence_the_first_class_wins_a_draw() -> None:
    X, y, Z = problem(2)
    shares = {}
    for seed in range(40):
        found = Committee(2, Mute(), random_state=seed).fit(X, np.array(["no", "yes"])[y])
        shares[found.predict_proba(Z)[0, 0]] = (found.predict(Z)[0], found.decision_function(Z)[0])
    assert shares == {1.0: ("no", -2.0), 0.5: ("no", 0.0), 0.0: ("yes", 2.0)}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_averaged(n_classes) -> None:
    X, y, Z = problem(n_classes)
    found = Committee(4, GaussianNB(), how="average", random_state=1).fit(X, y)
    expected = np.mean([m.predict_proba(Z) for m, _ in members(GaussianNB(), X, y, 4, 1)], axis=0)
    np.testing.assert_allclose(found.predict_proba(Z), expected)
    np.testing.assert_array_equal(found.predict(Z), expected.argmax(axis=1))
    assert not hasattr(found, "decision_function")


def test_the_estimate_is_that_of_the_members() -> None:
    X, y, _ = problem()
    found = Committee(7, KNN(3), random_state=2).fit(X, y)
    single = members(KNN(3), X, y, 7, 2)
    accuracy = [m.score(X[test], y[test]) for m, test in single]
    ber = [1 - balanced_accuracy_score(y[test], m.predict(X[test])) for m, test in single]
    np.testing.assert_allclose(found.cv_accuracy_, accuracy)
    np.testing.assert_allclose(found.cv_ber_, ber)
    assert found.cv_estimate_["accuracy"] == pytest.approx({"mean": np.mean(accuracy), "sd": np.std(accuracy, ddof=1)})
    assert found.cv_estimate_["ber"] == pytest.approx({"mean": np.mean(ber), "sd": np.std(ber, ddof=1)})


class Spy(ClassifierMixin, BaseEstimator):
    """Notes the numbers of the rows, kept in the first column, that it is given."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.taught_ = X[:, 0].astype(int).tolist()
        self.judged_: list = []
        return self

    def predict(self, X):
        self.judged_.append(X[:, 0].astype(int).tolist())
        return np.repeat(self.classes_[:1], len(X))


def test_no_member_learns_from_the_rows_it_is_judged_on() -> None:
    _, y, _ = problem()
    X = np.column_stack([np.arange(90.0), np.zeros(90)])
    spies = Committee(9, Spy(), random_state=0).fit(X, y).estimators_
    for spy in spies:
        (judged,) = spy.judged_
        assert sorted(spy.taught_ + judged) == list(range(90))
        assert np.ptp(np.bincount(y[judged])) <= 1
    assert sorted(row for spy in spies for row in spy.judged_[0]) == list(range(90))


def test_noise_is_known_for_noise() -> None:
    y, X = np.arange(40) % 2, np.random.default_rng(5).normal(size=(40, 600))
    accuracy = [
        Committee(5, make_pipeline(Ranking("cc", k=10), KNN(3)), random_state=seed).fit(X, y).cv_accuracy_.mean()
        for seed in range(5)
    ]
    assert abs(np.mean(accuracy) - 0.5) < 0.2


@pytest.mark.parametrize("how", ["vote", "average"])
def test_small_classes_are_mapped(how) -> None:
    X, y, Z = problem(3, rows=62)
    rare = np.where(np.arange(62) < 1, "rare", np.array(["a", "b", "z"])[y])
    found = Committee(5, GaussianNB(var_smoothing=1e-2), how=how, random_state=0).fit(X, rare)
    assert found.classes_.tolist() == ["a", "b", "rare", "z"]
    assert ["rare" in member.classes_ for member in found.estimators_].count(False) == 1
    shares = found.predict_proba(Z)
    expected = np.zeros((150, 4))
    for member in found.estimators_:
        for column, c in enumerate(found.classes_):
            if c in member.classes_:
                place = list(member.classes_).index(c)
                given = member.predict_proba(Z)[:, place] if how == "average" else member.predict(Z) == c
                expected[:, column] += given / 5
    np.testing.assert_allclose(shares, expected)


@pytest.mark.parametrize("model", [GaussianNB(var_smoothing=1e-2), SVM(), DecisionTreeClassifier()])
def test_a_member_without_a_class_never_names_it(model) -> None:
    X, y, Z = problem(2)
    y[0] = 2
    found = Committee(5, model, random_state=0).fit(X, y)
    assert [member.classes_.size for member in found.estimators_].count(2) == 1
    assert found.decision_function(Z).shape == (150, 3)
    assert np.isfinite(found.decision_function(Z)).all()


def test_fewer_folds_when_the_classes_are_small() -> None:
    X, y, _ = problem(2)
    few = np.r_[np.flatnonzero(y == 0)[:4], np.flatnonzero(y == 1)[:3]]
    assert len(Committee(9, KNN(1), random_state=0).fit(X[few], y[few]).estimators_) == 4


@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array, pd.DataFrame, np.ndarray.tolist]
)
def test_rows_come_in_any_form(form) -> None:
    X, y, Z = problem()
    X, Z = np.abs(X).round(1), np.abs(Z).round(1)
    expected = Committee(3, KNN(3), random_state=0).fit(X, y).predict_proba(Z)
    np.testing.assert_allclose(Committee(3, KNN(3), random_state=0).fit(form(X), y).predict_proba(form(Z)), expected)


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_text_and_missing_values_are_the_models_own_affair(make) -> None:
    X, y, _ = problem(2)
    numbers = X[:, 0].copy()
    numbers[::7] = np.nan
    frame = make({"size": numbers, "colour": np.array(["red", "blue"])[y ^ (np.arange(90) % 5 == 0)]})
    model = tamis.recipe("committee(3, impute | encode | svm, random_state=0)").fit(frame, y)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["size", "colour"]
    assert model.score(frame, y) > 0.7
    assert model.cv_accuracy_.shape == (3,)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["colour", "size"]])


def test_one_seed_one_result_for_any_number_of_workers() -> None:
    X, y, Z = problem()
    forest = ExtraTreesClassifier(3)
    one = Committee(3, forest, random_state=0).fit(X, y)
    two = Committee(3, forest, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(Z), two.decision_function(Z))
    np.testing.assert_array_equal(one.cv_accuracy_, two.cv_accuracy_)
    other = Committee(3, forest, random_state=1).fit(X, y)
    assert not np.array_equal(one.decision_function(Z), other.decision_function(Z))
    seeds = [member.random_state for member in one.estimators_]
    assert len(set(seeds)) == 3
    assert forest.random_state is None


def test_columns_may_move() -> None:
    X, y, Z = problem()
    order = np.random.default_rng(1).permutation(8)
    model = Committee(3, make_pipeline(Ranking("cc", k=3), KNN(3)), random_state=0)
    here = clone(model).fit(X, y).predict_proba(Z)
    np.testing.assert_allclose(clone(model).fit(X[:, order], y).predict_proba(Z[:, order]), here)


def test_it_uses_what_any_member_uses() -> None:
    X, y = planted()
    found = Committee(5, make_pipeline(Ranking("cc", k=4), KNN(3)), random_state=0).fit(X, y)
    union = np.any([member[0].support_ for member in found.estimators_], axis=0)
    assert union.sum() > 4
    np.testing.assert_array_equal(used_features(found, X.shape[1]), union)
    search = GridSearchCV(make_pipeline(Ranking("cc"), GaussianNB()), {"ranking__k": [2, 5]}, cv=2)
    assert 2 <= used_features(Committee(3, search, how="average", random_state=0).fit(X, y), X.shape[1]).sum() <= 15


def test_it_is_validated_whole_and_counts_as_the_classifier_of_a_leak_check() -> None:
    X, y = planted()
    model = tamis.recipe("standardize | committee(3, cc(4) | knn(3))")
    found = validate(model, X, y, folds=3, leak_check=True)
    assert found.leak is not None
    assert all(4 <= columns.size <= 12 for columns in found.selected)
    assert found.summary()["accuracy"].mean > 0.6
    alone = validate(tamis.recipe("committee(3, cc(4) | knn(3))"), X, y, folds=3, leak_check=True)
    assert alone.leak is None
    assert all(4 <= columns.size <= 12 for columns in alone.selected)


def test_a_recipe_of_a_committee() -> None:
    model = tamis.recipe("committee(9, cc(8000) | svm(linear), how=vote)")
    assert to_text(model) == "committee(9, cc(8000) | svm(linear), how=vote)"
    assert (model.cv, model.get_params()["estimator__cc__k"]) == (9, 8000)


def test_evidence_on_pairs_of_classes_is_left_out() -> None:
    X, y, Z = problem(4)
    found = Committee(4, SVC(decision_function_shape="ovo"), random_state=0).fit(X, y)
    np.testing.assert_allclose(found.decision_function(Z), 4 * found.predict_proba(Z))


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"cv": 1}, "'cv'"),
        ({"estimator": Standardize()}, "'estimator'"),
        ({"estimator": LinearRegression()}, "committee: estimator must be a classifier; got LinearRegression"),
        ({"estimator": SVM(), "how": "average"}, "committee: how='average' needs class probabilities, which SVM"),
        ({"how": "shout"}, "'how'"),
    ],
)
def test_wrong_parameters(parameters, match) -> None:
    X, y, _ = problem()
    with pytest.raises(ValueError, match=match):
        Committee(**parameters).fit(X, y)


ROWS: np.ndarray = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        (ROWS, np.zeros(6), "one class"),
        (ROWS, [0, 0, 0, 0, 0, 1], "some member would see one class"),
        (ROWS[:3], [0, 1, 2], "a class with at least two rows"),
        (ROWS, [0, 1, 0], "inconsistent"),
        (ROWS[:, 0], [0, 1, 0, 1, 0, 1], "rows and columns"),
        (ROWS[:0], [], "0 rows"),
        (np.where(ROWS == 3, np.nan, ROWS), [0, 1, 0, 1, 0, 1], "NaN"),
    ],
)
def test_bad_rows(X, y, match) -> None:
    with pytest.raises(ValueError, match=match):
        Committee(3, KNN(1)).fit(X, y)


def test_it_must_be_fitted_and_keeps_to_its_columns() -> None:
    X, y, _ = problem()
    with pytest.raises(ValueError, match="not fitted"):
        Committee(3, KNN(1)).predict_proba(X)
    with pytest.raises(ValueError, match="8 features"):
        Committee(3, KNN(1)).fit(X, y).predict(X[:, :3])


def test_labels_reach_the_model_as_they_are() -> None:
    X, y, Z = problem(2)
    weighted = LogisticRegression(class_weight={"ill": 1, "well": 30})
    found = Committee(3, weighted, random_state=0).fit(X, np.array(["ill", "well"])[y])
    assert (found.predict(Z) == "well").mean() > 0.9


class Counting(KNN):
    """Counts how often it is asked."""

    asked: ClassVar[int] = 0

    def _decision(self, X):
        type(self).asked += 1
        return super()._decision(X)


def test_each_member_is_asked_once_per_prediction() -> None:
    X, y, Z = problem()
    found = Committee(3, Counting(3), random_state=0).fit(X, y)
    Counting.asked = 0
    found.predict(Z)
    assert Counting.asked == 3
