"""What columns are worth beside their contrasts, as a picture."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from tamis.base.types import FloatArray, Mask
from tamis.trees.figure import COLOURS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Letters of a name that are shown beside its bar.
_LETTERS = 24

#: Pixels of a bar, and of all that is not bars.
_BAR, _REST = 22, 150


def figure(
    names: Sequence[str],
    importances: FloatArray,
    thresholds: FloatArray,
    pvalues: FloatArray,
    rounds: np.ndarray,
    kept: Mask,
    most: int,
) -> "Figure":
    """A bar for each of the best columns: those that are kept first, by importance; a mark where the contrasts are."""
    from plotly.graph_objects import Bar, Figure, Scatter

    best = np.lexsort((-importances, ~kept))[:most]
    full = [escape(str(names[j])) for j in best]
    shown = [
        escape(text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…") for text in map(str, np.take(names, best))
    ]
    told = [
        f"{name}<br>importance {importances[j]:.3g}, contrasts {thresholds[j]:.3g}<br>p = {pvalues[j]:.3g}, "
        + (f"passed in round {rounds[j]}" if rounds[j] else "did not pass")
        + ("" if kept[j] or not rounds[j] else ", skipped as redundant")
        for name, j in zip(full, best, strict=True)
    ]
    place = np.arange(best.size)
    drawn = Figure()
    for number, (legend, among) in enumerate((("kept", kept[best]), ("not kept", ~kept[best]))):
        drawn.add_trace(
            Bar(
                x=importances[best][among],
                y=place[among],
                orientation="h",
                name=legend,
                marker={"color": COLOURS[0] if number == 0 else COLOURS[-1]},
                hovertext=[text for text, own in zip(told, among, strict=True) if own],
                hoverinfo="text",
            )
        )
    drawn.add_trace(
        Scatter(
            x=thresholds[best],
            y=place,
            mode="markers",
            name="contrasts to beat",
            marker={"symbol": "line-ns", "size": 14, "line": {"width": 3, "color": COLOURS[5]}},
            hoverinfo="skip",
        )
    )
    drawn.update_layout(
        template="simple_white",
        height=_BAR * best.size + _REST,
        barmode="overlay",
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
        xaxis={"title": {"text": "importance, mean over the repeats"}, "rangemode": "tozero"},
        yaxis={"tickvals": place, "ticktext": shown, "autorange": "reversed", "automargin": True},
    )
    return drawn
