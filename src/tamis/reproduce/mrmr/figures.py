"""Figures 1 and 2 of Peng and Ding (2005), and the errors of Tables 3 and 4 as curves."""

from typing import Any

import numpy as np

from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset
from tamis.reporting.figure_description import Axis, Figure
from tamis.reproduce.framework.figures import Curve, curves
from tamis.reproduce.framework.study import Findings, Piece, Task
from tamis.reproduce.mrmr import child_leukemia

#: The data set of Figure 1, and the genes that it draws.
DATA = "nci60_mrmr"
_GENES = 60

#: The multi-class sets of Figure 2, and the classifiers whose errors it averages.
_SETS = {"nci60_mrmr": "NCI", "lymphoma_mrmr": "lymphoma", "lung_mrmr": "lung cancer"}
_CLASSIFIERS = ("NB", "SVM", "LDA")

_SELECTIONS = ("baseline", "MID", "MIQ")
_ERROR = Axis("errors, % of the rows", limits=(0.0, None))


def information(X: FloatArray) -> FloatArray:
    """The mutual information of all pairs of columns of states, in bits; on the diagonal their entropies.

    Examples
    --------
    >>> information(np.array([[0.0, 1], [0, 1], [1, 2], [1, 1]])).round(3)
    array([[1.   , 0.311],
           [0.311, 0.811]])
    """
    states = np.unique(X)
    of_state = (X[:, :, None] == states).reshape(X.shape[0], -1).astype(np.float64)
    joint, alone = of_state.T @ of_state / X.shape[0], of_state.mean(axis=0)
    expected = np.outer(alone, alone)
    terms = np.zeros_like(joint)
    there = joint > 0
    terms[there] = joint[there] * np.log2(joint[there] / expected[there])
    sides = (X.shape[1], states.size)
    found: FloatArray = terms.reshape(*sides, *sides).sum(axis=(1, 3))
    return found


def _curves(task: Task) -> dict[str, Any]:
    """Relevance V and redundancy W of the first genes of each selection."""
    data: Dataset = task.data
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    codes = np.unique(y, return_inverse=True)[1].astype(np.float64)
    found: dict[str, Any] = {"relevance": {}, "redundancy": {}}
    for way in _SELECTIONS:
        order = child_leukemia.selected(way, X, y, min(_GENES, X.shape[1]))
        pairs = information(np.column_stack([X[:, order], codes]))
        count = np.arange(1, order.size + 1)
        found["relevance"][way] = (np.cumsum(pairs[:-1, -1]) / count).round(6).tolist()
        # Eq. 1 has the pairs of a gene with itself, too.
        found["redundancy"][way] = [float(pairs[:k, :k].mean().round(6)) for k in count]
    return found


PIECE = Piece(DATA, "Figure 1: relevance and redundancy", _curves, drawn=True)


def describe(findings: Findings) -> list[Figure]:
    """Describe the figures for which there are findings."""
    return [*_figure_1(findings), *_figure_2(findings), *_table_3(findings)]


def _figure_1(findings: Findings) -> list[Figure]:
    drawn = []
    if found := findings.get((DATA, PIECE.name)):
        for part, key, words in (("a", "relevance", "relevance V"), ("b", "redundancy", "redundancy W")):
            own = {way: Curve(range(1, 1 + len(y)), y, points=False) for way, y in found[key].items()}
            title, caption = f"Figure 1 ({part}): {words}, NCI", "Mean over the genes so far, in bits."
            drawn.append(curves(f"figure_1{part}", title, caption, Axis("genes"), Axis(words), own))
    if found := findings.get((DATA, "NB")):
        own = _errors(found, _SELECTIONS)
        title = "Figure 1 (c): errors of naive Bayes, NCI"
        drawn.append(curves("figure_1c", title, _CAPTION, Axis("genes"), _ERROR, own))
    return drawn


_CAPTION = "One row is left out at a time. Lines: genes selected from all rows, as printed; dotted: inside the folds."


def _figure_2(findings: Findings) -> list[Figure]:
    """The mean over three classifiers on each set for which all were run."""
    drawn = []
    for data, words in _SETS.items():
        found = [findings.get((data, name)) for name in _CLASSIFIERS]
        known = [one for one in found if one is not None]
        if len(known) == len(_CLASSIFIERS):
            mean = {
                way: {s: np.mean([one["errors"][way][s] for one in known], axis=0) for s in ("baseline", "MIQ")}
                for way in ("all", "inside")
            }
            own = _errors({**known[0], "errors": mean}, ("baseline", "MIQ"))
            title = f"Figure 2: mean errors of {', '.join(_CLASSIFIERS)}, {words}"
            drawn.append(curves(f"figure_2_{data}", title, _CAPTION, Axis("genes"), _ERROR, own))
    return drawn


def _errors(found: Any, selections: tuple[str, ...]) -> dict[str, Curve]:
    own = {}
    for number, name in enumerate(selections):
        for way, label in (("all", name), ("inside", f"{name}, inside the folds")):
            share = [100 * float(one) / found["rows"] for one in found["errors"][way][name]]
            own[label] = Curve(found["sizes"], share, colour=number, printed=way == "inside")
    return own


def _table_3(findings: Findings) -> list[Figure]:
    found = findings.get((child_leukemia.DATA, "Table 3"))
    drawn = []
    for name, printed in child_leukemia.PRINTED.items() if found else ():
        own = {}
        for number, (way, errors) in enumerate(printed.items()):
            here = 100 * np.mean(found["errors"][name][way], axis=0) / found["rows"]  # type: ignore[index]
            share = [100 * one / child_leukemia.PRINTED_ROWS for one in errors]
            own[f"{way}, here"] = Curve(child_leukemia.SIZES, here.tolist(), colour=number)
            own[f"{way}, printed"] = Curve(child_leukemia.SIZES, share, colour=number, printed=True)
        title = f"Table 3: child leukemia, {name}"
        caption = "Printed: seven classes and one split; here: six of them, mean of random splits of the same sizes."
        axis = Axis("errors, % of the test rows", limits=(0.0, None))
        drawn.append(curves(f"table_3_{name}", title, caption, Axis("genes"), axis, own))
    return drawn
