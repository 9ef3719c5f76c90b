"""Marker genes: from intensities over time under two conditions to a table of genes, through the paper's steps."""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from tamis.base.errors import TamisError, quoted
from tamis.base.types import Codes, FloatArray, Mask
from tamis.base.validation import check_number, check_whole
from tamis.data.csv_text import csv_text
from tamis.data.write import write_text
from tamis.genes.clustering import METRICS, hierarchical_clusters
from tamis.genes.expression import Expression
from tamis.genes.filters import Removed, clean
from tamis.genes.fold_regulation import fold_test, log2_fold
from tamis.genes.normalization import normalized
from tamis.genes.pattern_clusters import PCluster, pclusters
from tamis.genes.pattern_groups import pattern_groups

#: Names of conditions that can only be the control, in any letter case.
CONTROLS = ("mock", "control", "ctrl", "uninfected", "untreated", "healthy", "vehicle", "wildtype", "wt", "normal")

#: Intensities are in hundreds; logarithms of them are not above this.
_LARGEST_LOGARITHM = 25.0

#: Work that is done, in steps, and the total.
Progress = Callable[[float, float], None]


@dataclass(frozen=True, eq=False)
class MarkerSearch:
    """The result of :func:`find_markers`. Arrays with an entry for each gene are in the order of ``expression.genes``.

    Attributes
    ----------
    expression : Expression
        After normalisation, if there was one.
    control, treated : str
        The two conditions.
    filters : tuple of Removed
        How many genes each filter removed, in order.
    kept : boolean array
        The genes that passed the filters.
    clusters, groups : int arrays
        The hierarchical cluster and the pattern group in the treated samples; -1 where a gene was removed or has a time
        without a positive value, and everywhere when there is one time point.
    fold : array of shape (n_genes, n_times)
        log2 of treated over control.
    p, q : arrays or None
        Of a t-test of the late fold; None without replicates.
    is_marker : boolean array
    late : array
        The time points at which a marker must be regulated.
    min_fold : float
    p_clusters : list of PCluster or None
        Of the logarithms of the treated profiles; None when they were not asked for.
    notes : tuple of str
    """

    expression: Expression
    control: str
    treated: str
    filters: tuple[Removed, ...]
    kept: Mask
    clusters: Codes
    groups: Codes
    fold: FloatArray
    p: FloatArray | None
    q: FloatArray | None
    is_marker: Mask
    late: FloatArray
    min_fold: float
    p_clusters: list[PCluster] | None
    notes: tuple[str, ...]

    @property
    def markers(self) -> np.ndarray:
        """The names of the markers, the most regulated first."""
        return self.expression.genes[self.order]

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1

    @property
    def marker_groups(self) -> list[int]:
        """The groups that hold markers: those with most of them first, of equals that of the strongest marker."""
        groups = Counter(group for group in self.groups[self.order].tolist() if group >= 0)
        return [group for group, _ in groups.most_common()]

    @property
    def order(self) -> np.ndarray:
        """The numbers of the markers among the genes, the most regulated first."""
        markers = np.flatnonzero(self.is_marker)
        late = np.isin(self.expression.time_points, self.late)
        return markers[np.argsort(-np.abs(self.fold[markers][:, late]).min(axis=1), kind="stable")]

    def table(self) -> pl.DataFrame:
        """The markers, the most regulated first: gene, group, direction, q if there are replicates, fold by time.

        The order is that of the smallest absolute fold over the late time points.
        """
        order, unit = self.order, self.expression.unit
        group = pl.Series(self.groups[order] + 1)
        columns = {
            "gene": self.expression.genes[order].astype(str),
            "group": group.set(group == 0, None),
            "direction": np.where(self.fold[order][:, self._last] > 0, "up", "down"),
            **({} if self.q is None else {"q": self.q[order]}),
        }
        times = [f"fold {point:g}{f' {unit}' if unit else ''}" for point in self.expression.time_points]
        columns |= {name: self.fold[order, place] for place, name in enumerate(times)}
        return pl.DataFrame(columns, nan_to_null=True)

    def write_table(self, path: str | os.PathLike[str]) -> None:
        """Write the table of all markers to a CSV file."""
        write_text(Path(path), csv_text(self.table()))

    @property
    def _last(self) -> int:
        return int(np.flatnonzero(self.expression.time_points == self.late[-1])[0])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; genes by name, groups by number from 1."""
        genes = self.expression.genes
        grouped = int((self.groups >= 0).sum())
        sizes = np.bincount(self.clusters[self.clusters >= 0])
        found: dict[str, Any] = {
            "data": self.expression.name,
            "genes": genes.size,
            "samples": self.expression.samples.size,
            "times": self.expression.time_points.tolist(),
            "unit": self.expression.unit,
            "control": self.control,
            "treated": self.treated,
            "filters": [{"filter": one.name, "removed": one.removed} for one in self.filters],
            "kept": int(self.kept.sum()),
            "clusters": sizes.tolist(),
            "groups": self.n_groups,
            "grouped": grouped,
            "min_fold": self.min_fold,
            "late": self.late.tolist(),
            "markers": self.table().to_dicts(),
        }
        if self.p_clusters is not None:
            found["p_clusters"] = [
                {
                    "genes": genes[list(one.genes)].tolist(),
                    "times": self.expression.time_points[list(one.times)].tolist(),
                }
                for one in self.p_clusters
            ]
        return {**found, "notes": list(self.notes)}


def find_markers(
    expression: Expression,
    *,
    control: str | None = None,
    treated: str | None = None,
    normalize: bool = True,
    log2: bool = False,
    min_present: float = 90.0,
    min_sd: float = 2.0,
    min_observations: int | None = None,
    min_value: float = 2.0,
    min_range: float = 2.0,
    level: int = 3,
    metric: Literal["correlation", "euclidean"] = "correlation",
    tolerance: float = 10.0,
    fine: float = 5.0,
    min_fold: float = 1.5,
    n_late: int = 2,
    delta: float | None = None,
    min_genes: int = 3,
    min_times: int = 3,
    progress: Progress | None = None,
) -> MarkerSearch:
    """Find genes that mark a treatment, as Raman and Domeniconi (2005) find markers of an infection.

    Samples are normalised by their totals and replicates averaged. Four filters clean the genes. Those left are
    clustered by average linkage on their profiles in the treated samples, and within clusters grouped by equal changes.
    A marker is a gene that passed the filters and is regulated at least `min_fold` in one direction at each of the last
    `n_late` time points that have both conditions. The paper looks "between 48 hours and 72 hours", its last two, for a
    log2 ratio of 1.5 or more.

    Cleaning and groups do not compare the conditions: from the sample sheet they learn which samples are averaged.
    **Markers are chosen by the conditions.** A classifier of the condition on these genes and the same samples would be
    validated on rows that chose its features. Use a selector within a recipe, ``tamis.validate("t(50) | svm", X, y)``,
    which is fitted inside each fold, or new samples.

    Parameters
    ----------
    expression : Expression
    control, treated : str, optional
        Conditions; by default the control is the one with a name such as mock or control, and the treated is the other.
    normalize : bool, default=True
        Global normalisation (:func:`tamis.genes.normalization.normalized`).
    log2 : bool, default=False
        The values are logarithms to base 2 of intensities; they are raised first.
    min_present, min_sd, min_value, min_range : float
    min_observations : int, optional
        The filters (:func:`tamis.genes.filters.clean`), on averages of replicates. By default `min_observations` is the
        number of time points.
    level : int, default=3
    metric : {"correlation", "euclidean"}, default="correlation"
        The hierarchy (:func:`tamis.genes.clustering.hierarchical_clusters`).
    tolerance, fine : float, default=10 and 5
        Percentage points within groups (:func:`tamis.genes.pattern_groups.pattern_groups`).
    min_fold : float, default=1.5
        As log2: 1.5 is a ratio of 2.8.
    n_late : int, default=2
        With fewer time points, all of them.
    delta : float, optional
        Look for maximal pClusters of the markers too (:func:`tamis.genes.pattern_clusters.pclusters`), in log2 of their
        treated profiles.
    min_genes, min_times : int, default=3
        The least size of pClusters; with fewer time points, all of them.
    progress : callable, optional
        ``progress(done, total)`` is called between steps.

    Returns
    -------
    MarkerSearch

    References
    ----------
    Raman and Domeniconi (2005), "Gene expression analysis of HIV-1 linked p24-specific CD4+ T-cell responses for
    identifying genetic markers".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.genes import Expression, find_markers
    >>> ill = [[400, 900, 5000, 7000], [300, 320, 280, 310], [900, 850, 920, 880]]
    >>> well = [[410, 390, 400, 420], [310, 300, 290, 300], [880, 900, 910, 860]]
    >>> conditions = ["infected"] * 4 + ["mock"] * 4
    >>> data = Expression.of(np.hstack([ill, well]), times=[0, 8, 24, 48] * 2, conditions=conditions,
    ...     genes=["IFIT1", "ACTB", "GAPDH"])
    >>> found = find_markers(data, normalize=False)
    >>> found.markers.tolist(), found.fold[0].round(1).tolist()
    (['IFIT1'], [-0.0, 1.2, 3.6, 4.1])
    """
    check_number("min_fold", min_fold, 0.0, np.inf)
    check_whole("n_late", n_late, 1)
    if metric not in METRICS:
        raise TamisError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}")
    step = progress or (lambda done, total: None)
    control, treated = _conditions(expression, control, treated)
    expression, notes = _intensities(expression, control, treated, log2, normalize)
    step(1, 4)
    ill, well = expression.profiles(treated), expression.profiles(control)
    points = expression.time_points
    both = _sampled(expression, treated) & _sampled(expression, control)
    if not both.any():
        raise TamisError(
            f"{expression.name}: no time point has samples of both {quoted(treated)} and {quoted(control)}"
        )
    if not both.all():
        alone = ", ".join(f"{point:g}" for point in points[~both])
        notes.append(f"only one condition has samples at {alone}: there is no fold then")
    columns = np.hstack([ill[:, _sampled(expression, treated)], well[:, _sampled(expression, control)]])
    kept, filters = clean(
        columns,
        min_present=min_present,
        min_sd=min_sd,
        min_observations=points.size if min_observations is None else min_observations,
        min_value=min_value,
        min_range=min_range,
    )
    fold = log2_fold(ill, well)
    late = points[both][-n_late:]
    place = np.isin(points, late)
    regulated = (fold[:, place] >= min_fold).all(axis=1) | (fold[:, place] <= -min_fold).all(axis=1)
    step(2, 4)
    clusters, groups = _patterns(ill[:, _sampled(expression, treated)], kept, level, metric, tolerance, fine, notes)
    step(3, 4)
    # The false discovery rate is that among the genes that the filters left.
    tested = fold_test(_only(expression, kept), treated, control, late)
    p, q = (None, None) if tested is None else (_spread(tested.p, kept), _spread(tested.q, kept))
    is_marker = kept & regulated
    found = None
    if delta is not None:
        found = _p_clusters(ill, np.flatnonzero(is_marker), delta, min_genes, min(min_times, max(2, points.size)))
    step(4, 4)
    return MarkerSearch(
        expression=expression,
        control=control,
        treated=treated,
        filters=filters,
        kept=kept,
        clusters=clusters,
        groups=groups,
        fold=fold,
        p=p,
        q=q,
        is_marker=is_marker,
        late=late,
        min_fold=min_fold,
        p_clusters=found,
        notes=(*expression.notes, *notes),
    )


def _conditions(expression: Expression, control: str | None, treated: str | None) -> tuple[str, str]:
    """The control and the other condition, by name or by what names usually mean."""
    known = np.unique(expression.conditions).tolist()
    shown = ", ".join(map(quoted, known))
    for what, name in (("control", control), ("treated", treated)):
        if name is not None and name not in known:
            raise TamisError(f"{expression.name}: {what} {quoted(name)} is no condition; there are {shown}")
    if control is None:
        usual = [name for name in known if name.lower() in CONTROLS and name != treated]
        others = [name for name in known if name != treated]
        if len(usual) != 1 and not (treated is not None and len(others) == 1):
            raise TamisError(f"{expression.name}: name the control with --control; the conditions are {shown}")
        control = (usual or others)[0]
    if treated is None:
        others = [name for name in known if name != control]
        if len(others) != 1:
            raise TamisError(f"{expression.name}: one other, or --treated, is needed; the conditions are {shown}")
        treated = others[0]
    if treated == control:
        raise TamisError(f"{expression.name}: treated and control are both {quoted(control)}; there must be two")
    return control, treated


def _intensities(
    expression: Expression, control: str, treated: str, log2: bool, normalize: bool
) -> tuple[Expression, list[str]]:
    """The samples of both conditions, as normalised intensities."""
    notes: list[str] = []
    used = np.isin(expression.conditions, [control, treated])
    values = expression.values[:, used]
    if log2:
        if np.nanmax(values, initial=0.0) > 1000:
            raise TamisError(f"{expression.name}: a value is above 1000, so that they are no logarithms to base 2")
        values = np.exp2(values)
    elif np.nanmax(values, initial=0.0) <= _LARGEST_LOGARITHM:
        notes.append(
            f"no value is above {_LARGEST_LOGARITHM:g}: if they are logarithms, --log2 makes intensities of them"
        )
    if normalize:
        values = normalized(values, expression.samples[used])
    columns = {name: getattr(expression, name)[used] for name in ("samples", "times", "conditions")}
    return replace(expression, values=values, **columns), notes


def _only(expression: Expression, genes: Mask) -> Expression:
    """The expression of some genes; of all when there are none, since a matrix must have some."""
    genes = genes if genes.any() else np.ones_like(genes)
    return replace(expression, values=expression.values[genes], genes=expression.genes[genes])


def _spread(values: FloatArray, kept: Mask) -> FloatArray:
    """Values of the kept genes among those of all, NaN for the others."""
    found = np.full(kept.size, np.nan)
    if kept.any():
        found[kept] = values
    return found


def _sampled(expression: Expression, condition: str) -> Mask:
    """Which time points have samples of the condition."""
    return np.isin(expression.time_points, expression.times[expression.conditions == condition])


def _patterns(
    profiles: FloatArray, kept: Mask, level: int, metric: Any, tolerance: float, fine: float, notes: list[str]
) -> tuple[Codes, Codes]:
    """Clusters and groups of the genes that were kept and have positive values at all times; -1 for the others."""
    clusters, groups = (np.full(kept.size, -1, dtype=np.intp) for _ in range(2))
    if profiles.shape[1] < 2:
        notes.append("there is one time point, so that there are no patterns over time")
        return clusters, groups
    usable = np.flatnonzero(kept & (profiles > 0).all(axis=1))
    if usable.size < kept.sum():
        lost = int(kept.sum()) - usable.size
        notes.append(f"genes in no group, for a value is missing or not positive at some time: {lost}")
    own = hierarchical_clusters(profiles[usable], level=level, metric=metric)
    clusters[usable] = own
    groups[usable] = pattern_groups(profiles[usable], own, tolerance=tolerance, fine=fine)
    return clusters, groups


def _p_clusters(
    profiles: FloatArray, genes: np.ndarray, delta: float, min_genes: int, min_times: int
) -> list[PCluster]:
    """The pClusters of some genes, by their numbers among all."""
    own = profiles[genes]
    logs = np.log2(own, out=np.full(own.shape, np.nan), where=own > 0)
    if profiles.shape[1] < 2 or genes.size < min_genes:
        return []
    found = pclusters(logs, delta, min_genes=min_genes, min_times=min_times)
    return [PCluster(tuple(genes[list(one.genes)].tolist()), one.times) for one in found]
