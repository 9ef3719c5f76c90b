"""The contract of an engine, and the door to all of them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Protocol, Self, TypeVar

from joblib import cpu_count, effective_n_jobs, parallel_config

from tamis.base.errors import TamisError
from tamis.base.parallel import one_thread

Result = TypeVar("Result")

#: Times that a task is begun again after the death of the worker that had it.
CHANCES = 3

#: The time (that of the clock on the wall) at which a task should stop, with the results it has.
deadline: ContextVar[float | None] = ContextVar("deadline", default=None)

_KNOWN = "serial, local, local(3) for so many processes, or dask://host:port"


class Lost(TamisError):  # noqa: N818 - a result, returned and never raised
    """In place of a result: the task ended every worker that tried it."""

    def __init__(self, number: int, deaths: int) -> None:
        super().__init__(f"task {number + 1}: the worker died each of the {deaths} times that it was tried")
        self.number, self.deaths = number, deaths

    def __reduce__(self) -> tuple[type["Lost"], tuple[int, int]]:
        return type(self), (self.number, self.deaths)


class Engine(AbstractContextManager[Any], Protocol):
    """Runs tasks on data that every worker has been given once. As a context it is closed at the end."""

    @property
    def workers(self) -> int:
        """Tasks that run at a time."""

    def run(
        self,
        work: Callable[[Any, Any], Result],
        tasks: Sequence[Any],
        *,
        until: float | None = None,
        hard: float | None = None,
    ) -> Iterator[tuple[int, Result | Lost]]:
        """(number of the task, ``work(task, data)``) for every task, in the order in which they finish.

        An error of `work` is raised here and ends the run. A task whose worker dies is begun again elsewhere, at most
        ``CHANCES`` times; then its result is a :class:`Lost`. When the iterator is dropped the rest is not done.

        Parameters
        ----------
        work : callable
            A function that can be pickled.
        tasks : sequence
        until : float, optional
            ``time.time()`` after which no task is begun and running ones stop at their next step (:data:`deadline`).
        hard : float, optional
            ``time.time()`` at which tasks that still run are given up; they are not among the results.
        """

    def close(self) -> None:
        """End the workers that were started here and remove what was written for them."""


def open_engine(name: str | None, data: Any, *, n_jobs: int = 1) -> Engine:
    """Open an engine with the data that its tasks work on.

    Parameters
    ----------
    name : str or None
        ``serial``; ``local`` for a process a core, ``local(3)`` for three of them; ``dask://host:port`` for the workers
        of a scheduler. One local process is this one. None takes `n_jobs` processes of this machine, which are started
        only when they will save more time than starting them takes.
    data : object
        Anything that can be pickled.
    n_jobs : int, default=1
        Without a name: processes, -1 for all cores, and never more than cores.

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
    raise TamisError(f"there is no engine {name!r}: take {_KNOWN}")


class Closing(AbstractContextManager[Any]):
    """What is closed at the end of a context."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End what was begun."""


def perform(work: Callable[[Any, Any], Result], task: Any, data: Any, until: float | None) -> Result:
    """``work(task, data)`` on one thread, because sums may depend on their number, with its deadline made known."""
    token = deadline.set(until)
    try:
        with one_thread():
            return work(task, data)
    finally:
        deadline.reset(token)


def perform_in_worker(work: Callable[[Any, Any], Result], task: Any, data: Any, until: float | None) -> Result:
    """The same in a process that was started for it, which starts no others."""
    with parallel_config(backend="sequential"):
        return perform(work, task, data, until)
