"""``tamis reproduce`` for experiments that are more than one model a line, and what all of them share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import typer

from tamis.cli.show import print_json, print_line, print_markdown, print_table, progress

if TYPE_CHECKING:
    from tamis.challenge.reproduce import Outcome, Results, Row
    from tamis.challenge.reproduce.study import Piece

Item = TypeVar("Item", "Row", "Piece")


def of_data(paper: str, known: Sequence[str], items: "Sequence[Item]", data: Sequence[str]) -> "tuple[Item, ...]":
    """The rows or pieces on the data sets that were asked for."""
    from tamis.base.errors import TamisError

    for name in data:
        if not known:
            raise TamisError(f"--data: {paper} makes its own data")
        if name not in known:
            raise TamisError(f"--data: {paper} has no row on {name!r}; it has: {', '.join(known)}")
    return tuple(item for item in items if not data or item.data in data)


def followed(
    outcomes: "Iterable[Outcome[Item]]", file: "Results", total: int, news: "Callable[[Outcome[Item], int, int], str]"
) -> "list[Outcome[Item]]":
    """All outcomes, each new one told; an interrupt says what is kept."""
    from tamis.base.errors import DataError

    done: list[Outcome[Item]] = []
    try:
        for outcome in outcomes:
            done.append(outcome)
            if outcome.new and outcome.found is not None:
                typer.echo(news(outcome, len(done), total), err=True)
    except KeyboardInterrupt:
        kept = sum(outcome.found is not None for outcome in done)
        typer.echo(f"tamis: stopped; {kept} of {total} rows are in {file.path}, and the same command goes on", err=True)
        raise typer.Exit(130) from None
    if all(outcome.found is None for outcome in done):
        names = ", ".join(dict.fromkeys(outcome.item.data for outcome in done))
        raise DataError(f"not at hand: {names}; set TAMIS_DATA to the folder of the data files")
    return done


def run_and_print(
    paper: str,
    data: Sequence[str],
    file: "Results",
    *,
    seed: int,
    n_jobs: int,
    again: bool,
    markdown: bool,
    json: bool,
) -> None:
    """The tables of a paper that is more than one model a line."""
    from tamis.challenge.reproduce import STUDIES, run_study

    study = STUDIES[paper]
    pieces = of_data(study.name, study.data, study.pieces, data)
    run = run_study(pieces, file, seed=seed, n_jobs=n_jobs, again=again, watch=_working)
    outcomes = followed(run, file, len(pieces), _done)
    found = {(one.item.data, one.item.name): one.found["facts"] for one in outcomes if one.found is not None}
    sheets = study.sheets(found)
    absent = list(dict.fromkeys(outcome.item.data for outcome in outcomes if outcome.found is None))
    remarks = [*study.remarks, *([f"Not at hand: {', '.join(absent)}."] if absent else [])]
    remarks += [f"{_named(one.item)}: {text}" for one in outcomes if one.found for text in one.found["warnings"]]
    if json:
        facts = [
            {"data": outcome.item.data, "piece": outcome.item.name, "found": outcome.found} for outcome in outcomes
        ]
        print_json({"study": study.name, "title": study.title, "remarks": remarks, "pieces": facts})
        return
    print_line(f"{study.title}\n")
    for sheet in sheets:
        if markdown:
            print_line(f"{sheet.title}\n")
            print_markdown(sheet.columns, sheet.lines)
            print_line()
        else:
            print_table(sheet.title, sheet.columns, sheet.lines, right=sheet.columns[1:])
    for text in remarks:
        print_line(f"- {text}" if markdown else text)


@contextmanager
def _working(piece: "Piece") -> Iterator[Callable[[int, int], None]]:
    with progress(_named(piece)) as report:
        yield report


def _done(outcome: "Outcome[Piece]", number: int, total: int) -> str:
    piece = outcome.item
    seconds = outcome.found["seconds"] if outcome.found else 0.0
    return f"{number}/{total} {_named(piece)} in {seconds:.0f} s"


def _named(piece: "Piece") -> str:
    return f"{piece.data}: {piece.name}" if piece.data else piece.name
