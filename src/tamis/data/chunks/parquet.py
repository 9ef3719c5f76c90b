"""Parquet files, and folders of them, row group by row group.

The footers are read and checked first: a wrong length in a damaged one can make the library request exabytes. The
pages are read in worker processes, of which one may die.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.data.chunks.chunked import HEAD_ROWS, Columns, Piece, in_blocks, kept_features, refuse_options
from tamis.data.column_words import lines_of
from tamis.data.parsing.reader import Source, open_bytes
from tamis.data.parsing.table import check_names, find_target
from tamis.data.reading import Reading
from tamis.kernels.parquet_footer import BROKEN, row_groups

SUFFIXES = (".parquet", ".pq")

_MAGIC = b"PAR1"
#: The magic word and the length of the footer in front of it.
_TAIL = 8
#: Smaller row groups that follow each other are one piece.
_SMALL = 1 << 24
#: Columns that a note names.
_NAMED = 3
#: Copies of a value while a piece is read: decoded, as columns, and as rows.
_COPIES = 3
#: Types whose values float32 holds exactly.
_SINGLE = (pl.Float32, pl.Int8, pl.UInt8, pl.Int16, pl.UInt16, pl.Boolean)


@dataclass(frozen=True, eq=False)
class ParquetTable:
    """A Parquet file, or all of a folder in the order of their names; made by :meth:`open`.

    Columns of numbers and truth values are features. The attributes are those of
    :class:`tamis.data.chunks.chunked.Chunked`.
    """

    name: str
    target: str
    feature_names: np.ndarray
    pieces: Sequence[Piece]
    notes: Sequence[str]
    single: bool

    @classmethod
    def open(cls, path: Path, target: str | None = None, reading: Reading | None = None) -> Self:
        """Read the footers, and decide which columns are features.

        Parameters
        ----------
        path : Path
            A file, or a folder of files with the same columns.
        target : str, optional
            The column to predict, by default one with a usual name.
        reading : Reading, optional
            Columns to drop, to keep and to take for identifiers.
        """
        reading = reading or Reading()
        refuse_options(path, reading)
        files = parquet_files(path) if path.is_dir() else [path]
        if not files:
            raise DataError(f"{path}: holds no Parquet file")
        pieces = [piece for file in files for piece in _pieces(file)]
        if not pieces:
            raise DataError(f"{path}: has no rows")
        schema = _schema(files[0])
        source = Source(files[0])
        names = list(schema)
        check_names(source, names)
        at = find_target(source, names, target)
        assert at is not None
        for file in files[1:]:
            _check_schema(file, schema, files[0], names[at])
        numeric = [name for name, dtype in schema.items() if name != names[at] and _is_number(dtype)]
        known = {*numeric, names[at]}
        others = [name for name in names if name not in known]
        table = cls(path.stem, names[at], np.array(numeric, dtype=str), pieces, (), _single(schema, numeric))
        if not numeric:
            raise DataError(f"{path}: has no column of numbers beside the target {quoted(names[at])}")
        first = pieces[0]
        head = _rows(replace(first, rows=min(HEAD_ROWS, first.rows)), _numbers(numeric, single=False))
        keep, left_out = kept_features(numeric, head.to_numpy(), reading, names[at])
        if not keep.any():
            raise DataError(f"{path}: no feature is left")
        kept = table.feature_names[keep]
        notes = []
        if others:
            shown = ", ".join(map(quoted, others[:_NAMED])) + (", ..." if len(others) > _NAMED else "")
            notes.append(f"left out: {len(others)} columns that are no numbers ({shown})")
        notes += lines_of(left_out)
        return cls(path.stem, names[at], kept, pieces, tuple(notes), _single(schema, kept.tolist()))

    @property
    def expansion(self) -> float:
        """Bytes of memory that a value takes while it is read."""
        return _COPIES * (4.0 if self.single else 8.0)

    def column(self, name: str) -> pl.Series | np.ndarray:
        """A column of all rows: texts, or numbers with NaN where missing."""
        parts = []
        for path in dict.fromkeys(piece.path for piece in self.pieces):
            whole = Piece(path, f"column {quoted(name)}", 0, 0, 0)
            parts.append(_collected(whole, _scan(path).select(pl.col(name))).to_series())
        if parts[0].dtype.is_numeric():
            return pl.concat([part.cast(pl.Float64) for part in parts]).fill_null(np.nan).to_numpy()
        return pl.concat([part.cast(pl.String) for part in parts])

    def read(self, piece: Piece, columns: Columns) -> np.ndarray:
        """Some features of the rows of a piece, row after row in memory."""
        return self._frame(piece, columns).to_numpy(order="c")

    def blocks(self, piece: Piece, columns: slice) -> Iterator[np.ndarray]:
        """The same, some hundred features after the others."""
        return in_blocks(self._frame(piece, columns))

    def _frame(self, piece: Piece, columns: Columns) -> pl.DataFrame:
        wanted = _numbers(self.feature_names[columns].tolist(), single=self.single)
        frame = _rows(piece, wanted)
        if frame.height != piece.rows:
            raise DataError(f"{piece.where}: has {frame.height} rows where the footer says {piece.rows}")
        return frame


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a folder, in the order of their names."""
    return sorted(each for each in folder.iterdir() if each.suffix.lower() in SUFFIXES and each.is_file())


