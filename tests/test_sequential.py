"""Sequential searches against scikit-learn's and plain loops; updates against fits; one search for many sizes."""

import warnings
from itertools import combinations

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import tamis
import tamis.data
from tamis.base.errors import DataError, TamisError
from tamis.base.seeds import generator
from tamis.base.shared_fit import Together
from tamis.classify import KNN
from tamis.compose.parser import parse
from tamis.compose.recipe import completed_for
from tamis.incremental import subset_score
from tamis.select import PTA, SBFS, SBS, SFFS, SFS
from tamis.subsets.measures import MEASURES, MeasureSettings

PLAIN = MeasureSettings(None, None, "accuracy", 0.0, 5, None, 0, np.array([0, 1]), "sfs")
SEARCHES = [SFS, SBS, PTA, SFFS, SBFS]
MODELS = [
    GaussianNB(),
    KNeighborsClassifier(5),
    LinearDiscriminantAnalysis(),
    RidgeClassifier(),
    NearestCentroid(),
    make_pipeline(StandardScaler(), GaussianNB()),
]


def problem(seed: int = 0, rows: int = 90, columns: int = 8, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Three columns of many tell the classes apart, each a little."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = rng.normal(size=(rows, columns))
    X[:, 1::3] += 0.8 * y[:, None]
    return X, y


def parts(y, cv: int = 5, random_state: int = 0) -> list:
    """The folds that a search with this seed deals."""
    seed = int(generator(int(generator(random_state).integers(2**31))).integers(2**31))
    return list(StratifiedKFold(cv, shuffle=True, random_state=seed).split(y, y))


def score_of(model, X, y, columns, **options) -> float:
    columns = np.asarray(columns, dtype=np.intp)
    return cross_val_score(model, np.ascontiguousarray(X[:, columns]), y, cv=parts(y, **options)).mean()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize(
    ("search", "direction", "n_classes", "folds"),
    [
        (SFS, "forward", 2, 3),
        (SBS, "backward", 3, 8),
        pytest.param(SFS, "forward", 3, 8, marks=pytest.mark.slow),
        pytest.param(SBS, "backward", 2, 3, marks=pytest.mark.slow),
    ],
)
def test_the_subset_is_scikit_learns(model, search, direction, n_classes, folds) -> None:
    X, y = problem(n_classes=n_classes, rows=61, columns=6)
    peer = SequentialFeatureSelector(
        model, n_features_to_select=3, direction=direction, cv=parts(y, folds), scoring="accuracy"
    ).fit(X, y)
    ours = search(model, k=3, cv=folds, random_state=0).fit(X, y)
    np.testing.assert_array_equal(ours.get_support(), peer.get_support())
    assert ours.path_[-1] == pytest.approx(score_of(model, X, y, ours.chosen_, cv=folds), abs=1e-12)


def test_balanced_accuracy_is_scikit_learns() -> None:
    X, y = problem(n_classes=3, rows=100)
    y[y == 2] = np.where(np.arange((y == 2).sum()) % 3, 1, 2)
    peer = SequentialFeatureSelector(GaussianNB(), n_features_to_select=3, cv=parts(y), scoring="balanced_accuracy")
    ours = SFS(k=3, scoring="balanced_accuracy", random_state=0).fit(X, y)
    np.testing.assert_array_equal(ours.get_support(), peer.fit(X, y).get_support())


def by_refits(selector, X, y, monkeypatch):
    """The same search where no classifier has a judge."""
    with monkeypatch.context() as patch, warnings.catch_warnings():
        patch.setattr(subset_score, "evaluator_for", lambda model: None)
        # A fit may complain of a constant column, which updates have no reason to.
        warnings.simplefilter("ignore", UserWarning)
        return clone(selector).fit(X, y)


@pytest.mark.parametrize(("search", "sparse"), [(SFS, False), (SBS, True), (PTA, False), (SFFS, True), (SBFS, False)])
@pytest.mark.parametrize("model", [KNN(3), *MODELS[:5]], ids=lambda m: type(m).__name__)
def test_updates_are_fits(search, model, sparse, monkeypatch) -> None:
    X, y = problem(3, rows=40, columns=6, n_classes=3)
    X = np.round(X, 1)
    X[:, 5], X[:, 3] = X[:, 1], 0.5
    X[np.abs(X) < 0.4] = 0.0
    given_X = sp.csr_array(X) if sparse else X
    selector = search(model, k=3, cv=3, caution=0.5, scoring="balanced_accuracy", random_state=2)
    fast, slow = clone(selector).fit(given_X, y), by_refits(selector, given_X, y, monkeypatch)
    np.testing.assert_array_equal(fast.chosen_, slow.chosen_)
    np.testing.assert_array_equal(fast.path_, slow.path_)
    np.testing.assert_array_equal(fast.scores_, slow.scores_)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from(SEARCHES), st.sampled_from([GaussianNB(), KNN(2)]), st.integers(2, 5))
