"""IncNet, fitted and answering, against an SVM, a perceptron and a Gaussian process."""

from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.timing import compare, seconds
from tamis.classify import IncNet


class _Run:
    """Fit on one half of the rows and predict the other; the error is kept."""

    def __init__(self, model: Any, X: Any, y: np.ndarray) -> None:
        self.model, self.X, self.y = make_pipeline(StandardScaler(), model), X, y

    def __call__(self) -> None:
        half = self.X.shape[0] // 2
        model = self.model.fit(self.X[:half], self.y[:half])
        self.error = float(np.mean(model.predict(self.X[half:]) != self.y[half:]))


def _checkers(n: int, p: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The sign of a product of two columns, a twentieth of the labels changed."""
    X = rng.normal(size=(n, p))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    return X, np.where(rng.random(n) < 0.05, 1 - y, y)


def main() -> None:
    rng = np.random.default_rng(0)
    for n, p in ((1_000, 2), (4_000, 5), (1_000, 50)):
        X, y = _checkers(n, p, rng)
        peers = [SVC(), MLPClassifier((20,), alpha=0.1, max_iter=1_000, random_state=0)]
        peers += [GaussianProcessClassifier(RBF(1.0), random_state=0)] * (n <= 1_000)
        for peer in peers:
            own, other = _Run(IncNet(random_state=0), X, y), _Run(peer, X, y)
            compare(f"incnet, {n // 2} x {p}", own, type(peer).__name__, other)
            print(
                f"{'':<52} error {own.error:.3f}, theirs {other.error:.3f}; {own.model[-1].n_neurons_} neurons",
                flush=True,
            )
    X, y = _checkers(1_000, 5, rng)
    for filter in ("full", "neuron", "diagonal"):
        model = _Run(IncNet(filter=filter, random_state=0), X, y)
        print(f"incnet, 500 x 5, filter={filter}: {seconds(model):.3f} s, error {model.error:.3f}", flush=True)
    # The covariances of all parameters: twice the columns or neurons, about four times the time of a step.
    for p, most in ((5, 50), (10, 50), (5, 100)):
        X, y = _checkers(1_000, p, rng)
        model = IncNet(filter="full", max_neurons=most, noise=0.05, random_state=0)
        print(f"incnet, fit 1000 x {p}, {most} neurons, full: {seconds(lambda X=X, y=y, m=model: m.fit(X, y)):.3f} s")
