"""The contract of an engine, and :func:`open_engine` for all of them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from joblib import cpu_count, effective_n_jobs, parallel_config

from tamis.base.errors import TamisError
from tamis.base.parallel import one_thread

Result = TypeVar("Result")

#: ``work(task, data)``; a function that can be pickled.
Work: TypeAlias = Callable[[Any, Any], Result]

#: Times that a task is started again after its worker died.
CHANCES = 3

#: ``time.monotonic()`` at which a task should stop, with the results it has.
deadline: ContextVar[float | None] = ContextVar("deadline", default=None)

_KNOWN = "serial, local, local(3) for three processes, or dask://host:port"


class Lost(TamisError):  # noqa: N818 - a result, returned and never raised
    """Returned instead of a result: every worker that tried the task died."""

    def __init__(self, number: int, deaths: int) -> None:
        super().__init__(f"task {number + 1}: the worker died each of the {deaths} times that it was tried")
        self.number, self.deaths = number, deaths

    def __reduce__(self) -> tuple[type["Lost"], tuple[int, int]]:
        return type(self), (self.number, self.deaths)


class Engine(AbstractContextManager[Any], Protocol):
    """Runs tasks on data that every worker receives once; a context manager that closes itself."""

    @property
    def workers(self) -> int:
        """Tasks that run at a time."""

    @property
    def per_machine(self) -> int:
        """Tasks that run at a time on one machine, at most: they share its memory."""

    def run(
        self, work: Work[Result], tasks: Sequence[Any], *, until: float | None = None, hard: float | None = None
    ) -> Iterator[tuple[int, Result | Lost]]:
        """(number of the task, ``work(task, data)``) for every task, in the order in which they finish.

        An error of `work` is raised here and ends the run. A task whose worker dies is started again elsewhere, at most
        ``CHANCES`` times; then its result is a :class:`Lost`. Dropping the iterator ends the run.

        `until` is the ``time.monotonic()`` after which no task starts and running ones stop at their next step
        (:data:`deadline`), `hard` the one at which running tasks are abandoned, without a result.
        """

    def close(self) -> None:
        """End the workers that the engine started and remove its files."""


def open_engine(name: str | None, data: Any, *, n_jobs: int = 1) -> Engine:
    """Open an engine on the data of its tasks.

    Parameters
    ----------
    name : str or None
        ``serial``; ``local`` for one process a core, ``local(3)`` for three; ``dask://host:port`` for the workers of a
        scheduler. ``local(1)`` is this process. None takes `n_jobs` local processes, which start only when they save
        more time than starting takes.
    data : object
        Anything that can be pickled.
    n_jobs : int, default=1
        Processes when `name` is None, -1 for all cores, and never more than cores.

    Returns
    -------
    Engine

    Examples
    --------
    >>> with open_engine("serial", 10) as engine:
    ...     sorted(engine.run(pow, [2, 3]))
    [(0, 1024), (1, 59049)]
    """
    from tamis.engines.local import LocalEngine
    from tamis.engines.serial import SerialEngine

    if name is None:
        workers = max(1, min(effective_n_jobs(n_jobs), cpu_count()))
        return SerialEngine(data) if workers == 1 else LocalEngine(data, workers, at_once=False)
    if name == "serial":
        return SerialEngine(data)
    if found := re.fullmatch(r"local(?:\(([1-9]\d*)\))?", name):
        workers = int(found[1] or cpu_count())
        return SerialEngine(data) if workers == 1 else LocalEngine(data, workers)
    if found := re.fullmatch(r"dask://([^/?#@\s]+:\d+)", name):
        from tamis.engines.dask import DaskEngine

        return DaskEngine(f"tcp://{found[1]}", data)
    raise TamisError(f"engine must be {_KNOWN}; got {name!r}")


class Closing(AbstractContextManager[Any]):
    """A context manager that closes itself."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Free what is held."""


def perform(work: Work[Result], task: Any, data: Any, until: float | None) -> Result:
    """``work(task, data)`` with its deadline, on one thread because sums may depend on the number of threads."""
    token = deadline.set(until)
    try:
        with one_thread():
            return work(task, data)
    finally:
        deadline.reset(token)


def perform_in_worker(work: Work[Result], task: Any, data: Any, until: float | None) -> Result:
    """The same in a worker process, which starts no other processes."""
    with parallel_config(backend="sequential"):
        return perform(work, task, data, until)
