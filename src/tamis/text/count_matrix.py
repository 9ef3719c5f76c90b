"""Counts of chosen words and n-grams in documents, as a matrix."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tamis.base.errors import TamisError
from tamis.kernels.ngrams import ngram_rows
from tamis.text.chosen import ChosenNgrams
from tamis.text.corpus import OUTSIDE, Corpus


def count_matrix(corpus: Corpus, chosen: ChosenNgrams) -> sp.csr_array:
    """Count every chosen word and n-gram in every document, in one pass.

    Occurrences may overlap, and a word also counts where it is part of an n-gram.

    Parameters
    ----------
    corpus : Corpus
        With the vocabulary of the corpus that the n-grams were chosen from.
    chosen : ChosenNgrams

    Returns
    -------
    csr_array of float64, shape (n_documents, n_chosen)
        In the order of `chosen`; the indices of a row ascend.

    Examples
    --------
    >>> from tamis.text.rckl import choose_ngrams
    >>> corpus = Corpus(np.array([0, 4, 6]), np.array([0, 1, 0, 0, 0, 1]), n_words=2)
    >>> chosen = choose_ngrams(corpus, [0, 1], min_count=2)
    >>> chosen.names(["big", "brother"])
    ['brother', 'big', 'big brother']
    >>> count_matrix(corpus, chosen).toarray()
    array([[1., 3., 1.],
           [1., 1., 1.]])
    """
    if corpus.n_words != chosen.n_words:
        raise TamisError(f"the n-grams come from {chosen.n_words} words, the corpus has {corpus.n_words}")
    return ngram_matrix(corpus, chosen.words)


def ngram_matrix(corpus: Corpus, words: NDArray[np.int32]) -> sp.csr_array:
    """Count words and n-grams in every document: a row of `words` each, followed by -1 where others have more."""
    tree = PrefixTree.of(words, corpus.n_words)
    indptr = np.zeros(corpus.n_documents + 1, dtype=np.int64)
    n = words.shape[0]
    indices, data = ngram_rows(corpus.offsets, corpus.codes, tree.root, tree.starts, tree.words, tree.column, n, indptr)
    X = sp.csr_array((data, indices, indptr), shape=(corpus.n_documents, n))
    X.sort_indices()
    return X


@dataclass(frozen=True)
class PrefixTree:
    """Word sequences as paths; nodes and edges as :func:`tamis.kernels.ngrams.ngram_rows` takes them."""

    root: NDArray[np.int32]
    starts: NDArray[np.int64]
    words: NDArray[np.int32]
    column: NDArray[np.int32]

    @classmethod
    def of(cls, words: NDArray[np.int32], n_words: int) -> "PrefixTree":
        """The tree of the rows of `words`, padded with -1; a row's number is the column of its last node."""
        lengths = (words != OUTSIDE).sum(axis=1)
        node = np.zeros(words.shape[0], dtype=np.int64)
        parents, edges, nodes = [], [], 0
        last = node.copy()
        for n in range(words.shape[1]):
            rows = np.flatnonzero(lengths > n)
            paths, inverse = np.unique(node[rows] * n_words + words[rows, n], return_inverse=True)
            node[rows] = nodes + inverse
            last[rows] = node[rows]
            parents.append(paths // max(n_words, 1))
            edges.append((paths % max(n_words, 1)).astype(np.int32))
            nodes += paths.size
        if np.unique(last).size < last.size:
            raise TamisError("an n-gram is chosen twice")
        root = np.full(n_words, -1, dtype=np.int32)
        root[edges[0]] = np.arange(edges[0].size)
        column = np.full(nodes, -1, dtype=np.int32)
        column[last] = np.arange(last.size)
        later = np.concatenate([np.zeros(0, dtype=np.int64), *parents[1:]])
        starts = np.searchsorted(later, np.arange(nodes + 1))
        return cls(root, starts, np.concatenate([np.zeros(0, dtype=np.int32), *edges[1:]]), column)
