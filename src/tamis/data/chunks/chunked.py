"""The contract of a table that is read piece by piece, and what its formats share."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import DataError, quoted
from tamis.base.types import Matrix
from tamis.data.column_wishes import matching
from tamis.data.identifiers import number_columns
from tamis.data.reading import Reading

#: Some features of a table, by position.
Columns: TypeAlias = slice | np.ndarray

#: Rows by which a column is known as an identifier.
HEAD_ROWS = 1000

#: Columns of a block.
_BLOCK = 256

#: Larger values overflow when squared and summed.
_LARGEST = 1e150

#: Options of reading that every format heeds.
_OF_COLUMNS = frozenset({"drop", "keep", "id", "task"})


@dataclass(frozen=True)
class Piece:
    """Rows of one file that lie together in it.

    Attributes
    ----------
    path : Path
        As messages name it.
    place : str
        Where in the file, in words: "row group 3".
    start : int
        Where it begins: the number of its first row in the file, or of its first byte, as the format needs.
    rows : int
        How many rows it has.
    size : int
        Bytes of the file that it takes.
    """

    path: Path
    place: str
    start: int
    rows: int
    size: int

    @property
    def where(self) -> str:
        """The piece, as messages begin.

        >>> Piece(Path("a.parquet"), "row group 3", 200, 100, 4096).where
        'a.parquet, row group 3'
        """
        return f"{self.path}, {self.place}"


class Chunked(Protocol):
    """A table that is read piece by piece; small, since it travels to every worker."""

    @property
    def name(self) -> str:
        """What the data is called."""

    @property
    def target(self) -> str:
        """What its target is called."""

    @property
    def feature_names(self) -> np.ndarray:
        """The names of the features, or their numbers."""

    @property
    def pieces(self) -> Sequence[Piece]:
        """The pieces, in the order of the rows."""

    @property
    def notes(self) -> Sequence[str]:
        """What was guessed or left out."""

    @property
    def expansion(self) -> float:
        """Bytes of memory that a value takes while it is read; 0 where a piece is read at once whatever its columns."""

    @property
    def single(self) -> bool:
        """Whether float32 holds all values exactly."""

    def column(self, name: str) -> pl.Series | np.ndarray:
        """A column of all rows, such as the target: texts, null where missing, or numbers, NaN where missing."""

    def read(self, piece: Piece, columns: Columns) -> Matrix:
        """Some features of the rows of a piece: numbers, NaN where missing, or CSR."""

    def blocks(self, piece: Piece, columns: slice) -> Iterator[Matrix]:
        """The same, some hundred features after the others."""


def in_blocks(frame: pl.DataFrame) -> Iterator[np.ndarray]:
    """Arrays of some hundred columns: memory that is used again costs half the time of memory that is new."""
    for first in range(0, frame.width, _BLOCK):
        yield frame[:, first : first + _BLOCK].to_numpy(order="c")


def kept_features(
    names: Sequence[str], head: np.ndarray, reading: Reading, target: str
) -> tuple[np.ndarray, dict[str, str]]:
    """Which columns of numbers are features, and the others with the reason.

    Those that are dropped by name, and identifiers as the first rows (`head`) show them, where the columns have names
    that are not just numbered. Constants and copies stay: only a pass over all rows would tell.

    Examples
    --------
    >>> keep, left_out = kept_features(["id", "age"], np.array([[1.0, 7.0], [2.0, 7.0], [3.0, 8.0]]), Reading(), "y")
    >>> keep.tolist(), left_out
    ([False, True], {'id': 'an identifier: 3 values in 3 rows'})
    """
    left_out = dict.fromkeys(matching(reading.drop, names, "drop", target), "as asked")
    left_out |= dict.fromkeys(matching(reading.id, names, "id", target), "an identifier, as asked")
    kept = set(matching(reading.keep, names, "keep", target))
    if both := kept & left_out.keys():
        raise DataError(f"column {quoted(min(both))} is both to be kept and to be left out")
    if _have_names(names):
        found = {names[j]: reason for j, reason in number_columns(head, names).items()}
        left_out = {name: reason for name, reason in found.items() if name not in kept} | left_out
    return np.array([name not in left_out for name in names], dtype=bool), left_out


def _have_names(names: Sequence[str]) -> bool:
    """Whether the names are not just numbered (x1, x2, ...)."""
    before = names[0].rstrip("0123456789") if names else ""
    return not all(name.startswith(before) and name[len(before) :].isdecimal() for name in names)


def refuse_huge(table: Chunked, piece: Piece, columns: Columns, X: Matrix) -> None:
    """Refuse numbers that are infinite or too large to square, in the name of the file, the place and the column."""
    found = X.tocsc() if sp.issparse(X) else X
    for j in range(found.shape[1]):
        values = found.data[found.indptr[j] : found.indptr[j + 1]] if sp.issparse(X) else found[:, j]
        huge = np.abs(values.astype(np.float64)) >= _LARGEST
        if huge.any():
            name = str(table.feature_names[columns][j])
            what = (
                "an infinite number"
                if np.isinf(values).any()
                else f"the number {values[huge][0]:g}, too large to square"
            )
            raise DataError(f"{piece.where}, column {quoted(name)}: holds {what}")


def refuse_options(path: Any, reading: Reading, known: Iterable[str] = ()) -> None:
    """Refuse options of reading that have no meaning for a table that is read piece by piece."""
    for name in reading.given():
        if name not in _OF_COLUMNS.union(known):
            raise DataError(f"{path}: --{name} is not for data that is read piece by piece")


def first_rows(pieces: Sequence[Piece]) -> np.ndarray:
    """The number of the first row of each piece among all rows, and the number of rows."""
    return np.cumsum([0, *(piece.rows for piece in pieces)])
