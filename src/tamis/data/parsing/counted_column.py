"""Columns of text whose words are counted while the file is read; in the table, stand-ins take the place of the texts.

A stand-in is the number of the text, so that rows can be left out of the table before the counts are needed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.data.column_wishes import kinds_of
from tamis.data.parsing.html_text import is_html, without_markup
from tamis.data.parsing.reader import Source
from tamis.data.parsing.table import check_names, find_target
from tamis.data.parsing.tokens import CountedText, WordCounter, renumber

#: Begins a stand-in: not a number, no date and no mark of a missing value.
_STAND_IN = "text "


@dataclass(frozen=True, eq=False)
class CountedColumn:
    """The words of a column of texts, and which texts are HTML (by number, in order)."""

    text: CountedText
    pages: np.ndarray

    def of(self, stand_ins: pl.Series) -> tuple[CountedText, int]:
        """The words of the texts that a column of stand-ins has, in their order, and how many of the texts are HTML.

        Where some are left out, the arrays of the column are changed in place: it can be asked once.
        """
        rows = stand_ins.str.slice(len(_STAND_IN)).cast(pl.Int64).to_numpy()
        if rows.size == self.text.counts.shape[0]:
            return self.text, self.pages.size
        return _of_rows(self.text, rows), int(np.isin(self.pages, rows).sum())


class ColumnCounter:
    """Counts the words of one column batch after batch."""

    def __init__(self) -> None:
        self._words = WordCounter()
        self._pages: list[np.ndarray] = []
        self._rows = 0

    def add(self, texts: pl.Series) -> pl.Series:
        """Count more texts, and return their stand-ins."""
        self._pages.append(self._rows + is_html(texts).arg_true().to_numpy().astype(np.int64))
        self._words.add(without_markup(texts)[0])
        numbers = pl.Series(texts.name, np.arange(self._rows, self._rows + len(texts)))
        self._rows += len(texts)
        return (_STAND_IN + numbers.cast(pl.String)).alias(texts.name)

    def finish(self) -> CountedColumn:
        """The counts of all texts."""
        return CountedColumn(self._words.finish(), np.concatenate([np.empty(0, dtype=np.int64), *self._pages]))


def text_columns(source: Source, names: Sequence[str], target: str | None) -> list[int]:
    """The positions of the columns that the user says are text; an error where there is no such column, or no class."""
    check_names(source, names)
    at = find_target(source, names, target)
    features = [name for j, name in enumerate(names) if j != at]
    # The parts of a date, such as "visit: month", become columns later.
    given = {name: kind for name, kind in source.reading.all_kinds.items() if ": " not in name or kind == "text"}
    kinds = kinds_of(given, features, "" if at is None else names[at])
    return [j for j, name in enumerate(names) if j != at and kinds.get(name) == "text"]


def _of_rows(text: CountedText, rows: np.ndarray) -> CountedText:
    """The words of some texts, by number in ascending order; the arrays are compacted in place."""
    counts = text.counts
    data, indices = counts.data, counts.indices
    indptr = _compacted([data, indices], counts.indptr, rows)
    data, indices = data[: indptr[-1]], indices[: indptr[-1]]
    used = np.zeros(len(text.words), dtype=bool)
    used[indices] = True
    to = np.append(np.cumsum(used, dtype=np.int32) - 1, np.int32(-1))
    to[:-1][~used] = -1
    renumber(indices, to)
    left = sp.csr_array((data, indices, indptr.astype(counts.indptr.dtype)), shape=(rows.size, int(used.sum())))
    words = [word for word, there in zip(text.words, used.tolist(), strict=True) if there]
    if not text.offsets.size:
        return CountedText(words, left, text.offsets, text.codes)
    offsets = _compacted([text.codes], text.offsets, rows)
    codes = text.codes[: offsets[-1]]
    renumber(codes, to)
    return CountedText(words, left, offsets, codes)


def _compacted(arrays: Iterable[np.ndarray], starts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Move the values of some rows to the front of each array, in place, and return where the rows begin there."""
    new = np.concatenate(([0], np.cumsum(np.diff(starts)[rows], dtype=np.int64)))
    # Rows that follow each other move together: no more moves than rows that are left out.
    firsts = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
    for first, end in zip(firsts.tolist(), [*firsts[1:].tolist(), rows.size], strict=True):
        begin, stop = int(starts[rows[first]]), int(starts[rows[end - 1] + 1])
        for values in arrays:
            values[new[first] : new[end]] = values[begin:stop]
    return new
