"""The experiments of Zhao and Yu (2005), "Boosted lasso": diabetes with another variable, the 1-norm SVM, the step."""

from typing import Any

import numpy as np
from sklearn.linear_model import lasso_path

from tamis.base.seeds import generator
from tamis.margins.boosted_lasso.boosting import boosted_lasso
from tamis.reproduce.blasso.figures import PIECE, describe
from tamis.reproduce.blasso.problem import BASIS, LEAST, MOST, STEP, STEPS, circles, gaps, paper_unit, with_x11
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task

#: A weight that differs by this much, in deviations of the target, has left the lasso.
_APART = 0.03

#: Draws of the two circles.
DRAWS = 50

#: Steps, and those backward, that the paper prints.
_PRINTED = {"BLasso": (8700, 840), "forward stagewise": (7300, 0)}


def _diabetes(task: Task) -> dict[str, Any]:
    X, y = with_x11(task.data)
    unit = paper_unit(task.data)
    found: dict[str, Any] = {}
    for name, backward in (("BLasso", True), ("forward stagewise", False)):
        path = boosted_lasso(X, y, step=STEP / unit, backward=backward, max_steps=MOST)
        knots, apart = gaps(path, X, y)
        far = np.flatnonzero(apart > _APART)
        left = None if far.size == 0 else float(path.penalties[knots[far[0]] - 1] / path.highest)
        entered = (path.entries()[0] + 1).tolist()
        weight = float(path.coef(len(path))[10])
        steps = {"steps": len(path), "backward": int(path.backward.sum()) if backward else 0}
        found[name] = {**steps, "entered": entered, "gap": float(apart.max()), "left": left, "x11": weight}
    penalties = float(np.abs(X.T @ y).max()) / y.size * np.geomspace(1.0, 1e-4, 2_000)
    _, exact, _ = lasso_path(X, y, alphas=penalties, tol=1e-9, max_iter=100_000)
    first = [int(np.flatnonzero(row)[0]) if row.any() else penalties.size for row in exact]
    found["lasso"] = {
        "entered": [j + 1 for j in np.argsort(first, kind="stable").tolist() if first[j] < penalties.size]
    }
    found["lasso"]["x11"] = float(exact[10, -1]) + 0.0
    return found


def _steps(task: Task) -> dict[str, Any]:
    X, y = with_x11(task.data)
    unit = paper_unit(task.data)
    lines = []
    for step in STEPS:
        path = boosted_lasso(X, y, step=step / unit, max_steps=MOST)
        apart = gaps(path, X, y)[1]
        lines.append([step, step / unit, len(path), float(apart.max()), float(np.median(apart))])
        task.progress(len(lines), len(STEPS))
    return {"lines": lines}


def _circles(task: Task) -> dict[str, Any]:
    rng = generator(task.seed)
    squares, lengths, orders = 0, [], []
    for done in range(DRAWS):
        path = boosted_lasso(*circles(rng), loss="hinge")
        order = path.entries()[0].tolist()
        squares += set(order[:2]) == {3, 4}
        lengths.append(len(path))
        orders.append([order.index(j) + 1 if j in order else 6 for j in range(5)])
        task.progress(done + 1, DRAWS)
    return {"squares": squares, "steps": float(np.median(lengths)), "places": np.mean(orders, axis=0).tolist()}


def _tables(findings: Findings) -> list[Table]:
    tables = []
    paths, steps = findings.get(("diabetes_lars", "paths")), findings.get(("diabetes_lars", "step sizes"))
    if paths is not None:
        lines: list[list[str | None]] = []
        for name, printed in _PRINTED.items():
            own = paths[name]
            left = "never" if own["left"] is None else f"{own['left']:.2f}"
            order = " ".join(map(str, own["entered"]))
            lines.append([f"{name}, printed", str(printed[0]), str(printed[1]), None, None, None, None])
            counts = [str(own["steps"]), str(own["backward"])]
            lines.append([f"{name}, here", *counts, order, f"{own['gap']:.4f}", left, f"{own['x11']:.3f}"])
        order = " ".join(map(str, paths["lasso"]["entered"]))
        lines.append(["lasso", None, None, order, None, None, f"{paths['lasso']['x11']:.3f}"])
        columns = ("", "steps", "backward", "columns enter", "largest difference", "apart from", "x11 at the end")
        tables.append(Table("Diabetes with x11 = -x7 + x8 + 5 x9", columns, lines))
    if steps is not None:
        cells = [
            [f"{step:g}", f"{own:.5f}", str(int(count)), f"{most:.4f}", f"{middle:.4f}"]
            for step, own, count, most, middle in steps["lines"]
        ]
        heads = ("step, paper's units", "here", "steps", "largest difference", "median over knots")
        tables.append(Table("Difference from the lasso by the size of a step", heads, cells))
    ring = findings.get(("", "two circles"))
    if ring is not None:
        places = [[name, f"{place:.2f}"] for name, place in zip(BASIS, ring["places"], strict=True)]
        title = (
            f"1-norm SVM: both squares first in {ring['squares']} of {DRAWS} draws; {ring['steps']:.0f} steps (median)"
        )
        tables.append(Table(title, ("basis function", "mean place of entry"), places))
    return tables


STUDY = Study(
    "Boosted lasso",
    "Zhao and Yu 2005, sections 7 and 8",
    "paths of the lasso, the boosted lasso and forward stagewise fitting; the 1-norm SVM; the size of a step",
    (
        Piece("diabetes_lars", "paths", _diabetes, 2),
        Piece("diabetes_lars", "step sizes", _steps, 6),
        PIECE,
        Piece("", "two circles", _circles, 2),
    ),
    _tables,
    remarks=(
        "Differences are those of a weight from scikit-learn's lasso at the same penalty, in deviations of the target",
        f"for columns of unit deviation, down to {LEAST:g} of the highest penalty.",
        f"Apart from: the share of the highest penalty at which the difference first exceeds {_APART:g}.",
        "The paper prints 490 steps for its one draw of the two circles, whose step it does not print; 0.01 here.",
        "It prints the order squares, interaction, linear terms; which of the last three is first depends on the draw.",
    ),
    figures=describe,
)
