"""The contract of a reader: what files it knows and how it turns one into a data set."""

from collections.abc import Callable
from dataclasses import dataclass

from tamis.data.dataset import Dataset
from tamis.data.readers.source import Source


@dataclass(frozen=True)
class Reader:
    """One file format. Each file of this folder defines one, and the loader finds it.

    Attributes
    ----------
    name : str
        What the format is called.
    suffixes : tuple of str
        Endings of file names, with the dot, in lower case.
    looks_right : callable
        ``looks_right(source) -> bool``: whether the content may be of this format; asked when the name does not
        tell. It must not raise on any content.
    read : callable
        ``read(source, target) -> Dataset``; `target` is the class column's name or None for the format's own
        choice. Whatever is wrong with the file is a DataError naming file, line or column.
    """

    name: str
    suffixes: tuple[str, ...]
    looks_right: Callable[[Source], bool]
    read: Callable[[Source, str | None], Dataset]
