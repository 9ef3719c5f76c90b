"""Words: the words of texts that enough training documents have."""

from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import DataError, TamisError
from tamis.base.part import Part
from tamis.base.transformer import Transformer
from tamis.base.types import Matrix
from tamis.data.word_counts import Vocabulary, WordCounts
from tamis.text.corpus import OUTSIDE, Corpus
from tamis.text.count_matrix import ngram_matrix
from tamis.text.ngrams import ngram_counts
from tamis.text.taking_text import TakesText, corpus_of

#: Entries of the counts that are looked at together.
_ENTRIES = 1 << 22


class Words(TakesText, Transformer):
    """Keep the words that enough training documents have, as counts.

    What a word is worth is learned in the training rows: no word of other rows becomes a feature. Words are lower-case
    runs of two letters, digits or underscores and more. Numbers and levels that a document has beside its texts pass
    unchanged. Of a matrix of plain numbers it keeps the columns that are not zero in enough rows.

    Parameters
    ----------
    min_df : int, default=3
        How many training documents a word must be in.
    max_df : float, default=1.0
        The largest share of the training documents that it may be in.
    stop : {"english"}, optional
        Leave out the stop words of a language, those of scikit-learn. The words around one are then adjacent.
    stem : {"porter", "english"}, optional
        Count words of one stem together, as found by the Porter stemmer or its successor. Needs the package PyStemmer
        (the extra ``text``).
    ngrams : int, default=1
        Also keep runs of up to so many adjacent words that enough training documents have.

    Attributes
    ----------
    origins_ : int array of shape (n_features_out,)
        The input column of each output column; with `stem` that of the shortest word, and of a run that of its first.
    groups_ : int array of shape (n_features,)
        The number of the word, or stem, of each input column; -1 where it is left out.
    kept_ : int array
        The words, or stems, that are kept, by these numbers.
    runs_ : int32 array of shape (n_runs, ngrams)
        The words, or stems, of each run that is kept, and -1 behind a shorter one.

    See Also
    --------
    Bigrams : Pairs of words that tell more about the class than both words.
    tamis.data.text_columns.with_words : Counts of all words of a data set.

    References
    ----------
    Porter (1980), "An algorithm for suffix stripping".

    Examples
    --------
    >>> from tamis.transform import Words
    >>> words = Words(2).fit(["a gene and a word", "the gene", "no word here"])
    >>> words.get_feature_names_out().tolist()
    ['gene', 'word']
    >>> words.transform(["gene, gene!"]).toarray()
    array([[2., 0.]], dtype=float32)
    """

    part: ClassVar[Part] = Part(
        "words",
        positional=("min_df",),
        paper="Porter 1980",
        phrase="counts words that {min_df} documents have, or more",
        role="vocabulary",
        searched=False,
    )
    accepts_missing = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_df": [integer(1)],
        "max_df": [real(0, 1, "right")],
        "stop": [StrOptions({"english"}), None],
        "stem": [StrOptions({"porter", "english"}), None],
        "ngrams": [integer(1)],
    }

    def __init__(
        self,
        min_df: int = 3,
        *,
        max_df: float = 1.0,
        stop: str | None = None,
        stem: str | None = None,
        ngrams: int = 1,
    ) -> None:
        self.min_df = min_df
        self.max_df = max_df
        self.stop = stop
        self.stem = stem
        self.ngrams = ngrams

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return super()._checked(self._counted(X, reset=reset), reset=reset)

    def _learn(self, X: Matrix) -> None:
        vocabulary = X.vocabulary if isinstance(X, WordCounts) else None
        if vocabulary is None and (self.stop or self.stem):
            raise DataError(f"words: {'stop' if self.stop else 'stem'} is for text, and the columns are plain numbers")
        wanted = np.ones(X.shape[1], dtype=bool)
        if vocabulary is not None:
            wanted = vocabulary.is_word & ~self._stopped(vocabulary)
            self.passing_ = np.flatnonzero(~vocabulary.is_word)
        else:
            self.passing_ = np.empty(0, dtype=np.intp)
        self.groups_, names = self._grouped(vocabulary, wanted)
        documents = _documents(X, self.groups_, names.size)
        self.kept_ = np.flatnonzero((documents >= self.min_df) & (documents <= self.max_df * X.shape[0]))
        self.names_ = names
        self.runs_ = self._runs(X)
        if not (self.kept_.size or len(self.runs_) or self.passing_.size):
            raise DataError(
                f"words: no word is in {self.min_df} documents or more, and in at most {100 * self.max_df:g} % of them "
                f"(n_samples={X.shape[0]})"
            )
        first = names[self.runs_[:, 0]] if len(self.runs_) else np.empty(0, dtype=np.intp)
        self.origins_ = np.concatenate((self.passing_, names[self.kept_], first)).astype(np.intp)
        self.stems_ = self._stems(vocabulary, names) if self.stem and vocabulary is not None else None

    def _apply(self, X: Matrix) -> Matrix:
        if self.stem:
            into = np.full(self.names_.size, -1)
            into[self.kept_] = self.passing_.size + np.arange(self.kept_.size)
            to = np.append(into, -1)[self.groups_]
            to[self.passing_] = np.arange(self.passing_.size)
            there = np.flatnonzero(to >= 0)
            shape = (X.shape[1], self.passing_.size + self.kept_.size)
            summed = sp.csr_array((np.ones(there.size, dtype=X.dtype), (there, to[there])), shape=shape)
            words = sp.csr_array(X) @ summed if sp.issparse(X) else np.asarray(X @ summed)
        else:
            words = X[:, np.concatenate((self.passing_, self.names_[self.kept_])).astype(np.intp)]
        if not len(self.runs_):
            return words
        corpus = self._regrouped(X)
        if corpus is None:
            raise DataError("words: was fitted on text, and got plain numbers, whose words have no order")
        return sp.csr_array(sp.hstack([words, ngram_matrix(corpus, self.runs_)], format="csr"), dtype=X.dtype)

    def _stopped(self, vocabulary: Vocabulary) -> np.ndarray:
        """Which columns are stop words."""
        if not self.stop:
            return np.zeros(vocabulary.words.size, dtype=bool)
        return np.array([word in ENGLISH_STOP_WORDS for word in vocabulary.words.tolist()])

    def _grouped(self, vocabulary: Vocabulary | None, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The number of the word or stem of each column (-1 for others), and the column that stands for each number."""
        columns = np.flatnonzero(wanted)
        groups = np.full(wanted.size, -1)
        if vocabulary is None or not self.stem:
            groups[columns] = np.arange(columns.size)
            return groups, columns
        keys = _stemmed(tuple(vocabulary.names[columns].tolist()), tuple(vocabulary.words[columns].tolist()), self.stem)
        best: dict[str, int] = {}
        for column, key in zip(columns.tolist(), keys, strict=True):
            # The same in all folds: the shortest word, and of these the first.
            if key not in best or len(vocabulary.words[column]) < len(vocabulary.words[best[key]]):
                best[key] = column
        number = {key: place for place, key in enumerate(best)}
        groups[columns] = [number[key] for key in keys]
        return groups, np.array(list(best.values()), dtype=np.intp)

    def _runs(self, X: Matrix) -> np.ndarray:
        """Runs of words that enough documents have."""
        none = np.empty((0, max(2, self.ngrams)), dtype=np.int32)
        corpus = self._regrouped(X) if self.ngrams > 1 else None
        if corpus is None:
            return none
        one_class = np.zeros(X.shape[0], dtype=np.intp)
        found = ngram_counts(corpus, one_class, order=self.ngrams, min_df=self.min_df)
        parts = [counts.padded(self.ngrams).words[counts.documents <= self.max_df * X.shape[0]] for counts in found]
        return np.concatenate([none, *parts])

    def _regrouped(self, X: Matrix) -> Corpus | None:
        """The documents as sequences of the numbers of words or stems, without those that are left out."""
        corpus = corpus_of(X, "words")
        if corpus is None:
            return None
        codes = np.append(self.groups_, OUTSIDE)[corpus.codes]
        # A stop word is not there; the end of a text is.
        stays = (codes != OUTSIDE) | (corpus.codes == OUTSIDE)
        offsets = np.concatenate(([0], np.cumsum(stays)))[corpus.offsets]
        return Corpus(offsets, codes[stays].astype(np.int32), self.names_.size)

    def _stems(self, vocabulary: Vocabulary, names: np.ndarray) -> list[str]:
        return _stemmed(
            tuple(vocabulary.names[names].tolist()), tuple(vocabulary.words[names].tolist()), str(self.stem)
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The words, or their stems, and runs of them with blanks between."""
        check_is_fitted(self)
        names = self._names_in(input_features)
        words = [names[j] for j in self.names_.tolist()] if self.stems_ is None else self.stems_
        runs = [[words[word] for word in run if word != OUTSIDE] for run in self.runs_.tolist()]
        # A text has its name in front of its words, and once in front of a run.
        joined = [" ".join([first, *(word.rpartition(": ")[2] for word in rest)]) for first, *rest in runs]
        passing = [names[j] for j in self.passing_.tolist()]
        return np.array([*passing, *(words[word] for word in self.kept_.tolist()), *joined], dtype=object)


def _documents(X: Matrix, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """The number of rows in which each group of columns is not zero."""
    if not sp.issparse(X):
        X = sp.csr_array(np.where(np.isnan(X), 0.0, X))
    joined = np.unique(groups[groups >= 0]).size < (groups >= 0).sum()
    found = np.zeros(n_groups, dtype=np.intp)
    step = max(1, _ENTRIES * X.shape[0] // max(1, X.nnz))
    for start in range(0, X.shape[0], step):
        # Some rows at a time: the numbers of all entries would take more memory than the counts.
        indptr = X.indptr[start : start + step + 1]
        entries = slice(indptr[0], indptr[-1])
        group = groups[X.indices[entries]]
        there = (group >= 0) & (X.data[entries] != 0)
        if joined:
            rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))[there]
            group = np.unique(rows * n_groups + group[there]) % n_groups
        else:
            group = group[there]
        found += np.bincount(group, minlength=n_groups)
    return found


@lru_cache(maxsize=8)
def _stemmed(names: tuple[str, ...], words: tuple[str, ...], algorithm: str) -> list[str]:
    """The stem of each word, with the name of its text in front where names have one."""
    try:
        stemmer = import_module("Stemmer").Stemmer(algorithm)
    except ImportError:
        raise TamisError("words: stem needs the package PyStemmer; install tamis[text]") from None
    stems = stemmer.stemWords(list(words))
    return [name[: len(name) - len(word)] + stem for name, word, stem in zip(names, words, stems, strict=True)]
