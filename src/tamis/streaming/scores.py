"""Scores of a table that is read piece by piece, of all rows or of the training rows of folds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from importlib.metadata import version
from itertools import islice
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.score import Formula, Score, Scored
from tamis.base.types import Matrix
from tamis.contingency.class_counts import ClassCounts
from tamis.data.chunks.chunked import Chunked
from tamis.engines.progress import Step
from tamis.streaming.kept_sums import KeptSums, digest
from tamis.streaming.memory import default_limit
from tamis.streaming.scan import Pass, Scanned, added, at_once, scan
from tamis.streaming.target import StreamedTarget

#: Columns of which one is zero in some rows and one in none, to see what a score is a formula of.
_PROBE = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, 1.0]])


@dataclass(frozen=True)
class Folds:
    """One way to divide the rows of a table into folds.

    Attributes
    ----------
    part : array of shape (n_rows,)
        The fold in which each row is a test row, -1 for none. Of a single set of training rows 0 for them, else -1.
    n_folds : int
    trains : bool
        Whether it is a set of training rows, and no folds.

    Examples
    --------
    >>> Folds.of([np.array([0, 2]), np.array([1])], 4).part.tolist()
    [0, 1, 0, -1]
    """

    part: np.ndarray
    n_folds: int
    trains: bool = False

    @classmethod
    def inside(cls, train: np.ndarray, n_rows: int) -> "Folds":
        """A single set of training rows."""
        part = np.full(n_rows, -1, dtype=np.int16)
        part[train] = 0
        return cls(part, 1, trains=True)

    @property
    def parts(self) -> np.ndarray:
        """The part of each row: rows that are in no test fold are one more."""
        return self.part if self.trains else np.where(self.part < 0, self.n_folds, self.part).astype(np.int16)

    @property
    def n_parts(self) -> int:
        return self.n_folds if self.trains else self.n_folds + 1

    @classmethod
    def of(cls, tests: Sequence[np.ndarray], n_rows: int) -> "Folds":
        """The folds with these test rows, no two of which share a row."""
        part = np.full(n_rows, -1, dtype=np.int16)
        for number, rows in enumerate(tests):
            part[rows] = number
        return cls(part, len(tests))


@dataclass(frozen=True)
class StreamedScores:
    """Scores that were computed in one pass.

    Attributes
    ----------
    whole : Scored
        Those of all rows.
    folds : list of list of Scored
        For each division those of the training rows of every fold: of all rows but its test rows.
    scanned : Scanned
        What was read.
    """

    whole: Scored
    folds: list[list[Scored]]
    scanned: Scanned


def streamed_scores(
    table: Chunked,
    target: StreamedTarget,
    score: Score,
    options: Mapping[str, Any] | None = None,
    *,
    divisions: Sequence[Folds] = (),
    limit: float | None = None,
    engine: str = "local",
    resume: bool = True,
    progress: Step | None = None,
) -> StreamedScores:
    """Score every column of a table in one pass over its rows.

    Parameters
    ----------
    table : Chunked
    target : StreamedTarget
    score : Score
        One that is a formula of a summary (:func:`streams`).
    options : mapping, optional
        Options of the score.
    divisions : sequence of Folds
        For each of them, and every fold, the score is computed of the training rows too: sums over the other folds.
        They equal those of a pass over these rows but for the rounding of sums.
    limit : float, optional
        Bytes of memory for all processes of this machine; half of what is free by default.
    engine : str, default="local"
    resume : bool, default=True
        Whether sums are kept on disk while the pass runs, for the same call after a kill.
    progress : callable, optional
        Called with gigabytes that were read, and all.
    """
    options = dict(options or {})
    formula = score.formula_for(options)
    if formula is None:
        raise TamisError(f"{score.name} needs all rows of a column at once: it cannot be computed piece by piece")
    task = target.labelled.task
    if score.supervised:
        score.check_task(task)
    classes = len(target.labelled.classes) if score.supervised and task == "classify" else None
    summarise = _summariser(score, formula, options, classes)
    codes = target.codes if score.supervised else None
    if divisions and all(one.trains for one in divisions):
        divisions = [*divisions, Folds.of([], target.n_rows)]
    sizes = tuple(one.n_parts for one in divisions) or (1,)
    parts = np.stack([one.parts for one in divisions]) if divisions else None
    together = classes if at_once(formula.summary) else None
    wanted = Pass(table, codes, parts, sizes, summarise, together)
    probe = summarise(_PROBE, None if codes is None else np.zeros(3, dtype=np.intp if task == "classify" else float))
    column_bytes = sum(array.nbytes for array in probe.arrays().values()) / _PROBE.shape[1] * wanted.n_sums
    kept = KeptSums(identity(wanted, score, options), type(probe)) if resume else None
    found = scan(
        wanted,
        limit=default_limit() if limit is None else limit,
        column_bytes=column_bytes,
        engine=engine,
        kept=kept,
        progress=progress,
    )

    def scored(summary: Any) -> Scored:
        return score.of(summary, **options)

    at = next((number for number, one in enumerate(divisions) if not one.trains), 0)
    whole = scored(_total(found.parts[at]))
    folds = (
        [
            [scored(one) for one in (own if division.trains else islice(_without_each(own), division.n_folds))]
            for division, own in zip(divisions, found.parts, strict=True)
        ]
        if divisions
        else []
    )
    if kept is not None:
        kept.remove()
    return StreamedScores(whole, folds, found)


@dataclass(frozen=True)
class _Summariser:
    """``summarise(X, y)`` of a formula; of counts only the kinds that it needs, without the rows."""

    summary: Any
    n_classes: int | None
    kinds: tuple[str, ...] = ()

    def __call__(self, X: Matrix, y: Any) -> Any:
        known = {} if self.n_classes is None else {"n_classes": self.n_classes}
        found = self.summary(X, y, None, **known)
        if not isinstance(found, ClassCounts):
            return found
        for kind in self.kinds:
            getattr(found, kind)
        return ClassCounts.of_arrays(found.arrays())


def _summariser(score: Score, formula: Formula, options: Mapping[str, Any], n_classes: int | None) -> _Summariser:
    known = {} if n_classes is None else {"n_classes": n_classes}
    y = np.zeros(3, dtype=np.intp) if score.supervised else None
    if score.supervised and n_classes is None:
        return _Summariser(formula.summary, None)
    counts = formula.summary(_PROBE, y, None, **known)
    if not isinstance(counts, ClassCounts):
        return _Summariser(formula.summary, n_classes)
    formula.function(counts, **options)
    return _Summariser(formula.summary, n_classes, counts.kinds)


def _total(parts: Sequence[Any]) -> Any:
    """The sum of all parts; one without rows is None."""
    return reduce(added, parts)


def _without_each(parts: Sequence[Any]) -> Iterator[Any]:
    """For each part the sum of all others, by sums from both ends: nothing is subtracted, which would cancel digits."""
    if len(parts) == 1:
        yield parts[0]
        return
    behind: list[Any] = [None]
    for one in reversed(parts[1:]):
        behind.append(added(one, behind[-1]))
    before = None
    for one in parts:
        yield added(before, behind.pop())
        before = added(before, one)


def identity(wanted: Pass, score: Score, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the sums depend on."""
    table = wanted.table
    files = {piece.path for piece in table.pieces}
    return {
        "versions": [version("tamis"), version("numpy")],
        "files": sorted([str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns] for path in files),
        "columns": digest(np.array("\n".join(map(str, table.feature_names)).encode())),
        "target": [table.target, digest(wanted.target)],
        "parts": [list(wanted.n_parts), digest(wanted.parts)],
        "score": [score.name, {name: repr(value) for name, value in sorted(options.items())}],
    }
