"""Figures of the values of the best features: a heat map of the rows, and two features against each other."""

from itertools import combinations
from typing import Any

from tamis.reporting.display_names import escaped, shown
from tamis.reporting.figure_description import Axis, Bars, Figure, Heat, Panel, Series

#: Inches of the strip of classes, of a line of the heat map, and of its least height.
_STRIP, _LINE, _LEAST = 0.22, 0.13, 1.6

#: Deviations at which the shades of the heat map end.
_REACH = 3.0

#: Most rows that are drawn large, and figures side by side.
_LARGE, _BESIDE = 200, 3

#: Letters of a name beside a small panel.
_LETTERS = 26


def heat(facts: dict[str, Any]) -> Figure | None:
    """The rows across, by class and similarity, and the features down, with similar ones together."""
    known = (facts["rows"] or {}).get("heat")
    if not known:
        return None
    classes, names = known["class"], facts["rows"]["classes"]
    strip = []
    for number, name in enumerate(names):
        own = [i for i, code in enumerate(classes) if code == number]
        if own:
            middle = (own[0] + own[-1]) / 2
            hover = f"<b>{escaped(name)}</b><br>{len(own):,} rows"
            strip.append(Bars([middle], [1.0], width=len(own), colour=number, label=name, hover=hover))
    limits = (-0.5, len(classes) - 0.5)
    across, down = Axis(limits=limits, visible=False), Axis(names=known["names"], grid=False)
    cells = Heat(known["values"], "deviations from the mean", reach=_REACH, hover="%{y}<br>%{z:.2f}")
    high = max(_LEAST, _LINE * len(known["names"]))
    whole = high + _STRIP
    part = f"{known['shown']:,} of {known['of']:,} rows, in the proportions of the classes"
    return Figure(
        "heat",
        "The selected features in the rows",
        "A column is a row of the data, a line is a feature, in units of its standard deviation. Rows stand by class, "
        "and within a class similar ones side by side.",
        (6.0, whole),
        [
            Panel(across, Axis(limits=(0.0, 1.0), visible=False), strip, _STRIP / whole),
            Panel(across, down, [cells], high / whole),
        ],
        note=part if known["shown"] < known["of"] else "",
    )


def pairs(facts: dict[str, Any]) -> Figure | None:
    """The best features against each other, two at a time, by class."""
    known = (facts["rows"] or {}).get("pairs")
    if not known:
        return None
    chosen = list(combinations(range(len(known["names"])), 2))
    columns = min(_BESIDE, len(chosen))
    panels = []
    for place, (first, second) in enumerate(chosen):
        marks = []
        for number, name in enumerate(facts["rows"]["classes"]):
            own = [i for i, code in enumerate(known["class"]) if code == number]
            x, y = ([known["values"][feature][i] for i in own] for feature in (first, second))
            detail = [known["row"][i] for i in own]
            hover = f"<b>{escaped(name)}</b><br>row %{{customdata}}<br>%{{x:.4g}}, %{{y:.4g}}"
            look: dict[str, Any] = {"size": 6.0 if len(known["row"]) <= _LARGE else 4.5, "colour": number}
            # One legend serves all, beside the last panel of the first line.
            label = name if place == columns - 1 else None
            marks.append(Series(x, y, points=True, label=label, hover=hover, detail=detail, **look))
        across, up = (Axis(shown(known["names"][feature], _LETTERS)) for feature in (first, second))
        panels.append(Panel(across, up, marks))
    part = f"{known['shown']:,} of {known['of']:,} rows, in the proportions of the classes"
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
