"""A figure as data: described once from the facts, and drawn by every view.

The files ``figures_*.py`` describe; :mod:`tamis.reporting.plotly_json` draws for the page, `canvas` the
single files. Titles and names are plain text, as the data has them: who draws them shortens and escapes them. Only
`hover` and `detail` are in plotly's language, so names in them go through :func:`tamis.reporting.names.escaped`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["Axis", "Bars", "Colour", "Figure", "Heat", "Mark", "Panel", "Series"]

#: The number of a class or family, which decides colour, shape and dashes; or a tone of the page.
Colour: TypeAlias = int | Literal["ink", "muted", "accent", "faint"]

Values: TypeAlias = Sequence[Any]


@dataclass(frozen=True)
class Axis:
    """What the numbers along an axis are: any, whole ones, parts of one, or sizes on a logarithmic scale.

    `names` stand at the places 0, 1, ..., on a vertical axis the first at the top. A limit of None is left to the view.
    """

    title: str = ""
    kind: Literal["number", "count", "share", "log"] = "number"
    names: Sequence[str] = ()
    ticks: Sequence[float] = ()
    limits: tuple[float | None, float | None] = (None, None)
    grid: bool = True
    visible: bool = True


@dataclass(frozen=True, kw_only=True)
class _Told:
    """What all marks share: a colour, a label in the legend, and what is told of each point, bar or cell.

    Without a `label` there is no entry in the legend, without `hover` nothing is told; ``%{customdata}`` in it is the
    `detail` of the point.
    """

    colour: Colour = "accent"
    label: str | None = None
    hover: str = ""
    detail: Values = ()

    @property
    def number(self) -> int:
        """The number of the class or family, 0 where there is none."""
        return self.colour if isinstance(self.colour, int) else 0


@dataclass(frozen=True)
class Series(_Told):
    """A line, points, or both.

    The `shape` of points is one of plotly's ("circle-open"), by default that of the colour, their `size` in pixels.
    `fill` is the opacity of the area below the line; `reach` is how far a band around it goes to either side. `values`
    from 0 to 1 colour the points by what `scale` says. A series that is `hidden` stands back until it is asked for.
    """

    x: Values
    y: Values
    line: bool = False
    points: bool = False
    shape: str | None = None
    size: float = 8.0
    dotted: bool = False
    steps: bool = False
    fill: float = 0.0
    reach: Values | None = None
    values: Values | None = None
    scale: str = ""
    hidden: bool = False


@dataclass(frozen=True)
class Bars(_Told):
    """Bars with their middle `at` some places, `across` the figure or upright, with some `text` at their ends."""

    at: Values
    length: Values
    base: Values | None = None
    width: float = 0.7
    across: bool = False
    text: Sequence[str] = ()


@dataclass(frozen=True)
class Heat(_Told):
    """Cells in a square, the first row at the top, coloured by numbers from 0 to 1, with `frames` on the diagonal."""

    values: Sequence[Values]
    scale: str
    text: Sequence[Sequence[str]] = ()
    frames: Sequence[tuple[int, int]] = ()


Mark: TypeAlias = Series | Bars | Heat


@dataclass(frozen=True)
class Panel:
    """Axes with marks; `share` is its part of the height, `square` asks for units of the same length."""

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    share: float = 1.0
    square: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure: panels from top to bottom.

    `name` is that of its file and of its place on the page; `size` are the inches of its axes in a file, of which the
    page takes the height; `note` is a remark that belongs to it wherever it is, such as how many rows are shown.
    """

    name: str
    title: str
    caption: str
    size: tuple[float, float]
    panels: Sequence[Panel]
    note: str = ""
