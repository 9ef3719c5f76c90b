"""Recipes on a table that does not fit into memory: the first step reads it, the others get the columns it selects."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tamis import scores
from tamis.base.cut import Cut
from tamis.base.errors import TamisError
from tamis.base.score import Score
from tamis.compose.catalog import entry
from tamis.compose.chain import Call, Chain
from tamis.compose.parser import parse
from tamis.data.chunks.chunked import Chunked
from tamis.data.chunks.formats import is_folder_of_parquet, is_too_large, open_chunked
from tamis.data.dataset import Dataset
from tamis.data.reading import Reading
from tamis.data.selection_note import read_selection_note
from tamis.engines.progress import Wanted
from tamis.streaming.columns import with_columns, with_rows
from tamis.streaming.memory import default_limit
from tamis.streaming.ranking import StreamedRanking, streamed_ranking
from tamis.streaming.scores import Folds
from tamis.streaming.target import StreamedTarget

#: Relative distance to the last score that is selected within which columns are read too: sums in memory round
#: differently.
_NEAR = 1e-9


def is_streamed(data: Any, memory: float | None = None) -> bool:
    """Whether a path is read piece by piece.

    It is where the user limits `memory`, where it is a folder of Parquet files, and where the file would take more than
    half of the free memory.

    >>> is_streamed("colon"), is_streamed("missing.parquet", 2e9)
    (False, False)
    """
    if not isinstance(data, str | os.PathLike) or not os.path.exists(data):
        return False
    path = Path(data)
    return is_folder_of_parquet(path) or (memory is not None and path.is_file()) or is_too_large(path, default_limit())


@dataclass(frozen=True)
class RankingStep:
    """A step of a recipe that ranks columns by a score, one by one."""

    score: Score
    options: dict[str, Any]
    cut: Cut

    @classmethod
    def of(cls, call: Any) -> "RankingStep | None":
        """The step that a call stands for; None where it is no such step."""
        if not isinstance(call, Call) or entry(call.name).score is None:
            return None
        built = call.build()
        cut = Cut(built.k, built.fraction, built.threshold, built.fdr, built.at_least)
        return cls(scores.get(built.by), dict(built.options or {}), cut)


@dataclass(frozen=True, eq=False)
class StreamedTable:
    """A table on disk and its target, with what every step needs to read it."""

    table: Chunked
    target: StreamedTarget
    limit: float
    engine: str
    progress: Wanted = None

    @classmethod
    def open(
        cls,
        path: "str | os.PathLike[str]",
        target: str | None = None,
        reading: Reading | None = None,
        *,
        group: str | None = None,
        memory: float | None = None,
        engine: str | None = None,
        progress: Wanted = None,
    ) -> "StreamedTable":
        """Open a file or a folder, and read its target.

        Parameters
        ----------
        path : path
        target : str, optional
            The column to predict.
        reading : Reading, optional
        group : str, optional
            A column of groups; it is no feature.
        memory : float, optional
            Bytes for all processes of this machine; half of what is free by default.
        engine : str, optional
            Who reads; all cores by default.
        progress : callable or bool, optional
        """
        if group is not None:
            known = reading or Reading()
            reading = replace(known, drop=(*known.drop, group))
        table = open_chunked(path, target, reading)
        if (note := read_selection_note(path)) is not None:
            # Every table of this protocol is a frozen dataclass.
            table = replace(table, notes=(*table.notes, note))  # type: ignore[type-var]
        limit = default_limit() if memory is None else memory
        return cls(table, StreamedTarget.of(table, reading, group), limit, engine or "local", progress)

    def ranking(self, step: RankingStep, divisions: Sequence[Folds] = (), near: float = 0.0) -> StreamedRanking:
        """The ranking of all columns by the score of a step; `near` is that of :func:`streamed_ranking`."""
        return streamed_ranking(
            self.table,
            self.target,
            step.score,
            step.options,
            cut=step.cut,
            divisions=divisions,
            near=near,
            limit=self.limit,
            engine=self.engine,
            progress=self.progress,
        )

    def columns(self, which: np.ndarray) -> Dataset:
        """The data set of some columns."""
        return with_columns(self.table, self.target, which, limit=self.limit, progress=self.progress)

    def prepared(self, chain: Chain, seed: int = 0) -> tuple[Dataset, Chain]:
        """The data set on which the rest of a recipe runs in memory, and the recipe for it.

        A first step that ranks columns one by one is computed piece by piece, and the data set has the columns that it
        selects. Any other first step gets rows that are drawn at random; a note of the data set says so.
        """
        step = RankingStep.of(chain.parts[0])
        if step is None or not self.can_read(step):
            data, note = with_rows(self.table, self.target, limit=self.limit, seed=seed, progress=self.progress)
            return replace(data, notes=(*data.notes, f"{chain.parts[0]}: {note}")), chain
        found = self.ranking(step)
        selected = np.flatnonzero(found.support)
        first = chain.parts[0]
        assert isinstance(first, Call)
        cuts = {"k", "fraction", "threshold", "fdr", "at_least"}
        rest = tuple((name, value) for name, value in first.arguments if name not in cuts)
        # Its other columns are not there: a share or a rate of those selected would be another one.
        kept = Call(first.name, (("k", int(selected.size)), *rest))
        data = self.columns(selected)
        size = len(self.table.feature_names)
        notes = (
            *data.notes,
            *found.notes,
            f"{first} selects {selected.size} of {size} columns, in a pass over the file",
        )
        return replace(data, notes=notes), Chain((kept, *chain.parts[1:]))

    def can_read(self, step: RankingStep) -> bool:
        """Whether a score can be computed piece by piece, exactly or by tables of values."""
        by_tables = step.score.columnwise and step.score.supervised and self.target.labelled.task == "classify"
        return step.score.formula_for(step.options) is not None or by_tables

    def prefiltered(self, text: str, divisions: Sequence[Folds]) -> tuple[Dataset, Chain]:
        """The columns that a selection keeps in any fold or on all rows, and the selection as a recipe.

        A recipe that begins with the selection selects in each fold what it would select among all columns, because a
        score of one column does not depend on the others. A recipe without it would learn from test rows.

        Parameters
        ----------
        text : str
            A score with a number of columns: ``"ig(5000)"``.
        divisions : sequence of Folds
            How the rows are divided.
        """
        chain = check_prefilter(text)
        step = RankingStep.of(chain.parts[0])
        assert step is not None
        found = self.ranking(step, divisions, _NEAR)
        mask = found.support.copy()
        for own in found.folds:
            for one in own:
                mask |= one
        size = len(self.table.feature_names)
        data = self.columns(np.flatnonzero(mask))
        note = (
            f"{chain}: {data.n_features} of {size} columns are selected on the training rows of some fold or on all "
            "rows; each fold uses its own"
        )
        return replace(data, notes=(*data.notes, *found.notes, note)), chain


def check_prefilter(text: str) -> Chain:
    """Read a prefilter: a score that one pass gives exactly, with a number of columns.

    >>> str(check_prefilter("ig(5000)"))
    'ig(5000)'
    >>> check_prefilter("ssv(100)")
    Traceback (most recent call last):
    ...
    tamis.base.errors.TamisError: a prefilter takes a score that is a sum over rows, such as ig(5000); got 'ssv(100)'
    """
    chain = parse(text)
    step = RankingStep.of(chain.parts[0]) if len(chain.parts) == 1 else None
    if step is None or step.score.formula_for(step.options) is None:
        raise TamisError(f"a prefilter takes a score that is a sum over rows, such as ig(5000); got {text!r}")
    if step.cut.k is None:
        raise TamisError(f"a prefilter takes a number of columns, such as ig(5000); got {text!r}")
    return chain
