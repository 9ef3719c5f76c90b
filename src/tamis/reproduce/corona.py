"""Figures 2 to 4 and Table 2 of Yang, Yoon and Shahabi (2005), "A supervised feature subset selection technique ...".

None of the paper's data is public. What it compares is run on five public sets of time series: elimination by
correlations, elimination and Fisher's criterion on autoregressions of order 3, all variables, and every subset where
there are few. Machines, C = 1 and scaled columns are those of e1071, which the paper used.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from tamis.base.selector import Selection, Selector
from tamis.classify.svm.svm import SVM
from tamis.data.dataset import Dataset
from tamis.reporting.figure_description import Axis, Colour, Figure
from tamis.reproduce.framework.figures import Curve, bars, curves, log_axis
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task
from tamis.scores import fisher
from tamis.select.corona import Corona
from tamis.series.exhaustive import every_subset
from tamis.series.series import Series
from tamis.transform.standardize import Standardize
from tamis.validation.many import validate_many

#: Coefficients of each variable, as in the paper.
ORDER = 3

#: Data sets with their numbers of variables.
SETS = {"bci2_datasetIV_finger": 28, "BasicMotions": 6, "JapaneseVowels": 12, "ERing": 4, "Libras": 2}

#: Variables up to which every subset is evaluated.
_FEW = 6

#: The paper's own data: best variables, accuracy with them and with all; seconds of Corona, RFE and FC (Table 2).
_PRINTED = (
    (
        "HumanGait",
        "66",
        "Corona: 27 variables 100 %, 11 as good as all, 99.07 %; AR(3), all: about 55 %",
        422.7,
        962.1,
        113.9,
    ),
    (
        "BCAR",
        "11",
        "Corona: 4 variables as good as all, about 98 %; 5 reach 100 % in two of four conditions",
        0.2,
        9.0,
        6.5,
    ),
    ("BCI MPI", "39", "Corona: 17 variables 75.45 %; the 17 that experts chose 73.65 %", 473.0, 7886.8, 7594.9),
)


class FisherVariables(Selector):
    """The `k` variables with the largest mean of Fisher's criterion over their `columns` neighbouring columns each."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def __init__(self, k: int = 2, columns: int = ORDER) -> None:
        self.k = k
        self.columns = columns

    def _select(self, X: Any, y: Any) -> Selection:
        # A column that is constant within the classes has an infinite score.
        scores = np.nan_to_num(fisher(X, y), posinf=1e300).reshape(-1, self.columns).mean(axis=1)
        order = np.argsort(-scores, kind="stable")
        support = np.zeros(scores.size, dtype=bool)
        support[order[: self.k]] = True
        return Selection(np.repeat(support, self.columns), np.repeat(scores, self.columns))


def _elimination(k: int) -> Pipeline:
    return make_pipeline(Standardize(), Corona(k), SVM("linear"))


def _own_elimination(k: int) -> Pipeline:
    return make_pipeline(Standardize(), Corona(k, columns=ORDER, aggregate="mean"), SVM("linear"))


def _ranking(k: int) -> Pipeline:
    return make_pipeline(Standardize(), FisherVariables(k), SVM("linear"))


def _correlations(series: Series) -> Dataset:
    return series.correlations()


def _coefficients(series: Series) -> Dataset:
    return series.autoregression(ORDER)


#: The ways to choose, with the table that each works on.
WAYS = {
    "Corona": (_correlations, _elimination),
    "AR(3) + RFE": (_coefficients, _own_elimination),
    "AR(3) + Fisher criterion": (_coefficients, _ranking),
}


def _curve(way: str, task: Task) -> dict[str, Any]:
    """Accuracy for every number of variables, and the seconds for the table and the path."""
    make, model = WAYS[way]
    start = perf_counter()
    table = make(task.data)
    vectorised = perf_counter() - start
    sizes = list(range(2, task.data.n_variables + 1))
    found = validate_many(
        [model(size) for size in sizes],
        table,
        repeats=task.repeats,
        metrics="accuracy",
        seed=task.seed,
        n_jobs=task.n_jobs,
        progress=lambda done, total: task.progress(0.9 * done / total, 1.0),
    )
    start = perf_counter()
    model(2)[:-1].fit(table.X, table.y)
    path = perf_counter() - start
    values = [one.summary()["accuracy"] for one in found]
    return {
        "sizes": sizes,
        "accuracy": [one.mean for one in values],
        "se": [one.se for one in values],
        "table_seconds": vectorised,
        "path_seconds": path,
    }


def _subsets(task: Task) -> dict[str, Any]:
    """Accuracy of the best, the mean and the worst subset of every size."""
    found = every_subset(task.data, seed=task.seed)
    return {
        "sizes": [*found],
        **{name: [1.0 - getattr(one, name) for one in found.values()] for name in ("best", "mean", "worst")},
    }


def _pieces() -> tuple[Piece, ...]:
    pieces = []
    for name, n_variables in SETS.items():
        pieces += [Piece(name, way, partial(_curve, way), n_variables, repeated=True) for way in WAYS]
        if n_variables <= _FEW:
            pieces.append(Piece(name, "every subset", _subsets))
    return tuple(pieces)


