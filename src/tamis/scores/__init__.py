"""Scores: one number per feature, larger is better; one file a score, found by looking through this folder."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.part import members
from tamis.base.score import Score, score_many
from tamis.base.types import FloatArray

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


def many(
    X: Any, y: Any = None, *, by: Iterable[str | tuple[str, Mapping[str, Any]]], sample_weight: Any = None
) -> FloatArray:
    """Several scores of the same data.

    The counts of words and documents, which most scores of text are a formula of, are made once and shared.

    Parameters
    ----------
    X : array, CSR or CSC matrix of shape (n_rows, n_features)
        NaN is missing.
    y : array of shape (n_rows,), optional
        Class labels; scores that ignore the classes need none.
    by : iterable of str or (str, dict)
        Names of scores, each alone or with its options.
    sample_weight : array of shape (n_rows,), optional

    Returns
    -------
    array of shape (number of scores, n_features)
        One row for each score, in the order of `by`; larger is better.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import scores
    >>> X = np.array([[3, 1], [1, 0], [0, 1], [0, 0]])
    >>> scores.many(X, [0, 0, 1, 1], by=["count", ("chi2", {"of": "presence"})])
    array([[2., 2.],
           [4., 0.]])
    """
    named = ((one, {}) if isinstance(one, str) else one for one in by)
    found = score_many([(get(name), options) for name, options in named], X, y, sample_weight=sample_weight)
    if not found:
        raise TamisError("by must name at least one score")
    return np.stack([one.values for one in found])


def __getattr__(name: str) -> Any:  # for type checkers: names are found at import
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
