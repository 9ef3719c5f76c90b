"""Figures 1 to 6 of Zhao and Yu (2005), and the error by the size of a step: the numbers, then one page of plots."""

import math
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from sklearn.linear_model import lasso_path

from tamis.base.seeds import generator
from tamis.base.types import FloatArray
from tamis.margins.boosted_lasso.boosting import boosted_lasso
from tamis.margins.boosted_lasso.figure import lines, solutions
from tamis.reproduce.blasso import BASIS, MOST, STEP, STEPS, circles, gaps, paper_unit, with_x11
from tamis.reproduce.framework.figure_page import figure_page
from tamis.reproduce.framework.study import Task
from tamis.trees.figure import COLOURS

#: Steps of Figure 6, in the paper's units, and the column whose weight it shows.
_SHOWN, _COLUMN = (0.05, 10.0, 50.0), 2

#: Points of a line.
_POINTS = 400

#: x11 and the columns that it is made of.
_MADE_OF = {6: COLOURS[0], 7: COLOURS[2], 8: COLOURS[3], 10: COLOURS[5]}

_NAMES = [f"x{number}" for number in range(1, 12)]


def measure(task: Task) -> dict[str, Any]:
    """Return the numbers behind the figures."""
    X, y = with_x11(task.data)
    unit = paper_unit(task.data)
    found: dict[str, Any] = {"data": task.data.name, "seed": task.seed, "step": STEP, "paths": {}}
    penalties = float(np.abs(X.T @ y).max()) / y.size * np.geomspace(1.0, 1e-4, _POINTS)
    found["paths"]["Lasso"] = lasso_path(X, y, alphas=penalties, tol=1e-9, max_iter=100_000)[1].T.tolist()
    for name, backward in (("Boosted lasso", True), ("Forward stagewise fitting", False)):
        path = boosted_lasso(X, y, step=STEP / unit, backward=backward, max_steps=MOST)
        found["paths"][name] = path.coefs(solutions(path, _POINTS)).tolist()
    H, classes = circles(generator(task.seed))
    path = boosted_lasso(H, classes, loss="hinge")
    taken = solutions(path, _POINTS)
    found["circles"] = {"points": (H[:, :2] / math.sqrt(2)).tolist(), "classes": classes.tolist()}
    found["svm"] = {"weights": path.coefs(taken).tolist(), "names": list(BASIS)}
    found["shown"], found["errors"] = [], []
    for done, step in enumerate(STEPS):
        path = boosted_lasso(X, y, step=step / unit, max_steps=MOST)
        apart = gaps(path, X, y)[1]
        found["errors"].append({"step": step, "largest": float(apart.max()), "median": float(np.median(apart))})
        if step in _SHOWN:
            taken = solutions(path, _POINTS)[1:]
            shares = path.penalties[taken - 1] / path.highest
            weights = path.coefs(taken)[:, _COLUMN]
            found["shown"].append({"step": step, "shares": shares.tolist(), "weights": weights.tolist()})
        task.progress(done + 1, len(STEPS))
    return found


def page(numbers: dict[str, Any]) -> str:
    """Return a page of all figures that needs no other file; the same numbers give the same page."""
    return figure_page(draw(numbers))


