"""A figure drawn by matplotlib from its description, in one style for all figures."""

import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.reporting.display_names import shown
from tamis.reporting.figure_description import Axis, Bars, Box, Colour, Heat, Mark, Series
from tamis.reporting.figure_description import Figure as Description
from tamis.reporting.plotly_json import SHAPES, cell
from tamis.trees.figure import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The tones of the page, for white paper.
TONES = {"ink": "#222222", "muted": "#6E6E6E", "faint": "#B8B8B8", "grid": "#D9D9D9", "accent": COLOURS[0]}

#: The colour that is hardly visible as a line on white.
_BRIGHT = "#F0E442"

_FONT = "DejaVu Sans"

#: Shapes and dashes go with the colours, so that figures can be read without colours.
_MARKERS = dict(zip(SHAPES, "osD^PvX", strict=True))
_DASHES = ("-", "--", "-.", ":")

#: Most entries of a legend; most names along an axis in large letters and with the legend beside it.
_ENTRIES, _CROWD = 24, 15

#: Share of the height below which a panel has its legend above it.
_LOW = 0.15

#: Share above which a cell is dark and its letters are white.
_DARK = 0.55

_STYLE = {
    "font.family": _FONT,
    "font.size": 8.5,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.edgecolor": TONES["muted"],
    "axes.labelcolor": TONES["ink"],
    "text.color": TONES["ink"],
    "xtick.color": TONES["muted"],
    "ytick.color": TONES["muted"],
    "xtick.labelcolor": TONES["ink"],
    "ytick.labelcolor": TONES["ink"],
    "axes.axisbelow": True,
    "grid.color": TONES["grid"],
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "savefig.dpi": 200,
    # Labels and legends stand around the axes, however long they are.
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.06,
    "pdf.fonttype": 42,
    # Names may hold dollar signs and are not formulas.
    "text.parse_math": False,
    # The same facts give the same file.
    "svg.hashsalt": "tamis",
}


@contextmanager
def style() -> Iterator[None]:
    """Context with our style, whatever the settings of the user are."""
    import matplotlib.style

    with matplotlib.style.context(_STYLE, after_reset=True):
        yield


