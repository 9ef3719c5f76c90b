"""Which tables can be read piece by piece, and when they should be."""

import os
from pathlib import Path

from tamis.base.errors import DataError
from tamis.data.chunks.chunked import Chunked
from tamis.data.chunks.delimited import DelimitedTable
from tamis.data.chunks.parquet import SUFFIXES as PARQUET
from tamis.data.chunks.parquet import ParquetTable, parquet_files, row_group_sizes
from tamis.data.chunks.svmlight import SvmlightTable
from tamis.data.reading import Reading

_DELIMITED = (".csv", ".tsv", ".tab")
_SVMLIGHT = (".svm", ".svmlight", ".libsvm")

#: Bytes of memory that a file takes for each of its own when it is read as a whole, at most.
_IN_MEMORY = {PARQUET: 6.0, _DELIMITED: 4.0, _SVMLIGHT: 4.0}


def is_folder_of_parquet(path: Path) -> bool:
    """Whether a path is a folder of Parquet files, which is always read piece by piece."""
    return path.is_dir() and bool(parquet_files(path))


def is_too_large(path: Path, limit: float) -> bool:
    """Whether a file could be read piece by piece, and would take more than `limit` bytes as a whole.

    >>> is_too_large(Path("small.csv"), 1e9)
    False
    """
    suffix = path.suffix.lower()
    factor = next((factor for suffixes, factor in _IN_MEMORY.items() if suffix in suffixes), 0.0)
    return bool(factor) and path.is_file() and factor * path.stat().st_size > limit


def open_chunked(path: "str | os.PathLike[str]", target: str | None = None, reading: Reading | None = None) -> Chunked:
    """The table of a file or a folder, to be read piece by piece.

    Parameters
    ----------
    path : path
        A Parquet, CSV, TSV or svmlight file, or a folder of Parquet files with the same columns.
    target : str, optional
        The column to predict, by default one with a usual name.
    reading : Reading, optional
        Columns to drop, to keep and to take for identifiers; of text also the delimiter and the decimal mark.
    """
    path = Path(path)
    if is_folder_of_parquet(path) or path.suffix.lower() in PARQUET:
        return ParquetTable.open(path, target, reading)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder to read piece by piece")
    if path.suffix.lower() in _DELIMITED:
        return DelimitedTable.open(path, target, reading)
    if path.suffix.lower() in _SVMLIGHT:
        return SvmlightTable.open(path, target, reading)
    known = ", ".join((*PARQUET, *_DELIMITED, *_SVMLIGHT))
    raise DataError(f"{path}: cannot be read piece by piece; these can: {known}, and folders of Parquet files")


__all__ = ["is_folder_of_parquet", "is_too_large", "open_chunked", "row_group_sizes"]