def row_group_sizes(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Rows and bytes of each row group, from a footer that is checked against the size of the file.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "t.parquet"
    >>> pl.DataFrame({"a": range(5)}).write_parquet(path, row_group_size=3)
    >>> row_group_sizes(path)[0]
    array([3, 2])
    """
    with open_bytes(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.read()
        length = int.from_bytes(tail[:4], "little")
        file.seek(0)
        if tail[4:] != _MAGIC or file.read(len(_MAGIC)) != _MAGIC:
            raise DataError(f"{path}: is not a Parquet file, or is cut short")
        end = size - _TAIL - length
        if end < len(_MAGIC):
            raise DataError(f"{path}: is a damaged Parquet file (its footer has no room)")
        file.seek(end)
        footer = np.frombuffer(file.read(length), dtype=np.uint8)
    rows, sizes = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
    found = row_groups(footer, end, rows, sizes)
    if found == BROKEN:
        raise DataError(f"{path}: is a damaged Parquet file (its footer cannot be read)")
    return rows[:found].copy(), sizes[:found].copy()


def _pieces(path: Path) -> list[Piece]:
    """The row groups of a file; small ones that follow each other are one piece."""
    pieces: list[Piece] = []
    start = 0
    first = 1
    pending_rows = pending_size = 0
    rows, sizes = row_group_sizes(path)
    for number, (count, size) in enumerate(zip(rows.tolist(), sizes.tolist(), strict=True), start=1):
        pending_rows, pending_size = pending_rows + count, pending_size + size
        if pending_size >= _SMALL or number == rows.size:
            place = f"row group {number}" if number == first else f"row groups {first} to {number}"
            if pending_rows:
                pieces.append(Piece(path, place, start, pending_rows, pending_size))
            start, first, pending_rows, pending_size = start + pending_rows, number + 1, 0, 0
    return pieces


def _scan(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False, low_memory=True)


def _rows(piece: Piece, wanted: pl.Expr) -> pl.DataFrame:
    """Some columns of the rows of a piece; an error names the first of its row groups that cannot be read."""

    def read(own: Piece) -> pl.DataFrame:
        return _collected(own, _scan(own.path).slice(own.start, own.rows).select(wanted))

    try:
        return read(piece)
    except DataError:
        start = 0
        for number, rows in enumerate(row_group_sizes(piece.path)[0].tolist(), start=1):
            if piece.start <= start < piece.start + piece.rows:
                read(Piece(piece.path, f"row group {number}", start, rows, 0))
            start += rows
        raise


def _schema(path: Path) -> dict[str, pl.DataType]:
    try:
        return dict(_scan(path).collect_schema())
    except Exception as error:
        raise DataError(f"{path}: is a damaged Parquet file ({_first_line(error)})") from None


def _collected(piece: Piece, frame: pl.LazyFrame) -> pl.DataFrame:
    """The rows, with an error that names the file and the place."""
    try:
        return frame.collect()
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # polars panics with an error that is no Exception
        raise DataError(f"{piece.where}: cannot be read, it may be damaged ({_first_line(error)})") from None


def _first_line(error: BaseException) -> str:
    return (str(error).strip().partition("\n")[0] or type(error).__name__)[:200]


def _is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Boolean


def _single(schema: dict[str, pl.DataType], names: list[str]) -> bool:
    """Whether float32 holds all values of these columns exactly."""
    return all(schema[name] in _SINGLE for name in names)


def _numbers(names: list[str], *, single: bool) -> pl.Expr:
    # As an array they have NaN for null.
    return pl.col(names).cast(pl.Float32 if single else pl.Float64)


def _check_schema(path: Path, schema: dict[str, pl.DataType], first: Path, target: str) -> None:
    """Refuse a file whose columns differ from those of the first one."""
    own = _schema(path)
    if own == schema:
        return
    if target not in own:
        raise DataError(f"{path}: the target {quoted(target)} is missing, which {first.name} has")
    if lost := [name for name in schema if name not in own]:
        raise DataError(f"{path}: column {quoted(lost[0])} is missing, which {first.name} has{_more(lost)}")
    if new := [name for name in own if name not in schema]:
        raise DataError(f"{path}: has the column {quoted(new[0])}, which {first.name} has not{_more(new)}")
    for name, dtype in schema.items():
        if _differs(own[name], dtype, target=name == target):
            raise DataError(f"{path}: column {quoted(name)} has type {own[name]}, and {dtype} in {first.name}")


def _differs(dtype: pl.DataType, first: pl.DataType, *, target: bool) -> bool:
    """Whether values of two files cannot be those of one column; 64 bits do not fit into the 32 of the first file."""
    if _is_number(dtype) != _is_number(first):
        return True
    if target:
        return (dtype == pl.Boolean) != (first == pl.Boolean)
    return first in _SINGLE and dtype not in _SINGLE


def _more(names: list[str]) -> str:
    return f" ({len(names)} such columns)" if len(names) > 1 else ""
