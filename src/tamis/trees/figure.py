"""A tree as a figure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis.base.types import FloatArray
from tamis.trees.rules import Condition, Wording, n_rows, one_line
from tamis.trees.tree import Tree

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Okabe and Ito's colours, which suit any kind of colour vision; further classes start again.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")

#: Pixels from leaf to leaf and from level to level.
_SLOT, _LEVEL = 112, 118
#: Boxes as shares of these. Inner nodes of a level are at least 2 slots apart, an inner node and a leaf 1.5.
_LEAF_WIDTH, _INNER_WIDTH, _HEIGHT, _BAR = 0.9, 1.86, 0.5, 0.1
#: Letters that fit into a box.
_LEAF_LETTERS, _INNER_LETTERS = 13, 27
#: With more leaves than this the boxes hold no text but on hover.
_READABLE = 60
#: Classes listed on hover, the largest first.
_HOVER_CLASSES = 12
#: Room for the lines of the outermost boxes.
_EDGE = 0.02
#: Pixels around the tree, below and beside, and above, where the classes are explained.
_MARGIN, _TOP = 12, 44

INK, _FAINT = "#222222", "#8A8A8A"

#: Layout of any figure of a model.
LAYOUT = {
    "template": "none",
    "font": {"family": "Arial, Helvetica, sans-serif", "size": 12, "color": INK},
    "hovermode": "closest",
    "hoverlabel": {"align": "left", "bgcolor": "white", "font": {"size": 13, "color": INK}},
    "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left", "itemclick": False},
}

_SILENT = {"hoverinfo": "skip", "showlegend": False}


@dataclass(frozen=True)
class Layout:
    """Positions of the nodes: leaves at x = 0, 1, ..., every other node halfway between its children."""

    x: FloatArray
    depth: np.ndarray

    @classmethod
    def of(cls, tree: Tree) -> "Layout":
        x, depth = np.zeros(tree.feature.shape[0]), np.zeros(tree.feature.shape[0], dtype=np.int64)
        stack, leaves = [0], 0
        while stack:
            node = stack.pop()
            if tree.feature[node] < 0:
                x[node], leaves = leaves, leaves + 1
                continue
            children = [int(tree.right[node]), int(tree.left[node])]
            depth[children] = depth[node] + 1
            stack += children
        # Children come after their parents.
        for node in np.flatnonzero(~tree.is_leaf)[::-1]:
            x[node] = (x[tree.left[node]] + x[tree.right[node]]) / 2
        return cls(x, depth)


def figure(tree: Tree, wording: Wording) -> "Figure":
    """Draw a tree: a box per node with its condition and the shares of the classes, *yes* to the left."""
    # Plotly takes long to import.
    from plotly import graph_objects as go

    place = Layout.of(tree)
    n_leaves = int(tree.is_leaf.sum())
    width = _SLOT * min(n_leaves, _READABLE) + 2 * _MARGIN
    height = _LEVEL * (int(place.depth.max()) + _HEIGHT + 2 * _EDGE) + _TOP + _MARGIN
    traces = [_edges(tree, place), *_boxes(tree, place, wording), *_bars(tree, place, wording)]
    traces += [_texts(tree, place, wording), *([_branches(tree, place)] if n_leaves <= _READABLE else [])]
    drawn = go.Figure([go.Scatter(trace) for trace in traces])
    hidden = {"visible": False, "fixedrange": False}
    drawn.update_layout(
        **LAYOUT,
        width=max(420, width),
        height=height,
        margin={"l": _MARGIN, "r": _MARGIN, "t": _TOP, "b": _MARGIN},
        hoverdistance=40,
        dragmode="pan",
        xaxis={**hidden, "range": [-0.5, n_leaves - 0.5]},
        yaxis={**hidden, "range": [-float(place.depth.max()) - _HEIGHT / 2 - _EDGE, _HEIGHT / 2 + _EDGE]},
    )
    return drawn


def _edges(tree: Tree, place: Layout) -> dict[str, Any]:
    """A line from every box to the two below it."""
    x: list[float | None] = []
    y: list[float | None] = []
    for parent, child in _links(tree):
        x += [place.x[parent], place.x[child], None]
        y += [-place.depth[parent] - _HEIGHT / 2, -place.depth[child] + _HEIGHT / 2, None]
    line = {"color": _FAINT, "width": 1.2}
    return {"x": x, "y": y, "mode": "lines", "line": line, **_SILENT}


def _branches(tree: Tree, place: Layout) -> dict[str, Any]:
    """*yes* and *no* beside the middle of the lines, on the outer side."""
    links = _links(tree)
    return {
        "x": [(place.x[a] + place.x[b]) / 2 for a, b in links],
        "y": [-(place.depth[a] + place.depth[b]) / 2 for a, b in links],
        "text": ["yes" if b == tree.left[a] else "no" for a, b in links],
        "textposition": ["top left" if b == tree.left[a] else "top right" for a, b in links],
        "textfont": {"color": "#5A5A5A", "size": 11},
        "mode": "text",
        **_SILENT,
    }


def _boxes(tree: Tree, place: Layout, wording: Wording) -> list[dict[str, Any]]:
    """The inner nodes in white, the leaves in a light shade of the colour of their class."""
    predicted = np.where(tree.is_leaf, tree.prediction, -1)
    half = np.where(tree.is_leaf, _LEAF_WIDTH, _INNER_WIDTH) / 2
    found = []
    for number in (-1, *range(len(wording.classes))):
        corners = [
            (place.x[n] - half[n], place.x[n] + half[n], -place.depth[n] - _HEIGHT / 2, -place.depth[n] + _HEIGHT / 2)
            for n in np.flatnonzero(predicted == number)
        ]
        colour = _FAINT if number < 0 else COLOURS[number % len(COLOURS)]
        box = rectangles(corners, "white" if number < 0 else tint(colour, 0.25))
        found.append({**box, "line": {"color": colour, "width": 1.4}})
    return found


def _bars(tree: Tree, place: Layout, wording: Wording) -> list[dict[str, Any]]:
    """The shares of the classes among the training rows of each node, along the lower edge of its box."""
    share = tree.weight / np.maximum(tree.weight.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    ends = np.cumsum(share, axis=1)
    full = np.where(tree.is_leaf, _LEAF_WIDTH, _INNER_WIDTH)[:, None]
    right = place.x[:, None] + full * (ends - 0.5)
    left = right - full * share
    bottom = -place.depth - _HEIGHT / 2
    found = []
    for c, label in enumerate(wording.classes):
        corners = [(left[n, c], right[n, c], bottom[n], bottom[n] + _BAR) for n in np.flatnonzero(share[:, c])]
        bar = rectangles(corners, COLOURS[c % len(COLOURS)])
        found.append({**bar, "name": plain_text(label, _INNER_LETTERS), "showlegend": True})
    return found


def rectangles(corners: Iterable[Sequence[float]], colour: str) -> dict[str, Any]:
    """Filled rectangles: left, right, bottom and top of each."""
    x: list[float | None] = []
    y: list[float | None] = []
    for left, right, bottom, top in corners:
        x += [left, right, right, left, left, None]
        y += [bottom, bottom, top, top, bottom, None]
    fill = {"fill": "toself", "fillcolor": colour, "line": {"width": 0, "color": colour}}
    return {"x": x or [None], "y": y or [None], "mode": "lines", **fill, **_SILENT}


def _texts(tree: Tree, place: Layout, wording: Wording) -> dict[str, Any]:
    nodes = range(tree.feature.shape[0])
    readable = int(tree.is_leaf.sum()) <= _READABLE
    return {
        "x": place.x,
        "y": -place.depth + _BAR / 2,
        "text": [_short(tree, node, wording) for node in nodes] if readable else None,
        "hovertext": [_long(tree, node, wording) for node in nodes],
        "hoverinfo": "text",
        "mode": "markers+text" if readable else "markers",
        "marker": {"size": 1, "opacity": 0},
        "textposition": "middle center",
        "showlegend": False,
    }


def _short(tree: Tree, node: int, wording: Wording) -> str:
    """Text of a box."""
    if tree.feature[node] < 0:
        first = f"<b>{plain_text(wording.classes[tree.prediction[node]], _LEAF_LETTERS)}</b>"
    else:
        condition = _left(tree, node, wording)
        # The name is shortened before the condition; a long set of levels is cut.
        room = max(_INNER_LETTERS // 2, _INNER_LETTERS - len(str(replace(condition, name=""))))
        first = plain_text(replace(condition, name=_cut(condition.name, room)), _INNER_LETTERS)
    return f"{first}<br>{n_rows(tree.weight[node].sum())}"


def _long(tree: Tree, node: int, wording: Wording) -> str:
    """Text on hover."""
    if tree.feature[node] < 0:
        lines = [f"<b>{plain_text(wording.classes[tree.prediction[node]])}</b>"]
    else:
        side = "yes" if tree.missing_left[node] else "no"
        if tree.share_left is not None:
            side = f"{100 * tree.share_left[node]:.3g} % yes"
        lines = [f"<b>{plain_text(_left(tree, node, wording))} ?</b>", f"missing: {side}"]
    weight = tree.weight[node]
    return "<br>".join([*lines, n_rows(weight.sum()), *class_counts(weight, wording.classes)])


def class_counts(weight: FloatArray, classes: Sequence[Any] | np.ndarray) -> list[str]:
    """Lines with the weight of each class, the largest first."""
    order = np.argsort(-weight, kind="stable")[:_HOVER_CLASSES]
    lines = [f"{plain_text(classes[c])}: {weight[c]:.6g}" for c in order if weight[c] > 0]
    hidden = int((weight > 0).sum()) - _HOVER_CLASSES
    return lines + ([f"and {hidden} classes more"] if hidden > 0 else [])


def _left(tree: Tree, node: int, wording: Wording) -> Condition:
    """The condition of the left branch."""
    return replace(wording.condition(tree, node, left=True), missing=None)


def plain_text(value: Any, letters: int = 300) -> str:
    """A name shortened and escaped, so that plotly reads no markup or formula in it; quotes have no entity there."""
    return escape(_cut(value, letters), quote=False).replace("$", "&#36;")


def _cut(value: Any, letters: int) -> str:
    text = one_line(value)
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def _links(tree: Tree) -> list[tuple[int, int]]:
    """Parent and child of every line."""
    inner = np.flatnonzero(~tree.is_leaf)
    return [(int(node), int(child)) for node in inner for child in (tree.left[node], tree.right[node])]


def tint(colour: str, share: float) -> str:
    """A colour mixed with white."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - part)):02X}" for part in parts)
