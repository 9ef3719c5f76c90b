"""Substitutes: how many planted copies are found, how much noise is listed, and the seconds on real data."""

from time import perf_counter

import numpy as np
from sklearn.pipeline import make_pipeline

from tamis.base.errors import TamisError
from tamis.compose.recipe import recipe
from tamis.data import load
from tamis.data.dataset import Dataset
from tamis.mining.fixed_columns import Columns
from tamis.mining.substitutes import find_substitutes
from tamis.validation.folds import StratifiedFolds

SEEDS = 20
REAL = {
    "colon": "standardize | cc(20) | svm(linear)",
    "leukemia": "cc(10) | knn(5)",
    "madelon": "ssv(18) | knn(5)",
    "arcene": "cc(100) | rms_norm | svm(linear)",
    "dorothea": "cc(50) | nb",
}


def planted(rows: int, distance: float, noise: float) -> None:
    """Two informative columns, a noisy copy of each, and 26 columns of noise; the model uses the two and one of noise.

    "needed" and "copies" are shares of the informative columns, which are needed and whose copies are found;
    "dispensable" is the share of runs in which the column of noise in the model is so.
    """
    needed, copies, listed, idle = 0, 0, 0, 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(rows) % 2)
        X = rng.normal(size=(rows, 30))
        X[:, :2] += distance * y[:, None]
        X[:, 2:4] = X[:, :2] + noise * rng.normal(size=(rows, 2))
        model = make_pipeline(Columns((0, 1, 4)), recipe("standardize | svm(linear)"))
        found = find_substitutes(model, Dataset.of(X, y), StratifiedFolds(5, 2).splits(y, seed=seed))
        for feature, copy in ((0, 2), (1, 3)):
            needed += feature not in found.dispensable
            copies += any(one.feature == copy for one in found[feature])
            listed += sum(one.feature > 4 for one in found[feature])
        idle += 4 in found.dispensable
    print(
        f"planted, {rows} rows, classes {distance:g} deviations apart, copies with noise {noise:g}: "
        f"needed {needed / (2 * SEEDS):.0%}, copies {copies / (2 * SEEDS):.0%}, {listed} columns of noise listed, "
        f"dispensable {idle / SEEDS:.0%}",
        flush=True,
    )


def real(name: str, text: str) -> None:
    """One data set, its training rows where it is split."""
    try:
        data = load(name)
    except TamisError:
        print(f"{name} left out: it is not there", flush=True)
        return
    if data.split is not None:
        data = data.rows(data.split == "train")
    splits = StratifiedFolds(5, 2 if data.n_rows < 500 else 1).splits(data.y)
    start = perf_counter()
    found = find_substitutes(text, data, splits)
    took = perf_counter() - start
    with_some = sum(bool(others) for others in found.values())
    print(
        f"{name} {data.n_rows} x {data.n_features}, {text}: {took:.1f} s; {len(found)} features examined, "
        f"{len(found) - len(found.dispensable)} needed, {with_some} with substitutes",
        flush=True,
    )


def main() -> None:
    for rows, distance, noise in ((100, 1.5, 0.2), (400, 1.5, 0.2), (400, 1.5, 0.5), (400, 1.5, 1.0)):
        planted(rows, distance, noise)
    for name, text in REAL.items():
        real(name, text)
