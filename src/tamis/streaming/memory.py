"""How much of a table is read at a time, so that all processes together stay within a limit of memory."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from tamis.base.errors import TamisError
from tamis.data.chunks.chunked import Chunked, Piece

#: Bytes of a process that has imported everything and read a small piece.
PROCESS = 300e6

#: Bytes of the file in the pieces of a task, about. Neither memory nor the number of workers changes which pieces are
#: added up first, nor therefore the last bit of a sum.
_TASK = 64e6

#: Copies of a summary that a process holds: its own, a new one, and their sum.
_SUMS = 3

#: Where Linux tells the limit of a container.
_GROUP = Path("/sys/fs/cgroup")

#: Share of the free memory that is taken where no limit is given.
_SHARE = 0.5


@dataclass(frozen=True)
class Task:
    """Pieces of a table that follow each other, and some of its features.

    Attributes
    ----------
    first, last : int
        The numbers of the first piece, and of the one behind the last.
    start, stop : int
        The positions of the first feature, and of the one behind the last.
    size : float
        Bytes of the file that are read.
    """

    first: int
    last: int
    start: int
    stop: int
    size: float

    @property
    def columns(self) -> slice:
        """The features."""
        return slice(self.start, self.stop)


def free_memory() -> float:
    """Bytes of memory that are free, or could be, on the machine and in its container; infinite where nothing tells.

    >>> free_memory() > 0
    True
    """
    return min(_free_on_machine(), _free_in_container())


def _free_in_container() -> float:
    """What the control group of the processes may still take, beside the files that it has cached."""
    try:
        limit, used = ((_GROUP / name).read_text(encoding="ascii") for name in ("memory.max", "memory.current"))
        kept = dict(line.split() for line in (_GROUP / "memory.stat").read_text(encoding="ascii").splitlines())
        return max(0.0, float(limit) - float(used) + float(kept["inactive_file"]))
    except (OSError, KeyError, ValueError):
        return np.inf  # no group, or "max"


def _free_on_machine() -> float:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found = dict(line.split(":", 1) for line in file)
        return float(found["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return np.inf


def default_limit() -> float:
    """Bytes to use where the user sets no limit: half of what is free."""
    return _SHARE * free_memory()


def tasks_for(
    table: Chunked, limit: float, workers: int, column_bytes: float, *, whole: bool = False
) -> list[list[Task]]:
    """The tasks of a pass over all rows, a list for each block of columns; the blocks are as wide as memory allows.

    Parameters
    ----------
    table : Chunked
    limit : float
        Bytes for all processes of a machine together, this one included.
    workers : int
        Processes of a machine that read at the same time.
    column_bytes : float
        Bytes of the summaries of a column.
    whole : bool, default=False
        Whether a task must have all columns.

    Examples
    --------
    The rows of the largest piece decide how many columns are read at a time:

    >>> from types import SimpleNamespace
    >>> pieces = [Piece(Path("a"), "row group 1", 0, 10_000, 10**8), Piece(Path("a"), "row group 2", 0, 100, 10**6)]
    >>> table = SimpleNamespace(pieces=pieces, feature_names=np.arange(100_000), expansion=12.0)
    >>> [len(block) for block in tasks_for(table, 6.6e9, 1, 0.0)], tasks_for(table, 6.6e9, 1, 0.0)[1][0].start
    ([2, 2], 50000)
    """
    n_features = len(table.feature_names)
    width = columns_at_a_time(table, limit, workers, column_bytes, held=_SUMS * column_bytes * n_features)
    if whole and width < n_features:
        raise TamisError(f"memory of {limit / 1e9:.2g} GB is too little for {n_features} columns at a time")
    blocks = -(-n_features // width)
    edges = np.linspace(0, n_features, blocks + 1).astype(int)
    runs = _runs(table.pieces)
    sizes = [sum(piece.size for piece in table.pieces[first:last]) / blocks for first, last in runs]
    return [
        [Task(first, last, a, b, size) for (first, last), size in zip(runs, sizes, strict=True)]
        for a, b in pairwise(edges.tolist())
    ]


def columns_at_a_time(
    table: Chunked, limit: float, workers: int, column_bytes: float, *, held: float | None = None
) -> int:
    """How many columns of the largest piece fit into memory; the parameters are those of :func:`tasks_for`.

    `held` is what this process holds of all columns, by default of the columns at a time.
    """
    largest = max(table.pieces, key=lambda piece: piece.rows)
    of_column = largest.rows * table.expansion + _SUMS * column_bytes
    if held is None:
        held = 0.0
        of_column += _SUMS * column_bytes / workers
    room = (limit - PROCESS * (workers + 1) - held) / workers
    if room <= max(of_column, 0.0):
        needed = PROCESS * (workers + 1) + held + workers * max(of_column, 1e6)
        raise TamisError(
            f"memory of {limit / 1e9:.2g} GB is too little for {workers} workers and the {largest.rows} rows of "
            f"{largest.where}: take {1.01 * needed / 1e9:.2g} GB or more, fewer workers, or smaller row groups"
        )
    n_features = len(table.feature_names)
    return min(n_features, int(room // of_column)) if of_column else n_features


def _runs(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Pieces that one task reads: the first, and the one behind the last."""
    found: list[tuple[int, int]] = []
    first = size = 0
    for number, piece in enumerate(pieces, start=1):
        size += piece.size
        if size >= _TASK or number == len(pieces):
            found.append((first, number))
            first, size = number, 0
    return found
