"""The cells of a histogram, the coarser cells they come from, and the cell of a row."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tamis.base.types import Codes, FloatArray
from tamis.classify.mdl_histogram.columns import halves

#: Parts of a cell that is halved: the lower, the upper, and that of the missing values.
_PARTS = 3

#: The finest places of rows on the axis of a column.
Places = Callable[[int], np.ndarray]


class Cells(NamedTuple):
    """The histograms after each halving of an axis; only cells with training rows are there.

    `halved` is the column of each step. `keys` holds, after each step and in ascending order, 3 times the number of the
    cell that each cell comes from plus its part (0 lower half, 1 upper half, 2 missing values); a cell is numbered by
    its place. `weight`, of shape (n_cells, n_classes), is that of the training rows before the first step and after
    each.
    """

    halved: Sequence[int]
    keys: list[np.ndarray]
    weight: list[FloatArray]

    @classmethod
    def of(cls, halved: Sequence[int], places: Places, y: Codes, weight: FloatArray, n_classes: int) -> "Cells":
        """Send training rows through the steps."""
        cell = np.zeros(y.shape[0], dtype=np.int64)
        keys, found = [], [class_weights(cell, 1, y, weight, n_classes)]
        for step, column in enumerate(halved):
            part = halves(places(column), _depth(halved, step), 1)
            known, cell = np.unique(cell * _PARTS + part, return_inverse=True)
            keys.append(known)
            found.append(class_weights(cell, known.size, y, weight, n_classes))
        return cls(halved, keys, found)

    def find(self, places: Places, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        """The last step after which each row lies in a cell with training rows, and that cell."""
        last, cell = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=np.int64)
        rows = np.arange(n_rows)
        for step, (column, known) in enumerate(zip(self.halved, self.keys, strict=True)):
            part = halves(places(column)[rows], _depth(self.halved, step), 1)
            wanted = cell[rows] * _PARTS + part
            place = np.minimum(np.searchsorted(known, wanted), known.size - 1)
            there = known[place] == wanted
            rows, place = rows[there], place[there]
            cell[rows], last[rows] = place, step + 1
        return last, cell

    def intervals(self, column: int) -> np.ndarray:
        """Interval of each of the last cells on the axis of a column; -1 for missing values."""
        cell = np.arange(self.weight[-1].shape[0])
        interval, scale = np.zeros(cell.size, dtype=np.int64), 1
        missing = np.zeros(cell.size, dtype=bool)
        for halved, known in zip(reversed(self.halved), reversed(self.keys), strict=True):
            cell, part = np.divmod(known[cell], _PARTS)
            if halved == column:
                missing |= part == _PARTS - 1
                interval += scale * part
                scale *= 2
        return np.where(missing, -1, interval)


def _depth(halved: Sequence[int], step: int) -> int:
    """How often the axis of a step has been halved before."""
    return list(halved[:step]).count(halved[step])


def class_weights(cell: np.ndarray, n_cells: int, y: Codes, weight: FloatArray, n_classes: int) -> FloatArray:
    """Weight of the rows of each class in each cell."""
    # bincount of no rows returns integers.
    flat = np.bincount(cell * n_classes + y, weights=weight, minlength=n_cells * n_classes).astype(np.float64)
    return flat.reshape(n_cells, n_classes)
