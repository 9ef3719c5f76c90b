"""Who computes: this process, processes of this machine, or a Dask cluster; the answers are the same."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from joblib import cpu_count, parallel_config

from tamis.base.errors import TamisError
from tamis.base.parallel import one_thread
from tamis.validation.execute.walk import deadline

Result = TypeVar("Result")

#: Times that a task is begun again after the death of the worker that had it.
CHANCES = 3

_KNOWN = "serial, local, local(3) for so many processes, or dask://host:port"


class Lost(TamisError):  # noqa: N818 - a result, returned and never raised
    """In place of a result: the task ended every worker that tried it."""

    def __init__(self, number: int, deaths: int) -> None:
        super().__init__(f"task {number + 1}: the worker died each of the {deaths} times that it was tried")
        self.number, self.deaths = number, deaths

    def __reduce__(self) -> tuple[type["Lost"], tuple[int, int]]:
        return type(self), (self.number, self.deaths)


class Engine(Protocol):
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
            ``time.time()`` after which no task is begun and running walks stop at their next step.
        hard : float, optional
            ``time.time()`` at which tasks that still run are given up; they are not among the results.
        """

    def close(self) -> None:
        """End the workers that were started here and remove what was written for them."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_engine(name: str, data: Any, *, workers: int | None = None) -> Engine:
    """The engine of a name, with the data that its tasks work on.

    Parameters
    ----------
    name : str
        ``serial``; ``local`` for a process a core, ``local(3)`` for three of them; ``dask://host:port`` for the workers
        of a scheduler. One local process is this one.
    data : object
        Anything that can be pickled.
    workers : int, optional
        Processes of ``local``, whatever its name says.

    Examples
    --------
    >>> with open_engine("serial", 10) as engine:
    ...     sorted(engine.run(pow, [2, 3]))
    [(0, 1024), (1, 59049)]
    """
    if workers is not None and workers < 1:
        raise TamisError(f"workers must be 1 or more; got {workers}")
    if name == "serial":
        return SerialEngine(data)
    if found := re.fullmatch(r"local(?:\(([1-9]\d*)\))?", name):
        workers = workers or int(found[1] or cpu_count())
        if workers == 1:
            return SerialEngine(data)
        from tamis.mining.local import LocalEngine

        return LocalEngine(data, workers)
    if found := re.fullmatch(r"dask://([^/?#@\s]+:\d+)", name):
        from tamis.mining.cluster import DaskEngine

        return DaskEngine(f"tcp://{found[1]}", data)
    raise TamisError(f"there is no engine {name!r}: take {_KNOWN}")


class Closing:
    """An engine as a context."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what was begun."""


class SerialEngine(Closing):
    """One task after the other, in this process; a running task cannot be given up.

    Parameters
    ----------
    data : object
    """

    workers = 1

    def __init__(self, data: Any) -> None:
        self._data = data

    def run(
        self,
        work: Callable[[Any, Any], Result],
        tasks: Sequence[Any],
        *,
        until: float | None = None,
        hard: float | None = None,
    ) -> Iterator[tuple[int, Result | Lost]]:
        """See :meth:`Engine.run`."""
        ends = [end for end in (until, hard) if end is not None]
        for number, task in enumerate(tasks):
            if ends and time.time() >= min(ends):
                return
            yield number, perform(work, task, self._data, until)


def perform(work: Callable[[Any, Any], Result], task: Any, data: Any, until: float | None) -> Result:
    """``work(task, data)`` on one thread, in one process, with the time at which it should stop made known to it."""
    token = deadline.set(until)
    try:
        with one_thread(), parallel_config(backend="sequential"):
            return work(task, data)
    finally:
        deadline.reset(token)
