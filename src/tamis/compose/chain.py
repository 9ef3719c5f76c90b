"""A recipe read: parts with their arguments in a chain, printable and ready to build."""

import keyword
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from tamis.base.errors import RecipeError
from tamis.base.search_range import Choice, Range
from tamis.compose.catalog import Entry, entry, entry_of

#: Words of the language that stand for a value.
CONSTANTS = {"true": True, "false": False, "none": None, "inf": math.inf}


@dataclass(frozen=True)
class Call:
    """One part with its arguments, bound to parameter names and in the part's own order."""

    name: str
    arguments: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        part = entry(self.name)
        texts: list[str] = []
        named = False
        for name, value in self.arguments:
            # An argument goes without its name in the first place, and further on when it is a recipe.
            slot = None if named else part.positional_name(len(texts), value)
            if slot == f"*{name}" and isinstance(value, list | tuple) and value:
                texts += [as_text(v) for v in value]
            elif slot == name and (not texts or isinstance(value, Chain) or hasattr(value, "get_params")):
                texts.append(as_text(value))
            else:
                named = True
                texts.append(f"{name}={as_text(value)}")
        return f"{self.name}({', '.join(texts)})" if texts else self.name

    def build(self) -> Any:
        """The estimator."""
        given = {name: _built(value) for name, value in self.arguments}
        made = entry(self.name).make(**given)
        # What was written, so that a default the user spelled out is printed back.
        made._written = tuple(given)
        return made


@dataclass(frozen=True)
class Chain:
    """A recipe: parts in order, each a call or a set of chains. Equal chains print the same text, and conversely.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> str(parse("cc( 700 )|svm(C = 10, kernel=linear)"))
    'cc(700) | svm(linear, C=10)'
    """

    parts: tuple[Call | Choice, ...]

    def __str__(self) -> str:
        return " | ".join(as_text(part) if isinstance(part, Choice) else str(part) for part in self.parts)

    def build(self) -> Any:
        """A scikit-learn estimator: a ``Pipeline``, or the part itself when there is only one."""
        if any(True for _ in self._open()):
            raise RecipeError(f"{self} stands for {len(list(self.variants()))} recipes, where one is needed")
        calls = [part for part in self.parts if isinstance(part, Call)]
        if len(calls) == 1:
            return calls[0].build()
        steps: list[tuple[str, Any]] = []
        for part in calls:
            seen = sum(name.split("-")[0] == part.name for name, _ in steps)
            steps.append((part.name if not seen else f"{part.name}-{seen + 1}", part.build()))
        return Pipeline(steps)

    def variants(self) -> Iterator["Chain"]:
        """Every single recipe this one stands for; itself when it has no sets and ranges."""
        options = [variants_of(part) for part in self.parts]
        for parts in product(*options):
            # A part that was one of a set may be a chain of its own.
            yield Chain(tuple(call for part in parts for call in (part.parts if isinstance(part, Chain) else (part,))))

    def _open(self) -> Iterator[Any]:
        for part in self.parts:
            if isinstance(part, Choice):
                yield part
            else:
                yield from (v for _, v in part.arguments if _is_open(v))


def to_text(estimator: Any) -> str:
    """Print an estimator as a recipe; one that is no part of the catalog prints as Python shows it.

    Parameters at their default are left out, unless the recipe it was built from spelled them out.

    Examples
    --------
    >>> from tamis.compose.recipe import recipe
    >>> to_text(recipe("cc(700) | svm(linear)"))
    'cc(700) | svm(linear)'
    """
    if isinstance(estimator, Pipeline):
        return " | ".join(to_text(step) for _, step in estimator.steps)
    found = entry_of(estimator)
    if found is None:
        return " ".join(repr(estimator).split())
    return str(_call_of(estimator, found))


def _call_of(estimator: Any, found: Entry) -> Call:
    given = estimator.get_params(deep=False)
    parameters = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in given.items()}
    if found.score is not None:
        parameters = {**parameters, **(parameters.pop("options") or {})}
    written = getattr(estimator, "_written", ())
    return Call(
        found.name,
        tuple(
            (name, parameters[name])
            for name, known in found.parameters.items()
            if name in parameters and (name in written or parameters[name] != known.default)
        ),
    )


def _built(value: Any) -> Any:
    if isinstance(value, Chain):
        return value.build()
    return [_built(v) for v in value] if isinstance(value, tuple) else value


def _is_open(value: Any) -> bool:
    if isinstance(value, Chain):
        return any(True for _ in value._open())
    if isinstance(value, tuple):
        return any(_is_open(v) for v in value)
    return isinstance(value, (Choice, Range))


def variants_of(value: Any) -> list[Any]:
    """Every closed value an open one stands for."""
    if isinstance(value, (Choice, Range)):
        return [v for option in value.values() for v in variants_of(option)]
    if isinstance(value, Chain):
        return list(value.variants())
    if isinstance(value, tuple):
        return [tuple(c) for c in product(*map(variants_of, value))]
    if isinstance(value, Call):
        names = [name for name, _ in value.arguments]
        combinations = product(*(variants_of(v) for _, v in value.arguments))
        return [Call(value.name, tuple(zip(names, c, strict=True))) for c in combinations]
    return [value]


def as_text(value: Any) -> str:
    """A value as a recipe writes it."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, float):
        return str(value) if not math.isinf(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, str):
        bare = value.isidentifier() and not keyword.iskeyword(value) and value not in CONSTANTS
        return value if bare else repr(value)
    if isinstance(value, Choice):
        return "{" + ", ".join(as_text(v) for v in value.options) + "}"
    if isinstance(value, Range):
        return f"{value.spacing}({as_text(value.low)}, {as_text(value.high)}, {value.count})"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(as_text(v) for v in value) + "]"
    if isinstance(value, (Chain, int)):
        return str(value)
    return to_text(value)
