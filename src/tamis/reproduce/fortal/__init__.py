"""Souza, Japkowicz and Matwin (2005), "Feature selection with a general hybrid algorithm": FortalFS and its rivals.

Columns are selected from one half of the rows, by filters, wrappers and FortalFS, and evaluated by cross-validation on
the other half, which no selection sees.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from tamis.reproduce.fortal.algorithms import ALGORITHMS, FOCUS_SETS, FRAMEWORK, FRAMEWORK_LEARNERS, LEARNERS
from tamis.reproduce.fortal.experiment import combine, compare
from tamis.reproduce.fortal.printed import DATA
from tamis.reproduce.fortal.tables import FRAMEWORK_PIECE, figures, tables
from tamis.reproduce.framework.study import Piece, Study

#: Small data sets on which every filter is combined with every learner.
_COMBINED = ("labor", "vote", "lymph", "ionosphere")


def _pieces() -> Iterator[Piece]:
    for data, (n_features, _) in DATA.items():
        for learner in LEARNERS:
            # Random wrappers draw as many sets as the square of the features.
            yield Piece(data, learner, partial(compare, learner), n_features**2)
        if data in _COMBINED:
            yield Piece(data, FRAMEWORK_PIECE, combine, n_features**2)


def _brief(found: Mapping[str, Any]) -> str:
    if "cells" in found:
        return f"{len(FRAMEWORK) * len(FRAMEWORK_LEARNERS)} combinations"
    own = found["algorithms"]["FS10"]
    return f"{ALGORITHMS['FS10'].name} {100 * sum(own['accuracy']) / len(own['accuracy']):.1f} %"


STUDY = Study(
    "FortalFS",
    "Souza, Japkowicz and Matwin 2005, Figures 2 to 4, Tables 1 and 2",
    "accuracy, features and time of FortalFS beside filters and wrappers, with three learners",
    tuple(_pieces()),
    tables,
    remarks=(
        "Columns are selected from one half of the rows; accuracy is that of five folds over the other half.",
        "The halves are stratified and drawn once, as in the paper; all algorithms get the same.",
        "FFS: the best of FS10, FS8 and FS6 in each experiment by the testing half, and so a little too good.",
        "t-test: Student's, paired over the five folds. Corrected: for the training rows that folds share.",
        "The head of the printed Table 2 has 0.001, 0.005 and 0.01; the text counts the same at 0.01 and 0.1.",
        "Of Figures 2 to 4, which are drawings, only what the text says of them is known.",
        "Best first and genetic search score sets by CFS; the paper does not say. Relief is ReliefF, ten neighbours.",
        f"LVF draws 77·N sets, not 77·N^5. Focus evaluates at most {FOCUS_SETS} sets; it is cut short otherwise.",
        "k-NN: five neighbours; missing values are imputed. naive Bayes: Gaussian, states of nominal columns.",
        "CPU minutes: those of the selection alone, over all experiments; filters run anew for each learner.",
        "The colic data at hand has 22 columns, that of the paper 23.",
    ),
    brief=_brief,
    figures=figures,
)
