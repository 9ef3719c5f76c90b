"""NRBF's probabilities beside the bare squared distances they rest on, and beside a kernel density for each class."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KernelDensity
from threadpoolctl import threadpool_limits

from benchmarks.timing import compare
from tamis.classify import NRBF
from tamis.margins.kernel import ground


class _Densities:
    """Class probabilities from scikit-learn's Gaussian density of each class: the same model."""

    def __init__(self, sigma: float, Z: np.ndarray, y: np.ndarray) -> None:
        self.share = np.bincount(y) / y.size
        self.models = [KernelDensity(bandwidth=np.sqrt(sigma / 2)).fit(Z[y == c]) for c in np.unique(y)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        logs = np.column_stack([model.score_samples(X) for model in self.models])
        shares = self.share * np.exp(logs - logs.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)


def _beside_distances(what: str, X: Any, Z: Any) -> None:
    """Twice: with a usual width, and with one that leaves little but the nearest row."""
    y = np.random.default_rng(1).integers(0, 2, Z.shape[0])
    mean = ground("gaussian", X[:100], Z).mean()
    for width, share in (("", 0.5), ("narrow ", 0.005)):
        model = NRBF(share * mean).fit(Z, y)
        for peer, distances in (
            ("ground", lambda: ground("gaussian", X, Z)),
            ("euclidean_distances", lambda: euclidean_distances(X, Z, squared=True)),
        ):
            ratio = compare(f"nrbf {width}{what}", lambda model=model: model.predict_proba(X), peer, distances)
            print(f"{'':<52} {1 / ratio:.2f} of the time of the distances (1.30 asked)", flush=True)


def main() -> None:
    rng = np.random.default_rng(0)
    sizes = [(2_000, 2_000, 20), (2_000, 2_000, 500), (600, 2_000, 15)]
    problems = [(f"{n} by {m} x {p}", rng.normal(size=(n, p)), rng.normal(size=(m, p))) for n, m, p in sizes]
    sparse = [sp.random(600, 20_000, 0.01, format="csr", random_state=rng) for _ in range(2)]
    problems.append(("600 by CSR 600 x 20000, 1 %", *sparse))
    for threads in (None, 1):
        with threadpool_limits(threads):
            for what, X, Z in problems:
                _beside_distances(what if threads is None else f"{what}, 1 thread", X, Z)
    _, X, Z = problems[0]
    y = (np.abs(Z[:, :3]).sum(axis=1) > 2.3).astype(int)
    ours, peer = NRBF(10.0).fit(Z, y), _Densities(10.0, Z, y)
    compare(
        "nrbf 2000 by 2000 x 20",
        lambda: ours.predict_proba(X),
        "KernelDensity of each class",
        lambda: peer.predict_proba(X),
    )
    apart = np.abs(ours.predict_proba(X) - peer.predict_proba(X)).max()
    print(f"{'':<52} largest difference: {apart:.1e}", flush=True)
    auto = NRBF(random_state=0).fit(Z, y)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    grid = GridSearchCV(NRBF(1.0), {"sigma": auto.sigmas_}, cv=folds)
    what = "nrbf auto, 25 widths by 10 folds, 2000 x 20"
    compare(what, lambda: auto.fit(Z, y), "GridSearchCV of the same", lambda: grid.fit(Z, y))
