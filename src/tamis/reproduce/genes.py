"""Table 1 and the steps of Raman and Domeniconi (2005), on markers of an infection.

"Gene expression analysis of HIV-1 linked p24-specific CD4+ T-cell responses for identifying genetic markers". The data
of the paper are not public. The intensities that its text prints are computed again; its steps are run on a generated
infection with the same hours, conditions and number of genes, whose markers are known.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tamis.base.seeds import spawn
from tamis.data.synthetic.infection import infection
from tamis.genes.expression import Expression
from tamis.genes.fold_regulation import log2_fold
from tamis.genes.markers import MarkerSearch, find_markers
from tamis.reporting.figure_description import Axis, Figure
from tamis.reproduce.framework.figures import Curve, bars, curves, log_axis
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task


class _Printed(NamedTuple):
    """A marker of the paper's text: intensities at 72 hours, infected and mock, and the fold that it states."""

    accession: str
    infected: float
    mock: float
    fold: float


#: Section 3.3. The intensity of AB000905 is printed "210.2.9".
MARKERS = (
    _Printed("J04423", 25448.1, 7187.9, 1.85),
    _Printed("X03453", 65440.2, 22487.1, 1.55),
    _Printed("U14573", 95340.6, 34555.2, 1.5),
    _Printed("AB000905", 210.29, 76.0, 1.5),
    _Printed("D43951", 111.6, 20.7, 2.45),
    _Printed("M21388", 28749.2, 10162.9, 1.5),
)

#: Genes of the paper, and those that its filters removed.
_GENES, _REMOVED = 6823, 167

#: Relative deviations of an intensity, and how often each is drawn.
NOISES = (0.05, 0.1, 0.2, 0.3, 0.5)
_DRAWS = 3

#: Tolerances of groups in percentage points, beside the paper's 10 and then 5.
_TOLERANCES = (10.0, 20.0, 30.0)

_N_GENES = 6800


def _folds(task: Task) -> dict[str, Any]:
    infected, mock = (np.array([getattr(one, name) for one in MARKERS]) for name in ("infected", "mock"))
    task.progress(1, 1)
    return {"fold": np.round(log2_fold(infected, mock), 4).tolist()}


def _drawn(noise: float, task: Task) -> dict[str, Any]:
    """What is found of the planted markers, in several draws; the steps of the first."""
    found: dict[str, list[Any]] = {"planted": [], "markers": [], "true": [], "groups": [], "removed": []}
    for draw in range(_DRAWS):
        data = infection(n_genes=_N_GENES, noise=noise, seed=spawn(task.seed, draw))
        planted = set(data.feature_names[data.roles == "informative"].tolist())
        result = find_markers(Expression.of_dataset(data))
        found["planted"].append(len(planted))
        found["markers"].append(int(result.is_marker.sum()))
        found["true"].append(len(planted.intersection(result.markers.tolist())))
        found["groups"].append(result.n_groups)
        found["removed"].append([one.removed for one in result.filters])
        task.progress(draw + 1, _DRAWS)
    return {**found, "filters": [one.name for one in result.filters], "clusters": result.to_dict()["clusters"]}


def _grouped(tolerance: float, task: Task) -> dict[str, Any]:
    """Groups of the first draw with 10 % noise, and those with markers."""
    data = infection(n_genes=_N_GENES, seed=spawn(task.seed, 0))
    result = find_markers(Expression.of_dataset(data), tolerance=tolerance, fine=tolerance / 2)
    task.progress(1, 1)
    return {"kept": int(result.kept.sum()), "groups": result.n_groups, **_sizes(result)}


def _courses(task: Task) -> dict[str, Any]:
    """The mean intensities over time of the six most regulated markers of the first draw with 10 % noise."""
    result = find_markers(Expression.of_dataset(infection(n_genes=_N_GENES, seed=spawn(task.seed, 0))))
    own, genes = result.expression, result.order[: len(MARKERS)]
    means = {name: own.profiles(name)[genes].round(2).tolist() for name in (result.treated, result.control)}
    return {"hours": own.time_points.tolist(), "genes": own.genes[genes].tolist(), "means": means}


_FIGURES = Piece("", "courses", _courses, drawn=True)


def _sizes(result: MarkerSearch) -> dict[str, Any]:
    sizes = np.bincount(result.groups[result.groups >= 0])
    of_markers = np.bincount(result.groups[result.is_marker & (result.groups >= 0)])
    return {
        "largest": int(sizes.max()),
        "single": int((sizes == 1).sum()),
        "with_markers": len(result.marker_groups),
        "most_markers": int(of_markers.max(initial=0)),
    }


def _noise_name(noise: float) -> str:
    return f"{100 * noise:g} % noise"


def _tolerance_name(tolerance: float) -> str:
    return f"groups within {tolerance:g} points"


def _pieces() -> tuple[Piece, ...]:
    noises = [Piece("", _noise_name(noise), partial(_drawn, noise), _DRAWS) for noise in NOISES]
    groups = [Piece("", _tolerance_name(one), partial(_grouped, one)) for one in _TOLERANCES]
    printed = {one.accession: one.fold for one in MARKERS}
    return (Piece("", "printed intensities", _folds, published=printed), *noises, *groups, _FIGURES)


