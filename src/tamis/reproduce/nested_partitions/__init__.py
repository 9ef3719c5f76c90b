"""Tables 2 to 5 and Figure 1 of Yang and Olafsson (2005), "Near-optimal feature selection", on four UCI data sets.

The paper says neither how sets are drawn from a region nor whether a good one is kept. Each figure is given twice: with
the defaults of tamis, and by the toss of a coin for each column with nothing kept, which comes nearest to the printed
accuracies and backtracks.
"""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from tamis.base.nominal import coded
from tamis.base.seeds import generator, spawn
from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.reproduce.framework.share import run_shared
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task
from tamis.reproduce.nested_partitions import sampling_rates
from tamis.reproduce.nested_partitions.ways import REPLICATIONS, WORDS, selector
from tamis.select import NestedPartitions
from tamis.subsets.cfs import CFS
from tamis.validation.whole import validate

_DELTAS, _PSIS = (0.05, 0.01), (0.75, 0.85, 0.95)

#: Columns of the reduced data sets, and searches on them.
_COLUMNS, _RUNS = 8, 100

_FOLDS = 10
_CLASSIFIER = "nb(states)"

#: By data set and delta, for each psi: the sampling rate, percent, and the accuracy (Table 3), and the share of runs
#: within delta of the optimum (Table 4).
_REDUCED: dict[str, dict[float, tuple[tuple[int, str, float], ...]]] = {
    "vote": {
        0.05: ((16, "95.57", 0.96), (21, "95.57", 0.98), (23, "95.58", 0.98)),
        0.01: ((32, "95.59", 0.78), (37, "95.58", 0.88), (39, "95.61", 0.96)),
    },
    "audiology": {
        0.05: ((27, "42.62", 0.98), (30, "43.61", 0.98), (35, "43.63", 1.00)),
        0.01: ((44, "43.63", 0.72), (47, "43.63", 0.83), (51, "43.64", 0.89)),
    },
    "lymph": {
        0.05: ((24, "70.32", 0.83), (28, "70.34", 0.88), (31, "70.35", 0.97)),
        0.01: ((40, "70.35", 0.65), (45, "70.34", 0.72), (47, "70.36", 0.81)),
    },
    "kr.vs.kp": {
        0.05: ((8, "65.55", 0.90), (13, "65.57", 0.94), (15, "65.55", 0.95)),
        0.01: ((25, "65.51", 0.63), (29, "65.59", 0.74), (32, "65.61", 0.87)),
    },
}

#: Table 5 by data set: sampling rate in percent, accuracy, milliseconds and backtracks of TSNP, of NP with the best of
#: eight constant rates, and of NP.
_WHOLE: dict[str, dict[str, tuple[int, str, int, str]]] = {
    "vote": {
        "TSNP": (16, "93.2 ± 1.3", 786, "0.2 ± 0.4"),
        "NP, sampled": (10, "92.4 ± 1.0", 816, "1.6 ± 2.2"),
        "NP": (100, "93.5 ± 0.4", 2820, "0.0 ± 0.0"),
    },
    "audiology": {
        "TSNP": (27, "70.2 ± 1.6", 27722, "128.8 ± 24.8"),
        "NP, sampled": (10, "69.2 ± 2.4", 35839, "371.0 ± 182.0"),
        "NP": (100, "69.7 ± 1.9", 41105, "0.0 ± 0.0"),
    },
    "lymph": {
        "TSNP": (24, "73.5 ± 0.5", 418, "2.4 ± 2.8"),
        "NP, sampled": (10, "72.6 ± 1.2", 486, "7.4 ± 3.4"),
        "NP": (100, "73.2 ± 0.6", 795, "0.0 ± 0.0"),
    },
    "kr.vs.kp": {
        "TSNP": (3, "89.0 ± 0.4", 5189, "0.0 ± 0.0"),
        "NP, sampled": (5, "89.0 ± 1.2", 7246, "1.8 ± 3.0"),
        "NP": (100, "87.9 ± 5.7", 107467, "1.8 ± 3.0"),
    },
}


def _reduced(way: str, task: Task) -> dict[str, Any]:
    """Searches in two stages on random columns, for each delta and psi, beside the best of all sets."""
    data: Dataset = task.data
    codes = np.unique(np.asarray(data.y), return_inverse=True)[1]
    work = [(data, codes, way, spawn(task.seed, run)) for run in range(_RUNS)]
    found = np.array(run_shared(_run_reduced, work, task))
    cells = list(product(_DELTAS, _PSIS))
    rate, accuracy, short = (found[:, place, : len(cells)].mean(axis=0) for place in range(3))
    return {
        "rate": [float(one) for one in rate],
        "accuracy": [float(one) for one in accuracy],
        "short": [float(one) for one in short],
        "within": [float((found[:, 2, i] <= delta + 1e-12).mean()) for i, (delta, _) in enumerate(cells)],
        "best": float(found[:, 1, -1].mean()),
    }


