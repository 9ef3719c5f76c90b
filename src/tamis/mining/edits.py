"""What the user changes in the search: templates to try, parts to leave out, ranges of parameters, where to start."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tamis.base.errors import RecipeError, TamisError
from tamis.base.search_range import Choice, Range
from tamis.compose.catalog import catalog, entry
from tamis.compose.chain import Call, as_text
from tamis.compose.parser import parse


@dataclass(frozen=True)
class Edits:
    """Changes to the search space.

    Attributes
    ----------
    only : tuple of str
        Templates: recipes with or without open arguments. If there are any, the search tries nothing else.
    without : tuple of str
        Names of parts that are not used.
    ranges : mapping of (part, parameter) to Choice or Range
        Values to try instead of the range on the part's card.
    first : tuple of str, or None
        Recipes to try first, instead of those of the portfolio.
    """

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    ranges: Mapping[tuple[str, str], Choice | Range] = field(default_factory=dict)
    first: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in self.without:
            entry(name)
        for text in (*self.only, *(self.first or ())):
            parse(text)

    def and_(self, only: Iterable[str], without: Iterable[str]) -> "Edits":
        """These edits with more templates and more parts left out."""
        return Edits((*self.only, *only), (*self.without, *without), self.ranges, self.first)

    def to_dict(self) -> dict[str, Any]:
        """As plain text: part of the identity of a run."""
        ranges = {f"{part}.{parameter}": as_text(domain) for (part, parameter), domain in sorted(self.ranges.items())}
        found = {"try": sorted(self.only), "without": sorted(self.without), "search": ranges}
        return found if self.first is None else found | {"first": list(self.first)}


def read_edits(path: Path) -> Edits:
    """Read edits from a TOML file.

    The file may have lists ``try``, ``without`` and ``first``, and tables ``[search.PART]`` of values as in recipes::

        try = ["cc | svm", "standardize | ssv | {knn, nrbf}"]
        without = ["forest"]

        [search.svm]
        C = "geom(0.1, 1000, 5)"
        kernel = "{linear, gaussian}"
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TamisError(f"{path}: {str(error).partition(chr(10))[0]}") from error
    except OSError as error:
        raise TamisError(f"{path}: {error.strerror or error}") from error
    for key in found:
        if key not in ("try", "without", "first", "search"):
            raise TamisError(f"{path}: unknown key {key!r}; the file takes try, without, first and search")
    try:
        first = _texts(found, "first") if "first" in found else None
        return Edits(_texts(found, "try"), _texts(found, "without"), _ranges(found.get("search", {})), first)
    except RecipeError as error:
        raise RecipeError(f"{path}: {error}") from error
    except TamisError as error:
        raise TamisError(f"{path}: {error}") from error


def _texts(found: dict[str, Any], key: str) -> tuple[str, ...]:
    given = found.get(key, [])
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise TamisError(f"{key} takes a list of strings; got {given!r}")
    return tuple(given)


def _ranges(tables: Any) -> dict[tuple[str, str], Choice | Range]:
    if not isinstance(tables, dict):
        raise TamisError(f"search takes one table per part, such as [search.svm]; got {tables!r}")
    found = {}
    for part, table in tables.items():
        if not isinstance(table, dict):
            raise TamisError(f"search.{part} takes parameters and their values; got {table!r}")
        if part not in catalog():
            raise TamisError(f"no part is called {part!r}; 'tamis list' shows them all")
        for parameter, value in table.items():
            # A value is written as in a recipe, so the parser of recipes reads and checks it.
            text = value if isinstance(value, str) else as_text(value)
            call = parse(f"{part}({parameter}={text})").parts[0]
            domain = dict(call.arguments)[parameter] if isinstance(call, Call) else None
            found[part, parameter] = domain if isinstance(domain, Choice | Range) else Choice((domain,))
    return found
