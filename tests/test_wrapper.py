"""The wrapper against plain loops of cross-validation; planted features; sparse columns; bad input."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import accuracy_score, recall_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import tamis
from planted import planted
from tamis.base.errors import TamisError
from tamis.base.seeds import generator, seeded, spawn
from tamis.classify import KNN
from tamis.compose.recipe import to_text
from tamis.select import Wrapper


def problem(seed: int = 0, rows: int = 90, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Nine columns with zeros among them; 1, 4 and 7 tell a class each from the others."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = rng.normal(size=(rows, 9))
    for c, j in enumerate((1, 4, 7)[:n_classes]):
        X[:, j] += 2 * (y == c)
    X[np.abs(X) < 0.3] = 0.0
    return X, y


def parts(y, cv, random_state) -> tuple[list, int]:
    seed = int(generator(random_state).integers(2**31))
    splitter = StratifiedKFold(cv, shuffle=True, random_state=int(generator(seed).integers(2**31)))
    return list(splitter.split(y, y)), seed


def measured(truth, said, scoring) -> float:
    if scoring == "accuracy":
        return accuracy_score(truth, said)
    return recall_score(truth, said, labels=np.unique(truth), average="macro", zero_division=0)


def worth(model, X, y, columns, *, cv=5, random_state=0, scoring="accuracy", caution=0.0) -> float:
    """Worth of a set of columns, fold by fold."""
    dealt, seed = parts(y, cv, random_state)
    found = []
    for fold, (train, test) in enumerate(dealt):
        fitted = seeded(clone(model), spawn(seed, fold)).fit(X[np.ix_(train, columns)], y[train])
        found.append(measured(y[test], fitted.predict(X[np.ix_(test, columns)]), scoring))
    return float(np.mean(found) - (caution * np.std(found, ddof=1) if caution else 0.0))


def by_hand(model, X, y, *, k=None, base=(), tol=0.0, **options) -> tuple[list, list, list]:
    alone = [worth(model, X, y, [j], **options) for j in range(X.shape[1])]
    order = sorted(range(X.shape[1]), key=lambda j: (-round(alone[j], 12), j))
    chosen = list(base) or [order[0]]
    path = [worth(model, X, y, chosen, **options)]
    for j in order:
        if j in chosen or (k is not None and len(chosen) >= k):
            continue
        now = worth(model, X, y, [*chosen, j], **options)
        if now > path[-1] + tol + 1e-12:
            chosen.append(j)
            path.append(now)
    return alone, chosen, path


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (GaussianNB(), {}),
        (DecisionTreeClassifier(max_depth=2), {"caution": 1.0}),
        (make_pipeline(StandardScaler(), GaussianNB()), {"tol": 0.03, "scoring": "balanced_accuracy"}),
        (GaussianNB(), {"base": [8, 2], "cv": 3}),
        (GaussianNB(), {"k": 2, "random_state": 5}),
        (ExtraTreesClassifier(3), {"cv": 3}),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_the_plain_loop(model, parameters, n_classes) -> None:
    X, y = problem(n_classes=n_classes, rows=91)
    alone, chosen, path = by_hand(model, X, y, **parameters)
    found = Wrapper(model, **{"random_state": 0, **parameters}).fit(X, y)
    np.testing.assert_allclose(found.scores_, alone, rtol=1e-12)
    assert found.chosen_.tolist() == chosen
    np.testing.assert_allclose(found.path_, path, rtol=1e-12)
    assert found.get_support(indices=True).tolist() == sorted(chosen)
    np.testing.assert_array_equal(found.order_, np.argsort(-found.scores_, kind="stable"))


def test_without_extension_the_best_of_the_ranking() -> None:
    X, y = problem()
    plain = Wrapper(GaussianNB(), k=4, extend=False, random_state=0).fit(X, y)
    np.testing.assert_array_equal(plain.chosen_, plain.order_[:4])
    assert not hasattr(plain, "path_")
    based = Wrapper(GaussianNB(), k=3, base=[0], extend=False, random_state=0).fit(X, y)
    assert based.chosen_.tolist() == [0, *[j for j in plain.order_ if j != 0][:2]]


def test_planted_features_are_found() -> None:
    X, y = problem()
    assert set(Wrapper(GaussianNB(), random_state=0).fit(X, y).chosen_[:3]) == {1, 4, 7}
    X, y = planted(rows=120)
    assert set(Wrapper(KNN(9), k=2, random_state=0).fit(X, y).chosen_) == {3, 8}


def test_a_feature_must_raise_the_worth_by_more_than_the_gain() -> None:
    X, y = problem()
    free = Wrapper(GaussianNB(), random_state=0).fit(X, y)
    steps = np.diff(free.path_)
    assert (steps > 0).all()
    strict = Wrapper(GaussianNB(), tol=float(steps[0]), random_state=0).fit(X, y)
    assert free.chosen_[1] not in strict.chosen_[:2]
    assert Wrapper(GaussianNB(), tol=1.0, random_state=0).fit(X, y).chosen_.tolist() == [free.chosen_[0]]


@pytest.mark.parametrize("model", [None, KNN(3), BernoulliNB(binarize=0.5)])
def test_sparse_is_dense(model) -> None:
    X, y = problem()
    wanted = Wrapper(model, base=[2], random_state=0).fit(X, y)
    for form in (sp.csr_array, sp.csc_matrix):
        got = Wrapper(model, base=[2], random_state=0).fit(form(X), y)
        np.testing.assert_allclose(got.scores_, wanted.scores_, rtol=1e-12)
        np.testing.assert_array_equal(got.chosen_, wanted.chosen_)


class TakesSparse(ClassifierMixin, BaseEstimator):
    """Notes what it is given."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        self.seen.append(sp.issparse(X))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], X.shape[0])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def test_columns_stay_sparse_for_a_model_that_takes_them() -> None:
    X, y = problem(n_classes=2)
    TakesSparse.seen.clear()
    Wrapper(TakesSparse(), base=[1, 2], random_state=0).fit(sp.csr_array(X), y)
    assert len(TakesSparse.seen) == 5 * (9 + 1 + 7)
    assert all(TakesSparse.seen)


