"""Figures 1 to 6 of Zhao and Yu (2005), and the error by the size of a step: the numbers, then the pictures."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import lasso_path

from tamis.base.seeds import generator
from tamis.base.types import FloatArray
from tamis.margins.boosted_lasso.boosting import boosted_lasso
from tamis.margins.boosted_lasso.figure import solutions
from tamis.reporting.figure_description import Axis, Figure, Panel
from tamis.reproduce.blasso.problem import BASIS, MOST, STEP, STEPS, circles, gaps, paper_unit, with_x11
from tamis.reproduce.framework.figures import SIZE, Curve, curves, log_axis, scatter
from tamis.reproduce.framework.study import Findings, Piece, Task

#: Steps of Figure 6, in the paper's units, and the column whose weight it shows.
_SHOWN, _COLUMN = (0.05, 10.0, 50.0), 2

#: Points of a line.
_POINTS = 400

#: x11 and the columns that it is made of.
_MADE_OF = {6: 0, 7: 2, 8: 3, 10: 5}

_NAMES = [f"x{number}" for number in range(1, 12)]


def measure(task: Task) -> dict[str, Any]:
    """Return the numbers behind the figures."""
    X, y = with_x11(task.data)
    unit = paper_unit(task.data)
    found: dict[str, Any] = {"paths": {}}
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


PIECE = Piece("diabetes_lars", "Figures 1 to 6", measure, 8, drawn=True)


def describe(findings: Findings) -> list[Figure]:
    """Describe Figures 1 to 6, and the difference from the lasso by the size of a step."""
    if (found := findings.get((PIECE.data, PIECE.name))) is None:
        return []
    unit = "Weights are those of columns and a target of unit deviation; x11 = -x7 + x8 + 5 x9."
    paths = [
        _path(f"figure_{number}", f"Figure {number}: {name}, diabetes with x11", unit, weights, _NAMES, _MADE_OF)
        for number, (name, weights) in enumerate(found["paths"].items(), 1)
    ]
    svm, colours = found["svm"], dict(enumerate((0, 1, 2, 3, 5)))
    draw = "One draw of two circles."
    return [
        *paths,
        _points(found["circles"], draw),
        _path("figure_5", "Figure 5: 1-norm SVM by the boosted lasso", draw, svm["weights"], svm["names"], colours),
        _by_step(found["shown"]),
        _errors(found["errors"]),
    ]


def _path(
    name: str, title: str, caption: str, weights: list[list[float]], names: Sequence[str], colours: Mapping[int, int]
) -> Figure:
    """The lines of a path, those without a colour grey and below."""
    each: FloatArray = np.array(weights)
    sums = np.abs(each).sum(axis=1)
    active = np.flatnonzero((each != 0).any(axis=0)).tolist()
    own = {
        names[column]: Curve(sums.tolist(), each[:, column].tolist(), colour=colours.get(column, "faint"), points=False)
        for column in sorted(active, key=lambda one: (one in colours, one))
    }
    drawn = curves(name, title, caption, Axis("sum of |weights|"), Axis("weight"), own)
    (panel,) = drawn.panels
    marks = [replace(one, label=None if one.colour == "faint" else one.label) for one in panel.marks]
    return replace(drawn, panels=[replace(panel, marks=marks)])


def _points(drawn: Mapping[str, Any], caption: str) -> Figure:
    points, classes = np.array(drawn["points"]), np.array(drawn["classes"])
    marks = [
        scatter(points[classes == value], f"y = {value}", colour, shape=shape)
        for value, colour, shape in ((-1, 0, "cross"), (1, 5, "circle-open"))
    ]
    panel = Panel(Axis("first input"), Axis("second input"), marks)
    return Figure("figure_4", "Figure 4: two classes", caption, SIZE, [panel])


def _by_step(shown: list[dict[str, Any]]) -> Figure:
    own = {}
    for one in sorted(shown, key=lambda one: -one["step"]):
        dotted = one["step"] == min(_SHOWN)
        curve = Curve(one["shares"], one["weights"], points=False, printed=dotted, steps=True)
        own[f"step {one['step']:g}"] = curve
    title, caption = f"Figure 6: weight of x{_COLUMN + 1} by the step", "Steps in the paper's units."
    return curves("figure_6", title, caption, Axis("penalty, as a share of the highest"), Axis("weight"), own)


def _errors(errors: list[dict[str, Any]]) -> Figure:
    steps = [one["step"] for one in errors]
    own = {kind: Curve(steps, [one[kind] for one in errors]) for kind in ("largest", "median")}
    # What a difference in proportion to the step looks like, from the median at the step of the other figures.
    middle = next(one["median"] / one["step"] for one in errors if one["step"] == STEP)
    own["proportional"] = Curve(steps, [step * middle for step in steps], printed=True, colour="muted")
    y = log_axis("deviations of the target", [one for line in own.values() for one in line.y])
    title, caption = "Difference from the lasso by the size of a step", "Over the knots of the path; not in the paper."
    return curves("differences", title, caption, log_axis("step, in the paper's units", steps), y, own)
