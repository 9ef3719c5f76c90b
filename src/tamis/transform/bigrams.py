"""Bigrams: words, and pairs of words that tell more about the class than both words."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import DataError, TamisError
from tamis.base.moments import class_totals
from tamis.base.part import Part
from tamis.base.transformer import SupervisedTransformer
from tamis.base.types import Codes, Matrix
from tamis.data.word_counts import WordCounts
from tamis.text.corpus import OUTSIDE
from tamis.text.count_matrix import ngram_matrix
from tamis.text.divergence import class_shares, kl_divergence
from tamis.text.rckl import best_ngrams
from tamis.text.taking_text import TakesText, corpus_of


class Bigrams(TakesText, SupervisedTransformer):
    """Keep the words that tell most about the class, and pairs of words that tell more than both words do.

    Words are ranked by the divergence of their classes (:func:`tamis.scores.kl`), and pairs of adjacent words by their
    divergence less that of the two words: "big brother" tells more than "big" and "brother", and "a holiday" does not.
    Both are counted in the training rows alone. Numbers and levels that a document has beside its texts pass. Of a
    matrix of plain numbers it keeps the best columns, for they have no order.

    Parameters
    ----------
    n_words : int, default=15000
        How many words to keep.
    n_bigrams : int, default=5000
        How many pairs, or longer runs, to keep.
    order : int, default=2
        The most words of a run; runs of 2 to `order` words compete.
    criterion : {"rckl", "kl"}, default="rckl"
        "kl" ranks runs by their own divergence, for use without words.
    smoothing : float, default=10
        Added to every count of a word, or of a run, in a class.
    min_count : int, default=5
        How often a word or run must occur in the training rows.

    Attributes
    ----------
    origins_ : int array of shape (n_features_out,)
        The input column of each output column; for a run of words that of its first word.
    runs_ : int32 array of shape (n_words + n_bigrams, order)
        The columns of the words of each word or run that is kept, the best first, and -1 behind a shorter one.
    scores_ : array of shape (n_words + n_bigrams,)
        What they were ranked by.

    See Also
    --------
    Words : Words by how many documents have them.

    References
    ----------
    C. Boulis and M. Ostendorf, "Text classification by augmenting the bag-of-words representation with
    redundancy-compensated bigrams", SIAM SDM workshop on feature selection for data mining, 2005.

    Examples
    --------
    >>> from tamis.transform import Bigrams
    >>> texts = ["second hand"] * 9 + ["hand", "second", "hand on", "the second"] * 5
    >>> pairs = Bigrams(4, 1, min_count=2).fit(texts, [0] * 9 + [1] * 20)
    >>> pairs.get_feature_names_out().tolist()
    ['on', 'the', 'hand', 'second', 'second hand']
    >>> pairs.transform(["second hand, second hand"]).toarray()
    array([[0., 0., 2., 2., 2.]])
    """

    part: ClassVar[Part] = Part(
        "bigrams",
        positional=("n_words", "n_bigrams"),
        paper="Boulis and Ostendorf 2005",
        phrase="counts the best {n_words} words and the best {n_bigrams} pairs of words",
        role="class_vocabulary",
        searched=False,
    )
    accepts_missing = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_words": [integer(0)],
        "n_bigrams": [integer(0)],
        "order": [integer(2)],
        "criterion": [StrOptions({"rckl", "kl"})],
        "smoothing": [real(0, None, "left")],
        "min_count": [integer(1)],
    }

    def __init__(
        self,
        n_words: int = 15_000,
        n_bigrams: int = 5_000,
        *,
        order: int = 2,
        criterion: str = "rckl",
        smoothing: float = 10.0,
        min_count: int = 5,
    ) -> None:
        self.n_words = n_words
        self.n_bigrams = n_bigrams
        self.order = order
        self.criterion = criterion
        self.smoothing = smoothing
        self.min_count = min_count

    def _begin(self, X: Any, y: Any) -> tuple[Any, Any]:
        return super()._begin(self._counted(X, reset=True), y)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return super()._checked(self._counted(X, reset=reset), reset=reset)

    def _learn(self, X: Matrix, y: Codes | None = None) -> None:
        if y is None:
            raise TamisError("bigrams needs the classes; pass y")
        corpus = corpus_of(X, "bigrams") if self.n_bigrams else None
        passing = np.zeros(X.shape[1], dtype=bool)
        if isinstance(X, WordCounts) and X.vocabulary is not None:
            passing = ~X.vocabulary.is_word
        words, scores = self._best_words(X, y, passing)
        runs = np.full((words.size, self.order), OUTSIDE, dtype=np.int32)
        runs[:, 0] = words
        if corpus is not None:
            names = ("order", "criterion", "smoothing", "min_count")
            found = best_ngrams(corpus, y, self.n_bigrams, **{name: getattr(self, name) for name in names})
            runs, scores = np.concatenate((runs, found.words)), np.concatenate((scores, found.score))
        if not len(runs) and not passing.any():
            raise DataError(
                f"bigrams: no word occurs {self.min_count} times, or none was asked for (n_samples={X.shape[0]})"
            )
        self.passing_ = np.flatnonzero(passing)
        self.runs_, self.scores_ = runs, scores
        self.origins_ = np.concatenate((self.passing_, runs[:, 0])).astype(np.intp)

    def _best_words(self, X: Matrix, y: Codes, passing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The columns of the words with the largest divergence, the best first."""
        totals, _, lowest = class_totals(X, y, None, presence=False)
        if lowest < 0:
            raise TamisError(f"Negative values in data: bigrams needs values of zero and above, got {lowest:g}")
        counts = np.where(passing, 0.0, totals).T
        values = kl_divergence(counts, class_shares(counts, smoothing=self.smoothing), smoothing=self.smoothing)
        able = np.flatnonzero(~passing & (counts.sum(axis=1) >= self.min_count))
        best = able[np.argsort(-values[able], kind="stable")[: self.n_words]]
        return best.astype(np.int32), values[best]

    def _apply(self, X: Matrix) -> Matrix:
        words = self.runs_[:, 1] == OUTSIDE
        columns = np.concatenate((self.passing_, self.runs_[words, 0])).astype(np.intp)
        if words.all():
            return X[:, columns]
        if (corpus := corpus_of(X, "bigrams")) is None:
            raise DataError("bigrams: was fitted on text, and got plain numbers, whose words have no order")
        pairs = ngram_matrix(corpus, self.runs_[~words])
        return sp.csr_array(sp.hstack([X[:, columns], pairs], format="csr"))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The words, and the runs of words with blanks between them."""
        check_is_fitted(self)
        names = self._names_in(input_features)
        runs = [[names[word] for word in run if word != OUTSIDE] for run in self.runs_.tolist()]
        # A text has its name in front of its words, and once in front of a run.
        joined = [" ".join([first, *(word.rpartition(": ")[2] for word in rest)]) for first, *rest in runs]
        return np.array([*(names[j] for j in self.passing_.tolist()), *joined], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
