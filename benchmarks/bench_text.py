"""Models of documents on 20 Newsgroups (words by tf-idf) beside scikit-learn's."""

import gzip
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from benchmarks.timing import compare
from tamis.classify import Probit

#: The files lie in the folder TAMIS_DATA, or in one beside the project.
FOLDER = Path(os.environ.get("TAMIS_DATA", Path(__file__).parents[2] / "shared" / "data")) / "newsgroups20"

#: scikit-learn before 1.8 takes the name of the penalty, later versions the share of l1.
_L1: dict[str, Any] = {"penalty": "l1"} if LogisticRegression().penalty == "l2" else {"l1_ratio": 1.0}


def _documents(part: str) -> tuple[list[str], np.ndarray]:
    """The texts of a file and their groups; three lines of header come first."""
    with gzip.open(FOLDER / f"20newsgroups-{part}.tab.gz", "rt", encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip("\n").split("\t") for line in file][3:]
    known = [line for line in lines if len(line) == 2]
    return [text for _, text in known], np.array([group for group, _ in known])


def _beside(what: str, ours: Any, peer: Any, rows: tuple[Any, ...]) -> None:
    X, y, X_test, y_test = rows
    compare(what, partial(ours.fit, X, y), peer[0], partial(peer[1].fit, X, y))
    accuracy = [np.mean(model.predict(X_test) == y_test) for model in (ours, peer[1])]
    print(f"{'':<52} accuracy on new documents: {accuracy[0]:.4f}, {accuracy[1]:.4f}", flush=True)


def _probit(rows: tuple[Any, ...], what: str, many: bool) -> None:
    """Equal priors: C of l2 is the variance, C of l1 the root of half of it."""
    for variance in (1.0, 100.0):
        plain = LogisticRegression(C=variance, max_iter=1000)
        _beside(f"probit(gaussian, {variance:g}), {what}", Probit(variance=variance), ("lbfgs l2", plain), rows)
    few = 100.0
    for solver in ("liblinear",) if many else ("liblinear", "saga"):
        sparse = LogisticRegression(C=np.sqrt(few / 2), **_L1, solver=solver, max_iter=500, random_state=0)
        peer = OneVsRestClassifier(sparse) if many else sparse
        _beside(f"probit(laplace, {few:g}), {what}", Probit("laplace", few), (f"{solver} l1", peer), rows)


def main() -> None:
    if not FOLDER.is_dir():
        print(f"{FOLDER} is absent, and the benchmark left out")
        return
    words = TfidfVectorizer(min_df=3)
    texts, y = _documents("train")
    new_texts, y_test = _documents("test")
    X, X_test = words.fit_transform(texts), words.transform(new_texts)
    two = np.unique(y)[:2]
    some, some_test = np.isin(y, two), np.isin(y_test, two)
    _probit((X[some], y[some], X_test[some_test], y_test[some_test]), "2 groups", many=False)
    _probit((X, y, X_test, y_test), "20 groups", many=True)
