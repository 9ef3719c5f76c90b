"""rfe, from_model, importance and contrasts on a target of numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.feature_selection
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

from tamis.base.cut import NothingPasses
from tamis.base.shared_fit import Together
from tamis.margins import ridge_elimination
from tamis.regress import KNNRegressor, Ridge
from tamis.select import RFE, Contrasts, FromModel, Importance

SELECTORS = [
    RFE(3),
    FromModel(k=3, random_state=0),
    FromModel(Ridge(1.0), k=3),
    FromModel(Lasso(0.2), threshold=0.0),
    Importance(k=3, random_state=0),
    Importance(SVR(), k=3, values=10, random_state=0),
    Contrasts(random_state=0),
    Contrasts("boost", n_estimators=20, random_state=0),
]
each_selector = pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: " ".join(repr(s).split()))


def problem(seed: int = 0, rows: int = 200, columns: int = 10) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, 2.0 * X[:, 1] - 1.5 * X[:, 4] + 1.5 * X[:, 7] + 0.3 * rng.normal(size=rows) + 10.0


@each_selector
def test_planted_columns_are_found(selector) -> None:
    X, y = problem()
    np.testing.assert_array_equal(clone(selector).fit(X, y).get_support(indices=True), [1, 4, 7])
    whole = clone(selector).set_params(task="regress").fit(X, np.rint(y))
    np.testing.assert_array_equal(whole.get_support(indices=True), [1, 4, 7])
    if not isinstance(getattr(selector, "estimator", None), SVR):
        sparse = clone(selector).fit(sp.csr_array(X), y)
        np.testing.assert_array_equal(sparse.get_support(indices=True), [1, 4, 7])


@each_selector
def test_the_unit_of_the_target_does_not_matter(selector) -> None:
    X, y = problem(1, rows=80)
    if isinstance(getattr(selector, "estimator", None), SVR | Lasso):
        pytest.skip("the parameters of this model have the unit of the target")
    order = clone(selector).fit(X, y).order_
    np.testing.assert_array_equal(clone(selector).fit(X, 2.0**30 * y).order_, order)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.sampled_from([(60, 7), (12, 40), (30, 30)]), st.sampled_from([0.01, 1.0, 50.0]))
def test_elimination_is_scikit_learns(seed, shape, cost) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * rng.uniform(0.5, 2.0, size=shape[1]) + rng.uniform(-3, 3, size=shape[1])
    y = rng.normal(size=shape[0])
    peer = sklearn.feature_selection.RFE(PeerRidge(0.5 / cost), n_features_to_select=3, step=1).fit(X, y)
    found = RFE(3, step=1, C=cost).fit(X, y)
    np.testing.assert_array_equal(found.support_, peer.support_)
    # Ridge regression leaves the order of the last ones open: scikit-learn ranks what was dropped.
    np.testing.assert_array_equal(np.where(found.ranking_ <= 3, 1, found.ranking_ - 2), peer.ranking_)


@pytest.mark.parametrize("shape", [(30, 90), (90, 30)])
def test_weights_are_those_of_the_model(shape) -> None:
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=shape) + 3.0, rng.normal(size=shape[0]), rng.integers(1, 4, shape[0]).astype(float)
    X[np.abs(X) < 3] = 0.0
    X[:, 5] = 0.1
    for columns in (np.arange(shape[1]), np.arange(0, shape[1], 2), np.array([1, 5, 8])):
        expected = np.abs(PeerRidge(0.7).fit(X[:, columns], y, sample_weight=weight).coef_)
        expected[columns == 5] = 0.0
        for form in (np.asarray, sp.csr_array, sp.csc_array):
            weigh = ridge_elimination.RidgeWeights(form(X), y, weight, 0.7)
            weigh(np.arange(shape[1]))
            np.testing.assert_allclose(weigh(columns), expected, atol=1e-9)


def test_subtracted_products_do_not_wear_out(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 300)) * np.geomspace(1e4, 1e-2, 300), rng.normal(size=20)
    found = RFE(5, C=0.01).fit(X, y)
    monkeypatch.setattr(ridge_elimination, "_WORN", -1.0)
    np.testing.assert_array_equal(RFE(5, C=0.01).fit(X, y).order_, found.order_)


def test_least_squares_without_a_penalty() -> None:
    X, y = problem(rows=50)
    expected = np.argsort(-np.abs(np.linalg.lstsq(X - X.mean(axis=0), y - y.mean())[0]))
    np.testing.assert_array_equal(RFE(9, step=1, C=np.inf).fit(X, y).order_, expected)
    assert RFE(2, C=np.inf).fit(X[:5], y[:5]).support_.sum() == 2


def test_one_elimination_serves_every_size_and_weights_are_copies() -> None:
    X, y = problem(2, rows=60)
    several = [RFE(k) for k in (2, 5, 8)]
    for one, alone in zip(Together(several, X, y), several, strict=True):
        np.testing.assert_array_equal(one.order_, clone(alone).fit(X, y).order_)
    weight = np.arange(60) % 3
    rows = np.repeat(np.arange(60), weight)
    np.testing.assert_array_equal(RFE(3).fit(X, y, weight).order_, RFE(3).fit(X[rows], y[rows]).order_)


def test_weights_and_importances_are_those_of_the_model() -> None:
    X, y = problem(rows=60)
    forest = RandomForestRegressor(10, random_state=0)
    np.testing.assert_array_equal(FromModel(forest).fit(X, y).scores_, forest.fit(X, y).feature_importances_)
    np.testing.assert_allclose(FromModel(Ridge(1.0)).fit(X, y).scores_, np.abs(Ridge(1.0).fit(X, y).coef_))
    trees = ExtraTreesRegressor(200, random_state=0).fit(X, y)
    assert np.corrcoef(FromModel(random_state=0).fit(X, y).scores_, trees.feature_importances_)[0, 1] > 0.99
    found = Importance(Ridge(1.0), values=None, eliminate=False).fit(X, y).importances_
    spread = np.abs(X[:, None] - X).mean(axis=(0, 1))
    np.testing.assert_allclose(found, np.abs(Ridge(1.0).fit(X, y).coef_) * spread, rtol=1e-9)


def test_the_importance_is_the_mean_change_of_the_prediction() -> None:
    X, y = problem(rows=25)
    model = KNeighborsRegressor(3).fit(X, y)
    expected = np.zeros(10)
    for j in range(10):
        for value in X[:, j]:
            changed = X.copy()
            changed[:, j] = value
            expected[j] += np.abs(model.predict(changed) - model.predict(X)).mean() / 25
    found = Importance(KNeighborsRegressor(3), values=None, eliminate=False).fit(X, y)
    np.testing.assert_allclose(found.importances_, expected, rtol=1e-9)


def test_contrasts_find_what_is_masked() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 15))
    y = 4 * np.sign(X[:, 2]) + X[:, 6] + 0.3 * rng.normal(size=400)
    found = Contrasts(random_state=0).fit(X, y)
    assert {2, 6} <= set(found.get_support(indices=True))
    assert found.get_support().sum() <= 4
    assert found.round_[2] == 1


@pytest.mark.filterwarnings("ignore::tamis.base.cut.NothingPasses")
@pytest.mark.parametrize(
    "selector",
    [RFE(3), FromModel(ExtraTreesRegressor(20), k=3), Importance(k=3, values=5), Contrasts(n_estimators=10)],
    ids=lambda s: type(s).__name__,
)
def test_noise_is_not_predicted(selector) -> None:
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.random((200, 20)), rng.random(200)
        found.append(cross_val_score(make_pipeline(selector, PeerRidge()), X, y, cv=4, scoring="r2").mean())
    assert np.mean(found) < 0.02


@pytest.mark.parametrize(
    ("selector", "labels", "match"),
    [
        (
            FromModel(LogisticRegression()),
            None,
            r"from_model: LogisticRegression\(\) tells classes apart, and the t",
        ),
        (Importance(LogisticRegression()), None, r"importance: LogisticRegression\(\) tells classes apart"),
        (
            FromModel(Ridge()),
            "ab",
            r"from_model: Ridge\(\) predicts numbers, and the target holds 'a'; take a classifier",
        ),
        (Importance(KNNRegressor(3)), "ab", r"importance: KNNRegressor\(n_neighbors=3\) predicts numbers"),
        (Importance(Ridge(), of="class"), None, "importance: of='class' is for classes, and the target holds numbers"),
        (RFE(class_weight="balanced"), None, "rfe: class_weight is for classes, and the target holds numbers"),
        (RFE(task="regress"), "ab", "rfe needs numbers; the target holds 'a'"),
        (Contrasts(task="regress"), "ab", "contrasts needs numbers; the target holds 'a'"),
        (FromModel(KNNRegressor(3)), None, r"from_model: KNNRegressor\(n_neighbors=3\) gives the columns no weights"),
        (RFE(task="both"), None, "'task'"),
    ],
)
def test_the_other_task_is_refused(selector, labels, match) -> None:
    X, y = problem()
    with pytest.raises(ValueError, match=match):
        selector.fit(X, y if labels is None else np.array(list(labels) * 100))


def test_a_constant_target_survives() -> None:
    X, _ = problem(rows=40)
    y = np.full(40, 0.1)
    assert RFE(3, task="regress").fit(X, y).support_.sum() == 3
    assert Importance(k=3, task="regress").fit(X, y).support_.sum() == 3
    for selector in (FromModel(task="regress"), Contrasts(task="regress")):
        with pytest.warns(NothingPasses):
            assert selector.fit(X, y).support_.sum() == 1
