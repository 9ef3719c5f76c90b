"""Figures of a choice among the variables of time series."""

from typing import Any

from tamis.reporting.figure_description import Axis, Bars, Figure, Panel, Series
from tamis.reporting.metric_text import hover_format
from tamis.series.choice import VariableChoice

#: Variables that have a bar: the names of more overlap in a small figure.
_SHOWN = 12


def choice_figures(choice: VariableChoice) -> dict[str, Figure]:
    """The error against the number of variables, and how often the folds select each variable, by name."""
    return {figure.name: figure for figure in (error_variables(choice), kept_variables(choice))}


def error_variables(choice: VariableChoice) -> Figure:
    """The error for each number of variables, with one standard error, a ring at the chosen number."""
    title, chosen = choice.metric.title, len(choice.variables)
    hover = f"{title} %{{y:{hover_format(choice.metric.name)}}}, %{{x}} variables"
    marks = []
    for number, (name, curve) in enumerate({choice.by: choice.curve, **choice.beside}.items()):
        reach = [one.se if one.se == one.se else 0.0 for one in curve.values()]
        error = [one.mean for one in curve.values()]
        look: dict[str, Any] = {"colour": number, "label": f"by {name}", "hover": hover}
        marks.append(Series([*curve], error, line=True, points=True, size=5.0, reach=reach, **look))
    ring = [choice.curve[chosen].mean]
    marks.append(
        Series([chosen], ring, points=True, shape="circle-open", size=15.0, colour="ink", label="chosen", hover=hover)
    )
    return Figure(
        "error_variables",
        f"{title} against the number of variables",
        "The variables are selected anew in each fold; the band is one standard error to either side.",
        (4.6, 3.3),
        [Panel(Axis("variables", "count"), Axis(f"{title} (mean over folds)"), marks)],
    )


def kept_variables(choice: VariableChoice) -> Figure:
    """The share of the folds that select each variable, in order of elimination."""
    names = [*choice.variables, *choice.left_out][:_SHOWN]
    groups = [("selected", "accent", choice.variables), ("left out", "faint", choice.left_out)]
    bars = []
    for label, colour, own in groups:
        at = [place for place, name in enumerate(names) if name in own]
        if at:
            shares = [choice.kept_in_folds[names[place]] for place in at]
            bars.append(Bars(at, shares, across=True, colour=colour, label=label))  # type: ignore[arg-type]
    more = len(choice.variables) + len(choice.left_out) - len(names)
    return Figure(
        "kept_variables",
        "Share of the folds that select a variable",
        "Variables that all folds select matter whatever the items are; others stand in for each other.",
        (4.6, 0.8 + 0.18 * len(names)),
        [Panel(Axis("share of the folds", "share", limits=(0.0, 1.05)), Axis(names=names, grid=False), bars)],
        note=f"{more} more variables are not drawn." if more else "",
    )
