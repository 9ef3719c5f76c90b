"""Summaries of rows that add up: what a score of data read piece by piece is a formula of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, Self

import numpy as np


class Summary(Protocol):
    """What is kept of some rows; those of all rows are the sum of those of the pieces."""

    def __add__(self, other: Self) -> Self:
        """The summary of the rows of both."""

    def arrays(self) -> dict[str, np.ndarray]:
        """The same as arrays by name, to be stored or sent."""

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """The summary whose arrays these are."""


class ArrayFields:
    """First base of a summary that is a dataclass of arrays."""

    def arrays(self) -> dict[str, np.ndarray]:
        """The fields by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """The summary with these fields."""
        return cls(**arrays)


def beside(summaries: Sequence[Any]) -> Any:
    """The summary of all columns, from those of blocks of columns of the same rows.

    The columns are the last axis of every array; an array without an axis is a minimum over columns.
    """
    if len(summaries) == 1:
        return summaries[0]
    blocks = [one.arrays() for one in summaries]
    joined = {
        name: np.concatenate([block[name] for block in blocks], axis=-1)
        if np.ndim(first)
        else np.min([block[name] for block in blocks])
        for name, first in blocks[0].items()
    }
    return type(summaries[0]).of_arrays(joined)


@dataclass(frozen=True)
class Formula:
    """A score as a formula of a summary.

    Attributes
    ----------
    summary : callable
        ``summary(X, y, sample_weight, n_classes=None)``, the summary of some rows, with `y` as in
        :class:`tamis.base.score.Score`. `n_classes` is for rows that may lack the last classes.
    function : callable
        ``function(summary, *, options)``: values, or :class:`~tamis.base.score.Scored`.
    when : mapping
        The values of options for which the score is this formula.
    """

    summary: Callable[..., Any]
    function: Callable[..., Any]
    when: Mapping[str, Any] = field(default_factory=dict)
