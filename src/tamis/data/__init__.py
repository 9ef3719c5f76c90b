"""Data sets: reading files, making sense of their columns, making synthetic data, adding probes.

``tamis.data.load`` means the function, so it is imported here at once; its file imports nothing heavy.
"""

from importlib import import_module
from typing import Any

from tamis.data.load import load

__all__ = ["Dataset", "Reading", "add_probes", "load", "sense"]

_FILES = {
    "Dataset": "tamis.data.dataset",
    "Reading": "tamis.data.reading",
    "add_probes": "tamis.data.probes",
    "sense": "tamis.data.column_sense",
}


def __getattr__(name: str) -> Any:
    if name in _FILES:
        return getattr(import_module(_FILES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
