"""Scores that need the order of a column's values, such as ssv, stump and modl, of a table read piece by piece.

A first pass over a few pieces of the file finds cuts; a second over all rows counts the rows of each class between
them (:mod:`tamis.streaming.value_tables`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.score import ArrayFields, Score, Scored
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.data.chunks.chunked import Chunked, Columns, Piece
from tamis.engines.engine import open_engine
from tamis.engines.progress import Step
from tamis.streaming.kept_sums import KeptSums, digest
from tamis.streaming.memory import Task, columns_at_a_time, default_limit
from tamis.streaming.scan import Pass, beside, scan
from tamis.streaming.scores import identity
from tamis.streaming.target import StreamedTarget
from tamis.streaming.value_tables import BINS, Counter, ValueTables, cuts_of, score_of, upper_bound

#: Pieces of the file, and rows of all of them together, in which cuts are looked for.
_PIECES, _ROWS = 16, 20_000

#: Bytes of the tables of all columns that are computed at a time.
_TABLES = 256e6

#: Classes up to which a bound of the score is computed: a table for each set of them.
_CLASSES = 6


@dataclass(frozen=True)
class TableScores:
    """Scores from tables of values.

    Attributes
    ----------
    scored : Scored
    upper : array of shape (n_features,), optional
        What the score of a column is at most, if its values are told apart; None where no bound is known.
    notes : list of str
        How exact the scores are, and what an earlier pass had read.
    """

    scored: Scored
    upper: FloatArray | None
    notes: list[str]


def table_scores(
    table: Chunked,
    target: StreamedTarget,
    score: Score,
    options: Mapping[str, Any] | None = None,
    *,
    limit: float | None = None,
    engine: str = "local",
    resume: bool = True,
    progress: Step | None = None,
) -> TableScores:
    """Score columns by their tables of values.

    For scores of single columns that take weights, with a target of classes. The parameters are those of
    :func:`tamis.streaming.scores.streamed_scores`.
    """
    if not score.columnwise or not score.supervised:
        raise TamisError(
            f"{score.name} compares rows with rows, or columns with columns, so that it needs the table in memory: put "
            f"a score that is read piece by piece in front, such as 'f(2000) | {score.name}'"
        )
    if target.labelled.task != "classify":
        raise TamisError(f"{score.name} of a target of numbers needs the table in memory; cc, f and variance do not")
    n_classes = len(target.labelled.classes)
    limit = default_limit() if limit is None else limit
    n_features = len(table.feature_names)
    of_column = _bytes_of_column(n_classes)
    with open_engine(engine, None) as workers:
        at_most = columns_at_a_time(table, limit, workers.per_machine, of_column)
    width = max(1, min(at_most, int(_TABLES // of_column)))
    given = dict(options or {})
    wanted = _Wanted(table, target.codes, n_classes, score, given, limit, engine)
    size = float(sum(piece.size for piece in table.pieces))
    edges = [*range(0, n_features, width), n_features]
    blocks = [[Task(0, len(table.pieces), start, stop, size)] for start, stop in pairwise(edges)]
    finished = KeptSums(wanted.identity, _BlockScores) if resume else None
    if finished is not None:
        blocks = finished.agreed(blocks)
    found: list[_BlockScores] = []
    kept = 0.0
    for number, block in enumerate(blocks):
        start, share = block[0].start, (block[0].stop - block[0].start) / n_features

        def step(read: float, whole: float, start: int = start, share: float = share) -> None:
            if progress is not None:
                progress(start / n_features * whole + share * read, whole)

        done, earlier = (0, []) if finished is None else finished.read(number, block)
        if done:
            found += earlier
            kept += share
            continue
        one, part = _block_scores(wanted, _Span(table, start, block[0].stop), step, resume=resume)
        found.append(one)
        kept += share * part
        if finished is not None:
            finished.write(number, block, 1, [one])
    if finished is not None:
        finished.remove()
    whole: _BlockScores = beside(found)
    upper = whole.upper if score.single_split and n_classes <= _CLASSES else None
    notes = [_note(score.name, whole.values, whole.coarse, upper)]
    if kept:
        notes.append(f"an earlier pass that was stopped had read {100 * kept:.0f} % of the file")
    return TableScores(Scored(whole.values), upper, notes)


@dataclass(frozen=True, eq=False)
class _Wanted:
    """What is computed of a table."""

    table: Chunked
    codes: Codes | FloatArray
    n_classes: int
    score: Score
    options: dict[str, Any]
    limit: float
    engine: str

    @property
    def identity(self) -> dict[str, Any]:
        """What the scores depend on."""
        return identity(Pass(self.table, self.codes, None, (1,), Counter), self.score, self.options)


@dataclass(frozen=True)
class _BlockScores(ArrayFields):
    """Scores of a block of columns, the bounds, and the largest shares of rows that were counted together."""

    values: FloatArray
    upper: FloatArray
    coarse: FloatArray


def _block_scores(wanted: _Wanted, span: "_Span", progress: Step, *, resume: bool) -> tuple[_BlockScores, float]:
    """The scores of a block of columns, and the share of the file that an earlier pass had read."""
    counter = Counter(_cuts(span, wanted.engine), wanted.n_classes)
    own = {**wanted.identity, "columns": [span.start, span.stop], "cuts": digest(counter.cuts)}
    kept = KeptSums(own, ValueTables) if resume else None
    scanned = scan(
        Pass(span, wanted.codes, None, (1,), counter, whole=True),
        limit=wanted.limit,
        column_bytes=_bytes_of_column(wanted.n_classes),
        engine=wanted.engine,
        kept=kept,
        progress=progress,
    )
    tables = scanned.parts[0][0]
    assert isinstance(tables, ValueTables)
    columns = range(span.stop - span.start)
    values = np.array([score_of(tables, j, wanted.score, wanted.options) for j in columns])
    coarse, upper = tables.coarseness, values.copy()
    if wanted.score.single_split and wanted.n_classes <= _CLASSES:
        for j in np.flatnonzero(coarse):
            upper[j] = max(values[j], upper_bound(tables, int(j), wanted.score, wanted.options))
    if kept is not None:
        kept.remove()
    return _BlockScores(values, upper, coarse), scanned.kept / (scanned.kept + scanned.read)


def _bytes_of_column(n_classes: int) -> float:
    return 8.0 * BINS * (n_classes + 4)


@dataclass(frozen=True, eq=False)
class _Span:
    """A table with some of its columns."""

    table: Chunked
    start: int
    stop: int

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def target(self) -> str:
        return self.table.target

    @property
    def pieces(self) -> Sequence[Piece]:
        return self.table.pieces

    @property
    def notes(self) -> Sequence[str]:
        return self.table.notes

    @property
    def expansion(self) -> float:
        return self.table.expansion

    @property
    def single(self) -> bool:
        return self.table.single

    def column(self, name: str) -> Any:
        return self.table.column(name)

    @property
    def feature_names(self) -> np.ndarray:
        return self.table.feature_names[self.start : self.stop]

    def read(self, piece: Piece, columns: Columns) -> Matrix:
        assert isinstance(columns, slice)
        return self.table.read(piece, self._place(columns))

    def blocks(self, piece: Piece, columns: slice) -> Iterator[Matrix]:
        return self.table.blocks(piece, self._place(columns))

    def _place(self, columns: slice) -> slice:
        return slice(self.start + columns.start, self.start + columns.stop)


def _cuts(span: _Span, engine: str) -> FloatArray:
    """Cuts between the values of evenly spaced pieces."""
    pieces = span.pieces
    chosen = np.unique(np.linspace(0, len(pieces) - 1, min(_PIECES, len(pieces))).round().astype(int)).tolist()
    tasks = [Task(number, number + 1, 0, span.stop - span.start, 0.0) for number in chosen]
    rows = -(-_ROWS // len(tasks))
    with open_engine(engine, _Sampled(span, rows)) as workers:
        found = dict(workers.run(_some_rows, tasks))
    sample = np.concatenate([found[number] for number in range(len(tasks))])
    return np.stack([cuts_of(column) for column in sample.T])


@dataclass(frozen=True)
class _Sampled:
    span: _Span
    rows: int


def _some_rows(task: Task, wanted: _Sampled) -> FloatArray:
    """Evenly spaced rows of a piece."""
    X = wanted.span.read(wanted.span.pieces[task.first], task.columns)
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(wanted.rows, X.shape[0])).round().astype(int))
    own = X[rows]
    return np.asarray(own.toarray() if sp.issparse(own) else own, dtype=np.float64)


def _note(name: str, values: FloatArray, coarse: FloatArray, upper: FloatArray | None) -> str:
    """How exact the scores are, in words."""
    inexact = int((coarse > 0).sum())
    if not inexact:
        return f"{name} is exact: no column has values that were counted together"
    grouped = (
        f"{name} of {inexact} of {coarse.size} columns was computed from {BINS} groups of neighbouring values; "
        f"a group holds at most {100 * coarse.max():.2g} % of the rows"
    )
    if upper is None:
        return grouped
    return (
        f"{grouped}; it is at most {(upper - values).max():.3g} too low, where the best column has {values.max():.4g}"
    )
