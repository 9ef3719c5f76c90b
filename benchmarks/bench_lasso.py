"""Lasso, elastic net and l1 logistic regression, by path and by cross-validation, beside scikit-learn and celer.

Solutions of tamis are optimal to rounding; scikit-learn's and celer's are within their own tolerance.
"""

from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import ElasticNet as PeerNet
from sklearn.linear_model import ElasticNetCV, LassoCV, LogisticRegression, enet_path

from benchmarks.timing import compare
from tamis.base.parallel import one_thread
from tamis.classify import Logistic
from tamis.regress import ElasticNet, Lasso
from tamis.regress.elastic_net.descent import descend, highest_penalty

#: Of a path.
_PENALTIES = 50


def _dense(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of unit deviation, and a target of 20 of them in units of its deviation."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, :20] @ rng.normal(size=20) + rng.normal(size=rows)
    return np.asfortranarray(X), (y - y.mean()) / y.std()


def _sparse(rows: int, columns: int) -> tuple[Any, np.ndarray]:
    """Columns with one value in a hundred, and a target of 200 of them in units of its deviation."""
    rng = np.random.default_rng(0)
    X = sp.csc_matrix(sp.random(rows, columns, 0.01, random_state=rng))
    y = np.asarray(X[:, :200] @ rng.normal(size=200)).ravel() + 0.2 * rng.normal(size=rows)
    return X, (y - y.mean()) / y.std()


def _beside_paths(what: str, X: Any, y: np.ndarray, ratio: float, least: float) -> None:
    """50 penalties down to a share of the highest."""
    weight = np.ones(y.size)
    penalties = highest_penalty(X, y, weight, ratio) * np.geomspace(1.0, least, _PENALTIES)
    ours = partial(descend, X, y, weight, penalties.tolist(), ratio, exact=True)
    if sp.issparse(X):
        compare(what, ours, "ElasticNet, warm starts, 1e-4", partial(_warm, X, y, penalties, ratio))
        return
    for tol in (1e-4, 1e-7):
        peer = partial(enet_path, X, y, l1_ratio=ratio, alphas=penalties, tol=tol, max_iter=20_000)
        compare(what, ours, f"enet_path, tol {tol:g}", peer)
    if find_spec("celer"):
        from celer import celer_path

        bare = partial(celer_path, X, y, "lasso", alphas=penalties, l1_ratio=ratio, tol=1e-6)
        compare(what, ours, "celer_path, tol 1e-6", bare)


def _warm(X: Any, y: np.ndarray, penalties: np.ndarray, ratio: float) -> None:
    model = PeerNet(l1_ratio=ratio, warm_start=True)
    for penalty in penalties:
        model.set_params(alpha=penalty).fit(X, y)


def main() -> None:
    with one_thread():
        X, y = _dense(500, 20_000)
        _beside_paths("lasso, 50 penalties, 500 x 20000", X, y, 1.0, 1e-2)
        _beside_paths("elastic net, the same", X, y, 0.5, 1e-2)
        Z, target = _sparse(800, 100_000)
        _beside_paths("lasso, 50 penalties to 0.1, CSC 800 x 100000", Z, target, 1.0, 0.1)
        for shape, least in (((442, 210), 1e-3), ((100, 10_000), 1e-2), ((1_500, 1_000), 1e-3)):
            U, v = _dense(*shape)
            what = f"auto, {shape[0]} x {shape[1]}"
            peer: dict[str, Any] = {"alphas": 40, "eps": least, "cv": 5}
            compare(
                f"lasso, {what}",
                partial(Lasso(random_state=0).fit, U, v),
                "LassoCV",
                partial(LassoCV(**peer).fit, U, v),
            )
            net = partial(ElasticNetCV(l1_ratio=0.5, **peer).fit, U, v)
            compare(f"elastic_net, {what}", partial(ElasticNet(random_state=0).fit, U, v), "ElasticNetCV", net)
        U, v = _dense(300, 10_000)
        for C in (0.1, 1.0):
            classes = v > 0
            liblinear = LogisticRegression(
                C=C, l1_ratio=1.0, solver="liblinear", tol=1e-7, max_iter=500, random_state=0
            )
            what = f"logistic l1, C = {C:g}, 300 x 10000"
            ours = partial(Logistic("l1", C).fit, U, classes)
            compare(what, ours, "liblinear, tol 1e-7", partial(liblinear.fit, U, classes))
            if find_spec("celer"):
                from celer import celer_path

                signs = np.where(classes, 1.0, -1.0)
                bare = partial(celer_path, U, signs, "logreg", alphas=np.array([1 / C]), use_PN=True, tol=1e-7)
                compare(what, ours, "celer's, no intercept, tol 1e-7", bare)
