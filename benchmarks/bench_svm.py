"""The SVM, fitted and predicting, against scikit-learn's SVC and LinearSVC."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC

from benchmarks.timing import compare
from tamis.classify import SVM
from tamis.classify.svm.cost_path import COSTS
from tamis.margins.kernel_width import MULTIPLES


class _Run:
    """Fit and predict the training rows; the predictions are kept to be compared."""

    def __init__(self, model: Any, X: Any, y: np.ndarray) -> None:
        self.model, self.X, self.y = model, X, y

    def __call__(self) -> None:
        with warnings.catch_warnings():
            # LinearSVC stops at its limit of passes in some cases; what it has by then is what is compared.
            warnings.simplefilter("ignore")
            self.guess = self.model.fit(self.X, self.y).predict(self.X)


def _beside(what: str, X: Any, y: np.ndarray, ours: SVM, *peers: Any) -> None:
    for peer in peers:
        own, other = _Run(ours, X, y), _Run(peer, X, y)
        compare(what, own, type(peer).__name__, other)
        print(f"{'':<52} same predictions: {np.mean(own.guess == other.guess):.4f}", flush=True)


def _labels(X: Any, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Classes that a linear function of the columns tells apart, up to noise."""
    score = X @ rng.normal(size=(X.shape[1], n_classes))
    return np.argmax(score / score.std() + 0.4 * rng.normal(size=score.shape), axis=1)


def _search(what: str, X: Any, y: np.ndarray, ours: SVM, peer: Any) -> None:
    """The choice inside the fit beside a search over as many candidates on as many folds, and a fit of the best."""
    grid: dict[str, Any] = {"C": COSTS}
    if isinstance(peer, SVC):
        grid["gamma"] = 1 / (MULTIPLES * X.shape[1] * X.var())
    own, other = _Run(ours, X, y), _Run(GridSearchCV(peer, grid), X, y)
    compare(what, own, f"GridSearchCV({type(peer).__name__})", other)
    print(f"{'':<52} accuracy {ours.cv_accuracy_.max():.3f}, {other.model.best_score_:.3f}", flush=True)


def main() -> None:
    rng = np.random.default_rng(0)
    _fixed(rng)
    _chosen(rng)


def _chosen(rng: np.random.Generator) -> None:
    both, cost = SVM("gaussian", "auto", sigma="auto", random_state=0), SVM(C="auto", random_state=0)
    wide = rng.normal(size=(200, 10_000))
    _search("svm gaussian, C and sigma auto, 200 x 10000", wide, _labels(wide, 2, rng), both, SVC())
    square = rng.normal(size=(1_500, 100))
    _search("svm gaussian, C and sigma auto, 1500 x 100, 3 cl.", square, _labels(square, 3, rng), both, SVC())
    sparse = sp.random(800, 100_000, 0.01, format="csr", random_state=rng)
    # SVC takes a third of a minute for one fit here: a search with it, half an hour.
    columns = LinearSVC(loss="hinge", dual=True, random_state=0)
    _search("svm linear, C auto, CSR 800 x 100000, 1 %", sparse, _labels(sparse, 2, rng), cost, columns)


def _fixed(rng: np.random.Generator) -> None:
    linear, columns = SVC(kernel="linear"), LinearSVC(loss="hinge", dual=True, random_state=0)
    sparse = sp.random(800, 100_000, 0.01, format="csr", random_state=rng)
    _beside("svm linear, CSR 800 x 100000, 1 %", sparse, _labels(sparse, 2, rng), SVM(), linear, columns)
    _beside("svm linear, CSR 800 x 100000, 4 classes", sparse, _labels(sparse, 4, rng), SVM(), columns)
    wide = rng.normal(size=(200, 10_000))
    _beside("svm linear, dense 200 x 10000", wide, _labels(wide, 2, rng), SVM(), linear, columns)
    _beside("svm linear, dense 200 x 10000, 4 classes", wide, _labels(wide, 4, rng), SVM(), linear, columns)
    _beside("svm hard margin, dense 200 x 10000", wide, _labels(wide, 2, rng), SVM(C=np.inf), linear.set_params(C=1e6))
    _beside("svm gaussian, dense 200 x 10000", wide, _labels(wide, 2, rng), SVM("gaussian", 10.0), SVC(C=10.0))
    tall = rng.normal(size=(20_000, 50))
    _beside("svm linear, dense 20000 x 50", tall, _labels(tall, 2, rng), SVM(C=0.01), columns.set_params(C=0.01))
    square = rng.normal(size=(1_500, 100))
    _beside("svm gaussian, dense 1500 x 100, 3 classes", square, _labels(square, 3, rng), SVM("gaussian"), SVC())
