"""``tamis report``: the page of a run, anew, as text, as single figures, or beside another run."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tamis.cli.show import Json, print_json, print_line

if TYPE_CHECKING:
    from tamis.data.dataset import Dataset
    from tamis.mining.mined import Mined

#: Under this name a run keeps the facts of its report.
_FACTS = "facts"

#: Seconds that finding out what a leak would claim may take.
_LEAK_SECONDS = 10.0


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run file of 'tamis mine'.")],
    compare: Annotated[
        Path | None, typer.Option("--compare", metavar="RUN2", help="Another run, to be shown beside it.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to put the page; the run's name with .html by default.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the report as text instead.")] = False,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="FOLDER", help="Draw single figures into a folder instead.")
    ] = None,
    format_: Annotated[Literal["svg", "png", "pdf"], typer.Option("--format", help="Format of the figures.")] = "svg",
    json: Json = False,
) -> None:
    """Write the report of RUN as one HTML file that works offline; as text, figures or JSON when asked."""
    facts = kept_facts(run)
    if compare is not None:
        from tamis.reporting.comparison import comparison

        with _at_fault(compare):
            facts["comparison"] = comparison(facts, kept_facts(compare))
    if json:
        print_json(facts)
        return
    with _at_fault(run):
        if markdown:
            from tamis.reporting.markdown import text

            typer.echo(text(facts))
            return
        if figures is not None:
            from tamis.reporting.figures import draw

            for path in draw(facts, figures, format=format_):
                print_line(str(path))
            return
        out = out or run.with_name(f"{run.name}.html")
        write_page(facts, out)
    print_line(f"report: {out}")
    if open_:
        typer.launch(out.absolute().as_uri())


@contextmanager
def _at_fault(run: Path) -> Iterator[None]:
    """Whatever goes wrong in the drawing of facts that were read from a file, the file is at fault."""
    from tamis.base.errors import TamisError

    try:
        yield
    except (TamisError, OSError, MemoryError, typer.Exit):
        raise
    except Exception:
        raise TamisError(f"{run}: the report in it is damaged; the command that began the run mends it") from None


def this_command() -> str:
    """What the user typed."""
    return shlex.join(["tamis", *sys.argv[1:]])


def check_place(path: Path) -> None:
    """Refuse early a place where no page can be put: what comes before it may take long."""
    from tamis.base.errors import TamisError

    if path.is_dir():
        raise TamisError(f"{path}: cannot be written (it is a folder)")
    if not path.parent.is_dir():
        raise TamisError(f"{path}: cannot be written (there is no folder {path.parent})")


def write_page(facts: dict[str, Any], path: Path) -> None:
    """Write the page of some facts, whole or not at all."""
    from tamis.data.write import write_text
    from tamis.reporting.html import page

    write_text(path, page(facts))


def kept_facts(run: Path) -> dict[str, Any]:
    """The facts that a run keeps of itself."""
    from tamis.base.errors import TamisError
    from tamis.mining.run.store import Store
    from tamis.reporting.facts import VERSION

    with Store.read(run) as store:
        facts = store.noted(_FACTS)
    if not isinstance(facts, dict):
        raise TamisError(f"{run}: the search is not over; the command that began it goes on with it")
    if facts.get("version") != VERSION:
        raise TamisError(f"{run}: its report was made by another version of tamis; run 'tamis mine' on it again")
    return facts


def keep_facts(
    run: Path, found: "Mined", data: "Dataset", model: Path | None, *, split: str, folds: int
) -> dict[str, Any]:
    """Gather the facts of a search that is over, and keep them in its run."""
    from tamis.mining.run.store import Store
    from tamis.mining.runner import STAGES
    from tamis.reporting.facts import mined_facts
    from tamis.validation.fold_result import FoldResult

    commands = [{"what": "make the report again", "command": shlex.join(["tamis", "report", str(run)])}]
    if model is not None:
        predict = shlex.join(["tamis", "predict", str(model), "NEW_DATA"])
        commands.insert(0, {"what": "predict new rows", "command": predict})
    with Store.amend(run) as store:

        def results(recipe: str) -> list[FoldResult]:
            return [one for one in store.of(found.run_.search, recipe).values() if isinstance(one, FoldResult)]

        facts = mined_facts(
            found,
            data,
            results=results,
            stages=store.noted(STAGES, []),
            leak=_leak(found, data, split, folds),
            command=this_command(),
            commands=commands,
        )
        store.note(_FACTS, facts)
    return facts


def _leak(found: "Mined", data: "Dataset", split: str, folds: int) -> Any:
    """What the chosen model would claim with its steps fitted on all rows; None when it would take long to know."""
    from tamis.compose.recipe import recipe
    from tamis.validation.whole import validate

    seconds = float(found.validation_.fit_seconds.sum() + found.validation_.predict_seconds.sum())
    if 2 * seconds > _LEAK_SECONDS:
        return None
    seed = found.validation_.seed
    return validate(recipe(found.recipe_), data, split=split, folds=folds, seed=seed, leak_check=True).leak
