"""Corona's whole path on 2000 items of 39 variables and 1280 steps, beside AR(3) and elimination done the usual way.

The usual way is a loop: for every item and variable NumPy's least squares on the forward and backward equations, then
scikit-learn's linear SVM refitted on the remaining variables each time one leaves. Neither side scales
its columns, as in the paper's algorithms.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.svm import SVC

from tamis.select import Corona
from tamis.series import Series

N_ITEMS, N_VARIABLES, N_TIMES, ORDER = 2000, 39, 1280, 3

#: Items generated at a time.
_BLOCK = 50


def recordings() -> Series:
    """Sensors that share a few sources, whose strength differs a little between two classes; 400 MB."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(5, N_VARIABLES)).astype(np.float32)
    y = np.arange(N_ITEMS) % 2
    items = []
    for first in range(0, N_ITEMS, _BLOCK):
        own = y[first : first + _BLOCK]
        sources = rng.normal(size=(own.size, N_TIMES, 5)).astype(np.float32)
        sources *= rng.uniform(0.5, 1.5, (own.size, 1, 5)).astype(np.float32)
        sources[own == 1, :, 0] *= 1.1
        block = sources @ mixing + 2 * rng.normal(size=(own.size, N_TIMES, N_VARIABLES)).astype(np.float32)
        for t in range(1, N_TIMES):
            block[:, t] += 0.6 * block[:, t - 1]
        items += [*block]
    return Series.of(items, y)


def usual_coefficients(series: Series) -> np.ndarray:
    """The coefficients of every variable of every item, one least-squares problem after the other."""
    rows = np.empty((series.n_items, series.n_variables, ORDER))
    for i, item in enumerate(series.items):
        for j in range(series.n_variables):
            z = item[:, j].astype(np.float64)
            z = z - z.mean()
            windows = np.lib.stride_tricks.sliding_window_view(z, ORDER + 1)
            both = np.concatenate([windows[:, ::-1], windows])
            rows[i, j] = np.linalg.lstsq(both[:, 1:], both[:, 0], rcond=None)[0]
    return rows.reshape(series.n_items, -1)


def usual_elimination(X: np.ndarray, y: np.ndarray) -> list[int]:
    """Variables in the order in which they leave: a machine on the remaining ones each time."""
    remaining, gone = list(range(N_VARIABLES)), []
    while len(remaining) > 2:
        columns = np.concatenate([np.arange(ORDER * v, ORDER * v + ORDER) for v in remaining])
        weights = np.abs(SVC(kernel="linear").fit(X[:, columns], y).coef_).mean(axis=0)
        gone.append(remaining.pop(int(weights.reshape(-1, ORDER).mean(axis=1).argmin())))
    return gone


def timed(what: str, work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the process, which other processes do not lengthen, and the result."""
    start = time.process_time()
    found = work()
    seconds = time.process_time() - start
    print(f"{what:<52} {seconds:9.2f} s", flush=True)
    return seconds, found


def main() -> None:
    series = recordings()
    y = series.y
    assert y is not None
    small = series.rows(slice(0, 20))
    Corona(2).fit(small.correlations().X, small.y)  # what is compiled or imported at the first use is not measured
    table_seconds, table = timed("correlations of all pairs", series.correlations)
    X = table.X
    path_seconds, found = timed("corona, 39 to 2 variables", lambda: Corona(2).fit(X, y))
    one_seconds, _ = timed("one fit of SVC(kernel='linear') on all pairs", lambda: SVC(kernel="linear").fit(X, y))
    own_seconds, own = timed("AR(3) of tamis", series.autoregression)
    own_path_seconds, own_path = timed(
        "corona(columns=3, aggregate=mean)", lambda: Corona(2, columns=3, aggregate="mean").fit(own.X, y)
    )
    usual_seconds, usual = timed("AR(3), one lstsq a variable and item", lambda: usual_coefficients(series))
    usual_path_seconds, gone = timed("elimination, SVC(kernel='linear') each time", lambda: usual_elimination(usual, y))
    ours, theirs = table_seconds + path_seconds, usual_seconds + usual_path_seconds
    print(f"corona {ours:.1f} s, AR(3) and elimination the usual way {theirs:.1f} s: {theirs / ours:.1f}x")
    print(f"the path takes {path_seconds / one_seconds:.1f} times one fit, for {found.sizes_.size} machines")
    same = sum(a == b for a, b in zip(own_path.variable_order_[2:][::-1], gone, strict=True))
    print(
        f"AR(3) of tamis: {usual_seconds / own_seconds:.1f}x, coefficients differ by {np.abs(own.X - usual).max():.1e}"
    )
    faster = usual_path_seconds / own_path_seconds
    print(f"elimination on it: {faster:.1f}x, {same} of {len(gone)} leave at the same time")
