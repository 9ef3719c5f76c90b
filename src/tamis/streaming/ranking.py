"""The ranking of the columns of a table that is read piece by piece."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.base.cut import Cut, rank
from tamis.base.score import Score, Scored
from tamis.base.types import FloatArray, Mask
from tamis.data.chunks.chunked import Chunked
from tamis.engines.progress import Wanted, progress_bar
from tamis.streaming.scores import Folds, streamed_scores
from tamis.streaming.table_scores import table_scores
from tamis.streaming.target import StreamedTarget


@dataclass(frozen=True)
class StreamedRanking:
    """Scores of all columns, in order.

    Attributes
    ----------
    values : array of shape (n_features,)
    order : array of shape (n_features,)
        Column numbers from best to worst.
    support : mask of shape (n_features,)
        The columns that the cut selects.
    folds : list of list of mask
        The same for the training rows of each fold of each division, where the rows were divided.
    notes : list of str
        What was approximated, or found of an earlier pass.
    """

    values: FloatArray
    order: np.ndarray
    support: Mask
    folds: list[list[Mask]]
    notes: list[str]


def streamed_ranking(
    table: Chunked,
    target: StreamedTarget,
    score: Score,
    options: dict[str, Any] | None = None,
    *,
    cut: Cut,
    divisions: Sequence[Folds] = (),
    limit: float | None = None,
    near: float = 0.0,
    engine: str = "local",
    progress: Wanted = None,
) -> StreamedRanking:
    """Rank the columns by a score, in one pass where it is a formula of sums over rows, in two where it is not.

    The parameters are those of :func:`tamis.streaming.scores.streamed_scores`; scores that are no formula take no
    divisions, and are approximated (:mod:`tamis.streaming.value_tables`). With a `cut` of k columns, those whose score
    is within the relative distance `near` of the last one are selected too.
    """
    size = sum(piece.size for piece in table.pieces) / 1e9
    with progress_bar(f"reading {table.name}, {size:.3g} GB", progress) as step:
        if score.formula_for(options or {}) is not None:
            found = streamed_scores(
                table, target, score, options, divisions=divisions, limit=limit, engine=engine, progress=step
            )
            whole, folds, scanned, notes = found.whole, found.folds, found.scanned, []
            if scanned.kept:
                n = scanned.kept
                notes.append(f"an earlier pass that was stopped had read {n} of {n + scanned.read} parts of the file")
        else:
            tables = table_scores(table, target, score, options, limit=limit, engine=engine, progress=step)
            whole, folds, notes = tables.scored, [], list(tables.notes)
            if tables.upper is not None and cut.k is not None:
                notes += _uncertain(tables.scored.values, tables.upper, cut.k)
    values = whole.values
    order = rank(values)
    support = _cut(cut, whole, near)
    return StreamedRanking(values, order, support, [[_cut(cut, one, near) for one in own] for own in folds], notes)


def _uncertain(values: FloatArray, upper: FloatArray, k: int) -> list[str]:
    """A note where the bounds of some columns leave open whether they are among the best k."""
    chosen = rank(values)[:k]
    others = np.setdiff1d(np.arange(values.size), chosen)
    open_ = int((upper[others] > values[chosen].min()).sum())
    if not open_:
        return []
    return [f"{open_} columns that are not selected may be as good as the last of the {k} that are"]


def _cut(cut: Cut, scored: Scored, near: float) -> Mask:
    values = scored.values
    order = rank(values)
    keep = cut.apply(values, order, scored.pvalues if cut.fdr is not None else None)
    if near and cut.k is not None:
        last = values[order[min(cut.k, values.size) - 1]]
        keep |= values >= last - near * abs(last)
    return keep
