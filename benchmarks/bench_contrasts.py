"""All relevant columns of generated Madelon, 2000 x 500 with 20 real ones, beside BorutaPy on extra trees."""

import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from tamis.data.synthetic import madelon
from tamis.select import Contrasts


def _ours(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    return np.asarray(Contrasts(random_state=seed, n_jobs=2, at_least=0).fit(X, y).support_)


def _theirs(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    from boruta import BorutaPy

    trees = ExtraTreesClassifier(100, n_jobs=2, random_state=seed)
    return np.asarray(BorutaPy(trees, n_estimators=100, random_state=seed).fit(X, y).support_)


def _timed(name: str, work: Callable[..., np.ndarray], seed: int) -> float:
    data = madelon(seed=seed)
    real = np.asarray(data.roles != "probe")
    start = time.perf_counter()
    kept = work(data.X, data.y, seed)
    taken = time.perf_counter() - start
    right, wrong = int(kept[real].sum()), int(kept[~real].sum())
    print(f"seed {seed}   {name:<36} {taken:8.2f} s   {right:2d} of {real.sum()} real, {wrong} false", flush=True)
    return taken


def main(seeds: int = 10, beside: int = 2) -> None:
    """Print a line for each of `seeds` problems, and one of the peer, if it is installed, for `beside` of them."""
    if find_spec("boruta") is None:
        print("BorutaPy: boruta is not installed", flush=True)
        beside = 0
    for seed in range(seeds):
        mine = _timed("contrasts", _ours, seed)
        if seed < beside:
            other = _timed("BorutaPy(ExtraTrees(100, n_jobs=2))", _theirs, seed)
            print(f"{'':<9}{other / mine:.1f}x", flush=True)
