"""Weights of a model against scikit-learn's SelectFromModel; one fit for all cuts; columns traced; bad input."""

from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import tamis
from alone import alone, try_all
from planted import planted
from tamis.base.cut import NothingPasses
from tamis.base.errors import RecipeError, TamisError
from tamis.base.seeds import generator, seeded
from tamis.base.shared_fit import Together, grouped
from tamis.classify import KNN, SVM
from tamis.compose.recipe import parse, to_text
from tamis.data.dataset import Dataset
from tamis.select import FromModel, Ranking
from tamis.transform import Encode, Impute, Standardize
from tamis.validation.folds import StratifiedFolds
from tamis.validation.models import as_estimators


def problem(n_classes: int = 2, rows: int = 90, columns: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = np.abs(rng.normal(size=(rows, columns))) * (rng.random((rows, columns)) < 0.7)
    X[:, [2, 7]] += 0.8 * y[:, None]
    return X, y


class Told(ClassifierMixin, BaseEstimator):
    """Gives the columns the weights it is told."""

    fits: ClassVar[int] = 0

    def __init__(self, weights=(1.0,)):
        self.weights = weights

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        self.feature_importances_ = np.array(self.weights)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], X.shape[0])


MODELS = [
    ExtraTreesClassifier(20, random_state=0),
    DecisionTreeClassifier(random_state=0),
    LogisticRegression(),
    SGDClassifier(random_state=0),
    SVC(kernel="linear"),
    SVM(),
]


