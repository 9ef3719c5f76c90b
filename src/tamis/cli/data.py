"""``tamis data``: list, describe, make and fetch data sets."""

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from tamis.cli.show import (
    Data,
    Json,
    Seed,
    Target,
    load_data,
    print_json,
    print_line,
    print_notes,
    print_table,
    reads_data,
    target_words,
)

if TYPE_CHECKING:
    from tamis.data.reading import Reading


class _DescribesData(TyperGroup):
    """A group in which a file or the name of a data set in place of a command means to describe it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        commands = self.list_commands(ctx)
        if args and args[0] not in commands and (Path(args[0]).exists() or not get_close_matches(args[0], commands)):
            args = ["describe", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_DescribesData,
    help="List, describe, make and fetch data sets; 'tamis data FILE' describes.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_sets(json: Json = False) -> None:
    """Show the data sets that have a name: generators, and those in the folder TAMIS_DATA."""
    import os

    from tamis.data.named import names

    known = names()
    if json:
        print_json([{"name": name, "what": what} for name, what in known.items()])
        return
    print_table("data sets", ["name", "what it is"], list(known.items()))
    if not os.environ.get("TAMIS_DATA"):
        print_line("Set TAMIS_DATA to a folder of data files to use them by name.")


@app.command()
@reads_data
def describe(
    data: Data,
    target: Target = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page instead.")] = None,
    json: Json = False,
    *,
    reading: "Reading",
) -> None:
    """Show what is in DATA: rows, columns and their kinds, columns to leave out, classes, missing values, oddities."""
    from tamis.data.column_words import lines_of
    from tamis.data.describe import describe as facts_of

    dataset = load_data(data, target, reading)
    if html is not None:
        from tamis.cli.report import this_command
        from tamis.reporting.facts import data_facts
        from tamis.reporting.html import write_page

        write_page(data_facts(dataset, command=this_command()), html)
        print_line(f"report: {html}")
        return
    facts = facts_of(dataset)
    if json:
        print_json(facts)
        return
    name, left_out, doubts = facts.pop("name"), facts.pop("left_out"), facts.pop("column_warnings")
    rows = [(key.replace("_", " "), _value(value)) for key, value in facts.items()]
    print_table(str(name), ["fact", "value"], [row for row in rows if row[1] != "-"])
    # What was left out of a file has been said.
    doubtful = [f"{column} {doubt}" for column, doubt in (doubts or {}).items()]
    for line in [*lines_of(left_out or {}), *doubtful]:
        if line not in dataset.notes:
            print_line(line)


@app.command()
def make(
    generator: Annotated[str, typer.Argument(help="Which generator ('tamis data list' shows them), or messy.")],
    out: Annotated[Path, typer.Argument(help="File to write: .csv, .csv.gz, .parquet or .npz.")],
    rows: Annotated[
        int | None,
        typer.Option("--rows", min=4, help="Number of rows; 2000 by default, 300 of messy, 32 of infection."),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Make a data set with known relevant features and write it to a file.

    'messy' is a table as people have them: text with dates, comments, rare words and seven spellings of missing.
    """
    from tamis.base.errors import TamisError
    from tamis.data.synthetic import GENERATORS, TEXT_GENERATORS, USUAL_ROWS
    from tamis.data.write import write

    known = GENERATORS | TEXT_GENERATORS
    if generator not in known:
        raise TamisError(f"no generator is called {generator!r}; there are: {', '.join(known)}")
    made = known[generator](rows or USUAL_ROWS.get(generator, 2000), seed=seed)
    write(made, out)
    print_line(f"{out}: {made.n_rows} rows, {made.n_features} features, class column {made.target!r}")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="Name or number of an OpenML data set.")],
    server: Annotated[str | None, typer.Option("--server", help="Address of a mirror of OpenML.")] = None,
) -> None:
    """Fetch a data set from OpenML into the folder TAMIS_DATA."""
    from tamis.data.fetch import fetch as fetch_set

    found = fetch_set(name, server=server)
    print_notes(found)
    print_line(f"{found.name}: {found.n_rows} rows, {found.n_features} features, {target_words(found)}")


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_value(v)}" for k, v in value.items()) or "-"
    if isinstance(value, (list, tuple)):
        shown = ", ".join(_value(v) for v in value[:10])
        return f"{shown}, ... ({len(value)} in all)" if len(value) > 10 else shown or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
