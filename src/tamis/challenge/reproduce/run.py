"""Rows of a table run one after another; what is finished is kept in a file and not run again."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import numpy as np

from tamis import __version__
from tamis.base.errors import DataError, TamisError
from tamis.challenge.reproduce.results import Results, fingerprint
from tamis.challenge.reproduce.table import REAL_FEATURES, Row
from tamis.compose.recipe import parse
from tamis.data import named
from tamis.data.dataset import Dataset
from tamis.validate.result import Validation
from tamis.validate.whole import validate

#: Called with a row about to run; gives what to call with the fits done and the fits in all, of all rows.
Watch = Callable[[Row], AbstractContextManager[Callable[[int, int], None]]]


@dataclass(frozen=True)
class Outcome:
    """What came of a row; `found` is None when its data set is not at hand, `new` when it was run just now."""

    row: Row
    found: Mapping[str, Any] | None
    new: bool = False


def fits(row: Row, folds: int, repeats: int) -> int:
    """How many models a row takes."""
    return folds * repeats if row.split == "pooled" else 1


def run_rows(
    rows: Sequence[Row],
    results: Results,
    *,
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    n_jobs: int = 1,
    again: bool = False,
    watch: Watch | None = None,
) -> Iterator[Outcome]:
    """Run the rows in their order, each whole model validated by :func:`tamis.validate.whole.validate`.

    A row is kept in `results` before the next begins, so a run that is stopped goes on where it was. A row is not run
    when `results` has it for the same recipe, data, split and seed and the same version of tamis.

    Parameters
    ----------
    rows : sequence of Row
    results : Results
    folds, repeats : int
        For rows over pooled folds.
    seed : int
    n_jobs : int
        Processes; the result does not depend on it.
    again : bool, default=False
        Run also what `results` has.
    watch : callable, optional
        ``watch(row)`` is a context around the run of a row, and gives a function of the fits done and to do.
    """
    for row in rows:
        parse(row.recipe).build()
    total = sum(fits(row, folds, repeats) for row in rows)
    done = 0
    for name, members in groupby(rows, key=lambda row: row.data):
        data = dataset(name)
        for row in members:
            if data is None:
                yield Outcome(row, None)
            else:
                times = repeats if row.split == "pooled" else 1
                wanted = _identity(row, data, folds, times, seed)
                found = None if again else results.find(wanted)
                if new := found is None:
                    with nullcontext(_unseen) if watch is None else watch(row) as report:
                        found = wanted | _run(row, data, folds, times, seed, n_jobs, _after(report, done, total))
                    results.keep(found)
                yield Outcome(row, found, new)
            done += fits(row, folds, repeats)


def dataset(name: str) -> Dataset | None:
    """The data set of that name, with its known probes, or None when it is not at hand."""
    data = named.find(name)
    if data is None or name not in REAL_FEATURES:
        return data
    roles = np.full(data.n_features, "probe", dtype="<U11")
    real = np.array(REAL_FEATURES[name]) - 1
    if real.max() >= data.n_features:
        raise DataError(f"{name}: has {data.n_features} columns; column {real.max() + 1} is known to be real")
    roles[real] = "informative"
    return replace(data, roles=roles)


def _identity(row: Row, data: Dataset, folds: int, repeats: int, seed: int) -> dict[str, Any]:
    return {
        "data": row.data,
        "recipe": row.recipe,
        "split": row.split,
        "folds": folds if row.split == "pooled" else None,
        "repeats": repeats,
        "seed": seed,
        "fingerprint": fingerprint(data),
        "version": __version__,
    }


def _unseen(done: int, total: int) -> None:
    pass


def _after(report: Callable[[int, int], None], done: int, total: int) -> Callable[[int, int], None]:
    """Fits of one row reported as part of those of all rows."""
    report(done, total)
    return lambda now, _: report(done + now, total)


def _run(
    row: Row, data: Dataset, folds: int, repeats: int, seed: int, n_jobs: int, progress: Callable[[int, int], None]
) -> dict[str, Any]:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
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
    return _facts(found, data) | {
        "seconds": round(time.perf_counter() - start, 2),
        "date": datetime.now(UTC).date().isoformat(),
        "warnings": sorted({str(w.message) for w in warned}),
    }


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
