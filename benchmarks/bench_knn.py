"""Nearest neighbours, fitted and voting, against scikit-learn's KNeighborsClassifier."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.timing import compare
from tamis.classify import KNN


class _Run:
    """Fit on one half of the rows and predict the other; the predictions are kept to be compared."""

    def __init__(self, model: Any, X: Any, y: np.ndarray) -> None:
        self.model, self.X, self.y = model, X, y

    def __call__(self) -> None:
        half = self.X.shape[0] // 2
        self.guess = self.model.fit(self.X[:half], self.y[:half]).predict(self.X[half:])


def _beside(what: str, X: Any, ours: KNN, peer: Any) -> None:
    noise = np.random.default_rng(1).normal(size=X.shape[0])
    score = np.asarray(X[:, :20].mean(axis=1)).ravel()
    y = (score / score.std() + noise > np.median(score) / score.std()).astype(int)
    own, other = _Run(ours, X, y), _Run(peer, X, y)
    compare(what, own, type(peer).__name__, other)
    print(f"{'':<52} same predictions: {np.mean(own.guess == other.guess):.4f}", flush=True)


def main() -> None:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(10_000, 50))
    _beside("knn, dense 5000 x 50", dense, KNN(), _peer())
    _beside("knn manhattan, dense 5000 x 50", dense, KNN(alpha=1.0), _peer(p=1))
    _beside("knn canberra, dense 5000 x 50", dense, KNN(metric="canberra"), _peer(metric="canberra"))
    _beside("knn, dense 150 x 10000", rng.normal(size=(300, 10_000)), KNN(), _peer())
    # scikit-learn leaves the order of equal distances open, so that predictions differ here.
    _beside("knn, dense 2000 x 20 of three values", rng.integers(0, 3, size=(4_000, 20)).astype(float), KNN(), _peer())
    sparse = sp.random(4_000, 20_000, 0.01, format="csr", random_state=rng)
    _beside("knn, CSR 2000 x 20000, 1 %", sparse, KNN(), _peer())
    _beside("knn manhattan, CSR 1000 x 20000, 1 %", sparse[:2_000], KNN(alpha=1.0), _peer(p=1))
    auto = KNN("auto", max_neighbors=20, random_state=0)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    grid = GridSearchCV(_peer(), {"n_neighbors": range(1, 21)}, cv=folds)
    _beside("knn k of 20 by cross-validation, CSR 500 x 20000", sparse[:1_000], auto, grid)


def _peer(**options: Any) -> KNeighborsClassifier:
    return KNeighborsClassifier(algorithm="brute", **options)
