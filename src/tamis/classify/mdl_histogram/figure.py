"""A histogram as a figure: its cells in the plane of two columns."""

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray, Mask
from tamis.classify.mdl_histogram.cells import Cells
from tamis.classify.mdl_histogram.columns import Axes
from tamis.trees.figure import COLOURS, INK, LAYOUT, class_counts, plain_text, rectangles, tint

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Shades of a colour, from a class that is just ahead to one that is alone; cells without rows have the palest.
_SHADES = (0.12, 0.35, 0.5, 0.65, 0.85)


class Plane(NamedTuple):
    """Rectangles that cover the plane of two columns without overlap.

    `corners` holds left, right, bottom and top of each. `weight` is that of the training rows, by class, which the
    prediction there comes from; where a rectangle is `empty` these lie in the cell around it. `aside` is the weight of
    the rows without a value of these columns, and `others` the number of divided columns not shown.
    """

    corners: FloatArray
    weight: FloatArray
    empty: Mask
    aside: float
    others: int

    @classmethod
    def of(cls, cells: Cells, pair: Sequence[int], axes: Axes) -> "Plane":
        """The cells projected on two columns: along the others their counts are added."""
        where = np.column_stack([cells.intervals(j) if j >= 0 else np.zeros(len(cells.weight[-1])) for j in pair])
        steps = [j for j in cells.halved if j in pair]
        finest = np.array([steps.count(j) for j in pair])

        def at(depth: np.ndarray) -> tuple[np.ndarray, FloatArray]:
            """The cells with rows at a depth; a missing value counts only once its axis is divided."""
            seen = ((where >= 0) | (depth == 0)).all(axis=1)
            return _merged(np.maximum(where[seen], 0).astype(np.int64) >> (finest - depth), cells.weight[-1][seen])

        depth = np.zeros(2, dtype=np.int64)
        rectangles = []
        known = at(depth)
        for column in steps:
            side = pair.index(column)
            depth[side] += 1
            finer = at(depth)
            there = set(map(tuple, finer[0].tolist()))
            for cell, weight in zip(*known, strict=True):
                for half in (0, 1):
                    child = cell.copy()
                    child[side] = 2 * child[side] + half
                    if tuple(child.tolist()) not in there:
                        rectangles.append((_corners(child, depth, pair, axes), weight, True))
            known = finer
        rectangles += [(_corners(cell, depth, pair, axes), weight, False) for cell, weight in zip(*known, strict=True)]
        corners, weights, empty = (np.array(values) for values in zip(*rectangles, strict=True))
        aside = float(cells.weight[-1][(where < 0).any(axis=1)].sum())
        return cls(corners, weights, empty, aside, len(set(cells.halved) - set(pair)))


def chosen(depths: np.ndarray, columns: tuple[int, int] | None) -> list[int]:
    """The two columns to draw, by default the most divided; the second is -1 where there is only one."""
    if columns is None:
        most = np.argsort(-depths, kind="stable")[:2].tolist()
        return [*sorted(most), *([-1] if len(most) == 1 else [])]
    if depths.size == 1:
        raise TamisError(f"columns: the data has one column, which is drawn by default; got {columns!r}")
    pair = [int(j) for j in columns if isinstance(j, Integral)] if isinstance(columns, Sequence) else []
    if len(pair) != 2 or len(columns) != 2 or pair[0] == pair[1] or any(not 0 <= j < depths.size for j in pair):
        raise TamisError(f"columns: takes two different numbers from 0 to {depths.size - 1}, got {columns!r}")
    return pair


def figure(plane: Plane, names: Sequence[Any], classes: np.ndarray) -> "Figure":
    """Draw the rectangles in the colours of their classes."""
    # Plotly takes long to import.
    from plotly import graph_objects as go

    predicted, shade = plane.weight.argmax(axis=1), _shades(plane)
    traces, line = [], {"width": 0.8, "color": "white"}
    for c, label in enumerate(classes.tolist()):
        colour = COLOURS[c % len(COLOURS)]
        for step, tone in enumerate(_SHADES):
            corners = plane.corners[(predicted == c) & (shade == step)]
            if len(corners):
                traces.append({**rectangles(corners.tolist(), tint(colour, tone)), "line": line})
        legend = {"size": 12, "symbol": "square", "color": colour}
        traces.append({"x": [None], "y": [None], "mode": "markers", "marker": legend, "name": plain_text(label)})
    traces.append(_hover(plane, names, classes))
    drawn = go.Figure([go.Scatter(trace) for trace in traces])
    notes = [f"counted over {plane.others} more divided columns"] if plane.others else []
    notes += [f"without {plane.aside:.6g} rows that miss a value"] if plane.aside else []
    title = "; ".join(notes)
    axis = {"showgrid": False, "zeroline": False, "ticks": "outside", "showline": True, "linecolor": INK}
    low, high = plane.corners[:, ::2].min(axis=0), plane.corners[:, 1::2].max(axis=0)
    drawn.update_layout(
        **LAYOUT,
        width=640,
        height=600,
        margin={"l": 70, "r": 20, "t": 80, "b": 60},
        title={"text": title or None, "font": {"size": 13}, "x": 0, "xref": "paper", "y": 0.98, "yanchor": "top"},
        hoverdistance=-1,
        xaxis={**axis, "title": {"text": plain_text(names[0])}, "range": [low[0], high[0]]},
        yaxis={**axis, "title": {"text": plain_text(names[1] or "")}, "range": [low[1], high[1]]},
    )
    if names[1] is None:
        drawn.update_yaxes(visible=False)
    return drawn


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
        # The difference of the ends may overflow.
        found += [float(low * (1.0 - share) + high * share) for share in np.array([interval, interval + 1]) / 2**deep]
    return found


def _shades(plane: Plane) -> np.ndarray:
    """Number of the shade of each rectangle: how far its class is ahead of chance."""
    share = plane.weight.max(axis=1) / plane.weight.sum(axis=1)
    chance = 1.0 / plane.weight.shape[1]
    ahead = (share - chance) / (1.0 - chance)
    steps = len(_SHADES) - 1
    return np.where(plane.empty, 0, np.clip(np.ceil(steps * ahead), 1, steps)).astype(int)


def _hover(plane: Plane, names: Sequence[Any], classes: np.ndarray) -> dict[str, Any]:
    """Text on hover near the middle of each rectangle."""
    texts = []
    for corners, weight, empty in zip(plane.corners, plane.weight, plane.empty, strict=True):
        lines = [f"<b>{plain_text(classes[weight.argmax()])}</b>"]
        for name, low, high in zip(names, corners[::2], corners[1::2], strict=True):
            lines += [f"{plain_text(name)}: {low:.6g} to {high:.6g}"] if name is not None else []
        lines += ["no training rows; those of the cell around it:"] if empty else []
        texts.append("<br>".join(lines + class_counts(weight, classes)))
    return {
        "x": plane.corners[:, :2].mean(axis=1),
        "y": plane.corners[:, 2:].mean(axis=1),
        "hovertext": texts,
        "hoverinfo": "text",
        "mode": "markers",
        "marker": {"size": 1, "opacity": 0},
        "showlegend": False,
    }