def test_columns_may_move() -> None:
    X, y = problem(rows=101)
    here = Wrapper(ExtraTreesClassifier(4), cv=3, random_state=1).fit(X, y)
    assert np.unique(here.scores_).size == 9
    order = np.random.default_rng(0).permutation(9)
    there = Wrapper(ExtraTreesClassifier(4), cv=3, random_state=1).fit(X[:, order], y)
    np.testing.assert_array_equal(there.scores_, here.scores_[order])
    np.testing.assert_array_equal(order[there.chosen_], here.chosen_)


def test_workers_change_nothing(monkeypatch) -> None:
    X, y = problem()
    model = Wrapper(ExtraTreesClassifier(3), cv=3, random_state=4)
    one, two = clone(model).fit(X, y), clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.chosen_, two.chosen_)
    np.testing.assert_array_equal(one.path_, two.path_)
    assert one.chosen_.size > 1
    monkeypatch.setattr("tamis.select.wrapper.effective_n_jobs", lambda n_jobs: 4)
    many = clone(model).fit(X, y)
    np.testing.assert_array_equal(many.scores_, one.scores_)
    np.testing.assert_array_equal(many.chosen_, one.chosen_)
    np.testing.assert_array_equal(many.path_, one.path_)


def test_seeds_are_the_wrappers_unless_the_model_has_its_own() -> None:
    X, y = problem()
    forest = ExtraTreesClassifier(3)
    first = Wrapper(forest, k=1, cv=3, random_state=0).fit(X, y).scores_
    assert forest.random_state is None
    other = Wrapper(clone(forest), k=1, cv=3, random_state=1).fit(X, y).scores_
    assert not np.array_equal(first, other)
    assert Wrapper(forest).get_params()["estimator__n_estimators"] == 3


