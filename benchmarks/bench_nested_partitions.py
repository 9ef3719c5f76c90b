"""Nested partitions, plain and in two stages, beside scikit-learn's wrapper, on data like kr.vs.kp.

There are 3196 rows and 36 binary columns. The peer adds one column at a time, to half of them, as it does by default.
"""

import time
from typing import Any

import numpy as np
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from benchmarks.timing import seconds
from tamis.base.seeds import generator
from tamis.select import NestedPartitions

ROWS, COLUMNS, FOLDS = 3196, 36, 3

#: Columns that differ between the classes, and copies of these with errors.
STRONG, COPIES = 6, 6


def _data() -> tuple[np.ndarray, np.ndarray]:
    """Rows to search on, then as many to evaluate on: yes and no in every column, and two classes."""
    rng = generator(0)
    y = rng.integers(0, 2, 2 * ROWS)
    X = (rng.random((y.size, COLUMNS)) < rng.uniform(0.1, 0.9, COLUMNS)).astype(np.float64)
    for j, gap in enumerate(np.linspace(0.4, 0.1, STRONG)):
        X[:, j] = rng.random(y.size) < 0.5 + gap * (y - 0.5)
        X[:, STRONG + j % COPIES] = np.where(rng.random(y.size) < 0.1, 1.0 - X[:, j], X[:, j])
    return X, y


def _accuracy(model: Any, X: np.ndarray, y: np.ndarray, columns: np.ndarray) -> float:
    some = X[:, columns]
    return float(model.fit(some[:ROWS], y[:ROWS]).score(some[ROWS:], y[ROWS:]))


def main() -> None:
    X, y = _data()
    known = X[:ROWS], y[:ROWS]
    two_stage = {"two_stage": True, "delta": 0.05, "psi": 0.75, "random_state": 0}
    searches: dict[str, NestedPartitions] = {
        "nested_partitions(cfs)": NestedPartitions(random_state=0),
        "nested_partitions(cfs), two stages": NestedPartitions(**two_stage),
    }
    # The first is updated from set to set, the second fitted anew.
    for model in (GaussianNB(), CategoricalNB(min_categories=2)):
        name = type(model).__name__
        peer = SequentialFeatureSelector(model, cv=FOLDS, scoring="accuracy")
        begin = time.perf_counter()
        peer.fit(*known)
        theirs = time.perf_counter() - begin
        chosen = np.flatnonzero(peer.get_support())
        right = 100 * _accuracy(model, X, y, chosen)
        print(f"SequentialFeatureSelector({name}): {theirs:.3f} s, {chosen.size} columns, {right:.1f} % right")
        wrapper = {"measure": "classifier", "estimator": model, "cv": FOLDS}
        searches[f"nested_partitions({name})"] = NestedPartitions(random_state=0, **wrapper)
        searches[f"nested_partitions({name}), two stages"] = NestedPartitions(**two_stage, **wrapper)
        for what, search in searches.items():
            mine = seconds(lambda search=search: search.fit(*known), at_most=3)
            right = 100 * _accuracy(model, X, y, search.chosen_)
            print(
                f"{what:<45} {mine:8.3f} s   {theirs / mine:7.2f}x   {search.chosen_.size:2} columns, "
                f"{right:.1f} % right, {search.n_evaluations_} sets of {100 * search.sampling_rate_:.0f} % of the rows",
                flush=True,
            )
        searches.clear()
