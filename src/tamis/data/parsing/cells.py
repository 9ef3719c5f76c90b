"""A table as text: the cells of rows of one width, before any of them means anything."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl


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

    def row(self, number: int) -> list[str]:
        """The texts of a row, empty where there is nothing."""
        found: list[str] = self.texts[number * self.width : (number + 1) * self.width].fill_null("").to_list()
        return found

    def below(self, rows: int) -> "Cells":
        """The cells without the first rows."""
        place = self.place
        return replace(self, texts=self.texts[rows * self.width :], place=lambda row: place(row + rows))

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
