"""A figure for Python: that of the page, in the colours of white paper."""

from typing import TYPE_CHECKING, Any

from tamis.reporting.display_names import escaped
from tamis.reporting.figure_description import Figure
from tamis.reporting.matplotlib_drawing import TONES
from tamis.reporting.plotly_json import TEMPLATE, plotly_json
from tamis.trees.figure import COLOURS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as Drawn

_TONES = {**TONES, "panel": "#FFFFFF"}

#: Pixels of a figure's width, and of its title.
_WIDTH, _TITLE = 640, 40


def plotly_figure(figure: Figure) -> "Drawn":
    """Draw a figure with plotly; series that the page hides at first are shown by a click on the legend."""
    # The import takes half a second.
    from plotly.graph_objects import Figure as Drawn

    drawn = plotly_json(figure)
    for trace in drawn["data"]:
        if trace.get("meta", {}).get("hidden"):
            trace["visible"] = "legendonly"
    layout = _painted({**TEMPLATE["layout"], **drawn["layout"]})
    note = f"<br><sup>{escaped(figure.note, 90)}</sup>" if figure.note else ""
    own: dict[str, Any] = {
        "title": {"text": f"{escaped(figure.title, 90)}{note}"},
        "width": _WIDTH,
        "height": drawn["height"] + _TITLE,
        "margin": {**layout["margin"], "t": _TITLE + 24},
        "paper_bgcolor": _TONES["panel"],
        "plot_bgcolor": _TONES["panel"],
        "showlegend": any("name" in trace for trace in drawn["data"]),
        "template": "none",
    }
    for name in (name for name in layout if name.startswith(("xaxis", "yaxis"))):
        base = _painted(TEMPLATE["layout"][name[:5]])
        title = {**base["title"], **layout[name].get("title", {})}
        layout[name] = {**base, **layout[name], "title": title}
    return Drawn(data=[_painted(trace) for trace in drawn["data"]], layout={**layout, **own})


def _painted(value: Any, key: str = "") -> Any:
    """A part of a figure with colours in place of numbers and tones, as the script of the page does it."""
    if isinstance(value, str):
        return _mixed(value) if "color" in key else value
    if isinstance(value, list | tuple):
        return [_painted(each, key) for each in value] if "color" in key or key == "shapes" else value
    return {name: _painted(each, name) for name, each in value.items()} if isinstance(value, dict) else value


def _mixed(text: str) -> str:
    """A colour: the number of a class or the name of a tone, with its opacity behind a slash.

    Examples
    --------
    >>> _mixed("1"), _mixed("ink"), _mixed("0/0.16"), _mixed("Cividis")
    ('#E69F00', '#222222', 'rgba(0,114,178,0.16)', 'Cividis')
    """
    base, _, share = text.partition("/")
    colour = COLOURS[int(base) % len(COLOURS)] if base.isdecimal() else _TONES.get(base)
    if colour is None:
        return text
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})" if share else colour