def _tables(findings: Findings) -> list[Table]:
    tables = []
    if folds := findings.get(("", "printed intensities")):
        tables.append(_table_1(folds["fold"]))
    if cleaned := findings.get(("", _noise_name(0.1))):
        tables.append(_cleaning(cleaned))
    noises = [(noise, one) for noise in NOISES if (one := findings.get(("", _noise_name(noise))))]
    if noises:
        tables.append(_recovery(noises))
    groups = [(tolerance, one) for tolerance in _TOLERANCES if (one := findings.get(("", _tolerance_name(tolerance))))]
    if groups:
        names = ("genes", "groups", "largest", "single genes", "with markers", "most markers in one")
        keys = ("kept", "groups", "largest", "single", "with_markers", "most_markers")
        lines = [
            [f"{tolerance:g}, then {tolerance / 2:g}", *(str(one[key]) for key in keys)] for tolerance, one in groups
        ]
        tables.append(Table("Pattern groups at 10 % noise, by tolerance", ("percentage points", *names), lines))
    return tables


def _table_1(folds: Sequence[float]) -> Table:
    lines = [
        [one.accession, f"{one.infected:g}", f"{one.mock:g}", f"{one.fold:g}", f"{fold:.3f}", _whether(fold >= 1.5)]
        for one, fold in zip(MARKERS, folds, strict=True)
    ]
    columns = ("accession", "infected", "mock", "fold printed", "fold here", "1.5 or more")
    return Table("The markers of Table 1: log2 fold at 72 hours of the printed intensities", columns, lines)


def _whether(true: bool) -> str:
    return "yes" if true else "no"


def _cleaning(found: Mapping[str, Any]) -> Table:
    removed = np.mean(found["removed"], axis=0)
    lines: list[list[str | None]] = [
        [name, None, f"{count:.1f}"] for name, count in zip(found["filters"], removed, strict=True)
    ]
    lines.append(["all four", f"{_REMOVED} of {_GENES}", f"{removed.sum():.1f} of {_N_GENES}"])
    return Table("Genes removed by the filters, 10 % noise", ("filter", "printed", "here, mean"), lines)


def _recovery(noises: Sequence[tuple[float, Mapping[str, Any]]]) -> Table:
    lines = []
    for noise, one in noises:
        planted, markers, true = (np.array(one[key]) for key in ("planted", "markers", "true"))
        false = (markers - true) / np.maximum(markers, 1)
        cells = [f"{markers.mean():.1f}", f"{100 * (true / planted).mean():.1f}", f"{100 * false.mean():.1f}"]
        lines.append([f"{100 * noise:g}", *cells, f"{np.mean(one['groups']):.0f}"])
    columns = ("noise, %", "markers", "planted found, %", "false, % of markers", "pattern groups")
    return Table(f"Planted markers found, mean of {_DRAWS} draws of 120 among {_N_GENES} genes", columns, lines)


def _figures(findings: Findings) -> list[Figure]:
    """The printed intensities; Figures 1 to 6 in the manner of the paper, on generated markers; what is found."""
    accessions = [one.accession for one in MARKERS]
    intensities = {name: [getattr(one, name) for one in MARKERS] for name in ("infected", "mock")}
    drawn: list[Figure] = []
    if findings.get(("", "printed intensities")):
        axis = log_axis("intensity", [value for values in intensities.values() for value in values])
        caption = "All that the text gives of Figures 1 to 6: the intensities at 72 hours."
        drawn.append(bars("intensities", "Figures 1 to 6 at 72 hours", caption, accessions, axis, intensities))
    if found := findings.get(("", _FIGURES.name)):
        for place, gene in enumerate(found["genes"]):
            own = {name: Curve(found["hours"], values[place]) for name, values in found["means"].items()}
            caption = "A generated marker: the paper's data are not public."
            axes = Axis("hours"), Axis("intensity", limits=(0.0, None))
            title = f"In the manner of Figure {place + 1}: {gene}"
            drawn.append(curves(f"course_{place + 1}", title, caption, *axes, own))
    noises = [(noise, one) for noise in NOISES if (one := findings.get(("", _noise_name(noise))))]
    if noises:
        at = [100 * noise for noise, _ in noises]
        hit = [100 * float(np.mean(np.array(one["true"]) / one["planted"])) for _, one in noises]
        axes, caption = (Axis("noise, %"), Axis("%", limits=(0.0, 105.0))), f"Mean of {_DRAWS} draws."
        drawn.append(curves("recovery", "Planted markers found", caption, *axes, {"found": Curve(at, hit)}))
    return drawn


STUDY = Study(
    "Gene patterns",
    "Raman and Domeniconi 2005, Table 1",
    "folds of the printed intensities; all steps on a generated infection with planted markers",
    _pieces(),
    _tables,
    figures=_figures,
    remarks=(
        "The data of the paper are not public; of Figures 1 to 6, which draw them, the text gives the last hour.",
        "The generated infection (tamis data make infection) has its hours and conditions and 6800 genes.",
        "A marker here: log2 fold of 1.5 or more, or -1.5 or less, at both 48 and 72 hours.",
        "The intensity of AB000905 is printed 210.2.9 and read as 210.29.",
        "The paper looks at plots to decide which groups are rough; here more than half of the genes must be far off.",
    ),
)