def drawn(figure: Description) -> "Figure":
    """Draw a figure, within :func:`style`."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=figure.size)
    top = 1.0
    for number, panel in enumerate(figure.panels):
        gap = 0.04 if number else 0.0
        place = (0.0, max(0.0, top - panel.share), 1.0, panel.share - gap)
        if figure.columns > 1:
            (left, right), (low, high) = cell(number, len(figure.panels), figure.columns)
            place = (left, low, right - left, high - low)
        axes = sheet.add_axes(place)
        top -= panel.share
        for mark in panel.marks:
            _DRAW[type(mark)](mark, axes)
        if hidden := sum(isinstance(mark, Series) and mark.hidden for mark in panel.marks):
            axes.plot([], [], color=TONES["grid"], label=f"{hidden} others")
        for axis, known in ((axes.xaxis, panel.x), (axes.yaxis, panel.y)):
            _axis(axis, known, crowded=max(len(panel.x.names), len(panel.y.names)))
        if panel.square:
            axes.set_aspect("equal")
        if any(isinstance(mark, Heat) for mark in panel.marks):
            axes.spines[:].set_visible(False)
        _legend(axes, len(panel.y.names) > _CROWD or panel.share < _LOW)
    if figure.note:
        sheet.axes[0].set_title(label(figure.note, 80), loc="right", fontsize=7.5, color=TONES["muted"])
    return sheet


def framed(sheet: "Figure") -> "Figure":
    """Enlarge a figure by what stands around its axes, so that it is whole however it is saved; in place."""
    (width, height), box = sheet.get_size_inches(), sheet.get_tightbbox().padded(0.06)
    places = [(axes, axes.get_position(original=True)) for axes in sheet.axes]
    sheet.set_size_inches(box.width, box.height)
    for axes, place in places:
        left, low = (place.x0 * width - box.x0) / box.width, (place.y0 * height - box.y0) / box.height
        axes.set_position((left, low, place.width * width / box.width, place.height * height / box.height))
    return sheet


def label(name: Any, letters: int = 32) -> str:
    """A name on one short line, with a square for every letter that the font lacks.

    Examples
    --------
    >>> label("$x$"), label("a name that is long", 10)
    ('$x$', 'a name th\u2026')
    """
    text = "".join(map(_drawable, shown(name, letters)))
    # Legends leave out labels that begin with an underscore.
    return f"\N{HAIR SPACE}{text}" if text.startswith("_") else text


def _axis(axis: Any, known: Axis, *, crowded: int) -> None:
    across = axis.axis_name == "x"
    axis.set_label_text(label(known.title, 80) if known.title else "")
    axis.grid(known.grid and not across)
    if known.kind == "log":
        axis.axes.set_xscale("log") if across else axis.axes.set_yscale("log")
        axis.set_ticks(known.ticks, labels=[f"{tick:,}" for tick in known.ticks])
        axis.set_minor_formatter(lambda value, _: "")
    elif known.kind == "share":
        axis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")
    elif known.names:
        small = 8.5 if crowded <= 8 else 7.5 if crowded <= _CROWD else 6
        names = [label(name, 28) for name in known.names]
        turned = across and (len(names) > 4 or max(map(len, names)) > 9)
        axis.set_ticks(range(len(names)), labels=names, fontsize=small, **({"rotation": 90} if turned else {}))
        axis.set_tick_params(length=0)
        if not across:
            axis.axes.set_ylim(len(names) - 0.5, -0.5)
    else:
        # In full: powers of ten would be formulas.
        axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
        axis.get_major_locator().set_params(integer=known.kind == "count")
    if known.limits != (None, None):
        (axis.axes.set_xlim if across else axis.axes.set_ylim)(*known.limits)
    if not known.visible:
        axis.set_ticks([])
        axis.axes.spines["bottom" if across else "left"].set_visible(False)


def _legend(axes: "Axes", above: bool) -> None:
    """The legend, to the right of the axes or above them."""
    handles, labels = axes.get_legend_handles_labels()
    title = f"{_ENTRIES} of {len(labels)}" if len(labels) > _ENTRIES else None
    look: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "title": title}
    if above:
        look = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 3, "columnspacing": 1.2}
    if labels:
        axes.legend(handles[:_ENTRIES], labels[:_ENTRIES], borderaxespad=0.0, **look)


def _colour(colour: Colour) -> str:
    return COLOURS[colour % len(COLOURS)] if isinstance(colour, int) else TONES[colour]


def _named(mark: Mark) -> dict[str, Any]:
    return {} if mark.label is None else {"label": label(mark.label, 40)}


def _series(mark: Series, axes: "Axes") -> None:
    from matplotlib.patheffects import withStroke

    x, y = (np.array(values, dtype=float) for values in (mark.x, mark.y))
    colour, shape = _colour(mark.colour), mark.shape or SHAPES[mark.number % len(SHAPES)]
    if mark.hidden:
        axes.plot(x, y, color=TONES["grid"], linewidth=0.9, zorder=1)
        return
    look: dict[str, Any]
    if mark.values is not None:
        (low, high), size = mark.ends, (0.6 * mark.size) ** 2
        look = {"s": size, "cmap": "cividis", "vmin": low, "vmax": high, "edgecolors": TONES["muted"]}
        dots = axes.scatter(x, y, c=mark.values, linewidths=0.1 * mark.size, **look)
        if mark.scale:
            _shade_bar(axes, dots, mark.scale)
        return
    look = {"color": colour, "zorder": 3, "linestyle": "none", **_named(mark)}
    if mark.points:
        hollow = shape.endswith("-open")
        look |= {"marker": _MARKERS[shape.removesuffix("-open")], "markersize": 0.6 * mark.size}
        look |= {"markerfacecolor": "none"} if hollow else {"markeredgecolor": TONES["ink"], "markeredgewidth": 0.25}
    if mark.line:
        look["linestyle"] = (0, (1, 2)) if mark.dotted else _DASHES[mark.number // len(COLOURS) % len(_DASHES)]
    elif not mark.shape:
        look["alpha"] = 0.75
    if mark.line and colour == _BRIGHT:
        look["path_effects"] = [withStroke(linewidth=2.0, foreground=TONES["muted"])]
    axes.plot(x, y, drawstyle="steps-post" if mark.steps else "default", **look)
    if mark.fill:
        axes.fill_between(x, y, step="post", color=colour, alpha=mark.fill, linewidth=0)
    if mark.reach is not None:
        reach = np.array(mark.reach, dtype=float)
        axes.fill_between(x, y - reach, y + reach, color=colour, alpha=0.13, linewidth=0, zorder=2)
        if x.size == 1:
            axes.errorbar(x, y, yerr=reach, linewidth=1.0, color=colour)


def _bars(mark: Bars, axes: "Axes") -> None:
    look: dict[str, Any] = {"color": _colour(mark.colour), "edgecolor": "white", "linewidth": 0.4, **_named(mark)}
    if mark.across:
        bars = axes.barh(mark.at, mark.length, height=mark.width, left=mark.base, **look)
    else:
        bars = axes.bar(mark.at, mark.length, width=mark.width, bottom=mark.base, **look)
    if mark.text:
        axes.bar_label(bars, labels=[label(text, 60) if text else "" for text in mark.text], fontsize=7.5, padding=2)


def _box(mark: Box, axes: "Axes") -> None:
    low, first, median, third, high = mark.values
    colour = _colour(mark.colour)
    axes.barh(mark.at, third - first, height=mark.width, left=first, color=colour, alpha=0.25, **_named(mark))
    axes.plot([low, first, None, third, high], [mark.at] * 5, color=colour)
    axes.plot([median, median], [mark.at - mark.width / 2, mark.at + mark.width / 2], color=colour)


def _heat(mark: Heat, axes: "Axes") -> None:
    values = np.ma.masked_invalid(np.array(mark.values, dtype=float))
    n = len(mark.values)
    down, across = ([i - 0.5 for i in range(size + 1)] for size in values.shape)
    look: dict[str, Any] = {"cmap": "Blues", "vmin": 0, "vmax": 1, "edgecolors": "white"}
    look["linewidth"] = 1.0 if n <= 12 else 0.3
    if mark.reach is not None:
        look = {"cmap": "PiYG_r", "vmin": -mark.reach, "vmax": mark.reach, "rasterized": True}
    mesh = axes.pcolormesh(across, down, values, **look)
    middle: dict[str, Any] = {"horizontalalignment": "center", "verticalalignment": "center"}
    for i, texts in enumerate(mark.text):
        for j, text in enumerate(texts):
            ink = "white" if mark.values[i][j] > _DARK else TONES["ink"]
            axes.text(j, i, text, color=ink, fontsize=8.5 if n <= 8 else 6.5, **middle)
    for begin, end in mark.frames:
        low, high = begin - 0.5, end - 0.5
        square = [low, high, high, low, low], [low, low, high, high, low]
        axes.plot(*square, color=COLOURS[5], linewidth=1.1, clip_on=False)
    _shade_bar(axes, mesh, mark.scale)


def _shade_bar(axes: "Axes", shades: Any, words: str) -> None:
    """The scale of the shades of a figure, to the right of it."""
    beside = axes.inset_axes((1.04, 0.2, 0.035, 0.6))
    axes.figure.colorbar(shades, cax=beside, label=label(words))
    beside.spines["outline"].set_visible(False)


_DRAW: dict[type[Mark], Callable[[Any, "Axes"], None]] = {Series: _series, Bars: _bars, Box: _box, Heat: _heat}


def _drawable(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind != "Cf" and ord(letter) in _letters():
        return letter
    # Marks that join with other letters leave no gap.
    return "" if kind == "Cf" or kind.startswith("M") else "\N{WHITE SQUARE}"


@cache
def _letters() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont(_FONT)).get_charmap())