def lengths(model) -> np.ndarray:
    """What scikit-learn reads from coefficients, of which it takes dense ones alone."""
    coef = model.coef_
    return np.linalg.norm(coef.toarray() if sp.issparse(coef) else coef, axis=0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_columns_are_those_of_scikit_learn(model, form, n_classes) -> None:
    X, y = problem(n_classes)
    reader = lengths if isinstance(model, SVC) else "auto"
    for k in (1, 3, 5):
        peer = SelectFromModel(clone(model), max_features=k, threshold=-np.inf, norm_order=2, importance_getter=reader)
        found = FromModel(model, k).fit(form(X), y)
        np.testing.assert_array_equal(found.get_support(), peer.fit(form(X), y).get_support())
        assert found.support_.sum() == k


@pytest.mark.parametrize("model", MODELS[:4], ids=lambda model: type(model).__name__)
def test_without_a_cut_columns_weigh_at_least_the_mean_as_in_scikit_learn(model) -> None:
    X, y = problem(3)
    peer = SelectFromModel(clone(model), norm_order=2, threshold="mean").fit(X, y)
    found = FromModel(model).fit(X, y)
    np.testing.assert_array_equal(found.get_support(), peer.get_support())
    assert 0 < found.support_.sum() < 12


def test_coefficients_of_several_rows_count_by_their_length() -> None:
    X, y = problem(3)
    dense = SVC(kernel="linear").fit(X, y).coef_
    assert dense.shape[0] == 3
    expected = np.sqrt((dense**2).sum(axis=0))
    np.testing.assert_allclose(FromModel(SVC(kernel="linear")).fit(X, y).scores_, expected, rtol=1e-12)
    sparse = sp.csr_array(X)
    assert sp.issparse(SVC(kernel="linear").fit(sparse, y).coef_)
    np.testing.assert_allclose(FromModel(SVC(kernel="linear")).fit(sparse, y).scores_, expected, rtol=1e-3)


weights = st.lists(st.sampled_from([0.0, 0.0, 0.1, 0.3, 0.3, 1e-300, 7.0]), min_size=5, max_size=5).filter(any)


@given(weights, st.integers(1, 7), st.floats(0.01, 1), st.sampled_from([0.0, 0.05, 0.3, 5.0]))
@settings(max_examples=60, deadline=None)
def test_cuts_of_known_weights(given, k, fraction, threshold) -> None:
    X, y = np.random.default_rng(0).normal(size=(6, 5)), [0, 1] * 3
    best = sorted((j for j in range(5) if given[j] > 0), key=lambda j: (-given[j], j))

    def kept(**cut) -> list[int]:
        return FromModel(Told(given), **cut).fit(X, y).get_support(indices=True).tolist()

    assert kept(k=k) == sorted(best[:k])
    assert kept(fraction=fraction) == sorted(best[: int(np.ceil(5 * fraction))])
    mean = sum(given) / 5
    assert kept() == [j for j in range(5) if given[j] > 0 and given[j] >= mean * (1 - 1e-6)]
    above = [j for j in range(5) if given[j] > threshold]
    if above:
        assert kept(threshold=threshold) == above
    else:
        with pytest.warns(NothingPasses, match="0 of 5 features meet the cut; the best 1 selected"):
            assert kept(threshold=threshold) == best[:1]


@pytest.mark.parametrize("cut", [{}, {"k": 2}, {"fraction": 0.9}, {"threshold": 0.5}])
def test_one_column_is_kept_when_none_is_used(cut) -> None:
    X, y = problem()
    with pytest.warns(NothingPasses, match="0 of 12 features meet the cut; the best 1 selected instead"):
        found = FromModel(DecisionTreeClassifier(min_samples_leaf=90), **cut).fit(X, y)
    assert found.get_support(indices=True).tolist() == [0]
    assert not found.scores_.any()


def test_equal_weights_are_all_kept_and_a_column_alone_too() -> None:
    X, y = problem(columns=10)
    assert FromModel(Told([0.1] * 10)).fit(X, y).support_.all()
    assert FromModel(random_state=0).fit(X[:, 2:3], y).support_.all()


def test_negative_weights_count_as_none() -> None:
    X, y = problem(columns=8)
    found = FromModel(Told([-1.0, 2.0, 0.0, 1.0, -5.0, 0.0, 0.0, 0.0]), 5).fit(X, y)
    assert found.get_support(indices=True).tolist() == [1, 3]
    assert found.order_.tolist()[:2] == [1, 3]
    assert found.scores_.min() == 0


@pytest.mark.parametrize("model", [None, SVM(), LogisticRegression(), LinearSVC(intercept_scaling=0.1)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_constant_columns_are_never_kept(model, form) -> None:
    X, y = problem()
    y[:30] = 1
    X[:, 1], X[:, 4], X[:, 5] = 0.0, 0.1, 30.0
    if isinstance(model, LinearSVC):
        raw = np.abs(clone(model).fit(X, y).coef_[0])
        assert raw[5] > 1e-3
    found = FromModel(model, k=12, random_state=0).fit(form(X), y)
    assert not found.scores_[[1, 4, 5]].any()
    assert found.support_.sum() == 9


def test_a_lasso_keeps_what_it_uses_with_threshold_zero() -> None:
    X, y = planted(rows=100)
    lasso = LogisticRegression(l1_ratio=1, solver="saga", C=0.1, tol=1e-6, max_iter=5000, random_state=0)
    used = clone(lasso).fit(X, y).coef_[0] != 0
    found = FromModel(lasso, threshold=0).fit(X, y)
    np.testing.assert_array_equal(found.support_, used)
    assert 2 <= used.sum() < 40
    np.testing.assert_array_equal(FromModel(lasso, 40).fit(X, y).support_, used)


def test_planted_columns_are_found_by_default() -> None:
    X, y = planted(rows=200)
    found = FromModel(k=2, random_state=0).fit(X, y)
    assert found.get_support(indices=True).tolist() == [3, 8]
    seed = int(generator(0).integers(2**31))
    peer = seeded(ExtraTreesClassifier(200), seed).fit(X, y)
    np.testing.assert_array_equal(found.scores_, peer.feature_importances_)


def test_one_fit_serves_every_cut() -> None:
    X, y = problem()
    told = Told(list(range(12)))
    asked = [FromModel(told, k) for k in (1, 4, 12)] + [FromModel(told, fraction=0.3), FromModel(told, threshold=5)]
    (group,) = grouped([*asked, FromModel(told)])
    Told.fits = 0
    together = [one.get_support() for one in Together(group.estimators, X, y)]
    assert Told.fits == 1
    for one, support in zip(group.estimators, together, strict=True):
        np.testing.assert_array_equal(support, clone(one).fit(X, y).get_support())
    assert len(grouped([FromModel(told, 3), FromModel(SVM(), 3), FromModel(told, 3, random_state=1)])) == 3


@pytest.mark.parametrize("sparse", [False, True])
def test_a_plan_answers_as_each_model_alone(sparse) -> None:
    X, y = problem()
    X = sp.csr_array(X) if sparse else X
    models = as_estimators(["from_model(svm, k={1, 4, 9}) | knn(3)", "from_model(standardize | svm, 3) | knn(1)"])
    trees = ExtraTreesClassifier(5)
    models += [make_pipeline(FromModel(trees, k), KNN(3)) for k in (2, 6)]
    splits = StratifiedFolds(2).splits(y, seed=1)
    for model, outcome in zip(models, try_all(models, Dataset.of(X, y), splits, seed=5), strict=True):
        for found, split in zip(outcome, splits, strict=True):
            expected = alone(model, X, y, split, seed=5)
            np.testing.assert_array_equal(found.selected, expected.selected)
            np.testing.assert_array_equal(found.predictions.labels, expected.predictions.labels)
    few, many = (set(outcome[0].selected) for outcome in try_all(models[-2:], Dataset.of(X, y), splits, seed=5))
    assert (len(few), len(many), few < many) == (2, 6, True)


def test_a_pipeline_weighs_the_columns_that_reach_its_classifier() -> None:
    X, y = problem()
    X[:, [2, 7]] *= 20
    scaled = FromModel(make_pipeline(Standardize(), SVM()), 3).fit(X, y)
    expected = FromModel(SVM(), 3).fit(Standardize().fit_transform(X), y)
    np.testing.assert_array_equal(scaled.support_, expected.support_)
    assert scaled.support_[[2, 7]].all()
    assert not FromModel(SVM(), 3).fit(X, y).support_[[2, 7]].all()
    narrow = FromModel(make_pipeline(Ranking("cc", k=4), make_pipeline(Standardize(), SVM())), 12).fit(X, y)
    np.testing.assert_array_equal(narrow.support_, Ranking("cc", k=4).fit(X, y).support_)


def test_of_a_column_in_several_copies_the_heaviest_counts() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 60), rng.normal(size=60)]).astype(float)
    y = ((X[:, 1] > 0.3) ^ (rng.random(60) < 0.1)).astype(int)
    chain = make_pipeline(Encode(), SVM())
    inner = clone(chain).fit(X, y)
    copies = np.abs(inner[-1].coef_[0])
    expected = [copies[np.asarray(inner[0].origins_) == j].max() for j in range(2)]
    np.testing.assert_allclose(FromModel(chain).fit(X, y).scores_, expected)


