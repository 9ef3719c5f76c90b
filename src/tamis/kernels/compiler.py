"""Declare a kernel, compile it once per machine, and log when that takes a while."""

import importlib
import logging
import pkgutil
import threading
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import sigutils, types

logger = logging.getLogger("tamis")

#: Seconds a compilation may take before a warning is logged; loading from the cache is far quicker.
PATIENCE = 1.0

_kernels: list["Kernel"] = []


class Kernel:
    """A compiled function and the argument types it is compiled for ahead of time.

    The first call with new argument types compiles it, or loads it from the disk cache. Arrays among the first `reads`
    arguments are passed read-only, so that a memory-mapped array and an ordinary one share one compiled version.
    """

    def __init__(self, function: Callable[..., Any], signatures: tuple[str, ...], reads: int) -> None:
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.python = function
        self.signatures = signatures
        self.reads = reads
        self._dispatcher = numba.njit(cache=True, nogil=True)(function)
        self._ready: set[tuple[Any, ...]] = set()
        self._seen: set[tuple[Any, ...]] = set()

    def __call__(self, *args: Any) -> Any:
        args = tuple(_frozen(a) if i < self.reads else a for i, a in enumerate(args))
        if (seen := tuple(map(_kind, args))) not in self._seen:
            kinds = tuple(numba.typeof(a) for a in args)
            if kinds not in self._ready:
                self._compile(kinds)
            self._seen.add(seen)
        return self._dispatcher(*args)

    def warm(self) -> None:
        """Compile for every declared signature."""
        for signature in self.signatures:
            kinds, _ = sigutils.normalize_signature(signature)
            self._compile(
                tuple(
                    k.copy(readonly=True) if i < self.reads and isinstance(k, types.Array) else k
                    for i, k in enumerate(kinds)
                )
            )

    def _compile(self, kinds: tuple[Any, ...]) -> None:
        notice = threading.Timer(
            PATIENCE,
            logger.warning,
            ("compiling %s (once per machine; 'tamis warm' does all ahead of time)", self.__name__),
        )
        notice.daemon = True
        notice.start()
        try:
            self._dispatcher.compile(kinds)
        finally:
            notice.cancel()
        self._ready.add(kinds)


def _kind(argument: Any) -> Any:
    """Key of a compiled version; `numba.typeof` takes longer than a small kernel."""
    if not isinstance(argument, np.ndarray):
        return type(argument)
    flags = argument.flags
    return argument.dtype, argument.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned


def _frozen(argument: Any) -> Any:
    """A read-only view of an array; anything else unchanged."""
    if isinstance(argument, np.ndarray) and argument.flags.writeable:
        argument = argument.view()
        argument.flags.writeable = False
    return argument


def kernel(*signatures: str, reads: int = 0) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a kernel.

    `signatures` are argument types in numba's notation, which ``tamis warm`` compiles ahead of time. The first `reads`
    arguments are only read.
    """

    def declare(function: Callable[..., Any]) -> Kernel:
        declared = Kernel(function, signatures, reads)
        _kernels.append(declared)
        return declared

    return declare


def all_kernels() -> list[Kernel]:
    """Every kernel of the library, found by importing the modules of this room."""
    package = importlib.import_module("tamis.kernels")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"tamis.kernels.{module.name}")
    return [k for k in _kernels if k.python.__module__.startswith("tamis.")]
