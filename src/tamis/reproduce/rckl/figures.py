"""Figures 1 and 2 of Boulis and Ostendorf (2005) on public documents: accuracy with and without bigrams."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tamis.reporting.figure_description import Axis, Figure
from tamis.reproduce.framework.figures import Curve, curves

_FIGURES = {"NB": (1, "naive Bayes"), "SVM": (2, "SVM")}

_CAPTION = "As the figures, whose Fisher corpus is not public. Dotted: the table's printed accuracies."


def accuracy_figure(
    data: str,
    kind: str,
    words: Sequence[str],
    bigrams: Sequence[int],
    printed: Sequence[Sequence[float | None]],
    found: Sequence[Sequence[Sequence[float] | None]],
) -> Figure:
    """Describe accuracy by the number of bigrams, a line for each number of words; `found` holds the folds."""
    number, name = _FIGURES[kind]
    own: dict[str, Curve] = {}
    thousands = [size / 1000 for size in bigrams]
    for place, label in enumerate(words):
        if any(one is not None for one in found[place]):
            here = [None if one is None else 100 * float(np.mean(one)) for one in found[place]]
            own[f"{label} words"] = Curve(thousands, here, colour=place)
            own[f"{label} words, printed"] = Curve(thousands, printed[place], colour=place, printed=True)
    axes = Axis("bigrams, thousands"), Axis("accuracy, %")
    return curves(f"{data}_{kind}", f"In the manner of Figure {number}: {name}, {data}", _CAPTION, *axes, own)


def folds(accuracy: Mapping[str, Any], cells: Sequence[Any]) -> list[Sequence[float] | None]:
    """The folds of each cell, None for one that was not run."""
    return [accuracy.get(str(cell)) for cell in cells]
