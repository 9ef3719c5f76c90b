"""MODL intervals beside khiops and optbinning, where these are installed, and how their time grows with the rows.

Both ask for an older scikit-learn than tamis is tested with: they go into a virtual environment of their own.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from benchmarks.timing import compare, seconds
from tamis.base.seeds import generator
from tamis.discretize import Discretize
from tamis.discretize.modl import modl_intervals


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


def _khiops_cuts(encoder: Any, X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Where khiops cuts each column."""
    report = _khiops(encoder, X, y)().model_report_.preparation_report
    grids = {variable.name: variable.data_grid for variable in report.variables_statistics}
    found = []
    for j in range(X.shape[1]):
        grid = grids[f"Var{j}"]
        intervals = grid.dimensions[0].partition if grid is not None else []
        found.append(np.array([interval.upper_bound for interval in intervals[:-1]]))
    return found


def _cost(x: np.ndarray, y: np.ndarray, cuts: np.ndarray) -> float:
    """What the intervals between the cuts cost by the criterion of :func:`tamis.discretize.modl.modl`, in nats."""
    m, n_classes = x.size, int(y.max()) + 1
    counts = np.zeros((cuts.size + 1, n_classes))
    np.add.at(counts, (np.searchsorted(cuts, x), y), 1)
    rows = counts.sum(axis=1)
    ends = gammaln(m + cuts.size + 1) - gammaln(cuts.size + 1) - gammaln(m + 1)
    shares = gammaln(rows + n_classes) - gammaln(n_classes) - gammaln(rows + 1)
    classes = gammaln(rows + 1) - gammaln(counts + 1).sum(axis=1)
    return float(np.log(m) + ends + (shares + classes).sum())


def _steps(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise, but for half the values of every fourth column: in 0.3 to 0.6 for the second class, else beside it."""
    rng = generator(2)
    X, y = rng.random((n_rows, n_columns)), rng.integers(0, 2, n_rows)
    for x in X[:, ::4].T:
        told = rng.random(n_rows) < 0.5
        inside = 0.3 + 0.3 * rng.random(n_rows)
        outside = (0.6 + 0.7 * rng.random(n_rows)) % 1.0
        x[told] = np.where(y == 1, inside, outside)[told]
    return X, y


def _agreement(encoder: Any) -> None:
    """Print how far the cuts of khiops, whose prior differs, are those of tamis."""
    for words, (X, y) in (("steps", _steps(10_000, 20)), ("waves", _problem(10_000, 20))):
        ours, theirs = modl_intervals(X, y).cuts.apart(), _khiops_cuts(encoder, X, y)
        same = sum((a.size > 0) == (b.size > 0) for a, b in zip(ours, theirs, strict=True))
        near = [
            np.abs(b - cut).min(initial=np.inf) < 0.05 * x.std()
            for a, b, x in zip(ours, theirs, X.T, strict=True)
            for cut in a
        ]
        less = [_cost(x, y, b) - _cost(x, y, a) for a, b, x in zip(ours, theirs, X.T, strict=True) if a.size]
        print(
            f"cuts of tamis and khiops, 10000 x 20, {words}: {same} of 20 columns are cut by both or by neither, "
            f"{sum(near)} of {len(near)} cuts of ours are within 0.05 deviations of one of theirs "
            f"({sum(map(len, theirs))} in all); ours cost {min(less):.1f} to {max(less):.1f} nats less",
            flush=True,
        )


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
            if name == "KhiopsEncoder":
                _agreement(peer)
    compare(what, lambda: Discretize("modl").fit(X, y), "discretize(ssv, min_gain=3)", lambda: _ssv(X, y))
    for n_rows in (10_000, 100_000, 1_000_000):
        for kind, (x, classes) in (("planted", _problem(n_rows, 1)), ("noise", _noise(n_rows))):
            took = seconds(lambda x=x, classes=classes: modl_intervals(x, classes).cuts)  # type: ignore[misc]
            share = 1e9 * took / (n_rows * np.log2(n_rows))
            print(f"modl, {n_rows} x 1, {kind:<30} {took:9.4f} s   {share:6.2f} ns for each n log2 n", flush=True)
    S = sp.random_array((800, 100_000), density=0.01, rng=generator(0), format="csr")
    classes = np.arange(800) % 2
    print(f"modl, CSR 800 x 100000, 1 % {seconds(lambda: modl_intervals(S, classes).cuts):30.4f} s", flush=True)


def _ssv(X: np.ndarray, y: np.ndarray) -> Discretize:
    return Discretize("ssv", min_gain=3).fit(X, y)


def _noise(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(1)
    return rng.random((n_rows, 1)), rng.integers(0, 2, n_rows)
