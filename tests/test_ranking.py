"""The ranking selector, and what every selector inherits."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import SelectFdr, SelectKBest, f_classif
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from tamis import scores
from tamis.base.errors import TamisError
from tamis.select import Ranking


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    return rng.random((60, 10)) + y[:, None] * (np.arange(10) % 4 == 0), y


def test_equals_scikit_learn(problem):
    X, y = problem
    np.testing.assert_array_equal(
        Ranking("f", k=4).fit(X, y).support_, SelectKBest(f_classif, k=4).fit(X, y).get_support()
    )
    np.testing.assert_array_equal(
        Ranking("f", fdr=0.05).fit(X, y).support_, SelectFdr(f_classif).fit(X, y).get_support()
    )


def test_what_is_known_after_fitting(problem):
    X, y = problem
    model = Ranking("cc", k=3).fit(X, np.array(["a", "b", "c"])[y])
    np.testing.assert_allclose(model.scores_, scores.cc(X, y))
    assert sorted(model.order_[:3]) == np.flatnonzero(model.support_).tolist()
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.transform(X).shape == (60, 3)
    np.testing.assert_array_equal(model.inverse_transform(model.transform(X))[:, model.support_], X[:, model.support_])


def test_frames_and_sparse_matrices(problem):
    X, y = problem
    names = [f"g{i}" for i in range(10)]
    kept = Ranking("cc", k=3).fit(X, y).get_support(indices=True)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = Ranking("cc", k=3).set_output(transform="pandas").fit(frame, y)
        assert list(model.transform(frame).columns) == [names[i] for i in kept]
    for form in (sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array):
        out = Ranking("cc", k=3).fit_transform(form(X), y)
        assert sp.issparse(out)
        np.testing.assert_array_equal(out.toarray(), X[:, kept])


def test_a_function_of_the_users_own(problem):
    X, y = problem
    model = Ranking(lambda X, y: -np.arange(X.shape[1], dtype=float), k=2).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1]
    assert Ranking(scores.t, k=2, options={"welch": True}).fit(X, y).support_.sum() == 2


def test_weights_reach_the_score(problem):
    X, y = problem
    weight = np.where(np.arange(60) < 30, 1.0, 0.0)
    np.testing.assert_allclose(Ranking("cc", k=2).fit(X, y, sample_weight=weight).scores_, scores.cc(X[:30], y[:30]))
    with pytest.raises(ValueError, match="Negative"):
        Ranking("cc", k=2).fit(X, y, sample_weight=-weight)


def test_unsupervised_rankings_need_no_classes(problem):
    X, _ = problem
    assert Ranking("variance", k=2).fit(X).support_.sum() == 2
    assert not hasattr(Ranking("variance", k=2).fit(X), "classes_")


def test_it_takes_part_in_a_grid_search(problem):
    search = GridSearchCV(make_pipeline(Ranking(), GaussianNB()), {"ranking__k": [1, 3], "ranking__by": ["cc", "t"]})
    assert search.fit(*problem).best_params_["ranking__k"] == 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "'k' parameter of Ranking"),
        ({"fraction": 1.5}, "'fraction' parameter"),
        ({"fdr": 1.0}, "'fdr' parameter"),
        ({"by": "nonsense"}, "no score is called 'nonsense'"),
        ({"k": 2, "threshold": 1.0}, "got k and threshold"),
        ({"by": "cc", "fdr": 0.1}, "fdr needs a score with p-values"),
        ({"by": "cc", "options": {"welch": True}}, "cc has no option 'welch'"),
    ],
)
def test_wrong_parameters_are_refused(problem, parameters, message):
    with pytest.raises((TamisError, ValueError), match=message):
        Ranking(**parameters).fit(*problem)
