"""Figures of marker genes: the course of each group under both conditions, and the regulation of all markers."""

from math import ceil

import numpy as np

from tamis.compose.plural import counted
from tamis.genes.markers import MarkerSearch
from tamis.reporting.figure_description import Axis, Colour, Figure, Panel, Series

#: Groups that are drawn; genes of a group, and markers, that have a line of their own.
GROUPS, _LINES, _MARKERS = 12, 8, 60


def group_figures(found: MarkerSearch, most: int = GROUPS) -> list[Figure]:
    """Mean log2 intensity over time of the groups with markers, treated and control; those with most markers first."""
    own = found.expression
    with np.errstate(divide="ignore", invalid="ignore"):
        treated, control = (
            np.where(profile > 0, np.log2(profile), np.nan)
            for profile in (own.profiles(found.treated), own.profiles(found.control))
        )
    figures = []
    for group in found.marker_groups[:most]:
        genes = np.flatnonzero(found.groups == group)
        markers = int(found.is_marker[genes].sum())
        marks: list[Series] = []
        if 1 < genes.size <= _LINES:
            marks += [_line(found, treated[gene], "faint", None) for gene in genes]
        for number, (name, logs) in enumerate(((found.treated, treated), (found.control, control))):
            marks.append(_line(found, _mean(logs[genes]), number, name))
        names = own.genes[genes[found.is_marker[genes]]].tolist()
        title = names[0] if genes.size == 1 else f"Group {group + 1}: {counted(genes.size, 'gene')}"
        about = f"{counted(markers, 'marker')}: {', '.join(names[:_LINES])}{', ...' if markers > _LINES else ''}"
        panel = Panel(_time_axis(found), Axis("log2 intensity"), marks)
        figures.append(Figure(f"group_{group + 1}", title, about, (4.0, 2.6), [panel]))
    return figures


def fold_figure(found: MarkerSearch) -> Figure | None:
    """log2 fold of every marker over time, those up and those down; None without markers."""
    order = found.order[:_MARKERS]
    if not order.size:
        return None
    up = found.table()["direction"].to_list()
    marks, seen = [], set()
    for gene, way in zip(order, up, strict=False):
        marks.append(_line(found, found.fold[gene], int(way == "down"), None if way in seen else way))
        seen.add(way)
    for sign in (1, -1):
        limit = np.full(found.expression.time_points.size, sign * found.min_fold)
        marks.append(_line(found, limit, "muted", None, dotted=True))
    n = int(found.is_marker.sum())
    shown = f"The {_MARKERS} most regulated of {n} markers" if n > _MARKERS else counted(n, "marker")
    about = f"{shown}; dotted: the threshold of {found.min_fold:g}"
    # Whole numbers at the ends, so that there are ticks.
    reach = ceil(np.nanmax(np.abs(found.fold[order]), initial=found.min_fold))
    axis = Axis(f"log2 of {found.treated} over {found.control}", limits=(-reach, reach))
    return Figure("fold", "Fold regulation over time", about, (4.0, 2.6), [Panel(_time_axis(found), axis, marks)])


def _line(found: MarkerSearch, y: np.ndarray, colour: Colour, label: str | None, *, dotted: bool = False) -> Series:
    known = [float(value) if np.isfinite(value) else None for value in y]
    points = not dotted and colour != "faint" and label is not None
    places = list(range(found.expression.time_points.size))
    return Series(places, known, line=True, points=points, size=5.0, dotted=dotted, colour=colour, label=label)


def _mean(logs: np.ndarray) -> np.ndarray:
    """The mean over the genes that are known at a time."""
    known = np.isfinite(logs)
    count = known.sum(axis=0)
    total = np.where(known, logs, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(count.size, np.nan), where=count > 0)


def _time_axis(found: MarkerSearch) -> Axis:
    """Time points at equal distances, as they are usually doubled from one to the next."""
    unit = found.expression.unit
    names = [f"{point:g}" for point in found.expression.time_points]
    return Axis(f"time ({unit})" if unit else "time", names=names, grid=False)
