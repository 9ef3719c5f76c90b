"""What commands print and check where a row has several labels."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from tamis.cli.show import print_line, print_table

if TYPE_CHECKING:
    from tamis.data.dataset import Dataset
    from tamis.validation.several.result import LabelsValidation

#: Labels and recipes that the tables show.
_SHOWN = 100


def check_several(several: str | None, own: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    """Refuse options that go with --several alone, and those that do not go with it."""
    from tamis.base.errors import TamisError

    for option, value in (own if several is None else others).items():
        if value not in (None, False, 0, 0.0):
            raise TamisError(
                f"{option} goes with --several, which says what divides the labels of a row"
                if several is None
                else f"{option} is not for several labels a row"
            )


def labels_of(dataset: "Dataset", mark: str, top: int | None) -> Any:
    """The labels of the rows of a data set; those that are left out are noted on standard error."""
    from tamis.data.label_sets import LabelSets

    found = LabelSets.of(dataset.y, mark=mark).kept(top=top)
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    return found


def print_labels(found: "LabelsValidation") -> None:
    """The estimates of one recipe, and a table of its labels."""
    print_line(f"{found.split}, {_about(found)}seed {found.seed}")
    rows = []
    for metric in found.metrics:
        e = found.summary()[metric.name]
        rows.append([metric.title, _four(e.mean), _four(e.se), _four(e.sd)])
    columns = ["measure", "estimate", "standard error", "sd over folds"]
    print_table("", columns, rows, right=columns[1:])
    table = found.table()
    lines = [
        [_plain(value) if name in ("label", "rows", "features") else _four(value) for name, value in one.items()]
        for one in table.head(_SHOWN).iter_rows(named=True)
    ]
    titles = ["F1" if name == "f1" else name for name in table.columns]
    print_table("", titles, lines, right=titles[1:])
    if table.height > _SHOWN:
        print_line(f"... and {table.height - _SHOWN} more labels; --json prints all")
    _print_notes(found)


def print_recipes(results: "Sequence[LabelsValidation]") -> None:
    """A line for each of several recipes, the best first."""
    first = results[0]
    print_line(f"{len(results)} recipes, {first.split}, {_about(first)}seed {first.seed}")
    measures = ("f1_micro", "f1_macro", "breakeven_micro", "breakeven_macro", "subset_accuracy")
    ordered = sorted(results, key=lambda one: -one.summary()["f1_micro"].mean)
    rows = [
        [one.recipe, *(_four(one.summary()[name].mean) for name in measures), _plain(one.mean_selected)]
        for one in ordered[:_SHOWN]
    ]
    titles = {metric.name: metric.title for metric in first.metrics}
    columns = ["recipe", *(titles[name] for name in measures), "features"]
    print_table("", columns, rows, right=columns[1:])
    _print_notes(first)


def _about(found: "LabelsValidation") -> str:
    """How features and thresholds were chosen."""
    selection = "one selection for all labels, " if found.shared_selection else ""
    return selection + ("" if found.threshold is None else "thresholds by F1 in inner folds, ")


def _print_notes(found: "LabelsValidation") -> None:
    from tamis.data.label_sets import left_out_note

    for line in found.sentences():
        print_line(line)
    if found.left_out:
        typer.echo(f"note: {left_out_note(found.left_out)}", err=True)


def _four(value: float | None) -> str | None:
    return None if value is None or value != value else f"{value:.4f}"


def _plain(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
