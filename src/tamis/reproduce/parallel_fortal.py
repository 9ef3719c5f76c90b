"""Souza, Japkowicz and Matwin (2005), "Parallelizing feature selection": the speed-up of FortalFS by more workers.

The paper ran one to sixteen computers; here it is one to as many processes as there are cores. What is found are
timings: they differ from run to run, and the file of results does not tell machines apart.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import cpu_count

from tamis.base.seeds import seeded
from tamis.compose.recipe import parse
from tamis.compose.subset_run import timed_searches
from tamis.data.dataset import Dataset
from tamis.reporting.figure_description import Axis, Figure
from tamis.reproduce.framework.figures import Curve, curves
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task
from tamis.subsets.efficiency import Efficiency, Timing, efficiencies

_DATA = ("mushroom", "ionosphere", "splice", "sonar", "audiology")
_SEARCH = "fortal(c45)"

#: Averages over the data sets by number of processors, as the text gives them: the list of parallel efficiencies, and
#: what it says of two and of sixteen processors elsewhere.
_PARALLEL = {1: "99.34", 2: "97.34", 4: "98.10", 8: "96.44", 16: "93.74"}
_PARALLEL_TWO = "99.34"
_TOTAL = {2: "96.84"}
_SPEEDUP = {16: "12"}


def _workers(cores: int) -> list[int]:
    """Powers of two up to the number of cores, and that number."""
    return sorted({cores, *(2**i for i in range(cores.bit_length()))})


def _timed(task: Task) -> dict[str, Any]:
    data: Dataset = task.data
    search = seeded(parse(_SEARCH).build(), task.seed)
    fitted, found = timed_searches(search, data.X, data.y, _workers(cpu_count()))
    return {
        "columns": fitted.get_support(indices=True).tolist(),
        "timings": [[one.timing.workers, one.timing.total, one.timing.parallel] for one in found],
    }


def _efficiencies(findings: Findings) -> dict[str, list[Efficiency]]:
    """What each number of workers brings, by data set."""
    return {data: efficiencies([Timing(*one) for one in found["timings"]]) for (data, _), found in findings.items()}


def _each(found: dict[str, list[Efficiency]]) -> Table:
    lines = [
        [
            *(data, str(one.timing.workers)),
            *(f"{one.timing.total:.1f}", f"{one.timing.sequential:.2f}"),
            *(f"{one.speedup:.2f}", f"{one.optimal_speedup:.2f}"),
            *(f"{100 * one.parallel_efficiency:.1f}", f"{100 * one.total_efficiency:.1f}"),
        ]
        for data, own in found.items()
        for one in own
    ]
    seconds = ("s", "s outside of evaluations")
    columns = ("data", "workers", *seconds, "speed-up", "optimum", "parallel efficiency %", "total efficiency %")
    return Table("Every data set", columns, lines)


def _averages(found: dict[str, list[Efficiency]]) -> Table:
    """Means over the data sets; those with fewer workers than others are left out where they have none."""
    by_workers: dict[int, list[Efficiency]] = {}
    for own in found.values():
        for one in own:
            by_workers.setdefault(one.timing.workers, []).append(one)
    numbers = sorted({*by_workers, *_PARALLEL})

    def line(label: str, name: str, scale: float) -> list[str | None]:
        values: list[Sequence[float]] = [[getattr(one, name) for one in by_workers.get(n, ())] for n in numbers]
        return [label, *(f"{scale * np.mean(own):.2f}" if own else None for own in values)]

    lines: list[list[str | None]] = [
        ["parallel efficiency %, printed", *(_PARALLEL.get(n) for n in numbers)],
        ["the same elsewhere in the text", *(_PARALLEL_TWO if n == 2 else None for n in numbers)],
        line("parallel efficiency %, here", "parallel_efficiency", 100),
        ["total efficiency %, printed", *(_TOTAL.get(n) for n in numbers)],
        line("total efficiency %, here", "total_efficiency", 100),
        ["speed-up, printed", *(_SPEEDUP.get(n) for n in numbers)],
        line("speed-up, here", "speedup", 1),
    ]
    return Table("Averages by number of workers", ("", *map(str, numbers)), lines if found else [])


def _tables(findings: Findings) -> list[Table]:
    found = _efficiencies(findings)
    return [_averages(found), _each(found)]


def _figures(findings: Findings) -> list[Figure]:
    """What the paper gives in words: speed-up and parallel efficiency by the number of workers."""
    found = _efficiencies(findings)
    if not found:
        return []
    speedup: dict[str, Curve] = {}
    efficiency: dict[str, Curve] = {}
    for data, own in found.items():
        workers = [one.timing.workers for one in own]
        speedup[data] = Curve(workers, [one.speedup for one in own])
        efficiency[data] = Curve(workers, [100 * one.parallel_efficiency for one in own])
    most = [1, max(one.timing.workers for own in found.values() for one in own)]
    speedup["ideal"] = Curve(most, most, printed=True, colour="muted")
    printed = {n: float(value) for n, value in _PARALLEL.items() if n <= most[-1]}
    efficiency["mean, printed"] = Curve(list(printed), list(printed.values()), printed=True, colour="ink")
    x = Axis("workers", "count")
    return [
        curves("speedup", "Eq. 0.1: speed-up", "Processes of one machine.", x, Axis("times faster"), speedup),
        curves("efficiency", "Eq. 0.3: parallel efficiency", "As a share of the optimum.", x, Axis("%"), efficiency),
    ]


STUDY = Study(
    "Parallel FortalFS",
    "Souza, Japkowicz and Matwin 2005, eq. 0.1 to 0.4",
    "speed-up and efficiency of FortalFS with one to all cores",
    tuple(Piece(data, _SEARCH, _timed) for data in _DATA),
    _tables,
    figures=_figures,
    remarks=(
        f"{_SEARCH} on all rows: LVF, then 10·N sets, each evaluated in five folds; the paper names no classifier.",
        "Workers are processes of this machine, from one to all cores whatever --jobs says; their start is counted.",
        "The same columns are selected with any number of workers.",
        "Optimum: all evaluations divided among the workers without loss; those of LVF are among them.",
        "The printed averages contradict each other: with one processor the efficiency is 100 % by definition.",
        "Seconds depend on the machine and on what else it does.",
    ),
)
