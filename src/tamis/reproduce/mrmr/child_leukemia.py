"""Table 3 of Peng and Ding (2005): errors on child leukemia, genes selected without the rows that test them.

The set at hand lacks the class "Others", 79 of the paper's 327 rows, and which rows were test rows. So rows are drawn
for both parts, as many of each class as in the paper, several times.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tamis.base.cut import rank
from tamis.base.seeds import generator
from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.reproduce.framework.study import Findings, Piece, Table, Task

DATA = "child_leukemia"

#: Numbers of genes.
SIZES = (3, 6, 9, 12, 15, 18, 24, 30, 40, 50, 60, 70, 80, 90, 100)

#: Test rows of each class in the paper.
_TEST = {"BCR-ABL": 6, "E2A-PBX1": 9, "Hyperdip>50": 22, "MLL": 6, "T-ALL": 15, "TEL-AML": 27}

#: Draws of the two parts.
_DRAWS = 10

_STATES = "discretize(sigma)"
_SELECTIONS = ("baseline", "MID", "MIQ")

#: Errors of the paper's 112 test rows.
PRINTED_ROWS = 112
PRINTED = {
    "LDA": {
        "baseline": (55, 47, 46, 38, 34, 27, 19, 28, 22, 19, 15, 14, 11, 8, 8),
        "MID": (50, 43, 32, 29, 30, 29, 22, 15, 13, 10, 10, 9, 7, 8, 9),
        "MIQ": (43, 43, 34, 27, 23, 21, 18, 16, 11, 11, 6, 4, 6, 6, 4),
    },
    "SVM": {
        "baseline": (56, 55, 49, 37, 33, 33, 27, 35, 29, 30, 23, 20, 18, 14, 13),
        "MID": (45, 42, 33, 33, 25, 25, 29, 25, 26, 22, 20, 13, 10, 12, 9),
        "MIQ": (38, 30, 34, 33, 27, 26, 24, 21, 14, 15, 17, 10, 7, 11, 9),
    },
}


def parts(y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw training and test rows, the test rows of each class as many as in the paper."""
    test = np.concatenate([rng.permutation(np.flatnonzero(y == name))[:count] for name, count in _TEST.items()])
    return np.setdiff1d(np.arange(y.size), test), np.sort(test)


def _errors(classifiers: dict[str, str], task: Task) -> dict[str, Any]:
    """Errors of each classifier and selection at each number of genes, in every draw."""
    data: Dataset = task.data
    y = np.asarray(data.y).astype(str)
    found: dict[str, Any] = {name: {way: [] for way in _SELECTIONS} for name in classifiers}
    for draw in range(_DRAWS):
        train, test = parts(y, generator(task.seed, draw))
        cut = parse(_STATES).build().fit(data.X[train], y[train])
        known, new = cut.transform(data.X[train]), cut.transform(data.X[test])
        for way in _SELECTIONS:
            order = selected(way, known, y[train], SIZES[-1])
            for name, recipe in classifiers.items():
                model = parse(recipe).build()
                found[name][way].append([_wrong(model, known, y[train], new, y[test], order[:k]) for k in SIZES])
        task.progress(draw + 1, _DRAWS)
    return {"rows": len(test), "sizes": list(SIZES), "errors": found}


def selected(way: str, X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """The first k genes that a selection takes: those of fewer genes are the first of them."""
    if way == "baseline":
        return rank(parse("mi(1)").build().fit(X, y).scores_)[:k]
    chosen: np.ndarray = parse(f"mrmr({k}, criterion={way.lower()})").build().fit(X, y).chosen_
    return chosen


def _wrong(
    model: Any, known: np.ndarray, y: np.ndarray, new: np.ndarray, truth: np.ndarray, columns: np.ndarray
) -> int:
    return int(np.sum(model.fit(known[:, columns], y).predict(new[:, columns]) != truth))


def piece(classifiers: dict[str, str]) -> Piece:
    """The piece of the table, with some classifiers by name."""
    return Piece(DATA, "Table 3", partial(_errors, classifiers), 2 * _DRAWS)


def lowest(findings: Findings, classifier: str, ways: Sequence[str]) -> float | None:
    """The lowest mean error over the numbers of genes, in percent."""
    found = findings.get((DATA, "Table 3"))
    if found is None or classifier not in found["errors"]:
        return None
    return min(float(_means(found, classifier, way).min()) for way in ways)


def table_3(findings: Findings) -> list[Table]:
    """Return Table 3 in percent, with naive Bayes, which the paper has in Table 5 alone."""
    found = findings.get((DATA, "Table 3"))
    if found is None:
        return []
    lines: list[list[str | None]] = []
    for classifier in found["errors"]:
        for way in _SELECTIONS:
            if classifier in PRINTED:
                printed = [100 * errors / PRINTED_ROWS for errors in PRINTED[classifier][way]]
                lines.append([f"{classifier}, {way}, printed", *(f"{one:.1f}" for one in printed)])
            lines.append([f"{classifier}, {way}, here", *(f"{one:.1f}" for one in _means(found, classifier, way))])
    title = (
        f"Table 3: errors on child leukemia by number of genes, percent; printed: {PRINTED_ROWS} test rows of seven"
        f" classes, here: {found['rows']} of six, mean of {_DRAWS} draws"
    )
    return [Table(title, ("", *map(str, found["sizes"])), lines)]


def _means(found: Any, classifier: str, way: str) -> np.ndarray:
    return 100 * np.mean(found["errors"][classifier][way], axis=0) / found["rows"]
