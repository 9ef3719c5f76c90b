"""Forests, extra trees and boosting say what the bare estimators say; masks, seeds, missing values, refusals."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from lightgbm import LGBMClassifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.utils._param_validation import InvalidParameterError

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import used_features
from tamis.base.meta_estimators import narrow
from tamis.base.seeds import generator
from tamis.classify import Boost, ExtraTrees, Forest

FORMS = [np.asarray, sp.csr_matrix, sp.csr_array]
SEED = int(generator(3).integers(2**31))


def problem(n_classes=2, rows=90, columns=10, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % (n_classes + 1) % n_classes
    X = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.7)
    X[:, :3] += y[:, None] * (rng.random((rows, 3)) < 0.6)
    return X, y


def lightgbm(**options):
    return LGBMClassifier(verbosity=-1, n_jobs=1, deterministic=True, force_col_wise=True, **options)


CASES = {
    "forest": (
        Forest(15, max_features=0.5, min_samples_leaf=2, random_state=3),
        RandomForestClassifier(15, max_features=0.5, min_samples_leaf=2, random_state=SEED),
    ),
    "forest_balanced": (
        Forest(15, class_weight="balanced", random_state=3),
        RandomForestClassifier(15, random_state=SEED),
    ),
    "extra_trees": (
        ExtraTrees(15, max_features="log2", min_samples_leaf=3, random_state=3),
        ExtraTreesClassifier(15, max_features="log2", min_samples_leaf=3, random_state=SEED),
    ),
    "extra_trees_balanced": (
        ExtraTrees(15, class_weight="balanced", min_samples_leaf=2, random_state=3),
        ExtraTreesClassifier(15, min_samples_leaf=2, random_state=SEED),
    ),
    "boost": (
        Boost(12, learning_rate=0.3, max_leaf_nodes=5, min_samples_leaf=4, random_state=3),
        HistGradientBoostingClassifier(
            max_iter=12, learning_rate=0.3, max_leaf_nodes=5, min_samples_leaf=4, early_stopping=False
        ),
    ),
    "boost_balanced": (
        Boost(12, class_weight="balanced", random_state=3),
        HistGradientBoostingClassifier(max_iter=12, class_weight="balanced", early_stopping=False),
    ),
    "lightgbm": (
        Boost(12, learning_rate=0.3, max_leaf_nodes=5, min_samples_leaf=4, library="lightgbm", random_state=3),
        lightgbm(n_estimators=12, learning_rate=0.3, num_leaves=5, min_child_samples=4),
    ),
    "lightgbm_balanced": (
        Boost(12, class_weight="balanced", library="lightgbm", random_state=3),
        lightgbm(n_estimators=12, class_weight="balanced"),
    ),
}
SPARSE = [name for name in CASES if not name.startswith("boost")]


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("name", CASES)
def test_equals_the_bare_estimator(name, n_classes) -> None:
    ours, bare = CASES[name]
    X, y = problem(n_classes)
    words = np.array(list("gfedcba"))[y]
    if name in ("forest_balanced", "extra_trees_balanced"):
        # Balanced, but for the digits beyond the seventh.
        labels, size = np.unique(words, return_counts=True)
        factor = np.float32(y.size / (n_classes * size)).tolist()
        bare.set_params(class_weight=dict(zip(labels.tolist(), factor, strict=True)))
    bare.fit(X, words)
    model = ours.fit(X, words)
    Z = problem(n_classes, seed=1)[0]
    np.testing.assert_allclose(model.predict_proba(Z), bare.predict_proba(Z), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(model.predict(Z), bare.predict(Z))


@pytest.mark.parametrize("form", FORMS[1:])
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_give_what_dense_ones_do(name, form) -> None:
    X, y = problem(3)
    expected = CASES[name][0].fit(X, y).predict_proba(X)
    np.testing.assert_allclose(CASES[name][0].fit(form(X), y).predict_proba(form(X)), expected, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CASES)
def test_columns_without_a_split_do_not_count(name, n_classes) -> None:
    X, y = problem(n_classes, columns=60)
    X[:, 7] = 0.5
    model = CASES[name][0].fit(X, y)
    assert 3 <= model.used_.sum() < 60
    assert not model.used_[7]
    np.testing.assert_array_equal(model.feature_importances_ > 0, model.used_)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(used_features(model, 60), model.used_)
    other = np.where(model.used_, X, np.random.default_rng(1).normal(size=X.shape))
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(X))
    # Each column in the mask matters: without all of them something changes for some row.
    for column in np.flatnonzero(model.used_)[:5]:
        spread = np.linspace(-5, 5, 11)
        moved = np.repeat(X, 11, axis=0)
        moved[:, column] = np.tile(spread, X.shape[0])
        answers = model.predict_proba(moved).reshape(X.shape[0], 11, -1)
        assert np.ptp(answers, axis=1).max() > 0


@pytest.mark.parametrize("name", CASES)
def test_one_seed_one_answer(name) -> None:
    X, y = problem()
    model = CASES[name][0]
    first = model.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), first)
    if name in ("forest", "extra_trees"):
        other = type(model)(15, min_samples_leaf=3, random_state=4).fit(X, y).predict_proba(X)
        again = type(model)(15, min_samples_leaf=3, random_state=np.random.default_rng(4)).fit(X, y).predict_proba(X)
        np.testing.assert_array_equal(again, other)
        assert not np.array_equal(other, first)


@pytest.mark.parametrize("name", CASES)
def test_missing_values_in_dense_rows(name) -> None:
    X, y = problem()
    X[::3, 0] = np.nan
    ours, bare = CASES[name]
    if name.startswith(("forest", "extra_trees")):
        bare.set_params(class_weight={0: 0.75, 1: 1.5} if ours.class_weight else None)
    np.testing.assert_allclose(ours.fit(X, y).predict_proba(X), bare.fit(X, y).predict_proba(X), rtol=1e-10)


@pytest.mark.parametrize("name", SPARSE)
def test_missing_values_in_sparse_rows(name) -> None:
    X, y = problem()
    holes = X.copy()
    holes[::3, 0] = np.nan
    model = CASES[name][0]
    if name.startswith("lightgbm"):
        expected = model.fit(holes, y).predict_proba(holes)
        np.testing.assert_allclose(model.fit(sp.csr_array(holes), y).predict_proba(holes), expected)
        return
    with pytest.raises(TamisError, match="takes missing values in dense data only"):
        model.fit(sp.csr_array(holes), y)
    with pytest.raises(TamisError, match="put impute in front"):
        model.fit(X, y).predict(sp.csr_array(holes))


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_extra_trees_count_a_weight_as_so_many_rows(class_weight) -> None:
    X, y = problem(3)
    weight = np.random.default_rng(0).integers(0, 4, y.size)
    model = ExtraTrees(15, class_weight=class_weight, random_state=3)
    Z = problem(3, seed=1)[0]
    weighted = model.fit(X, y, sample_weight=weight).predict_proba(Z)
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).predict_proba(Z)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)
    with pytest.raises(TamisError, match="extra_trees: no row of class 2"):
        model.fit(X, y, sample_weight=y < 2)


def test_a_share_of_one_is_all_columns() -> None:
    X, y = problem()
    for kind in (Forest, ExtraTrees):
        one, all_of_them = (kind(5, max_features=share, random_state=0).fit(X, y) for share in (1, 1.0))
        assert one.model_.max_features == 1.0
        np.testing.assert_array_equal(one.predict_proba(X), all_of_them.predict_proba(X))


@pytest.mark.parametrize("library", ["sklearn", "lightgbm"])
@pytest.mark.parametrize(
    ("sizes", "asked", "taken"),
    [
        ((27, 11), 20, 9),  # a quarter of the rows
        ((33, 5), 20, 9),
        ((34, 4), 20, 8),  # twice the smallest class
        ((36, 2), 20, 4),  # an eighth of the rows
        ((27, 11), 3, 3),
        ((4, 3), 20, 1),
        ((40, 40), 20, 20),
        ((159, 1), 20, 20),
    ],
)
def test_leaves_fit_the_rows_and_the_smallest_class(sizes, asked, taken, library) -> None:
    y = np.repeat([0, 1], sizes)
    X = np.random.default_rng(0).normal(size=(y.size, 5)) + y[:, None]
    found = Boost(5, min_samples_leaf=asked, library=library, random_state=0).fit(X, y)
    assert found.min_samples_leaf_ == taken
    same = Boost(5, min_samples_leaf=taken, library=library, random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.predict_proba(X), same.predict_proba(X))


@pytest.mark.parametrize("library", ["sklearn", "lightgbm"])
@pytest.mark.parametrize("rows", [8, 38])
def test_boost_splits_few_rows(rows, library) -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(2, rows, 50))
    y = np.arange(rows) % 2
    X[:, 7] += 6 * y
    Z[:, 7] += 6 * y
    model = Boost(library=library, random_state=0).fit(X, y)
    assert model.feature_importances_.argmax() == 7
    assert model.score(Z, y) >= 0.9


@pytest.mark.parametrize("rows", [2, 30, 255, 256, 300])
def test_bins_for_as_many_values_as_there_are_rows_change_nothing(rows) -> None:
    X, y = problem(rows=rows) if rows > 3 else (np.array([[0.0], [1.0]]), np.array([0, 1]))
    model = Boost(5, min_samples_leaf=1, random_state=0).fit(X, y)
    bare = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=1, early_stopping=False).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), bare.predict_proba(X))


def test_boost_refuses_sparse_rows_and_says_what_takes_them() -> None:
    X, y = problem()
    with pytest.raises(TamisError, match="boost: library=sklearn takes no sparse data; take library=lightgbm"):
        Boost().fit(sp.csr_array(X), y)
    with pytest.raises(TamisError, match="library=lightgbm"):
        Boost(2).fit(X, y).predict(sp.csr_array(X))


def test_a_missing_library_is_named_with_the_way_to_get_it(monkeypatch) -> None:
    X, y = problem()
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    assert Boost(2).fit(X, y).predict(X).shape == (90,)
    with pytest.raises(TamisError, match=r"pip install tamis\[boost\]"):
        Boost(library="lightgbm").fit(X, y)


def test_lightgbm_is_silent(capfd) -> None:
    X, y = problem()
    Boost(3, library="lightgbm").fit(X, y).predict(X)
    assert capfd.readouterr() == ("", "")


def test_long_column_numbers_are_shortened_and_the_matrix_left_alone() -> None:
    X, y = problem()
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    found = narrow(wide)
    assert found.indices.dtype == found.indptr.dtype == np.int32
    assert wide.indices.dtype == wide.indptr.dtype == np.int64
    for model in (Forest(3), ExtraTrees(3), Boost(3, library="lightgbm")):
        assert model.fit(wide, y).predict(wide).shape == (90,)


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        *((kind, bad) for kind in (Forest, ExtraTrees) for bad in ({"max_features": 0.0}, {"max_features": "all"})),
        *(
            (kind, bad)
            for kind in (Forest, ExtraTrees, Boost)
            for bad in ({"n_estimators": 0}, {"min_samples_leaf": 0})
        ),
        (Boost, {"learning_rate": 0.0}),
        (Boost, {"max_leaf_nodes": 1}),
        (Boost, {"library": "xgboost"}),
    ],
)
def test_bad_parameters(kind, bad) -> None:
    with pytest.raises(InvalidParameterError):
        kind(**bad).fit(*problem())
