"""Counts of words and n-grams in bounded memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray
from tamis.base.validation import check_number, check_whole
from tamis.kernels.ngrams import bucket_ngrams, collect, head_sizes, longer_heads, streamed_ngrams, word_totals
from tamis.text.corpus import OUTSIDE, Corpus, check_documents

#: Bytes of a collected occurrence: a word and a document.
_OCCURRENCE = 8

#: Bytes of an n-gram beside its words and class totals: head, tail, two totals, and three numbers to rank it.
_NGRAM = 48

#: Share of a sum of weights that rounding leaves at least.
_ROUNDED = 1.0 - 1e-6

#: Bytes that counting takes unless told otherwise.
MEMORY = 2**28


@dataclass(frozen=True)
class NgramCounts:
    """How often n-grams occur; all counts are sums of the weights of documents.

    Attributes
    ----------
    words : array of int32, shape (n_ngrams, n)
        The words of each n-gram. The n-grams ascend.
    total, documents : arrays of shape (n_ngrams,)
        Occurrences, and documents with at least one.
    class_totals : array of shape (n_ngrams, n_classes)
        Occurrences in each class.
    """

    words: NDArray[np.int32]
    total: FloatArray
    documents: FloatArray
    class_totals: FloatArray

    def take(self, rows: np.ndarray) -> "NgramCounts":
        """Some of the n-grams, as a copy."""
        return NgramCounts(self.words[rows], self.total[rows], self.documents[rows], self.class_totals[rows])

    def padded(self, width: int) -> "NgramCounts":
        """The same with rows of `width` words, the last of them -1 where an n-gram has fewer."""
        missing = width - self.words.shape[1]
        words = np.pad(self.words, ((0, 0), (0, missing)), constant_values=OUTSIDE) if missing else self.words
        return NgramCounts(words, self.total, self.documents, self.class_totals)

    @classmethod
    def joined(cls, parts: Sequence["NgramCounts"]) -> "NgramCounts":
        """Several one after the other; all have rows of as many words."""
        return cls(
            np.concatenate([part.words for part in parts]),
            np.concatenate([part.total for part in parts]),
            np.concatenate([part.documents for part in parts]),
            np.concatenate([part.class_totals for part in parts]),
        )

    @classmethod
    def none(cls, width: int, n_classes: int) -> "NgramCounts":
        """No n-grams."""
        return cls(np.zeros((0, width), dtype=np.int32), np.zeros(0), np.zeros(0), np.zeros((0, n_classes)))


def word_counts(corpus: Corpus, y: Any, *, weight: Any = None) -> NgramCounts:
    """Count every word of the vocabulary; arguments as for :func:`ngram_counts`."""
    y, weight, n_classes = check_documents(corpus, y, weight)
    class_totals, documents = np.zeros((corpus.n_words, n_classes)), np.zeros(corpus.n_words)
    word_totals(corpus.offsets, corpus.codes, y, weight, class_totals, documents)
    words = np.arange(corpus.n_words, dtype=np.int32)[:, None]
    return NgramCounts(words, class_totals.sum(axis=1), documents, class_totals)


def ngram_counts(
    corpus: Corpus,
    y: Any,
    *,
    order: int = 2,
    min_count: float = 1,
    min_df: float = 1,
    weight: Any = None,
    max_memory: int = MEMORY,
) -> Iterator[NgramCounts]:
    """Count the n-grams of 2 up to `order` words, part by part: all pairs first, and ascending within a length.

    N-grams are sorted into buckets by their head, the n-gram without its last word. As many buckets are filled as fit
    into the memory, by one pass over the corpus, and counted one at a time in a table of the words that follow the
    head. A bucket that does not fit is counted from the corpus in two passes. An n-gram is no more frequent than its
    head, so that only heads frequent enough themselves are extended.

    Parameters
    ----------
    corpus : Corpus
    y : array of shape (n_documents,)
        The code of the class of each document, from 0.
    order : int, default=2
        Most words of an n-gram.
    min_count, min_df : float, default=1
        Occurrences, and documents with one, that an n-gram needs.
    weight : array of shape (n_documents,), optional
        A document of weight 2 counts like the document twice; one of weight 0 is left out.
    max_memory : int, default=2**28
        Bytes for buckets and for the counts of a part. To these add a few numbers for each word, a row of class totals
        for each word that follows the most frequent head and, for an order above 2, a number for each token and each
        frequent n-gram. Less memory means more passes, and the same counts.

    Yields
    ------
    NgramCounts
        The frequent n-grams of a part; no part is empty.

    Examples
    --------
    >>> corpus = Corpus(np.array([0, 3, 5]), np.array([0, 1, 0, 0, 1]), n_words=2)
    >>> for part in ngram_counts(corpus, [0, 1]):
    ...     print(part.words.tolist(), part.total, part.class_totals.tolist())
    [[0, 1], [1, 0]] [2. 1.] [[1.0, 1.0], [1.0, 0.0]]
    """
    check_whole("order", order, 2)
    check_whole("max_memory", max_memory, 1)
    check_least(min_count, min_df)
    y, weights, n_classes = check_documents(corpus, y, weight)
    return _all_lengths(_Counter(corpus, y, weights, n_classes, min_count, min_df, max_memory), order)


def check_least(min_count: float, min_df: float) -> None:
    """Refuse limits that n-grams which do not occur would pass."""
    for name, value in (("min_count", min_count), ("min_df", min_df)):
        check_number(name, value, 0.0, np.inf)
        if value == 0:
            raise TamisError(f"{name} must be above 0")


def _all_lengths(counter: "_Counter", order: int) -> Iterator[NgramCounts]:
    corpus = counter.corpus
    heads, words = corpus.codes, np.arange(corpus.n_words, dtype=np.int32)[:, None]
    for n in range(2, order + 1):
        frequent: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for head, tail, counts in counter.parts(heads, words):
            if n < order:
                frequent.append((head, tail, counts.words))
            yield counts
        if not frequent:
            return
        head, tail, longer = (np.concatenate(each) for each in zip(*frequent, strict=True))
        starts = np.searchsorted(head, np.arange(words.shape[0] + 1))
        found = np.empty_like(heads)
        longer_heads(corpus.offsets, heads, corpus.codes, n - 1, starts, tail, found)
        heads, words = found, longer


@dataclass(frozen=True)
class _Counter:
    """The n-grams of one length."""

    corpus: Corpus
    y: Codes
    weight: FloatArray
    n_classes: int
    min_count: float
    min_df: float
    max_memory: int

    def parts(
        self, heads: NDArray[np.int32], words: NDArray[np.int32]
    ) -> Iterator[tuple[np.ndarray, np.ndarray, NgramCounts]]:
        """The heads, tails and counts of n-grams whose head begins at the tokens `heads` and has the words `words`."""
        corpus, lag = self.corpus, words.shape[1]
        text = corpus.offsets, heads, corpus.codes, lag
        sizes = np.zeros(words.shape[0], dtype=np.int64)
        head_sizes(*text, self.weight, sizes)
        sizes[sizes < self._least] = 0
        tally, touched = np.zeros((corpus.n_words, 3)), np.empty(corpus.n_words, dtype=np.int32)
        limits = self.y, self.weight, float(self.min_count), float(self.min_df), tally, touched
        capacity = self._capacity(lag + 1)
        for first, stop in _ranges(sizes, capacity):
            starts = np.concatenate(([0], np.cumsum(sizes[first:stop])))
            out = self._room(int(starts[-1]), stop - first)
            if starts[-1] > capacity:
                n = streamed_ngrams(*text, first, *limits, *out)
            else:
                found = np.empty((starts[-1], 2), dtype=np.int32)
                place = np.where(sizes[first:stop] > 0, starts[:-1], -1)
                collect(*text, self.weight, first, place, found)
                n = bucket_ngrams(found, starts, first, *limits, *out)
                del found
            if n:
                head, tail, total, documents, class_totals = (each[:n] for each in out)
                yield head, tail, NgramCounts(np.column_stack((words[head], tail)), total, documents, class_totals)

    @property
    def _least(self) -> float:
        """Occurrences that an n-gram needs, whatever the weights of its documents and the rounding of their sum."""
        largest = self.weight.max(initial=0.0)
        return max(1.0, _ROUNDED * self.min_count / largest) if largest > 0.0 else 1.0

    def _capacity(self, length: int) -> int:
        """Occurrences that fit into the memory with the counts of their part and of the one before, if in use."""
        ngram = 8 * self.n_classes + 4 * length + _NGRAM
        return max(1, int(self.max_memory / (_OCCURRENCE + 2 * ngram / self._least)))

    def _room(self, occurrences: int, n_heads: int) -> tuple[np.ndarray, ...]:
        """Arrays for as many n-grams as there can be; what is not used takes no memory."""
        most = min(int(occurrences / self._least), n_heads * self.corpus.n_words)
        whole, number = np.int32, np.float64
        rows = (np.empty(most, dtype=dtype) for dtype in (whole, whole, number, number))
        return *rows, np.empty((most, self.n_classes))


def _ranges(sizes: NDArray[np.int64], capacity: int) -> Iterator[tuple[int, int]]:
    """Ranges of heads with at most `capacity` occurrences, or one head with more; those without any are left out."""
    ends = np.cumsum(sizes)
    first, before = 0, 0
    while first < sizes.size:
        stop = max(first + 1, int(np.searchsorted(ends, before + capacity, side="right")))
        if ends[stop - 1] > before:
            yield first, stop
        first, before = stop, int(ends[stop - 1])
