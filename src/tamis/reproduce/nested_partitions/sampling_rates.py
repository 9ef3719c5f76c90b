"""Table 2 and Figure 1 of Yang and Olafsson (2005): what samples of the rows do to the merit and to a search."""

import time
from itertools import product
from typing import Any

import numpy as np

from tamis.base.nominal import coded
from tamis.base.seeds import generator, spawn
from tamis.data.dataset import Dataset
from tamis.reporting.figure_description import Axis, Figure
from tamis.reproduce.framework.figures import Curve, curves, log_axis
from tamis.reproduce.framework.study import Findings, Piece, Table, Task
from tamis.reproduce.nested_partitions.ways import REPLICATIONS, WAYS, WORDS, selector
from tamis.subsets.cfs import CFS

#: Sampling rates of Figure 1 and Table 2; a sample has as many rows at least.
_RATES, _LEAST = (1.0, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05, 0.02), 10

#: Columns whose sets are all evaluated for Table 2, samples of rows, and the data set of Figure 1.
_VARIED_COLUMNS, _SAMPLES, _FIGURE_1 = 7, 50, "vote"

#: Names of the pieces.
_VARIANCE, _BY_RATE = "Table 2: variances", "Figure 1: sampling rates"

#: Table 2: variances on some columns of each data set by sampling rate; the paper gives no unit.
_VARIANCES: dict[str, tuple[tuple[float | None, ...], ...]] = {
    "vote": ((0.0, 1.4, 4.0, 5.0, 8.1, 17.3, 27.5, None), (0.0, 6.6, 9.1, 16.4, 28.0, 38.3, 41.9, None)),
    "audiology": (
        (0.0, 1.5, 4.2, 6.1, 16.9, 33.4, 48.8, 94.3),
        (0.0, 1.2, 1.9, 5.3, 14.9, 25.6, 58.7, 91.1),
        (0.0, 0.9, 2.4, 4.9, 10.8, 28.7, 58.2, 185.4),
    ),
    "lymph": (
        (0.0, 0.7, 2.1, 4.3, 19.2, 49.1, 109.7, None),
        (0.0, 0.5, 1.8, 4.5, 14.7, 52.7, 104.7, None),
        (0.0, 0.6, 1.4, 3.0, 13.9, 53.4, 150.8, None),
    ),
    "kr.vs.kp": (
        (0.0, 0.2, 0.4, 0.9, 2.8, 5.9, 8.9, 14.9),
        (0.0, 0.1, 0.1, 0.2, 0.5, 1.2, 2.7, 6.3),
        (0.0, 0.1, 0.1, 0.2, 0.5, 1.2, 2.7, 9.5),
    ),
}


def _varied(task: Task) -> dict[str, Any]:
    """Table 2: variance of the merit over samples of the rows, the mean over all sets of some columns.

    In percentage points squared; None where a sample would have fewer rows than ten.
    """
    data: Dataset = task.data
    codes = np.unique(np.asarray(data.y), return_inverse=True)[1]
    sets = (np.arange(1, 2**_VARIED_COLUMNS)[:, None] >> np.arange(_VARIED_COLUMNS)) & 1 == 1
    found: list[list[float | None]] = []
    for draw in range(len(_VARIANCES[data.name])):
        rng = generator(task.seed, 3, draw)
        rows = coded(data.X[:, np.sort(rng.permutation(data.n_features)[:_VARIED_COLUMNS]).tolist()])
        found.append([])
        for rate in _RATES:
            count = round(rate * data.n_rows)
            if count < _LEAST:
                found[-1].append(None)
                continue
            chosen = [rng.permutation(data.n_rows)[:count] for _ in range(1 if count == data.n_rows else _SAMPLES)]
            merits = [CFS.of(rows.matrix[one], _dense(codes[one]), rows.nominal).many(sets) for one in chosen]
            found[-1].append(1e4 * float(np.var(merits, axis=0, ddof=len(chosen) > 1).mean()))
        task.progress(draw + 1, len(_VARIANCES[data.name]))
    return {"variances": found}


def _dense(codes: np.ndarray) -> np.ndarray:
    """Codes without gaps: a sample may lack a class."""
    return np.unique(codes, return_inverse=True)[1]


