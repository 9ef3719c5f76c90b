"""Scores: one number per feature, larger is better; one file a score.

The scores are found by looking through the files of this folder: ``tamis.scores.cc``, the catalog and the
tests need no list to be kept.
"""

from typing import Any

from tamis.base.errors import TamisError
from tamis.base.part import members
from tamis.base.score import Score

#: Every score by name.
all_scores: dict[str, Score] = {value.name: value for _, value in members(__name__) if isinstance(value, Score)}

# A file may bear its score's name: the score, not the file, is what ``tamis.scores.fisher`` means.
globals().update(all_scores)


def get(name: str) -> Score:
    """The score of that name."""
    try:
        return all_scores[name]
    except KeyError:
        raise TamisError(f"no score is called {name!r}; there are: {', '.join(sorted(all_scores))}") from None


def __getattr__(name: str) -> Any:  # tells type checkers that names are found at import
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
