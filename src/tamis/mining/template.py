"""The template of a recipe: what prepares the columns, what selects among them, and what classifies.

A template may be open: some of its arguments are sets or ranges. Its slots are these arguments, those of recipes within
recipes included. Filling every slot gives one recipe.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from tamis.base.part import Boundary
from tamis.base.search_range import Choice, Range
from tamis.compose.catalog import entry
from tamis.compose.chain import Call, Chain

#: The place of an argument: the position in the chain, the parameter, and so on inwards.
Path = tuple[int | str, ...]

#: Kinds of parts that select columns.
_SELECTING = ("score", "selector")

#: Distances of neighbouring values, as shares of the range.
_STEPS = (-1 / 8, -1 / 16, -1 / 32, 1 / 32, 1 / 16, 1 / 8)

#: Significant digits of numbers that the search makes up.
_DIGITS = 3


@dataclass(frozen=True)
class Template:
    """A chain in three parts: calls that prepare, that select, and that classify; only the last is never empty.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> template = Template.of(parse("standardize | cc(50) | rms_norm | svm(linear)"))
    >>> str(replace(template, select=()))
    'standardize | rms_norm | svm(linear)'
    """

    prepare: tuple[Call, ...]
    select: tuple[Call, ...]
    classify: tuple[Call, ...]

    @classmethod
    def of(cls, chain: Chain) -> "Template":
        """Divide a chain of calls: the selection reaches from the first to the last part that selects columns.

        Without such a part, the classifying part is the classifier and the scaling of rows right before it, if any.
        """
        calls = tuple(part for part in chain.parts if isinstance(part, Call))
        places = [i for i, call in enumerate(calls) if entry(call.name).kind in _SELECTING]
        if places:
            return cls(calls[: places[0]], calls[places[0] : places[-1] + 1], calls[places[-1] + 1 :])
        last = len(calls) - 1 - (len(calls) > 1 and entry(calls[-2].name).card.role == "unit_rows")
        return cls(calls[:last], (), calls[last:])

    @property
    def chain(self) -> Chain:
        return Chain((*self.prepare, *self.select, *self.classify))

    @property
    def family(self) -> tuple[str, str]:
        """The names of the parts that select, and of the classifier, with its kernel if it has several."""
        last = self.classify[-1]
        kernel = dict(last.arguments).get("kernel")
        classifier = f"{last.name} {kernel}" if isinstance(kernel, str) else last.name
        return " ".join(call.name for call in self.select), classifier

    def __str__(self) -> str:
        return str(self.chain)


def boundary(call: Call) -> Boundary | None:
    """The kind of class boundary of a classifier that uses all columns alike; None for any other."""
    part = entry(call.name)
    drawn = part.card.boundary
    if isinstance(drawn, Mapping):
        first = part.card.positional[0]
        return drawn.get(dict(call.arguments).get(first, part.parameters[first].default))
    return drawn


def slots(template: Template) -> dict[Path, Choice | Range]:
    """The open arguments of a template, by place.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> slots(Template.of(parse("cc({5, 50}) | knn(geom(1, 9, 3))")))
    {(0, 'k'): Choice(options=(5, 50)), (1, 'n_neighbors'): Range(spacing='geom', low=1, high=9, count=3)}
    """
    return dict(_open(template.chain, ()))


def _open(value: Any, path: Path) -> Iterator[tuple[Path, Choice | Range]]:
    if isinstance(value, Choice | Range):
        yield path, value
    elif isinstance(value, Chain):
        for place, part in enumerate(value.parts):
            if isinstance(part, Call):
                for name, argument in part.arguments:
                    yield from _open(argument, (*path, place, name))
    elif isinstance(value, tuple):
        for place, inner in enumerate(value):
            yield from _open(inner, (*path, place))


def value_at(template: Template, path: Path) -> Any:
    """The value of a closed template at the place of a slot.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> value_at(Template.of(parse("vote(cc(5), ssv(9)) | knn(3)")), (0, "estimators", 1, 0, "k"))
    9
    """
    value: Any = template.chain
    for step in path:
        if isinstance(value, Chain):
            value = value.parts[step]  # type: ignore[index]
        elif isinstance(value, Call):
            value = dict(value.arguments)[str(step)]
        else:
            value = value[step]
    return value


def filled(template: Template, values: Mapping[Path, Any]) -> Template:
    """The template with some of its slots filled.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> str(filled(Template.of(parse("cc({5, 50}) | knn(geom(1, 9, 3))")), {(0, "k"): 50, (1, "n_neighbors"): 3}))
    'cc(50) | knn(3)'
    """
    sizes = (len(template.prepare), len(template.prepare) + len(template.select))
    parts: Any = _with(template.chain, (), values).parts
    return Template(parts[: sizes[0]], parts[sizes[0] : sizes[1]], parts[sizes[1] :])


def _with(value: Any, path: Path, values: Mapping[Path, Any]) -> Any:
    if isinstance(value, Choice | Range):
        return values.get(path, value)
    if isinstance(value, Chain):
        return Chain(tuple(_with(part, (*path, place), values) for place, part in enumerate(value.parts)))
    if isinstance(value, Call):
        return replace(value, arguments=tuple((name, _with(v, (*path, name), values)) for name, v in value.arguments))
    if isinstance(value, tuple):
        return tuple(_with(inner, (*path, place), values) for place, inner in enumerate(value))
    return value


def grid(template: Template, points: int, most: int) -> list[Template]:
    """Closed templates that cover an open one, at most `most`: every option of a set, `points` values of a range.

    Slots of recipes within one part that have the same name and domain take the same values: the members of a vote all
    select the same number of columns.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> [str(one) for one in grid(Template.of(parse("cc(geom(1, 100, 5)) | knn({1, 3})")), 2, 9)]
    ['cc(3) | knn(1)', 'cc(3) | knn(3)', 'cc(32) | knn(1)', 'cc(32) | knn(3)']
    """
    tied: dict[Any, list[Path]] = {}
    domains = slots(template)
    for path, domain in domains.items():
        tied.setdefault(path if len(path) == 2 else (path[0], path[-1], domain), []).append(path)
    options = [spread(domains[paths[0]], points) for paths in tied.values()]
    every = [
        filled(template, {path: value for paths, value in zip(tied.values(), values, strict=True) for path in paths})
        for values in product(*options)
    ]
    if len(every) <= most:
        return every
    # Evenly through the product, so that no slot is left at one value; of one alone the first choice of every set.
    return [every[int(i * len(every) / most)] for i in range(most)]


def around(open_: Template, closed: Template) -> list[Template]:
    """Closed templates near another one: the value of each range in turn moved by three distances to both sides.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> [str(one) for one in around(*(Template.of(parse(f"cc({k}) | knn(3)")) for k in ("geom(1, 1000)", 20)))]
    ['cc(8) | knn(3)', 'cc(13) | knn(3)', 'cc(16) | knn(3)', 'cc(25) | knn(3)', 'cc(31) | knn(3)', 'cc(47) | knn(3)']
    """
    domains = slots(open_)
    here = {path: value_at(closed, path) for path in domains}
    found = []
    for path, domain in domains.items():
        if isinstance(domain, Range):
            found += [filled(open_, {**here, path: value}) for value in _near(domain, here[path])]
    return [one for one in dict.fromkeys(found) if one != closed]


def _near(domain: Range, value: Any) -> Iterator[Any]:
    for step in _STEPS:
        if domain.spacing == "geom":
            moved = value * (domain.high / domain.low) ** step
        else:
            moved = value + (domain.high - domain.low) * step
        whole = isinstance(domain.low, int) and isinstance(domain.high, int)
        yield min(max(round(moved) if whole else rounded(float(moved)), domain.low), domain.high)


def spread(domain: Choice | Range, points: int) -> tuple[Any, ...]:
    """A few values of a domain: all options of a set, and some points inside a range."""
    if isinstance(domain, Choice):
        return domain.options
    inside = Range(domain.spacing, domain.low, domain.high, 2 * points + 1).values()
    return tuple(rounded(value) for value in inside[1::2] or inside)


def rounded(value: Any) -> Any:
    """A number with few digits, for people who read the recipe; integers are unchanged.

    Examples
    --------
    >>> rounded(0.152439), rounded(1234)
    (0.152, 1234)
    """
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
