"""What commands share: options, tables for people, JSON for programs, progress bars."""

import inspect
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from tamis.compose.chain import Chain
    from tamis.data.dataset import Dataset
    from tamis.data.reading import Reading

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Worker processes; the result does not depend on it.")]
Target = Annotated[str | None, typer.Option("--target", help="The column to predict, if its name is not a usual one.")]
Data = Annotated[str, typer.Argument(help="A file, a folder or the name of a data set ('tamis data list').")]
Several = Annotated[
    str | None,
    typer.Option("--several", metavar="MARK", help="A row has several labels in its class, divided by MARK: ';'."),
]
TopLabels = Annotated[
    int | None, typer.Option("--top-labels", min=1, help="With --several: only so many of the most frequent labels.")
]
SharedSelection = Annotated[
    bool, typer.Option("--shared-selection", help="With --several: one selection for all labels, not one for each.")
]
Threshold = Annotated[
    Literal["f1"] | None,
    typer.Option("--threshold", help="With --several: the decision of each label with the best F1 in inner folds."),
]
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
    typer.Option(
        "--memory",
        help="Memory for rows that recipes share, such as 500MB, and to read DATA with --prefilter; half by default.",
    ),
]

PieceMemory = Annotated[
    str | None,
    typer.Option("--memory", help="Read DATA piece by piece, with this much memory in all: 500MB, 2GB."),
]
ReadingEngine = Annotated[
    str | None,
    typer.Option("--engine", help="Who reads the pieces: serial, local (all cores), local(2) or dask://host:port."),
]
Prefilter = Annotated[
    str | None,
    typer.Option(
        "--prefilter",
        help="Read DATA piece by piece, and select columns in every fold by this score before the rest: 'ig(5000)'.",
    ),
]

#: How a table is to be read, by the names of the attributes of `Reading`; all of it is found in the file otherwise.
_READING: dict[str, tuple[Any, Any]] = {
    "decimal": (Annotated[str | None, typer.Option("--decimal", help="The decimal mark of numbers: . or ,")], None),
    "na": (
        Annotated[list[str] | None, typer.Option("--na", help="One more spelling of missing; may be repeated.")],
        None,
    ),
    "encoding": (
        Annotated[str | None, typer.Option("--encoding", help="The encoding of a text, such as cp1252.")],
        None,
    ),
    "delimiter": (
        Annotated[str | None, typer.Option("--delimiter", help="What divides values: a character, tab or space.")],
        None,
    ),
    "transpose": (
        Annotated[bool, typer.Option("--transpose", help="Columns are rows, as where genes are rows.")],
        False,
    ),
    "labels": (Annotated[Path | None, typer.Option("--labels", help="A second file, with the classes.")], None),
    "on": (
        Annotated[str | None, typer.Option("--on", help="The column that links DATA and the file of --labels.")],
        None,
    ),
    "drop": (
        Annotated[
            list[str] | None, typer.Option("--drop", help="A column, or a pattern such as 'date_*', to leave out.")
        ],
        None,
    ),
    "keep": (
        Annotated[list[str] | None, typer.Option("--keep", help="A column to keep, whatever it looks like.")],
        None,
    ),
    "id": (Annotated[list[str] | None, typer.Option("--id", help="A column that identifies the rows.")], None),
    "text": (
        Annotated[list[str] | None, typer.Option("--text", help="A column of text, whose words become features.")],
        None,
    ),
    "kinds": (
        Annotated[
            list[str] | None,
            typer.Option("--kinds", help="What columns are: COLUMN=numeric, nominal, date, id or text; with commas."),
        ],
        None,
    ),
    "task": (
        Annotated[
            Literal["auto", "classify", "regress"],
            typer.Option("--task", help="Whether the target holds classes or numbers; by default its values tell."),
        ],
        "auto",
    ),
}

_UNITS = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


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
    from tamis.engines.progress import progress_bar

    with progress_bar(title) as step:
        yield step or (lambda done, total: None)


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading a table; it gets them as its argument `reading`."""
    own = inspect.signature(command, eval_str=False)
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in _READING.items()
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        from tamis.data.parsing.parquet_trial import expect

        # Before the imports of this command, so that the process started here imports at the same time.
        expect(given["data"])
        from tamis.data.reading import Reading

        found = {name: given.pop(name) for name in _READING}
        lists = {name: found[name] or () for name in ("na", "drop", "keep", "id", "text")}
        command(**given, reading=Reading(**{**found, **lists, "kinds": _kinds(found["kinds"] or ())}))

    kept = [each.replace(kind=each.KEYWORD_ONLY) for name, each in own.parameters.items() if name != "reading"]
    run.__signature__ = own.replace(parameters=[*kept, *options])  # type: ignore[attr-defined]
    run.__annotations__ = {name: kind for name, kind in command.__annotations__.items() if name != "reading"}
    del run.__wrapped__
    return run


def target_words(data: "Dataset") -> str:
    """What the target of a data set holds: "3 classes", or "numbers from 25 to 346"."""
    if data.task == "classify":
        return f"{len(data.classes)} class{'es' if len(data.classes) != 1 else ''}"
    return f"numbers from {data.y.min():.6g} to {data.y.max():.6g}"


def _kinds(texts: Sequence[str]) -> dict[str, str]:
    """The value of the option ``--kinds``."""
    from tamis.base.errors import TamisError

    found = {}
    for text in ",".join(texts).split(",") if texts else ():
        column, equals, kind = text.rpartition("=")
        if not equals or not column.strip():
            raise TamisError(f"--kinds takes COLUMN=KIND, such as grade=nominal; got {text!r}")
        found[column.strip()] = kind.strip()
    return found


def load_data(
    data: str,
    target: str | None,
    reading: "Reading | None" = None,
    group: str | None = None,
    *,
    several: str | None = None,
) -> "Dataset":
    """The data set of a path or a name, with a progress bar while a large file is read.

    What was guessed, changed or left out is printed; not what `several`, the mark between labels, has settled.
    """
    from tamis.data.load import load

    with progress(f"reading {data}"):
        found = load(data, target, reading=reading, group=group)
    if several is not None:
        from tamis.data.label_sets import is_several_labels_note

        found = replace(found, notes=tuple(note for note in found.notes if not is_several_labels_note(note)))
    print_notes(found)
    return found


def print_notes(dataset: "Dataset") -> None:
    """What was guessed or changed while a data set was read, to standard error."""
    for note in dataset.notes:
        print_note(note)


def print_note(note: str) -> None:
    """A line on how the data was read, to standard error."""
    typer.echo(f"note: {note}", err=True)


def note_large_sizes(chain: "Chain", dataset: "Dataset") -> None:
    """Say on standard error which selections ask for more columns than there are."""
    from tamis.compose.catalog import entry
    from tamis.compose.chain import Call

    calls = [part for part in chain.parts if isinstance(part, Call)]
    makes_columns = {"encoding", "class_encoding", "vocabulary", "class_vocabulary"}
    if any(entry(call.name).card.role in makes_columns for call in calls):
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
