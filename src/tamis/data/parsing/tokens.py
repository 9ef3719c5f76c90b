"""Text as words: lower-case runs of two letters, digits or underscores and more, as scikit-learn's CountVectorizer."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.data.parsing.growing import GrowingArray

_WORD = r"\w\w+"
#: Longer words are no words, such as encoded files in a message.
LONGEST_WORD = 64
#: Characters that are taken apart at a time; their words take ten times as many bytes.
_AT_ONCE = 1 << 22
#: Numbers that are replaced at a time.
_BLOCK = 1 << 20
#: The order of the words is kept up to so many of them.
_MOST_IN_ORDER = 50_000_000


@dataclass(frozen=True, eq=False)
class CountedText:
    """The words of a column of texts.

    Attributes
    ----------
    words : list of str
        All words, sorted.
    counts : CSR matrix of shape (n_texts, n_words)
        How often each word is in each text; float32.
    offsets, codes : arrays
        Where each text begins among the codes, and the number of the word at each place (-1 for one that is too long);
        empty where there are more than fifty million.
    """

    words: list[str]
    counts: sp.csr_array
    offsets: np.ndarray
    codes: np.ndarray


def count_words(texts: pl.Series) -> CountedText:
    """Take texts apart into words and count them; a missing text has none.

    Examples
    --------
    >>> found = count_words(pl.Series(["The gene, the word.", None, "GENE!"]))
    >>> found.words, found.counts.toarray().tolist(), found.codes.tolist()
    (['gene', 'the', 'word'], [[1.0, 2.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [1, 0, 1, 2, 0])
    """
    counter = WordCounter()
    counter.add(texts)
    return counter.finish()


class WordCounter:
    """Counts the words of a column of texts that comes batch after batch.

    The texts are not kept: a word in a text takes eight bytes however often it is there, and its place another four
    while the order is kept.

    Examples
    --------
    >>> counter = WordCounter()
    >>> counter.add(pl.Series(["a word", None]))
    >>> counter.add(pl.Series(["gene word gene"]))
    >>> found = counter.finish()
    >>> found.words, found.counts.toarray().tolist()
    (['gene', 'word'], [[0.0, 1.0], [0.0, 0.0], [2.0, 1.0]])
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._lengths = GrowingArray(np.int32)
        self._sizes = GrowingArray(np.int32)
        self._columns = GrowingArray(np.int32)
        self._counts = GrowingArray(np.float32)
        self._codes: GrowingArray | None = GrowingArray(np.int32)

    def add(self, texts: pl.Series) -> None:
        """Count the words of more texts; a missing one has none."""
        for batch in _batches(texts):
            length, codes = _numbered(batch, self._known)
            counts = _summed(length, codes)
            self._lengths.extend(length)
            self._sizes.extend(np.diff(counts.indptr))
            self._columns.extend(counts.indices)
            self._counts.extend(counts.data)
            if self._codes is not None:
                self._codes.extend(codes)
                if self._codes.values.size > _MOST_IN_ORDER:
                    self._codes = None

    def finish(self) -> CountedText:
        """The counts of all texts; nothing can be added any more."""
        words = np.array([*self._known], dtype=object)
        order = np.argsort(words)
        to = np.append(np.empty(words.size, dtype=np.int32), np.int32(-1))
        to[order] = np.arange(words.size, dtype=np.int32)
        renumber(self._columns.values, to)
        indptr = np.concatenate(([0], np.cumsum(self._sizes.values, dtype=np.int64)))
        narrow = np.int32 if indptr[-1] < np.iinfo(np.int32).max else np.int64
        shape = (self._sizes.values.size, words.size)
        counts = sp.csr_array((self._counts.values, self._columns.values, indptr.astype(narrow)), shape=shape)
        counts.sort_indices()
        if self._codes is None:
            return CountedText(words[order].tolist(), counts, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))
        renumber(self._codes.values, to)
        offsets = np.concatenate(([0], np.cumsum(self._lengths.values, dtype=np.int64)))
        return CountedText(words[order].tolist(), counts, offsets, self._codes.values)


def renumber(codes: np.ndarray, to: np.ndarray) -> None:
    """Replace numbers by those of a table, in place and a block at a time."""
    for start in range(0, codes.size, _BLOCK):
        block = codes[start : start + _BLOCK]
        block[:] = to[block]


def _batches(texts: pl.Series) -> Iterator[pl.Series]:
    """The texts in runs of bounded size."""
    ends = np.cumsum(texts.str.len_bytes().fill_null(0).to_numpy().astype(np.int64))
    start = 0
    while start < len(texts):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
        yield texts[start:stop]
        start = stop


def _numbered(texts: pl.Series, known: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """The number of words of each text, and the number of each word; new words are added to `known`."""
    lists = texts.fill_null("").str.to_lowercase().str.extract_all(_WORD)
    length = lists.list.len().to_numpy().astype(np.int64)
    if not length.any():
        return length, np.empty(0, dtype=np.int32)
    words = lists.filter(lists.list.len() > 0).explode()
    levels = words.unique()
    codes = words.cast(pl.Enum(levels)).to_physical().to_numpy()
    number = [known.setdefault(w, len(known)) if len(w) <= LONGEST_WORD else -1 for w in levels.to_list()]
    return length, np.array(number, dtype=np.int32)[codes]


def _summed(length: np.ndarray, codes: np.ndarray) -> sp.csr_array:
    """The counts of each text over the words numbered so far."""
    kept = codes >= 0
    ends = np.concatenate(([0], np.cumsum(length)))
    before = np.concatenate(([0], np.cumsum(kept)))
    counts = sp.csr_array(
        (np.ones(int(kept.sum()), dtype=np.float32), codes[kept], before[ends]),
        shape=(length.size, int(codes.max(initial=-1)) + 1),
    )
    counts.sum_duplicates()
    return counts
