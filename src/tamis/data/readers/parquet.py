"""Parquet files, read by polars."""

import os
from dataclasses import replace

import polars as pl

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.data.parsing.counted_column import ColumnCounter, text_columns
from tamis.data.parsing.parquet_trial import ENDINGS, content_is_readable, file_is_readable
from tamis.data.parsing.reader import Reader, Source, open_bytes
from tamis.data.parsing.table import from_frame

_MAGIC = b"PAR1"
#: Bytes of the file in a batch; unpacked they are a few times as many.
_BATCH = 1 << 22


def _read(source: Source, target: str | None) -> Dataset:
    """The data set of a Parquet file: numbers, booleans, text and categories, null or NaN where missing."""
    content = source.content
    if not (content.startswith(_MAGIC) and content.endswith(_MAGIC)):
        raise DataError(f"{source.path}: is not a Parquet file, or is cut short")
    if not content_is_readable(content):
        raise DataError(f"{source.path}: is a damaged Parquet file")
    return from_frame(source, pl.read_parquet(content)).dataset(target)


def _counted(source: Source, target: str | None) -> Dataset | None:
    """The data set with the words of its texts counted batch by batch; None where a text is no column of text."""
    with open_bytes(source.path) as file:
        start = file.read(len(_MAGIC))
        size = file.seek(-len(_MAGIC), os.SEEK_END)
        if (start, file.read()) != (_MAGIC, _MAGIC):
            return None
    if not file_is_readable(source.path, 1 + size // _BATCH):
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


reader = Reader(
    "parquet",
    ENDINGS,
    lambda source: source.head.startswith(_MAGIC),
    _read,
    frozenset({"labels", "on"}),
    counted=_counted,
)
