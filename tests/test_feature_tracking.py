"""Columns a fitted model uses, traced back to the input."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from tamis.base.feature_tracking import trace_columns, used_features
from tamis.classify import Committee, SSVTree
from tamis.select import Ranking


class Doubling(TransformerMixin, BaseEstimator):
    """Gives every column but the first twice, and says where each comes from."""

    def fit(self, X, y=None):
        self.origins_ = np.repeat(np.arange(1, X.shape[1]), 2)
        return self

    def transform(self, X):
        return X[:, self.origins_]


class WrongOrigins(Doubling):
    def fit(self, X, y=None):
        super().fit(X)
        self.sources_, self.origins_ = self.origins_, self.origins_ + 100
        return self

    def transform(self, X):
        return X[:, self.sources_]


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Six columns: 2 and 5 tell the classes apart, 5 best; 0 is constant."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 6))
    X[:, 0] = 1.0
    X[:, 2] += 3 * y
    X[:, 5] += 6 * y
    return X, y


def columns(model, rows) -> list[int] | None:
    X, y = rows
    mask = used_features(model.fit(X, y), X.shape[1])
    return None if mask is None else np.flatnonzero(mask).tolist()


def test_a_model_without_selection_uses_all(rows) -> None:
    assert columns(GaussianNB(var_smoothing=1e-3), rows) == [0, 1, 2, 3, 4, 5]
    assert columns(make_pipeline(StandardScaler(), LogisticRegression()), rows) == [0, 1, 2, 3, 4, 5]


def test_selectors_narrow_one_after_another(rows) -> None:
    assert columns(Ranking(k=2), rows) == [2, 5]
    assert columns(make_pipeline(VarianceThreshold(), StandardScaler(), Ranking(k=2), GaussianNB()), rows) == [2, 5]
    assert columns(make_pipeline(Ranking(k=2), Ranking(k=1), GaussianNB()), rows) == [5]


def test_mixing_stops_the_trace(rows) -> None:
    assert columns(make_pipeline(Ranking(k=2), PCA(2), Ranking(k=1), GaussianNB()), rows) == [2, 5]
    assert columns(make_pipeline(PolynomialFeatures(), Ranking(k=1), GaussianNB()), rows) == [0, 1, 2, 3, 4, 5]


def test_nested_pipelines(rows) -> None:
    inner = make_pipeline(Ranking(k=1), GaussianNB())
    assert columns(make_pipeline(make_pipeline(StandardScaler(), Ranking(k=3)), inner), rows) == [5]
    mixed_inside = make_pipeline(make_pipeline(Ranking(k=2), PCA(2)), Ranking(k=1), GaussianNB())
    assert columns(mixed_inside, rows) == [2, 5]


def test_passthrough_frozen_and_searched_steps(rows) -> None:
    X, y = rows
    frozen = FrozenEstimator(Ranking(k=2).fit(X, y))
    assert columns(Pipeline([("a", "passthrough"), ("b", frozen), ("c", None), ("d", GaussianNB())]), rows) == [2, 5]
    searched = GridSearchCV(make_pipeline(Ranking(), GaussianNB()), {"ranking__k": [1]}, cv=2)
    assert columns(make_pipeline(StandardScaler(), searched), rows) == [5]


def test_origins_are_followed_back(rows) -> None:
    assert columns(make_pipeline(Doubling(), Ranking(k=2), GaussianNB()), rows) == [5]
    assert columns(make_pipeline(Doubling(), GaussianNB()), rows) == [1, 2, 3, 4, 5]


def test_a_committee_uses_what_any_member_uses(rows) -> None:
    X, y = rows
    committee = Committee(2, make_pipeline(Ranking(k=1), GaussianNB()))
    committee.fit(X, y).estimators_ = [make_pipeline(Ranking(k=1)).fit(X[:, ::-1], y), Ranking(k=2).fit(X, y)]
    assert np.flatnonzero(used_features(committee, 6)).tolist() == [0, 2, 5]
    piped = make_pipeline(Ranking(k=3), Committee(2, make_pipeline(Ranking(k=2), GaussianNB())))
    assert columns(piped, rows) == [2, 5]
    assert columns(Committee(2, GaussianNB(var_smoothing=1e-3)), rows) == [0, 1, 2, 3, 4, 5]
    assert columns(Committee(2, make_pipeline(WrongOrigins(), GaussianNB())), rows) is None


def test_columns_are_traced_until_they_are_mixed(rows) -> None:
    X, y = rows
    assert trace_columns(make_pipeline(StandardScaler(), Ranking(k=2)).fit(X, y), 6).tolist() == [2, 5]
    assert trace_columns(make_pipeline(Doubling(), Ranking(k=2)).fit(X, y), 6).tolist() == [5, 5]
    assert trace_columns(make_pipeline(Ranking(k=2), PCA(2)).fit(X, y), 6) is None
    assert trace_columns(make_pipeline(WrongOrigins(), Ranking(k=2)).fit(X, y), 6) is None


def test_a_step_that_speaks_of_other_columns_gives_none(rows) -> None:
    assert columns(make_pipeline(WrongOrigins(), GaussianNB()), rows) is None
    X, y = rows
    assert used_features(make_pipeline(Ranking(k=2), GaussianNB()).fit(X, y), 7) is None


def test_a_tree_uses_the_columns_that_it_splits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    y = (X[:, 4] > 0).astype(int)
    model = make_pipeline(StandardScaler(), Ranking(k=3), SSVTree(prune=None)).fit(X, y)
    assert used_features(model, 6).tolist() == [False, False, False, False, True, False]
