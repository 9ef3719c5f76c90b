"""The table of Fu, Fu and Sarac (2005), "A hybrid cluster tree for variable selection", on data of its kind.

The paper's data, seventeen variables of the nations at the Olympic Games of 1996, is not public. Nations are generated
with the variables that it names, and two public data sets of its size stand beside them.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from tamis.base.feature_tracking import steps_of, used_features
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.types import FloatArray
from tamis.compose.recipe import completed_for, parse
from tamis.data.dataset import Dataset
from tamis.reporting.figure_description import Axis, Figure
from tamis.reproduce.framework.figures import bars
from tamis.reproduce.framework.share import run_shared
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task
from tamis.validation.comparison.paired import corrected_t

#: Nations at the games, and those that won a medal.
_NATIONS, _MEDALS = 197, 79

#: Random divisions of the rows; test rows of all nations: the four printed accuracies are whole numbers of 130, and
#: all but that of stepwise regression are of 65.
_SPLITS, _TESTS = 50, (130, 65)

#: Public sets of like size, divided as the first of these are.
_PUBLIC = ("heart.statlog", "hepatitis")


class _Line(NamedTuple):
    """A line of the table: the recipe, the printed accuracy and the variables of the printed model."""

    recipe: str
    accuracy: float | None = None
    variables: int | None = None


#: The tree of the cluster tree itself, grown on averages.
_OWN_TREE = "cluster_tree"

#: Experiments 1 to 4, then what the paper does not print.
_LINES = {
    "C4.5": _Line("c45", 70.8, 7),
    "stepwise regression": _Line("stepwise | lda(none)", 70.0, 9),
    "stepwise regression + C4.5": _Line("stepwise | c45", 84.6, 5),
    "clustering + C4.5": _Line("cluster_tree | c45", 87.7, 3),
    "clustering, its own tree": _Line(_OWN_TREE),
    "regression on all variables": _Line("lda(none)"),
}

#: The line beside which the others are tested.
_HYBRID = "clustering + C4.5"


def _nations(seed: int) -> Dataset:
    """Nations of some size and development, which decide their seventeen variables and whether they win a medal.

    Sizes, networks and trade are log-normal, as those of real nations are; vital rates go with development, the death
    rate falls and rises again. Two variables say nothing of either. Medals go to the nations with the largest sum of
    size, development and noise, whose shares of the variance are 0.47, 0.3 and 0.23.
    """
    rng = generator(seed)
    size, wealth = rng.normal(size=(2, _NATIONS))

    def mixed(of_size: float, of_wealth: float, noise: float) -> FloatArray:
        found: FloatArray = of_size * size + of_wealth * wealth + noise * rng.normal(size=_NATIONS)
        return found

    columns = {
        "area": np.exp(mixed(1.1, 0.0, 1.3)),
        "population": np.exp(mixed(1.5, 0.0, 0.5)),
        "population growth rate": mixed(0.0, -0.7, 0.6),
        "birth rate": mixed(0.0, -9.0, 3.0),
        "death rate": mixed(0.0, -1.5, 1.5) + 1.2 * wealth**2,
        "infant mortality rate": np.exp(mixed(0.0, -0.9, 0.35)),
        "life expectancy": mixed(0.0, 7.0, 2.5),
        "national product per capita": np.exp(mixed(0.0, 1.1, 0.4)),
        "railroads": np.exp(mixed(1.0, 0.6, 0.9)),
        "highways": np.exp(mixed(1.2, 0.4, 0.7)),
        "airports": np.exp(mixed(0.9, 0.3, 0.8)),
        "electric capacity": np.exp(mixed(1.4, 0.9, 0.5)),
        "imports": np.exp(mixed(1.1, 1.0, 0.5)),
        "exports": np.exp(mixed(1.1, 1.0, 0.6)),
        "merchant ships": np.exp(mixed(0.6, 0.4, 1.5)),
        "arable land": rng.random(_NATIONS),
        "coast": np.exp(rng.normal(size=_NATIONS)),
    }
    strength = mixed(1.0, 0.8, 0.7)
    medal = (strength >= np.sort(strength)[-_MEDALS]).astype(int)
    return Dataset(np.column_stack(list(columns.values())), medal, np.array(list(columns)), "nations")


def _measured(share: float, task: Task) -> dict[str, Any]:
    """Accuracies on the test rows, a share of all, of each division; the variables, and the largest class."""
    tasks = [(task.data, share, spawn(task.seed, number)) for number in range(_SPLITS)]
    found = run_shared(_divided, tasks, task)
    names = list(_LINES)
    return {
        "accuracy": {name: [one[0][place] for one in found] for place, name in enumerate(names)},
        "variables": {name: [one[1][place] for one in found] for place, name in enumerate(names)},
        "columns": found[0][2],
        "largest": float(np.mean([one[3] for one in found])),
    }


def _divided(data: Dataset | None, share: float, seed: int) -> tuple[list[float], list[int], int, float]:
    """Accuracies and numbers of variables of all lines, the number of columns, and the share of the largest class."""
    rows = _nations(spawn(seed, 0)) if data is None else data
    y = np.asarray(rows.y)
    divide = StratifiedShuffleSplit(1, test_size=round(share * y.size), random_state=spawn(seed, 1))
    ((train, test),) = divide.split(y, y)
    found = [_line(one.recipe, rows, train, test, spawn(seed, 2)) for one in _LINES.values()]
    largest = np.unique(y[test], return_counts=True)[1].max() / test.size
    return [right for right, _ in found], [used for _, used in found], rows.n_features, float(largest)


def _line(recipe: str, rows: Dataset, train: np.ndarray, test: np.ndarray, seed: int) -> tuple[float, int]:
    """The accuracy of a recipe on the test rows, and how many variables its model uses."""
    known, new = rows.rows(train), rows.rows(test)
    model = seeded(completed_for(rows, parse(recipe)).build(), seed).fit(known.X, known.y)
    predicted = _predicted_by_averages(model, new.X) if recipe == _OWN_TREE else model.predict(new.X)
    used = used_features(model, rows.n_features)
    return float(np.mean(predicted == np.asarray(new.y))), rows.n_features if used is None else int(used.sum())


def _predicted_by_averages(model: Any, X: Any) -> np.ndarray:
    """The classes that the tree of a fitted cluster tree, grown on averages of rows, gives to rows."""
    *front, selector = steps_of(model)
    for step in front:
        X = step.transform(X)
    predicted: np.ndarray = selector.classes_[selector.tree_.prediction[selector.tree_.leaves(X)]]
    return predicted


def _pieces() -> dict[str, tuple[Piece, float]]:
    """The pieces, with their shares of test rows, by what the table calls their data."""
    found = {}
    for test in _TESTS:
        name = f"nations, {test} test rows"
        found[name] = Piece("", name, partial(_measured, test / _NATIONS)), test / _NATIONS
    for data in _PUBLIC:
        share = _TESTS[0] / _NATIONS
        found[data] = Piece(data, "all experiments", partial(_measured, share)), share
    return found


def _tables(findings: Findings) -> list[Table]:
    lines: list[list[str | None]] = []
    for data, (piece, share) in _pieces().items():
        if (found := findings.get((piece.data, piece.name))) is not None:
            lines += _lines(data, found, None if not piece.data else share / (1.0 - share))
    heads = ("printed accuracy %", "accuracy %", "printed variables", "variables", f"less {_HYBRID}", "p")
    return [Table("Accuracy on test rows, and the variables of the model", ("", "experiment", *heads), lines, words=2)]


def _lines(data: str, found: Mapping[str, Any], test_to_train: float | None) -> list[list[str | None]]:
    """The lines of a data set; without `test_to_train` its rows are generated anew for each division."""
    lines: list[list[str | None]] = []
    for name, (_, printed, variables) in _LINES.items():
        accuracy = np.array(found["accuracy"][name])
        beside = printed is not None and test_to_train is None
        less: list[str | None] = [None, None]
        if name != _HYBRID:
            test = corrected_t(accuracy - found["accuracy"][_HYBRID], test_to_train or 0.0)
            less = [f"{100 * test.mean:+.1f}", f"{test.pvalue:.3f}"]
        spread = f"{100 * accuracy.mean():.1f} ± {100 * accuracy.std(ddof=1):.1f}"
        used = f"{np.mean(found['variables'][name]):.1f} of {found['columns']}"
        lines.append([data, name, f"{printed:.1f}" if beside else None, spread])
        lines[-1] += [str(variables) if beside else None, used, *less]
    return [*lines, [data, "the largest class", None, f"{100 * found['largest']:.1f}", None, "0", None, None]]


def _figures(findings: Findings) -> list[Figure]:
    """The two columns of the table as bars."""
    found = {data: one for data, (p, _) in _pieces().items() if (one := findings.get((p.data, p.name)))}
    if not found:
        return []
    accuracy: dict[str, list[float | None]] = {"printed": [line.accuracy for line in _LINES.values()]}
    used: dict[str, list[float | None]] = {"printed": [line.variables for line in _LINES.values()]}
    for data, one in found.items():
        accuracy[data] = [100 * float(np.mean(one["accuracy"][name])) for name in _LINES]
        used[data] = [float(np.mean(one["variables"][name])) for name in _LINES]
    caption = "Printed: on the paper's data, which is not public."
    axis = Axis("accuracy on test rows, %", limits=(40.0, 100.0))
    return [
        bars("accuracy", "The table: accuracy", caption, list(_LINES), axis, accuracy),
        bars("variables", "The table: variables of the model", caption, list(_LINES), Axis("variables"), used),
    ]


STUDY = Study(
    "Hybrid cluster tree",
    "Fu, Fu and Sarac 2005, its table",
    "C4.5 behind clusters of rows, behind stepwise regression and alone, on stand-ins for the paper's data",
    tuple(piece for piece, _ in _pieces().values()),
    _tables,
    figures=_figures,
    remarks=(
        "The paper's data is not public, and no figure here is on it.",
        "Nations are generated: the variables that the paper names, three more, and two classes, a medal or none.",
        "The paper prints neither classes nor the number of rows. 197 nations were at the games, and 79 won medals.",
        "All printed accuracies are whole numbers of 130 test rows, and three of four are of 65. Both are run.",
        "Printed variables are those that C4.5 leaves. The levels of stepwise regression, 0.05 and 0.1, are ours.",
        f"Mean and deviation over {_SPLITS} random divisions, all fitted on training rows; nations are new in each.",
        "p: paired t-test of the difference, corrected where divisions share rows (Nadeau and Bengio 2003).",
        "Regressions classify by LDA, whose direction is that of least squares. Its own tree is grown on the averages.",
        *(f"{name}: {line.recipe}" for name, line in _LINES.items()),
    ),
    brief=lambda found: f"{_HYBRID} {100 * np.mean(found['accuracy'][_HYBRID]):.1f} %",
)
