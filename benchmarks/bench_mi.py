"""Mutual information against scikit-learn's, on a wide dense and a wide sparse problem, and in a fresh process."""

import subprocess
import sys
import time
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import mutual_info_classif

from benchmarks.timing import compare, seconds
from tamis.discretize import Discretize
from tamis.scores import ig, mi

_FRESH = """
import time
import numpy as np
import scipy.sparse as sp
from tamis.scores import mi
y = np.arange(800) % 2
X = {data}
start = time.perf_counter()
mi(X, y)
print(time.perf_counter() - start)
"""

#: Columns of the sparse matrix that scikit-learn is given.
_SLICE = 2000


def _peer(X: object, y: np.ndarray) -> np.ndarray:
    return np.asarray(mutual_info_classif(X, y, discrete_features=True))


def _dense() -> None:
    """Codes of one byte, the same as floats, and continuous columns cut by mean and deviation."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    codes = rng.integers(0, 8, (6000, 5000)).astype(np.int8)
    start = time.perf_counter()
    theirs = _peer(codes, y)
    peer = time.perf_counter() - start
    floats = codes.astype(np.float32)
    weight = np.ones(6000)
    for what, ours in (
        ("mi, dense 6000 x 5000 int8, 8 levels", partial(mi, codes, y)),
        ("mi, the same with sample weights", partial(mi, codes, y, sample_weight=weight)),
        ("mi, the same as float32", partial(mi, floats, y)),
    ):
        _line(what, seconds(ours), "sklearn mutual_info_classif", peer, np.abs(ours() - theirs).max())
    X = rng.random((6000, 5000), dtype=np.float32)
    binned = Discretize("sigma").fit_transform(X).astype(np.int8)
    start = time.perf_counter()
    theirs = _peer(binned, y)
    peer = time.perf_counter() - start
    ours = partial(mi, X, y)
    _line(
        "mi, dense 6000 x 5000 float32, sigma",
        seconds(ours),
        "sklearn, binned before",
        peer,
        np.abs(ours() - theirs).max(),
    )


def _sparse() -> None:
    """Whole numbers, one in a hundred not zero; scikit-learn on a slice, scaled to all columns."""
    rng = np.random.default_rng(0)
    X = sp.random_array((800, 100_000), density=0.01, rng=0, format="csr")
    X.data = np.ceil(3 * X.data)
    y = rng.integers(0, 2, 800)
    some = X[:, :_SLICE]
    start = time.perf_counter()
    theirs = _peer(some, y)
    peer = (time.perf_counter() - start) * X.shape[1] / _SLICE
    for what, given in (("CSR", X), ("CSC", X.tocsc())):
        ours = partial(mi, given, y)
        error = np.abs(ours()[:_SLICE] - theirs).max()
        _line(f"mi, {what} 800 x 100000, 1 %", seconds(ours), f"sklearn, {_SLICE} columns, scaled", peer, error)
    compare("ig, CSR 800 x 100000, 1 %", partial(ig, X, y), "our mi", partial(mi, X, y))


def _line(what: str, ours: float, peer: str, theirs: float, error: float) -> None:
    print(f"{what:<52} {ours:9.4f} s   {peer:<34} {theirs:9.4f} s   {theirs / ours:8.1f}x  apart by {error:.0e}")


def _first() -> None:
    """The first call of a process, with what was compiled before loaded from disk."""
    for what, data in (
        ("int8 codes", "np.random.default_rng(0).integers(0, 8, (800, 5000)).astype(np.int8)"),
        ("float32", "np.random.default_rng(0).random((800, 5000), dtype=np.float32)"),
        ("CSR", "sp.random_array((800, 100_000), density=0.01, rng=0, format='csr')"),
    ):
        command = [sys.executable, "-c", _FRESH.format(data=data)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"{'mi, first call of a process, ' + what:<52} {float(done.stdout):9.4f} s", flush=True)


def main() -> None:
    _dense()
    _sparse()
    _first()
