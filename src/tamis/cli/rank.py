"""``tamis rank``: the features of a data set in order of a score."""

from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.show import Data, Json, Target, load_data, print_json, print_line, print_table, reads_data

if TYPE_CHECKING:
    from tamis.data.reading import Reading


@reads_data
def rank(
    data: Data,
    score: Annotated[
        str, typer.Argument(help="A score or any recipe that ends in a selector: cc, 't(fdr=0.05)'.")
    ] = "cc",
    target: Target = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many features to show.")] = 20,
    json: Json = False,
    *,
    reading: "Reading",
) -> None:
    """Rank the features of DATA, on all its labelled rows.

    A ranking describes the rows it was made on; to know how well a model built on it predicts, use 'tamis validate',
    which ranks anew inside each fold.
    """
    from tamis.compose.rank import check_selects
    from tamis.compose.rank import rank as ranked
    from tamis.compose.recipe import completed_for

    chain = check_selects(score)
    dataset = load_data(data, target, reading)
    chain = completed_for(dataset, chain)
    table = ranked(dataset, by=str(chain))
    selected, shown = int(table["selected"].sum()), table.head(top)
    if json:
        facts = {"data": dataset.name, "rows": dataset.n_rows, "features": table.height, "recipe": str(chain)}
        print_json({**facts, "selected": selected, "ranking": shown.to_dicts()})
        return
    from tamis.reporting.sentence import sentence

    last = chain.parts[-1]
    wanted = dict(getattr(last, "arguments", ())).get("k")
    print_line(f"{dataset.name}: {dataset.n_rows} rows, {table.height} features")
    print_line(f"{chain}: {sentence(str(chain))}")
    rows = [["*" if cell is True else "" if cell is False else cell for cell in row] for row in shown.rows()]
    print_table(f"the best {shown.height}", shown.columns, rows, right=["rank", "column", "score"])
    more = f"; it asks for {wanted}" if isinstance(wanted, int) and wanted > table.height else ""
    print_line(f"{selected} of {table.height} features are selected by {last}{more}")
    if "role" in table.columns:
        real = int((shown["role"] != "probe").sum())
        print_line(f"{real} of the {shown.height} shown are real, {shown.height - real} are probes")
