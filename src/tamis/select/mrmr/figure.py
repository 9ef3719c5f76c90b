"""Relevance and redundancy of a growing set of columns, as a picture: Figure 1 of Peng and Ding (2005)."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from tamis.base.types import FloatArray
from tamis.trees.figure import COLOURS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def figure(names: Sequence[str], relevance: FloatArray, redundancy: FloatArray) -> "Figure":
    """V and W after each selection; `names` are those of the selected columns, in order."""
    from plotly.graph_objects import Figure

    chart = Figure()
    hover = [f"{number}: {escape(str(name))}" for number, name in enumerate(names, 1)]
    for title, values, colour, dash in (
        ("relevance V", relevance, COLOURS[0], "solid"),
        ("redundancy W", redundancy, COLOURS[5], "dash"),
    ):
        chart.add_scatter(
            x=np.arange(1, values.size + 1),
            y=values,
            mode="lines+markers",
            name=title,
            line={"color": colour, "width": 2, "dash": dash},
            text=hover,
            hovertemplate=f"%{{text}}<br>{title} %{{y:.3g}}<extra></extra>",
        )
    chart.update_layout(
        template="simple_white",
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
        xaxis={"title": {"text": "columns selected"}},
        yaxis={"title": {"text": "mean over the set"}, "rangemode": "tozero"},
    )
    return chart
