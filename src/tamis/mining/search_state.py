"""The state of one search: what it may combine, what it has tried, what it may still spend."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.base.part import Part
from tamis.base.types import Codes
from tamis.compose.chain import Call
from tamis.mining.budget import Clock
from tamis.mining.space import Space
from tamis.mining.trials import Trial, Trials
from tamis.mining.variation import Candidate
from tamis.validation.fold_result import FoldResult

#: Recipes that the first stages are planned for when the number of trials is not limited.
PLENTY = 400

#: Share of the trials that each of the first stages may take.
_SHARES = {"portfolio": 0.15, "base": 0.15, "select": 0.30, "classify": 0.15}

#: Models that are evaluated on all repeats.
SHORTLIST = 16

#: Best models for which time is reserved for the final fits: as many as an ensemble often has.
_BEST = 5

#: A family gets at most the remaining trials divided by this in a round.
_ROUND = 9


@dataclass(frozen=True)
class Request:
    """Recipes to evaluate on some splits of a search, in a share of the time that is left to the stage.

    It may go on to the end of the stage `beyond`: no kind of part may be left out because its stage is over, nor the
    most promising model.
    """

    stage: str
    recipes: tuple[str, ...]
    splits: tuple[int, ...]
    share: float = 1.0
    beyond: str | None = None

    def until(self, clock: Clock) -> float | None:
        """When its time is up on the clock, if there is a limit."""
        end = clock.end_of(self.stage, self.share)
        return end if end is None or self.beyond is None else max(end, clock.end_of(self.beyond) or end)


@dataclass(frozen=True)
class RemainingWork:
    """The work after the searches.

    Attributes
    ----------
    outer_splits : float
        Outer splits per worker.
    rows, last_rows : int
        Training rows of an outer split, and of the final fit.
    """

    outer_splits: float
    rows: int
    last_rows: int

    def fits(self, rows: int, growth: float) -> float:
        """Its time, in units of that of a fit on some number of rows, which grows with a power of the rows."""
        return self.outer_splits * (self.rows / rows) ** growth + (self.last_rows / rows) ** growth


@dataclass(eq=False)
class SearchState:
    """The state of one search.

    Attributes
    ----------
    trials : Trials
    space : Space
    clock : Clock
    seed : int
    codes : int array
        The class of every row of the data, or the quantile of its number.
    stored : callable
        ``stored(split, recipes)`` returns the stored results of recipes on a split.
    store : callable
        ``store(split, results)`` stores results by recipe that were computed from other results.
    load : float
        Searches per worker.
    remaining : RemainingWork
    """

    trials: Trials
    space: Space
    clock: Clock
    seed: int
    codes: Codes
    stored: Callable[[int, Sequence[str]], dict[str, FoldResult]]
    store: Callable[[int, Mapping[str, FoldResult]], None]
    load: float
    remaining: RemainingWork

    @property
    def trials_left(self) -> float:
        most = self.clock.budget.trials
        return np.inf if most is None else most - len(self.trials.by_recipe)

    def over(self, stage: str) -> bool:
        """Whether a stage has no trials or no time left."""
        return self.trials_left <= 0 or self.clock.over(stage)

    def share(self, stage: str) -> int:
        """Number of recipes that one of the first stages may try."""
        return max(1, int(_SHARES[stage] * (self.clock.budget.trials or PLENTY)))

    def few(self, wanted: int) -> int:
        """Number of recipes to try for a family in a round: those wanted, but leaving some for other stages."""
        return int(min(wanted, max(2, self.trials_left // _ROUND)))

    def add(self, stage: str, candidates: Iterable[Candidate]) -> list[str]:
        """Add the new recipes among the candidates to the trials while trials are left."""
        found = []
        for candidate in candidates:
            if self.trials_left <= 0:
                break
            text = self.space.text(candidate.closed)
            if self.trials.add(text, stage, candidate):
                found.append(text)
        return found

    def affordable(self, trial: Trial, splits: Sequence[int], stage: str, times: float = 1.0) -> bool:
        """Whether a recipe, evaluated on some splits several times, fits into a third of the time left to a stage."""
        left = self.clock.left_of(stage)
        return left is None or times * self.seconds_on(trial, splits) <= left / 3

    def seconds_on(self, trial: Trial, splits: Sequence[int]) -> float:
        """Estimated seconds to evaluate a recipe on some splits; those of a first look are of fewer rows."""
        every = self.trials.inner.splits
        # The largest training sets predict the time of larger ones best.
        most = max((every[i].train.size for i in trial.seconds), default=0)
        each = [seconds for i, seconds in trial.seconds.items() if every[i].train.size >= 0.9 * most]
        if not each:
            return 0.0
        growth = self._growth(trial)
        return self.load * float(np.mean(each)) * sum((every[i].train.size / most) ** growth for i in splits)

    def seconds_after(self, trial: Trial) -> float:
        """Estimated seconds after the searches if they choose this model."""
        rows = {i: self.trials.inner.splits[i].train.size for i in trial.alone}
        # The largest training sets predict the time of larger ones best.
        most = max(rows.values(), default=0)
        each = [seconds for i, seconds in trial.alone.items() if rows[i] >= 0.9 * most]
        return float(np.mean(each)) * self.remaining.fits(most, self._growth(trial)) if each else 0.0

    def _growth(self, trial: Trial) -> float:
        """The power of the rows with which the seconds of a model grow: the largest of its parts decides in the end."""
        parts = () if trial.candidate is None else trial.candidate.closed.chain.parts
        cards = [self.space.entry(one.name).card for one in parts if isinstance(one, Call)]
        return max((card.growth for card in cards), default=Part.growth)

    def confirm_seconds(self) -> float:
        """Estimated seconds to evaluate the shortlist on all repeats."""
        every = self.trials.inner.all
        # New splits and models that differ share little work.
        return self.load * sum(one.seconds_alone * sum(i not in one.values for i in every) for one in self.shortlist())

    def final_seconds(self) -> float:
        """Estimated seconds after the searches for an ensemble of some of the best models."""
        return sum(self.seconds_after(one) for one in distinct(self.best(), _BEST))

    def shortlist(self) -> list[Trial]:
        return distinct(self.best(), SHORTLIST)

    def best(self) -> list[Trial]:
        """The trials evaluated on all folds or at least in a first look, best first."""
        return [one for one, _ in self.trials.estimates()]

    def confirmed(self) -> list[Trial]:
        """The trials evaluated on all repeats, best first."""
        return self.trials.ranked(self.trials.inner.all)


def distinct(trials: Sequence[Trial], most: int) -> list[Trial]:
    """The best trial of each family, then the second best of each and so on."""
    seen: dict[Any, int] = {}
    turns = []
    for place, one in enumerate(trials):
        family = one.recipe if one.candidate is None else one.candidate.closed.family
        seen[family] = seen.get(family, 0) + 1
        turns.append((seen[family], place))
    return [trials[place] for _, place in sorted(turns)[:most]]
