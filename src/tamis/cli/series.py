"""``tamis series``: which variables (sensors) of time series to keep."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tamis.cli.plot import Point, draw
from tamis.cli.report import check_place
from tamis.cli.show import (
    Jobs,
    Json,
    Rule,
    Seed,
    Target,
    print_json,
    print_line,
    print_notes,
    print_table,
    progress,
    reads_data,
)

if TYPE_CHECKING:
    from tamis.data.reading import Reading
    from tamis.series.choice import VariableChoice


@reads_data
def series(
    data: Annotated[
        str,
        typer.Argument(
            help="Time series: a .ts file, an .npz archive of three dimensions, a long table (item, time, variables, "
            "class), or NAME for NAME_TRAIN.ts and NAME_TEST.ts."
        ),
    ],
    target: Target = None,
    item: Annotated[str | None, typer.Option("--item", help="Of a long table: the column of items.")] = None,
    time: Annotated[str | None, typer.Option("--time", help="Of a long table: the column of times.")] = None,
    layout: Annotated[
        Literal["variables-time", "time-variables"] | None,
        typer.Option("--layout", help="Of an .npz archive: its last two axes."),
    ] = None,
    by: Annotated[
        Literal["correlations", "autoregression"],
        typer.Option(
            "--by", help="What an item becomes: correlations of variables, or coefficients of each by itself."
        ),
    ] = "correlations",
    sizes: Annotated[
        list[int] | None, typer.Option("--size", min=2, help="A number of variables to try; may be repeated.")
    ] = None,
    classifier: Annotated[
        str, typer.Option("--classifier", metavar="RECIPE", help="What follows the elimination.")
    ] = "svm(linear)",
    scale: Annotated[
        bool, typer.Option("--scale/--no-scale", help="Standardise the columns first; without is faster.")
    ] = True,
    compare: Annotated[bool, typer.Option("--compare", help="Also show the curve of the other value of --by.")] = False,
    split: Annotated[
        Literal["folds", "pooled", "official", "leave-one-out"],
        typer.Option("--split", help="How items are divided; see 'tamis validate'."),
    ] = "folds",
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds.")] = 10,
    repeats: Annotated[int | None, typer.Option("--repeats", min=1, help="Repeats of the folds.")] = None,
    inner_folds: Annotated[int, typer.Option("--inner-folds", min=2, help="Folds that choose the number.")] = 5,
    rule: Rule = "simplest",
    report: Annotated[Path | None, typer.Option("--report", help="Also write an HTML page with the curve.")] = None,
    table: Annotated[
        Path | None,
        typer.Option("--table", help="Write the table (.csv, .parquet, .npz) for other commands, and do no more."),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    json: Json = False,
    *,
    reading: "Reading",
) -> None:
    """Choose the variables of time series by which classes are told apart, with the honest error of the choice.

    Corona's elimination selects variables by the correlations of all pairs, anew within each fold.
    """
    from tamis.data.write import check_ending, write
    from tamis.series import choose_variables, load

    if report is not None:
        check_place(report)
    if table is not None:
        check_ending(table)
    with progress(f"reading {data}"):
        items = load(data, target, item=item, time=time, layout=layout, reading=reading)
    if table is not None:
        made = items.correlations() if by == "correlations" else items.autoregression()
        print_notes(made)
        write(made, table)
        print_line(f"{table}: {items.n_items} rows, {made.n_features} features")
        return
    with progress(f"choosing among {items.n_variables} variables") as bar:
        found = choose_variables(
            items,
            by=by,
            sizes=sizes,
            classifier=classifier,
            scale=scale,
            compare=compare,
            rule=rule,
            split=split,
            folds=folds,
            repeats=repeats,
            inner_folds=inner_folds,
            seed=seed,
            n_jobs=jobs,
            progress=bar,
        )
    if report is not None:
        found.report(report)
    if json:
        print_json(found.to_dict())
        return
    _print(found)
    if report is not None:
        print_line(f"report: {report}")


def _print(found: "VariableChoice") -> None:
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    print_line(f"{found.name}: {found.n_items} items, {found.n_variables} variables; {found.split}, seed {found.seed}")
    order = [*found.variables, *found.left_out]
    lines = [
        [place, name, "yes" if place <= len(found.variables) else "no", f"{100 * found.kept_in_folds[name]:.0f} %"]
        for place, name in enumerate(order, 1)
    ]
    print_table("", ["", "variable", "keep", "folds that select it"], lines, right=["", "folds that select it"])
    curves = {found.by: found.curve, **found.beside}
    points = {by: [Point(size, one.mean, one.se) for size, one in curve.items()] for by, curve in curves.items()}
    for line in draw(points, x_title="variables", y_title=found.metric.title):
        print_line(line)
    print_line()
    for sentence in found.sentences():
        print_line(sentence)
