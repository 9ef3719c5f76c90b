"""Redundancy-compensated divergence: the words and n-grams that tell most about the class."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tamis.base.errors import TamisError, quoted
from tamis.base.types import FloatArray
from tamis.base.validation import check_whole
from tamis.text.chosen import ChosenNgrams
from tamis.text.corpus import Corpus
from tamis.text.divergence import class_shares, kl_divergence
from tamis.text.ngrams import MEMORY, NgramCounts, check_least, ngram_counts, word_counts

#: What n-grams are ranked by.
Criterion = Literal["rckl", "kl"]


def best_words(
    corpus: Corpus,
    y: Any,
    k: int | None = None,
    *,
    smoothing: float = 10.0,
    min_count: float = 5,
    min_df: float = 1,
    weight: Any = None,
) -> ChosenNgrams:
    """The `k` words of the largest divergence, :func:`tamis.text.divergence.kl_divergence`.

    Parameters as for :func:`best_ngrams`.
    """
    check_least(min_count, min_df)
    counts = word_counts(corpus, y, weight=weight)
    reference = class_shares(counts.class_totals, smoothing=smoothing)
    counts = counts.take((counts.total >= min_count) & (counts.documents >= min_df))
    best = _Best(k, 1)
    best.add(kl_divergence(counts.class_totals, reference, smoothing=smoothing), counts)
    return best.chosen(reference, smoothing, corpus.n_words)


def best_ngrams(
    corpus: Corpus,
    y: Any,
    k: int | None = None,
    *,
    order: int = 2,
    criterion: Criterion = "rckl",
    smoothing: float = 10.0,
    min_count: float = 5,
    min_df: float = 1,
    weight: Any = None,
    max_memory: int = MEMORY,
) -> ChosenNgrams:
    """The `k` n-grams that tell most about the class beyond what their words tell [1]_.

    The redundancy-compensated divergence of a pair of words is

        RCKL = KL(w1 w2) - KL(w1) - KL(w2),

    with KL from :func:`tamis.text.divergence.kl_divergence`. Of a longer n-gram the divergences of all its words are
    subtracted, each as often as the word occurs in it, as the equation does for both words of a pair. So the pairs
    inside it do not matter, and n-grams of all lengths compete on one scale.

    Parameters
    ----------
    corpus : Corpus
    y : array of shape (n_documents,)
        The code of the class of each document, from 0.
    k : int, optional
        Number of n-grams; all that are frequent enough if not given.
    order : int, default=2
        Most words of an n-gram; those of 2 up to `order` words compete.
    criterion : {"rckl", "kl"}, default="rckl"
        "kl" ranks by the divergence of the n-gram alone, for use without its words.
    smoothing : float, default=10
        Added to the count of every word and n-gram in every class.
    min_count, min_df : float, default=5 and 1
        Occurrences, and documents with one, that a word or n-gram needs.
    weight : array of shape (n_documents,), optional
        A document of weight 2 counts like the document twice.
    max_memory : int, default=2**28
        Bytes for counting, see :func:`tamis.text.ngrams.ngram_counts`.

    Returns
    -------
    ChosenNgrams
        The best first. Among equals those of fewer words come first, then those of smaller codes.

    References
    ----------
    .. [1] C. Boulis and M. Ostendorf, "Text classification by augmenting the bag-of-words representation with
       redundancy-compensated bigrams", Workshop on Feature Selection for Data Mining, 2005, eq. 2.3.

    Examples
    --------
    Both words occur in both classes, and their pair in one.

    >>> corpus = Corpus(np.array([0, 20, 30, 40]), np.array([0, 1] * 10 + [0] * 10 + [1] * 10), n_words=2)
    >>> found = best_ngrams(corpus, [0, 1, 1], 1)
    >>> found.names(["second", "hand"]), found.score.round(3)
    (['second hand'], array([0.057]))
    """
    if criterion not in ("rckl", "kl"):
        raise TamisError(f"criterion must be 'rckl' or 'kl'; got {quoted(str(criterion))}")
    options = {"order": order, "min_count": min_count, "min_df": min_df, "weight": weight, "max_memory": max_memory}
    parts = ngram_counts(corpus, y, **options)
    words = word_counts(corpus, y, weight=weight).class_totals
    reference = class_shares(words, smoothing=smoothing)
    single = kl_divergence(words, reference, smoothing=smoothing)
    del words
    best = _Best(k, order)
    for counts in parts:
        score = kl_divergence(counts.class_totals, reference, smoothing=smoothing)
        if criterion == "rckl":
            for word in counts.words.T:
                score -= single[word]
        best.add(score, counts)
    return best.chosen(reference, smoothing, corpus.n_words)


def choose_ngrams(
    corpus: Corpus,
    y: Any,
    n_words: int | None = 15_000,
    n_grams: int | None = 5_000,
    *,
    order: int = 2,
    criterion: Criterion = "rckl",
    smoothing: float = 10.0,
    min_count: float = 5,
    min_df: float = 1,
    weight: Any = None,
    max_memory: int = MEMORY,
) -> ChosenNgrams:
    """The `n_words` best words, then the `n_grams` best n-grams; None for all that are frequent enough.

    The other parameters are those of :func:`best_ngrams`. :func:`tamis.text.count_matrix.count_matrix` counts what was
    chosen, in this order: the first columns of a block are what a smaller number would have chosen.
    """
    limits: dict[str, Any] = {"smoothing": smoothing, "min_count": min_count, "min_df": min_df, "weight": weight}
    words = best_words(corpus, y, n_words, **limits)
    if n_grams == 0:
        return words
    ngrams = best_ngrams(corpus, y, n_grams, order=order, criterion=criterion, max_memory=max_memory, **limits)
    counts = NgramCounts.joined([words.counts.padded(order), ngrams.counts])
    score = np.concatenate([words.score, ngrams.score])
    return ChosenNgrams(counts, score, ngrams.reference, smoothing, corpus.n_words)


class _Best:
    """The best of n-grams that come in parts."""

    def __init__(self, k: int | None, width: int) -> None:
        if k is not None:
            check_whole("the number of n-grams", k, 0)
        self._k = k
        self._width = width
        self._scores: list[FloatArray] = []
        self._counts: list[NgramCounts] = []
        self._least = -np.inf

    def add(self, score: FloatArray, counts: NgramCounts) -> None:
        """Add a part; among equals what came first is better, within a part and among parts."""
        rows = np.flatnonzero(score > self._least)
        self._append(rows[_top(score[rows], self._k)], score, counts.padded(self._width))
        if self._k is not None and sum(each.size for each in self._scores) > 2 * self._k:
            self._trim()

    def chosen(self, reference: FloatArray, smoothing: float, n_words: int) -> ChosenNgrams:
        """The best so far, the best first."""
        self._scores.append(np.zeros(0))
        self._counts.append(NgramCounts.none(self._width, reference.size))
        self._trim()
        return ChosenNgrams(self._counts[0], self._scores[0], reference, smoothing, n_words)

    def _trim(self) -> None:
        score, counts = np.concatenate(self._scores), NgramCounts.joined(self._counts)
        self._scores, self._counts = [], []
        rows = _top(score, self._k)
        self._append(rows, score, counts)
        if rows.size and rows.size == self._k:
            self._least = float(score[rows[-1]])

    def _append(self, rows: NDArray[np.intp], score: FloatArray, counts: NgramCounts) -> None:
        self._scores.append(score[rows])
        self._counts.append(counts.take(rows))


def _top(score: FloatArray, k: int | None) -> NDArray[np.intp]:
    """The places of the k best, the best first, the first among equals."""
    return np.argsort(-score, kind="stable")[:k]
