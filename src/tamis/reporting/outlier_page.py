"""Outlying rows as one HTML page: a sentence, a table and a picture for each; it has no script and loads nothing."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tamis.data.write import write_text
from tamis.outliers.explain import Explained
from tamis.reporting.display_names import shown
from tamis.reporting.figures_outliers import outlier_figure
from tamis.reporting.html import policy
from tamis.reporting.svg_drawing import svg

_TEMPLATES = Path(__file__).with_name("templates")


def outlier_page(explained: Explained) -> str:
    """Draw the page; names of the data are escaped."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["shown"] = shown
    figures = [outlier_figure(explained, row, number) for number, row in enumerate(explained.rows)]
    drawn = environment.get_template("outliers.html").render(
        explained=explained,
        policy=policy([]),
        rows=[
            (row, None if figure is None else Markup(svg(figure)), "" if figure is None else figure.note)
            for row, figure in zip(explained.rows, figures, strict=True)
        ],
    )
    return drawn.encode("utf-8", "replace").decode("utf-8")


def write_outlier_page(explained: Explained, path: Path) -> Path:
    """Write the page to a file, whole or not at all."""
    write_text(path, outlier_page(explained))
    return path
