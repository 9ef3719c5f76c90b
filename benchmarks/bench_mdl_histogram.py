"""The MDL histogram, fitted and answering, against a decision tree and naive Bayes on bins of equal width."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import compare, seconds
from tamis.classify import MDLHistogram


class _Run:
    """Fit on one half of the rows and predict the other; the error is kept."""

    def __init__(self, model: Any, X: Any, y: np.ndarray) -> None:
        self.model, self.X, self.y = model, X, y

    def __call__(self) -> None:
        half = self.X.shape[0] // 2
        self.error = float(
            np.mean(self.model.fit(self.X[:half], self.y[:half]).predict(self.X[half:]) != self.y[half:])
        )


def _beside(what: str, X: Any, y: np.ndarray, peer: Any) -> None:
    own, other = _Run(MDLHistogram(), X, y), _Run(peer, X, y)
    compare(what, own, type(peer).__name__, other)
    print(f"{'':<52} error {own.error:.3f}, theirs {other.error:.3f}; divided {own.model.used_.sum()}", flush=True)


def _labels(X: Any, rng: np.random.Generator) -> np.ndarray:
    """The side of a line across two columns, a tenth of the labels changed."""
    y = np.asarray(X[:, [0]] + 0.4 * X[:, [1]] > 0.7).ravel().astype(int)
    return np.where(rng.random(y.size) < 0.1, 1 - y, y)


def main() -> None:
    rng = np.random.default_rng(0)
    tree = DecisionTreeClassifier(random_state=0)
    bins = make_pipeline(KBinsDiscretizer(16, encode="ordinal", strategy="uniform"), CategoricalNB(min_categories=16))
    for n, p in ((2_000, 2), (200_000, 20), (400, 20_000), (200, 100_000)):
        X = rng.random((n, p))
        y = _labels(X, rng)
        _beside(f"mdl_histogram, dense {n // 2} x {p}", X, y, tree)
        if p <= 20:
            _beside(f"mdl_histogram, dense {n // 2} x {p}", X, y, bins)
    S = sp.random_array((1_600, 100_000), density=0.01, rng=rng, format="lil")
    S[:, :2] = rng.random((1_600, 2))
    S = sp.csr_array(S)
    _beside("mdl_histogram, CSR 800 x 100000, 1 %", S, _labels(S[:, :2].todense(), rng), tree)
    # Twice the rows or columns, about twice the time.
    for n, p in ((10_000, 100), (20_000, 100), (10_000, 200)):
        X = rng.random((n, p))
        y = _labels(X, rng)
        print(f"mdl_histogram, fit {n} x {p}: {seconds(lambda X=X, y=y: MDLHistogram().fit(X, y)):.3f} s", flush=True)
