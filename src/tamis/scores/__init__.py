"""Scores: one number per feature, larger is better; one file a score, found by looking through this folder."""

from typing import Any

from tamis.base.errors import TamisError
from tamis.base.part import members
from tamis.base.score import Score

#: Every score by name.
all_scores: dict[str, Score] = {value.name: value for _, value in members(__name__) if isinstance(value, Score)}

# ``tamis.scores.fisher`` is the score, not its file.
globals().update(all_scores)


def get(name: str) -> Score:
    """The score of that name."""
    try:
        return all_scores[name]
    except KeyError:
        raise TamisError(f"no score is called {name!r}; there are: {', '.join(sorted(all_scores))}") from None


def __getattr__(name: str) -> Any:  # for type checkers: names are found at import
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
