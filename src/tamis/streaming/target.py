"""The target of a table that is read piece by piece: the one column that is read whole."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from tamis.base.errors import DataError, quoted
from tamis.base.types import Codes, FloatArray
from tamis.data.chunks.chunked import Chunked, first_rows
from tamis.data.dataset import Dataset
from tamis.data.parsing.reader import Source
from tamis.data.parsing.table import labelled
from tamis.data.reading import Reading
from tamis.data.target_task import with_noted_task


@dataclass(frozen=True, eq=False)
class StreamedTarget:
    """The target of all rows, and which rows have one.

    Attributes
    ----------
    labelled : Dataset
        The rows that have a target, with their labels, groups and task, and a single constant feature: what is needed
        to split them.
    rows : array of shape (n_labelled,)
        Their numbers in the table.
    n_rows : int
        All rows of the table.
    """

    labelled: Dataset
    rows: np.ndarray
    n_rows: int

    @classmethod
    def of(cls, table: Chunked, reading: Reading | None = None, group: str | None = None) -> Self:
        """Read the target of a table, and a column of groups."""
        reading = reading or Reading()
        source = Source(table.pieces[0].path)
        place = _places(table)
        column = table.column(table.target)
        y, rows = labelled(source, table.target, column, place)
        n_rows = len(column)
        known = np.arange(n_rows) if rows is None else rows
        groups = None
        if group is not None:
            if group == table.target:
                raise DataError(f"{table.name}: column {quoted(group)} is the target, so it cannot tell the groups")
            found = table.column(group)
            groups = np.asarray(found.to_numpy() if hasattr(found, "to_numpy") else found)[known]
        nothing = np.broadcast_to(np.float32(0), (y.size, 1))
        data = Dataset(nothing, y, np.array([""]), table.name, table.target, groups=groups, notes=tuple(source.notes))
        data = with_noted_task(data, reading.task)
        return cls(Dataset.of(data), known, n_rows)

    @property
    def codes(self) -> Codes | FloatArray:
        """Class codes of all rows, -1 without a class; or their numbers, NaN where missing."""
        y = self.labelled.y
        if self.labelled.task == "regress":
            numbers = np.full(self.n_rows, np.nan)
            numbers[self.rows] = y
            return numbers
        # They travel to every worker: a byte a row, for as many classes as that holds.
        found = np.full(self.n_rows, -1, dtype=np.min_scalar_type(-len(self.labelled.classes)))
        found[self.rows] = np.searchsorted(self.labelled.classes, y)
        return found


def _places(table: Chunked) -> Callable[[int], str]:
    """How messages name a row."""
    first = first_rows(table.pieces)

    def place(row: int) -> str:
        piece = int(np.searchsorted(first, row, side="right")) - 1
        return f"{table.pieces[piece].place}, row {row - int(first[piece]) + 1}"

    return place
