"""Whole-model validation: what it takes, and what it says of what it cannot take."""

from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from planted import chain, dataset, planted
from tamis.base.errors import RecipeError, TamisError
from tamis.select import Ranking
from tamis.validation.whole import validate


def test_every_kind_of_input_gives_the_same() -> None:
    X, y = planted()
    X[np.abs(X) < 0.5] = 0.0
    model = make_pipeline(Ranking("cc", k=5), KNeighborsClassifier(3))
    names = [f"f{i}" for i in range(X.shape[1])]
    dense = validate(model, X, y, folds=4)
    for other in (
        sp.csr_array(X),
        sp.csc_matrix(X),
        sp.coo_array(X),
        pl.DataFrame(X, schema=names),
        pd.DataFrame(X, columns=names, index=np.arange(60) + 7),
        X.tolist(),
    ):
        found = validate(model, other, y, folds=4)
        assert np.array_equal(found.predictions.label, dense.predictions.label), type(other)
        assert all(np.array_equal(a, b) for a, b in zip(found.selected, dense.selected, strict=True)), type(other)
    from_dataset = validate(model, dataset(sp.csr_array(X), y), folds=4)
    assert np.array_equal(from_dataset.predictions.label, dense.predictions.label)
    words = np.array(["no", "yes"], dtype=object)[y]
    for labels in (words, words.astype(str), pd.Series(words), pl.Series(words.tolist())):
        found = validate(model, X, labels, folds=4)
        assert found.classes.tolist() == ["no", "yes"]
        assert np.array_equal(found.predictions.label == "yes", dense.predictions.label == 1)


def test_groups_from_argument_or_data_set() -> None:
    X, y = planted()
    groups = np.random.default_rng(0).integers(15, size=60)
    found = validate(GaussianNB(), X, y, folds=3, groups=groups)
    p = found.predictions
    fold_of_group = {g: set(p.fold[groups[p.row] == g]) for g in np.unique(groups)}
    assert all(len(folds) == 1 for folds in fold_of_group.values())
    same = validate(GaussianNB(), dataset(X, y, groups=groups), folds=3)
    assert np.array_equal(same.predictions.fold, p.fold)


def test_probes_are_added_and_counted() -> None:
    X, y = planted()
    found = validate(chain(10), X, y, folds=4, probes=0.5)
    assert found.n_features == 80
    expected = np.mean([np.mean(k >= 40) for k in found.selected])
    assert 0 < found.probe_share == pytest.approx(expected)
    data = validate(chain(10), dataset(X, y), folds=4, probes=0.5)
    assert (data.n_features, data.probe_share > 0) == (80, True)
    assert validate(chain(), X, y, folds=4).probe_share is None


def test_known_probes_of_the_data_are_counted() -> None:
    X, y = planted()
    roles = np.where(np.isin(np.arange(40), [3, 8]), "informative", "probe")
    found = validate(chain(2), dataset(X, y, roles=roles), folds=4)
    assert found.probe_share == pytest.approx(np.mean([np.mean(~np.isin(k, [3, 8])) for k in found.selected]))
    assert found.probe_share < 0.5


class Failing(ClassifierMixin, BaseEstimator):
    """Gives up in the second fit."""

    fits: ClassVar[int] = 0

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        Failing.fits += 1
        if Failing.fits == 2:
            raise RuntimeError("the solver gave up\nwith a long story")
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], X.shape[0])


def test_a_failing_fold_is_named() -> None:
    X, y = planted()
    Failing.fits = 0
    with pytest.raises(TamisError, match=r"^repeat 1, fold 2: the solver gave up$") as caught:
        validate(Failing(), X, y, folds=3)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_bad_input_in_one_sentence() -> None:
    X, y = planted()
    with pytest.raises(TamisError, match="y is missing"):
        validate(chain(), X)
    with pytest.raises(TamisError, match="y was given twice"):
        validate(chain(), dataset(X, y), y)
    with pytest.raises(TamisError, match="data: 59 labels for 60 rows"):
        validate(chain(), X, y[1:])
    with pytest.raises(TamisError, match="data: 3 groups for 60 rows"):
        validate(chain(), X, y, groups=[1, 2, 3])
    with pytest.raises(TamisError, match=r"X must have rows and columns; got shape \(60,\)"):
        validate(chain(), X[:, 0], y)
    with pytest.raises(TamisError, match=r"X must have rows and columns; got shape \(0, 40\)"):
        validate(chain(), X[:0], y[:0])
    with pytest.raises(TamisError, match=r"data: y must be one column of labels; got shape \(60, 2\)"):
        validate(chain(), X, X[:, :2])
    with pytest.raises(TamisError, match="is a classifier, and the target holds numbers: end it with"):
        validate(chain(), X, X[:, 0])
    with pytest.raises(TamisError, match="data: the class of row 3 is missing"):
        validate(chain(), X, np.where(np.arange(60) == 2, np.nan, y))
    with pytest.raises(TamisError, match="data: the class of row 3 is missing"):
        validate(chain(), X, np.where(np.arange(60) == 2, None, y.astype(str)))
    with pytest.raises(TamisError, match="y has one class"):
        validate(chain(), X, np.zeros(60, dtype=int))
    with pytest.raises(TamisError, match="model must be a scikit-learn estimator or a recipe; got 3"):
        validate(3, X, y)
    with pytest.raises(TamisError, match="model must be a scikit-learn estimator or a recipe; got <class"):
        validate(GaussianNB, X, y)
    with pytest.raises(TamisError, match=r"the model does not predict: end it with a classifier; got cc\(3\)"):
        validate("cc(3)", X, y)
    with pytest.raises(RecipeError, match="no part is called 'nonsense'"):
        validate("nonsense(3)", X, y)
    with pytest.raises(
        TamisError, match=r"LinearRegression.* is a regressor, and the target holds classes: end it with a classifier"
    ):
        validate(LinearRegression(), X, y)
    with pytest.raises(TamisError, match="probes must be a share of 0 or more; got -1"):
        validate(chain(), X, y, probes=-1)
    with pytest.raises(TamisError, match="seed must be a whole number of 0 or more; got -1"):
        validate(chain(), X, y, seed=-1)


def test_data_that_needs_preparing_says_so() -> None:
    y = np.tile([0, 1], 20)
    X = pl.DataFrame({"f0": ["red", "blue"] * 20, "f1": [1.0, 2.0] * 20})
    with pytest.raises(TamisError, match=r"nominal columns \(the first is 'f0'\): begin the recipe with encode"):
        validate(chain(1), dataset(X, y))
    Y = np.random.default_rng(0).normal(size=(40, 3))
    Y[5, 1] = np.nan
    with pytest.raises(TamisError, match="the data has 1 missing values: begin the recipe with impute"):
        validate(chain(1), dataset(Y, y))
