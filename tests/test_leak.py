"""The leak check: the same model with its selection done on all rows looks far better than it is."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from tamis.base.seeds import seeded, spawn
from tamis.select import Ranking
from tamis.validation.folds import StratifiedFolds
from tamis.validation.leak import leaky_twin
from tamis.validation.whole import validate


def noise(seed: int, rows: int = 60, columns: int = 5000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), np.repeat([0, 1], rows // 2)


def honest_and_leaked(seed: int) -> tuple[float, float]:
    X, y = noise(seed)
    found = validate(make_pipeline(Ranking("cc", k=50), LinearSVC()), X, y, leak_check=True, seed=seed)
    assert found.leak is not None
    return found.summary()["accuracy"].mean, found.leak.summary()["accuracy"].mean


def test_noise_is_told_from_signal_by_nesting_alone() -> None:
    honest, leaked = np.array([honest_and_leaked(seed) for seed in range(3)]).T
    assert abs(honest.mean() - 0.5) < 0.15
    assert leaked.min() > 0.85


@pytest.mark.slow
def test_noise_over_twenty_seeds() -> None:
    honest, leaked = np.array([honest_and_leaked(seed) for seed in range(20)]).T
    assert abs(honest.mean() - 0.5) < 0.05
    assert leaked.mean() > 0.85


def test_the_twin_by_hand() -> None:
    X, y = noise(0, columns=300)
    model = make_pipeline(StandardScaler(), Ranking("cc", k=20), LinearSVC())
    found = validate(model, X, y, folds=5, seed=2, leak_check=True)
    Z = make_pipeline(StandardScaler(), Ranking("cc", k=20)).fit_transform(X, y)
    expected = []
    for s in StratifiedFolds(5).splits(y, seed=2):
        last = seeded(make_pipeline("passthrough", LinearSVC()), spawn(2, 0, s.fold))
        expected.append(last.fit(Z[s.train], y[s.train]).score(Z[s.test], y[s.test]))
    np.testing.assert_allclose(found.leak.values["accuracy"], expected)
    chosen = np.flatnonzero(Ranking("cc", k=20).fit(X, y).support_)
    assert all(np.array_equal(k, chosen) for k in found.leak.selected)
    assert found.leak.stability.index == 1.0


def test_optimism_is_positive_when_the_leak_flatters() -> None:
    X, y = noise(1, columns=1000)
    model = make_pipeline(Ranking("cc", k=30), GaussianNB())
    for metrics in ("ber", "accuracy"):
        found = validate(model, X, y, folds=5, leak_check=True, metrics=metrics)
        gap = abs(found.summary()[metrics].mean - found.leak.summary()[metrics].mean)
        assert found.optimism == pytest.approx(gap)
        assert found.optimism > 0.2
        assert f"optimism {gap:.4f}" in str(found)


def test_without_steps_nothing_can_leak() -> None:
    X, y = noise(0, columns=20)
    for model in (GaussianNB(), Pipeline([("a", "passthrough"), ("b", GaussianNB())]), make_pipeline(GaussianNB())):
        found = validate(model, X, y, folds=5, leak_check=True)
        assert (found.leak, found.optimism) == (None, 0.0)
        assert "nothing can leak" in str(found)
    assert validate(GaussianNB(), X, y, folds=5).optimism is None


class RandomFront(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Passes rows on; its open seed takes a number before the classifier's."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X


def test_classifier_gets_the_same_seeds_in_both() -> None:
    """Front steps that learn nothing make the twin equal the honest model, random classifier and all."""
    X, y = noise(0, columns=30)
    model = Pipeline([("a_front", RandomFront()), ("trees", ExtraTreesClassifier(10))])
    found = validate(model, X, y, folds=5, leak_check=True)
    assert np.array_equal(found.predictions.probabilities, found.leak.predictions.probabilities)
    assert found.optimism == 0.0
    other = validate(ExtraTreesClassifier(10), X, y, folds=5)
    assert not np.array_equal(found.predictions.probabilities, other.predictions.probabilities)


def test_nested_pipelines_leak_too() -> None:
    X, y = noise(3, columns=1000)
    flat = make_pipeline(StandardScaler(), Ranking("cc", k=30), GaussianNB())
    nested = make_pipeline(StandardScaler(), make_pipeline(Ranking("cc", k=30), GaussianNB()))
    one = validate(flat, X, y, folds=5, leak_check=True)
    two = validate(nested, X, y, folds=5, leak_check=True)
    assert np.array_equal(one.leak.predictions.scores, two.leak.predictions.scores)
    assert one.optimism == two.optimism > 0.2


def test_twin_of_sparse_rows_and_an_untouched_model() -> None:
    X, y = noise(0, columns=400)
    X = sp.csr_array(np.where(X > 1, X, 0.0))
    model = make_pipeline(Ranking("cc", k=10), LinearSVC())
    twin = leaky_twin(model, X, y)
    assert not hasattr(model[0], "support_")
    assert twin[0].support_.sum() == 10
    assert leaky_twin(LinearSVC(), X, y) is None
