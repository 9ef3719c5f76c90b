"""Ensembles of models that predict numbers: the weighted mean of members that are chosen greedily."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray
from tamis.compose.catalog import part_for
from tamis.compose.chain import Call
from tamis.compose.parser import parse
from tamis.mining.ensembles import BAGS, MEMBERS, SHARE, VOTES, good_bags
from tamis.mining.library import NumberLibrary
from tamis.validation.numeric_metrics import NumericPredictions

#: Number of best models among which the first votes of a bag are shared.
_BEGINNERS = 5

#: Relative gain below which a vote more is not worth it.
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
        """The recipe."""
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
    rng = generator(seed)
    seen = weight > 0
    own, weight = residuals[:, seen], weight[seen]
    order = np.argsort(row_losses(own, absolute=absolute) @ weight, kind="stable")
    bags = np.zeros((BAGS if order.size > 2 else 1, order.size), dtype=np.intp)
    for votes in bags:
        inside = rng.random(order.size) < SHARE if order.size > 2 else np.ones(order.size, dtype=bool)
        inside[rng.choice(order.size, min(2, order.size), replace=False)] = True
        bag = order[inside[order]]
        votes[bag] = _votes(own[bag], weight, absolute=absolute)
    losses = row_losses((bags / bags.sum(axis=1, keepdims=True)) @ own, absolute=absolute)
    votes = bags[good_bags(losses, weight)].sum(axis=0)
    most = np.lexsort((np.argsort(order), -votes))[:MEMBERS]
    members = most[votes[most] > 0]
    together = row_losses(np.average(own[members], axis=0, weights=votes[members]), absolute=absolute)
    if (together - row_losses(own[order[0]], absolute=absolute)) @ weight >= 0:
        members = order[:1]
    return NumberEnsemble(members, np.maximum(votes[members], 1))


def _votes(residuals: FloatArray, weight: FloatArray, *, absolute: bool) -> Codes:
    """Votes for models, best first."""
    sums = np.cumsum(residuals[:_BEGINNERS], axis=0)
    losses = [float(row_losses(total / (n + 1), absolute=absolute) @ weight) for n, total in enumerate(sums)]
    n = int(np.argmin(losses))
    votes = np.zeros(residuals.shape[0], dtype=np.intp)
    votes[: n + 1] = 1
    total, loss, n = sums[n], losses[n], n + 1
    while n < VOTES:
        after = row_losses((total + residuals) / (n + 1), absolute=absolute) @ weight
        winner = int(after.argmin())
        if after[winner] > loss * (1 - _GAIN):
            break
        loss, total, n = float(after[winner]), total + residuals[winner], n + 1
        votes[winner] += 1
    return votes
