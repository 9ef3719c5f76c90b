"""Figures 1 to 3 of Kudo and Tenmoto (2005), "Optimal division for feature selection and classification".

The paper prints neither its data nor a number. Its claims are tested on data of the same kind: two classes on a square,
separated by a slanting line, with a tenth of the labels changed. The angle of the line is theta of Figure 3; at 0
degrees the second column is useless, at 45 as useful as the first.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray
from tamis.classify.mdl_histogram.mdl_histogram import MDLHistogram
from tamis.reporting.figure_description import Axis, Figure, Panel, Series
from tamis.reproduce.framework.figures import Curve, curves, log_axis, scatter
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task

#: Training rows of Figures 1 and 2, and the angle of their line.
SIZES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000)
SLANT = 20

#: Angles of Figure 3, and its training rows.
ANGLES = (0, 5, 10, 20, 30, 45, 60, 70, 80, 85, 90)
ROWS = 1000

#: Training sets whose division is drawn: the number of the figure, rows and the angle.
_DIVIDED = (
    *((1, n_rows, SLANT) for n_rows in (30, 100, 1000, 30_000)),
    *((3, ROWS, degrees) for degrees in (0, 10, 45, 90)),
)

#: Cells along a side of the grid on which boundaries are looked for, and rows that are drawn.
_GRID, _POINTS = 256, 300

#: The error of the best rule, which is the line itself.
NOISE = 0.1

#: How often each training set is drawn, and the rows that test it.
_DRAWS, _TEST_ROWS = 20, 20_000


def square(n_rows: int, degrees: float, rng: np.random.Generator) -> tuple[FloatArray, Codes, Codes]:
    """Rows on a square, their classes, and the classes that the line gives them.

    Examples
    --------
    >>> X, y, best = square(10_000, 20, np.random.default_rng(0))
    >>> X.shape, float(np.mean(y != best)).__round__(2)
    ((10000, 2), 0.1)
    """
    X = rng.random((n_rows, 2))
    across = np.array([np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))])
    best = ((X - 0.5) @ across > 0).astype(np.intp)
    return X, np.where(rng.random(n_rows) < NOISE, 1 - best, best), best


def _draws(n_rows: int, degrees: int, task: Task) -> dict[str, Any]:
    """Depths and error rates of histograms of several training sets."""
    X_new, y_new, best_new = square(_TEST_ROWS, degrees, generator(task.seed, 0, degrees))
    found: dict[str, list[Any]] = {"depths": [], "cells": [], "train": [], "test": [], "off": []}
    for draw in range(_DRAWS):
        X, y, _ = square(n_rows, degrees, generator(task.seed, 1 + draw, degrees, n_rows))
        if np.unique(y).size > 1:
            model = MDLHistogram().fit(X, y)
            predicted = model.predict(X_new)
            found["depths"].append(model.depths_.tolist())
            found["cells"].append(len(model.weight_[-1]))
            found["train"].append(float(np.mean(model.predict(X) != y)))
            found["test"].append(float(np.mean(predicted != y_new)))
            found["off"].append(float(np.mean(predicted != best_new)))
        task.progress(draw + 1, _DRAWS)
    return {"rows": n_rows, "degrees": degrees, **found}


def _boundary(task: Task) -> dict[str, Any]:
    """The depths and the boundary of a histogram of the first draw of some training sets, with some of their rows."""
    found = []
    at = (np.arange(_GRID) + 0.5) / _GRID
    grid = np.stack(np.meshgrid(at, at), axis=-1).reshape(-1, 2)
    for done, (figure, n_rows, degrees) in enumerate(_DIVIDED):
        X, y, _ = square(n_rows, degrees, generator(task.seed, 1, degrees, n_rows))
        model = MDLHistogram().fit(X, y)
        classes = model.predict(grid).reshape(_GRID, _GRID)
        points = [X[:_POINTS][y[:_POINTS] == label].round(4).tolist() for label in (0, 1)]
        own = {"figure": figure, "rows": n_rows, "degrees": degrees, "depths": model.depths_.tolist(), "points": points}
        found.append({**own, "boundary": outline(classes)})
        task.progress(done + 1, len(_DIVIDED))
    return {"divisions": found}


def outline(classes: Codes) -> list[list[float]]:
    """The lines between neighbouring cells of two classes on the unit square, from end to end.

    Examples
    --------
    >>> outline(np.array([[0, 1], [0, 1]]))
    [[0.5, 0.0, 0.5, 1.0]]
    """
    lines = []
    for turned in (False, True):
        cells = classes.T if turned else classes
        n = cells.shape[0]
        for place in range(1, cells.shape[1]):
            edges = np.flatnonzero(np.diff(np.concatenate(([0], cells[:, place] != cells[:, place - 1], [0]))))
            for first, last in edges.reshape(-1, 2) / n:
                ends = [place / n, float(first), place / n, float(last)]
                lines.append([ends[1], ends[0], ends[3], ends[2]] if turned else ends)
    return lines


_FIGURES = Piece("", "boundaries", _boundary, drawn=True)


def _pieces() -> tuple[Piece, ...]:
    wanted = [(n, SLANT) for n in SIZES] + [(ROWS, degrees) for degrees in ANGLES if degrees != SLANT]
    pieces = [Piece("", _name(n, degrees), partial(_draws, n, degrees), _DRAWS) for n, degrees in wanted]
    return (*pieces, _FIGURES)


def _name(n_rows: int, degrees: int) -> str:
    return f"{n_rows} rows, line at {degrees} degrees"


def _tables(findings: Findings) -> list[Table]:
    sizes = [one for n in SIZES if (one := findings.get(("", _name(n, SLANT))))]
    angles = [one for degrees in ANGLES if (one := findings.get(("", _name(ROWS, degrees))))]
    boundary = [
        [str(one["rows"]), *_depths(one["depths"]), f"{np.mean(one['cells']):.1f}", _percent(one["off"])]
        for one in sizes
    ]
    errors = [[str(one["rows"]), _percent(one["train"]), _percent(one["test"])] for one in sizes]
    soft = [[str(one["degrees"]), *_depths(one["depths"])] for one in angles]
    depths = ("most often (d1, d2)", "mean d1", "mean d2")
    return [
        Table(
            f"Figure 1: the division and its boundary, line at {SLANT} degrees",
            ("rows", *depths, "cells", "% of the plane on the wrong side"),
            boundary,
        ),
        Table(
            f"Figure 2: training and test error, percent; the best rule has {100 * NOISE:.0f}",
            ("rows", "training", "test"),
            errors,
        ),
        Table(f"Figure 3: soft feature selection, {ROWS} rows", ("theta, degrees", *depths), soft),
    ]


def _depths(depths: Sequence[Sequence[int]]) -> list[str]:
    """The most frequent pair of depths, and the mean of each."""
    ((pair, times),) = Counter(tuple(one) for one in depths).most_common(1)
    first, second = np.mean(depths, axis=0)
    return [f"({pair[0]}, {pair[1]}), {times} of {len(depths)}", f"{first:.2f}", f"{second:.2f}"]


def _percent(shares: Sequence[float]) -> str:
    """Mean and standard deviation over the draws."""
    return f"{100 * np.mean(shares):.1f} ± {100 * np.std(shares):.1f}"


def _figures(findings: Findings) -> list[Figure]:
    drawn: list[Figure] = []
    if found := findings.get(("", _FIGURES.name)):
        drawn += [_division(one["figure"], one) for one in found["divisions"]]
    sizes = [one for n in SIZES if (one := findings.get(("", _name(n, SLANT))))]
    angles = [one for degrees in ANGLES if (one := findings.get(("", _name(ROWS, degrees))))]
    if sizes:
        rows = [one["rows"] for one in sizes]
        own = {}
        for key, label in (("train", "training"), ("test", "test")):
            mean, deviation = ([100 * float(of(one[key])) for one in sizes] for of in (np.mean, np.std))
            own[label] = Curve(rows, mean, deviation)
        own["the best rule"] = Curve(rows, [100 * NOISE] * len(rows), printed=True, colour="ink")
        axes, caption = (log_axis("rows", rows), Axis("error, %")), "Mean and deviation over the draws."
        drawn.append(curves("figure_2", "Figure 2: training and test error", caption, *axes, own))
    if angles:
        degrees = [one["degrees"] for one in angles]
        depths = np.array([np.mean(one["depths"], axis=0) for one in angles])
        own = {f"d{column + 1}": Curve(degrees, depths[:, column].tolist()) for column in (0, 1)}
        title, caption = f"Figure 3: soft feature selection, n = {ROWS}", "Mean depths; the paper draws single sets."
        drawn.append(curves("figure_3", title, caption, Axis("theta, degrees"), Axis("depth"), own))
    return drawn


def _division(number: int, one: Any) -> Figure:
    """The rows, the best line and the boundary, with the caption of the paper."""
    angle = np.deg2rad(one["degrees"])
    along, middle = 0.75 * np.array([-np.sin(angle), np.cos(angle)]), np.array([0.5, 0.5])
    best = np.array([middle - along, middle + along]).T.tolist()
    x = [value for a, _, b, _ in one["boundary"] for value in (a, b, None)]
    y = [value for _, a, _, b in one["boundary"] for value in (a, b, None)]
    marks = [scatter(points, f"class {k}", k, size=4.0) for k, points in enumerate(one["points"])]
    marks.append(Series(best[0], best[1], line=True, dotted=True, colour="muted", label="the best rule"))
    marks.append(Series(x, y, line=True, colour="ink", label="the boundary"))
    first = one["rows"] if number == 1 else one["degrees"]
    words = ", ".join(map(str, (first, *one["depths"])))
    sides = Axis("x1", limits=(0.0, 1.0)), Axis("x2", limits=(0.0, 1.0))
    caption = f"({'n' if number == 1 else 'theta'}, d1, d2) = ({words}); one draw, at most {_POINTS} rows shown."
    name = f"figure_{number}_{first}"
    title = f"Figure {number}: {one['rows']} rows, line at {one['degrees']} degrees"
    return Figure(name, title, caption, (3.6, 3.6), [Panel(*sides, marks)])


STUDY = Study(
    "MDL histogram",
    "Kudo and Tenmoto 2005, Figures 1 to 3",
    "what the figures show, on data of their kind",
    _pieces(),
    _tables,
    figures=_figures,
    remarks=(
        "The paper prints no numbers and does not describe its data; these are of its kind, not its own.",
        f"Two classes on a square, separated by a line through the middle; {100 * NOISE:.0f} % of labels are changed.",
        "Theta is the angle of the line: at 0 degrees the second column is useless, at 45 as useful as the first.",
        f"Training sets are drawn {_DRAWS} times: means and standard deviations. {_TEST_ROWS} rows more test them.",
        "The paper says: few rows select a column, many bring the boundary near the best, d shows what matters.",
    ),
)
