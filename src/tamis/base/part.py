"""The card of a part: its name in recipes, how its arguments are written, what the search may try."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tamis.base.search_range import Choice, Range


@dataclass(frozen=True)
class Part:
    """What the catalog, the recipe language, the search and the documentation know of an estimator.

    An estimator class carries one as its class attribute ``part``.

    Parameters
    ----------
    name : str
        The word users type.
    positional : tuple of str
        Parameters that may be written without their name, in order.
    search : mapping of str to Range or Choice
        What ``tamis mine`` may try; a parameter not named stays at its default.
    paper : str
        Where the method comes from.
    only : mapping of str to (str, value)
        Parameters of `search` that matter only beside a value of another one: ``{"sigma": ("kernel", "gaussian")}``.
    unit_rows : bool
        Whether `search` supposes rows of mean length one, as ``rms_norm`` makes them.
    """

    name: str
    positional: tuple[str, ...] = ()
    search: Mapping[str, Range | Choice] = field(default_factory=dict)
    paper: str = ""
    only: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    unit_rows: bool = False


def members(room: str) -> Iterator[tuple[str, Any]]:
    """Every public object defined in a module of a room (``tamis.scores``, ...), with its name."""
    package = importlib.import_module(room)
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{room}.{info.name}")
        for name, value in vars(module).items():
            if not name.startswith("_") and _is_from(value, module.__name__):
                yield name, value


def _is_from(value: Any, module: str) -> bool:
    """Whether an object is defined in a module, or in a file of a folder."""
    home = getattr(value, "__module__", None) or ""
    return home == module or home.startswith(f"{module}.")


@cache
def estimators(room: str) -> dict[str, type]:
    """The estimator classes of a room by class name: those with a ``part`` card of their own."""
    return {
        name: value
        for name, value in members(room)
        if inspect.isclass(value) and isinstance(vars(value).get("part"), Part)
    }


def room(
    package: str, functions: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a room, whose estimators are imported when they are first used.

    Parameters
    ----------
    package : str
        The room.
    functions : mapping of str to str, optional
        Functions that the room offers beside its estimators, and the modules that hold them.
    """
    homes = functions or {}

    def find(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        if not name.startswith("_"):
            found = estimators(package)
            if name in found:
                return found[name]
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted([*estimators(package), *homes])