def _run_reduced(data: Dataset, codes: np.ndarray, way: str, seed: int) -> list[list[float]]:
    """Sampling rates, accuracies and distances to the optimum of one draw of columns; at last those of the optimum."""
    columns = np.sort(generator(seed).permutation(data.n_features)[:_COLUMNS])
    some = data.X[:, columns.tolist()]
    rows = coded(some)
    sets = (np.arange(1, 2**columns.size)[:, None] >> np.arange(columns.size)) & 1 == 1
    merit = CFS.of(rows.matrix, codes, rows.nominal).many(sets)
    known: dict[bytes, float] = {}

    def accuracy(chosen: np.ndarray) -> float:
        if (key := chosen.tobytes()) not in known:
            known[key] = _accuracy(_CLASSIFIER, some[:, chosen.tolist()], data.y, 0)
        return known[key]

    out = []
    for delta, psi in product(_DELTAS, _PSIS):
        one = selector(way, seed, two_stage=True, delta=delta, psi=psi).fit(some, data.y)
        out.append([one.sampling_rate_, accuracy(one.chosen_), float(merit.max()) - one.score_])
    out.append([1.0, accuracy(np.flatnonzero(sets[int(merit.argmax())])), 0.0])
    return np.array(out).T.tolist()


def _accuracy(model: Any, X: Any, y: Any, seed: int) -> float:
    found = validate(model, X, y, folds=_FOLDS, repeats=1, metrics="accuracy", seed=seed)
    return float(found.estimates["accuracy"].mean)


def _whole(way: str, approach: str, task: Task) -> dict[str, Any]:
    """Searches on all columns: their cost, and the accuracy with the search inside the folds."""
    data: Dataset = task.data
    approaches: dict[str, dict[str, Any]] = {
        "TSNP": {"two_stage": True, "delta": _DELTAS[0], "psi": _PSIS[0]},
        "NP, sampled": {"n_sets": 11, "sampling_rate": _WHOLE[data.name]["NP, sampled"][0] / 100},
        "NP": {"n_sets": 11},
    }
    options = approaches[approach]
    found: dict[str, list[float]] = {}
    for run in range(REPLICATIONS):
        begin = time.perf_counter()
        one = selector(way, spawn(task.seed, run), **options).fit(data.X, data.y)
        seconds = time.perf_counter() - begin
        model = selector(way, None, **options)
        figures = {
            "rate": one.sampling_rate_,
            "merit": one.score_,
            "columns": one.chosen_.size,
            "accuracy": _chained(model, data, spawn(task.seed, run)),
            "backtracks": one.n_backtracks_,
            "evaluations": one.n_evaluations_,
            "cost": one.n_rows_evaluated_,
            "search_seconds": seconds,
        }
        for name, figure in figures.items():
            found.setdefault(name, []).append(float(figure))
        task.progress(run + 1, REPLICATIONS)
    return found


def _chained(selector: NestedPartitions, data: Dataset, seed: int) -> float:
    return _accuracy(make_pipeline(selector, parse(_CLASSIFIER).build()), data.X, data.y, seed)


def _pieces() -> tuple[Piece, ...]:
    pieces = []
    for data, approaches in _WHOLE.items():
        for way, words in WORDS.items():
            pieces.append(Piece(data, f"8 columns, {words}", partial(_reduced, way), 20))
            pieces += [
                Piece(data, f"{approach}, {words}", partial(_whole, way, approach), 5) for approach in approaches
            ]
        pieces += sampling_rates.pieces(data)
    return tuple(pieces)


