"""The catalog: every part, its parameters, what they take and what the search may try.

Nothing is listed by hand. A part is any estimator class in the rooms ``transform``, ``discretize``, ``select``,
``classify`` and ``regress`` that has a card (:class:`tamis.base.part.Part`), and any score, whose name stands for a
ranking by it. A word such as ``knn`` may stand for a classifier and for a regressor: the task of the data decides.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from tamis import scores
from tamis.base._sklearn import HasMethods, InvalidParameterError, validate_parameter_constraints
from tamis.base.errors import TamisError
from tamis.base.part import Part, Role, estimators
from tamis.base.score import Score
from tamis.base.search_range import Choice, Range
from tamis.base.task import BOTH, HOLDS, Task, wrong_task
from tamis.compose.constraint_text import in_words
from tamis.select.ranking import Ranking

#: The rooms that hold parts, in the order of a chain, and the kind of their parts.
KINDS = {
    "transform": "transform",
    "score": "score",
    "select": "selector",
    "classify": "classifier",
    "regress": "regressor",
}

#: The task of the kinds that end a recipe.
_TASKS: dict[str, tuple[Task, ...]] = {"classifier": ("classify",), "regressor": ("regress",)}

_CUTS = ("k", "fraction", "threshold", "fdr", "at_least")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a part: its default and its constraints."""

    name: str
    default: Any
    constraints: list[Any]

    @property
    def takes(self) -> str:
        """The values it takes, in words."""
        return in_words(self.constraints)

    def refusal(self, value: Any, part: str) -> str | None:
        """Why `value` is refused, or None when it is accepted."""
        try:
            validate_parameter_constraints({self.name: self.constraints}, {self.name: value}, part)
        except InvalidParameterError:
            return f"{part}: {self.name} takes {self.takes}; got {value!r}"
        return None


@dataclass(frozen=True)
class Entry:
    """One part of the catalog: its card, its kind (one of :data:`KINDS`) and first doc line."""

    card: Part
    kind: str
    summary: str
    #: In the order in which a recipe prints them.
    parameters: Mapping[str, Parameter]
    #: Parameters in, estimator out.
    make: Callable[..., Any] = field(repr=False)
    #: The score behind a ranking.
    score: Score | None = None
    #: Whether it takes nominal columns without encoding, and missing values without imputation.
    takes_nominal: bool = False
    takes_missing: bool = False
    #: The tasks that it serves.
    tasks: tuple[Task, ...] = BOTH
    #: Whether it has the parameter `task`, which recipes leave to the data.
    has_task: bool = False
    #: The regressor of the same name, for a classifier that has one.
    regressor: "Entry | None" = None
    #: Whether it selects columns: it may then stand before the end of a recipe, also as a classifier or regressor.
    selects: bool = False

    @property
    def name(self) -> str:
        """The recipe word."""
        return self.card.name

    @property
    def class_name(self) -> str:
        """The class behind the recipe word."""
        return Ranking.__name__ if self.score is not None else str(getattr(self.make, "__name__", ""))

    def serving(self, task: Task) -> "Entry":
        """The part that this word stands for on a target of some task; an error where there is none."""
        if task in self.tasks:
            return self
        if task == "regress" and self.regressor is not None:
            return self.regressor
        raise wrong_task(self.card, self.tasks[0], task)

    def build(self, task: Task, **given: Any) -> Any:
        """The estimator with some arguments, for a task that it serves."""
        if strange := sorted(set(given) - set(self.parameters)):
            raise TamisError(f"{self.name} has no parameter {strange[0]!r} where the target holds {HOLDS[task]}")
        return self.make(**given, task=task) if self.has_task and task == "regress" else self.make(**given)

    def positional_name(self, index: int, value: Any) -> str | None:
        """The parameter of the argument at a place, or None when there are too many."""
        if self.score is not None and index == 0:
            first = value.values()[0] if isinstance(value, (Range, Choice)) else value
            return "fraction" if isinstance(first, float) else "k"
        known = self.card.positional
        if index < len(known):
            return known[index]
        return known[-1] if known and known[-1].startswith("*") else None

    def takes_recipes(self, parameter: str) -> bool:
        """Whether a parameter is an estimator or a list of them, so that a bare word names a part."""
        constraints = self.parameters[parameter].constraints
        return f"*{parameter}" in self.card.positional or any(isinstance(c, HasMethods) for c in constraints)

    def value(self, parameter: str, given: Mapping[str, Any]) -> Any:
        """The value of a parameter among some arguments, or its default."""
        return given.get(parameter, self.parameters[parameter].default)

    def matters(self, parameter: str, given: Mapping[str, Any]) -> bool:
        """Whether a parameter has a meaning beside some arguments."""
        other, value = self.card.only.get(parameter, (None, None))
        return other is None or bool(self.value(other, given) == value)

    def numbers_only(self, given: Mapping[str, Any]) -> bool:
        """Whether some arguments rule out nominal columns and missing values."""
        for name, refused in self.card.numbers_only.items():
            value = self.value(name, given)
            if any(one in refused for one in (value.options if isinstance(value, Choice) else (value,))):
                return True
        return False


