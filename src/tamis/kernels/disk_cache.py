"""What numba's disk cache holds; every private name of numba that is used stands here.

Numba stores the versions of a function in files of one folder: an index, and a file of machine code for each version.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

#: The argument types of a version.
Kinds: TypeAlias = tuple[Any, ...]

#: Of kernels and what they call. Nothing calls them from C. (Any: numba's type stubs do not list the second option.)
OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}


def compiled(function: Callable[..., Any], *, cache: bool = True) -> Any:
    """Numba's dispatcher of a function; without a cache if no folder for one can be written."""
    # Late, here and below: only a call of a kernel needs this slow import.
    from numba import njit

    if cache:
        try:
            return njit(cache=True, **OPTIONS)(function)
        except RuntimeError:
            pass
    return njit(**OPTIONS)(function)


def has_cache(dispatcher: Any) -> bool:
    """Whether compiled versions are stored on disk."""
    from numba.core.caching import NullCache

    return not isinstance(dispatcher._cache, NullCache)


def stored(dispatcher: Any) -> Callable[[Kinds], bool]:
    """A function of argument types: whether the version for them is on disk. Reads the index and loads nothing."""
    if not has_cache(dispatcher):
        return lambda kinds: False
    cache, files = dispatcher._cache, dispatcher._cache._cache_file
    codegen = dispatcher.targetctx.codegen()
    try:
        index = files._load_index()
    except OSError:
        index = {}

    def is_there(kinds: Kinds) -> bool:
        name = index.get(cache._index_key(kinds, codegen))
        # The index is written before the machine code.
        return name is not None and os.path.exists(files._data_path(name))

    return is_there


def lock_path(dispatcher: Any) -> Path:
    """The file to lock before a version is compiled and stored: two writers would lose an entry of the index."""
    return Path(os.path.abspath(f"{dispatcher._cache._cache_file._index_path}-lock"))
