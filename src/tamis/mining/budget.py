"""How long a search may take: seconds, trials, or both."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from tamis.base.errors import TamisError
from tamis.base.validation import check_whole

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

#: Share of the time of a phase at which each stage ends at the latest, and the first look at every kind of part, which
#: may take longer than its stage. All other stages share the rest.
_ENDS = {
    "portfolio": 0.25,
    "base": 0.33,
    "select": 0.50,
    "classify": 0.60,
    "templates": 0.51,
    "first look": 0.65,
    "tune": 0.85,
    "substitute": 0.85,
    "narrow": 1.0,
}

#: Share of the whole time that the searches leave unused: for the honest estimate, for substitutes, and as a margin.
_MARGIN = 0.06

#: Share by which the time may be exceeded before a worse but quicker model is chosen.
_TOLERANCE = 0.07

#: Largest shares of the time of a phase reserved for the last evaluation of the best models, and for the final fits.
_MOST_CONFIRM, _MOST_FINAL = 0.15, 0.25


@dataclass(frozen=True)
class Budget:
    """What a search may spend.

    Attributes
    ----------
    seconds : float or None
        For the whole run: every search, the honest estimate and the final fit.
    trials : int or None
        Recipes that each search may try, those within the outer folds too.
    """

    seconds: float | None = None
    trials: int | None = None


def budget(given: "str | float | Budget | None", trials: int | None = None) -> Budget:
    """Read a budget: a time such as "90s", "10m" or "1h30m", seconds as a number, or None for no limit of time.

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


class Clock:
    """The time that a run has spent and has left; `spent` are the seconds of its earlier sessions."""

    def __init__(self, budget: Budget, spent: float = 0.0, timer: Callable[[], float] = monotonic) -> None:
        self.budget = budget
        self._timer = timer
        self._start = timer() - spent
        self._frozen: float | None = None
        self.enter()

    def enter(self, begin: float = 0.0, share: float = 1.0, keep: float = 0.0) -> None:
        """Begin a phase of the run, whose stages share the time.

        It began when `begin` seconds were spent, and has a share of the time from then to the end of the run, less
        `keep` seconds for work that follows.
        """
        self._begin = begin
        self._length = share * max(0.0, (1 - _MARGIN) * (self.budget.seconds or 0.0) - begin - keep)
        self._confirm = self.reserved = 0.0

    def freeze(self, spent: float | None) -> None:
        """Stop the clock at a number of seconds spent; None lets it run."""
        self._frozen = spent

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A context whose time is not spent."""
        spent = self.spent
        self.freeze(spent)
        try:
            yield
        finally:
            self.freeze(None)
            self._start = self._timer() - spent

    def reserve(self, confirm: float, final: float) -> None:
        """Reserve seconds of the phase for the last evaluation of the best models, and for the work after it.

        The latter are in `reserved`.
        """
        self._confirm = min(confirm, _MOST_CONFIRM * self._length)
        self.reserved = min(final, _MOST_FINAL * self._length)

    def now(self) -> float:
        return self._timer() if self._frozen is None else self._start + self._frozen

    @property
    def spent(self) -> float:
        """Seconds so far, earlier sessions included."""
        return self.now() - self._start

    @property
    def left(self) -> float | None:
        """Seconds left, if there is a limit."""
        return None if self.budget.seconds is None else self.budget.seconds - self.spent

    @property
    def left_with_tolerance(self) -> float | None:
        """Seconds left until the phase takes so much longer that the run exceeds its tolerance, if there is a limit."""
        if self.budget.seconds is None:
            return None
        return self._begin + self._length + (_MARGIN + _TOLERANCE) * self.budget.seconds - self.spent

    def end_of(self, stage: str, share: float = 1.0) -> float | None:
        """When a stage of the phase, or a share of what is left of it, ends on this clock, if there is a limit."""
        if self.budget.seconds is None:
            return None
        now, seconds = self.now(), self._length - self.reserved
        if stage in _ENDS:
            seconds = _ENDS[stage] * (seconds - self._confirm)
        end = self._start + self._begin + seconds
        return end if share == 1.0 else now + share * max(0.0, end - now)

    def left_of(self, stage: str) -> float | None:
        """Seconds left to a stage, if there is a limit."""
        end = self.end_of(stage)
        return None if end is None else end - self.now()

    def over(self, stage: str) -> bool:
        """Whether the time of a stage is up."""
        end = self.end_of(stage)
        return end is not None and self.now() >= end