def test_base_by_name_or_number() -> None:
    X, y = problem()
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(9)])
    by_name = Wrapper(base=["gene 3", "gene 5"], random_state=0).fit(frame, y)
    assert by_name.chosen_[:2].tolist() == [3, 5]
    np.testing.assert_array_equal(by_name.chosen_, Wrapper(base=np.array([3, 5]), random_state=0).fit(X, y).chosen_)
    assert Wrapper(base="gene 3", random_state=0).fit(frame, y).chosen_[0] == 3
    assert Wrapper(base=0, random_state=0).fit(X, y).chosen_[0] == 0


def test_constant_columns_name_the_commonest_class() -> None:
    X, y = problem(n_classes=2)
    y[:10] = 1
    X[:, 3] = 0.0
    for form in (np.asarray, sp.csr_array):
        model = Wrapper(random_state=0).fit(form(X), y)
        dealt, _ = parts(y, 5, 0)
        expected = [np.mean(y[test] == np.bincount(y[train]).argmax()) for train, test in dealt]
        assert model.scores_[3] == pytest.approx(np.mean(expected))


def test_a_class_of_one_row_does_no_harm() -> None:
    X, y = problem(n_classes=2)
    lonely = np.zeros_like(y)
    lonely[3] = 1
    model = Wrapper(random_state=0).fit(X, lonely)
    assert model.scores_.max() <= 1 - 1 / (5 * 18)
    balanced = Wrapper(DummyClassifier(), scoring="balanced_accuracy", random_state=0).fit(X, lonely)
    # Four folds have one class; in the fifth half of the classes is right.
    np.testing.assert_allclose(balanced.scores_, 0.9)


def test_perfect_is_enough() -> None:
    y = np.repeat([0, 1], 20)
    X = np.column_stack([np.random.default_rng(0).normal(size=40), y, y]).astype(float)
    model = Wrapper(KNeighborsClassifier(1), random_state=0).fit(X, y)
    assert model.chosen_.tolist() == [1]
    assert model.path_.tolist() == [1.0]


def test_labels_reach_the_model_as_they_are() -> None:
    X, y = problem(n_classes=2)
    words = np.array(["ill", "well"])[y]
    model = Wrapper(ExtraTreesClassifier(3, class_weight={"ill": 1, "well": 5}), cv=3, random_state=0).fit(X, words)
    same = Wrapper(ExtraTreesClassifier(3, class_weight={0: 1, 1: 5}), cv=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.scores_, same.scores_)


def test_a_recipe_wraps() -> None:
    X, y = problem()
    text = "wrapper(standardize | knn(3), k=2, base=[4], cv=3, random_state=0)"
    model = tamis.recipe(text)
    assert to_text(model) == text
    by_class = Wrapper(tamis.recipe("standardize | knn(3)"), k=2, base=[4], cv=3, random_state=0)
    np.testing.assert_array_equal(model.fit(X, y).chosen_, by_class.fit(X, y).chosen_)
    by_class.base = np.array([4])
    assert to_text(by_class) == text


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"estimator": KMeans(2)}, "wrapper: estimator must be a classifier; got KMeans"),
        ({"estimator": 3}, "'estimator'"),
        ({"extend": False}, "wrapper: extend=False needs k"),
        ({"base": [9]}, "wrapper: base takes names of columns or numbers from 0 to 8; got 9"),
        ({"base": "gene"}, "wrapper: base takes names of columns or numbers from 0 to 8; got 'gene'"),
        ({"base": [True]}, "wrapper: base takes names of columns or numbers from 0 to 8; got True"),
        ({"base": [1, 1]}, "wrapper: base names a column twice"),
        ({"base": [1, 2], "k": 1}, "wrapper: base has 2 columns, more than k=1"),
        ({"scoring": "auc"}, "'scoring'"),
        ({"tol": -1.0}, "'tol'"),
        ({"cv": 1}, "'cv'"),
        ({"caution": -1.0}, "'caution'"),
    ],
)
def test_wrong_parameters(parameters, match) -> None:
    X, y = problem()
    with pytest.raises(ValueError, match=match):
        Wrapper(**parameters).fit(X, y)


def test_some_class_needs_two_rows() -> None:
    with pytest.raises(TamisError, match="wrapper needs a class with at least two rows"):
        Wrapper().fit(np.eye(3), [0, 1, 2])
