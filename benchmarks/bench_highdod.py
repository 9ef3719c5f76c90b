"""Outlying subspaces beside the whole lattice, and beside nearest neighbours fitted in every subspace."""

import time
from functools import partial
from itertools import combinations

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


def main() -> None:
    X = _rows(2000, 10)
    model = HighDOD(max_features=None, random_state=0).fit(X, progress=False)
    search = partial(model.outlying_subspaces, 0, progress=False)
    (found,) = search()
    title = f"one row, 2000 x 10, {found.n_evaluated} of {found.n_subspaces} subspaces"
    compare(title, search, "NearestNeighbors in each subspace", partial(_naive, X, 5))
    naive = np.sort(_naive(X, 5))
    whole = np.sort(np.concatenate(list(_whole(X, 5).values())))
    print(f"{'':<52} degrees differ by {np.abs(naive - whole).max():.1e} at most", flush=True)

    X = _rows(20_000, 14)
    model = HighDOD(max_features=None, random_state=0).fit(X, progress=False)
    search = partial(model.outlying_subspaces, 0, progress=False)
    (found,) = search()
    title = f"one row, 20000 x 14, {found.n_evaluated} of {found.n_subspaces} subspaces"
    compare(title, search, "all degrees, without pruning", partial(_whole, X, 5))

    X = _rows(100_000, 20)
    for size, name in (("auto", "up to 3 columns"), (None, "of all sizes")):
        model = HighDOD(max_features=size, n_samples=3, random_state=0)
        start = time.perf_counter()
        model.fit(X, progress=False)
        fitted = time.perf_counter()
        for row in (0, 1):
            begin = time.perf_counter()
            (found,) = model.outlying_subspaces(row, progress=False)
            took = time.perf_counter() - begin
            what = f"row {row}, 100000 x 20, {name}"
            note = f"{found.n_evaluated:,} of {found.n_subspaces:,} evaluated, {len(found.subspaces):,} minimal"
            print(f"{what:<52} {took:9.4f} s   {note}; sample {fitted - start:.1f} s", flush=True)
    start = time.perf_counter()
    rows = model.most_outlying(5, progress=False)
    print(f"{'the five most outlying of 100000 x 20':<52} {time.perf_counter() - start:9.4f} s   {rows}", flush=True)
