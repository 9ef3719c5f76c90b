"""A page of described figures and nothing else, such as those of a paper, and their numbers."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from tamis import __version__
from tamis.reporting.figure_description import Axis, Figure, Mark
from tamis.reporting.html import environment, escaped_json, plotly_source, policy
from tamis.reporting.plotly_figure import plotly_figure

#: Pixels below the title of an axis and of a line of the legend.
_BELOW, _LINE = 12, 22

#: Entries of the legend, and letters of their names, in a line.
_BESIDE, _LETTERS = 4, 84

#: What a mark may hold beside its label.
_NUMBERS = ("x", "y", "reach", "values", "at", "length", "base", "text")

_DRAW = Markup("""
const figures = JSON.parse(document.getElementById("figures").textContent);
for (const place of document.querySelectorAll(".plot")) {
  const { data, layout } = figures[place.dataset.figure];
  Plotly.newPlot(place, data, layout, { displaylogo: false, responsive: true });
}
""")


def figures_page(title: str, figures: Sequence[Figure], remarks: Sequence[str] = ()) -> str:
    """Draw figures as one HTML page that needs no other file, with remarks below; the same figures, the same page.

    Examples
    --------
    >>> from tamis.reporting.figure_description import Panel, Series
    >>> line = Series([1, 2], [0.5, 0.25], line=True, label="<b>")
    >>> one = Figure("error", "<i>Error</i>", "", (4, 3), [Panel(Axis("features"), Axis("BER"), [line])])
    >>> page = figures_page("A paper", [one])
    >>> "&lt;i&gt;Error" in page, "<i>Error" in page
    (True, False)
    """
    scripts = {"plotly": plotly_source(), "draw": _DRAW}
    drawn = {figure.name: _drawn(figure) for figure in figures}
    page = (
        environment()
        .get_template("figures.html")
        .render(
            title=title,
            figures=figures,
            remarks=remarks,
            heights={name: one["layout"]["height"] for name, one in drawn.items()},
            json=escaped_json(drawn),
            scripts=scripts,
            policy=policy([str(script) for script in scripts.values()]),
            version=__version__,
        )
    )
    return page.encode("utf-8", "replace").decode("utf-8")


def figure_numbers(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Return the numbers of figures: by panel the titles of the axes, and by mark its label and its values."""
    return [
        {
            "name": figure.name,
            "title": figure.title,
            "caption": figure.caption,
            "panels": [
                {**_axis("x", panel.x), **_axis("y", panel.y), "marks": [_mark(mark) for mark in panel.marks]}
                for panel in figure.panels
            ],
        }
        for figure in figures
    ]


def _axis(way: str, axis: Axis) -> dict[str, Any]:
    return {way: axis.title, **({f"{way}_names": list(axis.names)} if axis.names else {})}


def _mark(mark: Mark) -> dict[str, Any]:
    known = {name: getattr(mark, name, None) for name in _NUMBERS}
    values = {name: list(value) for name, value in known.items() if value is not None and len(value)}
    return {"kind": type(mark).__name__.lower(), "label": mark.label, **values}


def _drawn(figure: Figure) -> dict[str, Any]:
    """The figure for plotly, as wide as the page lets it be, with its legend below."""
    drawn = plotly_figure(figure).to_dict()
    names = [trace["name"] for trace in drawn["data"] if "name" in trace]
    beside = min(_BESIDE, max(1, _LETTERS // (6 + max(map(len, names), default=0))))
    below = _BELOW + _LINE * -(-len(names) // beside)
    layout = {key: value for key, value in drawn["layout"].items() if key not in ("title", "width")}
    layout["legend"] = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0}
    layout["margin"] = {**layout["margin"], "t": 16, "b": layout["margin"]["b"] + _BELOW}
    layout["height"] += below
    return {"data": drawn["data"], "layout": layout}
