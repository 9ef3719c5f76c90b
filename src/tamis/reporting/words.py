"""The words of texts that speak for each class, and where they stand in documents."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.moments import class_totals
from tamis.base.parallel import one_thread
from tamis.base.seeds import seeded
from tamis.base.types import FloatArray
from tamis.compose.quick_scores import has_classes
from tamis.compose.recipe import recipe
from tamis.data.dataset import Dataset
from tamis.data.word_counts import WordCounts
from tamis.reporting.contexts import snippets
from tamis.reporting.terms import Terms, terms_of, words_in
from tamis.validation.result import Validation

#: Classes shown, words of each, documents of each word, and bytes of all their text.
_CLASSES, _WORDS, _DOCUMENTS, _BYTES = 12, 10, 3, 40_000

#: Added to the documents of a class with a word, and to those without it.
_SMOOTHING = 0.5

#: Seconds that fitting a model again may take.
_SECONDS = 20.0


def words_of_model(model: Any, data: Dataset) -> dict[str, Any] | None:
    """The entry "words" of the facts of a fitted model (:func:`words`); None unless the data is text with classes."""
    counts = _texts(data)
    return None if counts is None else words(data, terms_of(model, counts, _names(data)))


def words_of_validation(validation: Validation, data: Dataset, used: np.ndarray | None) -> dict[str, Any] | None:
    """The entry "words" of the facts of a validation, whose model is fitted on all rows once more.

    Where that fails or takes too long, the words are those that most folds use, `used`.
    """
    counts = _texts(data)
    if counts is None:
        return None
    names = _names(data)
    fitted = _fitted(validation, data)
    if not isinstance(fitted, str):
        return words(data, terms_of(fitted, counts, names))
    which = "all words" if used is None else "single words that most folds use"
    return words(data, words_in(counts, names, used), note=f"{which}, as {fitted}")


def words(data: Dataset, used: Terms, *, note: str = "") -> dict[str, Any] | None:
    """The ten words, or runs of words, that speak most for each of the twelve largest classes, on all rows.

    These are the words with the largest log-odds of presence: with a of the n documents of a class having the word, and
    b of the m others, ``log((a + 0.5) / (n - a + 0.5)) - log((b + 0.5) / (m - b + 0.5))``. They must be above zero, and
    a / n above b / m. Of equal words the one that more documents of the class have comes first.

    Parameters
    ----------
    data : Dataset
        Its rows are a :class:`~tamis.data.word_counts.WordCounts` with a vocabulary.
    used : Terms
        The words to choose among.
    note : str
        What they are, where they are not those of the model.

    Returns
    -------
    dict or None
        ``n`` (words to choose among), ``note``, ``order`` (whether the order of words is known), ``classes`` and
        ``more`` (classes that are not shown). A class has its ``class``, ``documents`` and ``words``, each with
        ``word``, ``log_odds``, ``inside`` and ``outside`` (the share of the documents of the class, and of the others,
        that have it) and ``snippets``, at most three documents that have it, those of the class first: ``row`` (from
        1), ``class``, ``before``, ``found`` and ``after``. None without words.

    Examples
    --------
    >>> from tamis.data.text_columns import counts_of
    >>> import polars as pl
    >>> texts, y = ["a gene here", "the gene", "the star", "a star there"], np.array(["bio", "bio", "sky", "sky"])
    >>> counts = counts_of(pl.DataFrame({"body": texts}), ["body"], "example")
    >>> data = Dataset(counts, y, np.array(counts.names))
    >>> best = words(data, words_in(counts, counts.names, None))["classes"][1]["words"][0]
    >>> best["word"], best["inside"], best["outside"], round(best["log_odds"], 3)
    ('star', 1.0, 0.0, 3.219)
    """
    if not used.terms:
        return None
    classes, codes = np.unique(data.y, return_inverse=True)
    labels = [str(label) for label in classes.tolist()]
    truth = np.array(labels, dtype=object)[codes]
    sizes = np.bincount(codes)
    documents = class_totals(used.counts, codes, presence=True)[0]
    shown = np.sort(np.argsort(-sizes, kind="stable")[:_CLASSES])
    by_word = sp.csc_array(used.counts)
    ordered = data.X.vocabulary.has_order
    found = []
    for c in shown.tolist():
        n, others = int(sizes[c]), int(codes.size - sizes[c])
        inside, outside = documents[c], documents.sum(axis=0) - documents[c]
        odds = _log_odds(inside, n) - _log_odds(outside, others)
        speaking = np.flatnonzero((odds > 0) & (inside * others > outside * n))
        best = speaking[np.lexsort((-inside[speaking], -odds[speaking]))][:_WORDS]
        own = []
        for j in best.tolist():
            rows = _having(by_word, j)
            rows = rows[np.argsort(codes[rows] != c, kind="stable")]
            own.append(
                {
                    "word": used.terms[j].name,
                    "log_odds": round(float(odds[j]), 6),
                    "inside": round(float(inside[j]) / n, 6),
                    "outside": round(float(outside[j]) / others, 6),
                    "snippets": snippets(used.terms[j], data.X, rows, truth, _DOCUMENTS) if ordered else [],
                }
            )
        found.append({"class": labels[c], "documents": n, "words": own})
    _bound([one for each in found for one in each["words"]])
    return {
        "n": len(used.terms),
        "note": note,
        "order": ordered,
        "classes": found,
        "more": int(classes.size - shown.size),
    }


def _texts(data: Dataset) -> WordCounts | None:
    """The counts of the words of a data set; None if it is no text, or has no classes."""
    there = isinstance(data.X, WordCounts) and data.X.vocabulary is not None and has_classes(data)
    return data.X if there else None


def _names(data: Dataset) -> list[str]:
    return [str(name) for name in data.feature_names.tolist()]


def _fitted(validation: Validation, data: Dataset) -> Any:
    """The model of a validation, fitted on all rows, or why it was not, in words."""
    seconds = float(validation.fit_seconds.mean() * data.n_rows / validation.n_train.mean())
    if seconds > _SECONDS:
        return f"fitting the model again would take about {seconds:.0f} seconds"
    try:
        with one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return seeded(recipe(validation.recipe), validation.seed).fit(data.X, data.y)
    except Exception as error:
        # The report goes on without it, whatever a model of someone else's raises.
        return f"the model could not be fitted again ({str(error).strip().partition(chr(10))[0]})"


def _log_odds(having: FloatArray, of: int) -> FloatArray:
    return np.log((having + _SMOOTHING) / (of - having + _SMOOTHING))


def _having(by_word: sp.csc_array, column: int) -> np.ndarray:
    """The rows that have a word, in order."""
    part = slice(by_word.indptr[column], by_word.indptr[column + 1])
    return np.sort(by_word.indices[part][by_word.data[part] != 0])


def _bound(found: Sequence[dict[str, Any]]) -> None:
    """Leave out the last snippets of every word until their text is short enough."""
    for most in range(_DOCUMENTS, -1, -1):
        for one in found:
            del one["snippets"][most:]
        texts = (part[key] for one in found for part in one["snippets"] for key in ("before", "found", "after"))
        if sum(len(text.encode("utf-8", "replace")) for text in texts) <= _BYTES:
            return
