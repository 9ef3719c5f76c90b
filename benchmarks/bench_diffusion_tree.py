"""Diffusion trees: sweeps of the chain as rows and columns grow, and a fit beside that of NRBF, in CPU seconds."""

from itertools import islice
from time import process_time
from typing import Any

import numpy as np

from tamis.classify import NRBF, DiffusionTree
from tamis.classify.diffusion_tree.chain import chain
from tamis.classify.diffusion_tree.tree import Rows

#: Sweeps that are timed together, after the rows have come and one sweep.
_SWEEPS = 3


def _corners(n: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows around the corners of a cube, whose parity is the class."""
    rng = np.random.default_rng(0)
    corner = rng.integers(0, 2, (n, columns))
    X = 4.0 * corner + rng.normal(size=corner.shape)
    return (X - X.mean(axis=0)) / X.std(axis=0), corner.sum(axis=1) % 2


def _fit_seconds(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """CPU seconds of a second fit: whatever is compiled or loaded, the first has done."""
    model.fit(X, y)
    start = process_time()
    model.fit(X, y)
    return process_time() - start


def main() -> None:
    for n, columns in ((250, 5), (500, 5), (1000, 5), (500, 20), (500, 80)):
        X, y = _corners(n, columns)
        rows = Rows(np.ascontiguousarray(X), y.astype(np.int64), np.bincount(y) / n)
        sweeps = chain(rows, "inverse", np.random.default_rng(0))
        next(sweeps)
        start = process_time()
        list(islice(sweeps, _SWEEPS))
        each = (process_time() - start) / _SWEEPS
        moves = each / (2 * n - 1)
        print(f"{f'a sweep over {n} x {columns}':<52} {each:9.4f} s   {1e3 * moves:.3f} ms a subtree", flush=True)
    X, y = _corners(300, 5)
    ours, peer = (_fit_seconds(model(random_state=0), X, y) for model in (DiffusionTree, NRBF))
    print(
        f"diffusion_tree, 40 sweeps of 300 x 5: {ours:.2f} s, nrbf(auto) {peer:.3f} s: {ours / peer:.0f} times as long"
    )
