"""Sets of values of a parameter, in recipes (``cc(geom(50, 5000, 10))``) and in the search."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Choice:
    """One of the listed values."""

    options: tuple[Any, ...]

    def values(self) -> tuple[Any, ...]:
        return self.options


@dataclass(frozen=True)
class Range:
    """`count` values from `low` to `high`; whole numbers when both ends are, without duplicates.

    >>> Range("geom", 50, 5000, 3).values()
    (50, 500, 5000)
    >>> Range("lin", 0.0, 1.0, 3).values()
    (0.0, 0.5, 1.0)
    """

    spacing: str
    low: float
    high: float
    count: int = 10

    def values(self) -> tuple[Any, ...]:
        spread = np.geomspace if self.spacing == "geom" else np.linspace
        points = spread(self.low, self.high, self.count)
        if isinstance(self.low, int) and isinstance(self.high, int):
            points = np.rint(points).astype(int)
        return tuple(dict.fromkeys(points.tolist()))


def geom(low: float, high: float, count: int = 10) -> Range:
    """Values in geometric progression."""
    return Range("geom", low, high, count)


def lin(low: float, high: float, count: int = 10) -> Range:
    """Values in arithmetic progression."""
    return Range("lin", low, high, count)


def choice(*options: Any) -> Choice:
    """Any of the given values."""
    return Choice(options)
