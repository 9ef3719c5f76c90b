"""``tamis reproduce``: the experiments of a paper run on the data at hand, beside its published figures."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.show import Json, Seed, print_json, print_line, print_table, progress

if TYPE_CHECKING:
    from tamis.reproduce import Reproduction


def reproduce(
    paper: Annotated[str | None, typer.Argument(help="Whose experiments; without it all papers are listed.")] = None,
    data: Annotated[
        list[str] | None, typer.Option("--data", help="Only rows on this data set; may be repeated.")
    ] = None,
    repeats: Annotated[int | None, typer.Option("--repeats", min=1, help="Repeats of the folds, 3 by default.")] = None,
    seed: Seed = 0,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Worker processes, all cores by default; the result does not depend on it."),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="File for finished rows; tamis-reproduce-PAPER.json by default."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also run the rows that the file has.")] = False,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", help="Also draw the figures into this folder: a page, and its numbers."),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    json: Json = False,
) -> None:
    """Run the experiments of PAPER on the data at hand and print them beside the published figures.

    Every finished row is stored at once: a stopped run resumes where it was, and a second call only prints.
    """
    from tamis.base.errors import TamisError
    from tamis.reproduce import run

    if markdown and json:
        raise TamisError("--markdown and --json exclude each other")
    n_jobs = jobs or os.cpu_count() or 1
    if paper is None:
        _print_studies(json)
    else:
        file = results or Path(f"tamis-reproduce-{paper}.json")
        try:
            found = run(
                paper,
                data=data or (),
                repeats=repeats,
                seed=seed,
                n_jobs=n_jobs,
                results=file,
                again=again,
                figures=figures,
                progress=progress,
                finished=partial(typer.echo, err=True),
            )
        except KeyboardInterrupt:
            typer.echo(f"tamis: stopped; what is finished is in {file}, and the same command resumes", err=True)
            raise typer.Exit(130) from None
        if json:
            print_json(found.to_dict())
        elif markdown:
            print_line(found.to_markdown())
        else:
            _print(found)


def _print_studies(json: bool) -> None:
    from tamis.reproduce import studies

    found = [
        {"name": name, "title": study.title, "paper": study.paper, "runs": study.summary, "data": list(study.data)}
        for name, study in studies().items()
    ]
    if json:
        print_json(found)
    else:
        lines = [[one["name"], one["paper"], one["runs"], ", ".join(one["data"]) or "its own"] for one in found]
        print_table("Papers whose experiments can be run", ["name", "paper", "what is run", "data"], lines)


def _print(found: "Reproduction") -> None:
    print_line(f"{found.title}\n")
    for table in found.tables:
        print_table(table.title, table.columns, table.lines, right=table.columns[table.words :])
        for place, recipe in enumerate(table.recipes):
            print_line(f"{place + 1:3}: {recipe}")
            if place in table.notes:
                print_line(f"     {table.notes[place]}")
        if not table.recipes:
            for place, note in table.notes.items():
                print_line(f"{place + 1:3}: {note}")
        if table.recipes or table.notes:
            print_line()
    for text in found.remarks:
        print_line(text)
    for file in found.figures:
        print_line(f"Figures: {file}")
