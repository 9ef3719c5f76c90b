"""CSV and TSV files, some lines at a time.

The first lines decide on header, delimiter, decimal mark and on which columns are numbers, as they do for a file that
is read whole (:mod:`tamis.data.readers.csv`). A first pass counts the rows and reads the target.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.data.chunks.chunked import HEAD_ROWS, Columns, Piece, in_blocks, kept_features, refuse_options
from tamis.data.chunks.lines import line_pieces, piece_of, read_piece
from tamis.data.column_words import lines_of
from tamis.data.parsing.missing_marks import MARKS, is_missing
from tamis.data.parsing.reader import Source, open_bytes
from tamis.data.parsing.table import check_names, find_target
from tamis.data.parsing.text_table import columns_table, named_columns
from tamis.data.reading import Reading

#: Bytes at the beginning that decide how the file is read.
_HEAD = 1 << 20
#: Copies of a value while a piece is read.
_COPIES = 3
#: Columns that a note names.
_NAMED = 3


@dataclass(frozen=True, eq=False)
class DelimitedTable:
    """A CSV or TSV file; made by :meth:`open`.

    Columns of numbers are features. The attributes are those of :class:`tamis.data.chunks.chunked.Chunked`, and:

    Attributes
    ----------
    delimiter : str
    comma : bool
        Whether numbers have decimal commas.
    na : tuple of str
        Spellings of missing beside the usual ones.
    places : array of int of shape (n_features,)
        Where in a row the features are.
    names : tuple of str
        All columns of the file.
    """

    name: str
    target: str
    feature_names: np.ndarray
    pieces: Sequence[Piece]
    notes: Sequence[str]
    delimiter: str
    comma: bool
    na: tuple[str, ...]
    places: np.ndarray
    names: tuple[str, ...]
    expansion: float = _COPIES * 8.0
    single: bool = False
    #: Columns that the first pass has read; they do not travel.
    _known: dict[str, pl.Series] = field(default_factory=dict, repr=False)

    @classmethod
    def open(cls, path: Path, target: str | None = None, reading: Reading | None = None) -> Self:
        """Look at the first lines, then count the rows and read the target.

        Parameters
        ----------
        path : Path
        target : str, optional
            The column to predict, by default one with a usual name.
        reading : Reading, optional
            Delimiter, decimal mark, spellings of missing, columns to drop, to keep and to take for identifiers.
        """
        from tamis.data.readers.csv import read_cells

        reading = reading or Reading()
        refuse_options(path, reading, {"delimiter", "decimal", "na"})
        source = Source(path, reading).beginning(_HEAD)
        if b"\x00" in source.raw or source.raw[:2] == b"\x1f\x8b":
            raise DataError(f"{path}: only plain text in UTF-8 can be read piece by piece")
        cells = read_cells(source)
        if cells.delimiter == " ":
            raise DataError(f"{path}: text that is divided by runs of blanks cannot be read piece by piece")
        names, body = named_columns(source, cells, target)
        if body.height == 0:
            raise DataError(f"{path}: has no rows")
        line = int(body.place(0).removeprefix("line "))
        names = [name or f"x{number}" for number, name in enumerate(names, start=1)]
        check_names(source, names)
        at = find_target(source, names, target)
        assert at is not None
        head = columns_table(source, names, body, names[at])
        comma = reading.decimal == "," or any(note.startswith("numbers have decimal commas") for note in source.notes)
        numeric = [j for j in range(len(names)) if j != at and j not in head.nominal]
        if not numeric:
            raise DataError(f"{path}: has no column of numbers beside the target {quoted(names[at])}")
        called = [names[j] for j in numeric]
        keep, left_out = kept_features(called, head.numbers[:HEAD_ROWS, numeric], reading, names[at])
        if not keep.any():
            raise DataError(f"{path}: no feature is left")
        notes = [note for note in source.notes if "rows" not in note]
        if others := [names[j] for j in sorted(head.nominal) if j != at]:
            shown = ", ".join(map(quoted, others[:_NAMED])) + (", ..." if len(others) > _NAMED else "")
            notes.append(f"left out: {len(others)} columns that are no numbers ({shown})")
        notes += lines_of(left_out)
        places = np.array(numeric)[keep]
        table = cls(
            source.stem,
            names[at],
            np.array(called, dtype=str)[keep],
            [],
            tuple(notes),
            cells.delimiter,
            comma,
            reading.na,
            places,
            tuple(names),
        )
        pieces, known = table._first_pass(path, line)
        object.__setattr__(table, "pieces", pieces)
        table._known[table.target] = known
        return table

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}

    def column(self, name: str) -> pl.Series | np.ndarray:
        """A column of all rows: texts, null where missing, as a file that is read whole has them."""
        if name not in self._known:
            if name not in self.names:
                raise DataError(f"{self.pieces[0].path}: no column is called {quoted(name)}")
            at = [self.names.index(name)]
            parts = [self._texts(read_piece(piece), at, piece).to_series() for piece in self.pieces]
            self._known[name] = self._marked(pl.concat(parts))
        return self._known[name]

    def read(self, piece: Piece, columns: Columns) -> np.ndarray:
        """Some features of the rows of a piece, row after row in memory."""
        return self._frame(piece, columns).to_numpy(order="c")

    def blocks(self, piece: Piece, columns: slice) -> Iterator[np.ndarray]:
        """The same, some hundred features after the others."""
        return in_blocks(self._frame(piece, columns))

    def _frame(self, piece: Piece, columns: Columns) -> pl.DataFrame:
        places, data = self.places[columns].tolist(), read_piece(piece)
        try:
            frame = self._parsed(data, places, pl.Float64)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            frame = self._carefully(data, places, piece)
        if frame.height != piece.rows:
            raise DataError(f"{piece.where}: has {frame.height} rows, and {piece.rows} when they were counted")
        return frame

    def _first_pass(self, path: Path, line: int) -> tuple[list[Piece], pl.Series]:
        """The pieces of the file from a line on, and the target."""
        with open_bytes(path) as file:
            for _ in range(line - 1):
                file.readline()
            start = file.tell()
        pieces, parts = [], []
        at = [self.names.index(self.target)]
        for number, (begin, data) in enumerate(line_pieces(path, start, quotes=True), start=1):
            piece = piece_of(path, number, begin, len(data), 0, line)
            texts = self._texts(data, at, piece).to_series()
            pieces.append(piece_of(path, number, begin, len(data), len(texts), line))
            parts.append(texts)
            line += data.count(b"\n")
        return pieces, self._marked(pl.concat(parts))

    def _marked(self, texts: pl.Series) -> pl.Series:
        """Texts without blanks around, null in place of the spellings of missing."""
        texts = texts.str.strip_chars(" \t")
        return texts.set(is_missing(texts) | texts.is_in(list(self.na)), None)

    def _texts(self, data: bytes, places: list[int], piece: Piece) -> pl.DataFrame:
        try:
            return self._parsed(data, places, pl.String)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            why = str(error).partition("\n")[0][:200]
            raise DataError(f"{piece.where}: cannot be split into {len(self.names)} columns ({why})") from None

    def _parsed(self, data: bytes, places: list[int], dtype: Any) -> pl.DataFrame:
        """Some columns of lines, without blank ones."""
        called = [f"column_{j + 1}" for j in range(len(self.names))]
        kinds = dict.fromkeys(called, pl.String)
        kinds |= {called[j]: dtype for j in places}
        return pl.read_csv(
            data,
            has_header=False,
            separator=self.delimiter,
            columns=[called[j] for j in places],
            schema=kinds,
            null_values=list({*MARKS, *self.na}) if dtype != pl.String else None,
            decimal_comma=self.comma and self.delimiter != ",",
            truncate_ragged_lines=False,
        )

    def _carefully(self, data: bytes, places: list[int], piece: Piece) -> pl.DataFrame:
        """The same by way of texts, to allow blanks around values, and to name the first that is no number."""
        texts = self._texts(data, places, piece)
        found = []
        for j, cells in zip(places, texts.get_columns(), strict=True):
            marked = self._marked(cells)
            plain = marked.str.replace(",", ".", literal=True) if self.comma else marked
            numbers = plain.cast(pl.Float64, strict=False)
            wrong = (numbers.is_null() & marked.is_not_null()).arg_true()
            if len(wrong):
                raise DataError(
                    f"{piece.where}, row {wrong[0] + 1} of it, column {quoted(self.names[j])}: "
                    f"{quoted(str(marked[wrong[0]]))} is not a number, as the first rows of the file have there"
                )
            found.append(numbers)
        return pl.DataFrame(found)
