"""A figure as a small picture within a page: SVG without scripts, ids or fonts of its own.

Text and axes have the colour of the surrounding text, so that the picture can be read on light and dark pages.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

from tamis.reporting.display_names import shown
from tamis.reporting.figure_description import Axis, Bars, Box, Colour, Figure, Heat, Mark, Series
from tamis.trees.figure import COLOURS

#: Pixels of the picture, of its margins, of a line of the legend, and of a letter.
_WIDTH, _HEIGHT, _TOP, _RIGHT, _BOTTOM, _LINE, _LETTER = 360, 190, 22, 12, 38, 15, 6.2

#: Letters of a name along an axis, and in the legend; entries of the legend.
_NAME, _LEGEND, _ENTRIES = 16, 48, 8

#: Series that all have their bands: those of more would hide each other, and only the first has one then.
_BANDS = 3

#: Ticks along an axis, and names below one.
_TICKS, _BELOW = 5, 4

#: The opacity of tones that are drawn in the colour of the text.
_TONES = {"ink": 1.0, "muted": 0.65, "faint": 0.35}

#: The opacity of the lightest and the darkest cell: the counts in it must stay readable.
_LIGHT, _DARK = 0.05, 0.6


class _Scale(NamedTuple):
    """From values to pixels."""

    low: float
    high: float
    first: float
    last: float
    log: bool

    def __call__(self, value: float) -> float:
        number = math.log10(value) if self.log else value
        return self.first + (number - self.low) / (self.high - self.low) * (self.last - self.first)


def svg(figure: Figure) -> str:
    """Draw a figure of one panel; series that are hidden on the page are left out.

    Examples
    --------
    >>> from tamis.reporting.figure_description import Panel
    >>> line = Series([1, 2], [0.5, 0.25], line=True, label="<b>")
    >>> drawn = svg(Figure("error", "Error", "", (4, 3), [Panel(Axis("features"), Axis("BER"), [line])]))
    >>> drawn[:4], "&lt;b&gt;" in drawn, "<b>" in drawn
    ('<svg', True, False)
    """
    panel = figure.panels[0]
    marks = _clear([mark for mark in panel.marks if not (isinstance(mark, Series) and mark.hidden)])
    named = max((len(shown(name, _NAME)) for name in panel.y.names), default=0)
    left = max(52.0, 14 + named * _LETTER + (16 if panel.y.title else 0))
    x = _scale(panel.x, _extent(marks, across=True), left, _WIDTH - _RIGHT)
    y = _scale(panel.y, _extent(marks, across=False), _HEIGHT - _BOTTOM, _TOP)
    if panel.y.names:
        y = y._replace(first=_TOP, last=_HEIGHT - _BOTTOM)
    legend = _legend(marks)
    height = _HEIGHT + _LINE * len(legend)
    body = [
        f"<title>{escape(shown(figure.title, 90))}</title>",
        _text(left, 12, figure.title, 60, weight="bold"),
        *_x_axis(panel.x, x),
        *_y_axis(panel.y, y, left),
        *(piece for mark in marks for piece in _mark(mark, x, y)),
        *legend,
    ]
    size = f'width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
    look = 'font-size="11" fill="currentColor" style="max-width:100%;height:auto"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {look}>{"".join(body)}</svg>'


def _clear(marks: Sequence[Mark]) -> list[Mark]:
    """The marks with as many bands as can be told apart."""
    banded = [mark for mark in marks if isinstance(mark, Series) and mark.reach is not None]
    plain = banded[1:] if len(banded) > _BANDS else []
    return [replace(mark, reach=None) if mark in plain else mark for mark in marks]


def _text(x: float, y: float, text: Any, letters: int, *, anchor: str = "start", weight: str = "normal") -> str:
    look = "" if weight == "normal" else f' font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{look}>{escape(shown(text, letters))}</text>'


def _extent(marks: Iterable[Mark], *, across: bool) -> list[float]:
    """The values that an axis must hold."""
    found: list[Any] = []
    for mark in marks:
        if isinstance(mark, Heat):
            found += [-0.5, len(mark.values) - 0.5]
        elif isinstance(mark, Series):
            found += mark.x if across else _reached(mark)
        elif isinstance(mark, Box):
            found += mark.values if across else [mark.at - mark.width / 2, mark.at + mark.width / 2]
        elif mark.across == across:
            base = [0.0] * len(mark.at) if mark.base is None else mark.base
            found += [*base, *(low + length for low, length in zip(base, mark.length, strict=True))]
        else:
            found += [place + side * mark.width / 2 for place in mark.at for side in (-1, 1)]
    return [float(value) for value in found if _finite(value)]


def _finite(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _reached(mark: Series) -> list[Any]:
    reach = mark.reach or [0.0] * len(mark.y)
    known = [(y, side) for y, side in zip(mark.y, reach, strict=True) if y is not None]
    return [y + sign * side for y, side in known for sign in (-1, 1)]


def _scale(axis: Axis, values: Sequence[float], first: float, last: float) -> _Scale:
    log = axis.kind == "log"
    known = [math.log10(value) for value in values if value > 0] if log else values
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if axis.names:
        return _Scale(-0.5, len(axis.names) - 0.5, first, last, log)
    if high <= low:
        low, high = low - 0.5, high + 0.5
    room = 0.06 * (high - low)
    limits = axis.limits
    low = low - room if limits[0] is None else limits[0]
    high = high + room if limits[1] is None else limits[1]
    return _Scale(low, high, first, last, log)


def _ticks(axis: Axis, scale: _Scale) -> list[tuple[float, str]]:
    """Places and labels along an axis."""
    if not axis.visible:
        return []
    if axis.names:
        return [(place, shown(name, _NAME)) for place, name in enumerate(axis.names)]
    if axis.kind == "log":
        every = -(-len(axis.ticks) // _TICKS) or 1
        return [(tick, f"{tick:,g}") for tick in axis.ticks[::every]]
    step = _step((scale.high - scale.low) / (_TICKS - 1))
    if axis.kind == "count":
        step = max(1.0, step)
    places = [step * number for number in range(math.ceil(scale.low / step), math.floor(scale.high / step) + 1)]
    return [(place, f"{100 * place:.4g} %" if axis.kind == "share" else f"{place:,.4g}") for place in places]


def _step(width: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= width * (1 - 1e-9))


def _line(x1: float, y1: float, x2: float, y2: float, opacity: float) -> str:
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {place} stroke="currentColor" stroke-opacity="{opacity}"/>'


def _x_axis(axis: Axis, scale: _Scale) -> Iterator[str]:
    floor, middle = _HEIGHT - _BOTTOM, (scale.first + scale.last) / 2
    yield _line(scale.first, floor, scale.last, floor, 0.5)
    ticks = _ticks(axis, scale)
    letters = _NAME if len(ticks) <= _BELOW else max(3, int((scale.last - scale.first) / len(ticks) / _LETTER))
    for value, label in ticks:
        yield _text(scale(value), floor + 13, label, letters, anchor="middle")
    if axis.title:
        yield _text(middle, floor + 29, axis.title, 50, anchor="middle")


def _y_axis(axis: Axis, scale: _Scale, left: float) -> Iterator[str]:
    for value, label in _ticks(axis, scale):
        if axis.grid:
            yield _line(left, scale(value), _WIDTH - _RIGHT, scale(value), 0.15)
        yield _text(left - 5, scale(value) + 4, label, _NAME, anchor="end")
    if axis.title:
        middle = (_TOP + _HEIGHT - _BOTTOM) / 2
        turned = f'transform="rotate(-90 10 {middle:.1f})"'
        title = escape(shown(axis.title.split(" (")[0], 28))
        yield f'<text x="10" y="{middle:.1f}" text-anchor="middle" {turned}>{title}</text>'


def _paint(colour: Colour) -> tuple[str, float]:
    """A colour and its opacity."""
    if isinstance(colour, int):
        return COLOURS[colour % len(COLOURS)], 1.0
    return (COLOURS[0], 1.0) if colour == "accent" else ("currentColor", _TONES[colour])


def _mark(mark: Mark, x: _Scale, y: _Scale) -> Iterator[str]:
    if isinstance(mark, Series):
        yield from _series(mark, x, y)
    elif isinstance(mark, Bars):
        yield from _bars(mark, x, y)
    elif isinstance(mark, Box):
        yield from _box(mark, x, y)
    else:
        yield from _heat(mark, x, y)


def _series(mark: Series, x: _Scale, y: _Scale) -> Iterator[str]:
    colour, opacity = _paint(mark.colour)
    reach = mark.reach or [0.0] * len(mark.x)
    known = [
        (x(a), b, side if math.isfinite(side) else 0.0)
        for a, b, side in zip(mark.x, mark.y, reach, strict=True)
        if _finite(a) and _finite(b) and (a > 0 or not x.log)
    ]
    points = [(across, y(value)) for across, value, _ in known]
    if mark.reach is not None and len(known) > 1:
        above, below = ([(a, y(b + sign * side)) for a, b, side in known] for sign in (1, -1))
        yield f'<polygon points="{_pairs([*above, *reversed(below)])}" fill="{colour}" fill-opacity="0.15"/>'
    elif mark.reach is not None:
        for a, b, side in known:
            yield f'<path d="M{a:.1f} {y(b - side):.1f}V{y(b + side):.1f}" stroke="{colour}"/>'
    if mark.line and points:
        steps = points if not mark.steps else _stepped(points)
        dash = ' stroke-dasharray="2 4"' if mark.dotted else ""
        stroke = f'stroke="{colour}" stroke-opacity="{opacity}" stroke-width="1.8"{dash}'
        yield f'<polyline points="{_pairs(steps)}" fill="none" {stroke}/>'
    if mark.points:
        shades = [1.0] * len(points) if mark.values is None else [_share(value, mark.ends) for value in mark.values]
        hollow = (mark.shape or "").endswith("open")
        for (a, b), shade in zip(points, shades, strict=False):
            fill = "none" if hollow else colour
            look = f'fill="{fill}" fill-opacity="{opacity * (_LIGHT + (1 - _LIGHT) * shade):.2f}" stroke="{colour}"'
            look += "" if opacity == 1.0 else f' stroke-opacity="{opacity}"'
            half = mark.size / 2.4
            if (mark.shape or "").startswith("square"):
                side = f"{2 * half:.1f}"
                yield f'<path d="M{a - half:.1f} {b - half:.1f}h{side}v{side}h-{side}z" {look}/>'
            else:
                yield f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{half:.1f}" {look}/>'


def _share(value: float, ends: tuple[float, float]) -> float:
    """Where a value lies between the ends of a scale, from 0 to 1."""
    return min(1.0, max(0.0, (value - ends[0]) / ((ends[1] - ends[0]) or 1.0)))


def _stepped(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [points[0], *(place for before, after in pairwise(points) for place in ((after[0], before[1]), after))]


def _pairs(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in points)


def _bars(mark: Bars, x: _Scale, y: _Scale) -> Iterator[str]:
    colour, opacity = _paint(mark.colour)
    base = [0.0] * len(mark.at) if mark.base is None else mark.base
    along, sideways = (x, y) if mark.across else (y, x)
    for at, low, length in zip(mark.at, base, mark.length, strict=True):
        begin, end = sorted((along(low), along(low + length)))
        near, far = sorted((sideways(at - mark.width / 2), sideways(at + mark.width / 2)))
        left, top, right, floor = (begin, near, end, far) if mark.across else (near, begin, far, end)
        size = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{floor - top:.1f}"'
        yield f'<rect {size} fill="{colour}" fill-opacity="{opacity}"/>'


def _box(mark: Box, x: _Scale, y: _Scale) -> Iterator[str]:
    colour, opacity = _paint(mark.colour)
    low, first, median, third, high = (x(float(value)) for value in mark.values)
    near, far = sorted((y(mark.at - mark.width / 2), y(mark.at + mark.width / 2)))
    line = f'stroke="{colour}" stroke-opacity="{opacity}"'
    yield f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y(mark.at):.1f}" y2="{y(mark.at):.1f}" {line}/>'
    size = f'x="{first:.1f}" y="{near:.1f}" width="{third - first:.1f}" height="{far - near:.1f}"'
    yield f'<rect {size} fill="{colour}" fill-opacity="0.3" {line}/>'
    yield f'<line x1="{median:.1f}" x2="{median:.1f}" y1="{near:.1f}" y2="{far:.1f}" {line}/>'


def _heat(mark: Heat, x: _Scale, y: _Scale) -> Iterator[str]:
    for i, row in enumerate(mark.values):
        for j, value in enumerate(row):
            left, top = x(j - 0.5), y(i - 0.5)
            size = f'x="{left:.1f}" y="{top:.1f}" width="{x(j + 0.5) - left:.1f}" height="{y(i + 0.5) - top:.1f}"'
            shade = _LIGHT + (_DARK - _LIGHT) * abs(value or 0.0) / (mark.reach or 1.0)
            yield f'<rect {size} fill="{COLOURS[0]}" fill-opacity="{shade:.2f}"/>'
            if mark.text:
                yield _text(x(j), y(i) + 4, mark.text[i][j], 9, anchor="middle")


def _legend(marks: Sequence[Mark]) -> list[str]:
    """A line below the axes for each mark with a label."""
    named = [mark for mark in marks if mark.label is not None]
    lines = []
    for place, mark in enumerate(named[: _ENTRIES + 1]):
        y = _HEIGHT + 10 + _LINE * place
        if place == _ENTRIES:
            lines.append(_text(22, y, f"and {len(named) - _ENTRIES} more", _LEGEND))
            break
        colour, opacity = _paint(mark.colour)
        hollow = isinstance(mark, Series) and (mark.shape or "").endswith("open")
        inside = f'fill="none" stroke="{colour}"' if hollow else f'fill="{colour}" fill-opacity="{opacity}"'
        lines.append(f'<rect x="8" y="{y - 8}" width="9" height="9" {inside}/>{_text(22, y, mark.label, _LEGEND)}')
    return lines
