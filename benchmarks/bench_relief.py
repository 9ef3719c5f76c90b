"""ReliefF beside scikit-rebate's, on more rows, on sparse rows, and in a process that has just begun."""

import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from skrebate import ReliefF

from benchmarks.timing import compare, extra_memory, seconds
from tamis.base.seeds import generator
from tamis.scores import relief, relieff, rrelieff

_FIRST = """
import time
import numpy as np
from tamis.base.seeds import generator
from tamis.scores import relieff
X = generator(0).random((1000, 500))
y = np.arange(1000) % 2
start = time.perf_counter()
relieff(X, y)
print(time.perf_counter() - start)
"""

_MEMORY = """
import numpy as np
from tamis.base.seeds import generator
from tamis.scores import relieff
X, y = generator(0).random((20_000, 20)), np.arange(20_000) % 2
relieff(X[:300], y[:300])
"""


def _problem(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise, an exclusive or of two columns, and four columns that each help a little."""
    rng = generator(0)
    X = rng.random((n_rows, n_columns))
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int)
    X[:, 2:6] += 0.25 * y[:, None]
    return X, y


def _peer(X: np.ndarray, y: np.ndarray) -> Any:
    return ReliefF(n_neighbors=10, n_jobs=1).fit(X.copy(), y)


def _line(what: str, took: float, note: str = "") -> None:
    print(f"{what:<52} {took:9.4f} s   {note}", flush=True)


def main() -> None:
    X, y = _problem(1000, 500)
    compare("relieff(10), dense 1000 x 500", partial(relieff, X, y), "skrebate ReliefF", partial(_peer, X, y))
    ours, theirs = relieff(X, y), _peer(X, y)
    top = np.argsort(-ours, kind="stable")[:6]
    same = "the same" if np.array_equal(top, theirs.top_features_[:6]) else "different"
    apart = np.abs(ours - theirs.feature_importances_).max()
    print(f"{'':<52} best six {top.tolist()}: {same}; scores differ by {apart:.1e} at most", flush=True)
    _line("relieff(10, euclidean), dense 1000 x 500", seconds(partial(relieff, X, y, metric="euclidean")))
    _line("relief, dense 1000 x 500", seconds(partial(relief, X, y)))
    holes = np.where(generator(1).random(X.shape) < 0.1, np.nan, X)
    _line("relieff(10), dense 1000 x 500, a tenth missing", seconds(partial(relieff, holes, y)))
    X, y = _problem(5000, 500)
    _line("relieff(10), dense 5000 x 500", seconds(partial(relieff, X, y), at_most=2))
    _line("relieff(10, 500 rows asked), dense 5000 x 500", seconds(partial(relieff, X, y, sample=500)))
    numbers = (X[:1000, 0] - 0.5) * (X[:1000, 1] - 0.5) + 0.1 * X[:1000, 2]
    # Scikit-rebate splits the neighbours of a numeric target into hits and misses: other scores at the same cost.
    ours, theirs = partial(rrelieff, X[:1000], numbers), partial(_peer, X[:1000], numbers)
    compare("rrelieff(10), dense 1000 x 500", ours, "skrebate ReliefF, numbers", theirs)
    S = sp.random_array((800, 100_000), density=0.01, rng=0, format="csr")
    classes = generator(0).integers(0, 2, 800)
    _line("relieff(10), CSR 800 x 100000, 1 %", seconds(partial(relieff, S, classes)))
    extra = extra_memory(_MEMORY, "relieff(X, y)")
    print(f"{'relieff(10), dense 20000 x 20':<52} {extra:9.0f} MB extra (all distances: 3200 MB)", flush=True)
    done = subprocess.run([sys.executable, "-c", _FIRST], capture_output=True, text=True, check=True)
    _line("relieff(10), dense 1000 x 500, first call", float(done.stdout), "fresh process, compiled before")