def _tables(findings: Findings) -> list[Table]:
    found = [
        Table(
            f"{name}: {SETS[name]} variables, accuracy in percent",
            ("", "best (variables)", "all variables", "fewest as good as all", "half of them", "table, s", "path, s"),
            lines,
        )
        for name in SETS
        if (lines := _lines(name, findings))
    ]
    if not found:
        return []
    printed = [[name, size, what, *(f"{one:.1f}" for one in seconds)] for name, size, what, *seconds in _PRINTED]
    columns = ("", "variables", "printed", "Corona, s", "RFE, s", "FC, s")
    title = "Printed, on data that are not public (HumanGait, BCAR, BCI MPI)"
    return [*found, _curves(findings), Table(title, columns, printed, words=3)]


def _lines(name: str, findings: Findings) -> list[list[str | None]]:
    lines: list[list[str | None]] = []
    for way in WAYS:
        if (one := findings.get((name, way))) is not None:
            seconds = [f"{one['table_seconds']:.2f}", f"{one['path_seconds']:.2f}"]
            lines.append([way, *_summary(one["sizes"], one["accuracy"]), *seconds])
    if (one := findings.get((name, "every subset"))) is not None:
        lines.append(["best of every subset (optimistic)", *_summary(one["sizes"], one["best"]), None, None])
        lines.append(["mean of every subset", *_summary(one["sizes"], one["mean"]), None, None])
    return lines


def _summary(sizes: Sequence[int], accuracy: Sequence[float]) -> list[str]:
    best = int(np.argmax(accuracy))
    fewest = next(size for size, one in zip(sizes, accuracy, strict=True) if one >= accuracy[-1])
    half = next(place for place, size in enumerate(sizes) if size >= sizes[-1] / 2)
    return [
        f"{100 * accuracy[best]:.2f} ({sizes[best]})",
        f"{100 * accuracy[-1]:.2f}",
        str(fewest),
        f"{100 * accuracy[half]:.2f}",
    ]


def _curves(findings: Findings) -> Table:
    """The curves of the figures, at up to twelve sizes."""
    lines: list[list[str | None]] = []
    for name in SETS:
        own = [(way, one) for way in WAYS if (one := findings.get((name, way))) is not None]
        for way, one in own:
            places = np.unique(np.linspace(0, len(one["sizes"]) - 1, 12).round().astype(int))
            text = ", ".join(f"{one['sizes'][i]}: {100 * one['accuracy'][i]:.1f}" for i in places)
            lines.append([name, way, text])
    return Table("Accuracy against the number of variables, percent", ("", "", "variables: accuracy"), lines, words=3)


def _figures(findings: Findings) -> list[Figure]:
    """Figures 2 to 4 on each public set, and the seconds of Table 2."""
    drawn: list[Figure] = []
    for name in SETS:
        own: dict[str, Curve] = {}
        for way in WAYS:
            if (one := findings.get((name, way))) is not None:
                share, se = ([100 * value for value in one[key]] for key in ("accuracy", "se"))
                own[way] = Curve(one["sizes"], share, se)
        if (one := findings.get((name, "every subset"))) is not None:
            tones: dict[str, Colour] = {"best": "ink", "mean": "muted"}
            for key, tone in tones.items():
                share = [100 * value for value in one[key]]
                own[f"{key} of every subset"] = Curve(one["sizes"], share, printed=True, colour=tone)
        if own:
            axes = Axis("variables", "count"), Axis("accuracy, %")
            caption = "As Figures 2 to 4, whose data are not public; the band is a standard error."
            drawn.append(curves(name, f"{name}: accuracy by the number of variables", caption, *axes, own))
    seconds = {
        way: [_path(findings.get((name, way))) for name in SETS]
        for way in WAYS
        if any((n, way) in findings for n in SETS)
    }
    if seconds:
        caption = "Table and path, as in Table 2, on public sets."
        every = [one for values in seconds.values() for one in values]
        axis = log_axis("seconds", every)
        drawn.append(bars("table_2", "Table 2: seconds to select", caption, list(SETS), axis, seconds))
    return drawn


def _path(found: Mapping[str, Any] | None) -> float | None:
    return None if found is None else found["table_seconds"] + found["path_seconds"]


def _brief(found: Mapping[str, Any]) -> str:
    values = found.get("accuracy") or found["best"]
    return f"best accuracy {100 * max(values):.1f} %"


STUDY = Study(
    "Corona",
    "Yang, Yoon and Shahabi 2005, Figures 2 to 4 and Table 2",
    "variables of time series selected by correlations and by autoregressions, on public sets",
    _pieces(),
    _tables,
    remarks=(
        "HumanGait, BCAR and BCI MPI are not public, so that no printed figure can stand beside one of ours.",
        "Accuracy: the mean over 10 stratified folds of all items, with variables selected within each fold.",
        "The paper seems to select on all items first. The best size of a curve is optimistic for all ways alike.",
        "Every subset is evaluated on one draw of the folds; the best of them was chosen by those folds.",
        "Table: seconds to turn items into rows. Path: one elimination of all numbers of variables, on all items.",
    ),
    brief=_brief,
    figures=_figures,
)