def test_updates_are_fits_among_ties(seed, search, model, n_classes) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (30, 5)).astype(float), rng.integers(0, n_classes, 30)
    X[:, 2], y[:2] = 1.0, [0, 1]
    selector = search(model, k=2, cv=3, random_state=seed)
    with pytest.MonkeyPatch.context() as patch:
        slow = by_refits(selector, X, y, patch)
    fast = selector.fit(X, y)
    np.testing.assert_array_equal(fast.chosen_, slow.chosen_)
    np.testing.assert_array_equal(fast.path_, slow.path_)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("model", [GaussianNB(), KNN(3)], ids=lambda m: type(m).__name__)
def test_one_search_answers_every_size(search, model) -> None:
    X, y = problem(5, columns=7)
    settings_ = [{"k": k} for k in (4, 1, 7, 2, 9)] + [{}, {"tol": 0.02}]
    together = Together([search(model, random_state=1, **one) for one in settings_], X, y)
    for shared, one in zip(together, settings_, strict=True):
        alone = search(model, random_state=1, **one).fit(X, y)
        np.testing.assert_array_equal(shared.chosen_, alone.chosen_)
        np.testing.assert_array_equal(shared.path_, alone.path_)
        np.testing.assert_array_equal(shared.scores_, alone.scores_)
        np.testing.assert_array_equal(shared.order_, alone.order_)


def test_the_best_pair_is_found_where_the_way_is_plain() -> None:
    X, y = problem(7, columns=6)
    X[:, 2] += 3 * y
    found = SFS(k=2, random_state=0).fit(X, y)
    pairs = [score_of(GaussianNB(), X, y, pair) for pair in combinations(range(6), 2) if 2 in pair]
    assert found.path_[1] == pytest.approx(max(pairs))


def plain_pta(model, X, y, plus, minus) -> dict[int, float]:
    """Best score of each size over the whole of the search, by lists."""
    own, best = [], {}
    p = X.shape[1]

    def note() -> None:
        best[len(own)] = max(best.get(len(own), 0.0), score_of(model, X, y, own))

    while len(own) < p:
        for _ in range(min(plus, p - len(own))):
            rest = [j for j in range(p) if j not in own]
            own.append(max(rest, key=lambda j: score_of(model, X, y, [*own, j])))
            note()
        whole = len(own) == p
        for _ in range(minus):
            gone = max(sorted(own), key=lambda j: score_of(model, X, y, [i for i in own if i != j]))
            own.remove(gone)
            note()
        if whole:
            break
    return best


@pytest.mark.parametrize(("plus", "minus"), [(3, 1), (2, 1), (1, 0), (4, 2)])
def test_plus_l_take_away_r(plus, minus) -> None:
    X, y = problem(11, columns=6, rows=60)
    wanted = plain_pta(GaussianNB(), X, y, plus, minus)
    found = PTA(k=6, plus=plus, minus=minus, random_state=0).fit(X, y)
    np.testing.assert_allclose(found.path_, [wanted[size] for size in range(1, 7)], atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_floating_is_never_behind_forward(seed) -> None:
    X, y = problem(seed, rows=80, columns=12, n_classes=3)
    X[:, 3] = X[:, 1] * X[:, 4] + 0.3 * X[:, 6]
    forward, floating = (s(KNN(3), k=10, random_state=0).fit(X, y) for s in (SFS, SFFS))
    assert (floating.path_ >= forward.path_ - 1e-12).all()
    assert floating.path_[-1] == pytest.approx(score_of(KNN(3), X, y, floating.chosen_), abs=1e-12)


@settings(max_examples=200)
@given(st.integers(0, 10_000), st.sampled_from([(SFS, SFFS), (SBS, SBFS)]), st.integers(2, 4))
def test_floating_is_never_behind_at_any_size(seed, pair, n_classes) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (24, 6)).astype(float), np.arange(24) % n_classes
    X[:, 0] += X[:, 1] * y
    plain, floating = (search(k=1 if search in (SBS, SBFS) else 6, cv=3, random_state=0).fit(X, y) for search in pair)
    assert (floating.path_ >= plain.path_ - 1e-12).all()


