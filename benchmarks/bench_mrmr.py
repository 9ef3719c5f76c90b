"""mRMR, the top 50, on wide discrete, wide sparse and dense columns, beside the packages that offer it."""

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmarks.timing import compare, seconds
from tamis.base.seeds import generator
from tamis.base.task import is_numeric
from tamis.select import MRMR


def _selection(X: Any, y: np.ndarray) -> Callable[[], Any]:
    """The package mrmr-selection; F over the mean correlation is the only criterion that it brings along."""
    from mrmr import mrmr_classif, mrmr_regression

    select = mrmr_regression if is_numeric(y) else mrmr_classif
    return partial(select, pd.DataFrame(X), pd.Series(y), K=50, show_progress=False)


def _engine(X: Any, y: np.ndarray) -> Callable[[], Any]:
    from feature_engine import selection

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return partial(selection.MRMR(method="FCQ", max_features=50, regression=is_numeric(y)).fit, frame, pd.Series(y))


PEERS = {"mrmr": ("mrmr-selection", _selection), "feature_engine": ("feature-engine", _engine)}


def _beside(what: str, criterion: str, X: Any, y: np.ndarray, peers: tuple[str, ...]) -> None:
    ours = partial(MRMR(50, criterion=criterion).fit, X, y)
    beside = []
    for module in peers:
        name, make = PEERS[module]
        if importlib.util.find_spec(module) is None:
            print(f"{what:<52} {name} left out: it is not installed", flush=True)
        else:
            beside.append((name, make))
    if not beside:
        print(f"{what:<52} {seconds(ours):9.4f} s", flush=True)
    for name, make in beside:
        compare(what, ours, name, make(X, y))


def main() -> None:
    rng = generator(0)
    states = rng.integers(3, 6, 10_000)
    X = rng.integers(0, states, (600, 10_000)).astype(np.float64)
    y = rng.integers(0, 3, 600)
    X[:, :40] = np.where(rng.random((600, 40)) < 0.3, y[:, None], X[:, :40])
    # feature-engine gives no answer within two minutes here.
    for criterion in ("mid", "miq"):
        _beside(f"mrmr {criterion}, discrete 600 x 10000", criterion, X, y, ("mrmr",))
    S = sp.csr_array((sp.random_array((800, 100_000), density=0.01, rng=0) != 0).astype(np.float64))
    classes = rng.integers(0, 2, 800)
    for criterion in ("mid", "miq", "fcd", "fcq"):
        # No peer takes sparse columns.
        _beside(f"mrmr {criterion}, CSR 800 x 100000 binary, 1 %", criterion, S, classes, ())
    D = rng.normal(size=(2_000, 2_000))
    classes = (D[:, :10].sum(axis=1) + 2 * rng.normal(size=2_000) > 0).astype(int)
    for criterion in ("fcd", "fcq"):
        peers = ("mrmr", "feature_engine") if criterion == "fcq" else ()
        _beside(f"mrmr {criterion}, dense 2000 x 2000", criterion, D, classes, peers)
        numbers = D[:, :10].sum(axis=1) + 2 * rng.normal(size=2_000)
        _beside(f"mrmr {criterion} of numbers, dense 2000 x 2000", criterion, D, numbers, peers)
