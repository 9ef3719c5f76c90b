"""Ensembles of the models of a library: calibrated, chosen greedily, and computed without a fit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tamis.base.predictions import calibrated
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray
from tamis.compose.catalog import part_for
from tamis.compose.chain import Call
from tamis.compose.parser import parse
from tamis.mining.library import ClassLibrary
from tamis.validation.fold_result import FoldResult, measured
from tamis.validation.metrics import FoldPredictions

#: Models from which an ensemble is chosen, and the most that it has.
CANDIDATES, MEMBERS = 40, 8

#: Bags of candidates, the share of the candidates in each, and the most votes in one.
_BAGS, _SHARE, _VOTES = 20, 0.5, 10

#: Number of best models among which the first votes of a bag are shared.
_BEGINNERS = 5

#: Gain of log loss per row below which a vote more is not worth it.
_GAIN = 1e-9


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Members of a library, their votes and their calibration.

    Attributes
    ----------
    members : int array of shape (n_members,)
        Places in the library, most votes first.
    votes : int array of shape (n_members,)
    calibration : array of shape (n_members, n_classes)
    balanced : bool
        Whether all classes count the same.
    """

    members: Codes
    votes: Codes
    calibration: FloatArray
    balanced: bool

    def with_members(self, members: Codes) -> Self:
        """The first members at other places."""
        n = members.size
        return replace(self, members=members, votes=self.votes[:n], calibration=self.calibration[:n])

    def probabilities(self, library: ClassLibrary, entries: np.ndarray | slice = slice(None)) -> FloatArray:
        """The probabilities of the classes, if these were equally large where the ensemble is balanced."""
        own = [
            calibrated(library.probabilities[m, entries], parameters)
            for m, parameters in zip(self.members, self.calibration, strict=True)
        ]
        return np.asarray(np.average(own, axis=0, weights=self.votes))

    def predictions(
        self, library: ClassLibrary, shares: FloatArray, entries: np.ndarray | slice = slice(None)
    ) -> FoldPredictions:
        """The predictions for some entries, as after a fit on rows with these shares of the classes."""
        p = self.probabilities(library, entries)
        labels = p.argmax(axis=1)
        if self.balanced:
            p = p * shares / (p * shares).sum(axis=1, keepdims=True)
        scores = p[:, 1] if library.n_classes == 2 else p
        return FoldPredictions(library.truth[entries], labels, library.n_classes, scores, p)

    def text(self, library: ClassLibrary) -> str:
        """The recipe."""
        arguments: tuple[tuple[str, object], ...] = (
            ("estimators", tuple(parse(library.recipes[m]) for m in self.members)),
            ("weights", tuple(self.votes.tolist())),
            ("calibration", tuple(tuple(one) for one in self.calibration.tolist())),
        )
        if self.balanced:
            arguments += (("balanced", True),)
        return str(Call(part_for("weighted_ensemble").name, arguments))


def entry_weights(truth: Codes, counts: FloatArray, *, balanced: bool) -> FloatArray:
    """The weight of each entry from how often it counts: with `balanced` the same sum for every class."""
    if not balanced:
        return counts
    sums = np.bincount(truth, weights=counts)
    present = sums > 0
    shares = np.divide(counts.sum() / present.sum(), sums, out=np.zeros_like(sums), where=present)
    return counts * shares[truth]


def select_ensemble(
    calibration: FloatArray, losses: FloatArray, weight: FloatArray, *, balanced: bool, seed: int
) -> Ensemble:
    """Choose an ensemble greedily by log loss, in bags of the candidates (Caruana and others 2004, section 3).

    In each bag, a random half of the models, the first votes go to the best ones, as many as do best together. Each
    further vote goes to the model with which the mean of the votes does best, until a vote no longer helps. The votes
    of the bags are added, and the models with the most votes are the members. A bag counts when it is as good as the
    best one, within a standard error of the difference: one that lacks the only good model does not. Where the best
    model alone has no greater loss than the members together, it is the only one.

    Parameters
    ----------
    calibration, losses : arrays
        From :func:`~tamis.mining.calibration.fit_calibration` and :func:`~tamis.mining.calibration.log_losses`.
    weight : array of shape (n_entries,)
    balanced : bool
        Whether the weights balance the classes.
    seed : int
        Of the bags.
    """
    seen = weight > 0
    members, votes = bagged_votes(
        np.exp(-losses[:, seen]), _log_loss, weight[seen], least=_GAIN * float(weight[seen].sum()), seed=seed
    )
    return Ensemble(members, votes, calibration[members], balanced)


