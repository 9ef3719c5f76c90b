"""How long a search may take: seconds, recipes, or both."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from time import time

from tamis.base.errors import TamisError
from tamis.base.validation import check_whole

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

#: Share of the time for trying at which each stage is to be over, at the latest. All the others share the rest.
_ENDS = {"base": 0.13, "select": 0.38, "classify": 0.51, "as asked": 0.51, "tune": 1.0, "substitute": 1.0}

#: Of the whole time the searches leave this share to chance.
_MARGIN = 0.03

#: By this share the time may be exceeded before a worse model is chosen for it.
_GRACE = 0.07

#: Share of the time that is kept back at the most: for judging the best once more, and for the last fits.
_MOST_CONFIRMING, _MOST_ENDING = 0.15, 0.25


@dataclass(frozen=True)
class Budget:
    """What a search may spend.

    Attributes
    ----------
    seconds : float or None
        Of the whole run: every search, the honest estimate and the last fit.
    trials : int or None
        Recipes that a search may try; each of the searches within the outer folds may try as many.
    """

    seconds: float | None = None
    trials: int | None = None


def budget(given: "str | float | Budget | None", trials: int | None = None) -> Budget:
    """Read a budget.

    Parameters
    ----------
    given : str, float, Budget or None
        A time such as "90s", "10m" or "1h30m", seconds as a number, or None for no limit of time.
    trials : int, optional

    Examples
    --------
    >>> budget("1h30m").seconds, budget(90, trials=50)
    (5400.0, Budget(seconds=90.0, trials=50))
    """
    if isinstance(given, Budget):
        return given
    if trials is not None:
        check_whole("trials", trials, 1)
    if given is None:
        if trials is None:
            raise TamisError("the search needs an end: give it a budget of time, of trials, or both")
        return Budget(None, trials)
    seconds = _seconds(given)
    if not seconds >= 1.0:
        raise TamisError(f"budget takes a time of a second or more, such as 90s, 10m or 1h30m; got {given!r}")
    return Budget(seconds, trials)


def _seconds(given: "str | float") -> float:
    if not isinstance(given, str):
        return float(given) if isinstance(given, int | float) and not isinstance(given, bool) else 0.0
    text = given.strip().lower()
    pieces = re.findall(r"(\d+(?:\.\d+)?)([smhd])", text)
    if not pieces or "".join(number + unit for number, unit in pieces) != text:
        return 0.0
    return sum(float(number) * _UNITS[unit] for number, unit in pieces)


class Pace:
    """Tells a search where it stands in its budget.

    Parameters
    ----------
    budget : Budget
    spent : float
        Seconds that earlier sessions of the run took.
    clock : callable
    """

    def __init__(self, budget: Budget, spent: float = 0.0, clock: Callable[[], float] = time) -> None:
        self.budget = budget
        self._clock = clock
        self._start = clock() - spent
        self._pretended: float | None = None
        self._confirming = self._ending = 0.0

    def pretend(self, spent: float | None) -> None:
        """Tell the time as it was when so many seconds were spent; None tells it as it is."""
        self._pretended = spent

    def keep_back(self, confirming: float, ending: float) -> None:
        """Keep back so many seconds for judging the best once more, and for what comes after the searches."""
        seconds = self.budget.seconds or 0.0
        self._confirming, self._ending = (
            min(confirming, _MOST_CONFIRMING * seconds),
            min(ending, _MOST_ENDING * seconds),
        )

    def now(self) -> float:
        """The time on the clock."""
        return self._clock() if self._pretended is None else self._start + self._pretended

    @property
    def spent(self) -> float:
        """Seconds so far, those of earlier sessions among them."""
        return self.now() - self._start

    @property
    def left(self) -> float | None:
        """Seconds left, if there is a limit."""
        return None if self.budget.seconds is None else self.budget.seconds - self.spent

    @property
    def left_with_grace(self) -> float | None:
        """Seconds left until the limit would be broken by more than users are promised, if there is a limit."""
        return None if self.budget.seconds is None else (1 + _GRACE) * self.budget.seconds - self.spent

    def end_of(self, stage: str, share: float = 1.0) -> float | None:
        """The time on the clock at which a stage, or a share of what is left of it, is to be over, if it is limited."""
        if self.budget.seconds is None:
            return None
        now, seconds = self.now(), (1 - _MARGIN) * self.budget.seconds - self._ending
        if stage in _ENDS:
            seconds = _ENDS[stage] * (seconds - self._confirming)
        end = self._start + seconds
        return end if share == 1.0 else now + share * max(0.0, end - now)

    def left_of(self, stage: str) -> float | None:
        """Seconds left to a stage, if there is a limit."""
        end = self.end_of(stage)
        return None if end is None else end - self.now()

    def over(self, stage: str) -> bool:
        """Whether the time of a stage is up."""
        end = self.end_of(stage)
        return end is not None and self.now() >= end
