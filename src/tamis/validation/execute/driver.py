"""The driver: evaluates models on splits, task by task, on any engine.

Validation, nested validation, the learning curve and the search all use a :class:`Driver`. Estimators travel to the
workers with the tasks; the data reaches each worker once.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.data.dataset import Dataset
from tamis.engines.engine import Closing, Lost, open_engine
from tamis.validation.execute.fold import FoldTask, listener, run_fold
from tamis.validation.execute.preparations import PreparationCache
from tamis.validation.fold_result import Finding, FoldResult
from tamis.validation.folds import Split
from tamis.validation.metrics import Metric
from tamis.validation.plan import Plan, plan

#: Results of one model in the order of the splits, or its first error.
Outcome = list[FoldResult] | TamisError


class Driver(Closing):
    """Evaluates models on splits of one data set; a context manager that ends its workers.

    Parameters
    ----------
    data : Dataset
    seed : int, default=0
        The seed of the run.
    engine : str, optional
        What computes, by name (:func:`tamis.engines.engine.open_engine`), instead of `n_jobs`.
    n_jobs : int, default=1
        Processes, -1 for all cores. The results do not depend on it, nor on the engine.
    memory : float, optional
        Most bytes of rows that models share, in all processes together; above it, rows of earlier steps are released
        and computed again when they are needed. By default half of the machine's memory.
    """

    def __init__(
        self, data: Dataset, *, seed: int = 0, engine: str | None = None, n_jobs: int = 1, memory: float | None = None
    ) -> None:
        limit = memory_limit(memory)
        self._data, self._seed = data, seed
        self._engine = open_engine(engine, _WorkerState(data), n_jobs=n_jobs)
        self._memory = limit / self._engine.workers

    @property
    def workers(self) -> int:
        """Tasks that run at a time."""
        return self._engine.workers

    def close(self) -> None:
        """End the workers."""
        self._engine.close()

    def task(
        self,
        merged: Plan,
        split: Split,
        *,
        wanted: frozenset[int] | None = None,
        metrics: Sequence[Metric] | None = None,
    ) -> FoldTask:
        """One split of the wanted models of a plan, of all of them by default."""
        if self._data.prefilter is not None:
            self._data.prefilter.check(split.train)
        wanted = frozenset(range(merged.n_models)) if wanted is None else wanted
        return FoldTask(merged, wanted, split, metrics, self._seed, self._memory)

    def execute(
        self, tasks: Sequence[FoldTask], *, until: float | None = None, hard: float | None = None
    ) -> Iterator[tuple[int, dict[int, Finding]]]:
        """(number of the task, results of its models) for every task, in the order in which they finish.

        `until` and `hard` are those of :meth:`tamis.engines.engine.Engine.run`; a task out of time has results of fewer
        models.
        """
        for number, found in self._engine.run(_evaluate, tasks, until=until, hard=hard):
            yield number, dict.fromkeys(tasks[number].wanted, found) if isinstance(found, Lost) else found

    def outcomes(
        self,
        models: Sequence[Any],
        splits: Sequence[Split],
        *,
        metrics: Sequence[Metric] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Outcome]:
        """The outcome of every model: its results in the order of the splits, or its first error.

        `metrics` are by default all that the predictions allow; `progress` is called with the number of results and
        their total.
        """
        merged = plan(models)
        # Enough portions to keep all workers busy.
        portions = merged.divided(1 if self.workers == 1 else -(-2 * self.workers // len(splits)))
        tasks = [self.task(merged, split, wanted=own, metrics=metrics) for split in splits for own in portions]
        by_task: dict[int, dict[int, Finding]] = {}
        done, reported, total = 0, 0, len(models) * len(splits)

        def report(more: int) -> None:
            nonlocal reported
            if progress is not None and done + more > reported:
                reported = done + more
                progress(reported, total)

        token = listener.set(report)
        try:
            for number, results in self.execute(tasks):
                by_task[number] = results
                done += len(results)
                report(0)
        finally:
            listener.reset(token)
        found: list[list[FoldResult]] = [[] for _ in models]
        errors: dict[int, TamisError] = {}
        for _, results in sorted(by_task.items()):
            for model, result in results.items():
                if isinstance(result, TamisError):
                    errors.setdefault(model, self._explained(result))
                else:
                    found[model].append(result)
        return [errors.get(i, results) for i, results in enumerate(found)]

    def _explained(self, error: TamisError) -> TamisError:
        """The error; with the remedy in front where missing values or nominal columns caused it."""
        unreadable = any(word in str(error) for word in ("NaN", "convert", "NoneType"))
        if not unreadable or not (remedy := self._data.remedy):
            return error
        found = TamisError(f"{remedy} ({error})")
        found.__cause__ = error
        return found


def expect_results(outcomes: Iterable[Outcome]) -> list[list[FoldResult]]:
    """The results of models; the first error is raised."""
    found = []
    for outcome in outcomes:
        if isinstance(outcome, TamisError):
            raise outcome
        found.append(outcome)
    return found


def warn_again(results: Iterable[FoldResult]) -> None:
    """Issue the warnings of folds, each once: those of a worker process are not seen otherwise."""
    for category, message in dict.fromkeys(warning for result in results for warning in result.warnings):
        warnings.warn(message, category, stacklevel=3)


class _WorkerState:
    """What every worker holds: the data, and the preparations of its tasks."""

    def __init__(self, data: Dataset) -> None:
        self.data, self.cache = data, PreparationCache()


def _evaluate(task: FoldTask, state: _WorkerState) -> dict[int, Finding]:
    return run_fold(task, state.data, state.cache)


def memory_limit(memory: float | None) -> float:
    """Most bytes of rows that models share, by default half of the machine's memory."""
    if memory is not None:
        if not memory > 0:
            raise TamisError(f"memory must be a number of bytes above zero; got {memory!r}")
        return memory
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
    except (AttributeError, ValueError, OSError):  # unknown on this system
        return np.inf
