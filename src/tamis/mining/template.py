"""The form of a recipe: what comes before the selection, the selection, and what ends in the classifier.

A form may be open: some of its arguments are sets or ranges. Its slots are these arguments, wherever they stand, in
recipes within recipes too; filling every slot gives one recipe.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from tamis.base.part import Boundary
from tamis.base.search_range import Choice, Range
from tamis.compose.catalog import entry
from tamis.compose.chain import Call, Chain

#: Where an argument stands: the place in the chain, the parameter, and so on inwards.
Path = tuple[int | str, ...]

#: Kinds of parts that pick columns.
_PICKS = ("score", "selector")


#: How far neighbours of a value are, as shares of its range.
_STEPS = (-1 / 8, -1 / 16, -1 / 32, 1 / 32, 1 / 16, 1 / 8)

#: Significant digits of a number that the search makes up.
_DIGITS = 3


@dataclass(frozen=True)
class Form:
    """A chain in three parts, each possibly empty but the last.

    Attributes
    ----------
    head, pick, tail : tuples of Call

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> form = Form.of(parse("standardize | cc(50) | rms_norm | svm(linear)"))
    >>> str(replace(form, pick=()))
    'standardize | rms_norm | svm(linear)'
    """

    head: tuple[Call, ...]
    pick: tuple[Call, ...]
    tail: tuple[Call, ...]

    @classmethod
    def of(cls, chain: Chain) -> "Form":
        """The form of a chain of calls: the pick reaches from its first to its last part that picks columns.

        Without such a part the tail is the classifier with the scaling of rows right before it, if there is one.
        """
        calls = tuple(part for part in chain.parts if isinstance(part, Call))
        places = [i for i, call in enumerate(calls) if entry(call.name).kind in _PICKS]
        if places:
            return cls(calls[: places[0]], calls[places[0] : places[-1] + 1], calls[places[-1] + 1 :])
        last = len(calls) - 1 - (len(calls) > 1 and entry(calls[-2].name).card.role == "unit_rows")
        return cls(calls[:last], (), calls[last:])

    @property
    def chain(self) -> Chain:
        return Chain((*self.head, *self.pick, *self.tail))

    @property
    def family(self) -> tuple[str, str]:
        """What kind of model it is: the names of the parts that pick, and of the classifier."""
        return " ".join(call.name for call in self.pick), _family_name(self.tail[-1])

    def __str__(self) -> str:
        return str(self.chain)


def boundary(call: Call) -> Boundary | None:
    """The kind of class boundary of a classifier that uses all columns alike; None of any other."""
    part = entry(call.name)
    drawn = part.card.boundary
    if isinstance(drawn, Mapping):
        first = part.card.positional[0]
        return drawn.get(dict(call.arguments).get(first, part.parameters[first].default))
    return drawn


def _family_name(call: Call) -> str:
    """A classifier by name, one with several kernels by its kernel too."""
    kernel = dict(call.arguments).get("kernel")
    return f"{call.name} {kernel}" if isinstance(kernel, str) else call.name


def slots(form: Form) -> dict[Path, Choice | Range]:
    """The open arguments of a form, by where they stand.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> slots(Form.of(parse("cc({5, 50}) | knn(geom(1, 9, 3))")))
    {(0, 'k'): Choice(options=(5, 50)), (1, 'n_neighbors'): Range(spacing='geom', low=1, high=9, count=3)}
    """
    return dict(_open(form.chain, ()))


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


def value_at(form: Form, path: Path) -> Any:
    """What a closed form has where an open one has a slot.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> value_at(Form.of(parse("vote(cc(5), ssv(9)) | knn(3)")), (0, "estimators", 1, 0, "k"))
    9
    """
    value: Any = form.chain
    for step in path:
        if isinstance(value, Chain):
            value = value.parts[step]  # type: ignore[index]
        elif isinstance(value, Call):
            value = dict(value.arguments)[str(step)]
        else:
            value = value[step]
    return value


def filled(form: Form, values: Mapping[Path, Any]) -> Form:
    """The form with some of its slots filled.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> str(filled(Form.of(parse("cc({5, 50}) | knn(geom(1, 9, 3))")), {(0, "k"): 50, (1, "n_neighbors"): 3}))
    'cc(50) | knn(3)'
    """
    sizes = (len(form.head), len(form.head) + len(form.pick))
    parts: Any = _with(form.chain, (), values).parts
    return Form(parts[: sizes[0]], parts[sizes[0] : sizes[1]], parts[sizes[1] :])


def _with(value: Any, path: Path, values: Mapping[Path, Any]) -> Any:
    if isinstance(value, Choice | Range):
        return values.get(path, value)
    if isinstance(value, Chain):
        return Chain(
            tuple(
                replace(
                    part,
                    arguments=tuple(
                        (name, _with(inner, (*path, place, name), values)) for name, inner in part.arguments
                    ),
                )
                if isinstance(part, Call)
                else part
                for place, part in enumerate(value.parts)
            )
        )
    if isinstance(value, tuple):
        return tuple(_with(inner, (*path, place), values) for place, inner in enumerate(value))
    return value


def grid(form: Form, points: int, most: int) -> list[Form]:
    """Closed forms that cover an open one: a few values of every slot, thinned evenly to at most so many.

    Slots of recipes within one part that have the same name and domain move together: the members of a vote all
    keep as many.

    Parameters
    ----------
    form : Form
    points : int
        Values taken of a range, spread evenly inside it; of a set all are taken.
    most : int

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> [str(one) for one in grid(Form.of(parse("cc(geom(1, 100, 5)) | knn({1, 3})")), 2, 9)]
    ['cc(3) | knn(1)', 'cc(3) | knn(3)', 'cc(32) | knn(1)', 'cc(32) | knn(3)']
    """
    tied: dict[Any, list[Path]] = {}
    domains = slots(form)
    for path, domain in domains.items():
        tied.setdefault(path if len(path) == 2 else (path[0], path[-1], domain), []).append(path)
    options = [spread(domains[paths[0]], points) for paths in tied.values()]
    every = [
        filled(form, {path: value for paths, value in zip(tied.values(), values, strict=True) for path in paths})
        for values in product(*options)
    ]
    if len(every) <= most:
        return every
    # Evenly through the product, so that no slot is left at one value; of one alone the first choice of every set.
    return [every[int(i * len(every) / most)] for i in range(most)]


def around(open_: Form, closed: Form) -> list[Form]:
    """Closed forms near another one: each range in turn a little, more and much more to both sides.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> [str(one) for one in around(*(Form.of(parse(f"cc({k}) | knn(3)")) for k in ("geom(1, 1000)", 20)))]
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
    """A few values of a domain: all of a set, and of a range so many from inside it."""
    if isinstance(domain, Choice):
        return domain.options
    inside = Range(domain.spacing, domain.low, domain.high, 2 * points + 1).values()
    return tuple(rounded(value) for value in inside[1::2] or inside)


def rounded(value: Any) -> Any:
    """A number in few digits, for recipes are read by people; a whole one as it is.

    Examples
    --------
    >>> rounded(0.152439), rounded(1234)
    (0.152, 1234)
    """
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
