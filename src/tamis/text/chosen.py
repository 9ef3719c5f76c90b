"""Words and n-grams that were chosen as features."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.text.corpus import OUTSIDE
from tamis.text.ngrams import NgramCounts


@dataclass(frozen=True)
class ChosenNgrams:
    """Words and n-grams in an order, as a rule the best first.

    Attributes
    ----------
    counts : NgramCounts
        Their words, followed by -1 where others have more, and how often they occur.
    score : array of shape (n_chosen,)
        What they were ranked by.
    reference : array of shape (n_classes,)
        The share of each class in all tokens.
    smoothing : float
        What was added to every count in every class.
    n_words : int
        Number of words in the vocabulary.
    """

    counts: NgramCounts
    score: FloatArray
    reference: FloatArray
    smoothing: float
    n_words: int

    @property
    def words(self) -> NDArray[np.int32]:
        """The words of each, followed by -1 where others have more."""
        return self.counts.words

    @property
    def lengths(self) -> NDArray[np.intp]:
        """The number of words of each."""
        return np.asarray((self.words != OUTSIDE).sum(axis=1))

    def __len__(self) -> int:
        return int(self.words.shape[0])

    def names(self, vocabulary: Sequence[str]) -> list[str]:
        """The words of each with a space between them; `vocabulary` lists the word of every code."""
        if len(vocabulary) != self.n_words:
            raise TamisError(f"the n-grams come from {self.n_words} words, the vocabulary has {len(vocabulary)}")
        return [" ".join(str(vocabulary[word]) for word in row if word != OUTSIDE) for row in self.words.tolist()]

    @property
    def owner(self) -> NDArray[np.intp]:
        """The class that adds most to the divergence of each, p(c | w) log(p(c | w) / p(c)).

        Among classes of equal size this is the class with its largest share, p(c | w).
        """
        if not len(self):
            return np.zeros(0, dtype=np.intp)
        counts = np.where(self.reference > 0, self.counts.class_totals + self.smoothing, 0.0)
        share = counts / counts.sum(axis=1, keepdims=True)
        ratio = np.divide(share, self.reference, out=np.ones_like(share), where=share > 0)
        return np.asarray((share * np.log(ratio)).argmax(axis=1))


def best_per_class(
    chosen: ChosenNgrams, vocabulary: Sequence[str], n_best: int = 10, *, least_words: int = 2
) -> list[list[str]]:
    """The best n-grams of each class, in words.

    Parameters
    ----------
    chosen : ChosenNgrams
    vocabulary : sequence of str
        The word of every code.
    n_best : int, default=10
        Most n-grams of a class.
    least_words : int, default=2
        N-grams of fewer words are left out; 1 also lists words.

    Returns
    -------
    list of list of str
        By class code: the n-grams that the class owns (:attr:`ChosenNgrams.owner`), in the order of `chosen`.
    """
    names = chosen.names(vocabulary)
    long, owner = chosen.lengths >= least_words, chosen.owner
    classes = range(chosen.reference.size)
    return [[names[i] for i in np.flatnonzero(long & (owner == c))[:n_best]] for c in classes]
