"""A figure as data: described once from the facts, and drawn by every view.

The files ``figures_*.py`` describe figures; :mod:`tamis.reporting.plotly_json` draws them for the page,
:mod:`tamis.reporting.matplotlib_drawing` to single files. Titles and names are plain text of the data, which the views
shorten and escape. Only `hover` and `detail` are in plotly's markup, so names in them must be escaped beforehand
(:func:`tamis.reporting.display_names.escaped`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

#: The number of a class or family, which decides colour, shape and dashes; or a tone of the page.
Colour: TypeAlias = int | Literal["ink", "muted", "accent", "faint"]

Values: TypeAlias = Sequence[Any]


@dataclass(frozen=True)
class Axis:
    """An axis of numbers, counts, shares, or sizes on a logarithmic scale.

    `names` are at 0, 1, ..., with the first at the top of a vertical axis. The view chooses a limit that is None.
    """

    title: str = ""
    kind: Literal["number", "count", "share", "log"] = "number"
    names: Sequence[str] = ()
    ticks: Sequence[float] = ()
    limits: tuple[float | None, float | None] = (None, None)
    grid: bool = True
    visible: bool = True


@dataclass(frozen=True, kw_only=True)
class _Labelled:
    """What all marks share: a colour, an entry in the legend, and the hover text of each point, bar or cell.

    Without a `label` there is no entry in the legend; ``%{customdata}`` in the `hover` text is the `detail` of a point.
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
class Series(_Labelled):
    """A line, points, or both.

    The `shape` of points is one of plotly's ("circle-open"), by default that of the colour; their `size` is in pixels.
    `fill` is the opacity of the area below the line, `reach` the height of a band to either side. `values` colour
    the points, from the first to the last of the `ends`; the scale has the title `scale`, and is not drawn without one.
    A `hidden` series is shown on request.
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
    ends: tuple[float, float] = (0, 1)
    scale: str = ""
    hidden: bool = False


@dataclass(frozen=True)
class Bars(_Labelled):
    """Bars with their middle `at` some places, horizontal or vertical, with `text` at their ends."""

    at: Values
    length: Values
    base: Values | None = None
    width: float = 0.7
    across: bool = False
    text: Sequence[str] = ()


@dataclass(frozen=True)
class Box(_Labelled):
    """A horizontal box `at` some place: the ends of the whiskers, and between them the quartiles."""

    at: float
    values: Values
    width: float = 0.6


@dataclass(frozen=True)
class Heat(_Labelled):
    """Cells coloured by numbers, the first row at the top, with `frames` on the diagonal.

    The numbers are from 0 to 1, or within `reach` to either side of 0; None is an empty cell.
    """

    values: Sequence[Values]
    scale: str
    text: Sequence[Sequence[str]] = ()
    frames: Sequence[tuple[int, int]] = ()
    reach: float | None = None


Mark: TypeAlias = Series | Bars | Box | Heat


@dataclass(frozen=True)
class Panel:
    """Axes with marks; `share` is its part of the height, `square` makes units equally long on both axes."""

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    share: float = 1.0
    square: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure: panels from top to bottom, or in several `columns`, then of the same size and row by row.

    `name` is that of its file and of its place on the page; `size` is in inches, of which the page takes the height;
    `note` is a remark that every view shows, such as how many rows are drawn.
    """

    name: str
    title: str
    caption: str
    size: tuple[float, float]
    panels: Sequence[Panel]
    note: str = ""
    columns: int = 1
