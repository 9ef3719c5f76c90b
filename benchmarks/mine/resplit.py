"""The sets of the benchmark, and their rows split again and again into training and fresh ones."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.model_selection import train_test_split

from benchmarks.mine.worker import FIRST
from tamis.base._sklearn import _safe_indexing
from tamis.data.dataset import Dataset

#: The challenge, genes, small sets, and generated ones.
SETS = (
    *("arcene", "dexter", "dorothea", "madelon"),
    *("colon", "leukemia", "lymphoma", "lung", "child_leukemia"),
    *("ionosphere", "sonar", "splice", "spambase", "wdbc"),
    *("madelon-fresh", "xor", "friedman"),
)

#: A class of fewer rows is left out.
FEWEST = 6

#: Up to this number of rows two thirds of them are for training; of more, half.
SMALL = 150


@dataclass(frozen=True)
class Resplit:
    """Rows to fit on, and fresh ones whose classes no system sees. Classes are numbered from 0."""

    train: Any
    y: np.ndarray
    fresh: Any
    truth: np.ndarray
    names: tuple[str, ...]

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1


def kept_rows(y: np.ndarray) -> np.ndarray:
    """The rows whose class has enough of them."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    return np.flatnonzero(counts[codes] >= FEWEST)


def divide(y: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The training and the fresh rows of a re-split: in each the classes have the same shares."""
    rows = np.arange(y.size)
    share = 2 / 3 if y.size <= SMALL else 1 / 2
    train, fresh = train_test_split(rows, train_size=share, stratify=y, random_state=number)
    return np.sort(train), np.sort(fresh)


def resplit(data: Dataset, number: int) -> Resplit:
    """The labelled rows of a data set, official parts together, split by the seed `number`."""
    rows = kept_rows(data.y)
    _, codes = np.unique(data.y[rows], return_inverse=True)
    train, fresh = divide(codes, number)
    return Resplit(
        _safe_indexing(data.X, rows[train]),
        codes[train],
        _safe_indexing(data.X, rows[fresh]),
        codes[fresh],
        tuple(str(name) for name in data.feature_names),
    )


def write(rows: Resplit, folder: Path, first: Sequence[str] | None = None) -> None:
    """Write what a system may see: all but the classes of the fresh rows.

    `first` are recipes that the search is to start with, instead of its portfolio.
    """
    if first is not None:
        (folder / FIRST).write_text(f"first = {json.dumps(list(first))}\n", encoding="utf-8")
    np.save(folder / "y.npy", rows.y.astype(np.int64))
    for part, X in (("train", rows.train), ("fresh", rows.fresh)):
        if sp.issparse(X):
            sp.save_npz(folder / f"{part}.npz", X)
        elif isinstance(X, pl.DataFrame):
            X.write_csv(folder / f"{part}.csv")
        else:
            np.save(folder / f"{part}.npy", X)
    frame = isinstance(rows.train, pl.DataFrame)
    nominal = [name for name, kind in rows.train.schema.items() if kind == pl.String] if frame else []
    form = "sparse" if sp.issparse(rows.train) else "frame" if frame else "dense"
    about = {"form": form, "nominal": nominal, "names": list(rows.names)}
    (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
