"""The cells of a file that is too large to hold: read batch by batch, and again where texts are needed once more."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from tamis.base.errors import DataError
from tamis.data.parsing.delimited_rows import Rows
from tamis.data.parsing.delimited_text import take_columns
from tamis.data.parsing.missing_marks import without_marks


class Batches:
    """The batches of rows of a file. Those that were looked at are held until all are read for the first time.

    Parameters
    ----------
    read : callable
        ``read() -> iterator of Rows``: begins the file anew.
    """

    def __init__(self, read: Callable[[], Iterator[Rows]]) -> None:
        self._read = read
        self._begun: list[Rows] = []
        self._rest: Iterator[Rows] | None = read()

    def first(self, rows: int) -> list[Rows]:
        """Batches of this many rows, fewer where the file ends."""
        found, rest = (self._begun, self._rest) if self._rest is not None else ([], self._read())
        while sum(len(batch.starts) for batch in found) < rows and (batch := next(rest, None)) is not None:
            found.append(batch)
        return found

    def all(self) -> Iterator[Rows]:
        """All batches, of which none is held."""
        if self._rest is None:
            yield from self._read()
            return
        rest, self._rest = self._rest, None
        while self._begun:
            yield self._begun.pop(0)
        yield from rest

    def finish(self) -> None:
        """Read what was not read yet, for the sake of what is wrong with it."""
        for _ in self._rest or ():
            pass


@dataclass
class CellStream:
    """Cells as :class:`~tamis.data.parsing.cells.Cells`, of which no more than a batch and some columns are held.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tamis.data.parsing.delimited_batches import row_batches
    >>> from tamis.data.parsing.reader import Source
    >>> blocks = [b"size,colour\\n1,red\\n", b"2,blue\\n"]
    >>> cells = CellStream(Batches(lambda: row_batches(Source(Path("t.csv")), blocks, ",")), ",")
    >>> body = cells.below(1)
    >>> [piece.to_list() for piece in body.pieces()], body.height
    ([['1', 'red'], ['2', 'blue']], 2)
    >>> body.columns([1]).to_series().to_list(), body.place(1)
    (['red', 'blue'], 'line 3')
    """

    batches: Batches
    delimiter: str
    above: int = 0  # rows that are left out at the top
    marks: tuple[str, ...] = ()
    height: int = 0  # known once all pieces were read
    short_header: bool = False
    _kept: dict[int, list[pl.Series]] = field(default_factory=dict)

    @cached_property
    def width(self) -> int:
        """Number of values of each row."""
        return self.batches.first(1)[0].width

    def place(self, row: int) -> str:
        """The line on which a row begins; the file is read again up to there."""
        row += self.above
        for batch in self.batches.all():
            if row < len(batch.starts):
                return batch.place(row)
            row -= len(batch.starts)
        raise IndexError(row)

    def top(self, rows: int) -> pl.Series:
        """The texts of the first rows."""
        found = pl.concat([batch.cells for batch in self.batches.first(rows + self.above)])
        return self._marked(found[self.above * self.width : (rows + self.above) * self.width])

    def row(self, number: int) -> list[str]:
        """The texts of a row near the top, empty where there is nothing."""
        found: list[str] = self.top(number + 1)[number * self.width :].fill_null("").to_list()
        return found

    def below(self, rows: int) -> "CellStream":
        """The cells without the first rows."""
        return replace(self, above=self.above + rows, _kept={})

    def without(self, marks: list[str]) -> "CellStream":
        """The cells with nothing in place of some texts."""
        return replace(self, marks=(*self.marks, *marks), _kept={})

    def transposed(self) -> "CellStream":
        raise DataError("cells that are read in batches are not transposed")

    def keep(self, columns: Sequence[int]) -> None:
        """Keep the texts of some columns from the first piece on; said before the second it spares a second reading."""
        for j in columns:
            self._kept.setdefault(j, [])

    def pieces(self) -> Iterator[pl.Series]:
        """The texts of all rows, batch by batch."""
        height, collect = 0, not self.height
        width = self.width
        for texts in self._pieces():
            yield texts
            if collect:
                for j, kept in self._kept.items():
                    kept.append(_own(texts.gather_every(width, j)))
            height += len(texts) // width
        self.height = height

    def columns(self, columns: Sequence[int]) -> pl.DataFrame:
        """The texts of some columns, named by their positions; those that are not kept are read again."""
        found = {j: self._kept[j] for j in columns if self._kept.get(j)}
        if lacking := [j for j in columns if j not in found]:
            read: dict[int, list[pl.Series]] = {j: [] for j in lacking}
            width = self.width
            for texts in self._pieces():
                for j, column in zip(lacking, take_columns(texts, width, lacking), strict=True):
                    read[j].append(_own(column))
            found |= read
        return pl.DataFrame([pl.concat(found[j], rechunk=True).alias(str(j)) for j in columns])

    def _pieces(self) -> Iterator[pl.Series]:
        above = self.above
        for batch in self.batches.all():
            texts = batch.cells[above * batch.width :]
            above = max(0, above - len(batch.starts))
            if len(texts):
                yield self._marked(texts)

    def _marked(self, texts: pl.Series) -> pl.Series:
        return without_marks(texts, list(self.marks)) if self.marks else texts


def _own(texts: pl.Series) -> pl.Series:
    """Texts in memory of their own: a selection keeps that of all cells."""
    return texts + ""
