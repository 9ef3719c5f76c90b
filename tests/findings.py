"""What the tests of a run on disk share: results to keep, when two are the same, and a process that keeps them."""

import math
import multiprocessing
import sqlite3
import struct
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from tamis.base.cut import NothingPasses
from tamis.base.errors import TamisError
from tamis.mining.run.store import Finding, Store
from tamis.validation.fold_result import FoldResult
from tamis.validation.metrics import FoldPredictions

IDENTITY = {"data": "madelon", "fingerprint": "0f3a", "seed": 0, "metric": "ber", "without": ["forest"]}

# Children come from a clean process that has imported what they need: they are there at once.
CHILDREN = multiprocessing.get_context("forkserver" if sys.platform != "win32" else "spawn")
if sys.platform != "win32":
    CHILDREN.set_forkserver_preload(["tamis.mining.run.store"])


def same_array(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same(a: Finding, b: Finding) -> bool:
    """Whether two findings agree in every bit (all values that are not a number are one)."""
    if isinstance(a, TamisError) or isinstance(b, TamisError):
        return type(a) is type(b) is TamisError and str(a) == str(b)
    plain = ("repeat", "fold", "n_train", "n_features", "fit_seconds", "predict_seconds", "alone_seconds", "warnings")
    mine, theirs = a.predictions, b.predictions
    return (
        all(getattr(a, name) == getattr(b, name) for name in plain)
        and same_array(a.rows, b.rows)
        and same_array(a.selected, b.selected)
        and mine.n_classes == theirs.n_classes
        and all(same_array(getattr(mine, n), getattr(theirs, n)) for n in ("truth", "labels", "scores"))
        and same_array(mine.probabilities, theirs.probabilities)
        and list(a.metrics) == list(b.metrics)
        and all(
            (math.isnan(v) and math.isnan(w)) or struct.pack("d", v) == struct.pack("d", w)
            for v, w in zip(a.metrics.values(), b.metrics.values(), strict=True)
        )
    )


def result(seed: int = 0, n: int = 20, n_features: int = 500, **changes: Any) -> FoldResult:
    """A result on one and the same split, its answers decided by the seed."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    probabilities = rng.dirichlet([1, 1], size=n)
    given = {
        "repeat": 0,
        "fold": 1,
        "rows": np.arange(n) * 3,
        "n_train": 2 * n,
        "predictions": FoldPredictions(truth, rng.integers(0, 2, n), 2, rng.normal(size=n), probabilities),
        "metrics": {"ber": rng.random(), "auc": math.nan},
        "selected": np.flatnonzero(rng.random(n_features) < 0.1),
        "n_features": n_features,
        "fit_seconds": rng.random(),
        "predict_seconds": rng.random(),
        "alone_seconds": rng.random(),
        "warnings": ((NothingPasses, "nothing passes"),),
    }
    return FoldResult(**given | changes)


def write_on(path: Path, log: Path, batches: int) -> None:
    """Go on with a run, batch after batch, and log each when it is put; a child does this until it is killed."""
    with Store.open(path, IDENTITY) as run, log.open("ab", buffering=0) as said:
        said.write(b"open\n")
        done = run.count() // 5
        for batch in range(done, done + batches):
            run.put(batch % 3, str(batch), {f"knn({k})": result(5 * batch + k) for k in range(5)})
            run.note("batch", batch)
            said.write(b"%d\n" % batch)


def child(*args: Any) -> Any:
    process = CHILDREN.Process(target=write_on, args=args, daemon=True)
    process.start()
    return process


def until(condition: Callable[[], Any], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.002)


def logged(log: Path) -> list[int]:
    """The batches that were put; the last line may be cut off."""
    return [int(line) for line in log.read_bytes().splitlines() if line != b"open"] if log.exists() else []


def check_integrity(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
