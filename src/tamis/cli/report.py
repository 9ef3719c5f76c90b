"""``tamis report``: the report of a run as a page, as text, as single figures, or beside another run."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from tamis.cli.show import Json, print_json, print_line


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run file of 'tamis mine' or tamis.mine.")],
    compare: Annotated[
        Path | None, typer.Option("--compare", metavar="RUN2", help="Another run to show beside it.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to put the page, NAME.tamis-report.html by default.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the report as text instead.")] = False,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="FOLDER", help="Draw single figures into a folder instead.")
    ] = None,
    format_: Annotated[Literal["svg", "png", "pdf"], typer.Option("--format", help="Format of the figures.")] = "svg",
    json: Json = False,
) -> None:
    """Write the report of RUN as one HTML file that works offline, or as text, figures or JSON."""
    from tamis.reporting.run_report import report as build

    found = build(run, compare=compare)
    if json:
        print_json(found.facts)
    elif markdown:
        typer.echo(found.to_markdown())
    elif figures is not None:
        for path in found.to_figures(figures, format=format_):
            print_line(str(path))
    else:
        page = found.to_html(out or run.with_name(f"{run.name.removesuffix('.tamis-run')}.tamis-report.html"))
        print_line(f"report: {page}")
        if open_:
            typer.launch(page.absolute().as_uri())


def this_command() -> str:
    """The command that the user typed."""
    return shlex.join(["tamis", *sys.argv[1:]])


def check_place(path: Path) -> None:
    """Refuse a path that cannot be written before the computation, which may take long."""
    from tamis.base.errors import TamisError

    if path.is_dir():
        raise TamisError(f"{path}: cannot be written (it is a folder)")
    if not path.parent.is_dir():
        raise TamisError(f"{path}: cannot be written (there is no folder {path.parent})")
