"""Transforms against scikit-learn's, on the sizes of wide dense and wide sparse problems."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import decomposition
from sklearn.preprocessing import StandardScaler

from benchmarks.timing import compare
from tamis.transform import PCA, Standardize


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


def main() -> None:
    _standardize()
    _pca()
