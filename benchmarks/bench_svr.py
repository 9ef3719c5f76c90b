"""Support vector regression beside scikit-learn's SVR: one fit with predictions, and ten costs over five folds."""

from functools import partial
from typing import Any

import numpy as np
from sklearn import svm
from sklearn.model_selection import GridSearchCV, KFold

from benchmarks.timing import compare
from tamis.base.parallel import one_thread
from tamis.base.shared_fit import Together
from tamis.regress import SVR

_COSTS = np.geomspace(1e-3, 1, 10)


def _problem(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and a target of unit deviation."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    y = X[:, :10] @ rng.normal(size=10) + rng.normal(size=rows)
    return X, (y - y.mean()) / y.std()


def _predictions(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(model.fit(X, y).predict(X))


def _folds(kernel: str, X: np.ndarray, y: np.ndarray) -> float:
    """The best R2 of the costs over the folds; the machines of a fold share its kernel matrix."""
    found = np.zeros(_COSTS.size)
    for train, test in KFold(5).split(X):
        machines = Together([SVR(kernel, float(C)) for C in _COSTS], X[train], y[train])
        found += [one.score(X[test], y[test]) / 5 for one in machines]
    return float(found.max())


def main() -> None:
    with one_thread():
        for shape in ((500, 50), (200, 5_000)):
            X, y = _problem(*shape)
            for kernel, name in (("gaussian", "rbf"), ("linear", "linear")):
                what = f"svr {kernel}, {shape[0]} x {shape[1]}"
                ours, peer = SVR(kernel), svm.SVR(kernel=name)
                compare(what, partial(_predictions, ours, X, y), "SVR", partial(_predictions, peer, X, y))
                gap = np.abs(_predictions(ours, X, y) - _predictions(peer, X, y)).max()
                search = GridSearchCV(peer, {"C": _COSTS}, cv=KFold(5), refit=False)
                what = f"{what}, 10 costs, 5 folds"
                compare(what, partial(_folds, kernel, X, y), "GridSearchCV(SVR)", partial(search.fit, X, y))
                print(f"{'':<52} largest difference {gap:.4f}; best R2 {_folds(kernel, X, y):.4f}", end=", ")
                print(f"{search.best_score_:.4f}", flush=True)
