"""Twelve scores of text, one by one and together, beside scikit-learn's, on the words of 20 Newsgroups."""

import gzip
import os
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import chi2, mutual_info_classif

from benchmarks.timing import seconds
from tamis import scores

ROOT = Path(__file__).parents[1]

#: The scores of the papers on text.
TEXT: list[tuple[str, dict[str, Any]]] = [
    ("chi2", {"of": "presence"}),
    *((name, {}) for name in ("ig", "mi", "count", "pip", "pipp", "bns", "odds", "wf", "kl", "ti", "tfv")),
]

#: Columns that scikit-learn's mutual information is given; all would take half an hour.
_SLICE = 500


def newsgroups() -> tuple[sp.csr_array, np.ndarray] | None:
    """Counts of all words of the training documents, and their groups; None where the file is absent."""
    folder = Path(os.environ.get("TAMIS_DATA", ROOT.parent / "shared" / "data"))
    file = folder / "newsgroups20" / "20newsgroups-train.tab.gz"
    if not file.is_file():
        return None
    with gzip.open(file, "rt", encoding="utf-8", errors="replace") as lines:
        # Three lines of header: names, kinds and roles of the columns.
        rows = [line.rstrip("\n").split("\t", 1) for line in lines if line.strip()][3:]
    words = CountVectorizer().fit_transform([text for _, text in rows])
    return sp.csr_array(words, dtype=np.float64), np.array([group for group, _ in rows])


def main() -> None:
    found = newsgroups()
    if found is None:
        print("newsgroups20: is absent, and left out")
        return
    X, y = found
    what = f"CSR {X.shape[0]} x {X.shape[1]}, {np.unique(y).size} classes"
    peer = seconds(partial(chi2, X, y))
    alone = {name: seconds(partial(scores.get(name), X, y, **options)) for name, options in TEXT}
    for name, own in alone.items():
        _line(f"{name}, {what}", own, "sklearn chi2", peer)
    _line(f"mi, {what}", alone["mi"], f"sklearn mi, {_SLICE} columns, scaled", _mutual_information(X, y))
    together = seconds(partial(scores.many, X, y, by=TEXT))
    _line(f"all twelve together, {what}", together, "one by one", sum(alone.values()))
    _line(f"all twelve together, {what}", together, "sklearn chi2 alone", peer)
    formulas = [one for one in TEXT if scores.get(one[0]).summary is not None]
    shared = seconds(partial(scores.many, X, y, by=formulas))
    _line(f"the {len(formulas)} that share counts, {what}", shared, "pip alone", alone["pip"])


def _mutual_information(X: sp.csr_array, y: np.ndarray) -> float:
    """Seconds that scikit-learn's would take for all columns, from those for a few."""
    start = perf_counter()
    mutual_info_classif(X[:, :_SLICE], y, discrete_features=True)
    return (perf_counter() - start) * X.shape[1] / _SLICE


def _line(what: str, ours: float, peer: str, theirs: float) -> None:
    print(f"{what:<56} {ours:9.4f} s   {peer:<34} {theirs:9.4f} s   {theirs / ours:8.1f}x", flush=True)
