"""Rows of a table: each a whole model, validated on the data at hand."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.challenge.reproduce.results import Results
from tamis.challenge.reproduce.table import Row
from tamis.challenge.reproduce.work import Job, Outcome, Report, Watch, run_jobs
from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.validation.result import Validation
from tamis.validation.whole import validate


def run_rows(
    rows: Sequence[Row],
    results: Results,
    *,
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    n_jobs: int = 1,
    again: bool = False,
    watch: Watch[Row] | None = None,
) -> Iterator[Outcome[Row]]:
    """Run the rows in their order, each whole model validated by :func:`tamis.validation.whole.validate`.

    Parameters
    ----------
    rows : sequence of Row
    results : Results
    folds, repeats : int
        For rows over pooled folds.
    seed : int
    n_jobs : int
        Processes; the result does not depend on it.
    again, watch
        As for :func:`tamis.challenge.reproduce.work.run_jobs`, which keeps what is finished.
    """
    jobs = []
    for row in rows:
        parse(row.recipe).build()
        pooled = row.split == "pooled"
        times = repeats if pooled else 1
        key = {
            "recipe": row.recipe,
            "split": row.split,
            "folds": folds if pooled else None,
            "repeats": times,
            "seed": seed,
        }
        run = partial(_run, row, folds, times, seed, n_jobs)
        jobs.append(Job(row, row.data, key, folds * repeats if pooled else 1, run))
    return run_jobs(jobs, results, again=again, watch=watch)


def _run(row: Row, folds: int, repeats: int, seed: int, n_jobs: int, data: Dataset, progress: Report) -> dict[str, Any]:
    try:
        found = validate(
            row.recipe,
            data,
            split=row.split,
            folds=folds,
            repeats=repeats,
            metrics=("ber", "accuracy", "auc"),
            seed=seed,
            n_jobs=n_jobs,
            progress=progress,
        )
    except TamisError as error:
        raise TamisError(f"{row.data}, {row.recipe}: {error}") from error
    return _facts(found, data)


def _facts(found: Validation, data: Dataset) -> dict[str, Any]:
    """Shares, not percent. "error" is the plain error, 1 - accuracy."""
    metrics = {}
    for name in ("ber", "accuracy", "auc"):
        estimate, values = found.estimates[name], found.values[name]
        if name == "accuracy":
            name, estimate, values = "error", replace(estimate, mean=1.0 - estimate.mean), 1.0 - values
        numbers = {k: _number(v) for k, v in vars(estimate).items()}
        metrics[name] = numbers | {"values": [_number(v) for v in values.tolist()]}
    real = None
    if found.kept is not None and data.probes is not None:
        real = [int((~data.probes[kept]).sum()) for kept in found.kept]
    return {
        "metrics": metrics,
        "n_features": found.n_features,
        "kept": None if found.kept is None else [int(kept.size) for kept in found.kept],
        "real": real,
        "probe_share": found.probe_share,
        "fit_seconds": round(float(found.fit_seconds.sum() + found.predict_seconds.sum()), 2),
    }


def _number(value: float) -> float | None:
    """A number that JSON can hold."""
    return None if np.isnan(value) else value
