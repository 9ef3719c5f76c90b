"""One search on its way: what it may combine, what it knows, what it may still spend, and what it asks for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.mining.budget import Pace
from tamis.mining.space import Space
from tamis.mining.trials import Board, Tried
from tamis.mining.variation import Candidate
from tamis.validation.fold_result import FoldResult

#: Recipes that the first three stages are laid out for when there is no limit.
PLENTY = 400

#: Share of the trials that each of the first stages may take.
_SHARES = {"base": 0.20, "select": 0.35, "classify": 0.20}

#: Models that are judged on all repeats, and those among which a blend may choose.
SHORTLIST = 16

#: The best models among which the slowest decides how much time is kept back for the last fits.
_BEST = 3

#: The seconds of a fit grow with about this power of the rows.
_GROWTH = 1.3

#: Of the trials that are left a family gets no more than one in so many in a round.
_ROUND = 9


@dataclass(frozen=True)
class Ask:
    """Recipes to be judged on some splits of a search.

    Attributes
    ----------
    stage : str
    recipes : tuple of str
    splits : tuple of int
    share : float
        How much of the time that is left to the stage it may take.
    """

    stage: str
    recipes: tuple[str, ...]
    splits: tuple[int, ...]
    share: float = 1.0


@dataclass(frozen=True)
class Ahead:
    """What is to be done when the searches are over.

    Attributes
    ----------
    judged : float
        Outer splits that one worker has to judge.
    rows, last_rows : int
        Training rows of an outer split, and of the last fit.
    """

    judged: float
    rows: int
    last_rows: int

    def fits(self, rows: int) -> float:
        """How many times as long as a fit of some rows it takes."""
        return self.judged * (self.rows / rows) ** _GROWTH + (self.last_rows / rows) ** _GROWTH


@dataclass(eq=False)
class Search:
    """One search: what it may combine, what it knows, and what it may still spend.

    Attributes
    ----------
    board : Board
    space : Space
    pace : Pace
    seed : int
    answers : callable
        ``answers(split, recipes)``: the results that were kept of recipes on a split.
    keep : callable
        ``keep(split, results)``: keeps results by recipe that were not computed from rows.
    load : float
        Searches that share one worker.
    ahead : Ahead
    """

    board: Board
    space: Space
    pace: Pace
    seed: int
    answers: Callable[[int, Sequence[str]], dict[str, FoldResult]]
    keep: Callable[[int, Mapping[str, FoldResult]], None]
    load: float
    ahead: Ahead

    @property
    def trials_left(self) -> float:
        """Recipes that may still be tried."""
        most = self.pace.budget.trials
        return np.inf if most is None else most - len(self.board.tried)

    def over(self, stage: str) -> bool:
        """Whether a stage has nothing left to spend."""
        return self.trials_left <= 0 or self.pace.over(stage)

    def share(self, stage: str) -> int:
        """Recipes that one of the first stages may try."""
        return max(1, int(_SHARES[stage] * (self.pace.budget.trials or PLENTY)))

    def few(self, wanted: int) -> int:
        """So many recipes as are wanted for a family in a round, but no more than leaves some for other stages."""
        return int(min(wanted, max(2, self.trials_left // _ROUND)))

    def enter(self, stage: str, candidates: Iterable[Candidate]) -> list[str]:
        """Enter new recipes on the board, as far as the trials reach."""
        found = []
        for candidate in candidates:
            if self.trials_left <= 0:
                break
            text = self.space.text(candidate.closed)
            if self.board.enter(text, stage, candidate):
                found.append(text)
        return found

    def affordable(self, tried: Tried, n_splits: int, end: str, times: float = 1.0) -> bool:
        """Whether so many more splits of a recipe fit in a third of the time that is left to a stage."""
        left = self.pace.left_of(end)
        if left is None or not tried.seconds:
            return True
        return tried.mean_seconds * n_splits * times * self.load <= left / 3

    def ending(self, tried: Tried) -> float:
        """Seconds after the searches, should they choose this model."""
        rows = {i: self.board.inner.splits[i].train.size for i in tried.alone}
        # What fewer rows took says less.
        most = max(rows.values(), default=0)
        each = [seconds for i, seconds in tried.alone.items() if rows[i] >= 0.9 * most]
        return float(np.mean(each)) * self.ahead.fits(most) if each else 0.0

    def confirming(self) -> float:
        """Seconds that it takes to judge the best on all repeats."""
        every = self.board.inner.all
        # Other splits than before, and models that differ: little of it is shared.
        return self.load * sum(one.seconds_alone * sum(i not in one.values for i in every) for one in self.shortlist())

    def after(self) -> float:
        """Seconds after the searches, should they choose one of the best."""
        return max((self.ending(one) for one in self.best()[:_BEST]), default=0.0)

    def shortlist(self) -> list[Tried]:
        """The best of each family, then the second best of each and so on."""
        return distinct(self.best(), SHORTLIST)

    def best(self) -> list[Tried]:
        """The recipes that were judged on all folds, or at least on the first ones, the best first."""
        return [one for one, _ in self.board.standings()]

    def sure(self) -> list[Tried]:
        """Those that were judged on all repeats."""
        return self.board.ranked(self.board.inner.all)


def distinct(tried: Sequence[Tried], most: int) -> list[Tried]:
    """The best of each family, then the second best of each and so on."""
    seen: dict[Any, int] = {}
    turns = []
    for place, one in enumerate(tried):
        family = one.recipe if one.candidate is None else one.candidate.closed.family
        seen[family] = seen.get(family, 0) + 1
        turns.append((seen[family], place))
    return [tried[place] for _, place in sorted(turns)[:most]]
