"""The card of a part: all that recipes, the search, the report and the documentation use of it."""

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeAlias

from tamis.base.search_range import Choice, Range

#: The purpose by which code finds a part without naming it.
Role = Literal[
    "vocabulary",  # chooses the words of texts, before recipes on text
    "class_vocabulary",  # the same by the classes
    "imputation",  # fills missing values, before recipes that need it
    "encoding",  # turns nominal columns into numbers, before recipes that need it
    "class_encoding",  # the same by the target
    "word_weighting",  # weighs counts of words
    "feature_scaling",  # scales every column
    "sample_scaling",  # scales every row by its own values
    "unit_rows",  # scales all rows to a mean length of one
    "projection",  # replaces the columns by few others
    "fold_ensemble",  # copies of one model, each fitted without one fold
    "weighted_ensemble",  # the weighted mean of several models
    "association",  # the score of reports where all columns are known numbers
    "mixed_association",  # the score of reports where there are nominal columns or missing values
    "separation",  # the score of how well one split of a column separates the classes
]

#: Traits of ``tamis.mining.data_traits.DataTraits`` that can decide whether the search tries a part.
Trait = Literal["sparse", "dense", "counts", "wide", "balanced_binary"]

#: The class boundary of classifiers that use all columns alike.
Boundary = Literal["linear", "kernel", "local"]

#: The arguments of a part in a recipe, defaults included, for the phrase that describes it. Recipes among them are
#: :class:`Clause` objects. A phrase pops what it describes; the rest is listed after it.
Arguments: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """Sizes of the data at which the search skips a part."""

    rows: float = math.inf
    columns: float = math.inf
    values: float = math.inf  # rows times columns, for parts that pass over the data many times
    differences: float = math.inf  # pairs of rows times columns, for parts that compare all rows with each other
    class_rows: int = 1  # of the largest class, at least: for parts that need two rows of a class within a fold

    def allow(self, rows: int, columns: int, class_rows: int) -> bool:
        """Whether data of this size, with this number of rows in the largest class, is within the limits."""
        if class_rows < self.class_rows:
            return False
        within_table = rows <= self.rows and columns <= self.columns and rows * columns <= self.values
        return within_table and rows**2 * columns <= self.differences


