"""Recursive elimination: the error at 20 sizes, beside scikit-learn's RFE run for each size and its RFECV."""

from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn import feature_selection
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.timing import compare
from tamis.base.errors import TamisError
from tamis.classify import SVM
from tamis.data import load
from tamis.select import RFE
from tamis.validation.folds import StratifiedFolds
from tamis.validation.many import validate_many

SIZES = [int(size) for size in np.rint(np.geomspace(2, 2_000, 20))]
#: Columns that leave at a time; a share means one of all columns there, one of those that remain here.
STEP = 100


class _Curve(NamedTuple):
    """Accuracy and chosen columns, by fold and size."""

    accuracy: np.ndarray
    support: np.ndarray


def one_elimination_per_fold(X: np.ndarray, y: np.ndarray) -> _Curve:
    """All sizes through the plan: one elimination in each fold, and a linear SVM at each size."""
    models = [make_pipeline(StandardScaler(), RFE(size, step=STEP), SVM("linear")) for size in SIZES]
    found = validate_many(models, X, y, folds=5, metrics="accuracy")
    support = np.zeros((5, len(SIZES), X.shape[1]), dtype=bool)
    for place, one in enumerate(found):
        for fold, columns in enumerate(one.selected):
            support[fold, place, columns] = True
    return _Curve(np.array([one.values["accuracy"] for one in found]).T, support)


def _one_elimination_per_size(X: np.ndarray, y: np.ndarray, tol: float) -> _Curve:
    accuracy, support = [], []
    for size in SIZES:
        selector = feature_selection.RFE(SVC(kernel="linear", tol=tol), n_features_to_select=size, step=STEP)
        model = make_pipeline(StandardScaler(), selector, SVC(kernel="linear", tol=tol))
        found = cross_validate(model, X, y, cv=_folds(y), return_estimator=True)
        accuracy.append(found["test_score"])
        support.append([model[1].support_ for model in found["estimator"]])
    return _Curve(np.array(accuracy).T, np.array(support).swapaxes(0, 1))


def _folds(y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(split.train, split.test) for split in StratifiedFolds(5).splits(y)]


def _leukemia() -> tuple[str, np.ndarray, np.ndarray]:
    """The data set, or noise of its shape with 50 columns that tell the classes apart."""
    try:
        data = load("leukemia")
    except TamisError:
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1], [47, 25])
        X = rng.normal(size=(72, 7_129))
        X[:, :50] += y[:, None]
        return "generated", X, y
    return "leukemia", np.asarray(data.X, dtype=np.float64), data.y


def _curve(what: str, X: np.ndarray, y: np.ndarray, tol: float) -> None:
    """The same curve both ways, and how much of it agrees."""
    curves: dict[str, _Curve] = {}

    def ours() -> None:
        curves["ours"] = one_elimination_per_fold(X, y)

    def theirs() -> None:
        curves["theirs"] = _one_elimination_per_size(X, y, tol)

    compare(what, ours, f"RFE | SVC for each size, tol {tol:g}", theirs)
    same = (curves["ours"].support == curves["theirs"].support).all(axis=2).mean()
    gap = np.abs(curves["ours"].accuracy - curves["theirs"].accuracy)
    print(
        f"{'':<52} same columns: {same:.2f} of folds and sizes; "
        f"accuracy differs by {gap.mean():.4f}, at most {gap.max():.4f}",
        flush=True,
    )


def main() -> None:
    name, X, y = _leukemia()
    what = f"rfe | svm, 20 sizes, 5 folds, {name} {X.shape[0]} x {X.shape[1]}"
    # Elimination magnifies what the machines are off by: with libsvm's usual tolerance it ends in other columns.
    for tol in (1e-3, 1e-9):
        _curve(what, X, y, tol)
    scaled = StandardScaler().fit_transform(X)
    path = feature_selection.RFECV(SVC(kernel="linear"), step=STEP, min_features_to_select=SIZES[0], cv=_folds(y))
    compare(what, lambda: one_elimination_per_fold(X, y), "RFECV once, sizes of its own", lambda: path.fit(scaled, y))
    for step in (STEP, 10):
        own = RFE(10, step=step)
        other = feature_selection.RFE(SVC(kernel="linear", tol=1e-9), n_features_to_select=10, step=step)
        compare(
            f"rfe to 10 columns, {step} at a time, {name}",
            partial(own.fit, scaled, y),
            "RFE(SVC(tol=1e-9))",
            partial(other.fit, scaled, y),
        )
        print(f"{'':<52} same columns: {(own.support_ & other.support_).sum()} of 10", flush=True)
