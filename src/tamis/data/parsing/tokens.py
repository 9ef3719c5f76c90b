"""Text as words: lower-case runs of two letters, digits or underscores and more, as scikit-learn's CountVectorizer."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy.sparse as sp

_WORD = r"\w\w+"
#: Longer words are no words, such as encoded files in a message.
LONGEST_WORD = 64
#: Characters that are taken apart at a time.
_AT_ONCE = 1 << 25
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
    known: dict[str, int] = {}
    lengths: list[np.ndarray] = []
    sequences: list[np.ndarray] = []
    counts: list[sp.csr_array] = []
    for batch in _batches(texts):
        length, codes = _numbered(batch, known)
        lengths.append(length)
        counts.append(_summed(length, codes))
        if sum(one.size for one in sequences) + codes.size <= _MOST_IN_ORDER:
            sequences.append(codes)
    words = np.array([*known], dtype=object)
    order = np.argsort(words)
    to = np.append(np.empty(words.size, dtype=np.int32), np.int32(-1))
    to[order] = np.arange(words.size, dtype=np.int32)
    total = _stacked(counts, to)
    in_order = len(sequences) == len(lengths)
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(lengths)))) if in_order else np.empty(0, dtype=np.int64)
    codes = to[np.concatenate(sequences)] if in_order else np.empty(0, dtype=np.int32)
    return CountedText(words[order].tolist(), total, offsets.astype(np.int64), codes)


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
    levels = words.unique().sort()
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


def _stacked(parts: list[sp.csr_array], to: np.ndarray) -> sp.csr_array:
    """All counts in one matrix with columns in their new places; the parts are emptied to spare memory."""
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    data = np.concatenate([part.data for part in parts])
    indices = to[np.concatenate([part.indices for part in parts])]
    parts.clear()
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    narrow = np.int32 if indptr[-1] < np.iinfo(np.int32).max else np.int64
    stacked = sp.csr_array((data, indices, indptr.astype(narrow)), shape=(sizes.size, to.size - 1))
    stacked.sort_indices()
    return stacked
