"""Figures of the page: a description as plotly's data and layout.

A colour is the number of a class or family, or a tone ("ink", "muted", ...), with its opacity behind a slash where it
is transparent ("3/0.16"). The page fills in the colours of its light or dark mode.
"""

from typing import Any

from tamis.reporting.display_names import escaped
from tamis.reporting.figure_description import Axis, Bars, Box, Figure, Heat, Mark, Panel, Series
from tamis.trees.figure import COLOURS

#: Shapes of points: one fewer than colours, so that pairs of both repeat late.
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "hourglass")

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")

#: Pixels of an inch of a figure, and of the labels around its axes.
_INCH, _AROUND = 120, 60

#: Letters of a name in a legend, beside a heat map, and along any other axis.
_LEGEND, _CELL, _PLACE = 40, 22, 24

#: Shares of a column and of the height between the panels of a grid.
_BESIDE, _BELOW = 0.26, 0.14

#: Shades of numbers below and above zero.
_SHADES: list[list[Any]] = [[0.0, "2"], [0.5, "panel"], [1.0, "3"]]

_AXIS = {
    "gridcolor": "grid",
    "linecolor": "faint",
    "zeroline": False,
    "tickfont": {"color": "muted", "size": 12},
    "title": {"font": {"size": 13}},
    "automargin": True,
}

#: What all figures of a page share.
TEMPLATE: dict[str, Any] = {
    "layout": {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif", "size": 13, "color": "ink"},
        "margin": dict(zip("lrtb", (60, 16, 24, 48), strict=True)),
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": "panel", "bordercolor": "faint", "font": {"color": "ink"}, "align": "left"},
        "xaxis": _AXIS,
        "yaxis": _AXIS,
    }
}


def plotly_json(figure: Figure) -> dict[str, Any]:
    """A figure as ``data`` and ``layout`` for plotly, with ``title``, ``caption`` and ``height`` for the page."""
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"shapes": []}
    top = 1.0
    for number, panel in enumerate(figure.panels):
        place = str(number + 1) if number else ""
        x, y = _axes(panel, place)
        if figure.columns > 1:
            x["domain"], y["domain"] = cell(number, len(figure.panels), figure.columns)
        elif panel.share < 1:
            y["domain"] = [max(0.0, top - panel.share), top - (0.04 if number else 0.0)]
        layout |= {f"xaxis{place}": x, f"yaxis{place}": y}
        top -= panel.share
        for group, mark in enumerate(panel.marks):
            own = {"xaxis": f"x{place}", "yaxis": f"y{place}", "legendgroup": str(group)}
            data += [{**trace, **own} for trace in _traces(mark, layout)]
    # Bands are drawn below all lines.
    data.sort(key=lambda trace: trace.get("fill") != "toself")
    caption = f"{figure.caption} {figure.note}." if figure.note else figure.caption
    height = round(_INCH * figure.size[1]) + _AROUND
    return rounded({"title": figure.title, "caption": caption, "height": height, "data": data, "layout": layout})


