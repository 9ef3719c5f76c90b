"""Subsets a second of the measures of subset search, on one thread, beside plain NumPy and Python."""

import os
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from benchmarks.timing import seconds
from tamis.base.nominal import coded
from tamis.base.seeds import generator
from tamis.data.load import load
from tamis.subsets.bic import BIC
from tamis.subsets.cfs import CFS
from tamis.subsets.inconsistency import Inconsistency

#: The files lie in the folder TAMIS_DATA, or in one beside the project.
FOLDER = Path(os.environ.get("TAMIS_DATA", Path(__file__).parents[2] / "shared" / "data"))


def _data(name: str, rows: int, columns: int, states: int, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A data set of the data folder, or a generated one of its size."""
    file = FOLDER / "uci" / f"{name}.arff.gz"
    if not file.exists():
        rng = generator(0)
        y = rng.integers(0, classes, rows)
        X = rng.integers(0, states, (rows, columns)).astype(np.float64)
        some = slice(columns // 4)
        X[:, some] = np.where(rng.random(X[:, some].shape) < 0.3, y[:, None] % states, X[:, some])
        return X, y, np.ones(columns, dtype=bool)
    data = load(str(file))
    X, nominal, _ = coded(data.X)
    # Constant columns are not read; they are put back, for the size that is in the papers.
    lost = columns - X.shape[1]
    X, nominal = np.column_stack((X, np.zeros((X.shape[0], lost)))), np.append(nominal, np.ones(lost, dtype=bool))
    return X, np.unique(data.y, return_inverse=True)[1], nominal


def _line(what: str, n_sets: int, ours: float, n_plain: int, plain: float) -> None:
    here, there = n_sets / ours, n_plain / plain
    print(f"{what:<52} {here:12,.0f} sets/s   plain {there:12,.0f} sets/s   {here / there:8.1f}x", flush=True)


def _cfs() -> None:
    X, y, nominal = _data("audiology", 226, 69, 4, 24)
    measure = CFS.of(X, y, nominal)
    n = measure.n_features
    table, relevance = measure._pairs.of(np.arange(n)), measure.relevance
    sets = generator(0).random((1_000_000, n)) < 0.5

    def plain(some: np.ndarray) -> np.ndarray:
        size = some.sum(axis=1)
        inside = some.astype(np.float64)
        return (inside @ relevance) / np.sqrt(size + ((inside @ table) * inside).sum(axis=1))

    assert np.allclose(plain(sets[:1000]), measure.many(sets[:1000]))
    ours, peer = seconds(lambda: measure.many(sets)), seconds(lambda: plain(sets))
    _line(f"cfs, many, {n} columns, half of them", len(sets), ours, len(sets), peer)
    columns = np.flatnonzero(sets[0])
    rest = np.setdiff1d(np.arange(n), columns)
    ours = seconds(lambda: [measure.add(columns, rest) for _ in range(1000)])
    _line(f"cfs, add, {columns.size} columns and {rest.size} candidates", 1000 * rest.size, ours, len(sets), peer)


def _inconsistency() -> None:
    X, y, nominal = _data("mushroom", 8124, 22, 6, 2)
    measure = Inconsistency.of(X, y, nominal)
    n = measure.n_features
    sets = generator(0).random((5_000, n)) < 0.5

    def plain(some: np.ndarray) -> None:
        for row in some:
            patterns: dict[tuple[float, ...], Counter[int]] = defaultdict(Counter)
            for pattern, own in zip(X[:, row].tolist(), y.tolist(), strict=True):
                patterns[tuple(pattern)][own] += 1
            sum(count.total() - max(count.values()) for count in patterns.values())

    peer = seconds(lambda: plain(sets[:5]))
    what = f"inconsistency, {X.shape[0]} x {n}"
    _line(f"{what}, many, half of them", len(sets), seconds(lambda: measure.many(sets)), 5, peer)
    _line(f"{what}, consistent at 0", len(sets), seconds(lambda: measure.consistent(sets)), 5, peer)


def _bic() -> None:
    rng = generator(0)
    y = rng.integers(0, 2, 2000)
    X = rng.normal(size=(2000, 69)) + 0.2 * y[:, None]
    measure = BIC.of(X, y)
    sets = rng.random((2_000, 69)) < 0.5

    def plain(some: np.ndarray) -> None:
        for row in some:
            np.linalg.lstsq(np.column_stack((np.ones(2000), X[:, row])), y, rcond=None)

    _line("bic, 2000 x 69, many", len(sets), seconds(lambda: measure.many(sets)), 50, seconds(lambda: plain(sets[:50])))


def main() -> None:
    _cfs()
    _inconsistency()
    _bic()
