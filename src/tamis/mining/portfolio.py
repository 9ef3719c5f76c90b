"""The portfolio: recipes that did well on many data sets, which a search tries first.

``portfolio.txt`` lists them, the most useful first: the first few cover the data sets best, and each further one helps
where those before it do not. The command in its head learned it. On the data of a search a recipe of the list becomes a
candidate: the search may then tune it, and parameters that the list leaves open begin at their usual values.
``portfolio_of_texts.txt`` comes before it on texts, and ``portfolio_of_numbers.txt`` takes its place where the target
holds numbers; these two hold what the field begins with, and were not learned.
"""

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

from tamis.base.search_range import Choice, Range
from tamis.base.task import Task
from tamis.compose.catalog import entry
from tamis.compose.chain import Call
from tamis.compose.parser import parse
from tamis.mining.space import Calls, Space
from tamis.mining.template import Template, filled, slots, spread
from tamis.mining.variation import Candidate


@lru_cache(maxsize=4)
def portfolio(*, text: bool = False, task: Task = "classify") -> tuple[str, ...]:
    """The recipes, the most useful first; for texts the usual ones of the field come before."""
    names = (*(("portfolio_of_texts.txt",) if text else ()), "portfolio.txt")
    if task == "regress":
        names = ("portfolio_of_numbers.txt",)
    lines = [line for name in names for line in _lines(name)]
    return tuple(line for line in lines if line and not line.startswith("#"))


def _lines(name: str) -> list[str]:
    return files("tamis.mining").joinpath(name).read_text(encoding="utf-8").splitlines()


def portfolio_candidates(space: Space) -> Iterator[Candidate]:
    """The recipes of the portfolio, or those that the user wants first, that are in a search space, in order."""
    seen = set()
    traits = space.traits
    for text in portfolio(text=traits.text, task=traits.task) if space.first is None else space.first:
        wanted = Template.of(parse(text))
        found = _candidate(wanted, space)
        if found is not None and found.closed not in seen:
            seen.add(found.closed)
            yield found


def _candidate(wanted: Template, space: Space) -> Candidate | None:
    """The candidate of a recipe; None where the space has no template for it, or does not allow its values."""
    if wanted.prepare and wanted.prepare not in space.preparations:
        return None
    select = _opened(wanted.select, space.selections) if wanted.select else ()
    classify = _opened(wanted.classify, space.classifiers)
    if select is None or classify is None:
        return None
    open_ = Template(wanted.prepare, select, classify)
    values = {}
    for path, domain in slots(open_).items():
        given = _given(wanted, open_, path)
        if given is not None and not _inside(given, domain):
            return None
        values[path] = _usual(open_, path, domain) if given is None else given
    return Candidate(open_, filled(open_, values))


def _opened(closed: Calls, options: tuple[Calls, ...]) -> Calls | None:
    """The open calls of the space of which some closed calls are a case."""
    return next((calls for calls in options if _matches(calls, closed)), None)


def _matches(open_: Calls, closed: Calls) -> bool:
    if [call.name for call in open_] != [call.name for call in closed]:
        return False
    for mine, theirs in zip(open_, closed, strict=True):
        given = dict(theirs.arguments)
        parameters = entry(mine.name).parameters
        for name, value in mine.arguments:
            if isinstance(value, Choice | Range) or _has_range(value):
                continue
            if given.get(name, parameters[name].default) != value:
                return False
    return True


def _has_range(value: Any) -> bool:
    return bool(slots(Template((), (), (Call("", (("", value),)),))))


def _given(wanted: Template, open_: Template, path: tuple[int | str, ...]) -> Any:
    """What a recipe says at the place of an open argument; None if it says nothing."""
    if len(path) != 2:
        return None
    place, name = path
    call = open_.chain.parts[int(place)]
    same = [one for one in wanted.chain.parts if isinstance(one, Call) and one.name == getattr(call, "name", None)]
    return dict(same[0].arguments).get(str(name)) if same else None


def _inside(value: Any, domain: Choice | Range) -> bool:
    if isinstance(domain, Choice):
        return value in domain.options
    return isinstance(value, int | float) and domain.low <= value <= domain.high


def _usual(open_: Template, path: tuple[int | str, ...], domain: Choice | Range) -> Any:
    """The default of a parameter if it may be tried; else the first of several choices, or the middle of a range."""
    if len(path) == 2:
        call = open_.chain.parts[int(path[0])]
        default = entry(getattr(call, "name", "")).parameters[str(path[1])].default
        if default is not None and not isinstance(default, bool) and _inside(default, domain):
            return default
    return spread(domain, 1)[0]
