"""``tamis select``: the features that a recipe selects when it is fitted on all rows."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.several import check_several, labels_of
from tamis.cli.show import (
    Data,
    Json,
    Seed,
    Several,
    SharedSelection,
    Target,
    Threshold,
    TopLabels,
    load_data,
    note_large_sizes,
    print_json,
    print_line,
    print_table,
    progress,
    reads_data,
)

if TYPE_CHECKING:
    from tamis.data.dataset import Dataset
    from tamis.data.reading import Reading

#: Features that the table shows.
_SHOWN = 100


@reads_data
def select(
    data: Data,
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="A recipe that ends in a selector or a classifier: 'cc(50) | svm'.")
    ],
    target: Target = None,
    save: Annotated[
        Path | None, typer.Option("--save", help="Write the fitted model to this file, for 'tamis predict'.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Write DATA with these features only, to a .csv, .parquet or .npz file."),
    ] = None,
    several: Several = None,
    top_labels: TopLabels = None,
    shared_selection: SharedSelection = False,
    threshold: Threshold = None,
    seed: Seed = 0,
    json: Json = False,
    *,
    reading: "Reading",
) -> None:
    """Fit RECIPE on all labelled rows of DATA and list the features that it selects.

    The list comes without an error estimate: 'tamis validate' gives one, with the recipe fitted in each fold.
    """
    from tamis.base.errors import TamisError
    from tamis.base.seeds import seeded
    from tamis.compose.catalog import entry
    from tamis.compose.recipe import completed_for, parse
    from tamis.compose.selected_features import selected_features
    from tamis.data.write import check_ending, write

    written = parse(recipe)
    written.build()
    last = str(written.parts[-1]).partition("(")[0]
    kind = entry(last).kind
    if kind == "transform":
        raise TamisError(f"{last} is a transform: select takes a recipe that ends in a selector or a classifier")
    if save is not None and kind != "classifier":
        raise TamisError(f"--save takes a recipe that ends in a classifier; {last} is a {kind}")
    own = {"--top-labels": top_labels, "--shared-selection": shared_selection, "--threshold": threshold}
    check_several(several, own, {})
    if several is not None and kind != "classifier":
        raise TamisError(f"--several takes a recipe that ends in a classifier; {last} is a {kind}")
    if output is not None:
        check_ending(output)
    dataset = load_data(data, target, reading, several=several)
    chain = completed_for(dataset, written)
    note_large_sizes(chain, dataset)
    model, classes = seeded(chain.build(), seed), dataset.y
    if several is not None:
        from tamis.compose.each_label import EachLabel

        model = EachLabel(model, shared_selection=shared_selection, threshold=threshold, random_state=seed)
        classes = labels_of(dataset, several, top_labels)
    with progress("fitting"):
        model = model.fit(dataset.X, classes)
    features = selected_features(model, dataset)
    if several is not None:
        features = _with_labels(features, model, several)
    command = _command(data, recipe, target, kind == "classifier") + reading.words()
    command += "" if several is None else _several_words(several, own)
    if output is not None:
        import numpy as np

        unused = np.delete(dataset.feature_names, [row["column"] for row in features])
        write(dataset.without(*unused), output)
    if save is not None:
        from tamis.compose.model_file import card_of, save_model

        save_model(save, model, card_of(model, dataset, recipe=str(chain)))
    if json:
        files = {"model": None if save is None else str(save), "output": None if output is None else str(output)}
        facts = {"data": dataset.name, "rows": dataset.n_rows, "features": dataset.n_features, "recipe": str(chain)}
        print_json({**facts, "used": len(features), "selected": features, "error": None, "validate": command, **files})
        return
    _print(dataset, str(chain), features)
    for path, what in ((output, "the data with these features only"), (save, "the model")):
        if path is not None:
            print_line(f"{what} is in {path}")
    print_line(f"This is no error estimate; {command} gives one.")


def _command(data: str, recipe: str, target: str | None, complete: bool) -> str:
    """The command that estimates the error; a selector alone gets a classifier behind it."""
    whole = recipe if complete else f"{recipe} | svm"
    return f"tamis validate {quote(data)} {quote(whole)}" + ("" if target is None else f" --target {quote(target)}")


def _several_words(several: str, own: Mapping[str, Any]) -> str:
    """The options of several labels, with a blank in front."""
    given = {option: value for option, value in own.items() if value}
    words = ["--several", several]
    for option, value in given.items():
        words += [option] if value is True else [option, str(value)]
    return "".join(f" {quote(word)}" for word in words)


def _with_labels(features: list[dict[str, Any]], model: Any, mark: str) -> list[dict[str, Any]]:
    """The features with the labels whose models use them, joined; labels of unknown features are not named."""
    users: dict[int, list[str]] = {}
    for label, columns in zip(model.classes_.tolist(), model.selected_, strict=True):
        for column in () if columns is None else columns.tolist():
            users.setdefault(column, []).append(label)
    return [{**row, "labels": mark.join(users.get(row["column"], []))} for row in features]


def _print(dataset: "Dataset", chain: str, features: list[dict[str, Any]]) -> None:
    print_line(f"{dataset.name}: {dataset.n_rows} rows")
    print_line(f"{len(features)} of {dataset.n_features} features are selected by {chain}")
    if not features:
        return
    columns = [name for name in features[0] if name not in ("rank", "score") or features[0]["rank"] is not None]
    shown = [[row[name] for name in columns] for row in features[:_SHOWN]]
    print_table("", columns, shown, right=[name for name in columns if name in ("column", "rank", "score")])
    if len(features) > _SHOWN:
        print_line(f"and {len(features) - _SHOWN} more features; --json prints all")
