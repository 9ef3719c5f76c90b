"""Simba, G-flip and LVQ beside their algorithms written out in NumPy, and Simba and G-flip beside ReliefF."""

from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from benchmarks.timing import compare, seconds
from tamis.base.seeds import generator
from tamis.classify import LVQ
from tamis.classify.lvq.beginning import first_prototypes
from tamis.scores import relieff
from tamis.select import GFlip, Simba


def _problem(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise, an exclusive or of two columns, and four columns that each help a little; standardised."""
    rng = generator(0)
    X = rng.normal(size=(n_rows, n_columns))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(np.intp)
    X[:, 2:6] += 0.7 * y[:, None]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def _simba(X: np.ndarray, y: np.ndarray, n_passes: int) -> np.ndarray:
    """Figure 2 of the paper, a row at a time; the orders of the rows are those of ``Simba(random_state=0)``."""
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    rng, w = generator(0), np.ones(X.shape[1])
    for _ in range(n_passes):
        for i in rng.permutation(y.size):
            apart = np.sqrt(((X - X[i]) ** 2) @ w**2)
            other = np.where(np.arange(y.size) == i, np.inf, apart)
            hit = np.where(y == y[i], other, np.inf).argmin()
            miss = np.where(y == y[i], np.inf, other).argmin()
            w += 0.5 * ((X[i] - X[miss]) ** 2 / apart[miss] - (X[i] - X[hit]) ** 2 / apart[hit]) * w
    return w**2 / (w**2).max()


def _gflip(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Figure 1 of the paper, with the distances on every set computed from its columns."""
    alike, rng = y == y[:, None], generator(0)

    def value(columns: set[int]) -> float:
        apart = cdist(X[:, sorted(columns)], X[:, sorted(columns)]) if columns else np.zeros(alike.shape)
        np.fill_diagonal(apart, np.inf)
        return float((np.where(alike, np.inf, apart).min(axis=1) - np.where(alike, apart, np.inf).min(axis=1)).mean())

    chosen, flipped, now = set[int](), True, 0.0
    while flipped:
        flipped = False
        for j in rng.permutation(X.shape[1]).tolist():
            other = value(chosen ^ {j})
            if other > now + 1e-10:
                chosen, now, flipped = chosen ^ {j}, other, True
    return np.array(sorted(chosen))


def _lvq1(X: np.ndarray, y: np.ndarray, n_prototypes: int, n_passes: int) -> np.ndarray:
    """LVQ1, a row at a time."""
    rng = generator(0)
    points, classes = first_prototypes(X, y, n_prototypes, "rows", rng)
    order = np.concatenate([rng.permutation(y.size) for _ in range(n_passes)])
    for t, i in enumerate(order):
        k = ((X[i] - points) ** 2).sum(axis=1).argmin()
        rate = 0.05 * (1 - t / order.size)
        points[k] += (rate if classes[k] == y[i] else -rate) * (X[i] - points[k])
    return points


def _line(what: str, took: float, note: str = "") -> None:
    print(f"{what:<52} {took:9.4f} s   {note}", flush=True)


def main() -> None:
    X, y = _problem(600, 300)
    ours, theirs = Simba(n_passes=1, random_state=0), partial(_simba, X, y, 1)
    compare("simba, a pass over 600 x 300", lambda: ours.fit(X, y), "the same in NumPy", theirs)
    apart = np.abs(ours.scores_ - theirs()).max()
    print(f"{'':<52} the weights differ by {apart:.1e} at most", flush=True)
    small = X[:300, :60], y[:300]
    flips = GFlip(random_state=0)
    compare("gflip, 300 x 60", lambda: flips.fit(*small), "every set from its columns", partial(_gflip, *small))
    same = np.array_equal(flips.get_support(indices=True), _gflip(*small))
    print(f"{'':<52} the sets are {'the same' if same else 'different'}", flush=True)
    model = LVQ(5, "lvq1", init="rows", max_iter=5, random_state=0)
    peer = partial(_lvq1, X, y, 5, 5)
    compare("lvq(5, lvq1), five passes over 600 x 300", lambda: model.fit(X, y), "the same in NumPy", peer)
    apart = np.abs(model.prototypes_ - peer()).max()
    print(f"{'':<52} the prototypes differ by {apart:.1e} at most", flush=True)
    X, y = _problem(2000, 500)
    ranked = partial(relieff, X, y)
    compare("simba, five passes over 2000 x 500", lambda: Simba(random_state=0).fit(X, y), "relieff(10)", ranked)
    compare("gflip, 2000 x 500", lambda: GFlip(random_state=0).fit(X, y), "relieff(10)", ranked)
    for method in ("glvq", "lvq1", "olvq1", "lvq3"):
        many = LVQ(30, method, random_state=0)
        _line(f"lvq(30, {method}), 2000 x 500", seconds(partial(many.fit, X, y), at_most=2))
    S = sp.random_array((800, 100_000), density=0.01, rng=0, format="csr")
    classes = generator(0).integers(0, 2, 800)
    once, few = Simba(n_passes=1, random_state=0), LVQ(3, "lvq1", random_state=0)
    _line("simba, a pass over CSR 800 x 100000, 1 %", seconds(partial(once.fit, S, classes)))
    _line("lvq(3, lvq1), CSR 800 x 100000, 1 %", seconds(partial(few.fit, S, classes), at_most=2))
