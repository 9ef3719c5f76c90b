"""Subset searches on a target of numbers: against scikit-learn's, plain refits and each other."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from tamis.base.errors import DataError, TamisError
from tamis.base.inner_cv import inner_folds
from tamis.base.seeds import generator
from tamis.base.shared_fit import Together
from tamis.classify import KNN
from tamis.compose.parser import parse
from tamis.incremental import fallback, subset_score
from tamis.incremental.registry import evaluator_for
from tamis.regress import KNNRegressor, Ridge
from tamis.select import LVF, PTA, SBFS, SBS, SFFS, SFS, BestFirst, Focus, Fortal, Genetic, RandomWrapper, Wrapper
from tamis.subsets.bic import BIC
from tamis.subsets.cfs import CFS
from tamis.subsets.classifier import ClassifierAccuracy
from tamis.subsets.convex import ConvexOptimum
from tamis.subsets.inconsistency import Inconsistency

SEARCHES = [SFS, SBS, PTA, SFFS, SBFS]
UPDATED = [Ridge(1.0), Ridge(0.0), Ridge(), PeerRidge(), PeerRidge(3.0, fit_intercept=False), KNNRegressor(3)]
MODELS = [*UPDATED, KNeighborsRegressor(4), make_pipeline(StandardScaler(), LinearRegression())]


def problem(seed: int = 0, rows: int = 80, columns: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Three columns of many make up the target, beside noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    made_of = X[:, 1::3][:, :3]
    return X, made_of @ np.array([1.0, -2.0, 1.5])[: made_of.shape[1]] + 5.0 + rng.normal(size=rows)


def parts(y: np.ndarray, cv: int = 5, random_state: int = 0) -> list:
    """The folds that a search with this seed deals."""
    return inner_folds(y, cv, int(generator(random_state).integers(2**31)), "sfs")


def score_of(model, X, y, columns, **options) -> float:
    rows = np.ascontiguousarray(X[:, np.asarray(columns, dtype=np.intp)])
    errors = -cross_val_score(model, rows, y, cv=parts(y, **options), scoring="neg_mean_squared_error")
    return float(1 - errors.mean() / y.var())


@pytest.mark.parametrize("model", MODELS, ids=lambda m: " ".join(repr(m).split()))
@pytest.mark.parametrize(("search", "direction", "folds"), [(SFS, "forward", 3), (SBS, "backward", 8)])
def test_the_subset_is_scikit_learns(model, search, direction, folds) -> None:
    X, y = problem(columns=7)
    peer = SequentialFeatureSelector(
        model, n_features_to_select=3, direction=direction, cv=parts(y, folds), scoring="neg_mean_squared_error"
    ).fit(X, y)
    ours = search(model, k=3, cv=folds, random_state=0).fit(X, y)
    np.testing.assert_array_equal(ours.get_support(), peer.get_support())
    assert ours.path_[-1] == pytest.approx(score_of(model, X, y, ours.chosen_, cv=folds), abs=1e-9)


def by_refits(selector, X, y, monkeypatch):
    """The same search where no model has an evaluator."""
    with monkeypatch.context() as patch:
        patch.setattr(subset_score, "evaluator_for", lambda model: None)
        return clone(selector).fit(X, y)


@pytest.mark.parametrize(("search", "sparse"), [(SFS, False), (SBS, True), (PTA, False), (SFFS, True), (SBFS, False)])
@pytest.mark.parametrize("model", [Ridge(2.0), PeerRidge(tol=1e-12), KNNRegressor(3)], ids=lambda m: type(m).__module__)
def test_updates_are_fits(search, model, sparse, monkeypatch) -> None:
    X, y = problem(3, rows=60, columns=6)
    X[np.abs(X) < 0.4] = 0.0
    X[:, 3] = 0.5
    given_X = sp.csr_array(X) if sparse else X
    selector = search(model, k=3, cv=3, caution=0.5, random_state=2)
    fast, slow = clone(selector).fit(given_X, y), by_refits(selector, given_X, y, monkeypatch)
    np.testing.assert_array_equal(fast.chosen_, slow.chosen_)
    np.testing.assert_allclose(fast.path_, slow.path_, atol=1e-9)
    np.testing.assert_allclose(fast.scores_, slow.scores_, atol=1e-9)


@pytest.mark.parametrize("model", [*UPDATED, KNeighborsRegressor(4)], ids=lambda m: " ".join(repr(m).split()))
@settings(max_examples=8)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(0, 7),
    kind=st.sampled_from(["normal", "offset", "scales", "binary", "collinear"]),
)
def test_predictions_are_those_of_a_fit(model, seed, size, kind) -> None:
    X, y = problem(seed % 100, rows=60, columns=9)
    if kind == "offset":
        X = X + 10.0 ** np.random.default_rng(seed).integers(0, 5, 9)
    elif kind == "scales":
        X = X * 10.0 ** np.random.default_rng(seed).integers(-3, 4, 9)
    elif kind == "binary":
        X = (X > 0.3).astype(float)
    elif kind == "collinear":
        X[:, 2], X[:, 5] = X[:, 0], X[:, 0] - X[:, 4]
    train, test, known = X[:40], X[40:], y[:40]
    order = np.random.default_rng(seed).permutation(9)
    columns, others = order[:size], order[size:]
    evaluator = evaluator_for(model)(model, train, known, test)
    changes = [(evaluator.add(columns, others), [np.append(columns, j) for j in others])]
    if size > 1:
        changes.append((evaluator.remove(columns, columns), [columns[columns != j] for j in columns]))
    for predicted, sets in changes:
        for row, some in zip(predicted, sets, strict=True):
            expected = clone(model).fit(np.ascontiguousarray(train[:, some]), known)
            # Least squares by normal equations lose digits where the scales of columns differ; updates do not.
            close = 1e-4 if kind == "scales" else 1e-6
            np.testing.assert_allclose(row, expected.predict(np.ascontiguousarray(test[:, some])), atol=close)


def test_updates_hardly_refit(monkeypatch) -> None:
    X, y = problem(1, columns=12)
    made = []
    monkeypatch.setattr(fallback, "refitted", lambda *given: made.append(given))
    for model in (Ridge(1.0), Ridge(), PeerRidge(), KNNRegressor(3), KNeighborsRegressor(3)):
        SFFS(model, k=6, random_state=0).fit(X, y)
    assert made == []


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from([Ridge(1.0), KNNRegressor(2), DecisionTreeRegressor(max_depth=2)]))
def test_floating_search_is_never_behind_the_plain_one(seed, model) -> None:
    X, y = problem(seed, rows=40, columns=6)
    for floating, plain in ((SFFS, SFS), (SBFS, SBS)):
        for k in (2, 4):
            better, worse = (search(model, k=k, cv=3, random_state=0).fit(X, y) for search in (floating, plain))
            assert better.path_[-1] >= worse.path_[-1] - 1e-9


def test_the_first_of_equal_columns_is_taken() -> None:
    X, y = problem()
    X = np.hstack((X, X))
    for model in (Ridge(1.0), KNNRegressor(3)):
        assert SFS(model, k=3, random_state=0).fit(X, y).chosen_.max() < 8


@pytest.mark.parametrize("search", SEARCHES)
def test_one_search_for_many_sizes(search) -> None:
    X, y = problem()
    several = [search(Ridge(1.0), k=k, random_state=0) for k in (2, 4, 5)]
    for one, alone in zip(Together(several, X, y), several, strict=True):
        np.testing.assert_array_equal(one.chosen_, clone(alone).fit(X, y).chosen_)


@pytest.mark.parametrize(
    "selector",
    [
        *(search(k=3, random_state=0) for search in SEARCHES),
        Wrapper(k=3, random_state=0),
        BestFirst("bic"),
        BestFirst("cfs"),
        Genetic("bic", random_state=0),
        Genetic("cfs_pearson", random_state=0),
        RandomWrapper(measure="bic", n_iter=3000, random_state=0),
        Fortal(measure="bic", n_iter=300, random_state=0),
    ],
    ids=lambda s: " ".join(repr(s).split()),
)
def test_planted_columns_are_found(selector) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 9))
    y = X[:, [1, 4, 7]].sum(axis=1) + 0.5 * rng.normal(size=200)
    np.testing.assert_array_equal(selector.fit(X, y).get_support(indices=True), [1, 4, 7])
    whole = clone(selector).set_params(task="regress").fit(X, np.rint(10 * y))
    np.testing.assert_array_equal(whole.get_support(indices=True), [1, 4, 7])
    sparse = clone(selector).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(sparse.get_support(indices=True), [1, 4, 7])


def test_a_wrapper_has_the_planted_columns() -> None:
    X, y = problem(rows=200)
    for selector in (
        BestFirst("classifier", estimator=Ridge(1.0), max_evaluations=200, random_state=0),
        Fortal(Ridge(1.0), random_state=0),
        RandomWrapper(random_state=0),
    ):
        assert {1, 4, 7} <= set(selector.fit(X, y).chosen_)


def test_neighbours_find_what_is_not_linear() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 6))
    y = np.sign(X[:, 2] * X[:, 4]) + 0.01 * X[:, 0]
    assert set(SBS(KNNRegressor(5), k=2, random_state=0).fit(X, y).chosen_) == {2, 4}


def test_scores_do_not_depend_on_the_unit_of_the_target() -> None:
    X, y = problem()
    plain = SFS(k=4, random_state=0).fit(X, y)
    for factor in (1e-150, 1e150, -3.0):
        found = SFS(k=4, random_state=0, task="regress").fit(X, factor * y)
        np.testing.assert_array_equal(found.chosen_, plain.chosen_)
        np.testing.assert_allclose(found.path_, plain.path_, rtol=1e-8)


def test_the_measures_are_their_formulas() -> None:
    X, y = problem(columns=5)
    sets = np.array([[False] * 5, [True, False, True, False, False], [True] * 5])
    bic = BIC.of(X, y).many(sets)
    for found, columns in zip(bic, sets, strict=True):
        left = y - LinearRegression().fit(X[:, columns], y).predict(X[:, columns]) if columns.any() else y - y.mean()
        assert found == pytest.approx(-(80 * np.log(np.mean(left**2)) + (columns.sum() + 1) * np.log(80)), rel=1e-9)
    np.testing.assert_allclose(
        BIC.of(X, y).add(np.array([1]), np.array([2, 3])), BIC.of(X, y).many(_pairs()), rtol=1e-9
    )
    r = np.corrcoef(X.T, y)
    merit = np.abs(r[[0, 2], 5]).sum() / np.sqrt(2 + 2 * abs(r[0, 2]))
    assert CFS.of(X, y, correlation="pearson").many(sets)[1] == pytest.approx(merit, rel=1e-6)
    measure = ClassifierAccuracy.of(X, y, Ridge(1.0), random_state=0)
    assert measure.many(sets)[2] == pytest.approx(score_of(Ridge(1.0), X, y, range(5)), abs=1e-9)
    assert measure.many(sets)[0] < 0.01
    weight = np.arange(80) % 3
    repeated = np.repeat(np.arange(80), weight)
    np.testing.assert_allclose(
        BIC.of(X, y, sample_weight=weight).many(sets), BIC.of(X[repeated], y[repeated]).many(sets), rtol=1e-9
    )


def _pairs() -> np.ndarray:
    return np.array([[False, True, True, False, False], [False, True, False, True, False]])


def test_missing_values_count_as_means() -> None:
    X, y = problem(rows=120)
    X[::7, 4] = np.nan
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    expected = BestFirst("cfs_pearson").fit(filled, y).trace_
    for form in (np.asarray, sp.csr_array):
        found = BestFirst("cfs").fit(form(X), y).trace_
        assert [one[1].tolist() for one in found] == [one[1].tolist() for one in expected]
        np.testing.assert_allclose([one[2] for one in found], [one[2] for one in expected])


def test_a_constant_target_and_constant_columns_survive() -> None:
    X, y = problem(columns=4)
    X[:, 2] = 0.1
    for model in (Ridge(1.0), KNNRegressor(3), DecisionTreeRegressor()):
        found = SFS(model, k=2, random_state=0, task="regress").fit(X, np.full(80, 0.1))
        np.testing.assert_array_equal(found.path_, 1.0)
    assert SFS(k=1, random_state=0).fit(X, y).chosen_.tolist() == [1]
    assert SFS(measure="bic", k=1, task="regress").fit(X, np.full(80, 0.1)).chosen_.size == 1


def test_noise_is_not_predicted() -> None:
    for selector in (
        SFS(k=3, random_state=0),
        Wrapper(k=3, random_state=0),
        BestFirst("bic"),
        SFFS(KNNRegressor(5), k=3, random_state=0),
    ):
        found = []
        for seed in range(3):
            rng = np.random.default_rng(seed)
            X, y = rng.random((200, 20)), rng.random(200)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(cross_val_score(make_pipeline(selector, PeerRidge()), X, y, cv=5, scoring="r2").mean())
        assert np.mean(found) < 0.02


@pytest.mark.parametrize(
    ("selector", "labels", "match"),
    [
        (
            SFS(KNN(3)),
            None,
            r"sfs: KNN\(n_neighbors=3\) tells classes apart, and the target holds numbers; take a regr",
        ),
        (
            SFFS(GaussianNB(), task="regress"),
            None,
            r"sffs: GaussianNB\(\) tells classes apart, and the target holds num",
        ),
        (Fortal(KNN(3)), None, r"fortal: KNN\(n_neighbors=3\) tells classes apart"),
        (
            SFS(Ridge(1.0)),
            "ab",
            r"sfs: Ridge\(alpha=1.0\) predicts numbers, and the target holds 'a'; take a classifier",
        ),
        (
            BestFirst("inconsistency"),
            None,
            "best_first: the measure inconsistency is for classes, and the target holds n",
        ),
        (
            Genetic("convex_net"),
            None,
            "genetic: the measure convex_net is for classes, .* take one of cfs, cfs_pearson",
        ),
        (
            SFS(scoring="balanced_accuracy"),
            None,
            "sfs: scoring=balanced_accuracy is for classes, and the target holds n",
        ),
        (LVF(), None, "LVF tells classes apart, and the target holds numbers"),
        (Focus(), None, "Focus tells classes apart, and the target holds numbers"),
        (SFS(task="numbers"), None, "'task'"),
    ],
)
def test_the_other_task_is_refused(selector, labels, match) -> None:
    X, y = problem()
    with pytest.raises(ValueError, match=match):
        selector.fit(X, y if labels is None else np.array(list(labels) * 40))


def test_bad_targets() -> None:
    X, y = problem()
    y[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SFS().fit(X, y)
    with pytest.raises(TamisError, match="sfs needs at least two rows"):
        SFS().fit(X[:1], [0.5])
    for measure in (CFS, Inconsistency, ConvexOptimum):
        with pytest.raises(TamisError, match="is for classes, and the target holds numbers"):
            measure.of(X, y)
    nominal = np.array([["a", 1.0], ["b", 2.0]] * 20, dtype=object)
    with pytest.raises(DataError, match=r"takes no nominal column .* where the target holds numbers; put encode in"):
        BestFirst().fit(nominal, np.arange(40) / 7)


def test_a_recipe_is_told_the_task() -> None:
    X, y = problem()
    found = parse("sfs(ridge(1.0), k=3, random_state=0)").build("regress")
    by_class = SFS(Ridge(1.0), k=3, random_state=0).fit(X, np.rint(y))
    np.testing.assert_array_equal(found.fit(X, np.rint(y)).chosen_, by_class.chosen_)
    default = parse("sfs(k=3)").build("regress")
    assert default.task == "regress"
