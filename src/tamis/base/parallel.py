"""Tasks run in parallel, with one result whatever the number of workers."""

import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar, TypeVarTuple

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from tamis.kernels.temporary import mark

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


def run_all(
    work: Callable[[*Arguments], Result], tasks: Iterable[tuple[*Arguments]], n_jobs: int | None = None
) -> list[Result]:
    """``work(*task)`` for every task, in the order of the tasks.

    Within a task the linear algebra libraries run on one thread, because their sums may depend on the number of
    threads. Warnings of the tasks are issued again here, each once: those of a worker process would be lost. `work`
    must be picklable; `n_jobs` is as in scikit-learn.

    Examples
    --------
    >>> run_all(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    expect_replacements()
    if effective_n_jobs(n_jobs) > 1:
        mark()
    done = Parallel(n_jobs=n_jobs)(delayed(_run)(work, task) for task in tasks)
    for category, message in dict.fromkeys(warning for _, warned in done for warning in warned):
        warnings.warn(message, category, stacklevel=2)
    return [result for result, _ in done]


def expect_replacements() -> None:
    """Ignore warnings about worker processes that the pool replaces because their memory has grown: no task is lost.

    The filter stays on, because the pool warns from its own thread, perhaps after the call has returned.
    """
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)


def _run(
    work: Callable[[*Arguments], Result], task: tuple[*Arguments]
) -> tuple[Result, list[tuple[type[Warning], str]]]:
    with one_thread(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = work(*task)
    return result, [(warning.category, str(warning.message)) for warning in warned]


def one_thread() -> AbstractContextManager[Any]:
    """A context in which the linear algebra libraries run on one thread."""
    return _controller().limit(limits=1)


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes longer than a small task.
    return ThreadpoolController()