def _by_rate(task: Task) -> dict[str, Any]:
    """Figure 1: the cost and the backtracks of searches on samples of the rows."""
    data: Dataset = task.data
    found: dict[str, Any] = {way: {"cost": [], "backtracks": [], "time": []} for way in WAYS}
    rates = [rate for rate in _RATES if rate * data.n_rows >= _LEAST]
    for done, (way, rate) in enumerate(product(WAYS, rates)):
        runs = []
        for run in range(REPLICATIONS):
            begin = time.process_time()
            one = selector(way, spawn(task.seed, run), n_sets=11, sampling_rate=rate).fit(data.X, data.y)
            runs.append((one.n_rows_evaluated_, one.n_backtracks_, time.process_time() - begin))
        for key, values in zip(("cost", "backtracks", "time"), zip(*runs, strict=True), strict=True):
            found[way][key].append([float(value) for value in values])
        task.progress(done + 1, len(WAYS) * len(rates))
    return {"rates": rates, **found}


def pieces(data: str) -> list[Piece]:
    """The pieces on a data set."""
    found = [Piece(data, _VARIANCE, _varied, 3)]
    return [*found, Piece(data, _BY_RATE, _by_rate, 20)] if data == _FIGURE_1 else found


def tables(findings: Findings) -> list[Table]:
    """Return Table 2 and the numbers of Figure 1."""
    return [*_variance_table(findings), *_rate_table(findings)]


def _variance_table(findings: Findings) -> list[Table]:
    lines: list[list[str | None]] = []
    for data, printed in _VARIANCES.items():
        if (found := findings.get((data, _VARIANCE))) is not None:
            for number, (figures, own) in enumerate(zip(printed, found["variances"], strict=True), 1):
                lines.append([f"{data} {number}, printed", *(None if one is None else f"{one:.1f}" for one in figures)])
                lines.append([f"{data} {number}, here", *(None if one is None else f"{one:.1f}" for one in own)])
    title = f"Table 2: variance of the merit on {_VARIED_COLUMNS} columns by sampling rate, here in points squared"
    return [Table(title, ("", *(f"{100 * rate:.0f} %" for rate in _RATES)), lines)] if lines else []


def _rate_table(findings: Findings) -> list[Table]:
    if (found := findings.get((_FIGURE_1, _BY_RATE))) is None:
        return []
    lines: list[list[str | None]] = []
    for way, words in WORDS.items():
        lines.append([f"{words}, backtracks", *(f"{np.mean(one):.1f}" for one in found[way]["backtracks"])])
        lines.append([f"{words}, x rows / 1000", *(f"{np.mean(one) / 1000:.0f}" for one in found[way]["cost"])])
        lines.append([f"{words}, ms", *(f"{1000 * np.mean(one):.0f}" for one in found[way]["time"])])
    title = f"Figure 1: searches on {_FIGURE_1} by sampling rate, mean of {REPLICATIONS}"
    return [Table(title, ("", *(f"{100 * rate:.0f} %" for rate in found["rates"])), lines)]


def figures(findings: Findings) -> list[Figure]:
    """Figure 1, and Table 2 as curves."""
    drawn = []
    if (found := findings.get((_FIGURE_1, _BY_RATE))) is not None:
        rates = [100 * rate for rate in found["rates"]]
        for key, words, scale in (
            ("cost", "evaluations x rows, thousands", 1e-3),
            ("time", "processor time, ms", 1e3),
            ("backtracks", "backtracks", 1.0),
        ):
            own = {
                label: Curve(rates, [scale * float(np.mean(one)) for one in found[way][key]])
                for way, label in WORDS.items()
            }
            title, axis = f"Figure 1: {key} by the sampling rate, {_FIGURE_1}", Axis(words, limits=(0.0, None))
            caption = f"Mean of {REPLICATIONS} searches; the paper draws time and backtracks."
            drawn.append(curves(f"figure_1_{key}", title, caption, Axis("sampling rate, %"), axis, own))
    for data, printed in _VARIANCES.items():
        if (found := findings.get((data, _VARIANCE))) is not None:
            own = {}
            rates = [100 * rate for rate in _RATES[1:]]
            for number, (figures, here) in enumerate(zip(printed, found["variances"], strict=True)):
                own[f"{number + 1}, here"] = Curve(rates, here[1:], colour=number)
                own[f"{number + 1}, printed"] = Curve(rates, figures[1:], colour=number, printed=True)
            y = log_axis("variance", [value for line in own.values() for value in line.y])
            caption = "Ours in percentage points squared; the paper gives no unit."
            drawn.append(
                curves(f"table_2_{data}", f"Table 2: {data}", caption, log_axis("sampling rate, %", rates), y, own)
            )
    return drawn