def test_floating_backward_returns_to_a_feature_that_was_removed_too_early() -> None:
    """On some problems the floating search is ahead of the plain one."""
    better = []
    for seed in range(12):
        X, y = problem(seed, rows=60, columns=9, n_classes=3)
        X[:, 3] = X[:, 1] * X[:, 4] + 0.3 * X[:, 6]
        plain, floating = (search(KNN(3), k=1, random_state=0).fit(X, y) for search in (SBS, SBFS))
        assert (floating.path_ >= plain.path_ - 1e-12).all()
        better.append((floating.path_ > plain.path_ + 1e-12).any())
        assert floating.path_[-1] == pytest.approx(score_of(KNN(3), X, y, floating.chosen_), abs=1e-12)
    assert any(better)


def test_floating_leaves_a_feature_that_others_made_needless() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    a, b, noise = rng.normal(size=(3, 120))
    # Column 0 is the best alone, but 1 and 2 together say all.
    X = np.column_stack([2.0 * y + 1.2 * rng.normal(size=120), a + 1.5 * y, a + 0.1 * noise, b])
    assert SFS(LinearDiscriminantAnalysis(), k=2, random_state=0).fit(X, y).chosen_[0] == 0
    assert set(SFFS(LinearDiscriminantAnalysis(), k=2, random_state=0).fit(X, y).chosen_) == {1, 2}
    assert set(PTA(LinearDiscriminantAnalysis(), k=2, random_state=0).fit(X, y).chosen_) == {1, 2}


def test_without_k_a_step_must_help() -> None:
    X, y = problem(2)
    for search in (SFS, PTA, SFFS):
        found = search(random_state=0).fit(X, y)
        assert (np.diff(found.path_) > 0).all()
        longer = search(k=found.chosen_.size + 1, random_state=0).fit(X, y)
        assert longer.path_[-1] <= found.path_[-1] + 1e-12
        assert search(tol=1.0, random_state=0).fit(X, y).chosen_.size == 1
    for search in (SBS, SBFS):
        back = search(random_state=0).fit(X, y)
        assert (np.diff(back.path_) > 0).all()
        assert search(tol=-1.0, random_state=0).fit(X, y).chosen_.size == 1
        assert search(tol=1.0, random_state=0).fit(X, y).chosen_.size == 8