def test_missing_values_are_the_affair_of_the_given_model() -> None:
    X, y = problem()
    X[::5, 3] = np.nan
    assert FromModel(ExtraTreesClassifier(5), 3, random_state=0).fit(X, y).support_.sum() == 3
    assert FromModel(make_pipeline(Impute(), SVM()), 3).fit(X, y).support_.sum() == 3
    for model in (None, SVM()):
        with pytest.raises(ValueError, match="NaN"):
            FromModel(model, 3).fit(X, y)


def test_seeds_and_labels_reach_the_model() -> None:
    X, y = problem()
    one, two, other = (FromModel(ExtraTreesClassifier(3), random_state=s).fit(X, y).scores_ for s in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)
    fixed = [FromModel(ExtraTreesClassifier(3, random_state=5), random_state=s).fit(X, y).scores_ for s in (0, 1)]
    np.testing.assert_array_equal(*fixed)
    weighted = LogisticRegression(class_weight={"ill": 1, "well": 30})
    words = np.array(["ill", "well"])[y]
    found = FromModel(weighted).fit(X, words).scores_
    np.testing.assert_allclose(found, np.abs(clone(weighted).fit(X, words).coef_[0]))


def test_recipes() -> None:
    X, y = problem()
    model = tamis.recipe("from_model(svm(linear), k=5)")
    assert to_text(model) == "from_model(svm(linear), k=5)"
    assert to_text(tamis.recipe("from_model(svm(linear), 5)")) == "from_model(svm(linear), k=5)"
    np.testing.assert_array_equal(model.fit(X, y).support_, FromModel(SVM(), 5).fit(X, y).support_)
    for text in ("from_model | knn(3)", "from_model(k=20)", "from_model(standardize | svm, fraction=0.1) | svm"):
        assert to_text(tamis.recipe(text)) == text
    assert len(list(parse("from_model({svm, svm(C=9)}, {2, 5})").variants())) == 4
    with pytest.raises(RecipeError, match="from_model: estimator takes a recipe that ends in a classifier"):
        tamis.recipe("from_model(20)")


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (
            KNN(3),
            r"from_model: KNN\(n_neighbors=3\) gives the columns no weights; take a model that has feature_imp",
        ),
        (SVM("gaussian"), "from_model: SVM.* gives the columns no weights"),
        (make_pipeline(Standardize(), GaussianNB()), r"from_model: GaussianNB\(\) gives the columns no weights"),
        (make_pipeline(PCA(2), SVM()), r"from_model: the weights of SVM\(\) cannot be traced back to the input"),
        (Told([1.0, 2.0]), "from_model: the weights of Told.* cannot be traced"),
        (Told([np.nan] * 12), "from_model: Told.* gives some columns weights that are not finite"),
        (KMeans(2), r"from_model: estimator must be a classifier; got KMeans\(n_clusters=2\)"),
    ],
)
def test_models_without_weights(model, match) -> None:
    X, y = problem()
    with pytest.raises(TamisError, match=match):
        FromModel(model, 3).fit(X, y)


def test_two_cuts_are_refused_before_the_model_is_fitted() -> None:
    X, y = problem()
    Told.fits = 0
    with pytest.raises(TamisError, match="a cut takes one of k, fraction, threshold and fdr; got k and threshold"):
        FromModel(Told([1.0] * 12), 3, threshold=0.5).fit(X, y)
    assert Told.fits == 0


@pytest.mark.parametrize(
    "parameters",
    [{"estimator": 5}, {"estimator": Standardize()}, {"k": 0}, {"k": 1.5}, {"fraction": 0.0}, {"threshold": -0.1}],
)
def test_wrong_parameters(parameters) -> None:
    X, y = problem()
    with pytest.raises(ValueError, match=f"'{next(iter(parameters))}'"):
        FromModel(**parameters).fit(X, y)
