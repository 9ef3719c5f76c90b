"""One pass over a table that is read piece by piece: the summaries of its rows, or of several sets of them.

Summaries of pieces add up (:class:`tamis.base.score.Summary`). They are added in the order of the rows, so that the
result does not depend on who computes, and kept on disk as they grow, so that a pass that was killed goes on where it
was.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tamis.base.errors import DataError, TamisError
from tamis.base.moments import ClassMoments, moments
from tamis.base.types import Matrix
from tamis.data.chunks.chunked import Chunked, Piece, first_rows, refuse_huge
from tamis.engines.engine import Lost, open_engine
from tamis.engines.progress import Step
from tamis.streaming.kept_sums import KeptSums
from tamis.streaming.memory import Task, tasks_for


@dataclass(frozen=True, eq=False)
class Pass:
    """What is computed of the rows; small, since it travels to every worker.

    Attributes
    ----------
    table : Chunked
    target : array of shape (n_rows,), optional
        Class codes with -1 for rows to leave out, numbers with NaN for them, or None to take all rows.
    parts : array of shape (n_divisions, n_rows), optional
        The part to which each row belongs, from 0, or -1: once for each way to divide the rows.
    n_parts : tuple of int
        How many parts each division has.
    summarise : callable
        ``summarise(X, y)`` of rows, with `y` None where there is no target.
    classes : int, optional
        Number of classes, where summaries of all parts are computed at once.
    whole : bool
        Whether `summarise` takes all columns of the table at a time, and no block of them.
    """

    table: Chunked
    target: np.ndarray | None
    parts: np.ndarray | None
    n_parts: tuple[int, ...]
    summarise: Callable[[Matrix, Any], Any]
    classes: int | None = None
    whole: bool = False

    @property
    def n_sums(self) -> int:
        """How many sums a pass returns for each column."""
        return sum(self.n_parts)


@dataclass(frozen=True)
class Scanned:
    """The summaries of a pass.

    Attributes
    ----------
    parts : list of list
        For each division the summaries of its parts, None for one without rows.
    read, kept : int
        Tasks whose pieces were read now, and those that an earlier pass had kept.
    """

    parts: list[list[Any]]
    read: int
    kept: int


def scan(
    wanted: Pass,
    *,
    limit: float,
    column_bytes: float,
    engine: str = "local",
    kept: KeptSums | None = None,
    progress: Step | None = None,
) -> Scanned:
    """Read the table once, and return the summaries.

    Parameters
    ----------
    wanted : Pass
    limit : float
        Bytes of memory for all processes of a machine together.
    column_bytes : float
        Bytes that the summaries of all parts have for each column.
    engine : str, default="local"
        Who reads (:func:`tamis.engines.engine.open_engine`). Workers of a cluster read the files by their paths.
    kept : KeptSums, optional
        Where sums are kept, and found after a kill.
    progress : callable, optional
        Called with gigabytes that were read, and all.
    """
    with open_engine(engine, wanted) as workers:
        blocks = tasks_for(wanted.table, limit, workers.per_machine, column_bytes, whole=wanted.whole)
        if kept is not None:
            blocks = kept.agreed(blocks)
        total = sum(task.size for block in blocks for task in block)
        sums = [_Sum(number, block, kept) for number, block in enumerate(blocks)]
        before = sum(one.done for one in sums)
        place = [(one, at) for one in sums for at in range(one.done, len(one.tasks))]
        done = sum(task.size for one in sums for task in one.tasks[: one.done])
        if progress is not None:
            progress(done / 1e9, total / 1e9)
        for number, found in workers.run(_summarised, [one.tasks[at] for one, at in place]):
            one, at = place[number]
            if isinstance(found, Lost):
                raise _lost(wanted.table, one.tasks[at])
            one.add(at, found)
            done += one.tasks[at].size
            if progress is not None:
                progress(done / 1e9, total / 1e9)
    for one in sums:
        one.finish()
    n_parts = len(sums[0].total)
    joined = []
    for part in range(n_parts):
        blocks_of_part = [one.total[part] for one in sums]
        joined.append(None if any(block is None for block in blocks_of_part) else beside(blocks_of_part))
        for one in sums:
            one.total[part] = None
    edges = np.cumsum([0, *wanted.n_parts])
    parts = [joined[a:b] for a, b in pairwise(edges.tolist())]
    return Scanned(parts, len(place), before)


class _Sum:
    """The sums of a block of columns, to which those of its tasks are added in order."""

    def __init__(self, number: int, tasks: Sequence[Task], kept: KeptSums | None) -> None:
        self.tasks, self._number, self._kept = tasks, number, kept
        #: The sum of each part, and how many tasks are in it.
        self.total: list[Any] = []
        self.done = 0
        self._waiting: dict[int, list[Any]] = {}
        if kept is not None:
            self.done, self.total = kept.read(number, tasks)

    def add(self, at: int, found: list[Any]) -> None:
        """Add the summaries of a task, or let them wait for those before it."""
        self._waiting[at] = found
        before = self.done
        while self.done in self._waiting:
            more = self._waiting.pop(self.done)
            self.total = [added(a, b) for a, b in zip(self.total, more, strict=True)] if self.done else more
            self.done += 1
        if self._kept is not None and self.done > before:
            self._kept.write(self._number, self.tasks, self.done, self.total)

    def finish(self) -> None:
        """Refuse a pass that has ended before all tasks."""
        if self.done < len(self.tasks):
            raise TamisError("the pass over the table ended before all rows were read")


def beside(summaries: Sequence[Any]) -> Any:
    """The summary of all columns, from those of blocks of columns of the same rows.

    The columns are the last axis of every array; an array without an axis is a minimum over columns.
    """
    if len(summaries) == 1:
        return summaries[0]
    blocks = [one.arrays() for one in summaries]
    joined = {
        name: np.concatenate([block[name] for block in blocks], axis=-1)
        if np.ndim(first)
        else np.min([block[name] for block in blocks])
        for name, first in blocks[0].items()
    }
    return type(summaries[0]).of_arrays(joined)


def added(a: Any, b: Any) -> Any:
    """The sum of two summaries; one of no rows is None."""
    return b if a is None else a if b is None else a + b


def _summarised(task: Task, wanted: Pass) -> list[Any]:
    """The summaries of the pieces of a task."""
    first = first_rows(wanted.table.pieces)
    total: list[Any] = []
    for number in range(task.first, task.last):
        rows = slice(int(first[number]), int(first[number + 1]))
        found = _of_piece(wanted, wanted.table.pieces[number], task.columns, rows)
        total = [added(a, b) for a, b in zip(total, found, strict=True)] if total else found
    return total


def _of_piece(wanted: Pass, piece: Piece, columns: slice, rows: slice) -> list[Any]:
    """The summaries of a piece, whose rows are these of the table."""
    table, found, start = wanted.table, [], columns.start
    for X in [table.read(piece, columns)] if wanted.whole else table.blocks(piece, columns):
        own = slice(start, start + X.shape[1])
        start = own.stop
        try:
            found.append(list(_of_rows(wanted, X, rows)))
        except DataError as error:
            refuse_huge(table, piece, own, X)
            raise DataError(f"{piece.where}: {error}") from None
    return [None if blocks[0] is None else beside(blocks) for blocks in zip(*found, strict=True)]


def _of_rows(wanted: Pass, X: Matrix, rows: slice) -> Iterator[Any]:
    """The summaries of the parts to which some rows belong, in the order of the divisions; None of no row."""
    y = None if wanted.target is None else wanted.target[rows]
    known = None
    if y is not None:
        missing = np.isnan(y) if y.dtype.kind == "f" else y < 0
        known = ~missing if missing.any() else None
        y = y if y.dtype.kind == "f" else y.astype(np.intp)
    divisions = (None,) if wanted.parts is None else wanted.parts[:, rows]
    for part, size in zip(divisions, wanted.n_parts, strict=True):
        chosen = _and(known, None if part is None or (part >= 0).all() else part >= 0)
        own_X, own_y = (X, y) if chosen is None else (X[chosen], None if y is None else y[chosen])
        own_part = None if part is None else part if chosen is None else part[chosen]
        if not own_X.shape[0]:
            yield from [None] * size
        elif own_part is None or size == 1:
            yield wanted.summarise(own_X, own_y)
        elif wanted.classes is not None and own_y is not None:
            # One pass for all parts: a class of each part is a class.
            codes = own_part.astype(np.intp) * wanted.classes + own_y
            yield from _by_part(ClassMoments.of(own_X, codes, n_classes=size * wanted.classes), size)
        else:
            for number in range(size):
                own = np.flatnonzero(own_part == number)
                yield wanted.summarise(own_X[own], None if own_y is None else own_y[own]) if own.size else None


def _by_part(found: ClassMoments, size: int) -> Iterator[ClassMoments]:
    for arrays in zip(*(np.split(array, size) for array in found.arrays().values()), strict=True):
        yield ClassMoments(*arrays)


def _and(a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
    return b if a is None else a if b is None else a & b


def at_once(summary: Callable[..., Any]) -> bool:
    """Whether the summaries of all parts can be computed in one pass over the rows, as moments by class can."""
    return summary is moments


def _lost(table: Chunked, task: Task) -> DataError:
    pieces: Sequence[Piece] = table.pieces[task.first : task.last]
    last = "" if len(pieces) == 1 else f" to {pieces[-1].where}"
    return DataError(f"{pieces[0].where}{last}: the workers that read it died; it may be damaged, or memory too small")
