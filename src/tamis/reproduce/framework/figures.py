"""Figures of most studies: curves of ours beside the printed ones, and bars in groups."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tamis.base.types import FloatArray
from tamis.reporting.figure_description import Axis, Bars, Colour, Figure, Mark, Panel, Series

#: Inches of a figure.
SIZE = (4.6, 3.0)

#: Inches of a group of horizontal bars, and of a bar.
_GROUP, _BAR = 0.12, 0.16

#: Places of vertical bars beside each other, and letters of their names; others are horizontal.
_PLACES, _LETTERS = 40, 12

#: Decades within which an axis has ticks at 2 and 5 as well.
_DECADES = 2.6

#: How numbers are shown on hover.
_NUMBER = ".4~g"


class Curve(NamedTuple):
    """A line through points: None breaks it; `se` is a band to either side.

    A printed curve is dotted. With a `colour` of its own it can be that of ours. `steps` are level between points.
    """

    x: Sequence[Any]
    y: Sequence[float | None]
    se: Sequence[float] | None = None
    printed: bool = False
    colour: Colour | None = None
    points: bool = True
    steps: bool = False


def curves(name: str, title: str, caption: str, x: Axis, y: Axis, own: Mapping[str, Curve]) -> Figure:
    """Describe lines by their labels; colours count those that have none of their own."""
    marks: list[Mark] = []
    count = 0
    for label, one in own.items():
        colour = count if one.colour is None else one.colour
        count += one.colour is None
        look: dict[str, Any] = {"dotted": one.printed, "points": one.points and not one.printed, "size": 6.0}
        look["steps"] = one.steps
        hover = f"%{{x:{_NUMBER}}}: %{{y:{_NUMBER}}}"
        reach = None if one.se is None else list(one.se)
        marks.append(
            Series(list(one.x), list(one.y), line=True, reach=reach, colour=colour, label=label, hover=hover, **look)
        )
    return Figure(name, title, caption, SIZE, [Panel(x, y, marks)])


def scatter(
    points: Sequence[Sequence[float]] | FloatArray,
    label: str,
    colour: Colour,
    *,
    size: float = 8.0,
    shape: str | None = None,
) -> Series:
    """Describe points, the rows of an array of two columns."""
    x, y = np.asarray(points, dtype=np.float64).reshape(-1, 2).T.tolist()
    return Series(x, y, points=True, label=label, colour=colour, size=size, shape=shape, hover="%{x:.3g}, %{y:.3g}")


def bars(
    name: str, title: str, caption: str, places: Sequence[str], axis: Axis, groups: Mapping[str, Sequence[float | None]]
) -> Figure:
    """Describe a bar for each group at every place, side by side; printed groups are grey, None has no bar."""
    groups = {label: values for label, values in groups.items() if any(value is not None for value in values)}
    width = 0.8 / max(len(groups), 1)
    greys: list[Colour] = ["faint", "muted", "ink"]
    across = len(places) * len(groups) > _PLACES or max(map(len, places), default=0) > _LETTERS
    marks: list[Mark] = []
    count = 0
    for number, (label, values) in enumerate(groups.items()):
        known = [(place, float(value)) for place, value in enumerate(values) if value is not None]
        at = [place + (number + 0.5) * width - 0.4 for place, _ in known]
        printed = "printed" in label
        colour: Colour = greys[(number - count) % len(greys)] if printed else count
        count += not printed
        hover = f"%{{{'x' if across else 'y'}:{_NUMBER}}}"
        look: dict[str, Any] = {"width": 0.9 * width, "across": across, "hover": hover}
        marks.append(Bars(at, [value for _, value in known], colour=colour, label=label, **look))
    names = Axis(names=list(places), grid=False)
    panel = Panel(axis, names, marks) if across else Panel(names, axis, marks)
    height = 0.5 + len(places) * (_GROUP + _BAR * len(groups)) if across else SIZE[1]
    return Figure(name, title, caption, (SIZE[0], height), [panel])


def log_axis(title: str, values: Sequence[float | None]) -> Axis:
    """Describe a logarithmic axis that holds the values, with ticks at powers of ten, and at 2 and 5 times those.

    Examples
    --------
    >>> log_axis("words", [10, 1000]).ticks
    (10, 20, 50, 100, 200, 500, 1000)
    >>> log_axis("C", [0.01, 1e4]).ticks
    (0.01, 0.1, 1, 10, 100, 1000, 10000)
    """
    known = [math.log10(value) for value in values if value is not None and value > 0] or [0.0, 1.0]
    low, high = min(known) - 1e-9, max(known) + 1e-9
    steps = (1, 2, 5) if high - low <= _DECADES else (1,)
    found = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    ticks = [float(f"{one:.6g}") for one in found if low <= math.log10(one) <= high]
    return Axis(title, "log", ticks=tuple(int(one) if one.is_integer() else one for one in ticks))
