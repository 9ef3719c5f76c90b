"""The tasks of a piece shared among processes, with progress."""

from collections.abc import Callable, Sequence
from typing import TypeVar, TypeVarTuple

from joblib import effective_n_jobs

from tamis.base.parallel import run_all
from tamis.reproduce.framework.study import Task

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


def run_shared(work: Callable[[*Arguments], Result], tasks: Sequence[tuple[*Arguments]], task: Task) -> list[Result]:
    """``work(*one)`` for one after the other of `tasks`, as many at a time as `task` has processes."""
    at_once = effective_n_jobs(task.n_jobs)
    found: list[Result] = []
    for first in range(0, len(tasks), at_once):
        found += run_all(work, tasks[first : first + at_once], task.n_jobs)
        task.progress(len(found), len(tasks))
    return found
