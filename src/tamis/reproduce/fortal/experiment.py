"""One selection of the experiment: columns from one half of the rows, evaluated by cross-validation on the other."""

import time
import warnings
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from tamis.base.inner_cv import inner_folds
from tamis.base.parallel import run_all
from tamis.base.seeds import spawn
from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.reproduce.fortal.algorithms import ALGORITHMS, FRAMEWORK, FRAMEWORK_LEARNERS, LEARNERS, Algorithm, Learner
from tamis.reproduce.framework.study import Task
from tamis.validation.folds import SmallClass
from tamis.validation.whole import validate

#: Folds of the testing half; those of the wrappers on the selection half are their default, also five.
FOLDS = 5

#: The algorithms that take longest, which start first: no process is then busy alone at the end.
_LONG = ("WN2", "BWR", "FWR", "FS10", "W10N")


def compare(learner: str, task: Task) -> dict[str, Any]:
    """Run all algorithms with one learner."""
    order = sorted(ALGORITHMS, key=lambda name: _LONG.index(name) if name in _LONG else len(_LONG))
    found = run_all(_compared, [(task.data, learner, name, task.seed) for name in order], task.n_jobs)
    task.progress(1, 1)
    own = dict(zip(order, found, strict=True))
    return {"n_features": task.data.n_features, "algorithms": {name: own[name] for name in ALGORITHMS}}


def combine(task: Task) -> dict[str, Any]:
    """Run FortalFS with every kind of filter and every learner."""
    cells = list(product(FRAMEWORK, FRAMEWORK_LEARNERS))
    found = run_all(_combined, [(task.data, *cell, task.seed) for cell in cells], task.n_jobs)
    task.progress(1, 1)
    by_kind: dict[str, dict[str, Any]] = {kind: {} for kind in FRAMEWORK}
    for (kind, learner), one in zip(cells, found, strict=True):
        by_kind[kind][learner] = one
    return {"cells": by_kind}


def selected(data: Dataset, learner: Learner, algorithm: Algorithm, seed: int, place: int) -> dict[str, Any]:
    """Select columns from one half of the rows, and evaluate them on the other.

    Parameters
    ----------
    data : Dataset
    learner : Learner
    algorithm : Algorithm
    seed : int
        Draws the halves and the folds of the testing half: they are the same for all algorithms and learners.
    place : int
        Number of the algorithm, for a seed of its own.

    Returns
    -------
    dict
        The "columns", the CPU "seconds" of the selection, the "accuracy" of each fold, and whether the search was
        "complete".
    """
    codes = np.unique(np.asarray(data.y), return_inverse=True)[1]
    selection, testing = (data.rows(rows) for rows in inner_folds(codes, 2, spawn(seed, 0), "fortal")[0])
    selector = algorithm.make(parse(learner.classifier).build(), data.n_features, spawn(seed, 2, place))
    columns, seconds = np.arange(data.n_features), 0.0
    if selector is not None:
        begin = time.process_time()
        rows = selection.X
        if algorithm.wraps and learner.front:
            rows = parse(learner.front).build().fit_transform(rows)
        selector.fit(rows, selection.y)
        seconds = time.process_time() - begin
        columns = selector.get_support(indices=True)
    return {
        "columns": columns.tolist(),
        "seconds": round(seconds, 3),
        "accuracy": _accuracy(learner, testing, columns, spawn(seed, 1)),
        "complete": bool(getattr(selector, "complete_", True)),
    }


def _accuracy(learner: Learner, testing: Dataset, columns: np.ndarray, seed: int) -> list[float]:
    """The accuracy of each fold; the folds depend on the seed alone."""
    with warnings.catch_warnings():
        # Its classes are those of the paper; only their BER would miss some.
        warnings.simplefilter("ignore", SmallClass)
        found = validate(
            parse(learner.recipe).build(),
            testing.X[:, columns.tolist()],
            testing.y,
            folds=FOLDS,
            repeats=1,
            metrics="accuracy",
            seed=seed,
            progress=False,
        )
    return [float(one) for one in found.values["accuracy"]]


def _compared(data: Dataset, learner: str, name: str, seed: int) -> dict[str, Any]:
    return selected(data, LEARNERS[learner], ALGORITHMS[name], seed, _place(ALGORITHMS, name))


def _combined(data: Dataset, kind: str, learner: str, seed: int) -> dict[str, Any]:
    # Numbered after the algorithms, so that no seed is used twice.
    place = len(ALGORITHMS) + _place(FRAMEWORK, kind)
    return selected(data, FRAMEWORK_LEARNERS[learner], FRAMEWORK[kind], seed, place)


def _place(algorithms: Mapping[str, Algorithm], name: str) -> int:
    return list(algorithms).index(name)
