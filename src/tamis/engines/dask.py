"""The Dask engine: the workers of a scheduler somewhere in the network."""

import logging
import pickle
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from tamis.base.errors import TamisError
from tamis.engines.engine import CHANCES, Closing, Lost, perform_in_worker

Result = TypeVar("Result")

#: Seconds after which a scheduler that does not answer is not there.
_ANSWER = 10.0

#: Seconds without any worker until that is said, and until it is given up.
_QUIET, _PATIENCE = 5.0, 60.0

#: Seconds between two looks at the clock and at who is there.
_TICK = 0.25

#: Tasks limit threads and catch warnings for the whole process: a worker with several threads has one task at a time.
_turn = threading.Lock()


class DaskEngine(Closing):
    """Tasks on the workers of a Dask cluster, one at a time in each of their processes.

    The data reaches every worker once; one that joins later takes part and gets it from another one. What a worker had
    when it died is done by others. The cluster itself is left as it was found.

    Parameters
    ----------
    address : str
        Of the scheduler, ``tcp://host:port``.
    data : object
    """

    def __init__(self, address: str, data: Any) -> None:
        dask = _distributed()
        self._place = address.removeprefix("tcp://")
        try:
            self._client = dask.Client(address, timeout=_ANSWER, set_as_default=False, name="tamis")
        except OSError as error:
            raise TamisError(f"no Dask scheduler answers at {self._place}") from error
        self._cancelled: type[BaseException] = dask.CancelledError
        self._killed: type[Exception] = dask.scheduler.KilledWorker
        self._members = _Members(self._client, self._place)
        self._copies = _Copies(self._client, data)
        try:
            while not self._members.there() and not self._members.refused:
                time.sleep(_TICK)
            if self._members.refused:
                raise TamisError(next(iter(self._members.refused.values())))
        except BaseException:
            self.close()
            raise

    @property
    def workers(self) -> int:
        """Processes that take tasks now."""
        return max(1, len(self._members.there()))

    def run(
        self,
        work: Callable[[Any, Any], Result],
        tasks: Sequence[Any],
        *,
        until: float | None = None,
        hard: float | None = None,
    ) -> Iterator[tuple[int, Result | Lost]]:
        """See :meth:`tamis.engines.engine.Engine.run`; a task that is given up keeps its worker until it ends."""
        run = _Run(work, tasks, until)
        try:
            while run.held or (run.waiting and not run.over):
                there = self._members.there()
                found = self._collect(run, there)
                # Who is free gets a task before anybody looks at the results.
                self._hand_out(run, there)
                yield from found
                left = _TICK if hard is None else hard - time.time()
                if left <= 0:
                    return
                if run.held or not found:
                    run.bell.wait(min(left, _TICK))
                run.bell.clear()
        except OSError as error:
            if run.failure is not None:
                raise
            raise TamisError(f"the connection to the Dask scheduler at {self._place} is lost") from error
        finally:
            if run.held and self._client.status == "running":
                with suppress(OSError):
                    self._client.cancel([held.future for held in run.held.values()])

    def close(self) -> None:
        """Leave the cluster."""
        self._copies.forget()
        with suppress(OSError):
            self._client.close(timeout=_ANSWER)

    def _hand_out(self, run: "_Run", there: set[str]) -> None:
        """A task for everyone who has none."""
        free = there - {held.worker for held in run.held.values()}
        while run.waiting and free and not run.over:
            worker = free.pop()
            try:
                data = self._copies.at(worker)
            except TimeoutError:
                return  # those who were there have gone
            number = run.waiting.popleft()
            # Only this worker and only this task: when it dies there is no doubt whose task it was.
            future = self._client.submit(_perform, run.packed(number), data, run.until, pure=False, workers=[worker])
            run.held[number] = _Held(future, worker)
            future.add_done_callback(run.ring)

    def _collect(self, run: "_Run", there: set[str]) -> list[tuple[int, Any]]:
        """The results that have come; tasks whose worker has gone wait again."""
        self._copies.keep(there)
        found: list[tuple[int, Any]] = []
        for number, held in list(run.held.items()):
            status = held.future.status
            dead = held.worker not in there
            error = held.future.exception() if status == "error" else None
            if error is not None and not isinstance(error, self._killed):
                run.failure = error
                held.future.result()
            elif dead or error is not None:
                run.deaths[number] += 1
                if run.deaths[number] > CHANCES:
                    found.append((number, Lost(number, run.deaths[number])))
                else:
                    run.waiting.appendleft(number)
            elif status == "cancelled":
                run.waiting.appendleft(number)  # the data was lost before this worker had it
            elif status == "finished":
                try:
                    begun, result = held.future.result(timeout=_PATIENCE)
                except (TimeoutError, self._cancelled):
                    continue  # it was lost on its way
                if begun:
                    found.append((number, result))
            else:
                continue
            del run.held[number]
        return found