def _reduced_tables(findings: Findings) -> list[Table]:
    cells = list(product(_DELTAS, _PSIS))
    heads = [f"δ {100 * delta:g}, ψ {psi:g}" for delta, psi in cells]
    lines: dict[str, list[list[str | None]]] = {"rate": [], "accuracy": [], "within": []}
    for data, printed in _REDUCED.items():
        own = {words: findings.get((data, f"8 columns, {words}")) for words in WORDS.values()}
        if not any(own.values()):
            continue
        figures = [printed[delta][_PSIS.index(psi)] for delta, psi in cells]
        lines["rate"].append([f"{data}, printed", *(str(one[0]) for one in figures)])
        lines["accuracy"].append([f"{data}, printed", *(one[1] for one in figures), None])
        lines["within"].append([f"{data}, printed", *(f"{one[2]:.2f}" for one in figures)])
        for words, found in own.items():
            if found is not None:
                label = f"{data}, {words}"
                lines["rate"].append([label, *(f"{100 * one:.0f}" for one in found["rate"])])
                accuracy = [*found["accuracy"], found["best"]]
                lines["accuracy"].append([label, *(f"{100 * one:.2f}" for one in accuracy)])
                lines["within"].append([label, *(f"{one:.2f}" for one in found["within"])])
    return [
        Table("Table 3: sampling rate of TSNP on eight columns, percent", ("", *heads), lines["rate"]),
        Table("Table 3: accuracy, percent", ("", *heads, "best set"), lines["accuracy"]),
        Table("Table 4: share of runs within δ of the best set", ("", *heads), lines["within"]),
    ]


def _whole_table(findings: Findings) -> Table:
    lines: list[list[str | None]] = []
    for data, approaches in _WHOLE.items():
        for words in WORDS.values():
            own = {name: findings.get((data, f"{name}, {words}")) for name in approaches}
            slowest = own["NP"]
            for name, found in own.items():
                if found is not None:
                    lines.append(_line(data, name, words, found, slowest))
    heads = ("rate %", "accuracy %", "time ratio", "backtracks", "merit", "columns", "evaluations", "x rows / 1000")
    columns = ("data", "approach", "sets", *heads, "ratio to NP", "s")
    return Table("Table 5: three ways to search all columns; (printed)", columns, lines, words=3)


def _line(data: str, name: str, words: str, found: Mapping[str, Any], slowest: Mapping[str, Any] | None) -> list[Any]:
    rate, accuracy, time_printed, backtracks = _WHOLE[data][name]
    ratio = None if slowest is None else f"{np.mean(slowest['cost']) / np.mean(found['cost']):.1f}"
    return [
        *(data, name, words),
        f"{100 * np.mean(found['rate']):.0f} ({rate})",
        f"{_spread(found['accuracy'], 100)} ({accuracy})",
        f"({_WHOLE[data]['NP'][2] / time_printed:.1f})",
        f"{_spread(found['backtracks'])} ({backtracks})",
        f"{np.mean(found['merit']):.3f}",
        f"{np.mean(found['columns']):.1f}",
        f"{np.mean(found['evaluations']):.0f}",
        f"{np.mean(found['cost']) / 1000:.0f}",
        *(ratio, f"{np.mean(found['search_seconds']):.2f}"),
    ]


def _spread(values: Sequence[float], scale: float = 1.0) -> str:
    return f"{scale * np.mean(values):.1f} ± {scale * np.std(values, ddof=1):.1f}"


def _tables(findings: Findings) -> list[Table]:
    return [*sampling_rates.tables(findings), *_reduced_tables(findings), _whole_table(findings)]


STUDY = Study(
    "Nested partitions",
    "Yang and Olafsson 2005, Tables 2 to 5, Figure 1",
    "searches on samples of the rows: how near to the best of eight columns' sets, and at what cost",
    _pieces(),
    _tables,
    figures=sampling_rates.figures,
    remarks=(
        "The measure is CFS; δ is in percentage points of its merit. The paper's data set Cancer, 148 x 18, is lymph.",
        f"Eight columns: {_RUNS} runs, each on columns drawn anew; the paper seems to have drawn them once.",
        "Its accuracies are those of a classifier that it does not name; here it is naive Bayes on states, ten folds.",
        "Table 3: columns are selected from all rows, as they seem to be in print; Table 5: inside the folds.",
        f"Table 5: mean and deviation over {REPLICATIONS} runs; TSNP with δ = 5 and ψ = 0.75, by its printed rates.",
        "The paper does not say how many sets NP draws from an area; here it is 11, the least that TSNP draws.",
        "NP, sampled: at the printed rate, the best of eight. Time ratio: the printed time of NP to that of this one.",
        "Cost: evaluations times rows, for TSNP with those that find its sampling rate. Ratio: that of NP to this one.",
        "Table 2: all sets of 7 columns drawn at random, variance over samples of rows, mean over the sets.",
        "Seconds do not follow the cost: CFS computes correlations once for a sample, and sets are then nearly free.",
    ),
)
