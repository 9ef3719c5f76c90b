"""Ensembles of models that predict numbers: the weighted mean of members that are chosen greedily."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from tamis.base.types import Codes, FloatArray
from tamis.compose.catalog import part_for
from tamis.compose.chain import Call
from tamis.compose.parser import parse
from tamis.mining.ensembles import bagged_votes
from tamis.mining.library import NumberLibrary
from tamis.validation.numeric_metrics import NumericPredictions

#: Gain, relative to the loss of the best model, below which a vote more is not worth it.
_GAIN = 1e-9


@dataclass(frozen=True, eq=False)
class NumberEnsemble:
    """Members of a library and their votes.

    Attributes
    ----------
    members : int array of shape (n_members,)
        Places in the library, most votes first.
    votes : int array of shape (n_members,)
    """

    members: Codes
    votes: Codes

    def with_members(self, members: Codes) -> Self:
        """The first members at other places."""
        return replace(self, members=members, votes=self.votes[: members.size])

    def predictions(
        self, library: NumberLibrary, shares: FloatArray, entries: np.ndarray | slice = slice(None)
    ) -> NumericPredictions:
        """The predictions for some entries; there are no `shares` of classes."""
        own = library.values[self.members][:, entries]
        return NumericPredictions(library.truth[entries], np.average(own, axis=0, weights=self.votes))

    def text(self, library: NumberLibrary) -> str:
        """The recipe: that of the member itself where it is alone."""
        if self.members.size == 1:
            return library.recipes[self.members[0]]
        arguments: tuple[tuple[str, object], ...] = (
            ("estimators", tuple(parse(library.recipes[m]) for m in self.members)),
            ("weights", tuple(self.votes.tolist())),
        )
        return str(Call(part_for("weighted_ensemble").name, arguments))


def row_losses(residuals: FloatArray, *, absolute: bool) -> FloatArray:
    """Squared or absolute errors of rows."""
    return np.abs(residuals) if absolute else residuals**2


def select_numbers(residuals: FloatArray, weight: FloatArray, *, absolute: bool, seed: int) -> NumberEnsemble:
    """Choose an ensemble greedily by the mean loss of its mean, in bags (Caruana and others 2004, section 3).

    As :func:`~tamis.mining.ensembles.select_ensemble`, with squared or absolute errors.

    Parameters
    ----------
    residuals : array of shape (n_models, n_entries)
        Truth less prediction.
    weight : array of shape (n_entries,)
    absolute : bool
        Whether the loss is the absolute error, and not the squared one.
    seed : int
        Of the bags.

    Examples
    --------
    >>> residuals = np.array([[1.0, 1.0, -1.0, 1.0], [-1.0, -1.0, 1.0, -1.0], [9.0, 9.0, 9.0, 9.0]])
    >>> sorted(select_numbers(residuals, np.ones(4), absolute=False, seed=0).members.tolist())
    [0, 1]
    """
    seen = weight > 0
    own, loss = residuals[:, seen], partial(row_losses, absolute=absolute)
    best = float((loss(own) @ weight[seen]).min())
    return NumberEnsemble(*bagged_votes(own, loss, weight[seen], least=_GAIN * best, seed=seed))
