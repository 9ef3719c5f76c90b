"""MODL intervals beside khiops and optbinning, where these are installed, and how their time grows with the rows."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.timing import compare, seconds
from tamis.base.seeds import generator
from tamis.discretize import Discretize
from tamis.discretize.modl import modl_cuts


def _problem(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of which every fourth says something of two classes."""
    rng = generator(0)
    X = rng.normal(size=(n_rows, n_columns))
    informed = np.sin(2 * X[:, ::4]).sum(axis=1)
    return X, (informed + np.sqrt(n_columns) / 2 * rng.normal(size=n_rows) > 0).astype(int)


def _peer(module: str, name: str) -> Any:
    """A class of a package that may be absent."""
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        print(f"{module}.{name}: {module.split('.')[0]} is not installed", flush=True)
        return None


def _khiops(encoder: Any, X: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    return lambda: encoder(n_trees=0, n_pairs=0, n_features=X.shape[1]).fit(X, y)


def _optbinning(binning: Any, X: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    return lambda: [binning().fit(X[:, j], y) for j in range(X.shape[1])]


def main() -> None:
    X, y = _problem(100_000, 20)
    what = "discretize(modl), 100000 x 20"
    for module, name, fit in (
        ("khiops.sklearn", "KhiopsEncoder", _khiops),
        ("optbinning", "OptimalBinning", _optbinning),
        ("optbinning", "MDLP", _optbinning),
    ):
        if (peer := _peer(module, name)) is not None:
            compare(what, lambda: Discretize("modl").fit(X, y), name, fit(peer, X, y))
    compare(what, lambda: Discretize("modl").fit(X, y), "discretize(ssv, min_gain=3)", lambda: _ssv(X, y))
    for n_rows in (10_000, 100_000, 1_000_000):
        for kind, (x, classes) in (("planted", _problem(n_rows, 1)), ("noise", _noise(n_rows))):
            took = seconds(lambda x=x, classes=classes: modl_cuts(x, classes))  # type: ignore[misc]
            share = 1e9 * took / (n_rows * np.log2(n_rows))
            print(f"modl, {n_rows} x 1, {kind:<30} {took:9.4f} s   {share:6.2f} ns for each n log2 n", flush=True)
    S = sp.random_array((800, 100_000), density=0.01, rng=generator(0), format="csr")
    classes = np.arange(800) % 2
    print(f"modl, CSR 800 x 100000, 1 % {seconds(lambda: modl_cuts(S, classes)):30.4f} s", flush=True)


def _ssv(X: np.ndarray, y: np.ndarray) -> Discretize:
    return Discretize("ssv", min_gain=3).fit(X, y)


def _noise(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(1)
    return rng.random((n_rows, 1)), rng.integers(0, 2, n_rows)
