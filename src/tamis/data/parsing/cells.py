"""A table as text: the cells of rows of one width, before any of them means anything."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
import polars as pl

from tamis.data.parsing.delimited_text import take_columns
from tamis.data.parsing.missing_marks import without_marks


class TextRows(Protocol):
    """Cells that come in pieces of whole rows, as :class:`Cells` in one, or those of a file that is too large to hold.

    Texts are null or empty where there is nothing.
    """

    @property
    def width(self) -> int: ...

    @property
    def delimiter(self) -> str:
        """What divided the values."""

    @property
    def short_header(self) -> bool:
        """Whether the name of the first column was missing in the header."""

    @property
    def height(self) -> int:
        """Number of rows, known once the pieces were read."""

    def place(self, row: int, /) -> str:
        """How a message names a row."""

    def top(self, rows: int) -> pl.Series:
        """The texts of the first rows, row after row, of fewer where there are no more."""

    def row(self, number: int) -> list[str]:
        """The texts of one of the first rows, empty where there is nothing."""

    def below(self, rows: int) -> Self:
        """The cells without the first rows."""

    def without(self, marks: list[str]) -> Self:
        """The cells with nothing in place of some texts."""

    def transposed(self) -> Self:
        """Columns as rows."""

    def pieces(self) -> Iterator[pl.Series]:
        """The texts of all rows, row after row."""

    def keep(self, columns: Sequence[int]) -> None:
        """Announce, before the second piece is asked for, columns whose texts will be needed."""

    def columns(self, columns: Sequence[int]) -> pl.DataFrame:
        """The texts of some columns, named by their positions."""


@dataclass(frozen=True)
class Cells:
    """The texts of rows of one width, row after row, null or empty where there is nothing.

    `place` tells how a message names a row; `delimiter` is what divided the values.
    """

    texts: pl.Series
    width: int
    place: Callable[[int], str]
    delimiter: str = ","
    short_header: bool = False  # whether the name of the first column was missing in the header

    @property
    def height(self) -> int:
        return len(self.texts) // self.width

    def top(self, rows: int) -> pl.Series:
        """The texts of the first rows."""
        return self.texts[: rows * self.width]

    def row(self, number: int) -> list[str]:
        """The texts of a row, empty where there is nothing."""
        found: list[str] = self.texts[number * self.width : (number + 1) * self.width].fill_null("").to_list()
        return found

    def below(self, rows: int) -> "Cells":
        """The cells without the first rows."""
        place = self.place
        return replace(self, texts=self.texts[rows * self.width :], place=lambda row: place(row + rows))

    def without(self, marks: list[str]) -> "Cells":
        """The cells with nothing in place of some texts."""
        return replace(self, texts=without_marks(self.texts, marks)) if marks else self

    def transposed(self) -> "Cells":
        """Columns as rows."""
        order = np.arange(len(self.texts)).reshape(-1, self.width).T.ravel()
        return replace(
            self,
            texts=self.texts.gather(order),
            width=self.height,
            place=lambda row: f"column {row + 1} of the file",
            short_header=False,
        )

    def pieces(self) -> Iterator[pl.Series]:
        """All texts at once."""
        yield self.texts

    def keep(self, columns: Sequence[int]) -> None:
        """All texts are here."""

    def columns(self, columns: Sequence[int]) -> pl.DataFrame:
        """The texts of some columns, named by their positions."""
        return take_columns(self.texts, self.width, columns)
