"""Terms: the words and runs of words of texts that a fitted model uses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.classifier import Classifier
from tamis.base.feature_tracking import Track, steps_of
from tamis.data.word_counts import WordCounts
from tamis.text.taking_text import TakesText


class Term(NamedTuple):
    """A word, or a run of words.

    Attributes
    ----------
    name : str
    run : tuple of int
        Its words, each by the number of its group.
    groups : int array of shape (n_columns,)
        The group of words, such as those of one stem, of each column of the counts; -1 where it counts as absent.
    """

    name: str
    run: tuple[int, ...]
    groups: np.ndarray


@dataclass(frozen=True, eq=False)
class Terms:
    """Terms, and how often each is in each document.

    Attributes
    ----------
    terms : list of Term
    counts : CSR matrix of shape (n_rows, n_terms)
    """

    terms: list[Term]
    counts: sp.csr_array


def terms_of(model: Any, counts: WordCounts, names: Sequence[str]) -> Terms:
    """The terms that a fitted model uses; all of them where the model does not report which.

    A vocabulary at the front of the model makes the terms. The steps behind it are followed to see which of them are
    used. A committee uses those of its members. Without a vocabulary each word is a term.

    Parameters
    ----------
    model : fitted estimator
    counts : WordCounts
        The documents.
    names : sequence of str
        The names of their columns.
    """
    front, *rest = steps_of(model)
    if isinstance(front, TakesText):
        found = _vocabulary(front, counts, names)
        return _chosen(found, _used(rest, found.counts.shape[1]))
    if not rest and isinstance(front, Classifier) and hasattr(front, "estimators_"):
        return _united([terms_of(member, counts, names) for member in front.estimators_])
    return words_in(counts, names, _used([front, *rest], counts.shape[1]))


def words_in(counts: WordCounts, names: Sequence[str], columns: np.ndarray | None) -> Terms:
    """The words among some columns of counts, by default of all, each as a term."""
    assert counts.vocabulary is not None
    columns = np.arange(counts.shape[1]) if columns is None else np.unique(columns)
    columns = columns[counts.vocabulary.is_word[columns]]
    groups = np.arange(counts.shape[1])
    return Terms([Term(str(names[j]), (j,), groups) for j in columns.tolist()], sp.csr_array(counts[:, columns]))


def _vocabulary(step: Any, counts: WordCounts, names: Sequence[str]) -> Terms:
    """All columns that a vocabulary makes; numbers and levels, which pass it, are runs of no word."""
    words = [(word,) for word in getattr(step, "kept_", np.empty(0, dtype=np.intp)).tolist()]
    runs = [tuple(word for word in run if word >= 0) for run in step.runs_.tolist()]
    groups = getattr(step, "groups_", np.arange(counts.shape[1]))
    every: list[tuple[int, ...]] = [*([()] * step.passing_.size), *words, *runs]
    shown = step.get_feature_names_out(names).tolist()
    terms = [Term(str(name), run, groups) for name, run in zip(shown, every, strict=True)]
    return Terms(terms, sp.csr_array(step.transform(counts)))


def _used(steps: Sequence[Any], n_columns: int) -> np.ndarray | None:
    """The columns that some steps use; None where this is not known."""
    track = Track(np.arange(n_columns))
    for step in steps:
        track = track.after(step)
    return track.origins


def _chosen(found: Terms, columns: np.ndarray | None) -> Terms:
    """Those terms among some columns that have words."""
    columns = np.arange(len(found.terms)) if columns is None else np.unique(columns)
    columns = columns[[bool(found.terms[j].run) for j in columns.tolist()]] if columns.size else columns
    return Terms([found.terms[j] for j in columns.tolist()], sp.csr_array(found.counts[:, columns]))


def _united(parts: Sequence[Terms]) -> Terms:
    """The terms of all parts, each once."""
    terms = [term for part in parts for term in part.terms]
    first = {term.name: place for place, term in reversed(list(enumerate(terms)))}
    places = np.sort(np.fromiter(first.values(), dtype=np.intp, count=len(first)))
    counts = sp.csr_array(sp.hstack([part.counts for part in parts], format="csr"))
    return Terms([terms[place] for place in places.tolist()], sp.csr_array(counts[:, places]))
