"""Outlying subspaces beside the whole lattice, and beside nearest neighbours fitted in every subspace."""

import time
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks.timing import compare
from tamis.base.seeds import generator
from tamis.outliers.highdod import HighDOD
from tamis.outliers.lattice import lattice
from tamis.outliers.reference import Reference, degrees


def _rows(n_rows: int, n_columns: int) -> np.ndarray:
    """Four clusters in all columns, and the first row far from its own in two columns."""
    rng = generator(0)
    X = rng.uniform(0.0, 6.0, size=(4, n_columns))[rng.integers(0, 4, n_rows)] + rng.normal(size=(n_rows, n_columns))
    X[0, :2] += 5.0
    return X


def _whole(X: np.ndarray, k: int) -> dict[int, np.ndarray]:
    """All degrees of the first row, without pruning."""
    reference = Reference.of(X, np.zeros(X.shape[1], dtype=bool), metric="euclidean")
    gaps, _, _ = reference.gaps(reference.columns[:, 0], 0)
    spaces = lattice(X.shape[1], X.shape[1])
    return {m: degrees(gaps, members, k, squared=True) for m, members in spaces.members.items()}


def _naive(X: np.ndarray, k: int) -> list[float]:
    """The same with nearest neighbours fitted in every subspace."""
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    found = []
    for m in range(1, X.shape[1] + 1):
        for columns in combinations(range(X.shape[1]), m):
            part = scaled[:, columns]
            distances = NearestNeighbors(n_neighbors=k + 1).fit(part).kneighbors(part[:1])[0]
            found.append(float(distances.sum()))
    return found


def _beside(n_rows: int, n_columns: int, peer: str, theirs: Callable[[np.ndarray, int], Any]) -> None:
    """All subspaces of the first row searched, beside another way."""
    X = _rows(n_rows, n_columns)
    model = HighDOD(max_features=None, random_state=0).fit(X, progress=False)
    search = partial(model.outlying_subspaces, 0, progress=False)
    (found,) = search()
    title = f"one row, {n_rows} x {n_columns}, {found.n_evaluated} of {found.n_subspaces} subspaces"
    compare(title, search, peer, partial(theirs, X, 5))


def main() -> None:
    _beside(2000, 10, "NearestNeighbors in each subspace", _naive)
    X = _rows(2000, 10)
    whole = np.sort(np.concatenate(list(_whole(X, 5).values())))
    apart = np.abs(np.sort(_naive(X, 5)) - whole).max()
    print(f"{'':<52} degrees differ by {apart:.1e} at most", flush=True)
    _beside(20_000, 14, "all degrees, without pruning", _whole)

    X = _rows(100_000, 20)
    for size, name in (("auto", "up to 3 columns"), (None, "of all sizes")):
        model = HighDOD(max_features=size, n_samples=3, random_state=0)
        start = time.perf_counter()
        model.fit(X, progress=False)
        fitted = time.perf_counter()
        for row in (0, 1):
            begin, cpu = time.perf_counter(), time.process_time()
            (found,) = model.outlying_subspaces(row, progress=False)
            took, cpu = time.perf_counter() - begin, time.process_time() - cpu
            what = f"row {row}, 100000 x 20, {name}"
            note = f"{found.n_evaluated:,} of {found.n_subspaces:,} evaluated, {len(found.subspaces):,} minimal"
            print(f"{what:<52} {took:9.4f} s   CPU {cpu:.2f} s; {note}; sample {fitted - start:.1f} s", flush=True)
    start = time.perf_counter()
    rows = model.most_outlying(5, progress=False)
    print(f"{'the five most outlying of 100000 x 20':<52} {time.perf_counter() - start:9.4f} s   {rows}", flush=True)
