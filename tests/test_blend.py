"""The blend against means taken by hand; models fitted one by one; answers of any form; bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import tamis
from alone import alone
from planted import planted
from tamis.base.errors import RecipeError, TamisError
from tamis.base.feature_tracking import used_features
from tamis.base.predictions import Predicted, as_probabilities, predict_rows
from tamis.base.seeds import generator, open_states, seeded, spawn
from tamis.classify import KNN, SVM, Blend
from tamis.classify.blend import blended
from tamis.compose.recipe import to_text
from tamis.select import Ranking
from tamis.transform import Standardize
from tamis.validation.folds import StratifiedFolds
from tamis.validation.whole import validate


def problem(n_classes: int = 3, seed: int = 0, rows: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = rng.normal(size=(rows, 6))
    X[:, :3] += 0.8 * (y[:, None] == np.arange(3))
    return X, y, rng.normal(size=(100, 6)) + 0.3


class Mute(ClassifierMixin, BaseEstimator):
    """Names classes and gives no evidence; does not tell its classes either."""

    def fit(self, X, y):
        self.inner_ = GaussianNB().fit(X, y)
        return self

    def predict(self, X):
        return self.inner_.predict(X)


def logistic(margins: np.ndarray) -> np.ndarray:
    if margins.ndim == 1:
        p = 1 / (1 + np.exp(-margins))
        return np.column_stack([1 - p, p])
    return np.exp(margins) / np.exp(margins).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_averaged_as_scikit_learn_does(n_classes) -> None:
    X, y, Z = problem(n_classes)
    models = [GaussianNB(), LogisticRegression(), LinearDiscriminantAnalysis()]
    for weights in (None, [1, 3, 2.5]):
        soft = VotingClassifier([(str(i), m) for i, m in enumerate(models)], voting="soft", weights=weights).fit(X, y)
        found = Blend(models, weights=weights).fit(X, y)
        np.testing.assert_allclose(found.predict_proba(Z), soft.predict_proba(Z), rtol=1e-12)
        np.testing.assert_array_equal(found.predict(Z), soft.predict(Z))
    assert not hasattr(found, "decision_function")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_that_answer_differently_are_fitted_one_by_one_and_brought_together(n_classes) -> None:
    X, y, Z = problem(n_classes)
    labels = np.array(["a", "b", "c"])[y]
    chain = make_pipeline(Standardize(), Ranking("cc", k=3), KNN(5))
    found = Blend([chain, SVM(), RidgeClassifier(), Mute()], weights=[1, 2, 0.5, 4]).fit(X, labels)
    parts = [
        clone(chain).fit(X, labels).predict_proba(Z),
        logistic(SVM().fit(X, labels).decision_function(Z)),
        logistic(RidgeClassifier().fit(X, labels).decision_function(Z)),
        GaussianNB().fit(X, labels).predict(Z)[:, None] == found.classes_,
    ]
    expected = sum(w * p for w, p in zip([1, 2, 0.5, 4], parts, strict=True)) / 7.5
    np.testing.assert_allclose(found.predict_proba(Z), expected, rtol=1e-12)
    np.testing.assert_array_equal(found.predict(Z), found.classes_[expected.argmax(axis=1)])
    assert len(found.estimators_) == 4
    assert found.classes_.tolist() == ["a", "b", "c"][:n_classes]


def test_evidence_on_pairs_of_classes_counts_as_the_class_named() -> None:
    X, y, Z = problem(3)
    pairs = SVC(decision_function_shape="ovo").fit(X, y)
    found = Blend([SVC(decision_function_shape="ovo"), GaussianNB()]).fit(X, y)
    expected = (np.eye(3)[pairs.predict(Z)] + GaussianNB().fit(X, y).predict_proba(Z)) / 2
    np.testing.assert_allclose(found.predict_proba(Z), expected)
    six = Predicted(np.array([1]), None, np.zeros((1, 6)), np.arange(4))
    assert as_probabilities(six, 4).tolist() == [[0, 1, 0, 0]]


def test_margins_beyond_all_bounds_are_certain() -> None:
    two = as_probabilities(Predicted(np.array([0, 1]), None, np.array([-1e9, 1e9]), None), 2)
    np.testing.assert_array_equal(two, [[1, 0], [0, 1]])
    many = as_probabilities(Predicted(np.array([0]), None, np.array([[1e9, 0.0, np.finfo(float).min]]), None), 3)
    np.testing.assert_array_equal(many, [[1, 0, 0]])


def test_single_precision_is_put_right() -> None:
    given = np.array([[0.1, 0.2, 0.7]], dtype=np.float32)
    found = as_probabilities(Predicted(np.array([2]), given, None, None), 3)
    assert found.dtype == np.float64
    assert found.sum() == pytest.approx(1, abs=1e-15)
    assert given.astype(float).sum() != pytest.approx(1, abs=1e-15)


rows = st.lists(st.floats(-30, 30), min_size=4, max_size=4)


@given(st.lists(rows, min_size=1, max_size=5), st.data())
@settings(max_examples=60, deadline=None)
def test_a_blend_lies_among_its_members_and_counts_weights_as_copies(margins, data) -> None:
    said = [Predicted(np.zeros(1, dtype=int), None, np.array([one]), None) for one in margins]
    parts = np.array([as_probabilities(one, 4) for one in said])
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(said), max_size=len(said)).filter(any))
    found = blended(said, weights, 4)
    heard = parts[np.array(weights) > 0]
    assert (found >= heard.min(axis=0) - 1e-12).all()
    assert (found <= heard.max(axis=0) + 1e-12).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    copies = [one for one, times in zip(said, weights, strict=True) for _ in range(times)]
    np.testing.assert_allclose(found, blended(copies, None, 4), rtol=1e-12)
    np.testing.assert_allclose(found, blended(said, 7 * np.array(weights), 4), rtol=1e-12)


class Failing(GaussianNB):
    """Cannot be fitted."""

    def fit(self, X, y):
        raise AssertionError("it was fitted")


def test_a_model_of_weight_zero_has_no_say() -> None:
    X, y, Z = problem()
    with pytest.raises(AssertionError, match="it was fitted"):
        Blend([SVM(), Failing(), KNN(3)]).fit(X, y)
    found = Blend([SVM(), Failing(), KNN(3)], weights=[2, 0, 1]).fit(X, y)
    expected = Blend([SVM(), KNN(3)], weights=[2, 1]).fit(X, y)
    np.testing.assert_array_equal(found.predict_proba(Z), expected.predict_proba(Z))
    assert [type(member) for member in found.estimators_] == [SVM, KNN]
    assert found.weights_.tolist() == [2, 1]


def test_a_draw_goes_to_the_first_class() -> None:
    X, y, Z = problem(2)
    opposite = np.where(GaussianNB().fit(X, y).predict(Z) == 1, 0, 1)
    said = [
        predict_rows(GaussianNB().fit(X, y), Z)._replace(probabilities=None),
        Predicted(opposite, None, None, np.arange(2)),
    ]
    assert (blended(said, None, 2) == 0.5).all()
    draw = Blend([KNN(2)]).fit([[0.0], [1.0]], ["b", "a"])
    np.testing.assert_array_equal(draw.predict([[0.2]]), ["a"])


def test_seeds_come_from_the_place_in_the_list() -> None:
    X, y, Z = problem()
    trees = ExtraTreesClassifier(5)
    found = Blend([GaussianNB(), trees, make_pipeline(Standardize(), trees)], random_state=3).fit(X, y)
    seed = int(generator(3).integers(2**31))
    expected = seeded(clone(trees), spawn(seed, 1)).fit(X, y)
    np.testing.assert_array_equal(found.estimators_[1].predict_proba(Z), expected.predict_proba(Z))
    assert found.estimators_[1].random_state != found.estimators_[2][-1].random_state
    alike = Blend([Failing(), trees], weights=[0, 1], random_state=3).fit(X, y)
    np.testing.assert_array_equal(alike.predict_proba(Z), expected.predict_proba(Z))
    two = Blend([GaussianNB(), trees, make_pipeline(Standardize(), trees)], random_state=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(two.predict_proba(Z), found.predict_proba(Z))
    other = Blend([GaussianNB(), trees], random_state=4).fit(X, y)
    assert not np.array_equal(other.estimators_[1].predict_proba(Z), expected.predict_proba(Z))
    assert trees.random_state is None


def test_parameters_of_models_are_reached_by_number_and_seeded_there() -> None:
    model = Blend([KNN(3), make_pipeline(Standardize(), ExtraTreesClassifier(5)), ExtraTreesClassifier(5)])
    deep = model.get_params()
    assert deep["estimators_1__n_neighbors"] == 3
    assert "estimators_1" not in model.get_params(deep=False)
    names = [name for _, name in open_states(model)]
    assert names == [
        "estimators_1__random_state",
        "estimators_2__extratreesclassifier__random_state",
        "estimators_3__random_state",
        "random_state",
    ]
    copy = seeded(clone(model), 1)
    assert copy.estimators[1][-1].random_state != copy.estimators[2].random_state
    assert model.estimators[2].random_state is None
    assert copy.set_params(estimators_1__n_neighbors=7, weights=[1, 2, 3]) is copy
    assert (copy.estimators[0].n_neighbors, copy.weights, model.estimators[0].n_neighbors) == (7, [1, 2, 3], 3)
    copy.set_params(estimators_1=SVM(), estimators_1__C=5)
    assert (type(copy.estimators[0]), copy.estimators[0].C) == (SVM, 5)
    assert copy.set_params(estimators=[KNN(9)]).get_params()["estimators_1__n_neighbors"] == 9
    with pytest.raises(ValueError, match="estimators_9"):
        model.set_params(estimators_9__n_neighbors=1)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array, pd.DataFrame, np.ndarray.tolist])
def test_rows_come_in_any_form(form) -> None:
    X, y, Z = problem()
    X, Z = np.abs(X).round(1), np.abs(Z).round(1)
    model = Blend([make_pipeline(Ranking("cc", k=3), SVM()), KNN(3), MultinomialNB()])
    expected = clone(model).fit(X, y).predict_proba(Z)
    np.testing.assert_allclose(clone(model).fit(form(X), y).predict_proba(form(Z)), expected, rtol=1e-6)


def test_it_takes_what_all_its_models_take() -> None:
    def takes(*models) -> tuple[bool, bool, bool]:
        tags = Blend(models).__sklearn_tags__().input_tags
        return tags.sparse, tags.allow_nan, tags.positive_only

    trees = ExtraTreesClassifier()
    assert takes(SVM(), trees) == (True, False, False)
    assert takes(GaussianNB(), trees) == (False, False, False)
    assert takes(trees, trees) == (True, True, False)
    assert takes(MultinomialNB(), trees) == (True, False, True)


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_text_and_missing_values_are_the_models_own_affair(make) -> None:
    X, y, _ = problem(2)
    numbers = X[:, 0].copy()
    numbers[::7] = np.nan
    frame = make({"size": numbers, "colour": np.array(["red", "blue"])[y ^ (np.arange(60) % 5 == 0)]})
    model = tamis.recipe("blend(impute | encode | svm, impute | knn(3))").fit(frame, y)
    assert model.feature_names_in_.tolist() == ["size", "colour"]
    assert model.score(frame, y) > 0.7
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["colour", "size"]])


def test_it_uses_what_any_model_uses() -> None:
    X, y = planted()
    chains = [make_pipeline(Ranking(by, k=k), KNN(3)) for by, k in (("cc", 2), ("variance", 3))]
    found = Blend([*chains, GaussianNB()], weights=[1, 1, 0]).fit(X, y)
    union = found.estimators_[0][0].support_ | found.estimators_[1][0].support_
    assert 3 <= union.sum() <= 5
    np.testing.assert_array_equal(used_features(found, X.shape[1]), union)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stored_answers_of_members_come_to_what_the_blend_says_in_validation(n_classes) -> None:
    X, y, _ = problem(n_classes)
    models = [make_pipeline(Ranking("cc", k=3), SVM()), KNN(3), GaussianNB()]
    for split in StratifiedFolds(2).splits(y, seed=1):
        whole = alone(Blend(models, weights=[2, 1, 1]), X, y, split, seed=5)
        stored = [alone(model, X, y, split, seed=5).predictions for model in models]
        said = [Predicted(one.labels, one.probabilities, one.scores, None) for one in stored]
        found = blended(said, [2, 1, 1], n_classes)
        np.testing.assert_array_equal(found, whole.predictions.probabilities)
        np.testing.assert_array_equal(found.argmax(axis=1), whole.predictions.labels)


def test_it_is_validated_whole_with_one_seed_one_answer() -> None:
    X, y = planted()
    model = Blend([make_pipeline(Ranking("cc", k=4), KNN(3)), ExtraTreesClassifier(5), ExtraTreesClassifier(5)])
    one, two = (validate(model, X, y, folds=3, seed=2) for _ in range(2))
    assert one.summary()["accuracy"].mean > 0.6
    np.testing.assert_array_equal(one.values["auc"], two.values["auc"])


def test_a_recipe_of_a_blend() -> None:
    X, y = planted()
    text = "blend(cc(5) | svm, knn(3))"
    model = tamis.recipe(text)
    assert to_text(model) == text
    expected = Blend([make_pipeline(Ranking("cc", k=5), SVM()), KNN(3)]).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), expected.predict_proba(X))
    for same in ("standardize | blend(knn(3), svm(gaussian), weights=[1, 2.5])", "blend(blend(knn(1), svm), knn(9))"):
        assert to_text(tamis.recipe(same)) == same
    with pytest.raises(RecipeError, match="takes recipes here; got 5"):
        tamis.recipe("blend(knn(3), 5)")


@pytest.mark.parametrize(
    ("models", "match"),
    [
        ([], "blend needs at least one model; got none"),
        ([KNN(), LinearRegression()], r"blend: model 2 must be a classifier; got LinearRegression\(\)"),
        ([Standardize()], "blend: model 1 must be a classifier"),
        (["knn"], "blend: model 1 must be a classifier; got 'knn'"),
        ([KNN], "blend: model 1 must be a classifier"),
    ],
)
def test_bad_models(models, match) -> None:
    X, y, _ = problem()
    with pytest.raises(TamisError, match=match):
        Blend(models).fit(X, y)


@pytest.mark.parametrize(
    "weights", [[1], [1, 1, 1], [0, 0], [-1, 2], [np.nan, 1], [np.inf, 1], ["much", "little"], [[1, 2]], [[1], 2]]
)
def test_bad_weights(weights) -> None:
    X, y, _ = problem()
    with pytest.raises(TamisError, match="blend: weights takes a number of zero or more for each of 2 models, not all"):
        Blend([KNN(), SVM()], weights=weights).fit(X, y)


@pytest.mark.parametrize("parameters", [{"estimators": 5}, {"weights": 2.0}, {"n_jobs": "all"}])
def test_wrong_parameters(parameters) -> None:
    X, y, _ = problem()
    with pytest.raises(ValueError, match=f"'{next(iter(parameters))}'"):
        Blend(**parameters).fit(X, y)


ROWS: np.ndarray = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        (ROWS, np.zeros(6), "one class"),
        (ROWS, [0, 1, 0], "inconsistent"),
        (ROWS[:, 0], [0, 1, 0, 1, 0, 1], "blend takes rows and columns"),
        (ROWS[:0], [], "blend got 0 rows"),
        (np.where(ROWS == 3, np.nan, ROWS), [0, 1, 0, 1, 0, 1], "NaN"),
    ],
)
def test_bad_rows(X, y, match) -> None:
    with pytest.raises(ValueError, match=match):
        Blend([KNN(1), SVM()]).fit(X, y)


def test_it_must_be_fitted_and_keeps_to_its_columns() -> None:
    X, y, _ = problem()
    with pytest.raises(ValueError, match="not fitted"):
        Blend().predict_proba(X)
    with pytest.raises(ValueError, match="6 features"):
        Blend().fit(X, y).predict(X[:, :3])
