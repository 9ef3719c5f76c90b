"""``tamis reproduce``: a published table run on the data at hand, printed beside its own figures."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tamis.cli.reproduce_study import followed, of_data, run_and_print
from tamis.cli.show import Json, Seed, load_data, print_json, print_line, print_markdown, print_table, progress

if TYPE_CHECKING:
    from tamis.challenge.reproduce import Outcome, Row, Table

#: The data set of the figures.
_PICTURED = "arcene"

#: Letters of a recipe that leave room for a bar in a narrow terminal.
_ROOM = 36


def reproduce(
    paper: Annotated[
        Literal[
            "ghostminer",
            "fs-svm",
            "mrmr",
            "contrasts",
            "fr-svm",
            "convex-networks",
            "esnb",
            "binning",
            "mdl-histogram",
        ],
        typer.Argument(help="Whose tables."),
    ],
    data: Annotated[
        list[str] | None, typer.Option("--data", help="Only rows on this data set; may be given several times.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option("--repeats", min=1, help="How often folds are drawn anew, 3 by default.")
    ] = None,
    seed: Seed = 0,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Worker processes, all cores by default; the result does not depend on it."),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="File that keeps finished rows; tamis-reproduce-PAPER.json by default."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Run also the rows that the file has.")] = False,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="Draw fs-svm's figures 1, 2 and 4 into this folder; no table.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
    json: Json = False,
) -> None:
    """Run the models of PAPER on the data at hand and print each beside its published figures.

    Every finished row is kept at once: a run that is stopped goes on where it was, and a second call only prints.
    """
    from tamis.base.errors import TamisError
    from tamis.challenge.reproduce import STUDIES, TABLES, Results, run_rows

    n_jobs = jobs or os.cpu_count() or 1
    if markdown and json:
        raise TamisError("--markdown and --json exclude each other")
    file = Results(results or Path(f"tamis-reproduce-{paper}.json"))
    if paper in STUDIES:
        if repeats is not None or figures is not None:
            raise TamisError(f"{'--repeats' if repeats is not None else '--figures'}: {paper} has none")
        run_and_print(paper, data or [], file, seed=seed, n_jobs=n_jobs, again=again, markdown=markdown, json=json)
        return
    table, repeats = TABLES[paper], repeats or 3
    if figures is not None:
        _draw(table, figures, repeats=repeats, seed=seed, n_jobs=n_jobs, json=json)
        return
    rows = of_data(table.name, table.data, table.rows, data or [])
    outcomes = followed(
        run_rows(rows, file, folds=table.folds, repeats=repeats, seed=seed, n_jobs=n_jobs, again=again, watch=_watched),
        file,
        len(rows),
        _news,
    )
    if json:
        print_json(_facts(table, outcomes))
    else:
        (_print_markdown if markdown else _print)(table, outcomes, repeats)


@contextmanager
def _watched(row: "Row") -> Iterator[Callable[[int, int], None]]:
    recipe = row.recipe if len(row.recipe) <= _ROOM else f"{row.recipe[: _ROOM - 3]}..."
    with progress(f"{row.data}: {recipe}") as report:
        yield report


def _draw(table: "Table", folder: Path, *, repeats: int, seed: int, n_jobs: int, json: bool) -> None:
    from json import dumps

    from tamis.base.errors import DataError, TamisError
    from tamis.challenge.reproduce.figures import figure_facts, page
    from tamis.data.write import write_text

    if table.name != "fs-svm":
        raise TamisError(f"--figures: {table.name} has no figures; fs-svm has")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made a folder ({error.strerror})") from None
    dataset = load_data(_PICTURED, None)
    with progress("figures 1 and 4") as report:
        facts = figure_facts(dataset, repeats=repeats, seed=seed, n_jobs=n_jobs, progress=report)
    written = [folder / "fs-svm-figures.html", folder / "fs-svm-figures.json"]
    for path, text in zip(written, (page(facts), dumps(facts, indent=1)), strict=True):
        write_text(path, text)
    if json:
        print_json(facts)
    else:
        print_line("\n".join(map(str, written)))


def _facts(table: "Table", outcomes: "Sequence[Outcome[Row]]") -> dict[str, Any]:
    rows = [
        {
            "data": outcome.item.data,
            "recipe": outcome.item.recipe,
            "split": outcome.item.split,
            "published": vars(outcome.item.published),
            "note": outcome.item.note,
            "found": outcome.found,
        }
        for outcome in outcomes
    ]
    return {"table": table.name, "title": table.title, "remarks": list(table.remarks), "rows": rows}


def _cells(outcome: "Outcome[Row]") -> dict[str, str | None]:
    """The printed cells of a row by column; None where there is nothing to say."""
    row, found = outcome.item, outcome.found
    printed, about = row.published, "about " if row.published.about else ""
    cells: dict[str, str | None] = {
        "data": row.data,
        "rows": "train + valid" if row.split == "pooled" else "train -> valid",
        "recipe": row.recipe,
        "published CV": None
        if printed.cv_error is None
        else f"{about}{printed.cv_error:g}" + _deviation(printed.cv_sd),
        "published test": None if printed.test_ber is None else f"{about}{printed.test_ber:.2f}",
        "winner's test": None if printed.winner_ber is None else f"{printed.winner_ber:.2f}",
        "published probes": None if printed.f_probe is None else f"{printed.f_probe:g} %",
    }
    if found is None:
        return cells | {"BER here": "not at hand"}
    ber, kept, real, share = found["metrics"]["ber"], found["kept"], found["real"], found["probe_share"]
    return cells | {
        "BER here": f"{100 * ber['mean']:.2f} ({100 * ber['se']:.2f})",
        "deviation": None if ber["sd"] is None else f"{100 * ber['sd']:.1f}",
        "features": None if kept is None else _span(kept),
        "real": None if real is None else _span(real),
        "probes here": None if share is None else f"{100 * share:.1f} %",
        "s": f"{found['seconds']:.0f}",
    }


def _deviation(sd: float | None) -> str:
    return "" if sd is None else f" ± {sd:g}"


def _span(sizes: Sequence[int]) -> str:
    return str(sizes[0]) if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"


def _news(outcome: "Outcome[Row]", number: int, total: int) -> str:
    cells = _cells(outcome)
    return f"{number}/{total} {cells['data']}: {cells['recipe']}: BER {cells['BER here']} in {cells['s']} s"


def _lines(outcomes: "Sequence[Outcome[Row]]", without: str = "") -> tuple[list[str], list[list[str | None]]]:
    """Column names and cells, numbered; a column that is empty everywhere is left out."""
    cells = [_cells(outcome) for outcome in outcomes]
    columns = dict.fromkeys(name for each in cells for name in each if name != without)
    names = [name for name in columns if any(each.get(name) for each in cells)]
    lines = [[str(number), *(each.get(name) for name in names)] for number, each in enumerate(cells, 1)]
    return ["", *names], lines


def _remarks(table: "Table", repeats: int) -> list[str]:
    """How to read the table."""
    return [
        "BER here: balanced error rate in percent, its standard error in brackets; the deviation is that over folds.",
        "Published CV: error in percent with its deviation over folds; test and winner: BER on the test rows.",
        "The labels of the test rows are not public, so no figure here is on them.",
        f"train + valid: {table.folds} folds over both, drawn {'once' if repeats == 1 else f'{repeats} times'}.",
        *table.remarks,
    ]


def _said_of(outcome: "Outcome[Row]") -> list[str]:
    """What there is to say of a row: its note, and what it warned of when it ran."""
    note = [outcome.item.note] if outcome.item.note else []
    return note + ([] if outcome.found is None else list(outcome.found["warnings"]))


def _print(table: "Table", outcomes: "Sequence[Outcome[Row]]", repeats: int) -> None:
    # Recipes are too long for a column of a terminal.
    columns, lines = _lines(outcomes, without="recipe")
    print_table(table.title, columns, lines, right=[name for name in columns if name not in ("data", "rows")])
    for number, outcome in enumerate(outcomes, 1):
        print_line(f"{number:3}: {outcome.item.recipe}")
        for text in _said_of(outcome):
            print_line(f"     {text}")
    print_line()
    for text in _remarks(table, repeats):
        print_line(text)


def _print_markdown(table: "Table", outcomes: "Sequence[Outcome[Row]]", repeats: int) -> None:
    columns, lines = _lines(outcomes)
    recipe = columns.index("recipe")
    print_line(f"{table.title}\n")
    for line in lines:
        line[recipe] = "`{}`".format(str(line[recipe]).replace("|", "\\|"))
    print_markdown(columns, lines)
    print_line()
    for text in _remarks(table, repeats):
        print_line(f"- {text}")
    for number, outcome in enumerate(outcomes, 1):
        for text in _said_of(outcome):
            print_line(f"- {number}: {text}")
