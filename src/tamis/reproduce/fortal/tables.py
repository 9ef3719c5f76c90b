"""The tables and figures of the paper, made of what was found."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tamis.reporting.figure_description import Axis, Figure
from tamis.reproduce.fortal.algorithms import (
    ALGORITHMS,
    BEST_SETTING,
    FRAMEWORK,
    FRAMEWORK_LEARNERS,
    LEARNERS,
    SETTINGS,
)
from tamis.reproduce.fortal.experiment import FOLDS
from tamis.reproduce.fortal.printed import BEST, DATA, FEATURES, HYBRIDS, LEVELS, SCORES
from tamis.reproduce.framework.figures import bars, log_axis
from tamis.reproduce.framework.study import Findings, Table
from tamis.validation.comparison.paired import corrected_t

#: Name of the piece that combines filters and learners.
FRAMEWORK_PIECE = "filters x learners"

#: Means of accuracies that differ by less are equal.
_EQUAL = 1e-12

#: Test rows for each training row in the folds, by which the corrected test is stricter than Student's.
_CORRECTION = 1 / (FOLDS - 1)


class Experiment(NamedTuple):
    """A data set with a learner: the findings of every algorithm, and of the best setting of FortalFS."""

    data: str
    learner: str
    n_features: int
    found: Mapping[str, Mapping[str, Any]]

    def mean(self, name: str) -> float:
        """Return the mean accuracy of an algorithm over the folds."""
        return float(np.mean(self.found[name]["accuracy"]))


def tables(findings: Findings) -> list[Table]:
    """Return the tables of all experiments that were run."""
    found = _experiments(findings)
    return [
        _overall(found),
        _scores(found, BEST_SETTING, "Table 2: experiments that the best setting of FortalFS wins x loses"),
        _scores(found, SETTINGS[0], f"The same for {ALGORITHMS[SETTINGS[0]].name} alone", printed=False),
        _accuracies(found),
        _framework(findings),
    ]


def _experiments(findings: Findings) -> list[Experiment]:
    pairs = [(data, learner) for data in DATA for learner in LEARNERS if (data, learner) in findings]
    experiments = []
    for data, learner in pairs:
        found = findings[data, learner]
        one = Experiment(data, learner, found["n_features"], found["algorithms"])
        # max takes the first of equals, that with the most draws.
        best = one.found[max(SETTINGS, key=one.mean)]
        experiments.append(one._replace(found={**one.found, BEST_SETTING: best}))
    return experiments


def _overall(experiments: Sequence[Experiment]) -> Table:
    """Figures 2 to 4: how often each algorithm is best, what it selects, and how long it takes."""
    lines: list[list[str | None]] = []
    total = sum(one.n_features for one in experiments)
    best = [max(one.mean(name) for name in ALGORITHMS) for one in experiments]
    for name in (BEST_SETTING, *ALGORITHMS) if experiments else ():
        single = name in ALGORITHMS
        own = [one.found[name] for one in experiments]
        wins = sum(one.mean(name) >= most - _EQUAL for one, most in zip(experiments, best, strict=True))
        share = sum(len(one["columns"]) for one in own) / total
        early = sum(not one["complete"] for one in own)
        lines.append(
            [
                name,
                ALGORITHMS[name].name if single else "FortalFS, best setting",
                str(BEST[name]) if name in BEST else None,
                str(wins),
                f"{100 * np.mean([one.mean(name) for one in experiments]):.2f}",
                FEATURES.get(name),
                f"{100 * share:.2f}",
                f"{sum(one['seconds'] for one in own) / 60:.2f}" if single else None,
                str(early) if early else None,
            ]
        )
    columns = ("", "algorithm", "best, printed", "best, here", "accuracy %", "features %, printed", "features %, here")
    title = f"Figures 2 to 4: experiments of {len(experiments)} that are won or tied, features, and time"
    return Table(title, (*columns, "CPU minutes", "cut short"), lines, words=2)


def figures(findings: Findings) -> list[Figure]:
    """Return Figures 2 to 4: what the first table has in columns."""
    found = _experiments(findings)
    if not found:
        return []
    names = [BEST_SETTING, *ALGORITHMS]
    best = [max(one.mean(name) for name in ALGORITHMS) for one in found]
    wins = [sum(one.mean(n) >= most - _EQUAL for one, most in zip(found, best, strict=True)) for n in names]
    total = sum(one.n_features for one in found)
    share = [100 * sum(len(one.found[n]["columns"]) for one in found) / total for n in names]
    minutes = [sum(one.found[n]["seconds"] for one in found) / 60 for n in ALGORITHMS]
    printed = {name: float(text) for name, text in FEATURES.items() if text[0].isdigit()}
    about = f"The {len(found)} experiments that were run; printed is what the text says of the drawing."
    groups: dict[str, Sequence[float | None]] = {"printed": [BEST.get(name) for name in names], "here": wins}
    shares: dict[str, Sequence[float | None]] = {"printed": [printed.get(name) for name in names], "here": share}
    axes = Axis("experiments", "count"), log_axis("CPU minutes", minutes), Axis("% of the features")
    return [
        bars("figure_2", "Figure 2: experiments won or tied", about, names, axes[0], groups),
        bars("figure_3", "Figure 3: time", about, list(ALGORITHMS), axes[1], {"here": minutes}),
        bars("figure_4", "Figure 4: features selected", about, names, axes[2], shares),
    ]


def _scores(experiments: Sequence[Experiment], name: str, title: str, *, printed: bool = True) -> Table:
    """Table 2: how often an algorithm wins and loses against each rival, by the p-value of the difference."""
    lines: list[list[str | None]] = []
    for rival, scores in SCORES.items() if experiments else ():
        if printed:
            lines.append([f"{ALGORITHMS[rival].name}, printed", *_cells(np.array(scores), len(DATA) * len(LEARNERS))])
        for test, correction in (("t-test", 0.0), ("corrected t-test", _CORRECTION)):
            counts = np.zeros((len(LEVELS) + 1, 2), dtype=int)
            for one in experiments:
                differences = np.subtract(one.found[name]["accuracy"], one.found[rival]["accuracy"])
                if abs(differences.mean()) > _EQUAL:
                    level = int(np.searchsorted(LEVELS, corrected_t(differences, correction).pvalue, side="right"))
                    counts[level, int(differences.mean() < 0)] += 1
            lines.append([f"{ALGORITHMS[rival].name}, {test}", *_cells(counts, len(experiments))])
    heads = (*(f"p < {level:g}" for level in LEVELS), f"p > {LEVELS[-1]:g}", "all", "ties")
    return Table(title, ("against", *heads), lines)


def _cells(counts: np.ndarray, total: int) -> list[str]:
    """Wins x losses by level and in all, and the rest."""
    return [f"{won} x {lost}" for won, lost in (*counts, counts.sum(axis=0))] + [str(total - counts.sum())]


def _accuracies(experiments: Sequence[Experiment]) -> Table:
    lines = [[one.data, one.learner, *(f"{100 * one.mean(name):.1f}" for name in ALGORITHMS)] for one in experiments]
    title = f"Accuracy on the testing half, mean of {FOLDS} folds, percent; the paper does not print it"
    return Table(title, ("data", "learner", *ALGORITHMS), lines, words=2)


def _framework(findings: Findings) -> Table:
    """Table 1: the hybrid algorithms of the paper, and what FortalFS reaches in their place."""
    found = {data: one["cells"] for (data, piece), one in findings.items() if piece == FRAMEWORK_PIECE}
    lines: list[list[str | None]] = []
    for kind in FRAMEWORK if found else ():
        if kind in HYBRIDS:
            lines.append([f"{kind}, printed", *(HYBRIDS[kind].get(name) for name in FRAMEWORK_LEARNERS)])
        cells = [[one[kind][name] for one in found.values()] for name in FRAMEWORK_LEARNERS]
        label = f"{kind}, FortalFS" if kind in HYBRIDS else kind
        lines.append([label, *(f"{100 * np.mean([one['accuracy'] for one in own]):.2f}" for own in cells)])
    title = f"Table 1: any filter with any learner; mean accuracy on {', '.join(found)}, percent"
    return Table(title, ("", *FRAMEWORK_LEARNERS), lines)
