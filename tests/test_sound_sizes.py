"""Fitted state that contradicts itself is refused when a model is loaded."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from tamis.base.errors import DataError
from tamis.classify import KNN, MDLHistogram
from tamis.compose.model_file import card_of, load_model, save_model
from tamis.compose.sound import UnsoundError, check_sound
from tamis.compose.sound_sizes import contradiction
from tamis.regress import KNNRegressor

ROWS = 30
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(ROWS, 4)) + np.arange(ROWS)[:, None] % 3, np.arange(ROWS) % 3

SOUND: list[Any] = [
    SVC(),
    SVC(kernel="precomputed"),
    NuSVC(nu=0.2),
    SVR(),
    NuSVR(),
    OneClassSVM(),
    KMeans(2, n_init=1),
    GradientBoostingClassifier(n_estimators=2),
    HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]),
    HistGradientBoostingRegressor(max_iter=2),
    IsolationForest(n_estimators=2, max_features=0.5),
    KNeighborsClassifier(),
    KNN(3),
    KNNRegressor(3),
    MDLHistogram(),
]


def nominal(rows: np.ndarray) -> np.ndarray:
    return np.column_stack([Y, rows[:, 1:]])


@pytest.mark.parametrize("model", SOUND, ids=str)
def test_a_sound_model_has_no_contradiction(model: Any) -> None:
    assert contradiction(model) is None
    rows = X @ X.T if getattr(model, "kernel", "") == "precomputed" else nominal(X)
    assert contradiction(model.fit(rows, Y)) is None
    if model.__sklearn_tags__().input_tags.sparse and rows.shape[1] == 4:
        assert contradiction(model.fit(sp.csr_array(rows), Y)) is None


def put(name: str, change: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Replace an attribute of a fitted model by a changed one."""
    return lambda model: setattr(model, name, change(getattr(model, name)))


SPOILT: list[tuple[Any, Callable[[Any], None]]] = [
    (SVC(), put("_n_support", lambda n: n + 1)),
    (SVC(), put("_n_support", lambda n: np.array([-1, 1, n.sum()], dtype=n.dtype))),
    (SVC(), put("_n_support", lambda n: np.array([n.sum()], dtype=n.dtype))),
    (SVC(), put("support_", lambda s: s[:-1])),
    (SVC(), put("support_vectors_", lambda v: v[:, :-1].copy())),
    (SVC(), put("_dual_coef_", lambda c: c[:1].copy())),
    (SVC(), put("_intercept_", lambda b: b[:1])),
    (SVC(), put("_probA", lambda _: np.zeros(1))),
    (SVC(), put("_sparse", lambda _: True)),
    (SVC(), put("classes_", lambda c: np.arange(9))),
    (SVR(), put("_dual_coef_", lambda c: c[:, :-1].copy())),
    (KMeans(2, n_init=1), put("cluster_centers_", lambda c: c[:, :-1].copy())),
    (GradientBoostingClassifier(n_estimators=2), put("estimators_", lambda e: np.hstack([e, e]))),
    (HistGradientBoostingClassifier(max_iter=2), put("_predictors", lambda p: [p[0] * 2])),
    (
        HistGradientBoostingClassifier(max_iter=2, categorical_features=[0]),
        lambda model: setattr(model._bin_mapper, "is_categorical_", np.zeros(3, np.uint8)),
    ),
    (IsolationForest(n_estimators=2), lambda model: setattr(model.estimators_[0], "n_features_in_", 99)),
    (KNeighborsClassifier(), put("_y", lambda y: y + 1)),
    (KNeighborsClassifier(), put("_y", lambda y: y[:-1])),
    (KNN(3), put("_targets", lambda t: t[:-1])),
    (KNN(3), put("_targets", lambda t: t + 1)),
    (KNN(3), put("n_neighbors_", lambda _: 10**9)),
    (KNNRegressor(3), put("n_neighbors_", lambda _: 0)),
    (MDLHistogram(), put("weight_", lambda levels: [*levels[:-1], levels[-1][:-1]])),
    (MDLHistogram(), put("weight_", lambda levels: [*levels[:-1], levels[-1][:, :-1]])),
]


@pytest.mark.parametrize(("model", "spoil"), SPOILT)
def test_a_contradiction_is_refused(model: Any, spoil: Callable[[Any], None]) -> None:
    model.fit(nominal(X), Y)
    check_sound(model)
    spoil(model)
    with pytest.raises(UnsoundError):
        check_sound(model)


@pytest.mark.parametrize(
    ("model", "spoil"),
    [
        (LogisticRegression(), put("coef_", lambda c: c[:, :-1])),
        (GaussianNB(), put("theta_", lambda t: t[:-1])),
    ],
)
def test_a_model_that_fails_on_a_plain_row_is_refused(model: Any, spoil: Callable[[Any], None], tmp_path: Path) -> None:
    card = card_of(model.fit(X, Y), X, Y)
    save_model(tmp_path / "m", model, card)
    load_model(tmp_path / "m")
    spoil(model)
    save_model(tmp_path / "m", model, card)
    with pytest.raises(DataError, match=r"m: its model cannot be used: it fails on rows of 1 \(\w+Error: "):
        load_model(tmp_path / "m")


def test_an_array_that_asks_for_more_than_its_bytes_is_refused(tmp_path: Path) -> None:
    model = KNN().fit(X, Y)
    save_model(tmp_path / "m", model, card_of(model, X, Y))
    with zipfile.ZipFile(tmp_path / "m") as outer:
        card = outer.read("card.json")
        with zipfile.ZipFile(io.BytesIO(outer.read("model.skops"))) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    array = next(name for name in members if name.endswith(".npy"))
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"shape": (10**12,), "fortran_order": False, "descr": "<f8"})
    members[array] = head.getvalue() + bytes(8)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with zipfile.ZipFile(tmp_path / "m", "w") as outer:
        outer.writestr("card.json", card)
        outer.writestr("model.skops", packed.getvalue())
    with pytest.raises(DataError, match=r"m: would take 7\.63e\+06 MB of memory for an array of 0\.0001"):
        load_model(tmp_path / "m")
