"""The contract of a discretization method: a function of data and target, with a short description."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tamis.base.task import Task
from tamis.base.types import FloatArray, Matrix, Target


@dataclass(frozen=True, eq=False)
class Binning:
    """A discretization method, made by the decorator :func:`binning`.

    Attributes
    ----------
    name : str
        Its recipe word.
    function : callable
        ``function(X, y, *, options) -> cuts`` on validated input: `X` a float array or CSR matrix (NaN means missing),
        `y` class codes 0, 1, ..., numbers as float64, or None. It returns one ascending array of cuts for each column;
        a value lies in the bin after the last cut that is not above it. The options are parameters of
        :class:`tamis.discretize.Discretize`.
    supervised : bool
        Whether it uses the target.
    tasks : tuple of str
        What a target may set that it uses: "classify", "regress" or both.
    searched : bool
        Whether the search tries it.
    """

    name: str
    function: Callable[..., list[FloatArray]]
    supervised: bool = True
    tasks: tuple[Task, ...] = ("classify",)
    searched: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.function.__doc__)
        object.__setattr__(self, "__module__", self.function.__module__)
        object.__setattr__(self, "__wrapped__", self.function)

    def __call__(self, X: Matrix, y: Target, **options: Any) -> list[FloatArray]:
        """The cuts of every column."""
        return self.function(X, y, **options)

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options."""
        parameters = inspect.signature(self.function).parameters.values()
        return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)


def binning(
    name: str, *, supervised: bool = True, tasks: tuple[Task, ...] = ("classify",), searched: bool = True
) -> Callable[[Callable[..., list[FloatArray]]], Binning]:
    """Declare a function as the method `name`; the keywords are those of :class:`Binning`."""

    def declare(function: Callable[..., list[FloatArray]]) -> Binning:
        return Binning(name, function, supervised, tasks, searched)

    return declare
