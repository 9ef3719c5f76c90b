"""The plain numbers of a table of text, read piece by piece into one array, and which columns hold something else."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tamis.base.types import FloatArray, Mask
from tamis.data.in_place import rows_at_a_time
from tamis.data.parsing.cells import TextRows
from tamis.data.parsing.growing import GrowingArray
from tamis.data.parsing.missing_marks import MARKS, is_missing

#: Cells among which a column of words must show something like a number to be looked at again.
_LOOKED_AT = 100_000
_LIKE_A_NUMBER = r"^[<>=≤≥]{0,2}\s*[+\-\x{2212}]?\s*[$€£¥]?\s*[.,]?\d"


@dataclass(frozen=True)
class PlainNumbers:
    """All columns as numbers, NaN where a cell is no plain number, and what the other cells are.

    Attributes
    ----------
    numbers : array of shape (n_rows, n_columns)
        Its memory belongs to nobody else, where it is writeable.
    odd : array of bool of shape (n_columns,)
        The columns with a cell that is neither a plain number nor one of `MARKS`.
    wordy : array of bool of shape (n_columns,)
        Those with such a cell that is a mark in no letter case either.
    like_numbers : array of bool of shape (n_columns,)
        Those whose first such cell, or one near the top, looks like a number.

    Examples
    --------
    >>> from tamis.data.parsing.cells import Cells
    >>> plain = PlainNumbers.of(Cells(pl.Series("cell", ["1", "red", "2", "NA"]), 2, str))
    >>> plain.numbers.tolist(), plain.wordy.tolist()
    ([[1.0, nan], [2.0, nan]], [False, True])
    """

    numbers: FloatArray
    odd: Mask
    wordy: Mask
    like_numbers: Mask

    @classmethod
    def of(cls, cells: TextRows) -> "PlainNumbers":
        """Read all pieces of the cells; those announce that they keep the texts of columns with words."""
        odd, wordy, like = (np.zeros(cells.width, dtype=bool) for _ in range(3))
        numbers: Any = np.empty(0)
        grown, before = GrowingArray(np.float64), 0
        for number, texts in enumerate(cells.pieces()):
            values = texts.cast(pl.Float64, strict=False)
            unread = values.is_null().arg_true()
            at = unread.filter(~texts.gather(unread).fill_null("").is_in(MARKS)).to_numpy()
            column = at % cells.width
            new = _first_of_each(column, ~odd)
            shown = np.concatenate([new, np.arange(np.searchsorted(at, _LOOKED_AT - before))])
            like[column[shown[texts.gather(at[shown]).str.contains(_LIKE_A_NUMBER).to_numpy()]]] = True
            odd[column] = True
            # The first cell of a column tells mostly that it has words.
            for asked in (_first_of_each(column, ~wordy), np.flatnonzero(~wordy[column])):
                asked = asked[~wordy[column[asked]]]
                wordy[column[asked[~is_missing(texts.gather(at[asked])).to_numpy()]]] = True
            if number == 0:
                cells.keep(np.flatnonzero(wordy).tolist())
                numbers = values.to_numpy()
            else:
                if number == 1:
                    grown.extend(numbers)
                grown.extend(values.to_numpy())
            before += len(texts)
        if grown.values.size:
            numbers = grown.values
            numbers.resize((len(numbers) // cells.width, cells.width), refcheck=False)
        else:
            numbers = numbers.reshape(-1, cells.width)
        return cls(numbers, odd, wordy, like)

    def has_numbers(self) -> Mask:
        """Which of the odd columns have plain numbers too."""
        found = np.zeros(len(self.odd), dtype=bool)
        at = np.flatnonzero(self.odd)
        for block in row_blocks(self.numbers):
            found[at] |= ~np.isnan(block[:, at]).all(axis=0)
            at = np.flatnonzero(self.odd & ~found)
            if not at.size:
                break
        return found


def row_blocks(X: FloatArray) -> list[FloatArray]:
    """Views of the rows of a matrix, some at a time."""
    height = rows_at_a_time(X)
    return [X[top : top + height] for top in range(0, len(X), height)]


def _first_of_each(column: np.ndarray, wanted: Mask) -> np.ndarray:
    """The places where the wanted columns occur first."""
    places = np.flatnonzero(wanted[column])
    return places[np.unique(column[places], return_index=True)[1]]
