"""A picture of the importances of columns beside those of their contrasts."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from tamis.base.types import FloatArray, Mask
from tamis.trees.figure import COLOURS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Characters of a name beside its bar.
_LETTERS = 24

#: Height of a bar, and of the rest, in pixels.
_BAR, _REST = 22, 150


def figure(
    names: Sequence[str],
    importances: FloatArray,
    thresholds: FloatArray,
    pvalues: FloatArray,
    rounds: np.ndarray,
    selected: Mask,
    most: int,
) -> "Figure":
    """A bar for each of the best columns, selected ones first, by importance; a mark at the contrasts' importance."""
    from plotly.graph_objects import Figure

    best = np.lexsort((-importances, ~selected))[:most]
    full = [escape(str(names[j])) for j in best]
    short = [name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…" for name in map(str, np.take(names, best))]
    hover = [
        f"{name}<br>importance {importances[j]:.3g}, contrasts {thresholds[j]:.3g}<br>p = {pvalues[j]:.3g}, "
        + (f"passed in round {rounds[j]}" if rounds[j] else "did not pass")
        + ("" if selected[j] or not rounds[j] else ", skipped as redundant")
        for name, j in zip(full, best, strict=True)
    ]
    place = np.arange(best.size)
    chart = Figure()
    for legend, colour, among in (("selected", 0, selected[best]), ("not selected", -1, ~selected[best])):
        chart.add_bar(
            x=importances[best][among],
            y=place[among],
            orientation="h",
            name=legend,
            marker={"color": COLOURS[colour]},
            hovertext=[text for text, own in zip(hover, among, strict=True) if own],
            hoverinfo="text",
        )
    chart.add_scatter(
        x=thresholds[best],
        y=place,
        mode="markers",
        name="contrasts to beat",
        marker={"symbol": "line-ns", "size": 14, "line": {"width": 3, "color": COLOURS[5]}},
        hoverinfo="skip",
    )
    chart.update_layout(
        template="simple_white",
        height=_BAR * best.size + _REST,
        barmode="overlay",
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
        xaxis={"title": {"text": "importance, mean over the repeats"}, "rangemode": "tozero"},
        yaxis={"tickvals": place, "ticktext": [*map(escape, short)], "autorange": "reversed", "automargin": True},
    )
    return chart
