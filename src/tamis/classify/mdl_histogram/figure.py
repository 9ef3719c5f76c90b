"""A histogram as a picture: its cells in the plane of two columns."""

from collections.abc import Sequence
from html import escape
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray, Mask
from tamis.classify.mdl_histogram.cells import Cells
from tamis.classify.mdl_histogram.columns import Axes
from tamis.trees.figure import COLOURS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Shades of a colour, from a class that is just ahead to one that is alone; cells without rows have the palest.
_SHADES = (0.12, 0.35, 0.5, 0.65, 0.85)

#: Classes that are counted when the pointer rests on a cell, the largest first.
_CLASSES_TOLD = 12

_INK = "#222222"


class Plane(NamedTuple):
    """Rectangles that cover the plane of two columns without overlap.

    Attributes
    ----------
    corners : float array of shape (n_rectangles, 4)
        Left, right, bottom and top.
    weight : float array of shape (n_rectangles, n_classes)
        Weight of the training rows that answer there.
    empty : bool array of shape (n_rectangles,)
        Whether these lie in the cell around it, and none in the rectangle itself.
    aside : float
        Weight of the training rows that are not in the plane, for a value that they miss.
    others : int
        Divided columns that the plane does not show.
    """

    corners: FloatArray
    weight: FloatArray
    empty: Mask
    aside: float
    others: int

    @classmethod
    def of(cls, cells: Cells, pair: Sequence[int], axes: Axes) -> "Plane":
        """The cells as two columns see them; along the others they are counted together."""
        where = np.column_stack([cells.intervals(j) if j >= 0 else np.zeros(len(cells.weight[-1])) for j in pair])
        steps = [j for j in cells.halved if j in pair]
        finest = np.array([steps.count(j) for j in pair])

        def at(depth: np.ndarray) -> tuple[np.ndarray, FloatArray]:
            """The cells with rows, at so many halvings; a row that misses a value is in them until that is asked."""
            seen = ((where >= 0) | (depth == 0)).all(axis=1)
            return _merged(np.maximum(where[seen], 0).astype(np.int64) >> (finest - depth), cells.weight[-1][seen])

        depth = np.zeros(2, dtype=np.int64)
        rectangles = []
        known, known_weight = at(depth)
        for column in steps:
            side = pair.index(column)
            depth[side] += 1
            finer, finer_weight = at(depth)
            there = set(map(tuple, finer.tolist()))
            for cell, its_weight in zip(known, known_weight, strict=True):
                for half in (0, 1):
                    child = cell.copy()
                    child[side] = 2 * child[side] + half
                    if tuple(child.tolist()) not in there:
                        rectangles.append((child, depth.copy(), its_weight, True))
            known, known_weight = finer, finer_weight
        rectangles += [(cell, depth.copy(), one, False) for cell, one in zip(known, known_weight, strict=True)]
        corners = np.array([_corners(cell, deep, pair, axes) for cell, deep, _, _ in rectangles])
        return cls(
            corners,
            np.array([one for _, _, one, _ in rectangles]),
            np.array([empty for *_, empty in rectangles], dtype=bool),
            float(cells.weight[-1][(where < 0).any(axis=1)].sum()),
            len(set(cells.halved) - set(pair)),
        )


def chosen(depths: np.ndarray, columns: tuple[int, int] | None) -> list[int]:
    """The two columns to draw, the most divided ones by default; -1 stands for none where there is but one."""
    if columns is None:
        most = np.argsort(-depths, kind="stable")[:2].tolist()
        return [*sorted(most), *([-1] if len(most) == 1 else [])]
    if depths.size == 1:
        raise TamisError(f"columns: the data has one column, which is drawn without asking; got {columns!r}")
    pair = [int(j) for j in columns if isinstance(j, Integral)] if isinstance(columns, Sequence) else []
    if len(pair) != 2 or len(columns) != 2 or pair[0] == pair[1] or any(not 0 <= j < depths.size for j in pair):
        raise TamisError(f"columns: takes two different numbers from 0 to {depths.size - 1}, got {columns!r}")
    return pair