@cache
def catalog() -> dict[str, Entry]:
    """Every part by name; a regressor that shares its name with a classifier is the `regressor` of that entry."""
    found: dict[str, Entry] = {}
    for room in ("transform", "discretize", "select", "classify", "regress"):
        if room == "select":
            for score in scores.all_scores.values():
                found[score.name] = _score_entry(score)
        for cls in estimators(f"tamis.{room}").values():
            if cls is not Ranking:
                # Discretizers are transforms in a room of their own.
                _add(found, _class_entry(cls, KINDS.get(room, "transform")))
    return found


def entries() -> list[Entry]:
    """Every part, those of the same name one after the other."""
    return [one for part in catalog().values() for one in (part, part.regressor) if one is not None]


def entry(name: str) -> Entry:
    """The part of that name."""
    if name not in catalog():
        raise TamisError(f"no part is called {name!r}; 'tamis list' shows them all")
    return catalog()[name]


def part_for(role: Role) -> Entry:
    """The first part with a role.

    Examples
    --------
    >>> part_for("imputation").name
    'impute'
    """
    return next(part for part in catalog().values() if part.card.role == role)


def score_for(role: Role, task: Task = "classify") -> Score:
    """The first score with a role that serves a task; without one, any score of the role's columns that does."""
    known = [score for score in scores.all_scores.values() if task in score.tasks and score.supervised]
    other = (score for score in known if score.takes_nominal and score.columnwise)
    return next((score for score in known if score.part.role == role), None) or next(other)


def register(cls: type, kind: str) -> type:
    """Add an estimator class of your own to the catalog of this process.

    Parameters
    ----------
    cls : type
        An estimator with class attributes ``part``, its card, and ``_parameter_constraints``.
    kind : {"transform", "selector", "classifier", "regressor"}

    Returns
    -------
    type
        The class.
    """
    _add(catalog(), _class_entry(cls, kind))
    return cls


def entry_of(estimator: Any) -> Entry | None:
    """The entry of an estimator instance, or None for one that is not a part."""
    if isinstance(estimator, Ranking):
        return catalog().get(estimator.by if isinstance(estimator.by, str) else getattr(estimator.by, "name", ""))
    part = vars(type(estimator)).get("part")
    found = catalog().get(part.name) if isinstance(part, Part) else None
    if found is not None and found.regressor is not None and found.regressor.make is type(estimator):
        return found.regressor
    return found


def _add(found: dict[str, Entry], new: Entry) -> None:
    same = found.get(new.name)
    if same is not None and same.kind == "classifier" and new.kind == "regressor" and same.regressor is None:
        new = replace(same, regressor=new)
    elif same is not None:
        raise TamisError(f"two parts are called {new.name!r}")
    found[new.name] = new


def _class_entry(cls: Any, kind: str) -> Entry:
    signature = inspect.signature(cls).parameters
    parameters = {
        n: Parameter(n, p.default, cls._parameter_constraints[n]) for n, p in signature.items() if n != "task"
    }
    takes = getattr(cls, "takes_nominal", False), getattr(cls, "accepts_missing", False)
    tasks: tuple[Task, ...] = _TASKS[kind] if kind in _TASKS else getattr(cls, "tasks", BOTH)
    has_task, selects = "task" in signature, kind == "selector" or getattr(cls, "selects", False)
    return Entry(cls.part, kind, _summary(cls), parameters, cls, None, *takes, tasks, has_task, selects=selects)


def _score_entry(score: Score) -> Entry:
    cuts = inspect.signature(Ranking).parameters
    if taken := sorted(set(score.options) & set(cuts)):
        raise TypeError(f"score {score.name}: the option {taken[0]} has the name of a parameter of the ranking")
    parameters = {
        name: Parameter(name, cuts[name].default, Ranking._parameter_constraints[name])
        for name in _CUTS
        if name != "fdr" or score.has_pvalues
    }
    for name, default in score.options.items():
        parameters[name] = Parameter(name, default, score.constraints[name])

    def make(**given: Any) -> Ranking:
        options = {name: given.pop(name) for name in score.options if name in given}
        return Ranking(score.name, **given, options=options or None)

    card = replace(score.part, positional=("k",), search=Ranking.part.search)
    takes = score.takes_nominal, Ranking.accepts_missing
    tasks = score.tasks if score.supervised else BOTH
    return Entry(card, "score", _summary(score), parameters, make, score, *takes, tasks, score.supervised, selects=True)


def _summary(documented: Any) -> str:
    return (inspect.getdoc(documented) or "").split("\n", 1)[0]
