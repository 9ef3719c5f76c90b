"""What the user says of columns, by name or by pattern."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Self

from tamis.base.errors import TamisError, quoted
from tamis.data.dates import DateReading

#: The kinds that a user may give to a column.
KINDS = ("numeric", "nominal", "date", "id", "text")


@dataclass(frozen=True)
class Wishes:
    """What the user says of the columns; the names of replaced dates, such as ``visit: month``, count as columns.

    Attributes
    ----------
    left_out : dict of str to str
        What is to be left out, with the reason.
    kept : set of str
    kinds : dict of str to str
    """

    left_out: dict[str, str]
    kept: set[str]
    kinds: dict[str, str]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        dates: Mapping[str, DateReading],
        target: str,
        *,
        drop: Iterable[str],
        keep: Iterable[str],
        ids: Iterable[str],
        kinds: Mapping[str, str] | None,
    ) -> Self:
        """The wishes for columns of these names, once all patterns match something and no two contradict."""
        every = [*names, *(f"{name}: {part}" for name, reading in dates.items() for part in reading.parts)]
        given = kinds_of(kinds, every, target)
        left_out = dict.fromkeys(matching(drop, every, "drop", target), "as asked")
        asked = [*matching(ids, names, "ids", target), *(name for name, kind in given.items() if kind == "id")]
        left_out |= dict.fromkeys(asked, "an identifier, as asked")
        kept = set(matching(keep, every, "keep", target))
        if both := kept & left_out.keys():
            raise TamisError(f"column {quoted(min(both))} is both to be kept and to be left out")
        if wrong := [name for name, kind in given.items() if kind == "date" and name not in dates]:
            raise TamisError(f"column {quoted(wrong[0])} was to be a date, and its values cannot be read as dates")
        return cls(left_out, kept, given)

    @property
    def settled(self) -> set[str]:
        """The columns that no rule for identifiers and text concerns."""
        return self.kept | self.left_out.keys() | self.kinds.keys()


def matching(patterns: Iterable[str], names: Sequence[str], option: str, target: str) -> list[str]:
    """The names that any pattern matches, in their order; a pattern that matches none is refused.

    Parameters
    ----------
    patterns : iterable of str
        Names, or patterns with ``*``, ``?`` and ``[]``; a name as it stands comes before the pattern.
    names : sequence of str
    option : str
        What the message calls the patterns.
    target : str
        The name of the class, which is no column to choose.

    Examples
    --------
    >>> matching(["date_*"], ["age", "date_in", "date_out"], "drop", "class")
    ['date_in', 'date_out']
    """
    if isinstance(patterns, str):
        raise TamisError(f"{option} takes a list of names, and got the text {quoted(patterns)}")
    if not (patterns := list(patterns)):
        return []
    chosen: set[str] = set()
    for pattern in patterns:
        found = {pattern} & set(names) or {name for name in names if fnmatchcase(name, pattern)}
        if not found:
            raise TamisError(f"{option}: {_unmatched(pattern, names, target)}")
        chosen |= found
    return [name for name in names if name in chosen]


def kinds_of(kinds: Mapping[str, str] | None, names: Sequence[str], target: str) -> dict[str, str]:
    """The kind of every column that `kinds` names or matches; of two patterns the later decides, a name above all."""
    found: dict[str, str] = {}
    given = dict(kinds or {})
    for pattern in sorted(given, key=lambda pattern: pattern in names):
        if given[pattern] not in KINDS:
            raise TamisError(f"kinds: {quoted(given[pattern])} is none of {', '.join(KINDS)}")
        found |= dict.fromkeys(matching([pattern], names, "kinds", target), given[pattern])
    return found


def _unmatched(pattern: str, names: Sequence[str], target: str) -> str:
    if pattern == target:
        return f"{quoted(pattern)} is the class, which is never a feature"
    near = get_close_matches(pattern, names, n=1, cutoff=0.0)
    nearest = f"; the nearest name is {quoted(near[0])}" if near else ""
    return f"no column is called {quoted(pattern)}, or matches it{nearest}"
