"""``tamis rank``: the features of a data set in order of a score."""

from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.show import (
    Data,
    Json,
    PieceMemory,
    ReadingEngine,
    Target,
    load_data,
    memory_bytes,
    print_json,
    print_line,
    print_note,
    print_table,
    reads_data,
)

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
    memory: PieceMemory = None,
    engine: ReadingEngine = None,
    json: Json = False,
    *,
    reading: "Reading",
) -> None:
    """Rank the features of DATA, on all its labelled rows.

    DATA that does not fit into memory, or with --memory, is read piece by piece. When that is stopped, the same command
    reads what is missing.

    A ranking describes the rows it was made on; to know how well a model built on it predicts, use 'tamis validate',
    which ranks anew inside each fold.
    """
    from tamis.base.errors import TamisError
    from tamis.compose.rank import check_selects, streamed_rank
    from tamis.compose.rank import rank as ranked
    from tamis.compose.recipe import completed_for
    from tamis.compose.streamed import StreamedTable, is_streamed

    chain = check_selects(score)
    limit = memory_bytes(memory)
    if is_streamed(data, limit):
        source = StreamedTable.open(data, target, reading, memory=limit, engine=engine)
        name, rows = source.table.name, source.target.rows.size
        table, notes = streamed_rank(source, chain)
        for note in notes:
            print_note(note)
    elif engine is not None:
        raise TamisError("--engine is for data that is read piece by piece: set --memory too")
    else:
        dataset = load_data(data, target, reading)
        name, rows = dataset.name, dataset.n_rows
        chain = completed_for(dataset, chain)
        table = ranked(dataset, by=str(chain))
    selected, shown = int(table["selected"].sum()), table.head(top)
    if json:
        facts = {"data": name, "rows": rows, "features": table.height, "recipe": str(chain)}
        print_json({**facts, "selected": selected, "ranking": shown.to_dicts()})
        return
    from tamis.reporting.sentence import sentence

    last = chain.parts[-1]
    wanted = dict(getattr(last, "arguments", ())).get("k")
    print_line(f"{name}: {rows} rows, {table.height} features")
    print_line(f"{chain}: {sentence(str(chain))}")
    cells = [["*" if cell is True else "" if cell is False else cell for cell in row] for row in shown.rows()]
    print_table(f"the best {shown.height}", shown.columns, cells, right=["rank", "column", "score"])
    more = f"; it asks for {wanted}" if isinstance(wanted, int) and wanted > table.height else ""
    print_line(f"{selected} of {table.height} features are selected by {last}{more}")
    if "role" in table.columns:
        real = int((shown["role"] != "probe").sum())
        print_line(f"{real} of the {shown.height} shown are real, {shown.height - real} are probes")
