"""A table of text batch after batch, of which the columns of text are counted and not kept."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import polars as pl

from tamis.data.parsing.cells import Cells
from tamis.data.parsing.counted_column import ColumnCounter, CountedColumn
from tamis.data.parsing.missing_marks import without_marks


class CountedCells:
    """Collects the cells of rows; stand-ins take the place of the texts, whose words are counted.

    Parameters
    ----------
    columns : iterable of int
        The columns of text.
    """

    def __init__(self, columns: Iterable[int]) -> None:
        self._counters = {j: ColumnCounter() for j in columns}
        self._kept: list[tuple[pl.Series, int]] = []

    def add(self, texts: pl.Series, width: int) -> None:
        """Take the cells of more rows of some width, row after row; in rows before them the last columns may lack."""
        columns = [texts.gather_every(width, j) for j in range(width)]
        for j, counter in self._counters.items():
            columns[j] = counter.add(without_marks(columns[j]))
        # Through a list: a selection of strings would keep the memory of all of them.
        self._kept.append((pl.Series("cell", _in_rows(columns).to_list(), dtype=pl.String), width))

    def cells(self, place: Callable[[int], str], delimiter: str = ",") -> Cells:
        """The cells of all rows, null where a row lacks the column."""
        widest = self._kept[-1][1]
        kept = [_widened(texts, width, widest) for texts, width in self._kept]
        self._kept.clear()
        return Cells(pl.concat(kept), widest, place, delimiter)

    def finish(self) -> dict[int, CountedColumn]:
        """The words of the columns of text, by position."""
        return {j: counter.finish() for j, counter in self._counters.items()}


def _in_rows(columns: Sequence[pl.Series]) -> pl.Series:
    """The values of columns of one length, row after row."""
    order = np.arange(len(columns) * len(columns[0])).reshape(len(columns), -1).T.ravel()
    return pl.concat([column.alias("cell") for column in columns]).gather(order)


def _widened(texts: pl.Series, width: int, widest: int) -> pl.Series:
    if width == widest:
        return texts
    columns = [texts.gather_every(width, j) for j in range(width)]
    nothing = pl.Series("cell", [None] * len(columns[0]), dtype=pl.String)
    return _in_rows([*columns, *[nothing] * (widest - width)])
