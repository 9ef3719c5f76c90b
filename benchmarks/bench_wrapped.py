"""The classifiers from other libraries, fitted and answering, against the bare estimators; 1x is no overhead."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from lightgbm import LGBMClassifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier

from benchmarks.timing import compare
from tamis.base.parallel import one_thread
from tamis.classify import LDA, MLP, Boost, Centroid, ExtraTrees, Forest, Logistic


class _Run:
    """Fit on one half of the rows and predict the other; the predictions are kept to be compared."""

    def __init__(self, model: Any, X: Any, y: np.ndarray) -> None:
        self.model, self.X, self.y = model, X, y

    def __call__(self) -> None:
        half = self.X.shape[0] // 2
        self.guess = self.model.fit(self.X[:half], self.y[:half]).predict(self.X[half:])


def _beside(what: str, X: Any, y: np.ndarray, ours: Any, peer: Any) -> None:
    own, other = _Run(ours, X, y), _Run(peer, X, y)
    with one_thread():
        compare(what, own, type(peer).__name__, other)
    print(f"{'':<52} same predictions: {np.mean(own.guess == other.guess):.4f}", flush=True)


def _classes(X: Any) -> np.ndarray:
    score = np.asarray(X[:, :20].mean(axis=1)).ravel()
    noisy = score / score.std() + np.random.default_rng(1).normal(size=X.shape[0])
    return (noisy > np.median(noisy)).astype(int)


def main() -> None:
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(4_000, 500))
    sparse = sp.random(1_600, 20_000, 0.01, format="csr", random_state=rng)
    for what, X in (("dense 2000 x 500", dense), ("CSR 800 x 20000, 1 %", sparse)):
        y = _classes(X)
        _beside(f"logistic, {what}", X, y, Logistic(), LogisticRegression(tol=1e-6, max_iter=10_000))
        _beside(f"logistic l1, {what}", X, y, Logistic("l1"), _l1())
        _beside(f"forest, {what}", X, y, Forest(random_state=0), RandomForestClassifier(200, random_state=0))
        trees = ExtraTreesClassifier(200, random_state=0)
        _beside(f"extra_trees, {what}", X, y, ExtraTrees(random_state=0), trees)
        network = MLPClassifier(10, activation="tanh", solver="lbfgs", alpha=1.0, max_iter=1_000, random_state=0)
        _beside(f"mlp, {what}", X, y, MLP(random_state=0), network)
        light = LGBMClassifier(n_jobs=1, verbosity=-1, deterministic=True, force_col_wise=True)
        _beside(f"boost lightgbm, {what}", X, y, Boost(library="lightgbm"), light)
    y = _classes(dense)
    shrunk = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    _beside("lda, dense 2000 x 500", dense, y, LDA(), shrunk)
    _beside("centroid, dense 2000 x 500", dense, y, Centroid(1.0), NearestCentroid(shrink_threshold=1.0))
    histogram = HistGradientBoostingClassifier(early_stopping=False)
    _beside("boost, dense 2000 x 500", dense, y, Boost(), histogram)
    wide = rng.normal(size=(200, 2_000))
    _beside("lda, dense 100 x 2000", wide, _classes(wide), LDA(), shrunk)


def _l1() -> LogisticRegression:
    return LogisticRegression(l1_ratio=1.0, solver="liblinear", tol=1e-9, max_iter=1_000, random_state=0)
