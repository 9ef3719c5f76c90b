"""The division of the axes with the shortest code: refined axis by axis, then coarsened."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tamis.base.types import FloatArray
from tamis.classify.mdl_histogram.cells import class_weights
from tamis.classify.mdl_histogram.code_length import axes_bits, cells_bits, is_mixed, labels_bits
from tamis.classify.mdl_histogram.columns import FINEST, MISSING, Columns

#: Code lengths that differ by less than this share are equal: they are sums in an order that depends on the layout.
_EQUAL = 1e-9


@dataclass(frozen=True)
class Division:
    """A histogram of the training rows.

    `halved` lists the columns whose axis was halved, in order; `cell` is the cell of each row, `total` the weight of
    the rows of each class in each cell, and `bits` the code length.
    """

    halved: tuple[int, ...]
    cell: np.ndarray
    total: FloatArray
    bits: float

    @property
    def depths(self) -> Counter[int]:
        """How often each divided axis was halved, by column."""
        return Counter(self.halved)

    def beats(self, other: "Division") -> bool:
        """Whether its code is shorter by more than rounding."""
        return self.bits < other.bits - _EQUAL * (1.0 + abs(other.bits))


def division(columns: Columns, start: Division, *, uphill: int, max_depth: int) -> Division:
    """Find a histogram whose code is no longer than that of any with one axis halved more often or less.

    The axis that gives the shortest code is refined, by several halvings where one helps nowhere; then axes are
    coarsened while that makes the code shorter; and so on until neither does. Refining goes on past `uphill` steps in a
    row that make the code no shorter, since some classes are separated only by two axes together.
    """
    found = start
    while True:
        coarser = _coarsened(columns, _refined(columns, found, uphill, max_depth))
        if not coarser.beats(found):
            return found
        found = coarser


def _refined(columns: Columns, start: Division, uphill: int, max_depth: int) -> Division:
    best = now = start
    vain = 0
    while vain <= uphill and is_mixed(now.total).any():
        axis, levels = _best_refinement(columns, now, max_depth)
        if levels == 0:
            break
        now = divided(columns, now.halved + (axis,) * levels)
        best, vain = (now, 0) if now.beats(best) else (best, vain + 1)
    return best


def _best_refinement(columns: Columns, now: Division, max_depth: int) -> tuple[int, int]:
    """The axis to halve and how often; of equals the fewest times, then the first axis; 0 times if none can be."""
    depths = now.depths
    bits, occupied, mixed = columns.changes(now.cell, now.total, depths)
    bits += cells_bits(occupied + len(now.total), mixed + is_mixed(now.total).sum(), columns.n_classes)
    times = np.arange(1, bits.shape[1] + 1)
    if len(depths) < columns.n_columns:
        undivided = np.ones(columns.n_columns, dtype=bool)
        undivided[list(depths)] = False
        bits[undivided] += [axes_bits([*depths.values(), more], columns.n_columns) for more in times.tolist()]
        bits[:, times > max_depth] = np.inf
    for axis, depth in depths.items():
        for more in times.tolist():
            deeper = axes_bits((depths | {axis: depth + more}).values(), columns.n_columns)
            bits[axis, more - 1] += deeper if depth + more <= max_depth else np.inf
    bits += labels_bits(now.total).sum()
    equal = _EQUAL * (1.0 + abs(now.bits))
    shorter = np.flatnonzero(bits.min(axis=0) < now.bits - equal)
    # Several halvings only where one does not help: other axes may do better after it.
    tried = bits[:, : shorter[0] + 1] if shorter.size else bits
    least = tried.min()
    if np.isinf(least):
        return 0, 0
    place, axis = divmod(int(np.argmax((tried <= least + equal).T)), columns.n_columns)
    return axis, place + 1


def _coarsened(columns: Columns, start: Division) -> Division:
    now = start
    while now.halved:
        # Whole cells are merged: one row of each suffices.
        rows = np.unique(now.cell, return_index=True)[1]
        fewer = [(axis, less) for axis, depth in now.depths.items() for less in range(1, depth + 1)]
        lengths = []
        for axis, less in fewer:
            depths = now.depths - Counter({axis: less})
            group = _cells(columns, depths, rows)
            total = np.zeros((int(group.max()) + 1, columns.n_classes))
            np.add.at(total, group, now.total)
            lengths.append(_length(total, depths, columns.n_columns))
        axis, less = fewer[int(np.argmin(lengths))]
        last = [place for place, one in enumerate(now.halved) if one == axis][-less:]
        coarser = divided(columns, tuple(one for place, one in enumerate(now.halved) if place not in last))
        if not coarser.beats(now):
            break
        now = coarser
    return now


def divided(columns: Columns, halved: tuple[int, ...]) -> Division:
    """The histogram after halving these axes; without any, that of one cell."""
    depths = Counter(halved)
    cell = _cells(columns, depths, slice(None))
    total = class_weights(cell, int(cell.max()) + 1, columns.classes, columns.weight, columns.n_classes)
    return Division(halved, cell, total, _length(total, depths, columns.n_columns))


def _cells(columns: Columns, depths: Counter[int], rows: np.ndarray | slice) -> np.ndarray:
    """Numbers 0, 1, ... of the cells of rows."""
    cell = np.zeros(columns.n_rows, dtype=np.int64)[rows]
    for axis, depth in depths.items():
        interval = columns.places(axis)[rows] >> (FINEST - depth)
        cell = np.unique(cell * (2**depth + 1) + (interval - MISSING), return_inverse=True)[1]
    return cell


def _length(total: FloatArray, depths: Counter[int], n_columns: int) -> float:
    """The whole of eq. 1."""
    labels = labels_bits(total).sum() + cells_bits(len(total), is_mixed(total).sum(), total.shape[1])
    return float(labels + axes_bits(depths.values(), n_columns))
