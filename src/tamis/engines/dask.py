"""The Dask engine: tasks on the workers of a Dask scheduler."""

import logging
import pickle
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

from tamis.base.errors import TamisError
from tamis.engines.engine import CHANCES, Closing, Lost, Result, Work, perform_in_worker

#: Seconds to wait for the scheduler.
_TIMEOUT = 10.0

#: Seconds without any worker until a warning, and until an error.
_QUIET, _PATIENCE = 5.0, 60.0

#: Seconds between two checks of the time and of the workers.
_TICK = 0.25

#: Tasks limit threads and catch warnings for the whole process, so a worker with several threads runs one at a time.
_turn = threading.Lock()


class DaskEngine(Closing):
    """Tasks on the workers of a Dask cluster, one at a time in each of their processes.

    The data reaches every worker once; workers that join later take part and get it from another one. Tasks of a dead
    worker run elsewhere. The cluster itself is left as it was. `address` is ``tcp://host:port`` of the scheduler.
    """

    def __init__(self, address: str, data: Any) -> None:
        dask = _distributed()
        self._place = address.removeprefix("tcp://")
        try:
            self._client = dask.Client(address, timeout=_TIMEOUT, set_as_default=False, name="tamis")
        except OSError as error:
            raise TamisError(f"no Dask scheduler found at {self._place}") from error
        self._cancelled, self._killed = dask.CancelledError, dask.scheduler.KilledWorker
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
        """Processes that can take tasks now."""
        return max(1, len(self._members.there()))

    @property
    def per_machine(self) -> int:
        """The most processes that have one address."""
        hosts = Counter(worker.rpartition(":")[0] for worker in self._members.there())
        return max(hosts.values(), default=1)

    def run(
        self, work: Work[Result], tasks: Sequence[Any], *, until: float | None = None, hard: float | None = None
    ) -> Iterator[tuple[int, Result | Lost]]:
        """See :meth:`tamis.engines.engine.Engine.run`; an abandoned task occupies its worker until it ends."""
        run = _Run(work, tasks, until)
        try:
            while run.submitted or (run.waiting and not run.over):
                there = self._members.there()
                found = self._collect(run, there)
                # Idle workers get a task before the caller handles the results.
                self._hand_out(run, there)
                yield from found
                left = _TICK if hard is None else hard - time.time()
                if left <= 0:
                    return
                if run.submitted or not found:
                    run.bell.wait(min(left, _TICK))
                run.bell.clear()
        except OSError as error:
            if run.failure is not None:
                raise
            raise TamisError(f"the connection to the Dask scheduler at {self._place} is lost") from error
        finally:
            if run.submitted and self._client.status == "running":
                with suppress(OSError):
                    self._client.cancel([one.future for one in run.submitted.values()])

    def close(self) -> None:
        """Leave the cluster."""
        self._copies.forget()
        with suppress(OSError):
            self._client.close(timeout=_TIMEOUT)

    def _hand_out(self, run: "_Run", there: set[str]) -> None:
        """Submit a task to every idle worker."""
        free = there - {one.worker for one in run.submitted.values()}
        while run.waiting and free and not run.over:
            worker = free.pop()
            try:
                data = self._copies.at(worker)
            except TimeoutError:
                return  # the workers have gone
            number = run.waiting.popleft()
            # One task for one worker: when it dies, the task is known.
            future = self._client.submit(_perform, run.packed(number), data, run.until, pure=False, workers=[worker])
            run.submitted[number] = _Submitted(future, worker)
            future.add_done_callback(lambda _: run.bell.set())

    def _collect(self, run: "_Run", there: set[str]) -> list[tuple[int, Any]]:
        """The finished results; tasks of lost workers wait again."""
        self._copies.keep(there)
        found: list[tuple[int, Any]] = []
        for number, one in list(run.submitted.items()):
            status = one.future.status
            dead = one.worker not in there
            error = one.future.exception() if status == "error" else None
            if error is not None and not isinstance(error, self._killed):
                run.failure = error
                one.future.result()
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
                    begun, result = one.future.result(timeout=_PATIENCE)
                except (TimeoutError, self._cancelled):
                    continue  # lost on its way
                if begun:
                    found.append((number, result))
            else:
                continue
            del run.submitted[number]
        return found


