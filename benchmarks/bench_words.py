"""Texts of 20 Newsgroups as words: counted beside scikit-learn's CountVectorizer, once and in ten folds."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold

from benchmarks.timing import compare, seconds
from tamis.data.load import read
from tamis.data.text_columns import counts_of
from tamis.transform import Words

ROOT = Path(__file__).parents[1]

#: Documents that are not for training must be counted too.
FOLDS = 10


def main() -> None:
    folder = Path(os.environ.get("TAMIS_DATA", ROOT.parent / "shared" / "data"))
    file = folder / "newsgroups20" / "20newsgroups-train.tab.gz"
    if not file.is_file():
        print("newsgroups20: is absent, and left out")
        return
    data = read(file)
    frame = data.X.select("Text")
    texts = frame["Text"].to_list()
    what = f"{len(texts)} texts"
    compare(f"all words, {what}", partial(_counted, frame), "CountVectorizer", partial(_theirs, texts))
    splits = list(StratifiedKFold(FOLDS).split(texts, data.y))
    once = seconds(partial(_ours, frame, splits[:1]))
    ten = seconds(partial(_ours, frame, splits))
    print(f"words(3) in one fold {once:.2f} s, in {FOLDS} folds {ten:.2f} s: {ten / once:.1f} times that", flush=True)
    compare(
        f"words(3) in {FOLDS} folds, {what}",
        partial(_ours, frame, splits),
        "CountVectorizer in each",
        partial(_theirs_in_folds, np.array(texts, dtype=object), splits),
    )


def _counted(frame: pl.DataFrame) -> Any:
    return counts_of(frame, frame.columns, "benchmark")


def _theirs(texts: list[str]) -> Any:
    return CountVectorizer().fit_transform(texts)


def _ours(frame: pl.DataFrame, splits: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """The words of the training rows of each fold, and the counts of all rows."""
    counts = _counted(frame)
    for train, test in splits:
        fitted = Words(3).fit(counts[train])
        fitted.transform(counts[train])
        fitted.transform(counts[test])


def _theirs_in_folds(texts: np.ndarray, splits: list[tuple[np.ndarray, np.ndarray]]) -> None:
    for train, test in splits:
        fitted = CountVectorizer(min_df=3)
        fitted.fit_transform(texts[train])
        fitted.transform(texts[test])
