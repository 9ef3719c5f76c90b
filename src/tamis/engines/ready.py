"""Compile kernels ahead of time, in a process for each core, so that no search has to wait for them."""

import importlib
import logging
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cache
from itertools import islice
from typing import TypeVar

from joblib import cpu_count
from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor

from tamis.kernels.compiler import Kernel

logger = logging.getLogger("tamis")

#: Called with the number of kernels that are compiled, and of all that have to be.
Report = Callable[[int, int], None]

Result = TypeVar("Result")

#: Seconds after which a process without work ends, also when the one that started it was killed.
_IDLE = 10


def ready(kernels: Iterable[Kernel], *, single: bool = True, progress: Report | None = None) -> int:
    """Compile what is not yet in the disk cache, once on this machine.

    A kernel that another process compiles at the same time is waited for. One that cannot be stored is left out; the
    processes that call it compile it for themselves.

    Parameters
    ----------
    kernels : iterable of Kernel
    single : bool, default=True
        Whether the versions for float32 arrays are needed.
    progress : callable, optional
        Called with the number of compiled kernels and of all to compile, at the beginning and after each. Without it
        they are logged, the beginning as a warning.

    Returns
    -------
    int
        The number of kernels that were missing.
    """
    missing = {kernel: signatures for kernel in kernels if (signatures := kernel.missing(single=single))}
    if not missing:
        return 0
    report = progress or _log
    report(0, len(missing))
    order = _longest_first(missing)
    try:
        for done, _ in enumerate(_in_processes(_warm, [(kernel, missing[kernel]) for kernel in order]), start=1):
            report(done, len(missing))
    except BrokenProcessPool as error:
        logger.warning("the kernels were not compiled ahead of time, because a process died (%s)", error)
    return len(missing)


def compile_seconds(kernels: Iterable[Kernel], *, progress: Report | None = None) -> dict[tuple[str, str], float]:
    """Seconds of CPU time that each version takes to compile, by kernel and signature; the disk cache is not used."""
    order = _longest_first(kernels)
    found: dict[tuple[str, str], float] = {}
    tasks = [(kernel, kernel.signatures) for kernel in order]
    for done, (name, seconds) in enumerate(_in_processes(_seconds, tasks), start=1):
        found |= {(name, signature): each for signature, each in seconds.items()}
        if progress is not None:
            progress(done, len(tasks))
    return found


def _longest_first(kernels: Iterable[Kernel]) -> list[Kernel]:
    # At the end no process should be busy alone.
    return sorted(kernels, key=lambda kernel: kernel.size, reverse=True)


def _in_processes(
    work: Callable[[str, str, Sequence[str]], Result], tasks: Sequence[tuple[Kernel, Sequence[str]]]
) -> Iterator[Result]:
    """The results of ``work(module, name, signatures)``, in the order in which they are ready.

    One task, or those of a machine with one core, are done in this process.
    """
    named = [(kernel.python.__module__, kernel.__name__, signatures) for kernel, signatures in tasks]
    processes = min(cpu_count(), len(tasks))
    if processes == 1:
        yield from (work(*task) for task in named)
        return
    # Not above: the processes would import scikit-learn.
    from tamis.base.parallel import expect_replacements
    from tamis.kernels.temporary import mark

    expect_replacements()
    mark()
    pool = ProcessPoolExecutor(processes, timeout=_IDLE, initializer=_begin)
    try:
        # No more than can run: loky fails on calls that wait when it is stopped.
        waiting = iter(named)
        running: set[Future[Result]] = {pool.submit(work, *task) for task in islice(waiting, processes)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(work, *task) for task in islice(waiting, len(done))}
            yield from (future.result() for future in done)
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _begin() -> None:
    # An interrupt from the keyboard is for the process that waits.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _kernel(module: str, name: str) -> Kernel:
    found: Kernel = getattr(importlib.import_module(module), name)
    return found


def _warm(module: str, name: str, signatures: Sequence[str]) -> None:
    _kernel(module, name).warm(signatures)


def _seconds(module: str, name: str, signatures: Sequence[str]) -> tuple[str, dict[str, float]]:
    kernel = _kernel(module, name)
    _start_numba()
    return name, {signature: kernel.compile_seconds(signature) for signature in signatures}


@cache
def _start_numba() -> None:
    import numba

    # What numba does once in a process is no part of the first kernel's time.
    numba.njit(lambda x: x + 1).compile("float64(float64)")


def _log(done: int, total: int) -> None:
    level = logging.INFO if done else logging.WARNING
    logger.log(level, "compiling %d kernels, once on this machine: %d of %d", total, done, total)
