"""``tamis outliers``: the columns in which rows are unlike their neighbours."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tamis.cli.show import (
    Data,
    Json,
    Seed,
    print_json,
    print_line,
    print_notes,
    print_table,
    progress,
    reads_data,
)

if TYPE_CHECKING:
    from tamis.data.reading import Reading
    from tamis.outliers.explain import Explained


@reads_data
def outliers(
    data: Data,
    rows: Annotated[
        str | None, typer.Option("--rows", help="Numbers of rows from 1: 17,20,31-35; by default the most outlying.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Without --rows: how many rows.")] = 5,
    target: Annotated[
        str | None, typer.Option("--target", help="A column to leave out, if its name is not a usual one of a target.")
    ] = None,
    neighbours: Annotated[int, typer.Option("--neighbours", min=1, help="Nearest rows to compare with.")] = 5,
    max_features: Annotated[
        str, typer.Option("--max-features", help="The most columns of a subspace: a number, auto or all.")
    ] = "auto",
    threshold: Annotated[
        str, typer.Option("--threshold", help="The degree from which a subspace is outlying: a number, auto or level.")
    ] = "auto",
    contamination: Annotated[
        float, typer.Option("--contamination", help="With --threshold auto: the largest share of outlying rows.")
    ] = 0.05,
    factor: Annotated[float, typer.Option("--factor", help="With --threshold level: the multiple of the level.")] = 2.0,
    metric: Annotated[
        Literal["euclidean", "manhattan"], typer.Option("--metric", help="How columns add up to a distance.")
    ] = "euclidean",
    search: Annotated[
        Literal["dynamic", "saving", "saving_flat", "top_down", "bottom_up", "random"],
        typer.Option("--search", help="The order of the search; the result does not depend on it."),
    ] = "dynamic",
    seed: Seed = 0,
    html: Annotated[
        Path | None, typer.Option("--report", "--html", help="Also write a page with a picture of each row.")
    ] = None,
    json: Json = False,
    *,
    reading: "Reading",
) -> None:
    """Say in which columns rows of DATA are unlike their nearest neighbours.

    A row is outlying in a subspace, a set of columns, if the distances to its nearest rows sum up to the threshold or
    more there. Shown are the subspaces without a smaller one inside. The target, if there is one, is left out.
    """
    from tamis.cli.report import check_place
    from tamis.data.rows_alone import load_rows
    from tamis.outliers.explain import explain
    from tamis.outliers.highdod import HighDOD
    from tamis.outliers.options import row_numbers, size_of, threshold_of

    numbers = None if rows is None else row_numbers(rows)
    model = HighDOD(
        neighbours,
        threshold=threshold_of(threshold),
        contamination=contamination,
        factor=factor,
        metric=metric,
        max_features=size_of(max_features),
        search=search,
        random_state=seed,
    )
    if html is not None:
        check_place(html)
    with progress(f"reading {data}"):
        dataset, left_out = load_rows(data, target, reading)
    print_notes(dataset)
    try:
        found = explain(dataset, numbers, model=model, top=top)
    except KeyboardInterrupt:
        typer.echo("tamis: stopped; nothing was written", err=True)
        raise typer.Exit(130) from None
    if html is not None:
        from tamis.reporting.outlier_page import write_outlier_page

        write_outlier_page(found, html)
    if json:
        print_json({**found.to_dict(), "left_out": left_out})
        return
    without = "" if left_out is None else f"; the target {left_out!r} is left out"
    print_line(f"{dataset.name}: {dataset.n_rows} rows, {dataset.n_features} features{without}")
    _print(found)
    if html is not None:
        print_line(f"page: {html}")


def _print(found: "Explained") -> None:
    for line in found.sentences():
        print_line(line)
    print_line()
    for row in found.rows:
        print_line(row.found.sentence())
    lines = [
        [
            row.found.name,
            ", ".join(one.name for one in columns),
            f"{subspace.degree:.4g}",
            "; ".join(one.value for one in columns),
            "; ".join(one.nearest for one in columns),
        ]
        for row in found.rows
        for subspace, columns in zip(row.found.subspaces, row.values, strict=False)
    ]
    if lines:
        print_line()
        print_table("", ["row", "subspace", "degree", "values", "of the nearest rows"], lines, right=["degree"])
