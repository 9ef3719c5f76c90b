"""Parquet files, read by polars."""

import os
import subprocess
import sys

import polars as pl

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.table import from_frame

_MAGIC = b"PAR1"
_TRIAL = "import sys, polars; polars.read_parquet(sys.stdin.buffer.read())"


def _read(source: Source, target: str | None) -> Dataset:
    """The data set of a Parquet file: numbers, booleans, text and categories, null or NaN where missing."""
    content = source.content
    if not (content.startswith(_MAGIC) and content.endswith(_MAGIC)):
        raise DataError(f"{source.path}: is not a Parquet file, or is cut short")
    if not _is_readable(content):
        raise DataError(f"{source.path}: is a damaged Parquet file")
    return from_frame(source, pl.read_parquet(content)).dataset(target)


def _is_readable(content: bytes) -> bool:
    """Whether another process can read the content.

    A wrong length in a damaged file can make the library request exabytes and abort the process, which no exception
    handler sees. The trial in another process costs about 0.3 seconds.
    """
    trial = subprocess.run(
        [sys.executable, "-P", "-c", _TRIAL],
        input=content,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return trial.returncode == 0


reader = Reader(
    "parquet",
    (".parquet", ".pq"),
    lambda source: source.head.startswith(_MAGIC),
    _read,
    frozenset({"labels", "on"}),
)
