"""Corona's whole path on 2000 items of 39 variables and 1280 steps, beside AR(3) and elimination done the usual way.

The usual way is a loop: for every item and variable NumPy's least squares on the forward and backward equations, then
scikit-learn's linear SVM refitted on the remaining variables each time one leaves. The
coefficients are as they are and then scaled, as most users of an SVM do; correlations have a common scale.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
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
    ours, table = timed("correlations of all pairs", series.correlations)
    own, coefficients = timed("AR(3) of tamis", series.autoregression)
    theirs, usual = timed("AR(3), one lstsq a variable and item", lambda: usual_coefficients(series))
    away = np.abs(coefficients.X - usual).max()
    print(f"  AR(3): {theirs / own:.1f}x; coefficients differ by {away:.1e}", flush=True)
    path, found = timed("corona, 39 to 2 variables", lambda: Corona(2).fit(table.X, y))
    one, _ = timed("one fit of SVC(kernel='linear') on all pairs", lambda: SVC(kernel="linear").fit(table.X, y))
    print(f"  {found.sizes_.size} machines for {path / one:.1f} times one fit", flush=True)
    for what, rows in (("as they are", usual), ("scaled", StandardScaler().fit_transform(usual))):
        by_channel = Corona(2, columns=ORDER, aggregate="mean")
        mine, _ = timed(f"corona(columns=3), coefficients {what}", partial(by_channel.fit, rows, y))
        other, gone = timed(f"SVC(kernel='linear') each time, {what}", partial(usual_elimination, rows, y))
        same = sum(a == b for a, b in zip(by_channel.variable_order_[2:][::-1], gone, strict=True))
        print(f"  {other / mine:.1f}x; {same} of {len(gone)} variables leave at the same time")
        peer = theirs + other
        print(f"whole: corona {ours + path:.1f} s, the usual way {peer:.1f} s: {peer / (ours + path):.1f}x", flush=True)
