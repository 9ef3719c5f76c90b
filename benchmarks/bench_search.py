"""A search beside the same recipes fitted one by one on as many folds: what sharing work is worth."""

from itertools import islice

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.timing import compare
from tamis.compose.recipe import recipe
from tamis.data.dataset import Dataset
from tamis.mining.mined import Mined
from tamis.mining.search import mine


def _genes(n_rows: int = 160, n_columns: int = 3000) -> Dataset:
    """As wide as expression data: forty columns of which a little can be told, half of the rows to be evaluated on."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n_rows) % 2)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, :40] += 0.5 * y[:, None]
    names = np.array([f"g{i}" for i in range(n_columns)])
    return Dataset(X, y, names, name="genes", split=np.repeat(["train", "test"], [n_rows // 2, n_rows // 2]))


def _one_by_one(found: Mined, X: np.ndarray, y: np.ndarray) -> None:
    """Every recipe of the leaderboard that is no committee, on as many folds as it was evaluated on."""
    for row in found.leaderboard_.iter_rows(named=True):
        if row["stage"] in ("committee", "blend"):
            continue
        folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0).split(X, y)
        for train, test in islice(folds, row["folds"]):
            recipe(row["recipe"]).fit(X[train], y[train]).predict(X[test])


def main() -> None:
    data = _genes()
    train = data.split == "train"
    options = {"split": "official", "trials": 150, "without": ["committee"]}
    found = mine(data, engine="serial", **options)

    def theirs() -> None:
        _one_by_one(found, data.X[train], data.y[train])

    what = f"search, {found.run_.n_tried} recipes on {train.sum()} x {data.n_features}"
    compare(what, lambda: mine(data, engine="serial", **options), "the same one by one", theirs)
    compare(f"{what}, 2 processes", lambda: mine(data, engine="local(2)", **options), "the same one by one", theirs)
