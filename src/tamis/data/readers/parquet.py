"""Parquet files, read by polars."""

import os
import subprocess
import sys
from dataclasses import replace

import polars as pl

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.data.parsing.counted_column import ColumnCounter, text_columns
from tamis.data.parsing.reader import Reader, Source, open_bytes
from tamis.data.parsing.table import from_frame

_MAGIC = b"PAR1"
_TRIAL = "import sys, polars; polars.read_parquet(sys.stdin.buffer.read())"
#: The same for a file, in so many batches.
_BATCHES_TRIAL = """
import sys, polars
rows = polars.scan_parquet(sys.argv[1], glob=False)
height = rows.select(polars.len()).collect().item()
step = max(1, height // int(sys.argv[2]))
for start in range(0, height, step):
    rows.slice(start, step).collect()
"""
#: Bytes of the file in a batch; unpacked they are a few times as many.
_BATCH = 1 << 22


def _read(source: Source, target: str | None) -> Dataset:
    """The data set of a Parquet file: numbers, booleans, text and categories, null or NaN where missing."""
    content = source.content
    if not (content.startswith(_MAGIC) and content.endswith(_MAGIC)):
        raise DataError(f"{source.path}: is not a Parquet file, or is cut short")
    if not _is_readable(content):
        raise DataError(f"{source.path}: is a damaged Parquet file")
    return from_frame(source, pl.read_parquet(content)).dataset(target)


def _counted(source: Source, target: str | None) -> Dataset | None:
    """The data set with the words of its texts counted batch by batch; None where a text is no column of text."""
    with open_bytes(source.path) as file:
        start = file.read(len(_MAGIC))
        size = file.seek(-len(_MAGIC), os.SEEK_END)
        if (start, file.read()) != (_MAGIC, _MAGIC):
            return None
    if not _succeeds(_BATCHES_TRIAL, str(source.path), str(1 + size // _BATCH)):
        raise DataError(f"{source.path}: is a damaged Parquet file")
    rows = pl.scan_parquet(source.path, glob=False)
    schema = rows.collect_schema()
    columns = [schema.names()[j] for j in text_columns(source, schema.names(), target)]
    if not columns or any(schema[name] != pl.String for name in columns):
        return None
    height = rows.select(pl.len()).collect().item()
    step = max(1, _BATCH * height // size)
    counters = {name: ColumnCounter() for name in columns}
    kept = []
    for at in range(0, height, step):
        batch = rows.slice(at, step).collect()
        kept.append(batch.with_columns(counter.add(batch[name]) for name, counter in counters.items()))
    if not kept:
        return None
    found = from_frame(source, pl.concat(kept)).dataset(target)
    return replace(found, counted={name: counter.finish() for name, counter in counters.items()})


def _is_readable(content: bytes) -> bool:
    """Whether another process can read the content.

    A wrong length in a damaged file can make the library request exabytes and abort the process, which no exception
    handler sees. The trial in another process costs about 0.3 seconds.
    """
    return _succeeds(_TRIAL, content=content)


def _succeeds(code: str, *arguments: str, content: bytes | None = None) -> bool:
    """Whether another process can run the code."""
    trial = subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
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
    counted=_counted,
)
