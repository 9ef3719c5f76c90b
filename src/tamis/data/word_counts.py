"""Counts of words in documents: a sparse matrix that remembers its words and the order in which they stand."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What the columns of counts stand for, and the documents as sequences of words.

    Attributes
    ----------
    names : object array of shape (n_columns,)
        The name of each column of the counts: numbers first, then levels of nominal columns, then words.
    n_numbers : int
        How many columns are numbers that the documents have beside their texts.
    words : object array of shape (n_columns,)
        The word of each column; None for numbers and levels. Two texts of a document (a title and a body) have columns
        of their own.
    offsets : int64 array of shape (n_documents + 1,)
        Where each document begins among the codes; empty when the order was not kept.
    codes : int32 array
        The column of the word at each place, and -1 behind a text.
    """

    names: np.ndarray
    n_numbers: int
    words: np.ndarray
    offsets: np.ndarray
    codes: np.ndarray

    @cached_property
    def is_word(self) -> np.ndarray:
        """Which columns are words."""
        return np.array([word is not None for word in self.words.tolist()], dtype=bool)

    @property
    def has_order(self) -> bool:
        """Whether the order of the words was kept."""
        return bool(self.offsets.size)


class WordCounts(sp.csr_array):
    """How often each word is in each document, as a CSR matrix that knows its vocabulary.

    It is a matrix like any other, with a column for each word of all documents. Some of its rows are again
    `WordCounts`; anything else that is made of it (some of its columns, a product, a copy) is a plain sparse matrix.

    Attributes
    ----------
    vocabulary : Vocabulary, or None
        None in what was made of counts and is no selection of rows.
    documents : int array of shape (n_rows,)
        The document of the vocabulary in each row.

    Examples
    --------
    >>> counts = WordCounts(np.array([[2.0, 0.0], [0.0, 1.0]]))
    >>> words = np.array(["gene", "word"], dtype=object)
    >>> counts.vocabulary = Vocabulary(words, 0, words, np.empty(0), np.empty(0))
    >>> counts.documents = np.arange(2)
    >>> counts[[1]].vocabulary is counts.vocabulary, counts[[1]].documents
    (True, array([1]))
    >>> type(counts[:, [0]]).__name__
    'csr_array'
    """

    vocabulary: Vocabulary | None = None
    documents: np.ndarray

    @classmethod
    def of(cls, counts: Any, vocabulary: Vocabulary, documents: np.ndarray | None = None) -> Self:
        """The counts of a vocabulary; `documents` are those of the rows, by default all in their order."""
        found = cls(counts)
        found.vocabulary = vocabulary
        found.documents = np.arange(found.shape[0]) if documents is None else documents
        return found

    def __getitem__(self, key: Any) -> Any:
        plain = sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape)
        rows = key[0] if isinstance(key, tuple) and len(key) == 2 and _is_everything(key[1]) else key
        if self.vocabulary is None or isinstance(rows, tuple | int | np.integer):
            return plain[key]
        return WordCounts.of(plain[rows], self.vocabulary, self.documents[rows])

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        if self.vocabulary is None:
            raise ValueError("counts without a vocabulary have no names")
        return self.vocabulary.names.tolist()

    def sequences(self) -> tuple[np.ndarray, np.ndarray]:
        """Offsets and codes of the words of the rows, document after document."""
        if self.vocabulary is None or not self.vocabulary.has_order:
            raise ValueError("the order of the words was not kept")
        offsets, codes = self.vocabulary.offsets, self.vocabulary.codes
        lengths = np.diff(offsets)[self.documents]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        places = np.arange(starts[-1]) + np.repeat(offsets[self.documents] - starts[:-1], lengths)
        return starts, codes[places]

    def aligned(self, names: list[str]) -> "WordCounts":
        """The same documents over other columns, by name; words that have none are left out."""
        place = {name: column for column, name in enumerate(names)}
        to = np.array([place.get(name, -1) for name in self.names], dtype=np.int64)
        assert self.vocabulary is not None
        entries = self.tocoo()
        known = to[entries.coords[1]] >= 0
        rows, columns = entries.coords[0][known], to[entries.coords[1][known]]
        counts = sp.csr_array((entries.data[known], (rows, columns)), shape=(self.shape[0], len(names)))
        words = np.full(len(names), None, dtype=object)
        words[to[to >= 0]] = self.vocabulary.words[to >= 0]
        codes = np.append(to, -1).astype(np.int32)[self.vocabulary.codes]
        vocabulary = Vocabulary(
            np.array(names, dtype=object),
            self.vocabulary.n_numbers,
            words,
            self.vocabulary.offsets,
            codes,
        )
        return WordCounts.of(counts, vocabulary, self.documents)


def _is_everything(key: Any) -> bool:
    return key is Ellipsis or (isinstance(key, slice) and key == slice(None))
