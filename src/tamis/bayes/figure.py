"""A picture of the relevance of inputs: the median and an interval of each."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from tamis.base.types import FloatArray
from tamis.trees.figure import COLOURS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Characters of a name beside its bar.
_LETTERS = 24

#: Height of a bar, and of the rest, in pixels.
_BAR, _REST = 22, 130


def figure(names: Sequence[str], relevance: FloatArray, interval: FloatArray, most: int) -> "Figure":
    """A point for each of the most relevant columns, the best first, with the interval of nine draws of ten."""
    # Plotly takes long to import.
    from plotly.graph_objects import Figure

    best = np.argsort(-relevance, kind="stable")[:most]
    full = [escape(str(names[j])) for j in best]
    short = [name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…" for name in map(str, np.take(names, best))]
    low, high = interval[:, best]
    middle = relevance[best]
    place = np.arange(best.size)
    chart = Figure()
    chart.add_scatter(
        x=middle,
        y=place,
        mode="markers",
        marker={"color": COLOURS[0], "size": 8},
        error_x={"type": "data", "symmetric": False, "array": high - middle, "arrayminus": middle - low},
        hovertext=[
            f"{name}<br>{own:.3g}, from {least:.3g} to {largest:.3g}"
            for name, own, least, largest in zip(full, middle, low, high, strict=True)
        ],
        hoverinfo="text",
        showlegend=False,
    )
    chart.update_layout(
        template="simple_white",
        height=_BAR * best.size + _REST,
        xaxis={"title": {"text": "relevance: median and interval of nine draws of ten"}, "rangemode": "tozero"},
        yaxis={"tickvals": place, "ticktext": [*map(escape, short)], "autorange": "reversed", "automargin": True},
    )
    return chart