class _Copies:
    """The data on the workers: packed on one of them, unpacked once on each that needs it.

    Dask removes surplus copies of one object; each worker's copy is therefore an object of its own.
    """

    def __init__(self, client: Any, data: Any) -> None:
        self._client, self._data = client, data
        self._packed: Any = None
        self._unpacked: dict[str, Any] = {}

    def at(self, worker: str) -> Any:
        """The data on a worker, which is sent there first if needed."""
        if worker not in self._unpacked or self._unpacked[worker].status == "cancelled":
            if self._packed is None or self._packed.status != "finished":
                (self._packed,) = self._client.scatter([_pack(self._data)], hash=False)
            self._unpacked[worker] = self._client.submit(pickle.loads, self._packed, pure=False, workers=[worker])
        return self._unpacked[worker]

    def keep(self, workers: Collection[str]) -> None:
        """Forget the copies of other workers."""
        self._unpacked = {worker: data for worker, data in self._unpacked.items() if worker in workers}

    def forget(self) -> None:
        """Release all copies."""
        self._packed, self._unpacked = None, {}


class _Submitted(NamedTuple):
    """A submitted task and its worker."""

    future: Any
    worker: str


class _Run:
    """The state of the tasks of a run."""

    def __init__(self, work: Work[Any], tasks: Sequence[Any], until: float | None) -> None:
        self._work, self._tasks, self.until = work, tasks, until
        self.waiting = deque(range(len(tasks)))
        self.submitted: dict[int, _Submitted] = {}
        #: How many workers died with a task.
        self.deaths: Counter[int] = Counter()
        #: The error that `work` raised.
        self.failure: BaseException | None = None
        self.bell = threading.Event()

    @property
    def over(self) -> bool:
        """Whether no task may start any more."""
        return self.until is not None and time.time() >= self.until

    def packed(self, number: int) -> bytes:
        """A task as bytes, opaque to Dask."""
        return _pack((self._work, self._tasks[number]))


class _Members:
    """The workers of the cluster that have the same version of tamis; `place` is the address of the scheduler."""

    def __init__(self, client: Any, place: str) -> None:
        self._client, self._place = client, place
        self._accepted: set[str] = set()
        #: Why a worker gets no tasks, by address.
        self.refused: dict[str, str] = {}
        self._empty: float | None = None
        self._warned = False

    def there(self) -> set[str]:
        """The addresses of workers that can take tasks; an error when there have been none for long."""
        present = set(self._client.nthreads())
        if new := present - self._accepted - self.refused.keys():
            self._check(new)
        there = present & self._accepted
        if there:
            self._empty, self._warned = None, False
        else:
            self._wait()
        return there

    def _check(self, new: Collection[str]) -> None:
        first = not self._accepted
        own = _version()()
        versions = self._client.run(_version(), workers=list(new), on_error="return")
        for worker, version in versions.items():
            if version == own:
                self._accepted.add(worker)
            elif not isinstance(version, OSError):  # OSError: the worker has just gone
                has = f"cannot import it ({version})" if isinstance(version, Exception) else f"has {version}"
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
        if now - self._empty > _QUIET and not self._warned:
            self._warned = True
            warnings.warn(f"the Dask scheduler at {self._place} has no workers: waiting for one", stacklevel=2)


def _distributed() -> Any:
    """The package ``distributed``, with errors only in its log."""
    try:
        package = import_module("distributed")
    except ImportError as error:
        raise TamisError("an engine dask://host:port needs the package distributed: pip install tamis[dask]") from error
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.ERROR)
    return package


def _pack(thing: Any) -> bytes:
    # As in Dask itself: functions of a script or a notebook travel by value.
    return bytes(import_module("cloudpickle").dumps(thing))


def _version() -> Callable[[], str]:
    # A function inside a function travels by value, also to a worker without tamis.
    def version() -> str:
        return str(import_module("tamis").__version__)

    return version


def _perform(packed: bytes, data: Any, until: float | None) -> tuple[bool, Any]:
    """Run a task in a worker: whether it was started, and its result."""
    with _turn:
        if until is not None and time.time() >= until:
            return False, None
        work, task = pickle.loads(packed)
        return True, perform_in_worker(work, task, data, until)
