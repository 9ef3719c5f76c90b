"""What commands share: options, tables for people, JSON for programs, progress bars."""

import json
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from tamis.compose.chain import Chain
    from tamis.data.dataset import Dataset

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Worker processes; the result does not depend on it.")]
Target = Annotated[str | None, typer.Option("--target", help="The class column, if its name is not a usual one.")]
Data = Annotated[str, typer.Argument(help="A file, a folder or the name of a data set ('tamis data list').")]
Group = Annotated[
    str | None, typer.Option("--group", help="A column of groups whose rows stay together; not used as a feature.")
]
Rule = Annotated[
    Literal["best", "cautious", "simplest"],
    typer.Option(
        "--rule",
        help="How to choose: the best mean, the best mean less one deviation, or the fewest features within one "
        "standard error of the best.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option("--memory", help="Memory for rows that recipes share, such as 500MB; half of all by default."),
]

_UNITS = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}

#: Seconds before a progress bar appears.
_PATIENCE = 1.0


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, right: Sequence[str] = ()
) -> None:
    """A table below its title, if it has one; the columns named in `right` are aligned right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    # Piped output is for other programs: it is not wrapped at an arbitrary width.
    console = Console(width=None if sys.stdout.isatty() else 160)
    # Not as the title of the table, which would be wrapped at its width.
    if title:
        console.print(Text(title, style="bold"), soft_wrap=True)
    console.print(table)


def print_line(text: str = "") -> None:
    """A line of text without markup."""
    typer.echo(text)


@contextmanager
def progress(title: str) -> Iterator[Callable[[float, float], None]]:
    """A bar that appears on a terminal after a second; yields a function of (done, total) that moves it."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: None
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(title, total=None, visible=False)
        appear = threading.Timer(_PATIENCE, bar.update, (task,), {"visible": True})
        appear.daemon = True
        appear.start()
        try:
            yield lambda done, total: bar.update(task, completed=done, total=total)
        finally:
            appear.cancel()


def load_data(data: str, target: str | None) -> "Dataset":
    """The data set of a path or a name, with a progress bar while a large file is read."""
    from tamis.data.load import load

    with progress(f"reading {data}"):
        return load(data, target)


def note_large_sizes(chain: "Chain", dataset: "Dataset") -> None:
    """Say on standard error which selections ask for more columns than there are."""
    from tamis.compose.catalog import entry
    from tamis.compose.chain import Call

    calls = [part for part in chain.parts if isinstance(part, Call)]
    if any(entry(call.name).card.role == "encoding" for call in calls):
        # How many columns there are behind it depends on the fold.
        return
    for call in calls:
        wanted = dict(call.arguments).get("k")
        if isinstance(wanted, int) and wanted > dataset.n_features:
            text = f"{call} asks for more features than there are: all {dataset.n_features} are kept"
            print(f"tamis: note: {text}", file=sys.stderr)


def memory_bytes(text: str | None) -> float | None:
    """The value of the option ``--memory`` in bytes."""
    from tamis.base.errors import TamisError

    if text is None:
        return None
    number = text.strip().upper().rstrip("KMGTB")
    unit = text.strip().upper()[len(number) :]
    try:
        size = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        size = 0.0
    if not size > 0:
        raise TamisError(f"--memory takes a size such as 500MB or 2GB; got {text!r}")
    return size


def _cell(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """NumPy values as Python values; NaN is null, and infinity a string."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
