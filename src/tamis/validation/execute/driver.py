"""The driver: takes models through splits, task by task, on whatever engine there is.

Everything that evaluates models - validation, nested validation, the learning curve, the search - hands them to a
:class:`Driver`. Estimators travel to the workers; the data has been given to each of them once.
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

#: Results of one model in the order of the splits, or the first error it met.
Outcome = list[FoldResult] | TamisError


class Driver(Closing):
    """Evaluates models on splits of one data set. As a context it ends its workers at the end.

    Parameters
    ----------
    data : Dataset
    seed : int, default=0
        The seed of the run.
    engine : str, optional
        Who computes, by name (:func:`tamis.engines.engine.open_engine`), in place of `n_jobs`.
    n_jobs : int, default=1
        Processes, -1 for all cores. The results do not depend on it, nor on the engine.
    memory : float, optional
        Bytes that the rows which models share may take in all processes together. Beyond that, rows of earlier steps
        are given up and made again when their turn comes. By default half of the machine's memory.
    """

    def __init__(
        self, data: Dataset, *, seed: int = 0, engine: str | None = None, n_jobs: int = 1, memory: float | None = None
    ) -> None:
        limit = memory_limit(memory)
        self._data, self._seed = data, seed
        self._engine = open_engine(engine, _Held(data), n_jobs=n_jobs)
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
        wanted = frozenset(range(merged.n_models)) if wanted is None else wanted
        return FoldTask(merged, wanted, split, metrics, self._seed, self._memory)

    def execute(
        self, tasks: Sequence[FoldTask], *, until: float | None = None, hard: float | None = None
    ) -> Iterator[tuple[int, dict[int, Finding]]]:
        """(number of the task, what came of each of its models) for every task, in the order in which they finish.

        `until` and `hard` are those of :meth:`tamis.engines.engine.Engine.run`; when time runs out within a task, fewer
        of its models have a result.
        """
        for number, found in self._engine.run(_evaluated, tasks, until=until, hard=hard):
            yield number, dict.fromkeys(tasks[number].wanted, found) if isinstance(found, Lost) else found

    def outcomes(
        self,
        models: Sequence[Any],
        splits: Sequence[Split],
        *,
        metrics: Sequence[Metric] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Outcome]:
        """The outcome of every model: its results in the order of the splits, or the first error it met.

        Parameters
        ----------
        models : sequence of estimators
        splits : sequence of Split
        metrics : sequence of Metric, optional
            By default all that the predictions allow; an empty one computes none.
        progress : callable, optional
            Called with the number of results that are there and the number in all.
        """
        merged = plan(models)
        # So many portions that all workers have something to do.
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
        """The error, with the remedy in front where it comes from what a model of plain numbers cannot take."""
        unreadable = any(word in str(error) for word in ("NaN", "convert", "NoneType"))
        if not unreadable or not (remedy := self._data.remedy):
            return error
        found = TamisError(f"{remedy} ({error})")
        found.__cause__ = error
        return found


def expect_results(outcomes: Iterable[Outcome]) -> list[list[FoldResult]]:
    """The outcomes of models that are expected to work: the first error is raised."""
    found = []
    for outcome in outcomes:
        if isinstance(outcome, TamisError):
            raise outcome
        found.append(outcome)
    return found


def warn_again(results: Iterable[FoldResult]) -> None:
    """Warn of what the folds warned of, each thing once: a worker's own warnings are not seen."""
    for category, message in dict.fromkeys(warning for result in results for warning in result.warnings):
        warnings.warn(message, category, stacklevel=3)


class _Held:
    """What every worker has: the data, and what its tasks have prepared on rows that they come back to."""

    def __init__(self, data: Dataset) -> None:
        self.data, self.cache = data, PreparationCache()


def _evaluated(task: FoldTask, held: _Held) -> dict[int, Finding]:
    return run_fold(task, held.data, held.cache)


def memory_limit(memory: float | None) -> float:
    """Bytes that rows which models share may take, by default half of the machine's memory."""
    if memory is not None:
        if not memory > 0:
            raise TamisError(f"memory must be a number of bytes above zero; got {memory!r}")
        return memory
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
    except (AttributeError, ValueError, OSError):  # where the system does not tell
        return np.inf