def _log_loss(probabilities: FloatArray) -> FloatArray:
    return -np.log(probabilities)


def bagged_votes(
    own: FloatArray, loss: Callable[[FloatArray], FloatArray], weight: FloatArray, *, least: float, seed: int
) -> tuple[Codes, Codes]:
    """The members of an ensemble, most votes first, and their votes.

    Parameters
    ----------
    own : array of shape (n_models, n_entries)
        What is averaged over the members: probabilities of the true classes, or residuals.
    loss : callable
        ``loss(mean)`` returns the losses of entries from such means.
    weight : array of shape (n_entries,)
        Above zero.
    least : float
        Gain of the sum of losses below which a vote more is not worth it.
    seed : int
        Of the bags.
    """
    rng = generator(seed)
    order = np.argsort(loss(own) @ weight, kind="stable")
    bags = np.zeros((_BAGS if order.size > 2 else 1, order.size), dtype=np.intp)
    for votes in bags:
        inside = rng.random(order.size) < _SHARE if order.size > 2 else np.ones(order.size, dtype=bool)
        inside[rng.choice(order.size, min(2, order.size), replace=False)] = True
        bag = order[inside[order]]
        votes[bag] = _votes(own[bag], loss, weight, least)
    found = bags[_good_bags(loss((bags / bags.sum(axis=1, keepdims=True)) @ own), weight)].sum(axis=0)
    most = np.lexsort((np.argsort(order), -found))[:MEMBERS]
    members = most[found[most] > 0]
    together = loss(np.average(own[members], axis=0, weights=found[members]))
    if (together - loss(own[order[0]])) @ weight >= 0:
        members = order[:1]
    return members, np.maximum(found[members], 1)


def _good_bags(losses: FloatArray, weight: FloatArray) -> np.ndarray:
    """The bags whose mean loss over rows is that of the best one, within a standard error of the difference."""
    share = weight / weight.sum()
    more = losses - losses[(losses @ share).argmin()]
    means = more @ share
    return np.flatnonzero(means <= np.sqrt((more - means[:, None]) ** 2 @ share**2))


def _votes(own: FloatArray, loss: Callable[[FloatArray], FloatArray], weight: FloatArray, least: float) -> Codes:
    """Votes for models, best first."""
    sums = np.cumsum(own[:_BEGINNERS], axis=0)
    losses = [float(loss(total / (n + 1)) @ weight) for n, total in enumerate(sums)]
    n = int(np.argmin(losses))
    votes = np.zeros(own.shape[0], dtype=np.intp)
    votes[: n + 1] = 1
    total, now, n = sums[n], losses[n], n + 1
    while n < _VOTES:
        after = loss((total + own) / (n + 1)) @ weight
        winner = int(after.argmin())
        if after[winner] > now - least:
            break
        now, total, n = after[winner], total + own[winner], n + 1
        votes[winner] += 1
    return votes


def ensemble_results(
    ensemble: Any, library: Any, results: Sequence[Mapping[str, FoldResult]], shares: Sequence[FloatArray]
) -> list[FoldResult]:
    """The results of an ensemble from those of its members, one for each split of its library.

    Both are of classes or of numbers. `shares` are the shares of the classes in the training rows of each split.
    """
    found, begin = [], 0
    members = [library.recipes[m] for m in ensemble.members]
    for own, share in zip(results, shares, strict=True):
        each = [own[m] for m in members]
        end = begin + each[0].rows.size
        predictions = ensemble.predictions(library, share, slice(begin, end))
        kept = [one.selected for one in each if one.selected is not None]
        found.append(
            replace(
                each[0],
                predictions=predictions,
                metrics=measured(predictions, None),
                selected=np.unique(np.concatenate(kept)) if len(kept) == len(each) else None,
                fit_seconds=sum(one.fit_seconds for one in each),
                predict_seconds=sum(one.predict_seconds for one in each),
                alone_seconds=sum(one.alone_seconds for one in each),
                warnings=tuple(dict.fromkeys(w for one in each for w in one.warnings)),
            )
        )
        begin = end
    return found
