"""FOCUS: the smallest set of columns that tells the classes apart as well as all columns do."""

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.cut import NothingPasses
from tamis.base.part import Limits, Part
from tamis.contingency.states import METHODS
from tamis.select.lvf import consistent, too_inconsistent
from tamis.subsets.evaluations import EQUAL, Evaluations, ScoredSubset
from tamis.subsets.search import SubsetSearch


class Focus(SubsetSearch):
    """Select the smallest set of columns whose inconsistency rate is not above a threshold: exact, by exhaustion.

    All sets of one column are tried, then those of two, and so on, except those that cannot succeed. Inconsistency
    never rises when a column is added. So a column without which all others together are inconsistent is in every
    solution, and of sets that agree so far none needs a look if all columns that may still join do not make them
    consistent.

    Parameters
    ----------
    threshold : float, optional
        The highest inconsistency rate; by default that of all columns.
    bins : str, default="auto"
        How numeric columns become states, as for :class:`MRMR`.
    max_evaluations : int, optional
        Sets whose inconsistency may be computed; the smallest consistent one of these is selected then.

    Attributes
    ----------
    chosen_ : int array
        The selected columns.
    score_ : float
        Minus their inconsistency rate.
    threshold_ : float
    needed_ : int array
        The columns that are in every consistent set.
    n_evaluations_, trace_
        As for :class:`BestFirst`.
    complete_ : bool
        False if `max_evaluations` ended the search: then a smaller set may exist.

    See Also
    --------
    LVF : Draws sets at random, for many columns.

    Notes
    -----
    The first solution is that of a forward search, which is selected if none is smaller. Columns are tried by their
    own inconsistency, the lowest first, equal ones in column order. The number of sets grows exponentially with the
    size of the solution. Missing values are a state of their own.

    References
    ----------
    Almuallim and Dietterich (1991), "Learning with many irrelevant features".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Focus
    >>> X = np.random.default_rng(0).integers(0, 2, size=(100, 8))
    >>> Focus().fit(X, X[:, 2] ^ X[:, 5]).chosen_
    array([2, 5])
    """

    part: ClassVar[Part] = Part(
        "focus",
        paper="Almuallim and Dietterich 1991; Souza, Japkowicz and Matwin 2005",
        phrase="selects the smallest set of features that is as consistent as all features",
        limits=Limits(columns=40),
        # Its solutions are those of lvf, at a higher cost.
        ranks_like="lvf",
    )
    tasks = ("classify",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [real(0, 1, "both"), None],
        "bins": [StrOptions(set(METHODS))],
        "max_evaluations": [integer(1), None],
    }

    def __init__(
        self, threshold: float | None = None, *, bins: str = "auto", max_evaluations: int | None = None
    ) -> None:
        super().__init__("inconsistency", bins=bins, max_evaluations=max_evaluations)
        self.threshold = threshold

    def _walk(self, scores: Evaluations, rng: np.random.Generator) -> Iterator[ScoredSubset]:
        every = np.arange(scores.n_features)
        best = ScoredSubset(every, scores.of(every))
        yield best
        self.threshold_ = -best.score if self.threshold is None else float(self.threshold)
        self.needed_ = every
        if not consistent(best, self.threshold_):
            warnings.warn(too_inconsistent(self.part.name, best, self.threshold_), NothingPasses, stacklevel=2)
            return
        least = -self.threshold_ - EQUAL
        self.needed_ = every[scores.remove(every, every) < least] if every.size > 1 else every[:0]
        best = self._forward(scores, least)
        yield best
        others = np.setdiff1d(every, self.needed_)
        if others.size:
            others = others[np.argsort(-scores.add(self.needed_, others), kind="stable")]
        for size in range(self.needed_.size, best.columns.size):
            found = _first(scores, self.needed_, others, size - self.needed_.size, least)
            if found is not None:
                yield found
                return

    def _forward(self, scores: Evaluations, least: float) -> ScoredSubset:
        """A consistent set, from the needed columns on by the best column at each step."""
        found = ScoredSubset(self.needed_, scores.of(self.needed_))
        while found.score < least:
            outside = np.setdiff1d(np.arange(scores.n_features), found.columns)
            values = scores.add(found.columns, outside)
            best = int(values.argmax())
            found = ScoredSubset(np.append(found.columns, outside[best]), float(values[best]))
        return found

    def _stopped(self, scores: Evaluations, found: ScoredSubset) -> ScoredSubset:
        return found


def _first(
    scores: Evaluations, columns: np.ndarray, others: np.ndarray, more: int, least: float
) -> ScoredSubset | None:
    """The first set with `more` of the other columns that scores at least `least`."""
    if more == 0:
        score = scores.of(columns)
        return ScoredSubset(columns, score) if score >= least else None
    if others.size < more:
        return None
    if others.size > more and scores.of(np.concatenate((columns, others))) < least:
        return None
    if more == 1:
        values = scores.add(columns, others)
        place = int((values >= least).argmax())
        return ScoredSubset(np.append(columns, others[place]), float(values[place])) if values[place] >= least else None
    for place in range(others.size - more + 1):
        if place and scores.of(np.concatenate((columns, others[place:]))) < least:
            return None
        found = _first(scores, np.append(columns, others[place]), others[place + 1 :], more - 1, least)
        if found is not None:
            return found
    return None
