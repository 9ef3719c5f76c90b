"""Declare a kernel, compile it once per machine, and log when that takes a while."""

import gc
import importlib
import logging
import pkgutil
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cached_property
from time import process_time
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tamis.kernels.disk_cache import OPTIONS, Kinds, compiled, has_cache, lock_path, stored
from tamis.kernels.lock import Lock, LockedError

logger = logging.getLogger("tamis")

#: Seconds a compilation may take before a warning is logged; loading from the cache is far quicker.
PATIENCE = 1.0

#: Seconds to wait for another process that compiles the same kernel; one that takes longer is not waited for.
_OTHERS = 120.0

_kernels: list["Kernel"] = []

#: Functions for kernels to call that numba does not know yet.
_helpers: list[Callable[..., Any]] = []
_telling = threading.Lock()


class Kernel:
    """A compiled function and the argument types it is compiled for ahead of time.

    The first call with new argument types compiles it, or loads it from the disk cache. Processes that need the same
    kernel wait for the one that compiles it. Arrays among the first `reads` arguments are passed read-only, so that a
    memory-mapped array and an ordinary one share one compiled version. Numba is imported at the first call of any
    kernel, so that a command without one does not wait for it.
    """

    def __init__(self, function: Callable[..., Any], signatures: tuple[str, ...], reads: int) -> None:
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.python = function
        self.signatures = signatures
        self.reads = reads
        self._ready: set[Kinds] = set()
        self._seen: set[tuple[Any, ...]] = set()

    def __call__(self, *args: Any) -> Any:
        args = tuple(_frozen(a) if i < self.reads else a for i, a in enumerate(args))
        if (seen := tuple(map(_kind, args))) not in self._seen:
            from numba import typeof

            kinds = tuple(map(typeof, args))
            if kinds not in self._ready:
                self._compile(kinds, announced=True)
            self._seen.add(seen)
        return self._dispatcher(*args)

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"

    def warm(self, signatures: Sequence[str] | None = None) -> None:
        """Compile for some signatures, by default for every declared one."""
        for signature in self.signatures if signatures is None else signatures:
            self._compile(self._kinds[signature])

    @property
    def is_stored(self) -> bool:
        """Whether compiled versions are stored on disk; they are not where no folder for them can be written."""
        return has_cache(self._dispatcher)

    def missing(self, *, single: bool = True) -> list[str]:
        """The declared signatures that are not yet on disk; without `single` those for float32 arrays are left out.

        Nothing is missing where nothing can be stored: compiling ahead of time would not help another process.
        """
        if not self.is_stored:
            return []
        is_stored = stored(self._dispatcher)
        return [
            text for text, kinds in self._kinds.items() if (single or "float32" not in text) and not is_stored(kinds)
        ]

    def compile_seconds(self, signature: str) -> float:
        """Seconds of CPU time that it takes to compile one version, without the cache."""
        dispatcher = _dispatcher_of(self.python, cache=False)
        begin = process_time()
        with _no_collection():
            dispatcher.compile(self._kinds[signature])
        return process_time() - begin

    @property
    def size(self) -> int:
        """Bytes of the code to compile, helpers included and as often as there are signatures."""
        return len(self.signatures) * sum(len(code.co_code) for code in _codes(self.python))

    @cached_property
    def _dispatcher(self) -> Any:
        return _dispatcher_of(self.python)

    @cached_property
    def _kinds(self) -> dict[str, Kinds]:
        """The argument types of every declared signature."""
        from numba.core import sigutils, types

        found = {}
        for signature in self.signatures:
            kinds, _ = sigutils.normalize_signature(signature)
            found[signature] = tuple(
                k.copy(readonly=True) if i < self.reads and isinstance(k, types.Array) else k
                for i, k in enumerate(kinds)
            )
        return found

    def _compile(self, kinds: Kinds, *, announced: bool = False) -> None:
        """Compile a version, or load it from disk, which takes long on a busy machine too and is not worth a word."""
        with ExitStack() as stack:
            if not stored(self._dispatcher)(kinds):
                if announced:
                    stack.enter_context(self._announced())
                stack.enter_context(self._alone())
                stack.enter_context(_no_collection())
            try:
                self._dispatcher.compile(kinds)
            except OSError as error:
                if kinds not in self._dispatcher.overloads:
                    raise
                logger.warning("the compiled %s cannot be stored (%s)", self.__name__, error)
        self._ready.add(kinds)

    def _alone(self) -> AbstractContextManager[Any]:
        """A lock against other processes that compile this kernel, where one can be had."""
        if not self.is_stored:
            return nullcontext()
        try:
            return Lock(lock_path(self._dispatcher), patience=_OTHERS)
        except (LockedError, sqlite3.Error):
            return nullcontext()

    @contextmanager
    def _announced(self) -> Iterator[None]:
        """Log a warning if the block takes long."""
        notice = threading.Timer(
            PATIENCE,
            logger.warning,
            ("compiling %s (once per machine; 'tamis warm' does all ahead of time)", self.__name__),
        )
        notice.daemon = True
        notice.start()
        try:
            yield
        finally:
            notice.cancel()


def _dispatcher_of(function: Callable[..., Any], *, cache: bool = True) -> Any:
    """Numba's dispatcher of a function, which may call all helpers."""
    from numba.extending import register_jitable

    with _telling:
        while _helpers:
            register_jitable(**OPTIONS)(_helpers.pop())
    return compiled(function, cache=cache)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Collect no garbage in the block: a compilation makes many objects, almost all of which live to its end."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


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


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function one that kernels call."""
    _helpers.append(function)
    return function


def _codes(function: Callable[..., Any]) -> set[CodeType]:
    """The code of a function and of the functions of this room that it calls."""
    found: set[CodeType] = set()
    todo: list[Any] = [function]
    while todo:
        one = todo.pop()
        if isinstance(one, FunctionType) and one.__code__ not in found:
            found.add(one.__code__)
            called = (one.__globals__.get(name) for name in one.__code__.co_names)
            todo += [each for each in called if getattr(each, "__module__", "").startswith(__package__)]
    return found


def all_kernels() -> list[Kernel]:
    """Every kernel of the library, found by importing the modules of this room."""
    package = importlib.import_module("tamis.kernels")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"tamis.kernels.{module.name}")
    return [k for k in _kernels if k.python.__module__.startswith("tamis.")]


def kernels_of(modules: Iterable[str]) -> list[Kernel]:
    """The kernels that modules of the library may call, found by following what they import or list in a table."""
    found: dict[Kernel, None] = {}
    seen: set[str] = set()
    todo = list(modules)
    while todo:
        name = todo.pop()
        if name in seen or name not in sys.modules:
            continue
        seen.add(name)
        for value in _named(sys.modules[name]):
            if isinstance(value, Kernel):
                found[value] = None
            origin = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if isinstance(origin, str) and origin.startswith("tamis."):
                todo.append(origin)
    return list(found)


def _named(module: ModuleType) -> Iterator[Any]:
    """What a module has a name for, and the values of its tables."""
    for name, value in list(vars(module).items()):
        if not name.startswith("__"):
            yield from list(value.values()) if isinstance(value, dict) else [value]
