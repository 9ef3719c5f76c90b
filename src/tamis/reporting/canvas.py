"""Paper, ink and letters of the single figures: one look for all of them, and names that stay names."""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from tamis.reporting.names import shown
from tamis.trees.figure import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FAINT",
    "GREY",
    "INK",
    "PALE",
    "colour",
    "edge",
    "label",
    "legend_beside",
    "line",
    "marker",
    "panel",
    "percent",
    "plain_numbers",
    "shade_bar",
    "style",
    "whole_numbers",
]

#: Letters, axes, bars of what is of less interest, and what is hardly there.
INK, FAINT, GREY, PALE = "#222222", "#6E6E6E", "#B8B8B8", "#D9D9D9"

#: The colour that is hardly seen as a line on white.
_BRIGHT = "#F0E442"

_FONT = "DejaVu Sans"

#: Shapes and dashes go with the colours, so that nobody has to tell colours apart.
_MARKERS, _DASHES = ("o", "s", "^", "D", "v", "P", "X", "*"), ("-", "--", "-.", ":")

#: What stands for a letter that the font does not have.
_NO_LETTER = "\N{WHITE SQUARE}"

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
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.grid": False,
    "axes.axisbelow": True,
    "grid.color": PALE,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.5,
    "savefig.dpi": 200,
    # Labels and legends stand around the axes, however long they are.
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.06,
    "pdf.fonttype": 42,
    # Names hold dollar signs, and are no formulas.
    "text.parse_math": False,
    # The same facts give the same file.
    "svg.hashsalt": "tamis",
}


@contextmanager
def style() -> Iterator[None]:
    """Draw within it: our look, whatever the user's settings are, which are as before afterwards."""
    import matplotlib.style

    with matplotlib.style.context(_STYLE, after_reset=True):
        yield


def panel(width: float, height: float) -> "tuple[Figure, Axes]":
    """A figure with axes of so many inches; what is written around them comes on top."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.add_axes((0, 0, 1, 1))


def legend_beside(axes: "Axes", **look: Any) -> None:
    """What the signs mean, to the right of the axes."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0, **look)


def shade_bar(axes: "Axes", mesh: Any, words: str) -> "Axes":
    """What the shades of a heat map mean, to the right of it; the axes of the bar."""
    beside = axes.inset_axes((1.04, 0.2, 0.035, 0.6))
    axes.figure.colorbar(mesh, cax=beside, label=words)
    beside.spines["outline"].set_visible(False)
    return beside


def label(name: Any, letters: int = 32) -> str:
    """A name on one short line, a square for every letter that the font does not have.

    Examples
    --------
    >>> label("$x$"), label("a name that is long", 10)
    ('$x$', 'a name th\u2026')
    """
    text = "".join(map(_drawable, shown(name, letters)))
    # What begins with an underscore is left out of legends.
    return f"\N{HAIR SPACE}{text}" if text.startswith("_") else text


def colour(number: int) -> str:
    """The colour of a class or a family."""
    return COLOURS[number % len(COLOURS)]


def marker(number: int) -> str:
    """Its shape; with the colour one of 64."""
    return _MARKERS[(number + number // len(COLOURS)) % len(_MARKERS)]


def line(number: int) -> dict[str, Any]:
    """Its line: colour and dashes, one of 32."""
    return {"color": colour(number), "linestyle": _DASHES[(number // len(COLOURS)) % len(_DASHES)]}


def edge(number: int) -> dict[str, Any]:
    """A dark edge of its line where the colour is hard to see on white."""
    from matplotlib.patheffects import withStroke

    return {"path_effects": [withStroke(linewidth=2.0, foreground=FAINT)]} if colour(number) == _BRIGHT else {}


def percent(axis: Any) -> None:
    """Write the shares along an axis as percentages."""
    axis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")


def plain_numbers(axis: Any) -> None:
    """Write the numbers along an axis as they are: powers of ten would be formulas."""
    axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
    axis.set_minor_formatter(lambda value, _: "")


def whole_numbers(axis: Any) -> None:
    """Divide an axis at whole numbers only: it counts."""
    axis.get_major_locator().set_params(integer=True)


def _drawable(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind != "Cf" and ord(letter) in _letters():
        return letter
    # Marks that join with other letters are not missed.
    return "" if kind == "Cf" or kind.startswith("M") else _NO_LETTER


@cache
def _letters() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont(_FONT)).get_charmap())
