"""The weights along a path as a figure."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.base.types import FloatArray
from tamis.margins.boosted_lasso.path import Path

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Solutions that are drawn of a path.
_MOST = 400

#: The colour of columns that have none of their own.
_GREY = "#B8B8B8"

#: Pixels of one path.
_HEIGHT = 380


def figure(
    paths: Path | Sequence[Path], done: np.ndarray, names: Sequence[str], titles: Sequence[str], colours: Sequence[str]
) -> "Figure":
    """Weights against the sum of their sizes, one path below the other, with a line where `done` steps are taken.

    The columns that enter first have the colours, all others are grey.
    """
    from plotly.subplots import make_subplots

    paths = [paths] if isinstance(paths, Path) else paths
    chart = make_subplots(rows=len(paths), cols=1, subplot_titles=[escape(one) for one in titles])
    for row, (path, at) in enumerate(zip(paths, done, strict=True), 1):
        own = dict(zip(_entering(path)[: len(colours)].tolist(), colours, strict=False))
        taken = solutions(path, _MOST)
        sums, weights = np.abs(path.coefs(taken)).sum(axis=1), path.coefs(taken)
        chart.add_traces(lines(sums, weights, names, own), rows=row, cols=1)
        chart.add_vline(float(np.abs(path.coef(at)).sum()), line={"dash": "dot", "width": 1}, row=row, col=1)
    chart.update_xaxes(title_text="sum of |weights|", row=len(paths))
    chart.update_yaxes(title_text="weight, standardized columns")
    return chart.update_layout(
        template="simple_white", height=_HEIGHT * len(paths), margin={"t": 40}, showlegend=len(paths) == 1
    )


def lines(sums: FloatArray, weights: FloatArray, names: Sequence[str], colours: dict[int, str]) -> list[dict[str, Any]]:
    """A line for each column with a weight: in the order of their names, those with a colour last and on top."""
    found = []
    active = np.flatnonzero((weights != 0).any(axis=0)).tolist()
    for column in sorted(active, key=lambda one: (one in colours, one)):
        name, own = escape(str(names[column])), column in colours
        found.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": sums.tolist(),
                "y": weights[:, column].tolist(),
                "name": name,
                "showlegend": own,
                "line": {"color": colours.get(column, _GREY), "width": 2 if own else 1},
                "hovertemplate": f"{name}<br>weight %{{y:.3g}}<extra></extra>",
            }
        )
    return found


def solutions(path: Path, most: int) -> np.ndarray:
    """Numbers of steps to at most so many solutions of a path, evenly spread, from its start to its end."""
    found = np.unique([0, *path.knots.tolist(), len(path)])
    return found[np.unique(np.linspace(0, found.size - 1, most).round().astype(np.intp))]


def _entering(path: Path) -> np.ndarray:
    """Columns in the order in which they are active for the first time."""
    return np.concatenate(
        [np.flatnonzero(path.start), path.columns[np.sort(np.unique(path.columns, return_index=True)[1])]]
    )
