"""``tamis genes``: marker genes of a treatment, from expression over time."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tamis.cli.show import Data, Json, print_json, print_line, print_table, progress, reads_data

if TYPE_CHECKING:
    from tamis.data.reading import Reading


@reads_data
def genes(
    data: Data,
    samples: Annotated[
        Path | None,
        typer.Option("--samples", help="The sample sheet: a table with columns sample, time and condition."),
    ] = None,
    sample: Annotated[str | None, typer.Option("--sample", help="The sheet's column of names of samples.")] = None,
    time: Annotated[str | None, typer.Option("--time", help="The column of times, of the sheet or of DATA.")] = None,
    condition: Annotated[
        str | None, typer.Option("--condition", help="The column of conditions, of the sheet or of DATA.")
    ] = None,
    control: Annotated[str | None, typer.Option("--control", help="The control condition, such as mock.")] = None,
    treated: Annotated[str | None, typer.Option("--treated", help="The other condition, where there are more.")] = None,
    log2: Annotated[bool, typer.Option("--log2", help="The values are logarithms to base 2 of intensities.")] = False,
    no_normalize: Annotated[
        bool, typer.Option("--no-normalize", help="Samples have comparable totals already.")
    ] = False,
    min_present: Annotated[
        float, typer.Option("--min-present", min=0, max=100, help="Filter 1: percent of values that are known.")
    ] = 90.0,
    min_sd: Annotated[float, typer.Option("--min-sd", min=0, help="Filter 2: standard deviation of a gene.")] = 2.0,
    min_observations: Annotated[
        int | None,
        typer.Option("--min-observations", min=0, help="Filter 3: values above --min-value; as many as time points."),
    ] = None,
    min_value: Annotated[float, typer.Option("--min-value", min=0, help="Filter 3: the absolute value.")] = 2.0,
    min_range: Annotated[float, typer.Option("--min-range", min=0, help="Filter 4: maximum less minimum.")] = 2.0,
    level: Annotated[int, typer.Option("--level", min=0, help="Levels below the root at which the tree is cut.")] = 3,
    metric: Annotated[
        Literal["correlation", "euclidean"], typer.Option("--metric", help="The distance of the hierarchy.")
    ] = "correlation",
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0, help="Percentage points within a pattern group.")
    ] = 10.0,
    fine: Annotated[float, typer.Option("--fine", min=0, help="Percentage points within a rough group.")] = 5.0,
    min_fold: Annotated[float, typer.Option("--min-fold", min=0, help="Fold of a marker, as log2.")] = 1.5,
    n_late: Annotated[
        int, typer.Option("--late", min=1, help="The last time points, at each of which a marker is regulated.")
    ] = 2,
    delta: Annotated[
        float | None, typer.Option("--delta", min=0, help="Look for maximal pClusters of the markers, in log2.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many markers to show.")] = 20,
    table: Annotated[Path | None, typer.Option("--table", help="Write all markers to this CSV file.")] = None,
    page: Annotated[
        Path | None, typer.Option("--report", "--page", help="Write a page with a line plot for each group.")
    ] = None,
    json: Json = False,
    *,
    reading: "Reading",
) -> None:
    """Find the genes of DATA that mark a treatment, beside a control, over time.

    DATA has genes as rows, as biologists keep them, and --samples tells of each column its time and condition. The
    steps are those of Raman and Domeniconi (2005): normalise, clean, cluster, group by equal percentage changes,
    compare with the control. Markers describe these samples; to know how well genes predict a condition, use 'tamis
    mine', which chooses them inside each fold.
    """
    import sys

    from tamis.cli.report import check_place
    from tamis.genes import find_markers, read_expression

    for path in (table, page):
        if path is not None:
            check_place(path)
    with progress(f"reading {data}"):
        expression = read_expression(data, samples, sample=sample, time=time, condition=condition, reading=reading)
    with progress("finding markers") as step:
        found = find_markers(
            expression,
            control=control,
            treated=treated,
            log2=log2,
            normalize=not no_normalize,
            min_present=min_present,
            min_sd=min_sd,
            min_observations=min_observations,
            min_value=min_value,
            min_range=min_range,
            level=level,
            metric=metric,
            tolerance=tolerance,
            fine=fine,
            min_fold=min_fold,
            n_late=n_late,
            delta=delta,
            progress=step,
        )
    for note in found.notes:
        print(f"note: {note}", file=sys.stderr)
    if table is not None:
        found.write_table(table)
    if page is not None:
        from tamis.reporting.genes_page import write_genes_page

        write_genes_page(found, page)
    facts = found.to_dict()
    if json:
        print_json(facts)
        return
    unit = f" {facts['unit']}" if facts["unit"] else ""
    times = ", ".join(f"{point:g}" for point in facts["times"])
    print_line(f"{facts['data']}: {facts['genes']} genes, {facts['samples']} samples, at {times}{unit}")
    removed = [(one["filter"], one["removed"]) for one in facts["filters"]]
    print_table("filters, in order", ["kept genes have", "removed"], removed, right=["removed"])
    clusters = f"in {len(facts['clusters'])} hierarchical clusters" if facts["clusters"] else "no clusters"
    print_line(f"{facts['kept']} genes are left, {clusters}, {facts['groups']} pattern groups")
    late = ", ".join(f"{point:g}" for point in facts["late"])
    how = f"log2 of {facts['treated']} over {facts['control']} at least {facts['min_fold']:g} or at most minus that"
    print_line(f"{len(facts['markers'])} markers: {how}, at {late}{unit}")
    if facts["markers"]:
        shown = found.table().head(top)
        numbers = [name for name in shown.columns if name == "q" or name.startswith("fold")]
        print_table(f"the first {shown.height}", shown.columns, shown.rows(), right=["group", *numbers])
    if "p_clusters" in facts:
        print_line(f"{len(facts['p_clusters'])} maximal pClusters of markers; --json lists them")
    for what, path in (("markers", table), ("page", page)):
        if path is not None:
            print_line(f"{what}: {path}")
