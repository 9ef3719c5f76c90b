"""The page of a search for marker genes: counts, the table of markers, and a line plot of each of their groups."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from tamis import __version__
from tamis.data.write import write_text
from tamis.genes.markers import MarkerSearch
from tamis.reporting.figures_genes import fold_figure, group_figures
from tamis.reporting.html import environment, policy, source
from tamis.reporting.svg_drawing import svg

#: Markers in the table of the page.
_ROWS = 200


def genes_page(found: MarkerSearch) -> str:
    """Draw the result as one HTML page without scripts, which needs nothing else.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.genes import Expression, find_markers
    >>> data = Expression.of([[9.0, 90.0], [50.0, 51.0]], times=[4, 4], conditions=["mock", "flu"], genes=["<b>", "g2"])
    >>> page = genes_page(find_markers(data, normalize=False))
    >>> "&lt;b&gt;" in page, "<b>&" in page
    (True, False)
    """
    table, fold = found.table(), fold_figure(found)
    groups = [(figure, Markup(svg(figure))) for figure in group_figures(found)]
    facts = found.to_dict()
    drawn = (
        environment()
        .get_template("genes.html")
        .render(
            facts=facts,
            columns=table.columns,
            rows=[list(map(_cell, table.columns, row)) for row in table.head(_ROWS).rows()],
            n_markers=table.height,
            n_marker_groups=len(found.marker_groups),
            fold=None if fold is None else (fold, Markup(svg(fold))),
            groups=groups,
            policy=policy([]),
            css=source("page.css"),
            version=__version__,
        )
    )
    return drawn.encode("utf-8", "replace").decode("utf-8")


def write_genes_page(found: MarkerSearch, path: Path) -> Path:
    """Write the page to a file, whole or not at all."""
    write_text(path, genes_page(found))
    return path


def _cell(column: str, value: Any) -> str:
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:.2g}" if column == "q" else f"{value:z.2f}"
