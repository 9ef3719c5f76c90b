"""Tasks run in parallel, with one result whatever the number of workers."""

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib import import_module
from time import perf_counter
from typing import Any, TypeVar, TypeVarTuple

from joblib import cpu_count, effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

#: Seconds that starting workers costs: a process each, everything imported and every kernel loaded in it.
_STARTING = 5.0

#: Seconds after which a task is a long one.
_LONG = 2.0


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
    done = Parallel(n_jobs=n_jobs)(delayed(_run)(work, task) for task in tasks)
    for category, message in dict.fromkeys(warning for _, warned in done for warning in warned):
        warnings.warn(message, category, stacklevel=2)
    return [result for result, _ in done]


def stream(
    work: Callable[[*Arguments], Result], tasks: Sequence[tuple[*Arguments]], n_jobs: int = 1
) -> Iterator[Result]:
    """The results of tasks in the order of the tasks, each as soon as it is there; large arrays are not copied.

    To start workers takes seconds. Where there are more tasks than workers the first ones are therefore done here, and
    workers are started only when by the time of these they will save more than that; until they are there the work
    goes on here. There are never more of them than cores. `work` itself sees to threads and warnings.

    Parameters
    ----------
    work : callable
        A function that can be pickled.
    tasks : sequence of tuples
    n_jobs : int
        Processes, as in scikit-learn.
    """
    workers = max(1, min(effective_n_jobs(n_jobs), cpu_count(), len(tasks)))
    expect_replacements()
    here = 0
    if workers < len(tasks):
        crew = _Crew(workers, work.__module__)
        start = perf_counter()
        for here, task in enumerate(tasks, 1):
            with crew.expected(here == 1 and workers > 1):
                result = work(*task)
            yield result
            left = (perf_counter() - start) / here * (len(tasks) - here)
            if left * (1 - 1 / workers) > _STARTING:
                crew.call()
            if crew.there:
                break
    yield from Parallel(n_jobs=workers, return_as="generator")(delayed(work)(*task) for task in tasks[here:])


def expect_replacements() -> None:
    """Ignore warnings about worker processes that the pool replaces because their memory has grown: no task is lost.

    The filter stays on, because the pool warns from its own thread, perhaps after the call has returned.
    """
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)


class _Crew:
    """Workers that get up while there is other work.

    Parameters
    ----------
    workers : int
    module : str
        What each of them imports.
    """

    def __init__(self, workers: int, module: str) -> None:
        self._workers, self._module = workers, module
        self._called = threading.Event()
        self._up = threading.Event()

    @property
    def there(self) -> bool:
        """Whether they can take tasks."""
        return self._up.is_set()

    def call(self) -> None:
        """Let them get up, in the background."""
        if not self._called.is_set():
            self._called.set()
            threading.Thread(target=self._get_up, daemon=True).start()

    @contextmanager
    def expected(self, wanted: bool) -> Iterator[None]:
        """Call them when what is done meanwhile takes long."""
        timer = threading.Timer(_LONG, self.call)
        timer.daemon = True
        if wanted:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _get_up(self) -> None:
        Parallel(n_jobs=self._workers)(delayed(_import)(self._module) for _ in range(self._workers))
        self._up.set()


def _import(module: str) -> None:
    import_module(module)


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
