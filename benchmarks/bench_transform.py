"""Transforms against scikit-learn's, on the sizes of wide dense and wide sparse problems."""

from functools import partial
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn import decomposition
from sklearn.preprocessing import StandardScaler, TargetEncoder

import tamis
from benchmarks.timing import compare
from tamis.base.seeds import seeded
from tamis.transform import PCA, VDM, Standardize


def _standardize() -> None:
    X = np.random.default_rng(0).random((6000, 5000), dtype=np.float32)
    S = sp.random_array((800, 100_000), density=0.01, rng=0, format="csr")
    for what, rows, peer in (
        ("dense 6000 x 5000 float32", X, StandardScaler()),
        ("CSR 800 x 100000, 1 %", S, StandardScaler(with_mean=False)),
    ):
        ours, theirs = Standardize(), "sklearn StandardScaler"
        compare(f"standardize fit, {what}", partial(ours.fit, rows), theirs, partial(peer.fit, rows))
        ours, peer = ours.fit(rows), peer.fit(rows)
        compare(f"standardize transform, {what}", partial(ours.transform, rows), theirs, partial(peer.transform, rows))


def _pca() -> None:
    S = sp.random_array((800, 20_000), density=0.01, rng=0, format="csr")
    ours = partial(PCA(2).fit, S)
    truncated = decomposition.TruncatedSVD(2, random_state=0)
    compare("pca(2), CSR 800 x 20000, 1 %", ours, "TruncatedSVD (not centred)", partial(truncated.fit, S))
    _beside("CSR 800 x 20000, 1 %", S, "arpack", "randomized")
    rng = np.random.default_rng(0)
    _beside("dense 200 x 10000", rng.normal(size=(200, 10_000)), "full", "arpack", "randomized")
    _beside("dense 2600 x 500", rng.normal(size=(2600, 500)), "full", "covariance_eigh")
    _beside("dense 6000 x 5000 float32", rng.standard_normal((6000, 5000), dtype=np.float32), "arpack", "randomized")
    _beside("CSR 6000 x 5000, 5 %", sp.random_array((6000, 5000), density=0.05, rng=0, format="csr"), "arpack")


def _beside(what: str, X: Any, *solvers: str) -> None:
    """Two components beside scikit-learn's on the same rows, filled where they are sparse."""
    dense = X.toarray() if sp.issparse(X) else X
    for solver in solvers:
        peer = decomposition.PCA(2, svd_solver=solver, random_state=0)
        compare(f"pca(2), {what}", partial(PCA(2).fit, X), f"sklearn PCA {solver}, dense", partial(peer.fit, dense))


def _vdm() -> None:
    rng = np.random.default_rng(0)
    levels = np.array([f"level {i}" for i in range(50)], dtype=object)
    X = pl.DataFrame({f"x{j}": levels[rng.integers(0, 50, 50_000)].tolist() for j in range(20)})
    for k in (2, 5):
        y = rng.integers(0, k, 50_000)
        kind = "binary" if k == 2 else "multiclass"
        ours, theirs = VDM(random_state=0), TargetEncoder(smooth=1.0, target_type=kind)
        what = f"50000 x 20 names of 50 levels, {k} classes"
        peer = "sklearn TargetEncoder"
        compare(
            f"vdm fit_transform, {what}", partial(ours.fit_transform, X, y), peer, partial(theirs.fit_transform, X, y)
        )
        ours, theirs = ours.fit(X, y), theirs.fit(X, y)
        compare(f"vdm transform, {what}", partial(ours.transform, X), peer, partial(theirs.transform, X))


def _levels_of_few_rows() -> None:
    """Errors where a hundred levels have four rows each: where they tell the class, and beside numbers that do."""
    for tells in (True, False):
        wrong: dict[str, list[float]] = {}
        for seed in range(8):
            rng = np.random.default_rng(seed)
            effects = 1.2 * rng.normal(size=(4, 100))
            (X, y), (new, truth) = (_with_levels(rng, rows, effects, tells) for rows in (400, 2000))
            for front in ("encode", "vdm", "vdm(cv=none)"):
                for end in ("logistic", "forest(50)"):
                    model = seeded(tamis.recipe(f"{front} | standardize | {end}"), 0).fit(X, y)
                    wrong.setdefault(f"{front} | standardize | {end}", []).append(1 - model.score(new, truth))
        for text, errors in wrong.items():
            print(f"{'levels that tell' if tells else 'levels of noise':18s}{text:42s}{100 * np.mean(errors):6.1f} %")


def _with_levels(rng: np.random.Generator, rows: int, effects: Any, tells: bool) -> tuple[pl.DataFrame, np.ndarray]:
    codes, numbers = rng.integers(0, 100, (4, rows)), rng.normal(size=(3, rows))
    evidence = np.take_along_axis(effects, codes, axis=1).sum(axis=0) if tells else numbers.sum(axis=0)
    y = (rng.random(rows) < 1 / (1 + np.exp(-evidence))).astype(int)
    columns: dict[str, Any] = {f"c{j}": [f"level {code}" for code in column] for j, column in enumerate(codes)}
    if not tells:
        columns |= {f"n{j}": column for j, column in enumerate(numbers)}
    return pl.DataFrame(columns), y


def main() -> None:
    _standardize()
    _pca()
    _vdm()
    _levels_of_few_rows()
