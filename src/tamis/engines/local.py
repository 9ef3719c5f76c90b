"""The local engine: processes of this machine that map the data from one file."""

import os
import queue
import shutil
import signal
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor
from joblib.externals.loky.backend import resource_tracker
from joblib.externals.loky.process_executor import ShutdownExecutorError, TerminatedWorkerError

from tamis.base.errors import TamisError
from tamis.base.parallel import expect_replacements
from tamis.engines.engine import CHANCES, Closing, Lost, Result, Work, perform, perform_in_worker
from tamis.kernels.temporary import SHARED_MEMORY, make_folder

#: One thread for every library with its own threads; read when they are loaded.
_ONE_THREAD = {
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "NUMEXPR")},
    "VECLIB_MAXIMUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
}

#: Free bytes that shared memory needs to be used.
_ROOM = 2 << 30

#: Seconds after which an idle process ends; the next task starts another one.
_IDLE = 600.0

#: Seconds between two checks of the time, or of the parent process.
_TICK = 0.25

#: Processes of one worker that may die before they are ready.
_STARTS = 3

#: Seconds to start the processes, which import everything and load every kernel.
_STARTING = 5.0

#: Seconds after which the first task is long and the processes start.
_LONG = 2.0


class LocalEngine(Closing):
    """Tasks in processes of this machine, which start with the first run.

    The data is written once to a folder, in shared memory where there is room. Large arrays are mapped from it, so that
    all processes share one copy; what a process writes to them is private.

    Parameters
    ----------
    data : object
    workers : int
    at_once : bool, default=True
        Start the processes first. Otherwise this process begins with the tasks, and the others start when, by the time
        that the first tasks take, they save more than starting costs.
    """

    def __init__(self, data: Any, workers: int, *, at_once: bool = True) -> None:
        self.workers = self.per_machine = workers
        self._data, self._at_once = data, at_once
        self._crew = [_Worker() for _ in range(workers)]
        self._remove: Callable[[], Any] | None = None
        self._path = ""
        self._writing = threading.Lock()
        self._run: _Run | None = None

    def run(
        self, work: Work[Result], tasks: Sequence[Any], *, until: float | None = None, hard: float | None = None
    ) -> Iterator[tuple[int, Result | Lost]]:
        """See :meth:`tamis.engines.engine.Engine.run`; a run ends the one before it."""
        if self._run is not None:
            _stop(self._run, self._crew)
        if not tasks:
            return
        expect_replacements()
        run = self._run = _Run(work, tasks, until, self._crew[: len(tasks)], self._written)
        here = 0
        try:
            if self._at_once:
                run.start()
            else:
                here = yield from self._begin_here(run)
            yield from self._results(run, len(tasks) - here, hard)
        finally:
            if self._run is run:
                _stop(run, run.crew)
                self._run = None

    def close(self) -> None:
        """End the processes and remove the folder."""
        if self._run is not None:
            self._run.stopped.set()
        for worker in self._crew:
            worker.end()
        with self._writing:
            if self._remove is not None:
                self._remove()
                self._remove = None

    def _begin_here(self, run: "_Run") -> Generator[tuple[int, Any], None, int]:
        """Run tasks in this process until the workers are up, which start when that pays; returns how many were run."""
        done, begin = 0, time.perf_counter()
        timer = threading.Timer(_LONG, run.start)
        timer.daemon = True
        timer.start()
        try:
            while not all(worker.is_up for worker in run.crew):
                number = run.take()
                if number is None:
                    return done
                yield number, perform(run.work, run.tasks[number], self._data, run.until)
                timer.cancel()
                done += 1
                left = (time.perf_counter() - begin) / done * run.n_waiting
                if left * (1 - 1 / self.workers) > _STARTING:
                    run.start()
        finally:
            timer.cancel()
        run.start()
        return done

    @staticmethod
    def _results(run: "_Run", left: int, hard: float | None) -> Iterator[Any]:
        serving = len(run.crew)
        while left and serving:
            wait = _TICK if hard is None else min(_TICK, hard - time.monotonic())
            if wait <= 0 or (run.over and not any(worker.busy.locked() for worker in run.crew)):
                _stop(run, run.crew)
                wait = 0.0
            try:
                found = run.done.get(timeout=wait)
            except queue.Empty:
                if run.stopped.is_set():
                    return
                continue
            if found is None:
                serving -= 1
            elif isinstance(found, BaseException):
                raise found
            else:
                left -= 1
                yield found

    def _written(self) -> str:
        """The file of the data, written at the first call."""
        with self._writing:
            if self._remove is None:
                folder = _write(self._data)
                self._path = str(folder / "data")
                self._remove = weakref.finalize(self, _remove, folder)
            return self._path


class _Run:
    """The state that the threads of a run share; `path` returns the file of the data."""

    def __init__(
        self, work: Work[Any], tasks: Sequence[Any], until: float | None, crew: list["_Worker"], path: Callable[[], str]
    ) -> None:
        self.work, self.tasks, self.until, self.crew, self.path = work, tasks, until, crew, path
        self.stopped = threading.Event()
        #: (number, result) of a finished task, an error that ends the run, None from each thread that has ended.
        self.done: queue.SimpleQueue[tuple[int, Any] | BaseException | None] = queue.SimpleQueue()
        self._taken = 0
        self._started = False
        self._guard = threading.Lock()

    def start(self) -> None:
        """Start a thread for each worker, once."""
        with self._guard:
            started, self._started = self._started, True
        if not started:
            for worker in self.crew:
                threading.Thread(target=_serve, args=(worker, self), daemon=True).start()

    @property
    def over(self) -> bool:
        """Whether no task may start any more."""
        return self.stopped.is_set() or (self.until is not None and time.monotonic() >= self.until)

    @property
    def n_waiting(self) -> int:
        """Number of tasks that may still start."""
        return 0 if self.over else len(self.tasks) - self._taken

    def take(self) -> int | None:
        """Take the next waiting task."""
        with self._guard:
            if not self.n_waiting:
                return None
            self._taken += 1
            return self._taken - 1