def figure(plane: Plane, names: Sequence[Any], classes: np.ndarray) -> "Figure":
    """Draw the rectangles in the colours of their classes."""
    # Nobody who does not look at a histogram should wait for plotly.
    from plotly import graph_objects as go

    answer = plane.weight.argmax(axis=1)
    shade = _shades(plane)
    traces = []
    for c, label in enumerate(classes.tolist()):
        colour = COLOURS[c % len(COLOURS)]
        for step, tone in enumerate(_SHADES):
            corners = plane.corners[(answer == c) & (shade == step)]
            if len(corners):
                traces.append(_rectangles(corners, _mixed(colour, tone)))
        legend = {"size": 12, "symbol": "square", "color": colour}
        traces.append({"x": [None], "y": [None], "mode": "markers", "marker": legend, "name": _text(label)})
    traces.append(_told(plane, names, classes))
    drawn = go.Figure([go.Scatter(trace) for trace in traces])
    axis = {"showgrid": False, "zeroline": False, "ticks": "outside", "showline": True, "linecolor": _INK}
    low, high = plane.corners[:, ::2].min(axis=0), plane.corners[:, 1::2].max(axis=0)
    drawn.update_layout(
        template="none",
        width=640,
        height=600,
        margin={"l": 70, "r": 20, "t": 80, "b": 60},
        font={"family": "Arial, Helvetica, sans-serif", "size": 12, "color": _INK},
        title={"text": _title(plane), "font": {"size": 13}, "x": 0, "xref": "paper", "y": 0.98, "yanchor": "top"},
        hovermode="closest",
        hoverdistance=-1,
        hoverlabel={"align": "left", "bgcolor": "white", "font": {"size": 13, "color": _INK}},
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left", "itemclick": False},
        xaxis={**axis, "title": {"text": _text(names[0])}, "range": [low[0], high[0]]},
        yaxis={**axis, "title": {"text": _text(names[1] or "")}, "range": [low[1], high[1]]},
    )
    if names[1] is None:
        drawn.update_yaxes(visible=False)
    return drawn


def _title(plane: Plane) -> str | None:
    """What the picture does not show."""
    said = [f"counted over {plane.others} more divided columns"] if plane.others else []
    said += [f"without {plane.aside:.6g} rows that miss a value"] if plane.aside else []
    return "; ".join(said) or None


def _merged(places: np.ndarray, weight: FloatArray) -> tuple[np.ndarray, FloatArray]:
    """The distinct places, and the weight of all that share one."""
    distinct, group = np.unique(places, axis=0, return_inverse=True)
    merged = np.zeros((len(distinct), weight.shape[1]))
    np.add.at(merged, group.ravel(), weight)
    return distinct, merged


def _corners(cell: np.ndarray, depth: np.ndarray, pair: Sequence[int], axes: Axes) -> list[float]:
    found: list[float] = []
    for j, interval, deep in zip(pair, cell.tolist(), depth.tolist(), strict=True):
        low, high = (0.0, 1.0) if j < 0 or np.isnan(axes.low[j]) else (axes.low[j], axes.high[j])
        if low == high:
            low, high = low - 0.5, high + 0.5
        # Not the ends' difference, which may be too large to be held.
        found += [float(low * (1.0 - share) + high * share) for share in np.array([interval, interval + 1]) / 2**deep]
    return found


def _shades(plane: Plane) -> np.ndarray:
    """The number of each rectangle's shade: how far its class is ahead of what it would have by chance."""
    share = plane.weight.max(axis=1) / plane.weight.sum(axis=1)
    chance = 1.0 / plane.weight.shape[1]
    ahead = (share - chance) / (1.0 - chance)
    steps = len(_SHADES) - 1
    return np.where(plane.empty, 0, np.clip(np.ceil(steps * ahead), 1, steps)).astype(int)


def _rectangles(corners: FloatArray, colour: str) -> dict[str, Any]:
    x: list[float | None] = []
    y: list[float | None] = []
    for left, right, bottom, top in corners.tolist():
        x += [left, right, right, left, left, None]
        y += [bottom, bottom, top, top, bottom, None]
    line = {"width": 0.8, "color": "white"}
    filled = {"mode": "lines", "fill": "toself", "fillcolor": colour, "line": line}
    return {"x": x, "y": y, **filled, "hoverinfo": "skip", "showlegend": False}


def _told(plane: Plane, names: Sequence[Any], classes: np.ndarray) -> dict[str, Any]:
    """What is told when the pointer rests near the middle of a rectangle."""
    texts = []
    for corners, weight, empty in zip(plane.corners, plane.weight, plane.empty, strict=True):
        order = np.argsort(-weight, kind="stable")[:_CLASSES_TOLD]
        lines = [f"<b>{_text(classes[order[0]])}</b>"]
        for name, low, high in zip(names, corners[::2], corners[1::2], strict=True):
            lines += [f"{_text(name)}: {low:.6g} to {high:.6g}"] if name is not None else []
        lines += ["no training rows; those of the cell around it:"] if empty else []
        lines += [f"{_text(classes[c])}: {weight[c]:.6g}" for c in order if weight[c] > 0]
        hidden = int((weight > 0).sum()) - _CLASSES_TOLD
        texts.append("<br>".join(lines + ([f"and {hidden} classes more"] if hidden > 0 else [])))
    return {
        "x": plane.corners[:, :2].mean(axis=1),
        "y": plane.corners[:, 2:].mean(axis=1),
        "hovertext": texts,
        "hoverinfo": "text",
        "mode": "markers",
        "marker": {"size": 1, "opacity": 0},
        "showlegend": False,
    }


def _text(value: Any) -> str:
    """A name as plotly shows it as it is, without anything it would take for markup or a formula."""
    return escape(" ".join(str(value).split())[:300], quote=False).replace("$", "&#36;")


def _mixed(colour: str, share: float) -> str:
    """A colour mixed with white."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - part)):02X}" for part in parts)