def test_scores_tell_the_order() -> None:
    X, y = problem(4)
    forward = SFS(k=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(forward.order_[:3], forward.chosen_)
    np.testing.assert_array_equal(forward.scores_[forward.chosen_], [4.0, 3.0, 2.0])
    rest = forward.order_[3:]
    np.testing.assert_allclose(forward.scores_[rest], [score_of(GaussianNB(), X, y, [j]) for j in rest])
    one, three = (SBS(k=k, random_state=0).fit(X, y) for k in (1, 3))
    assert one.order_[0] == one.chosen_[0]
    np.testing.assert_array_equal(three.chosen_, np.sort(one.order_[:3]))
    np.testing.assert_array_equal(three.order_[3:], one.order_[3:])
    np.testing.assert_array_equal(three.scores_[three.order_], [6, 6, 6, 5, 4, 3, 2, 1])


@pytest.mark.parametrize("search", SEARCHES)
def test_constants_small_classes_and_one_column(search) -> None:
    X, y = problem(6, rows=40, columns=4)
    X[:, 1:3] = 0.1
    lonely = y.copy()
    lonely[0] = 2
    for form in (np.asarray, sp.csr_array):
        for model in (None, KNN(1), DecisionTreeClassifier(random_state=0)):
            # However large k is, there are four columns.
            assert search(model, k=9, random_state=0).fit(form(X), lonely).chosen_.size == 4
    one = search(random_state=0).fit(X[:, :1], y)
    assert one.chosen_.tolist() == [0]
    assert one.path_.size == 1
    nothing = search(k=2, random_state=0).fit(np.full((40, 3), 0.1), y)
    np.testing.assert_allclose(nothing.path_, 0.5)


@pytest.mark.parametrize("search", SEARCHES)
def test_workers_and_precision_change_nothing(search) -> None:
    X, y = problem(8, rows=60, columns=5)
    tree = DecisionTreeClassifier(max_depth=2)
    one, two = (search(tree, k=2, cv=3, n_jobs=n, random_state=3).fit(X, y) for n in (None, 2))
    np.testing.assert_array_equal(one.chosen_, two.chosen_)
    np.testing.assert_array_equal(one.path_, two.path_)
    single = X.astype(np.float32)
    narrow, wide = (search(k=2, random_state=3).fit(M, y) for M in (single, single.astype(np.float64)))
    np.testing.assert_array_equal(narrow.path_, wide.path_)


def test_missing_values_as_the_model_allows() -> None:
    X, y = problem(9, rows=60, columns=4)
    X[3, 2] = np.nan
    assert SFS(DecisionTreeClassifier(random_state=0), k=2, random_state=0).fit(X, y).chosen_.size == 2
    with pytest.raises(ValueError, match="NaN"):
        SFS(k=2).fit(X, y)


def test_a_recipe_searches() -> None:
    X, y = problem()
    text = "sffs(standardize | knn(3), k=2, cv=3, random_state=0)"
    by_class = SFFS(make_pipeline(StandardScaler(), KNN(3)), k=2, cv=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(tamis.recipe(text).fit(X, y).chosen_, by_class.chosen_)


@pytest.mark.parametrize(
    ("selector", "match"),
    [
        (SFS(KMeans(2)), "sfs: estimator must be a classifier; got KMeans"),
        (SFFS(LinearRegression(), task="classify"), r"sffs: LinearRegression\(\) predicts numbers"),
        (SFS(3), "'estimator'"),
        (SFS(k=0), "'k'"),
        (SFS(tol=-0.1), "'tol'"),
        (SBS(tol="much"), "'tol'"),
        (PTA(plus=1, minus=1), "pta: plus must be larger than minus; got plus=1, minus=1"),
        (PTA(minus=-1), "'minus'"),
        (SBS(scoring="auc"), "'scoring'"),
        (SBS(cv=1), "'cv'"),
        (SFFS(caution=-1.0), "'caution'"),
        (SFS(KNeighborsClassifier(500)), "n_neighbors"),
    ],
)
def test_wrong_parameters(selector, match) -> None:
    X, y = problem()
    with pytest.raises(ValueError, match=match):
        selector.fit(X, y)


@pytest.mark.parametrize("search", SEARCHES)
def test_some_class_needs_two_rows_and_there_must_be_two(search) -> None:
    with pytest.raises(TamisError, match=f"{search.part.name} needs a class with at least two rows"):
        search().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(TamisError, match="at least 2 classes"):
        search().fit(np.eye(3), [1, 1, 1])


def test_a_classifier_that_cannot_learn_from_a_set_says_so() -> None:
    # scikit-learn's LDA breaks on columns that are constant within every class.
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.tile([0, 1], 20)
    X[:, 1] = y
    with pytest.raises(ValueError, match="LinearDiscriminantAnalysis cannot be fitted on a set of 1 columns"):
        SFS(LinearDiscriminantAnalysis(), k=1).fit(X, y)


@pytest.mark.parametrize("measure", ["cfs", "cfs_pearson", "inconsistency", "bic", "convex_net"])
def test_forward_by_a_measure_is_greedy(measure) -> None:
    X, y = problem(1, rows=60, columns=6)
    found = SFS(measure=measure, k=3).fit(X, y)
    scores = MEASURES[measure].make(X, y, np.zeros(6, dtype=bool), PLAIN)
    columns = np.empty(0, dtype=np.intp)
    for step in range(3):
        outside = np.delete(np.arange(6), columns)
        values = scores.add(columns, outside)
        columns = np.append(columns, outside[values.argmax()])
        assert found.path_[step] == pytest.approx(values.max(), rel=1e-6)
    np.testing.assert_array_equal(found.chosen_, columns)


@pytest.mark.parametrize("search", SEARCHES)
def test_nominal_columns_by_a_measure_of_states(search) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    frame = pl.DataFrame(
        {"noise": rng.normal(size=60), "colour": np.array(["red", "green", "blue"])[y], "size": y + rng.normal(size=60)}
    )
    assert search(measure="cfs", k=1).fit(frame, y).get_feature_names_out().tolist() == ["colour"]
    with pytest.raises(DataError, match="the measure classifier takes no nominal column such as 'colour'; put encode"):
        search(k=1).fit(frame, y)
    # In a recipe encode stands in front where the measure needs it.
    data = tamis.data.Dataset.of(frame, y)
    name = search.part.name
    assert str(completed_for(data, parse(f"{name}(measure=cfs, k=1)"))) == f"{name}(k=1, measure=cfs)"
    assert str(completed_for(data, parse(f"{name}(k=1)"))) == f"encode | {name}(k=1)"