class _Copies:
    """The data at the workers: packed at one of them, unpacked once at each that needs it.

    Dask takes away copies of one thing that it finds too many; each worker's own is therefore a result of its own.

    Parameters
    ----------
    client : distributed.Client
    data : object
    """

    def __init__(self, client: Any, data: Any) -> None:
        self._client, self._data = client, data
        self._packed: Any = None
        self._unpacked: dict[str, Any] = {}

    def at(self, worker: str) -> Any:
        """The data at a worker, which gets it first if it has to."""
        if worker not in self._unpacked or self._unpacked[worker].status == "cancelled":
            if self._packed is None or self._packed.status != "finished":
                (self._packed,) = self._client.scatter([_pack(self._data)], hash=False)
            self._unpacked[worker] = self._client.submit(pickle.loads, self._packed, pure=False, workers=[worker])
        return self._unpacked[worker]

    def keep(self, workers: Collection[str]) -> None:
        """Forget those that are gone."""
        self._unpacked = {worker: data for worker, data in self._unpacked.items() if worker in workers}

    def forget(self) -> None:
        """Let the cluster have its memory back."""
        self._packed = None
        self._unpacked = {}


@dataclass(frozen=True, eq=False)
class _Held:
    """A task that is out, and who has it."""

    future: Any
    worker: str


class _Run:
    """Where the tasks of a run are.

    Parameters
    ----------
    work : callable
    tasks : sequence
    until : float or None
    """

    def __init__(self, work: Callable[[Any, Any], Any], tasks: Sequence[Any], until: float | None) -> None:
        self._work, self._tasks, self.until = work, tasks, until
        self.waiting = deque(range(len(tasks)))
        self.held: dict[int, _Held] = {}
        #: How often a worker died of a task.
        self.deaths: Counter[int] = Counter()
        #: What the work itself raised.
        self.failure: BaseException | None = None
        self.bell = threading.Event()

    @property
    def over(self) -> bool:
        """Whether nothing may be begun any more."""
        return self.until is not None and time.time() >= self.until

    def packed(self, number: int) -> bytes:
        """A task as bytes, into which Dask does not look."""
        return _pack((self._work, self._tasks[number]))

    def ring(self, _: Any) -> None:
        """Say that a task has ended."""
        self.bell.set()


class _Members:
    """Who belongs to the cluster and has the tamis that is used here.

    Parameters
    ----------
    client : distributed.Client
    place : str
        Where the scheduler is.
    """

    def __init__(self, client: Any, place: str) -> None:
        self._client, self._place = client, place
        self._taken: set[str] = set()
        #: Why a worker gets no tasks, by its address.
        self.refused: dict[str, str] = {}
        self._empty: float | None = None
        self._said = False

    def there(self) -> set[str]:
        """The addresses of those that can take tasks; it is an error when nobody has been there for long."""
        present = set(self._client.nthreads())
        if new := present - self._taken - self.refused.keys():
            self._ask(new)
        there = present & self._taken
        if there:
            self._empty, self._said = None, False
        else:
            self._wait()
        return there

    def _ask(self, new: Collection[str]) -> None:
        first = not self._taken
        own = _version()()
        answers = self._client.run(_version(), workers=list(new), on_error="return")
        for worker, answer in answers.items():
            if answer == own:
                self._taken.add(worker)
            elif not isinstance(answer, OSError):  # which is the answer of one that has just gone
                has = f"cannot import it ({answer})" if isinstance(answer, Exception) else f"has {answer}"
                self.refused[worker] = f"this is tamis {own} and the worker at {worker} {has}"
                if not first:
                    warnings.warn(f"{self.refused[worker]}: it gets no tasks", stacklevel=2)

    def _wait(self) -> None:
        now = time.time()
        self._empty = self._empty or now
        if now - self._empty > _PATIENCE:
            raise TamisError(
                f"the Dask scheduler at {self._place} has had no workers for {_PATIENCE:.0f} s: "
                f"start one with 'dask worker tcp://{self._place} --nthreads 1'"
            )
        if now - self._empty > _QUIET and not self._said:
            self._said = True
            warnings.warn(f"the Dask scheduler at {self._place} has no workers: waiting for one", stacklevel=2)


def _distributed() -> Any:
    """The package, without its voice."""
    try:
        package = import_module("distributed")
    except ImportError as error:
        raise TamisError("an engine dask://host:port needs the package distributed: pip install tamis[dask]") from error
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.ERROR)
    return package


def _pack(thing: Any) -> bytes:
    # As Dask itself does it: functions of a script or a notebook travel by value.
    return bytes(import_module("cloudpickle").dumps(thing))


def _version() -> Callable[[], str]:
    # A function inside a function travels by value: a worker without tamis can be asked too.
    def version() -> str:
        return str(import_module("tamis").__version__)

    return version


def _perform(packed: bytes, data: Any, until: float | None) -> tuple[bool, Any]:
    """Whether the task was begun, and its result; in a worker."""
    with _turn:
        if until is not None and time.time() >= until:
            return False, None
        work, task = pickle.loads(packed)
        return True, perform_in_worker(work, task, data, until)
