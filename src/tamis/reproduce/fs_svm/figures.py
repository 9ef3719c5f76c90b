"""Figures 1, 2 and 4 of Lal, Chapelle and Schölkopf (2006) on ARCENE, and the errors of Tables 2 and 3."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tamis import scores
from tamis.data.dataset import Dataset
from tamis.reporting.figure_description import Axis, Bars, Figure, Mark, Panel, Series
from tamis.reproduce.framework.challenge_table import Entry, ber_figure
from tamis.reproduce.framework.figures import SIZE, log_axis, scatter
from tamis.reproduce.framework.study import Findings, Piece, Task
from tamis.reproduce.framework.table import Row
from tamis.reproduce.fs_svm.entries import TABLE_2, TABLE_3, own
from tamis.validation.whole import validate

#: Costs of a slack in Figure 1, and numbers of features in Figure 4; those of the paper are not printed.
COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
SIZES = (10, 20, 50, 100, 200, 500, 1000, 1500, 2000, 3000, 4000, 4700, 6000, 8000, 10000)

#: The number of features that the paper took from Figure 4.
CHOSEN = 4700

#: Folds of Figures 1 and 4, and intervals of the histogram in Figure 2.
_FOLDS = {"figure_1": 20, "figure_4": 10}
_BINS = 50

_DATA = "arcene"


def train_rows(data: Dataset) -> Dataset:
    """The train rows; all rows, when there is no official split."""
    return data if data.split is None else data.rows(np.asarray(data.split) == "train")


def by_cost(task: Task, costs: Sequence[float] = COSTS) -> dict[str, Any]:
    """Error of a linear SVM over 20 folds for each cost."""
    return _errors([(cost, f"rms_norm | svm(linear, C={cost:g})") for cost in costs], _FOLDS["figure_1"], task)


def by_size(task: Task, sizes: Sequence[int] = SIZES) -> dict[str, Any]:
    """Error of a hard-margin linear SVM over 10 folds for each number of best features, ranked anew in every fold."""
    known = [size for size in sizes if size <= task.data.n_features]
    recipes = [(size, f"rms_norm | fisher({size}) | svm(linear, C=inf)") for size in known]
    return _errors(recipes, _FOLDS["figure_4"], task)


def by_feature(task: Task) -> dict[str, Any]:
    """Fisher score of each feature, and a histogram of the scores."""
    train = train_rows(task.data)
    each = scores.get("fisher")(train.X, train.y)
    counts, edges = np.histogram(each, bins=_BINS)
    return {"scores": each.tolist(), "counts": counts.tolist(), "edges": edges.tolist()}


def _errors(recipes: Sequence[tuple[float, str]], folds: int, task: Task) -> dict[str, Any]:
    """Shares of rows with their corrected standard errors; the BER stands beside them."""
    train, points = train_rows(task.data), []
    for done, (at, recipe) in enumerate(recipes):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            found = validate(
                recipe,
                train,
                folds=folds,
                repeats=task.repeats,
                metrics=("accuracy", "ber"),
                seed=task.seed,
                n_jobs=task.n_jobs,
                progress=_part(task, done, len(recipes)),
            )
        error, ber = found.estimates["accuracy"], found.estimates["ber"]
        points.append(
            {
                "at": at,
                "recipe": recipe,
                "error": 1.0 - error.mean,
                "error_se": error.se,
                "ber": ber.mean,
                "ber_se": ber.se,
                "warnings": sorted({str(w.message) for w in warned}),
            }
        )
    return {"rows": train.n_rows, "features": train.n_features, "times": task.repeats, "points": points}


def _part(task: Task, done: int, of: int) -> Callable[[float, float], None]:
    """The progress of one of several validations."""
    return lambda now, total: task.progress(done + now / total, of)


PIECES = (
    Piece(_DATA, "Figure 1: error by C", by_cost, 60, repeated=True, drawn=True),
    Piece(_DATA, "Figure 2: scores", by_feature, drawn=True),
    Piece(_DATA, "Figure 4: error by features", by_size, 60, repeated=True, drawn=True),
)


def describe(rows: Sequence[Row], findings: Findings) -> list[Figure]:
    """Describe the figures for which there are findings."""
    drawn: list[Figure] = []
    for piece, describe in zip(PIECES, (_figure_1, _figure_2, _figure_4), strict=True):
        if found := findings.get((piece.data, piece.name)):
            drawn += describe(found)
    for number, split, printed in ((2, "official", TABLE_2), (3, "pooled", TABLE_3)):
        drawn += _entry_figure(number, printed, own(rows, findings, split))
    return drawn


def _entry_figure(number: int, printed: Mapping[str, Entry], here: Mapping[str, Any]) -> list[Figure]:
    words = "valid rows" if number == 2 else "folds over train and valid rows"
    groups = {
        "printed, test rows": {name: entry.ber for name, entry in printed.items()},
        f"here, {words}": {name: 100 * one.ber for name, one in here.items()},
    }
    return ber_figure(f"table_{number}", f"Table {number}: BER of the entry", "Ours are not on the test rows.", groups)


def _points(found: Mapping[str, Any], hover: str) -> list[Mark]:
    """A line with a band, and a ring around the points at which the classes overlap."""
    points = found["points"]
    x, y = [point["at"] for point in points], [100 * point["error"] for point in points]
    se = [100 * point["error_se"] for point in points]
    marks: list[Mark] = [
        Series(x, y, line=True, points=True, size=7.0, reach=se, colour=0, label="error, %", hover=hover)
    ]
    known = [place for place, point in enumerate(points) if point["warnings"]]
    if known:
        ring = np.array([[x[place], y[place]] for place in known])
        label = "the classes overlap in some folds"
        marks.append(scatter(ring, label, "ink", size=13.0, shape="circle-open"))
    return marks


def _times(found: Mapping[str, Any]) -> str:
    times = "once" if found["times"] == 1 else f"{found['times']} times"
    return f"drawn {times} on {found['rows']} training rows; the band is a corrected standard error"


def _error_axis(found: Mapping[str, Any]) -> Axis:
    return Axis("cross-validated error, %", limits=(0.0, None))


def _figure_1(found: Mapping[str, Any]) -> list[Figure]:
    x = log_axis("C, the cost of a slack", [point["at"] for point in found["points"]])
    marks = _points(found, "C %{x}: %{y:.1f} %")
    caption = f"Linear SVM on all {found['features']} features, 20 folds {_times(found)}."
    return [Figure("figure_1", "Figure 1: error against C", caption, SIZE, [Panel(x, _error_axis(found), marks[:1])])]


def _figure_2(found: Mapping[str, Any]) -> list[Figure]:
    every, edges = found["scores"], np.array(found["edges"])
    many = list(range(1, len(every) + 1))
    each = Series(many, every, points=True, size=3.0, colour=0, hover="feature %{x}: %{y:.3f}")
    hover = "score near %{x:.3f}: %{y} features"
    counts = Bars(
        ((edges[:-1] + edges[1:]) / 2).tolist(),
        found["counts"],
        width=float(edges[1] - edges[0]),
        colour=0,
        hover=hover,
    )
    above = Panel(Axis("feature, by its number"), Axis("Fisher score"), [each])
    below = Panel(Axis("Fisher score"), log_axis("features", [1, *found["counts"]]), [counts])
    caption = "Few features score high. Features have a logarithmic scale, unlike the paper's."
    return [
        Figure("figure_2a", "Figure 2, above: score of each feature", "Few features score high.", SIZE, [above]),
        Figure("figure_2b", "Figure 2, below: histogram of the scores", caption, SIZE, [below]),
    ]


def _figure_4(found: Mapping[str, Any]) -> list[Figure]:
    marks = _points(found, "%{x} features: %{y:.1f} %")
    if any(point["at"] == CHOSEN for point in found["points"]):
        top = max(100 * (point["error"] + point["error_se"]) for point in found["points"])
        choice = f"the paper's choice, {CHOSEN}"
        marks.append(Series([CHOSEN, CHOSEN], [0.0, top], line=True, dotted=True, colour=5, label=choice))
    x = log_axis("number of best features", [point["at"] for point in found["points"]])
    caption = f"Hard margin, features ranked in each of 10 folds {_times(found)}. There is none where classes overlap."
    title = "Figure 4: error against the number of features"
    return [Figure("figure_4", title, caption, SIZE, [Panel(x, _error_axis(found), marks)])]
