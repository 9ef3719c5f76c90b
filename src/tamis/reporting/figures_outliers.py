"""Figures of outlying rows: a row among its neighbours and all rows, in the first subspace that was found."""

from collections.abc import Sequence

import numpy as np

from tamis.base.types import FloatArray
from tamis.outliers.explain import Explained, ExplainedRow, column_of
from tamis.reporting.display_names import escaped
from tamis.reporting.figure_description import Axis, Colour, Figure, Panel, Series

#: Rows that are drawn besides the outlying one and its neighbours, and columns of a subspace.
_ROWS, _COLUMNS = 1500, 12

#: Levels of a nominal column that are named along an axis.
_LEVELS = 12

#: By how much points of one value are spread, as a part of the distance of two columns.
_SPREAD = 0.5

#: A share whose multiples are spread evenly.
_GOLDEN = 0.618033988749895


def outlier_figure(explained: Explained, row: ExplainedRow, number: int = 0) -> Figure | None:
    """The row in its first subspace: a plane of two columns, or a strip for each column; None without a subspace."""
    if not row.found.subspaces or row.found.row is None:
        return None
    first = row.found.subspaces[0]
    columns = first.columns[:_COLUMNS]
    names = first.names[:_COLUMNS]
    placed = [_placed(explained, j) for j in columns]
    others = np.setdiff1d(_sampled(explained.data.n_rows), [row.found.row, *row.neighbours[0].tolist()])
    groups: list[tuple[str, np.ndarray, Colour, str, float]] = [
        ("other rows", others, "faint", "circle", 4.5),
        ("nearest rows", row.neighbours[0], "accent", "circle", 8.0),
        (row.found.name, np.array([row.found.row]), 5, "square", 11.0),
    ]
    values = [column for column, _ in placed]
    marks = []
    for label, rows, colour, shape, size in groups:
        x, y = _known(values[0][rows], values[1][rows]) if len(values) == 2 else _strips(values, rows)
        marks.append(
            Series(x, y, points=True, size=size, colour=colour, shape=shape, label=label, hover=escaped(label))
        )
    if len(columns) == 2:
        across, up = (Axis(name, names=levels) for name, (_, levels) in zip(names, placed, strict=True))
    elif len(columns) == 1:
        across, up = Axis(names[0], names=placed[0][1]), Axis(visible=False)
    else:
        across, up = Axis("from the lowest to the highest value", "share"), Axis(names=names)
    panel = Panel(across, up, marks)
    left = len(first.columns) - len(columns)
    drawn = [f"{others.size:,} other rows are drawn"] if others.size == _ROWS else []
    drawn += [f"{left} more columns are not drawn"] if left else []
    return Figure(
        f"outlier-{number}",
        row.found.name,
        "The row, the rows nearest to it there, and others.",
        (5.0, 3.2),
        [panel],
        note="; ".join(drawn),
    )


def _sampled(n_rows: int) -> np.ndarray:
    """Rows to draw, evenly through the data."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, _ROWS)).astype(np.intp))


def _placed(explained: Explained, j: int) -> tuple[FloatArray, Sequence[str]]:
    """Where the values of a column are along an axis, NaN where missing; with the names of few levels."""
    column = column_of(explained.data, j)
    if column.dtype.is_numeric():
        return column.to_numpy().astype(np.float64), ()
    levels = column.drop_nulls().unique().sort().to_list()
    place = {level: number for number, level in enumerate(levels)}
    values = np.array([np.nan if value is None else place[value] for value in column.to_list()])
    return values, [str(level) for level in levels] if len(levels) <= _LEVELS else ()


def _known(x: FloatArray, y: FloatArray) -> tuple[list[float], list[float]]:
    both = ~(np.isnan(x) | np.isnan(y))
    return x[both].tolist(), y[both].tolist()


def _strips(columns: Sequence[FloatArray], rows: np.ndarray) -> tuple[list[float], list[float]]:
    """Points of several columns, each in its own range and spread around its own line; of one, as it is."""
    x: list[float] = []
    y: list[float] = []
    spread = _SPREAD * ((rows * _GOLDEN) % 1.0 - 0.5) if rows.size > 1 else np.zeros(1)
    for place, values in enumerate(columns):
        low, high = np.nanmin(values), np.nanmax(values)
        shown = values if len(columns) == 1 else (values - low) / (high - low or 1.0)
        across, up = _known(shown[rows], place + spread)
        x += across
        y += up
    return x, y
