"""What the tests of readers share: files put down and read, and a table's rows as plain values."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from tamis.data.dataset import Dataset
from tamis.data.readers.reader import Reader
from tamis.data.readers.source import Source


def put(folder: Path, files: Mapping[str, bytes | str]) -> Path:
    """The folder, made where it is missing, with these files in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def reads(reader: Reader, usual: str) -> Callable[..., Dataset]:
    """A function that writes content into a folder, under the usual name or another, and reads it."""

    def read(folder: Path, content: bytes | str, target: str | None = None, name: str = usual) -> Dataset:
        return reader.read(Source(put(folder, {name: content}) / name), target)

    return read


def rows_of(data: Dataset) -> list[tuple[object, ...]]:
    """The rows, with None where a value is missing."""
    if isinstance(data.X, pl.DataFrame):
        return data.X.rows()
    X = data.X.toarray() if data.is_sparse else data.X
    return [tuple(None if np.isnan(value) else value for value in row) for row in X.tolist()]
