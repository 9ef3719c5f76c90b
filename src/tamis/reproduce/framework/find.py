"""The studies, found by looking through the folder."""

from importlib import import_module
from pkgutil import iter_modules

from tamis.base.errors import TamisError
from tamis.reproduce.framework.study import Study

_ROOM = "tamis.reproduce"


def studies() -> dict[str, Study]:
    """Return every study by the name that users type: its file's, with dashes."""
    return {name: find(name) for name in _names()}


def find(name: str) -> Study:
    """Return the study of that name; no other is imported."""
    known = _names()
    if name not in known:
        raise TamisError(f"no study is called {name!r}; there are {', '.join(known)}")
    study: Study = import_module(f"{_ROOM}.{name.replace('-', '_')}").STUDY
    return study


def _names() -> list[str]:
    modules = iter_modules(import_module(_ROOM).__path__)
    return sorted(module.name.replace("_", "-") for module in modules if module.name != "framework")
