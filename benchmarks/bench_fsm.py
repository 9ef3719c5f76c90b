"""Feature Space Mapping, fitted and answering, against an SVM, a decision tree and a Gaussian mixture of each class."""

from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import compare, seconds
from tamis.classify import FSM


class _Mixtures:
    """scikit-learn's mixture of five Gaussians with diagonal covariances for each class."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "_Mixtures":
        self.shares = np.log(np.bincount(y) / y.size)
        self.models = [GaussianMixture(5, covariance_type="diag", random_state=0).fit(X[y == c]) for c in np.unique(y)]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.argmax(np.column_stack([one.score_samples(X) for one in self.models]) + self.shares, axis=1)


class _Run:
    """Fit on one half of the rows and predict the other; the error is kept."""

    def __init__(self, model: Any, X: Any, y: np.ndarray) -> None:
        self.model, self.X, self.y = model, X, y

    def __call__(self) -> None:
        half = self.X.shape[0] // 2
        model = self.model.fit(self.X[:half], self.y[:half])
        self.error = float(np.mean(model.predict(self.X[half:]) != self.y[half:]))


def _clusters(n: int, p: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three classes of three clusters each in five columns; the others are noise."""
    cluster = rng.integers(0, 9, n)
    X = rng.normal(size=(n, p))
    m = min(p, 5)
    X[:, :m] += 4 * np.random.default_rng(1).normal(size=(9, m))[cluster]
    return X, cluster % 3


def main() -> None:
    rng = np.random.default_rng(0)
    for n, p in ((1_000, 2), (4_000, 5), (1_000, 50), (20_000, 20)):
        X, y = _clusters(n, p, rng)
        for peer in (SVC(), DecisionTreeClassifier(random_state=0), _Mixtures()):
            own, other = _Run(FSM(), X, y), _Run(peer, X, y)
            compare(f"fsm, {n // 2} x {p}", own, type(peer).__name__.lstrip("_"), other)
            print(
                f"{'':<52} error {own.error:.3f}, theirs {other.error:.3f}; {own.model.labels_.size} nodes", flush=True
            )
    # Twice the rows or columns, about twice the time.
    for n, p in ((2_000, 10), (4_000, 10), (2_000, 20)):
        X, y = _clusters(n, p, rng)
        print(f"fsm, fit {n} x {p}: {seconds(lambda X=X, y=y: FSM(9).fit(X, y)):.3f} s", flush=True)
