"""Words: the words of texts that enough training documents have."""

from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, _check_feature_names_in, integer, real
from tamis.base.errors import DataError, TamisError
from tamis.base.part import Part
from tamis.base.transformer import Transformer
from tamis.base.types import Matrix
from tamis.base.word_counts import Vocabulary, WordCounts
from tamis.data.text_columns import counts_of


class Words(Transformer):
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
        Leave out the stop words of a language, those of scikit-learn, and runs of words with one among them.
    stem : {"porter", "english"}, optional
        Count words of one stem together, as found by the Porter stemmer or its successor. Needs the package PyStemmer
        (the extra ``text``).
    ngrams : int, default=1
        Also keep runs of so many words, where the data has them (``--ngrams``).

    Attributes
    ----------
    origins_ : int array of shape (n_features_out,)
        The input column of each output column; with `stem` the shortest of the words.
    groups_ : int array of shape (n_features,)
        The output column of each input column; -1 where it is left out.

    See Also
    --------
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
        if not _is_raw_text(X):
            if reset:
                self.input_names_ = None
            return super()._checked(X, reset=reset)
        counts = counts_of(_frame_of(X), _texts(_frame_of(X)), "words")
        if reset:
            self.input_names_ = counts.names
            return super()._checked(counts, reset=True)
        if self.input_names_ is None:
            raise DataError("words: got text, and was fitted on counts of words")
        return super()._checked(counts.aligned(self.input_names_), reset=False)

    def _learn(self, X: Matrix) -> None:
        vocabulary = X.vocabulary if isinstance(X, WordCounts) else None
        if vocabulary is None and (self.stop or self.stem):
            raise DataError(f"words: {'stop' if self.stop else 'stem'} is for text, and the columns are plain numbers")
        passing = np.zeros(X.shape[1], dtype=bool)
        if vocabulary is not None:
            lengths = vocabulary.lengths
            passing = lengths == 0
            wanted = (lengths > 0) & (lengths <= self.ngrams) & ~self._stopped(vocabulary)
        else:
            wanted = ~passing
        groups, names = self._grouped(vocabulary, wanted)
        documents = _documents(X, groups, len(names))
        enough = (documents >= self.min_df) & (documents <= self.max_df * X.shape[0])
        if not enough.any() and not passing.any():
            raise DataError(
                f"words: no word is in {self.min_df} documents or more, and in at most {100 * self.max_df:g} % of them "
                f"(n_samples={X.shape[0]})"
            )
        first = int(passing.sum())
        to = np.append(np.where(enough, first + np.cumsum(enough) - 1, -1), -1)
        self.groups_ = to[groups]
        self.groups_[passing] = np.arange(first)
        self.origins_ = np.concatenate((np.flatnonzero(passing), names[enough])).astype(np.intp)
        self.stems_ = self._stems_out(vocabulary) if self.stem else None

    def _apply(self, X: Matrix) -> Matrix:
        if not self.stem:
            return X[:, self.origins_]
        kept = np.flatnonzero(self.groups_ >= 0)
        shape = (X.shape[1], self.origins_.size)
        to = sp.csr_array((np.ones(kept.size, dtype=X.dtype), (kept, self.groups_[kept])), shape=shape)
        return sp.csr_array(X) @ to if sp.issparse(X) else np.asarray(X @ to)

    def _stopped(self, vocabulary: Vocabulary) -> np.ndarray:
        """Which words are stop words, or runs with one among them."""
        if not self.stop:
            return np.zeros(vocabulary.words.size, dtype=bool)
        return np.array(
            [word is not None and not ENGLISH_STOP_WORDS.isdisjoint(word.split()) for word in vocabulary.words.tolist()]
        )

    def _grouped(self, vocabulary: Vocabulary | None, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The group of each column that is to be counted (-1 for others), and the column that stands for each group."""
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

    def _stems_out(self, vocabulary: Vocabulary | None) -> list[str]:
        """The stems of the words that are kept, and the names of what else is."""
        if vocabulary is None:
            return []
        names, words = vocabulary.names[self.origins_].tolist(), vocabulary.words[self.origins_].tolist()
        first = sum(word is None for word in words)
        return [*names[:first], *_stemmed(tuple(names[first:]), tuple(words[first:]), str(self.stem))]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The words, or their stems."""
        check_is_fitted(self)
        if self.stems_ is not None:
            return np.array(self.stems_, dtype=object)
        if self.input_names_ is not None and input_features is None:
            return np.array(self.input_names_, dtype=object)[self.origins_]
        return np.asarray(_check_feature_names_in(self, input_features), dtype=object)[self.origins_]


def _is_raw_text(X: Any) -> bool:
    if isinstance(X, list | tuple):
        return bool(X) and isinstance(X[0], str)
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "OU" and bool(X.size) and isinstance(X.flat[0], str)
    if isinstance(X, pl.Series):
        return X.dtype == pl.String
    if isinstance(X, pl.DataFrame):
        return pl.String in X.dtypes
    if hasattr(X, "iloc"):
        return _is_raw_text(X.to_numpy(dtype=object)[:1])
    return False


def _frame_of(X: Any) -> pl.DataFrame:
    """Texts in any form as a frame."""
    if isinstance(X, pl.DataFrame):
        return X
    if isinstance(X, pl.Series):
        return X.to_frame()
    if hasattr(X, "columns"):
        return pl.DataFrame({str(name): X[name].to_list() for name in X.columns}, strict=False)
    values = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=object)
    if values.ndim == 1:
        values = values[:, None]
    names = ["text"] if values.shape[1] == 1 else [f"x{j}" for j in range(values.shape[1])]
    return pl.DataFrame({name: column.tolist() for name, column in zip(names, values.T, strict=True)}, strict=False)


def _texts(frame: pl.DataFrame) -> list[str]:
    return [name for name, dtype in frame.schema.items() if dtype == pl.String]


def _documents(X: Matrix, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """The number of rows in which each group of columns is not zero."""
    if not sp.issparse(X):
        X = sp.csr_array(np.where(np.isnan(X), 0.0, X))
    entries = X.tocoo()
    group = groups[entries.coords[1]]
    there = (group >= 0) & (entries.data != 0)
    rows, group = entries.coords[0][there], group[there]
    if np.unique(groups[groups >= 0]).size < (groups >= 0).sum():
        pairs = np.unique(rows.astype(np.int64) * n_groups + group)
        group = pairs % n_groups
    return np.bincount(group, minlength=n_groups)


@lru_cache(maxsize=8)
def _stemmed(names: tuple[str, ...], words: tuple[str, ...], algorithm: str) -> list[str]:
    """The stem of each word, with the name of its text in front where names have one."""
    try:
        stemmer = import_module("Stemmer").Stemmer(algorithm)
    except ImportError:
        raise TamisError("words: stem needs the package PyStemmer; install tamis[text]") from None
    stems = [" ".join(stemmer.stemWords(word.split())) for word in words]
    return [name[: len(name) - len(word)] + stem for name, word, stem in zip(names, words, stems, strict=True)]
