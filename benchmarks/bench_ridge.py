"""Ridge regression with a chosen penalty beside RidgeCV, and with given ones beside Ridge."""

from functools import partial

import numpy as np
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.linear_model import RidgeCV

from benchmarks.timing import compare
from tamis.base.parallel import one_thread
from tamis.base.shared_fit import Together
from tamis.regress import Ridge
from tamis.regress.ridge.normal_equations import PENALTIES


def _problem(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    return X, X[:, :20] @ rng.normal(size=20) + 3 * rng.normal(size=rows)


def _together(X: np.ndarray, y: np.ndarray, penalties: np.ndarray) -> None:
    list(Together([Ridge(float(penalty)) for penalty in penalties], X, y))


def _each(X: np.ndarray, y: np.ndarray, penalties: np.ndarray) -> None:
    for penalty in penalties:
        PeerRidge(penalty).fit(X, y)


def main() -> None:
    with one_thread():
        for shape in ((442, 210), (100, 10_000), (1_500, 1_000)):
            X, y = _problem(*shape)
            what = f"{shape[0]} x {shape[1]}"
            # tamis tries as many, in units of the largest eigenvalue.
            peer = RidgeCV(alphas=PENALTIES * np.linalg.norm(X - X.mean(axis=0), 2) ** 2)
            compare(f"ridge(auto), {what}", partial(Ridge().fit, X, y), "RidgeCV", partial(peer.fit, X, y))
            penalties = np.geomspace(1e-2, 1e4, 30)
            ours, theirs = partial(_together, X, y, penalties), partial(_each, X, y, penalties)
            compare(f"ridge, 30 penalties, {what}", ours, "Ridge", theirs)