class _Worker:
    """A process that can be replaced.

    When a process of a pool dies, loky ends the pool without telling which task did it. Each worker is therefore a pool
    of one process, with one task at a time.
    """

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._ready: Future[None]
        self._last: Future[Any]
        self._guard = threading.Lock()
        #: Held from before a task is taken until its result is out.
        self.busy = threading.Lock()

    @property
    def is_up(self) -> bool:
        """Whether the process runs and has the data."""
        return self._pool is not None and self._ready.done()

    def up(self, run: _Run) -> None:
        """Wait until the process runs and has the data; start it if needed."""
        path = run.path()
        for _ in range(_STARTS):
            with self._guard:
                if run.over:
                    raise ShutdownExecutorError
                if self._pool is None:
                    pool = ProcessPoolExecutor(
                        1, timeout=_IDLE, initializer=_begin, initargs=(os.getpid(),), env=_ONE_THREAD
                    )
                    self._ready = self._last = pool.submit(_load, path, run.work)
                    self._pool = pool
                ready = self._ready
            try:
                return ready.result()
            except TerminatedWorkerError:
                self.end(ready)
        raise TamisError(f"{_STARTS} local workers died at their start: is there memory for the data?")

    def send(self, run: _Run, number: int) -> Future[Any]:
        """Start a task."""
        with self._guard:
            if self._pool is None or run.stopped.is_set():
                raise ShutdownExecutorError
            self._last = self._pool.submit(_perform, run.work, run.tasks[number], run.path(), run.until)
            return self._last

    def end(self, after: Future[Any] | None = None) -> None:
        """End the process, or only if it is still the one that got the call `after`; it is replaced when needed."""
        with self._guard:
            if self._pool is None or (after is not None and after not in (self._ready, self._last)):
                return
            pool, self._pool = self._pool, None
            # loky fails on calls that it has queued but not yet passed on.
            patience = time.monotonic() + _TICK
            while not (self._last.running() or self._last.done()) and time.monotonic() < patience:
                time.sleep(0.001)
        pool.shutdown(wait=True, kill_workers=True)


def _stop(run: _Run, crew: list[_Worker]) -> None:
    """Start no more tasks and end the running ones; idle processes stay."""
    run.stopped.set()
    for worker in crew:
        if worker.busy.locked():
            worker.end()
        with worker.busy:
            pass


def _serve(worker: _Worker, run: _Run) -> None:
    """The thread of one worker: one task after the other."""
    # Inherited by the processes: an interrupt from the keyboard is for this process only.
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        while run.n_waiting:
            worker.up(run)
            with worker.busy:
                number = run.take()
                if number is None:
                    break
                run.done.put((number, _result(worker, run, number)))
    except ShutdownExecutorError:
        pass
    except BaseException as error:
        run.done.put(error)
    finally:
        run.done.put(None)


def _result(worker: _Worker, run: _Run, number: int) -> Any:
    deaths = 0
    while deaths <= CHANCES:
        worker.up(run)
        try:
            future = worker.send(run, number)
        except TerminatedWorkerError:
            worker.end()  # it died while idle
            continue
        try:
            return future.result()
        except TerminatedWorkerError:
            worker.end(future)
            deaths += 1
        except BrokenProcessPool:
            worker.end(future)  # the task could not be unpickled
            raise
    return Lost(number, deaths)


def _write(data: Any) -> Path:
    """A folder with the data, which is removed when this process ends, even when it alone is killed."""
    refused: OSError | None = None
    for root in _roots():
        with ExitStack() as undo:
            try:
                folder = make_folder(root)
                resource_tracker.register(str(folder), "folder")
                undo.callback(_remove, folder)
                joblib.dump(data, folder / "data")
            except OSError as error:
                refused = error
            else:
                undo.pop_all()
                return folder
    raise TamisError(f"the data cannot be written for the local workers: {refused}") from refused


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    resource_tracker.unregister(str(folder), "folder")


def _roots() -> Iterator[str | None]:
    if "JOBLIB_TEMP_FOLDER" in os.environ:
        yield os.environ["JOBLIB_TEMP_FOLDER"]
    elif os.access(SHARED_MEMORY, os.W_OK) and shutil.disk_usage(SHARED_MEMORY).free > _ROOM:
        yield SHARED_MEMORY
    yield None


def _begin(parent: int) -> None:
    """Initialize a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def follow() -> None:
        # A parent that is killed cannot end its workers.
        while os.getppid() == parent:
            time.sleep(_TICK)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@lru_cache(maxsize=1)
def _data(path: str) -> Any:
    # Copy on write: compiled code may refuse read-only arrays.
    return joblib.load(path, mmap_mode="c")


def _load(path: str, work: Work[Any]) -> None:
    """Read the data; unpickling `work` has imported what it needs."""
    _data(path)


def _perform(work: Work[Result], task: Any, path: str, until: float | None) -> Result:
    return perform_in_worker(work, task, _data(path), until)
