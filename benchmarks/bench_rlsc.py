"""Least-squares classification with every penalty from one decomposition, beside scikit-learn's searches.

KernelRidge is refitted by GridSearchCV for every penalty and fold; RidgeClassifierCV leaves rows out without refits, as
we do, for the linear kernel alone.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import GridSearchCV, KFold

from benchmarks.timing import compare
from tamis.base.parallel import one_thread
from tamis.classify import RLSC
from tamis.classify.rlsc.least_squares import PENALTIES


def _problem(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    score = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n_rows)
    return X, np.where(score > 0, 1.0, -1.0)


def _right(model: Any, X: Any, y: np.ndarray) -> float:
    return float(np.mean(np.sign(model.predict(X)) == y))


def _beside(what: str, ours: RLSC, peer: str, theirs: Any, X: Any, y: np.ndarray) -> None:
    half = X.shape[0] // 2
    with one_thread():
        mine, other = clone(ours), clone(theirs)
        compare(what, partial(mine.fit, X[:half], y[:half]), peer, partial(other.fit, X[:half], y[:half]))
    errors = (1 - _right(model, X[half:], y[half:]) for model in (mine, other))
    print(f"{'':<52} error on new rows: {{:.3f}}, {{:.3f}}".format(*errors), flush=True)


def main() -> None:
    folds = KFold(5, shuffle=True, random_state=0)
    for n_rows, n_columns in ((600, 10), (2_000, 10), (200, 5_000)):
        X, y = _problem(n_rows, n_columns)
        # The penalties that ours tries, on the scale of a Gaussian kernel matrix of these rows.
        alphas = PENALTIES * n_rows / 2
        grid = GridSearchCV(KernelRidge(kernel="rbf", gamma=1 / n_columns), {"alpha": alphas}, cv=folds)
        size = f"{n_rows // 2} x {n_columns}"
        _beside(f"rlsc gaussian, 41 penalties, {size}", RLSC(sigma=n_columns), "KernelRidge, 5 folds x 41", grid, X, y)
        linear = RidgeClassifierCV(alphas, fit_intercept=False)
        _beside(f"rlsc linear, 41 penalties, {size}", RLSC("linear"), "RidgeClassifierCV", linear, X, y)
    X, y = _problem(600, 10)
    widths = {"gamma": 1 / (10.0 * 4.0 ** np.arange(2, -5, -1)), "alpha": PENALTIES * 300}
    grid = GridSearchCV(KernelRidge(kernel="rbf"), widths, cv=folds)
    _beside("rlsc 7 widths x 41 penalties, 300 x 10", RLSC(sigma="auto"), "KernelRidge, 5 folds x 287", grid, X, y)
    X = sp.random(800, 20_000, 0.01, format="csr", random_state=0)
    y = np.where(np.asarray(X[:, :400].sum(axis=1)).ravel() > 2, 1.0, -1.0)
    linear = RidgeClassifierCV(PENALTIES * 400, fit_intercept=False)
    _beside("rlsc linear, CSR 400 x 20000, 1 %", RLSC("linear"), "RidgeClassifierCV", linear, X, y)
    X, y = _problem(3_000, 10)
    machines = RLSC(n_estimators=20, max_samples=0.2, random_state=0)
    _beside("20 machines on a fifth of 1500 rows each", machines, "one on all rows", RLSC(), X, y)
