"""Pieces of work run one after another; what is finished is kept in a file and not run again."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Generic, TypeVar

import numpy as np

from tamis import __version__
from tamis.base.errors import DataError
from tamis.challenge.reproduce.results import Results, fingerprint
from tamis.challenge.reproduce.table import REAL_FEATURES
from tamis.data import named
from tamis.data.dataset import Dataset

Item = TypeVar("Item")

#: Called with what is done and what there is to do in all.
Report = Callable[[int, int], None]

#: Called with what is about to run; gives where to report to.
Watch = Callable[[Item], AbstractContextManager[Report]]


@dataclass(frozen=True)
class Job(Generic[Item]):
    """Something to run on a data set.

    Attributes
    ----------
    item : object
        What the job is for.
    data : str
        Name of the data set; empty for a job that makes its own.
    key : mapping
        What tells its result from others: "recipe", "split", "folds", "repeats" and "seed".
    size : int
        Its share in the bar.
    run : callable
        ``run(data, report)`` gives facts that JSON can hold; `data` is None for a job that makes its own.
    """

    item: Item
    data: str
    key: Mapping[str, Any]
    size: int
    run: Callable[[Any, Report], dict[str, Any]]


@dataclass(frozen=True)
class Outcome(Generic[Item]):
    """What came of a job; `found` is None when its data set is not at hand, `new` when it was run just now."""

    item: Item
    found: Mapping[str, Any] | None
    new: bool = False


def run_jobs(
    jobs: Sequence[Job[Item]], results: Results, *, again: bool = False, watch: Watch[Item] | None = None
) -> Iterator[Outcome[Item]]:
    """Run jobs in their order, those of one data set standing together.

    A result is kept before the next job begins, so a run that is stopped goes on where it was. A job is not run when
    `results` has it for the same key, the same data and the same version of tamis.

    Parameters
    ----------
    jobs : sequence of Job
    results : Results
    again : bool, default=False
        Run also what `results` has.
    watch : callable, optional
        ``watch(item)`` is a context around a job, and gives a function of what is done and to do, of all jobs.
    """
    total = sum(job.size for job in jobs)
    done = 0
    for name, members in groupby(jobs, key=lambda job: job.data):
        data = dataset(name) if name else None
        state = {"fingerprint": "" if data is None else fingerprint(data), "version": __version__}
        for job in members:
            if name and data is None:
                yield Outcome(job.item, None)
            else:
                wanted = {"data": name, **job.key, **state}
                found = None if again else results.find(wanted)
                if new := found is None:
                    with nullcontext(_unseen) if watch is None else watch(job.item) as report:
                        found = wanted | _timed(job, data, _after(report, done, total))
                    results.keep(found)
                yield Outcome(job.item, found, new)
            done += job.size


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


def _timed(job: Job[Any], data: Dataset | None, report: Report) -> dict[str, Any]:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        facts = job.run(data, report)
    return facts | {
        "seconds": round(time.perf_counter() - start, 2),
        "date": datetime.now(UTC).date().isoformat(),
        "warnings": sorted({str(w.message) for w in warned}),
    }


def _unseen(done: int, total: int) -> None:
    pass


def _after(report: Report, done: int, total: int) -> Report:
    """What is done of one job reported as part of all."""
    report(done, total)
    return lambda now, _: report(done + now, total)