@dataclass(frozen=True)
class Part:
    """The card of a part: the attribute ``part`` of an estimator class or of a score.

    Parameters
    ----------
    name : str
        The recipe word.
    positional : tuple of str
        Parameters that need no name in a recipe, in order. A last one that begins with ``*`` takes all remaining
        arguments, which are recipes.
    search : mapping of str to Range or Choice
        The search range of each parameter; others stay at their defaults.
    paper : str
        The source of the method.
    only : mapping of str to (str, value)
        Parameters that matter for one value of another parameter: ``{"sigma": ("kernel", "gaussian")}``.
    numbers_only : mapping of str to tuple
        Values of parameters that take neither nominal columns nor missing values: ``{"criterion": ("fcq",)}``.
    dense_only : mapping of str to tuple
        Values of `search` that the search tries on dense data only: ``{"distribution": ("gaussian",)}``.
    counts_only : mapping of str to tuple
        Values of `search` that the search tries on sparse counts only: ``{"distribution": ("multinomial",)}``.
    unit_rows : bool
        Whether `search` assumes rows of mean length one, as from the part with the role "unit_rows".
    phrase : str or callable
        The part in an English sentence: a format string with names of parameters, ``"a forest of {n_estimators}
        trees"``, or a function of the :data:`Arguments`. For a score: what the features are ranked by. By default the
        sentence quotes the first line of the documentation, and for a score its name.
    role : str, optional
        The purpose by which code finds the part (:data:`Role`).
    searched : bool
        Whether the search tries it.
    templates : tuple of str
        Recipes that the search tries in place of the name alone, for a part made of others; ``{k}`` stands for the
        range of the number of columns.
    suits : tuple of str
        Traits of the data that the search requires for the part (:data:`Trait`).
    limits : Limits
        Sizes of the data for which the search tries it.
    slow : bool
        Whether it is expensive: the search tries it last, and a classifier on many columns only after a selection.
    fit_seconds : callable, optional
        About the seconds of a fit on some numbers of rows and columns, for a part so expensive that the search must
        know before the first one: it tries the part where its time is many times as long, and else not.
    growth : float
        The power of the rows with which the seconds of a fit grow, where they are many.
    requires : tuple of str
        Packages of an extra without which the search leaves the part out.
    ranks_like : str
        Another part that ranks the columns alike or better; the search tries only that one.
    ranks_like_on : tuple of str
        Traits of the data for which `ranks_like` holds; by default all data.
    scale_invariant : bool
        Whether the predictions of a classifier do not depend on the scales of the columns.
    boundary : str or mapping of value to str, optional
        The class boundary of a classifier that uses all columns alike and so can evaluate a selection; a mapping is by
        the value of its first positional parameter.
    counterpart : str
        A recipe word to take instead where the target is of the other task, for a part that serves one task.
    """

    name: str
    positional: tuple[str, ...] = ()
    search: Mapping[str, Range | Choice] = field(default_factory=dict)
    paper: str = ""
    only: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    numbers_only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    dense_only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    counts_only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    unit_rows: bool = False
    phrase: str | Callable[[Arguments], str] = ""
    role: Role | None = None
    searched: bool = True
    templates: tuple[str, ...] = ()
    suits: tuple[Trait, ...] = ()
    limits: Limits = Limits()
    slow: bool = False
    fit_seconds: Callable[[int, int], float] | None = None
    growth: float = 1.3
    requires: tuple[str, ...] = ()
    ranks_like: str = ""
    ranks_like_on: tuple[Trait, ...] = ()
    scale_invariant: bool = False
    boundary: Boundary | Mapping[Any, Boundary] | None = None
    counterpart: str = ""


@dataclass(frozen=True)
class Clause:
    """A recipe among the arguments of a part, in English; ``str()`` puts several steps in brackets."""

    text: str
    steps: int = 1

    def __str__(self) -> str:
        return f"[{self.text}]" if self.steps > 1 else self.text


def enumerated(clauses: Sequence[Clause]) -> str:
    """Number several recipes inside a phrase.

    >>> enumerated([Clause("a tree"), Clause("a forest")])
    '[(1) a tree; (2) a forest]'
    """
    return "[" + "; ".join(f"({number}) {one.text}" for number, one in enumerate(clauses, 1)) + "]"


def percent(share: float) -> str:
    """Format a share inside a phrase.

    >>> percent(0.05)
    '5 %'
    """
    return f"{100 * share:g} %"


def members(room: str) -> Iterator[tuple[str, Any]]:
    """The public objects defined in the modules of a room (``tamis.scores``, ...), with their names."""
    package = importlib.import_module(room)
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{room}.{info.name}")
        for name, value in vars(module).items():
            if not name.startswith("_") and _is_from(value, module.__name__):
                yield name, value


def _is_from(value: Any, module: str) -> bool:
    """Whether an object is defined in a module or in a file of a folder."""
    home = getattr(value, "__module__", None) or ""
    return home == module or home.startswith(f"{module}.")


@cache
def estimators(room: str) -> dict[str, type]:
    """The estimator classes of a room by class name: those that define a ``part`` card."""
    return {
        name: value
        for name, value in members(room)
        if inspect.isclass(value) and isinstance(vars(value).get("part"), Part)
    }


def room(
    package: str, functions: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a room that imports its estimators at their first use.

    `functions` maps the names of further functions of the room to their modules.
    """
    homes = functions or {}

    def find(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        if not name.startswith("_"):
            found = estimators(package)
            if name in found:
                return found[name]
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted([*estimators(package), *homes])
