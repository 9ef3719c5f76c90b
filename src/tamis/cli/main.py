"""``tamis``: all commands together; every error that the user can correct is one sentence."""

import atexit
import gc
import sys
import warnings
from typing import Annotated, Any

import typer

from tamis import __version__
from tamis.cli import (
    challenge,
    data,
    genes,
    list_,
    mine,
    outliers,
    predict,
    rank,
    report,
    reproduce,
    select,
    series,
    validate,
    warm,
)

app = typer.Typer(
    name="tamis",
    help="Find the few features that matter, build the model that uses them, validate both as one.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(challenge.app, name="challenge")
app.add_typer(data.app, name="data")
app.command("genes")(genes.genes)
app.command("list")(list_.list_parts)
app.command("mine")(mine.mine)
app.command("outliers")(outliers.outliers)
app.command("predict")(predict.predict)
app.command("rank")(rank.rank)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.command("select")(select.select)
app.command("series")(series.series)
app.command("validate")(validate.validate)
app.command("warm")(warm.warm)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tamis {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line: exit code 0 for success, 2 for an error that the user can correct."""
    _collect_less()
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = _note
        try:
            app()
        except (ValueError, OSError, MemoryError) as error:
            _refuse(error)


def _collect_less() -> None:
    """Spend no time on looking for garbage among what was imported, while it is and at the end: there is none."""
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)


def _refuse(error: Exception) -> None:
    from tamis.base.errors import RecipeError

    if isinstance(error, MemoryError):
        text = "not enough memory for this"
    else:
        # The error of a recipe shows the place on further lines; any other message is one sentence.
        text = str(error) if isinstance(error, RecipeError) else str(error).split("\n", 1)[0]
    print(f"tamis: {text}", file=sys.stderr)
    sys.exit(2)


_noted: set[str] = set()


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning once, without the place in the code."""
    text = str(message).split("\n", 1)[0]
    if text not in _noted:
        _noted.add(text)
        print(f"tamis: note: {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
