"""Terms in the documents that have them: a few words to each side."""

from typing import Any

import numpy as np

from tamis.data.word_counts import WordCounts
from tamis.reporting.terms import Term

#: Words to each side of a term, and documents that are looked at for different contexts.
_AROUND, _EXAMINED = 6, 30


def context(term: Term, counts: WordCounts, row: int) -> dict[str, str] | None:
    """The first place of a term in a document, within one of its texts.

    Returns
    -------
    dict or None
        ``before``, ``found`` (the term as it stands there) and ``after``; an ellipsis where the text goes on. None if
        the document does not have the term.
    """
    assert counts.vocabulary is not None
    codes, words = _codes(counts, row), counts.vocabulary.words
    place = _place(term, codes)
    if place is None:
        return None
    start, stop = place
    first, last = _border(codes, start, -1), _border(codes, stop - 1, 1) + 1
    before, after = codes[max(first, start - _AROUND) : start], codes[stop : min(last, stop + _AROUND)]
    parts = {"before": before, "found": codes[start:stop], "after": after}
    found = {name: " ".join(words[part].tolist()) for name, part in parts.items()}
    if first < start - _AROUND:
        found["before"] = f"\N{HORIZONTAL ELLIPSIS} {found['before']}"
    if last > stop + _AROUND:
        found["after"] = f"{found['after']} \N{HORIZONTAL ELLIPSIS}"
    return found


def snippets(term: Term, counts: WordCounts, rows: np.ndarray, labels: np.ndarray, most: int) -> list[dict[str, Any]]:
    """At most `most` contexts of a term in some rows, the first of equal ones, each with the number of its row from 1.

    Parameters
    ----------
    term : Term
    counts : WordCounts
    rows : int array
        Rows that have the term, of which the first are looked at.
    labels : array of shape (n_rows,)
        The class of each row of the counts.
    most : int
    """
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows[:_EXAMINED].tolist():
        if len(found) < most and (one := context(term, counts, row)) is not None:
            found.setdefault(tuple(one.values()), {"row": row + 1, "class": str(labels[row]), **one})
    return list(found.values())


def _codes(counts: WordCounts, row: int) -> np.ndarray:
    """The columns of the words of a document, in order, with -1 behind a text."""
    assert counts.vocabulary is not None
    document = int(counts.documents[row])
    start, stop = counts.vocabulary.offsets[document : document + 2].tolist()
    return np.asarray(counts.vocabulary.codes[start:stop])


def _place(term: Term, codes: np.ndarray) -> tuple[int, int] | None:
    """Where a term first begins and ends; words that count as absent may stand within it."""
    groups = np.append(term.groups, -1)[codes]
    there = np.flatnonzero((groups >= 0) | (codes < 0))
    groups = groups[there]
    n = len(term.run)
    starts = np.ones(max(0, groups.size - n + 1), dtype=bool)
    for place, word in enumerate(term.run):
        starts &= groups[place : place + starts.size] == word
    if not starts.any():
        return None
    start = int(np.argmax(starts))
    return int(there[start]), int(there[start + n - 1]) + 1


def _border(codes: np.ndarray, place: int, step: int) -> int:
    """The last place of the same text in one direction."""
    while 0 <= place + step < codes.size and codes[place + step] >= 0:
        place += step
    return place