def cell(number: int, n: int, columns: int) -> tuple[list[float], list[float]]:
    """Where a panel of a grid is, with room for the titles of the axes."""
    row, column = divmod(number, columns)
    rows = -(-n // columns)
    x, y = (column / columns, (column + 1) / columns), (1 - (row + 1) / rows, 1 - row / rows)
    room = _BESIDE / columns, _BELOW if row + 1 < rows else 0.0
    return [x[0] + (room[0] if column else 0.0), x[1]], [y[0] + room[1], y[1]]


def _axes(panel: Panel, place: str) -> tuple[dict[str, Any], dict[str, Any]]:
    heat = any(isinstance(mark, Heat) for mark in panel.marks)
    x, y = _axis(panel.x, heat) | {"anchor": f"y{place}"}, _axis(panel.y, heat) | {"anchor": f"x{place}"}
    if panel.y.names:
        y["range"] = [len(panel.y.names) - 0.5, -0.5]
    if heat and panel.square:
        x |= {"tickangle": -60, "constrain": "domain", "range": [-0.5, len(panel.x.names) - 0.5]}
        y |= {"scaleanchor": f"x{place}", "constrain": "domain"}
    return x, y


def _axis(axis: Axis, heat: bool) -> dict[str, Any]:
    drawn: dict[str, Any] = {"showgrid": axis.grid, "visible": axis.visible}
    low, high = axis.limits
    if axis.title:
        drawn["title"] = {"text": escaped(axis.title, 80)}
    if axis.kind == "log":
        drawn |= {"type": "log", "tickvals": axis.ticks, "ticktext": [f"{tick:,}" for tick in axis.ticks]}
    if axis.kind == "share":
        drawn["tickformat"] = ".0%"
    if axis.names:
        names = [escaped(name, _CELL if heat else _PLACE) for name in axis.names]
        drawn |= {"tickvals": range(len(names)), "ticktext": names}
    if heat:
        drawn["tickfont"] = {"size": 10}
    if low is not None:
        drawn |= {"rangemode": "tozero"} if high is None else {"range": [low, high]}
    return drawn


def _traces(mark: Mark, layout: dict[str, Any]) -> list[dict[str, Any]]:
    """The traces of a mark; frames go into the layout."""
    if isinstance(mark, Series):
        return _series(mark)
    if isinstance(mark, Bars):
        return [_bars(mark)]
    if isinstance(mark, Box):
        return [_box(mark)]
    for low, high in mark.frames:
        frame = {"x0": low - 0.5, "x1": high - 0.5, "y0": low - 0.5, "y1": high - 0.5}
        layout["shapes"].append({"type": "rect", **frame, "line": {"color": "ink", "width": 1.5}})
    shades: list[list[Any]] = [[0, "panel"], [1, "accent"]] if mark.reach is None else _SHADES
    ends = {"zmin": 0.0, "zmax": 1.0} if mark.reach is None else {"zmin": -mark.reach, "zmax": mark.reach}
    scale = {**ends, "colorscale": shades, "colorbar": _scale(mark.scale)}
    text = {"text": mark.text, "texttemplate": "%{text}"} if mark.text else {}
    return [{"type": "heatmap", "z": mark.values, **scale, **text, **_labels(mark)}]


def _series(mark: Series) -> list[dict[str, Any]]:
    colour = str(mark.colour)
    mode = "+".join(word for word, drawn in (("lines", mark.line), ("markers", mark.points)) if drawn)
    trace: dict[str, Any] = {"x": mark.x, "y": mark.y, "mode": mode, **_labels(mark)}
    if mark.line:
        dash = "dot" if mark.dotted else _DASHES[mark.number // len(COLOURS) % len(_DASHES)]
        trace["line"] = {"color": colour, "dash": dash, "width": 2, "shape": "hv" if mark.steps else "linear"}
    if mark.fill:
        trace |= {"fill": "tozeroy", "fillcolor": f"{colour}/{mark.fill}"}
    if mark.points:
        shape = _shape(mark)
        # Without a colour the line of an open shape has that of the marker.
        edge = {"width": 2.0} if shape.endswith("open") else {"width": 0.6, "color": "panel"}
        trace["marker"] = {"symbol": shape, "size": mark.size, "color": colour, "line": edge}
    if mark.values is not None:
        first, last = mark.ends
        bar: dict[str, Any] = {"colorbar": _scale(escaped(mark.scale))} if mark.scale else {"showscale": False}
        shades = {"color": mark.values, "colorscale": "Cividis", "cmin": first, "cmax": last, **bar}
        trace["marker"] |= {**shades, "line": {"color": "muted", "width": 0.8}}
    if mark.reach is None:
        return [trace]
    if len(mark.x) == 1:
        return [{**trace, "error_y": {"array": mark.reach, "color": colour, "thickness": 1.5}}]
    high, low = ([y + sign * reach for y, reach in zip(mark.y, mark.reach, strict=True)] for sign in (1, -1))
    around = {"x": [*mark.x, *reversed(mark.x)], "y": [*high, *reversed(low)], "mode": "lines", "line": {"width": 0}}
    fill = {"fill": "toself", "fillcolor": f"{colour}/0.16", "hoverinfo": "skip", "showlegend": False}
    return [{**around, **fill}, trace]


def _bars(mark: Bars) -> dict[str, Any]:
    x, y, way = (mark.length, mark.at, "h") if mark.across else (mark.at, mark.length, "v")
    place = {"width": mark.width, "offset": -mark.width / 2, **({} if mark.base is None else {"base": mark.base})}
    text = {"text": mark.text, "textposition": "outside", "cliponaxis": False} if mark.text else {}
    look = {"orientation": way, "marker": {"color": str(mark.colour)}, "outsidetextfont": {"color": "ink"}}
    return {"type": "bar", "x": x, "y": y, **look, **place, **text, **_labels(mark)}


def _box(mark: Box) -> dict[str, Any]:
    low, first, median, third, high = ([value] for value in mark.values)
    ends = {"lowerfence": low, "q1": first, "median": median, "q3": third, "upperfence": high}
    look = {"line": {"color": str(mark.colour), "width": 1.5}, "fillcolor": f"{mark.colour}/0.25", "width": mark.width}
    return {"type": "box", "orientation": "h", "y": [mark.at], **ends, **look, **_labels(mark), "hoverinfo": "x"}


def _shape(mark: Mark) -> str:
    return (isinstance(mark, Series) and mark.shape) or SHAPES[mark.number % len(SHAPES)]


def _labels(mark: Mark) -> dict[str, Any]:
    """The hover text, and the entry in the legends: the page's own, and that of a saved picture."""
    hover = {"hovertemplate": f"{mark.hover}<extra></extra>"} if mark.hover else {"hoverinfo": "skip"}
    detail = {"customdata": mark.detail} if mark.detail else {}
    if mark.label is None:
        return {**hover, **detail, "showlegend": False}
    hidden = isinstance(mark, Series) and mark.hidden
    meta = {"label": mark.label, "colour": str(mark.colour), "shape": _shape(mark), "hidden": hidden}
    return {**hover, **detail, "name": escaped(mark.label, _LEGEND), "meta": meta}


def _scale(title: str) -> dict[str, Any]:
    return {"title": {"text": title, "side": "right"}, "thickness": 14, "outlinewidth": 0}


def rounded(value: Any) -> Any:
    """The value with lists for all sequences and six digits of each number."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | range):
        return [rounded(inner) for inner in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