def draw(numbers: dict[str, Any]) -> go.Figure:
    """Draw Figures 1 to 3 in a row, then Figures 4 and 5, then Figure 6 and the error by the size of a step."""
    wide, half = {"colspan": 2}, {"colspan": 3}
    titles = (
        *(f"Figure {number}: {name}" for number, name in enumerate(numbers["paths"], 1)),
        "Figure 4: two classes",
        "Figure 5: 1-norm SVM",
        f"Figure 6: weight of x{_COLUMN + 1} by the step",
        "Difference from the lasso",
    )
    chart = make_subplots(
        rows=3,
        cols=6,
        specs=[[wide, None] * 3, [half, None, None] * 2, [half, None, None] * 2],
        subplot_titles=titles,
        vertical_spacing=0.09,
        horizontal_spacing=0.07,
    )
    for place, own in enumerate(numbers["paths"].values()):
        _add(chart, _path(own, _NAMES, _MADE_OF, 1, first=place == 0), 1, 1 + 2 * place)
    _add(chart, _points(numbers["circles"]), 2, 1)
    svm = numbers["svm"]
    _add(chart, _path(svm["weights"], svm["names"], dict(enumerate(COLOURS[:5])), 3, first=True), 2, 4)
    _add(chart, _by_step(numbers["shown"]), 3, 1)
    _add(chart, _errors(numbers["errors"]), 3, 4)
    sums = "sum of |weights|"
    for row, column, across, up in (
        (1, 1, sums, "weight"),
        (1, 3, sums, ""),
        (1, 5, sums, ""),
        (2, 1, "first input", "second input"),
        (2, 4, sums, "weight"),
        (3, 1, "penalty, as a share of the highest", "weight"),
        (3, 4, "step, in the paper's units", "deviations of the target"),
    ):
        chart.update_xaxes(title_text=across, row=row, col=column)
        chart.update_yaxes(title_text=up, row=row, col=column)
    chart.update_yaxes(matches="y", row=1)
    chart.update_xaxes(type="log", dtick=1, row=3, col=4)
    chart.update_yaxes(type="log", dtick=1, exponentformat="power", row=3, col=4)
    intro = (
        f"Figures 1 to 3 and 6: {escape(numbers['data'])} with x11 = -x7 + x8 + 5 x9, steps of {numbers['step']:g}."
        " Weights are those of columns and a target of unit deviation."
        "<br>After Zhao and Yu (2005), whose plotted values are not printed."
        f" Figures 4 and 5: one draw, seed {numbers['seed']}."
    )
    # A legend for each row, beside it.
    legends = {
        f"legend{number if number > 1 else ''}": {"x": 1.01, "y": y, "yanchor": "top", "xanchor": "left"}
        for number, y in ((1, 1.0), (3, 0.62), (5, 0.25))
    }
    legends["legend2"] = {"x": 0.0, "y": 0.64, "xanchor": "left", "orientation": "h"}
    legends["legend4"] = {"x": 0.44, "y": 0.27, "xanchor": "right", "yanchor": "top"}
    return chart.update_layout(
        title={"text": f"Boosted lasso<br><sup>{intro}</sup>", "y": 0.985, "yanchor": "top"},
        template="simple_white",
        height=1250,
        font={"family": "system-ui, 'Helvetica Neue', Arial, sans-serif", "size": 13, "color": "#222"},
        margin={"l": 70, "r": 110, "t": 140, "b": 60},
        **legends,
    )


def _add(chart: go.Figure, traces: list[dict[str, Any]], row: int, column: int) -> None:
    chart.add_traces(traces, rows=row, cols=column)


def _path(
    weights: list[list[float]], names: list[str], colours: dict[int, str], legend: int, *, first: bool
) -> list[dict[str, Any]]:
    """The lines of a path; of several with the same columns the first has the legend."""
    each: FloatArray = np.array(weights)
    drawn = lines(np.abs(each).sum(axis=1), each, names, colours)
    return [one | {"legend": _legend(legend), "showlegend": bool(first and one["showlegend"])} for one in drawn]


def _points(drawn: dict[str, Any]) -> list[dict[str, Any]]:
    points, classes = np.array(drawn["points"]), np.array(drawn["classes"])
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": points[classes == value, 0].tolist(),
            "y": points[classes == value, 1].tolist(),
            "name": f"y = {value}",
            "marker": {"color": colour, "symbol": symbol, "size": 8},
            "legend": "legend2",
        }
        for value, colour, symbol in ((-1, COLOURS[0], "cross-thin-open"), (1, COLOURS[5], "circle-open"))
    ]


def _by_step(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": one["shares"],
            "y": one["weights"],
            "name": f"step {one['step']:g}",
            "line": {"color": colour, "width": 2, "dash": dash, "shape": "hv"},
            "legend": "legend4",
        }
        for one, (colour, dash) in zip(
            sorted(shown, key=lambda one: -one["step"]),
            ((COLOURS[5], "dashdot"), (COLOURS[0], "solid"), ("#222222", "dot")),
            strict=True,
        )
    ]


def _errors(errors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    steps = [one["step"] for one in errors]
    drawn = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": steps,
            "y": [one[kind] for one in errors],
            "name": name,
            "line": {"color": colour, "width": 2},
            "legend": "legend5",
        }
        for kind, name, colour in (("largest", "largest", COLOURS[5]), ("median", "median", COLOURS[0]))
    ]
    # What a difference in proportion to the step looks like, from the median at the step of the other figures.
    middle = next(one["median"] / one["step"] for one in errors if one["step"] == STEP)
    straight = {"x": [steps[0], steps[-1]], "y": [steps[0] * middle, steps[-1] * middle]}
    look = {"type": "scatter", "mode": "lines", "name": "proportional", "legend": "legend5"}
    return [*drawn, look | straight | {"line": {"color": "#666666", "width": 1, "dash": "dot"}}]


def _legend(number: int) -> str:
    return "legend" if number == 1 else f"legend{number}"
