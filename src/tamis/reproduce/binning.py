"""The oscillating example of Katz (2005), "An optimal binning transformation for use in predictive modeling".

The paper prints its SAS program. SAS's ``ranuni`` is the generator of Fishman and Moore, ``s -> 397204094 s mod
(2^31 - 1)``, and with the printed seed it gives the very rows of the paper: 49 ones, the printed share in every bin.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression

from tamis.base.seeds import generator
from tamis.base.types import FloatArray
from tamis.discretize.bin_means.bin_means import BinMeans
from tamis.reporting.figure_description import Axis, Figure, Panel, Series
from tamis.reproduce.framework.figures import SIZE, bars
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task

_SEED = 59137
_MODULUS = 2**31 - 1
_MULTIPLIER = 397204094

#: Minimum rows of a bin; it is not printed, and with the default cost this one gives the printed bins.
MIN_ROWS = 8

#: -2 log L; rows of class 0 predicted as 0 and 1, rows of class 1 predicted as 0 and 1.
_PRINTED = {
    "x": (139.643, 38, 14, 29, 20),
    "c": (115.398, 52, 0, 37, 12),
    "y": (74.828, 39, 13, 9, 40),
    "b": (54.219, 44, 8, 1, 48),
}
_WORDS = {
    "x": "x, the predictor",
    "c": "c, splits of most chi-square",
    "y": "y = cos(2 pi x)^2, the truth",
    "b": "b, optimal bins",
}

#: Cuts and shares of the bins.
_CUTS = (0.17, 0.34889, 0.56909, 0.82960, 1.10963, 1.41077, 1.67263, 1.82933)
_SHARES = (0.77778, 0.0, 0.90909, 0.0, 0.85714, 0.06667, 0.84615, 0.0, 0.88889)

#: Parameters of b that are compared on fresh rows.
_WAYS: dict[str, dict[str, Any]] = {
    "8 rows a bin": {"min_rows": 8},
    "10 rows a bin": {"min_rows": 10},
    "4 rows a bin": {"min_rows": 4},
    "4 rows a bin, the best of 5 halves": {"min_rows": 4, "samples": 5},
    "smoothed, 8 rows": {"min_rows": 8, "smooth": True},
}

#: How often the example is drawn anew.
DRAWS = 200


def ranuni(seed: int, count: int) -> FloatArray:
    """Return the first numbers of SAS's ``ranuni``.

    Examples
    --------
    >>> ranuni(1, 2).round(5)
    array([0.18496, 0.97009])
    """
    found = np.empty(count)
    for i in range(count):
        seed = _MULTIPLIER * seed % _MODULUS
        found[i] = seed / _MODULUS
    return found


def example(draws: FloatArray) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """Return predictor x, truth y and target d of the printed program, for its 101 random numbers."""
    x: FloatArray = 0.02 * np.arange(101.0)
    y = np.cos(2 * np.pi * x) ** 2
    d = np.where(y >= 0.8, 1, np.where((y > 0.2) & (draws >= 0.5), 1, 0))
    return x, y, d


def chi_square_bins(d: np.ndarray, depth: int = 3, least: float = 0.05) -> list[int]:
    """Split where chi-square is largest, and again on either side while it is significant, at most `depth` times.

    Returns the places at which bins begin. The depth is not printed; three levels give the printed figures.
    """
    n, ones = d.size, d.sum()
    if depth == 0 or ones in (0, n):
        return []
    left = np.arange(1, n)
    below = np.cumsum(d)[:-1]
    gap = below / left - (ones - below) / (n - left)
    value = gap**2 * left * (n - left) / n / (ones / n * (1 - ones / n))
    at = int(np.argmax(value)) + 1
    if chi2.sf(value[at - 1], 1) > least:
        return []
    before, after = chi_square_bins(d[:at], depth - 1, least), chi_square_bins(d[at:], depth - 1, least)
    return [*before, at, *(at + place for place in after)]


def _table(task: Task) -> dict[str, Any]:
    x, y, d = example(ranuni(_SEED, 101))
    model = BinMeans(MIN_ROWS, cv=None).fit(x[:, None], d)
    group = np.searchsorted(chi_square_bins(d), np.arange(d.size), side="right")
    shares = np.array([d[group == g].mean() for g in range(group.max() + 1)])
    predicted = {
        "x": _logistic(x, d),
        # As a nominal variable: the regression then predicts the shares.
        "c": shares[group],
        "y": _logistic(y, d),
        "b": _logistic(model.transform(x[:, None]).ravel(), d),
    }
    return {
        "ones": int(d.sum()),
        "rows": {name: [_deviance(p, d), *_confusion(p, d)] for name, p in predicted.items()},
        "cuts": model.cuts_[0].round(6).tolist(),
        "shares": model.means_[0].ravel().round(5).tolist(),
    }


def _fresh(task: Task, draws: int = DRAWS) -> dict[str, Any]:
    """Rows predicted correctly by a share above one half: those of the fit, and rows drawn anew at the same x."""
    rng = generator(task.seed)
    found: dict[str, list[list[float]]] = {name: [] for name in ("y, the truth", *_WAYS)}
    for done in range(draws):
        (x, y, d), (_, _, new) = example(rng.random(101)), example(rng.random(101))
        found["y, the truth"].append(_right(y, d, new))
        for name, parameters in _WAYS.items():
            model = BinMeans(**parameters, cv=None, random_state=task.seed).fit(x[:, None], d)
            b = model.transform(x[:, None]).ravel()
            found[name].append([*_right(b, d, new), model.cuts_[0].size + 1.0])
        task.progress(done + 1, draws)
    return {"draws": draws, "means": {name: np.mean(many, axis=0).tolist() for name, many in found.items()}}


def _logistic(predictor: FloatArray, d: np.ndarray) -> FloatArray:
    """Predictions of a regression without penalty on its training rows."""
    model = LogisticRegression(C=np.inf, max_iter=10_000, tol=1e-10).fit(predictor[:, None], d)
    return np.asarray(model.predict_proba(predictor[:, None])[:, 1])


def _deviance(p: FloatArray, d: np.ndarray) -> float:
    chance = np.where(d == 1, p, 1 - p)
    return float(-2 * np.log(np.maximum(chance, np.finfo(float).tiny)).sum())


def _confusion(p: FloatArray, d: np.ndarray) -> list[int]:
    return [int(((p > 0.5) == label)[d == truth].sum()) for truth in (0, 1) for label in (False, True)]


def _right(p: FloatArray, *targets: np.ndarray) -> list[float]:
    return [float(((p > 0.5) == d).sum()) for d in targets]


def _tables(findings: Findings) -> list[Table]:
    tables = []
    table, fresh = findings.get(("", "table")), findings.get(("", "fresh draws"))
    if table is not None:
        both: dict[str, Any] = {"printed": {"rows": _PRINTED, "cuts": _CUTS, "shares": _SHARES}, "here": table}
        lines = []
        for name, words in _WORDS.items():
            for who, own in both.items():
                deviance, *counts = own["rows"][name]
                lines.append([f"{words}, {who}", f"{deviance:.3f}", *map(str, counts)])
        columns = ("predictor", "-2 log L", "d=0 as 0", "d=0 as 1", "d=1 as 0", "d=1 as 1")
        tables.append(Table(f"Logistic regressions on 101 rows, {table['ones']} of class 1", columns, lines))
        bins = [
            [who, *(" ".join(f"{value:.3f}" for value in own[key]) for key in ("cuts", "shares"))]
            for who, own in both.items()
        ]
        tables.append(Table("The bins of b", ("", "cuts", "shares of class 1"), bins))
    if fresh is not None:
        means = [
            [name, f"{own:.1f}", f"{new:.1f}", f"{bins[0]:.1f}" if bins else None]
            for name, (own, new, *bins) in fresh["means"].items()
        ]
        title = f"Rows predicted correctly of 101, mean of {fresh['draws']} draws"
        tables.append(Table(title, ("predictor", "rows of the fit", "fresh rows", "bins"), means))
    return tables


def _figures(findings: Findings) -> list[Figure]:
    """The rows with the truth and the bins, which the paper describes in words, and the rows predicted correctly."""
    x, y, d = example(ranuni(_SEED, 101))
    drawn = []
    if table := findings.get(("", "table")):
        places = chi_square_bins(d)
        cuts = [0.02 * at - 0.01 for at in places]
        shares = [float(part.mean()) for part in np.split(d, places)]
        marks = [
            Series(
                x.tolist(), d.tolist(), points=True, size=6.0, colour="muted", label="d, the target", hover="x = %{x}"
            ),
            Series(x.tolist(), y.tolist(), line=True, dotted=True, colour="ink", label="y, the truth"),
            _steps(table["cuts"], table["shares"], 0, "b, here"),
            replace(_steps(_CUTS, _SHARES, 5, "b, printed"), dotted=True),
            _steps(cuts, shares, 2, "c, splits of most chi-square"),
        ]
        caption = "The paper's 101 rows: its target d, the truth behind it, and what replaces x in each bin."
        panel = Panel(Axis("x"), Axis("target, or its mean", limits=(-0.05, 1.05)), marks)
        drawn.append(Figure("predictor", "The oscillating predictor", caption, SIZE, [panel]))
        axis, rows = Axis("-2 log L"), table["rows"]
        groups = {"printed": [one[0] for one in _PRINTED.values()], "here": [rows[name][0] for name in _PRINTED]}
        caption = f"Of logistic regressions on {'; '.join(_WORDS.values())}."
        drawn.append(bars("likelihoods", "Likelihoods", caption, list(_PRINTED), axis, groups))
    if fresh := findings.get(("", "fresh draws")):
        own = {"rows of the fit": 0, "fresh rows": 1}
        groups = {name: [one[place] for one in fresh["means"].values()] for name, place in own.items()}
        caption = f"Mean of {fresh['draws']} draws of the target at the same x; not in the paper."
        axis = Axis("rows predicted correctly of 101", limits=(0.0, 101.0))
        drawn.append(bars("fresh", "Fresh rows", caption, list(fresh["means"]), axis, groups))
    return drawn


def _steps(cuts: Sequence[float], shares: Sequence[float], colour: int, label: str) -> Series:
    """A line that jumps at the cuts."""
    at = [0.0, *cuts, 2.0]
    return Series(at, [*shares, shares[-1]], line=True, steps=True, colour=colour, label=label)


STUDY = Study(
    "Optimal binning",
    "Katz 2005, the oscillating predictor",
    "a table of likelihoods on the paper's own 101 rows",
    (Piece("", "table", _table), Piece("", "fresh draws", _fresh, DRAWS)),
    _tables,
    figures=_figures,
    remarks=(
        "The rows are those of the paper: its SAS program run with SAS's own random numbers.",
        f"The least number of rows in a bin is not printed; with the default cost {MIN_ROWS} gives the printed bins.",
        "Cuts lie halfway between rows here; the paper divides the gap as the widths of the two bins.",
        "c: three levels of splits where chi-square is largest, at 5 %, taken as a variable of classes.",
        "Fresh rows: the target drawn anew at the same x, which shows how far the bins fit the rows they came from.",
    ),
)
