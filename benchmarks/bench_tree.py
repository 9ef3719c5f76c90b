"""SSV trees and SSV rankings against scikit-learn's decision tree, grown to purity and as a stump."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import compare
from tamis import scores
from tamis.trees.grow import grow
from tamis.trees.tree import Tree


def _labels(signal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Two classes of equal size by a noisy signal: a tree has something to find, and much to grow for the rest."""
    noisy = signal / signal.std() + 0.5 * rng.standard_normal(signal.shape[0])
    return np.where(noisy > np.median(noisy), 1, 0)


def _trees(what: str, X: Any, y: np.ndarray) -> None:
    ours: list[Tree] = []
    theirs: list[DecisionTreeClassifier] = []
    compare(
        f"SSV tree, {what}",
        lambda: ours.append(grow(X, y, np.ones(y.shape[0]), n_classes=2)),
        "sklearn DecisionTreeClassifier",
        lambda: theirs.append(DecisionTreeClassifier(random_state=0).fit(X, y)),
    )
    tree, peer = ours[-1], theirs[-1]
    right = np.mean(tree.prediction[tree.leaves(X)] == y)
    print(
        f"    {tree.feature.size} nodes, {right:.1%} of the training rows right; "
        f"sklearn: {peer.tree_.node_count} nodes, {peer.score(X, y):.1%}",
        flush=True,
    )


def _rankings(what: str, X: Any, y: np.ndarray) -> None:
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    for name in ("ssv", "stump"):
        score = scores.get(name)
        compare(f"{name} ranking, {what}", partial(score, X, y), "sklearn tree, max_depth=1", partial(stump.fit, X, y))
        first = stump.tree_.feature[0]
        print(f"    best column {np.argmax(score(X, y))}; sklearn's stump splits column {first}", flush=True)


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 5000), dtype=np.float32)
    y = _labels(X[:, :10].sum(axis=1), rng)
    _rankings("dense 6000 x 5000 float32", X, y)
    _trees("dense 6000 x 5000 float32", X, y)
    X = np.where(rng.random(X.shape, dtype=np.float32) < 0.13, np.ceil(999 * np.abs(X) % 999), 0).astype(np.float32)
    y = _labels(X[:, :50].sum(axis=1), rng)
    _rankings("dense 6000 x 5000 float32, 13 % not zero", X, y)
    _trees("dense 6000 x 5000 float32, 13 % not zero", X, y)
    S = sp.random_array((800, 100_000), density=0.01, rng=rng, format="csr")
    y = _labels(S[:, :1000].sum(axis=1), rng)
    _rankings("CSR 800 x 100000, 1 %", S, y)
    _trees("CSR 800 x 100000, 1 %", S, y)
