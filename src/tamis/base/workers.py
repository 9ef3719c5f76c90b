"""Tasks run side by side, with one result whatever the number of workers."""

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from time import perf_counter
from typing import Any, TypeVar

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")

#: Seconds that starting workers takes: a process each, and everything imported in it.
_STARTING = 3.0

#: Seconds after which a first task is a long one.
_PATIENCE = 0.7

#: Tasks for each worker from which on it costs little to do one before they start.
_MANY = 4


def run_all(work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None = None) -> list[Result]:
    """``work(*task)`` for every task, in the order of the tasks.

    Within a task the linear algebra libraries run on one thread, because their sums may depend on the number of
    threads. What the tasks warn of is said again here, each thing once: a worker's own voice is not heard.

    Parameters
    ----------
    work : callable
        A function that can be pickled.
    tasks : iterable of tuples
        The arguments of each task.
    n_jobs : int, optional
        Processes, as in scikit-learn.

    Examples
    --------
    >>> run_all(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    done = Parallel(n_jobs=n_jobs)(delayed(_run)(work, task) for task in tasks)
    for category, said in dict.fromkeys(warning for _, warned in done for warning in warned):
        warnings.warn(said, category, stacklevel=2)
    return [result for result, _ in done]


def stream(work: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], n_jobs: int = 1) -> Iterator[Result]:
    """The results of tasks in the order of the tasks, each as soon as it is there; large arrays are not copied.

    To start workers takes seconds. Where there are many tasks the first ones are therefore done here, and workers are
    started only when by their time they will save more than that. `work` itself sees to threads and warnings.

    Parameters
    ----------
    work : callable
        A function that can be pickled.
    tasks : sequence of tuples
    n_jobs : int
        Processes, as in scikit-learn.
    """
    workers = min(effective_n_jobs(n_jobs), len(tasks))
    if workers == 1:
        yield from (work(*task) for task in tasks)
        return
    start, here = perf_counter(), 0
    if len(tasks) >= _MANY * workers:
        # When the first task takes a while the workers get up meanwhile.
        waking = threading.Timer(_PATIENCE, _wake, (n_jobs, work.__module__))
        waking.daemon = True
        waking.start()
        for here, task in enumerate(tasks, 1):
            yield work(*task)
            if (perf_counter() - start) / here * (len(tasks) - here) * (1 - 1 / workers) > _STARTING:
                break
        waking.cancel()
    yield from Parallel(n_jobs=n_jobs, return_as="generator")(delayed(work)(*task) for task in tasks[here:])


def _run(work: Callable[..., Result], task: tuple[Any, ...]) -> tuple[Result, list[tuple[type[Warning], str]]]:
    with one_thread(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = work(*task)
    return result, [(warning.category, str(warning.message)) for warning in warned]


def _wake(n_jobs: int, module: str) -> None:
    """Start the workers and let each import what the tasks will need."""
    Parallel(n_jobs=n_jobs)(delayed(_import)(module) for _ in range(effective_n_jobs(n_jobs)))


def _import(module: str) -> None:
    import_module(module)


def one_thread() -> AbstractContextManager[Any]:
    """Within it the linear algebra libraries run on one thread."""
    return _controller().limit(limits=1)


@cache
def _controller() -> ThreadpoolController:
    # To find the libraries takes longer than a small task.
    return ThreadpoolController()
