"""Columns of text as counts of words, beside the numbers and names of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import DataError, quoted
from tamis.base.mixed_columns import levels_of
from tamis.data.dataset import Dataset
from tamis.data.parsing.counted_column import CountedColumn
from tamis.data.parsing.html_text import without_markup
from tamis.data.parsing.side_by_side import side_by_side
from tamis.data.parsing.tokens import CountedText, count_words
from tamis.data.word_counts import Vocabulary, WordCounts


def with_words(data: Dataset, texts: Sequence[str]) -> Dataset:
    """The data set with a column for each word of its texts, whose values are counts.

    Every word of the labelled and of the unlabelled rows has a column, also one that a single document has: which words
    are worth a feature is learned in the training rows (:class:`tamis.transform.Words`). Numbers come before the words
    and keep their names. A nominal column becomes one column for each of its values. Words are called as they are where
    the text is the only column, and ``body: word`` otherwise. Texts that are HTML lose their markup
    (:mod:`tamis.data.parsing.html_text`), which a note says.

    Parameters
    ----------
    data : Dataset
        Its rows are a frame of polars.
    texts : sequence of str
        The columns of text.

    Returns
    -------
    Dataset
        `X` is a :class:`~tamis.data.word_counts.WordCounts`.
    """
    parts = list(data.unlabelled)
    frames = [data.X, *data.unlabelled.values()]
    notes: list[str] = []
    counts = counts_of(pl.concat(frames), texts, data.name, notes, data.counted)
    ends = np.cumsum([len(frame) for frame in frames])
    # A slice of all rows would be a copy.
    split = [counts[end - len(frame) : end] for frame, end in zip(frames, ends, strict=True)] if parts else [counts]
    labelled, *others = split
    names = np.array(counts.names, dtype=str)
    rows = dict(zip(parts, others, strict=True))
    known: dict[str, Any] = {"feature_names": names, "roles": None, "texts": (), "notes": (*data.notes, *notes)}
    return replace(data, X=labelled, unlabelled=rows, counted={}, **known)


def counts_of(
    frame: pl.DataFrame,
    texts: Sequence[str],
    where: str,
    notes: list[str] | None = None,
    before: Mapping[str, CountedColumn] | None = None,
) -> WordCounts:
    """The counts of the words in some columns of a frame, behind its other columns.

    Texts that are HTML lose their markup first. `where` begins an error message; `notes` get what was changed. Columns
    in `before` were counted when they were read, and the frame has their stand-ins.
    """
    counted: dict[str, CountedText] = {}
    for name in texts:
        if before and name in before:
            counted[name], pages = before[name].of(frame[name])
        else:
            plain, pages = without_markup(frame[name].cast(pl.String))
            counted[name] = count_words(plain)
        if pages and notes is not None:
            notes.append(
                f"{pages} of {frame.height} texts in {quoted(name)} are HTML: only the text between tags is read"
            )
    if not any(found.words for found in counted.values()):
        raise DataError(f"{where}: there is no word in {' or '.join(map(repr, texts))}")
    names, blocks, n_numbers = _others(frame.drop(texts))
    first = len(names)
    words: list[str | None] = [None] * first
    for name, found in counted.items():
        names += found.words if frame.width == 1 else [f"{name}: {word}" for word in found.words]
        words += found.words
        blocks.append(found.counts)
    total = side_by_side(blocks)
    offsets, codes = _in_order(list(counted.values()), first)
    vocabulary = Vocabulary(np.array(names, dtype=object), n_numbers, np.array(words, dtype=object), offsets, codes)
    return WordCounts.of(total, vocabulary)


def _others(frame: pl.DataFrame) -> tuple[list[str], list[Any], int]:
    """Names and values of the numbers, then of the levels of the nominal columns, and how many are numbers."""
    numeric = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    names, blocks = list(numeric), []
    if numeric:
        blocks.append(sp.csr_array(frame.select(pl.col(numeric).cast(pl.Float32)).to_numpy()))
    for name in frame.columns:
        if name not in numeric:
            levels = levels_of(frame[name])
            names += [f"{name}={level}" for level in levels]
            blocks.append(_indicators(frame[name], levels))
    return names, blocks, len(numeric)


def _indicators(column: pl.Series, levels: list[str]) -> sp.csr_array:
    """A column of ones and zeros for each level."""
    codes = column.cast(pl.Enum(levels)).to_physical()
    rows = np.flatnonzero(codes.is_not_null().to_numpy())
    where = (rows, codes.drop_nulls().to_numpy().astype(np.int32))
    return sp.csr_array((np.ones(rows.size, dtype=np.float32), where), shape=(len(column), len(levels)))


def _in_order(texts: list[CountedText], first: int) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and columns of the words of all texts of each document, with -1 behind a text that others follow."""
    if not all(text.offsets.size for text in texts):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    starts = first + np.cumsum([0, *(len(text.words) for text in texts[:-1])])
    for text, start in zip(texts, starts.tolist(), strict=True):
        # In place, for there may be millions.
        np.add(text.codes, np.int32(start), out=text.codes, where=text.codes >= 0)
    if len(texts) == 1:
        return texts[0].offsets, texts[0].codes
    lengths = np.stack([np.diff(text.offsets) + 1 for text in texts], axis=1)
    ends = np.cumsum(lengths.ravel()).reshape(lengths.shape)
    codes = np.full(int(ends.flat[-1]) if ends.size else 0, -1, dtype=np.int32)
    for column, text in enumerate(texts):
        begin = ends[:, column] - lengths[:, column] - text.offsets[:-1]
        codes[np.arange(text.codes.size) + np.repeat(begin, np.diff(text.offsets))] = text.codes
    return np.concatenate(([0], ends[:, -1])), codes
