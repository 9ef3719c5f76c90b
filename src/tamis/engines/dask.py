"""The Dask engine: tasks on the workers of a Dask scheduler."""

import logging
import pickle
import queue
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

#: Seconds to connect to the scheduler, handshake included.
_TIMEOUT = 10.0

#: Seconds in which the scheduler, and a worker at its first task, must answer.
_SILENT = 60.0

#: Seconds without a sign of life, which Dask's workers give every second, until a worker counts as dead.
_HUNG = 180.0

#: Seconds between two looks at the signs of life.
_LOOK = 2.0

#: Bytes of data that reach a worker in a second, at least.
_SLOWEST = 1_000_000

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
            self._client = _within(
                _TIMEOUT + _QUIET,
                f"the Dask scheduler at {self._place}",
                lambda: dask.Client(address, timeout=_TIMEOUT, set_as_default=False, name="tamis"),
            )
        except SilentError as error:
            raise TamisError(f"{error}; is it a Dask scheduler?") from None
        except OSError as error:
            raise TamisError(f"no Dask scheduler found at {self._place}") from error
        except Exception as error:  # whatever Dask makes of another protocol
            what = str(error).partition("\n")[0]
            raise TamisError(f"what answers at {self._place} is no Dask scheduler of this version ({what})") from error
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
                left = _TICK if hard is None else hard - time.monotonic()
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
                futures = [one.future for one in run.submitted.values()]
                with suppress(OSError, SilentError):
                    _within(_TIMEOUT, f"the Dask scheduler at {self._place}", lambda: self._client.cancel(futures))

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
            except (TimeoutError, SilentError):
                return  # the workers have gone
            number = run.waiting.popleft()
            # One task for one worker: when it dies, the task is known.
            future = self._client.submit(_perform, run.packed(number), data, run.left, pure=False, workers=[worker])
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
                packed = _pack(self._data)
                (self._packed,) = _within(
                    _SILENT + len(packed) / _SLOWEST,
                    "a worker of the Dask cluster",
                    lambda: self._client.scatter([packed], hash=False),
                    quiet=_SILENT,
                )
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
        return self.until is not None and time.monotonic() >= self.until

    @property
    def left(self) -> float | None:
        """Seconds left; the clocks of other machines show other times."""
        return None if self.until is None else self.until - time.monotonic()

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
        #: The last sign of life of each worker, and when it was new here.
        self._signs: dict[str, tuple[float, float]] = {}
        self._looked = 0.0

    def there(self) -> set[str]:
        """The addresses of workers that can take tasks; an error when there have been none for long."""
        present = self._ask(lambda: set(self._client.nthreads())) - self._hung()
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
        try:
            versions = self._versions(new, _SILENT)
        except SilentError:
            versions = {}
            for worker in new:
                try:
                    versions |= self._versions([worker], _TIMEOUT)
                except SilentError as error:
                    self.refused[worker] = str(error)
                    if not first:
                        warnings.warn(f"{error}: it gets no tasks", stacklevel=2)
        for worker, version in versions.items():
            if version == own:
                self._accepted.add(worker)
            elif not isinstance(version, OSError):  # OSError: the worker has just gone
                has = f"cannot import it ({version})" if isinstance(version, Exception) else f"has {version}"
                self.refused[worker] = f"this is tamis {own} and the worker at {worker} {has}"
                if not first:
                    warnings.warn(f"{self.refused[worker]}: it gets no tasks", stacklevel=2)

    def _versions(self, workers: Collection[str], seconds: float) -> dict[str, Any]:
        who = f"the worker at {next(iter(workers))}" if len(workers) == 1 else f"one of {len(workers)} Dask workers"
        found: dict[str, Any] = _within(
            seconds, who, lambda: self._client.run(_version(), workers=list(workers), on_error="return")
        )
        return found

    def _ask(self, question: Callable[[], Any]) -> Any:
        """What the scheduler answers; an error when it says nothing for long."""
        return _within(_SILENT, f"the Dask scheduler at {self._place}", question)

    def _hung(self) -> set[str]:
        """Workers without a sign of life for long: stopped, or cut off without a word."""
        now = time.monotonic()
        if now - self._looked > _LOOK:
            self._looked = now
            known = self._ask(lambda: self._client.sync(self._client.scheduler.identity))["workers"]
            before = self._signs
            self._signs = {
                worker: before[worker]
                if worker in before and before[worker][0] == one["last_seen"]
                # Not now: an answer may have been long in coming.
                else (one["last_seen"], time.monotonic())
                for worker, one in known.items()
            }
        hung = {worker for worker, (_, when) in self._signs.items() if now - when > _HUNG}
        for worker in hung & self._accepted:
            # When it lives again, it is asked for its version again.
            self._accepted.discard(worker)
            warnings.warn(
                f"the worker at {worker} has given no sign of life for {_HUNG:.0f} s: its task goes to another one",
                stacklevel=2,
            )
        return hung

    def _wait(self) -> None:
        now = time.monotonic()
        self._empty = self._empty or now
        if now - self._empty > _PATIENCE:
            raise TamisError(
                f"the Dask scheduler at {self._place} has had no workers for {_PATIENCE:.0f} s: "
                f"start one with 'dask worker tcp://{self._place} --nthreads 1'"
            )
        if now - self._empty > _QUIET and not self._warned:
            self._warned = True
            warnings.warn(f"the Dask scheduler at {self._place} has no workers: waiting for one", stacklevel=2)


class SilentError(TamisError):
    """Somebody who was asked has not answered in time."""


def _within(seconds: float, who: str, question: Callable[[], Any], *, quiet: float | None = None) -> Any:
    """What a function returns, which waits for `who`; an error after some seconds, and before it a warning.

    The thread that waits is left behind then: Dask has questions that nothing can end.
    """
    answer: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answer.put((True, question()))
        except BaseException as error:
            answer.put((False, error))

    threading.Thread(target=ask, daemon=True).start()
    patience = min(_QUIET if quiet is None else quiet, seconds)
    try:
        good, found = answer.get(timeout=patience)
    except queue.Empty:
        if patience < seconds:
            warnings.warn(
                f"{who} has not answered for {patience:.0f} s: waiting for it, {seconds:.0f} s at most", stacklevel=3
            )
        try:
            good, found = answer.get(timeout=seconds - patience)
        except queue.Empty:
            raise SilentError(f"{who} has not answered for {seconds:.0f} s") from None
    if good:
        return found
    raise found


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


def _perform(packed: bytes, data: Any, left: float | None) -> tuple[bool, Any]:
    """Run a task in a worker, which has some seconds left: whether it was started, and its result."""
    until = None if left is None else time.monotonic() + left
    with _turn:
        if until is not None and time.monotonic() >= until:
            return False, None
        work, task = pickle.loads(packed)
        return True, perform_in_worker(work, task, data, until)
