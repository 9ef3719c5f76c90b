"""The contract of a way to cut columns into bins: a function of data and classes, and a small description of it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tamis.base.types import Codes, FloatArray, Matrix


@dataclass(frozen=True, eq=False)
class Binning:
    """A way to cut columns into bins, made by the decorator :func:`binning`.

    Attributes
    ----------
    name : str
        The word users type.
    function : callable
        ``function(X, y, *, options) -> cuts`` on validated input: `X` a float array or CSR matrix (NaN means
        missing), `y` class codes 0, 1, ... or None. It returns one ascending array of cuts for each column; a value
        lies in the bin that follows the last cut which is not above it. Its options are parameters of
        :class:`tamis.discretize.Discretize` and get their values from there.
    supervised : bool
        Whether it looks at the classes.
    paper : str
        Where the method comes from.
    """

    name: str
    function: Callable[..., list[FloatArray]]
    supervised: bool = True
    paper: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.function.__doc__)
        object.__setattr__(self, "__module__", self.function.__module__)
        object.__setattr__(self, "__wrapped__", self.function)

    def __call__(self, X: Matrix, y: Codes | None, **options: Any) -> list[FloatArray]:
        """The cuts of every column of validated input."""
        return self.function(X, y, **options)

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options."""
        parameters = inspect.signature(self.function).parameters.values()
        return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)


def binning(
    name: str, *, supervised: bool = True, paper: str = ""
) -> Callable[[Callable[..., list[FloatArray]]], Binning]:
    """Declare a function as the way to cut columns called `name`; the keywords are those of :class:`Binning`."""

    def declare(function: Callable[..., list[FloatArray]]) -> Binning:
        return Binning(name, function, supervised, paper)

    return declare
