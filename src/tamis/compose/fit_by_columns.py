"""Words and a score fitted on counts of which there is no room for a second matrix."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tamis import scores
from tamis.data.word_counts import WordCounts
from tamis.select.ranking import Ranking
from tamis.transform.words import Words

#: Entries of a block of columns.
_ENTRIES = 1 << 23


def fit_by_columns(steps: list[Any], X: Any, y: Any) -> bool:
    """Fit `words` and a score on counts of many words, a block of the columns at a time, where this is possible.

    A score that looks at one column at a time needs no matrix of all words that are kept: the blocks give the same
    scores, and take little memory beside that of the counts.

    Parameters
    ----------
    steps : list of estimators
        The steps of a recipe, which are fitted in place.
    X : array, sparse matrix or data frame
    y : array of shape (n_rows,)

    Returns
    -------
    bool
        Whether they were fitted: `steps` are a choice of words and a score, and the counts have more entries than
        a block.
    """
    if not isinstance(X, WordCounts) or X.nnz <= _ENTRIES or len(steps) != 2:
        return False
    words, ranking = steps
    if not (isinstance(words, Words) and words.stem is None and words.ngrams == 1 and isinstance(ranking, Ranking)):
        return False
    score = scores.get(ranking.by) if isinstance(ranking.by, str) else None
    if score is None or not score.columnwise:
        return False
    words.fit(X)
    ranking.fit_by_columns(_blocks(X, words.origins_), y)
    return True


def _blocks(X: WordCounts, columns: np.ndarray) -> Iterator[Any]:
    """The columns in blocks of about as many entries."""
    before = np.cumsum(_sizes(X)[columns])
    edges = np.searchsorted(before, np.arange(_ENTRIES, before[-1], _ENTRIES))
    for block in np.split(columns, np.unique(edges)):
        if block.size:
            yield X[:, block]


def _sizes(X: WordCounts) -> np.ndarray:
    """The number of entries of each column."""
    found = np.zeros(X.shape[1], dtype=np.intp)
    for start in range(0, X.nnz, _ENTRIES):
        found += np.bincount(X.indices[start : start + _ENTRIES], minlength=X.shape[1])
    return found
