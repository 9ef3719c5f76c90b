"""Many models on the same splits: each is fitted on the training rows and judged on the test rows, through one plan."""

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from tamis.base.errors import TamisError
from tamis.base.parallel import stream
from tamis.validation.cases import Cases
from tamis.validation.execute.walk import Task, listener, walk
from tamis.validation.fold_result import FoldResult
from tamis.validation.folds import Split
from tamis.validation.metrics import Metric
from tamis.validation.plan import Plan, plan

#: Results of one model in the order of the splits, or the first error it met.
Outcome = list[FoldResult] | TamisError


def evaluate_all(
    models: Sequence[Any], given: Cases, splits: Sequence[Split], **options: Any
) -> list[list[FoldResult]]:
    """As :func:`try_all`, for models that are expected to work: the first error is raised."""
    found = []
    for outcome in try_all(models, given, splits, **options):
        if isinstance(outcome, TamisError):
            raise outcome
        found.append(outcome)
    return found


def try_all(
    models: Sequence[Any],
    given: Cases,
    splits: Sequence[Split],
    *,
    metrics: Sequence[Metric] | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    memory: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Outcome]:
    """The outcome of every model: its results in the order of the splits, or the first error it met.

    Parameters
    ----------
    models : sequence of estimators
    given : Cases
    splits : sequence of Split
    metrics : sequence of Metric, optional
        By default all that the model's answers allow; an empty one computes none.
    seed : int, default=0
        The seed of the run.
    n_jobs : int, default=1
        Processes, -1 for all cores; the result does not depend on it.
    memory : float, optional
        Bytes that the rows which models share may take in all processes together. Beyond that, rows of earlier steps
        are given up and made again when their turn comes. By default half of the machine's memory.
    progress : callable, optional
        Called with the number of results that are there and the number in all.
    """
    workers = effective_n_jobs(n_jobs)
    merged = plan(models)
    share = memory_share(memory, workers)
    tasks = [
        (Task(merged, wanted, split, given.classes, metrics, seed, share), given.X, given.y)
        for split in splits
        for wanted in _portions(merged, len(splits), workers)
    ]
    found: list[list[FoldResult]] = [[] for _ in models]
    errors: dict[int, TamisError] = {}
    done, told, total = 0, 0, len(models) * len(splits)

    def hear(more: int) -> None:
        nonlocal told
        if progress is not None and done + more > told:
            told = done + more
            progress(told, total)

    heard = listener.set(hear)
    try:
        for results in stream(walk, tasks, n_jobs):
            for model, result in results.items():
                if isinstance(result, TamisError):
                    errors.setdefault(model, _explained(result, given))
                else:
                    found[model].append(result)
            done += len(results)
            hear(0)
    finally:
        listener.reset(heard)
    return [errors.get(i, results) for i, results in enumerate(found)]


def say_again(results: Iterable[FoldResult]) -> None:
    """Say what the folds warned of, each thing once: the voice of a worker is not heard."""
    for category, said in dict.fromkeys(warning for result in results for warning in result.warnings):
        warnings.warn(said, category, stacklevel=3)


def _portions(merged: Plan, n_splits: int, workers: int) -> list[frozenset[int]]:
    """The models of one fold in so many portions that all workers have something to do.

    What is divided is the order of the walk, at units that stay whole; what comes before a division is computed in
    every portion. The results do not depend on it.
    """
    units = merged.units()
    many = 1 if workers == 1 else min(len(units), -(-2 * workers // n_splits))
    return [frozenset().union(*units[part[0] : part[-1] + 1]) for part in np.array_split(np.arange(len(units)), many)]


def _explained(error: TamisError, given: Cases) -> TamisError:
    """The error, with the remedy in front where it comes from what a model of plain numbers cannot take."""
    unreadable = any(word in str(error) for word in ("NaN", "convert", "NoneType"))
    if not unreadable or not (trouble := given.trouble()):
        return error
    found = TamisError(f"{trouble} ({error})")
    found.__cause__ = error
    return found


def memory_share(memory: float | None, workers: int) -> float:
    """Bytes that each of so many workers may take for shared rows; by default of half of the machine's memory."""
    if memory is not None and not memory > 0:
        raise TamisError(f"memory must be a number of bytes above zero; got {memory!r}")
    if memory is None:
        try:
            memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
        except (AttributeError, ValueError, OSError):  # where the system does not tell
            memory = np.inf
    return memory / workers
