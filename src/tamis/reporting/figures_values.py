"""Figures of the values of the best features: a heat map of the rows, and two features against each other."""

from itertools import combinations
from typing import Any

from tamis.reporting.display_names import escaped, shown
from tamis.reporting.figure_description import Axis, Bars, Figure, Heat, Mark, Panel, Series
from tamis.reporting.row_points import row_points
from tamis.reporting.task_words import words_of

#: Inches of the strip of classes, of the curve of the target, of a line of the heat map, and of its least height.
_STRIP, _CURVE, _LINE, _LEAST = 0.22, 0.7, 0.13, 1.6

#: Deviations at which the shades of the heat map end.
_REACH = 3.0

#: Most rows that are drawn large, and figures side by side.
_LARGE, _BESIDE = 200, 3

#: Letters of a name beside a small panel.
_LETTERS = 26


def heat(facts: dict[str, Any]) -> Figure | None:
    """The rows across, by class and similarity or by the target, and the features down, with similar ones together."""
    known = (facts["rows"] or {}).get("heat")
    if not known:
        return None
    numbers = "value" in known
    strip, beside, head = _curve(facts["rows"], known) if numbers else _strip(facts["rows"], known)
    limits = (-0.5, len(known["row"]) - 0.5)
    across, down = Axis(limits=limits, visible=False), Axis(names=known["names"], grid=False)
    cells = Heat(known["values"], "deviations from the mean", reach=_REACH, hover="%{y}<br>%{z:.2f}")
    high = max(_LEAST, _LINE * len(known["names"]))
    whole = high + head
    part = f"{known['shown']:,} of {known['of']:,} rows, {words_of(facts).sampled}"
    order = (
        "Rows stand in the order of the target, which is drawn above."
        if numbers
        else "Rows stand by class, and within a class similar ones side by side."
    )
    return Figure(
        "heat",
        "The selected features in the rows",
        f"A column is a row of the data, a line is a feature, in units of its standard deviation. {order}",
        (6.0, whole),
        [
            Panel(across, beside, strip, head / whole),
            Panel(across, down, [cells], high / whole),
        ],
        note=part if known["shown"] < known["of"] else "",
    )


def _strip(rows: dict[str, Any], known: dict[str, Any]) -> tuple[list[Mark], Axis, float]:
    """The classes of the rows as a strip, the axis beside it, and its height."""
    strip: list[Mark] = []
    for number, name in enumerate(rows["classes"]):
        own = [i for i, code in enumerate(known["class"]) if code == number]
        if own:
            middle = (own[0] + own[-1]) / 2
            hover = f"<b>{escaped(name)}</b><br>{len(own):,} rows"
            strip.append(Bars([middle], [1.0], width=len(own), colour=number, label=name, hover=hover))
    return strip, Axis(limits=(0.0, 1.0), visible=False), _STRIP


def _curve(rows: dict[str, Any], known: dict[str, Any]) -> tuple[list[Mark], Axis, float]:
    """The target of the rows as a curve, the axis beside it, and its height."""
    hover = f"<b>{escaped(rows['target'])}</b> %{{y:,.4~r}}<br>row %{{customdata}}"
    line = Series(list(range(len(known["value"]))), known["value"], line=True, hover=hover, detail=known["row"])
    return [line], Axis(shown(rows["target"], _LETTERS)), _CURVE


def pairs(facts: dict[str, Any]) -> Figure | None:
    """The best features against each other, two at a time, by class or by the target."""
    known = (facts["rows"] or {}).get("pairs")
    if not known:
        return None
    chosen = list(combinations(range(len(known["names"])), 2))
    columns = min(_BESIDE, len(chosen))
    panels = []
    for place, (first, second) in enumerate(chosen):
        x, y = (known["values"][feature] for feature in (first, second))
        hover = "<b>{name}</b><br>row %{customdata}<br>%{x:.4g}, %{y:.4g}"
        # One legend serves all, beside the last panel of the first line.
        look: dict[str, Any] = {"size": 6.0 if len(known["row"]) <= _LARGE else 4.5, "named": place == columns - 1}
        marks = row_points(facts["rows"], known, x, y, hover=hover, detail=known["row"], **look)
        across, up = (Axis(shown(known["names"][feature], _LETTERS)) for feature in (first, second))
        panels.append(Panel(across, up, marks))
    part = f"{known['shown']:,} of {known['of']:,} rows, {words_of(facts).sampled}"
    lines = -(-len(chosen) // columns)
    return Figure(
        "pairs",
        "The best features against each other",
        f"The first {len(known['names'])} features of the model, two at a time; a point is a row.",
        (2.3 * columns, 2.1 * lines),
        panels,
        note=part if known["shown"] < known["of"] else "",
        columns=columns,
    )
