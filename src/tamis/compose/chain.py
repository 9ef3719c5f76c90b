"""A parsed recipe: a chain of parts with their arguments, which prints as text and builds an estimator."""

import keyword
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from tamis.base.errors import RecipeError, TamisError
from tamis.base.search_range import Choice, Range
from tamis.base.task import Task
from tamis.compose.catalog import entry, entry_of

#: Words of the language that stand for a value.
CONSTANTS = {"true": True, "false": False, "none": None, "inf": math.inf}


@dataclass(frozen=True)
class Call:
    """One part with its arguments, bound to parameter names and in the order of the part."""

    name: str
    arguments: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        part = entry(self.name)
        texts: list[str] = []
        named = False
        for name, value in self.arguments:
            # The first argument goes without its name, and further ones that are recipes.
            slot = None if named else part.positional_name(len(texts), value)
            if slot == f"*{name}" and isinstance(value, list | tuple) and value:
                texts += [as_text(v) for v in value]
            elif slot == name and (not texts or isinstance(value, Chain) or hasattr(value, "get_params")):
                texts.append(as_text(value))
            else:
                named = True
                texts.append(f"{name}={as_text(value)}")
        return f"{self.name}({', '.join(texts)})" if texts else self.name

    def build(self, task: Task = "classify") -> Any:
        """The estimator for a task."""
        given = {name: _built(value, task) for name, value in self.arguments}
        made = entry(self.name).serving(task).build(task, **given)
        # So that a default which the user spelled out is printed back.
        made._written = tuple(given)
        return made


@dataclass(frozen=True)
class Chain:
    """A recipe: parts in order, each a call or a set of chains. Chains are equal if and only if their texts are.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> str(parse("cc( 700 )|svm(C = 10, kernel=linear)"))
    'cc(700) | svm(linear, C=10)'
    """

    parts: tuple[Call | Choice, ...]

    def __str__(self) -> str:
        return " | ".join(as_text(part) if isinstance(part, Choice) else str(part) for part in self.parts)

    @property
    def task(self) -> Task | None:
        """The task that a word of the recipe settles, such as ``ridge``; None where the data decides."""
        return "regress" if any(_is_for(call, ("regress",)) for call in _calls(self)) else None

    def build(self, task: Task | None = None) -> Any:
        """A scikit-learn estimator: a ``Pipeline``, or the part itself when there is only one.

        Without a `task` it is that of the recipe's words, and where they leave it open, to classify.
        """
        if task is None:
            self._check_task()
            task = self.task or "classify"
        if self.is_open:
            raise RecipeError(f"{self} stands for {len(list(self.variants()))} recipes, where one is needed")
        calls = [part for part in self.parts if isinstance(part, Call)]
        if len(calls) == 1:
            return calls[0].build(task)
        steps: list[tuple[str, Any]] = []
        for part in calls:
            seen = sum(name.split("-")[0] == part.name for name, _ in steps)
            steps.append((part.name if not seen else f"{part.name}-{seen + 1}", part.build(task)))
        return Pipeline(steps)

    def _check_task(self) -> None:
        """Refuse a recipe with a part for numbers alone beside one for classes alone, whatever the target holds."""
        numbers, classes = (next((c for c in _calls(self) if _is_for(c, (t,))), None) for t in ("regress", "classify"))
        if numbers is not None and classes is not None:
            cards = [entry(call.name).card for call in (numbers, classes)]
            instead = [f"{one.counterpart} in place of {one.name}" for one in cards if one.counterpart]
            other = f": take {', or '.join(instead)}" if instead else ""
            raise TamisError(f"{numbers.name} is for a target of numbers, and {classes.name} for one of classes{other}")

    def variants(self) -> Iterator["Chain"]:
        """Every single recipe this one stands for; itself when it has no sets or ranges."""
        options = [variants_of(part) for part in self.parts]
        for parts in product(*options):
            # An option of a set may be a chain of several parts.
            yield Chain(tuple(call for part in parts for call in (part.parts if isinstance(part, Chain) else (part,))))

    @property
    def is_open(self) -> bool:
        """Whether it has sets or ranges, and so stands for many recipes."""
        return any(isinstance(part, Choice) or any(_is_open(v) for _, v in part.arguments) for part in self.parts)


def to_text(estimator: Any) -> str:
    """The recipe of an estimator; one that is not in the catalog prints as its ``repr``.

    Parameters at their default are left out, unless the recipe it was built from spelled them out.

    Parameters
    ----------
    estimator : estimator

    Returns
    -------
    str

    See Also
    --------
    tamis.compose.recipe.recipe : The inverse.

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
    given = estimator.get_params(deep=False)
    if found.score is not None:
        given = {**given, **(given.pop("options") or {})}
    values = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in given.items()}
    written = getattr(estimator, "_written", ())
    shown = [
        name
        for name, parameter in found.parameters.items()
        if name in values and (name in written or values[name] != parameter.default)
    ]
    return str(Call(found.name, tuple((name, values[name]) for name in shown)))


def _built(value: Any, task: Task) -> Any:
    if isinstance(value, Chain):
        return value.build(task)
    return [_built(v, task) for v in value] if isinstance(value, tuple) else value


def _calls(value: Any) -> Iterator[Call]:
    """The parts within a value, those among the arguments of others included."""
    if isinstance(value, Call):
        yield value
        value = tuple(given for _, given in value.arguments)
    elif isinstance(value, Chain):
        value = value.parts
    elif isinstance(value, Choice):
        value = value.options
    if isinstance(value, tuple):
        for one in value:
            yield from _calls(one)


def _is_for(call: Call, tasks: tuple[Task, ...]) -> bool:
    """Whether the word of a part stands for these tasks and no other."""
    part = entry(call.name)
    return part.tasks == tasks and (tasks == ("regress",) or part.regressor is None)


def _is_open(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(_is_open(v) for v in value)
    return value.is_open if isinstance(value, Chain) else isinstance(value, (Choice, Range))


def variants_of(value: Any) -> list[Any]:
    """Every single value that a value with sets and ranges stands for."""
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
