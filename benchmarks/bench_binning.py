"""Optimal bins beside ruptures' PELT, which finds the same ones, and BinMeans beside scikit-learn's TargetEncoder."""

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, TargetEncoder

from benchmarks.timing import compare, seconds
from tamis.base.seeds import generator
from tamis.discretize import BinMeans, Discretize
from tamis.discretize.chimerge import chimerge_cuts
from tamis.discretize.optimal.limits import BinLimits
from tamis.discretize.optimal.numeric_target import mean_bins
from tamis.discretize.optimal.optimal import limited_cuts, optimal_cuts

try:
    import ruptures
except ImportError:
    ruptures = None


def _wave(n_rows: int, n_classes: int = 2, noise: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = 2 * rng.random((n_rows, 1))
    share = np.full(n_rows, 1 / n_classes) if noise else 0.1 + 0.8 * np.cos(2 * np.pi * x[:, 0]) ** 2
    other = rng.integers(1, n_classes, n_rows) if n_classes > 2 else np.ones(n_rows, dtype=int)
    return x, np.where(rng.random(n_rows) < share, 0, other)


def _limited() -> None:
    """Limits, other losses and ChiMerge, at growing numbers of rows."""
    for n_rows in (10_000, 100_000, 1_000_000):
        x, y = _wave(n_rows)
        three, noise = (_wave(n_rows, *kind)[1] for kind in ((3,), (2, True)))
        numbers = np.abs(x[:, 0] - 1) + generator(1).normal(size=n_rows)
        for words, target, limits, loss in (
            ("at least 30 bins", y, BinLimits(min_bins=30), ("squared", "mean")),
            ("at most n/10 rows", y, BinLimits(max_rows=n_rows // 10), ("squared", "mean")),
            ("three classes, at most n/10 rows", three, BinLimits(max_rows=n_rows // 10), ("squared", "mean")),
            ("noise, at most n/10 rows", noise, BinLimits(max_rows=n_rows // 10), ("squared", "mean")),
            ("at most 1000 rows", y, BinLimits(max_rows=1000), ("squared", "mean")),
            ("0.01 to 0.1 wide", y, BinLimits(min_width=0.01, max_width=0.1), ("squared", "mean")),
            ("numbers, at most n/10 rows", numbers, BinLimits(max_rows=n_rows // 10), ("squared", "mean")),
            ("absolute about medians", numbers, BinLimits(), ("absolute", "median")),
            ("absolute about means", numbers, BinLimits(), ("absolute", "mean")),
        ):

            def bins(target: object = target, limits: BinLimits = limits, loss: tuple[str, str] = loss) -> object:
                return limited_cuts(x, target, None, limits, 5.0, *loss)  # type: ignore[arg-type] # noqa: B023

            print(f"optimal bins, {n_rows} rows, {words:<40} {seconds(bins, at_most=2):9.4f} s", flush=True)
        for words, classes in (("wave", y), ("noise", noise)):
            took = seconds(lambda classes=classes: chimerge_cuts(x, classes), at_most=2)  # type: ignore[misc] # noqa: B023
            print(
                f"chimerge, {n_rows} rows, {words:<47} {took:9.4f} s   "
                f"{1e9 * took / (n_rows * np.log2(n_rows)):6.2f} ns for each n log2 n",
                flush=True,
            )
    X = generator(0).normal(size=(100_000, 20))
    y = (np.sin(2 * X[:, ::4]).sum(axis=1) + 2 * generator(1).normal(size=100_000) > 0).astype(int)
    for peer in ("modl", "optimal"):
        compare(
            "discretize(chimerge), 100000 x 20",
            lambda: Discretize("chimerge").fit(X, y),
            f"discretize({peer})",
            lambda peer=peer: Discretize(peer).fit(X, y),  # type: ignore[misc]
        )


def main() -> None:
    _limited()
    for n_rows in (10_000, 100_000, 1_000_000):
        for words, y_of, options in (
            ("two classes", {}, {}),
            ("two classes, bins of 1 row", {}, {"min_rows": 1}),
            ("two classes, min_gain=5", {}, {"min_gain": 5.0}),
            ("noise, min_gain=5", {"noise": True}, {"min_gain": 5.0}),
            ("five classes", {"n_classes": 5}, {}),
        ):
            x, y = _wave(n_rows, **y_of)

            def bins(x: np.ndarray = x, y: np.ndarray = y, options: dict[str, float] = options) -> object:
                return optimal_cuts(x, y, **options)  # type: ignore[arg-type]

            print(f"optimal bins, {n_rows} rows, {words:<40} {seconds(bins, at_most=2):9.4f} s", flush=True)
    if ruptures is None:
        print("ruptures is not installed: its PELT is not measured")
    else:
        x, y = _wave(2_000)
        column, target = np.argsort(x[:, 0]).argsort().astype(float), y.astype(float)
        signal = y[np.argsort(x[:, 0])].astype(float)
        compare(
            "mean_bins, 2000 rows, cost 1",
            lambda: mean_bins(column, target, min_gain=1.0, min_rows=1),
            "ruptures.Pelt(l2)",
            lambda: ruptures.Pelt(model="l2", min_size=1, jump=1).fit(signal).predict(pen=1.0),
        )
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 50))
    y = (np.abs(X[:, 0]) + rng.normal(size=20_000) > 1).astype(int)
    encoder = make_pipeline(KBinsDiscretizer(20, encode="ordinal"), TargetEncoder(random_state=0))
    compare(
        "bin_means, 20000 x 50, five folds",
        lambda: BinMeans(random_state=0).fit_transform(X, y),
        "KBinsDiscretizer + TargetEncoder",
        lambda: encoder.fit_transform(X, y),
    )
