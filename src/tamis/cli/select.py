"""``tamis select``: the features that a recipe selects when it is fitted on all rows."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.select_progress import watching
from tamis.cli.several import check_several, labels_of
from tamis.cli.show import (
    Data,
    Json,
    PieceMemory,
    Seed,
    Several,
    SharedSelection,
    Target,
    Threshold,
    TopLabels,
    load_data,
    memory_bytes,
    note_large_sizes,
    print_json,
    print_line,
    print_notes,
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
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine", help="Who evaluates the sets of a subset search: serial, local, local(2) or dask://host:port."
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option("--run", help="Store the scores of a subset search in this file; the same command resumes it."),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", help="Time after which a subset search ends with the best set so far: 90s, 10m."),
    ] = None,
    jobs: Annotated[
        str, typer.Option("--jobs", help="With --efficiency: numbers of workers, beginning with 1.")
    ] = "1,2",
    efficiency: Annotated[
        bool,
        typer.Option("--efficiency", help="Run a subset search with each number of workers; print what more bring."),
    ] = False,
    memory: PieceMemory = None,
    seed: Seed = 0,
    json: Json = False,
    *,
    reading: "Reading",
) -> None:
    """Fit RECIPE on all labelled rows of DATA and list the features that it selects.

    DATA that does not fit into memory, or with --memory, is read piece by piece by the first step of RECIPE, and the
    others get the columns that it selects.

    The list comes without an error estimate: 'tamis validate' gives one, with the recipe fitted in each fold. A subset
    search (best_first, genetic, fortal, ...) can be stopped and resumed (--run), and given to several workers. Ctrl-C
    ends it with the best set so far.
    """
    from tamis.base.errors import TamisError
    from tamis.base.seeds import seeded
    from tamis.compose.catalog import entry
    from tamis.compose.recipe import completed_for, parse
    from tamis.compose.selected_features import by_classes, selected_features
    from tamis.compose.streamed import StreamedTable, is_streamed
    from tamis.data.selection_note import SelectionNote, beside, is_selection_note
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
    if efficiency and (engine is not None or run is not None or budget is not None):
        raise TamisError("--efficiency runs the search several times; it takes neither --engine, --run nor --budget")
    limit = memory_bytes(memory)
    if several is None and is_streamed(data, limit):
        source = StreamedTable.open(data, target, reading, memory=limit, engine=engine)
        dataset, written = source.prepared(written, seed)
        print_notes(dataset)
    else:
        dataset = load_data(data, target, reading, several=several)
    chain = completed_for(dataset, written)
    note_large_sizes(chain, dataset)
    model, classes = seeded(chain.build(dataset.task if several is None else None), seed), dataset.y
    if several is not None:
        from tamis.compose.each_label import EachLabel

        model = EachLabel(model, shared_selection=shared_selection, threshold=threshold, random_state=seed)
        classes = labels_of(dataset, several, top_labels)
    try:
        model, timings = _fitted(
            model, dataset, classes, str(chain), seed, engine, run, budget, jobs if efficiency else None, silent=json
        )
    except KeyboardInterrupt:
        typer.echo(f"tamis: {_stopped(run)}", err=True)
        raise typer.Exit(130) from None
    features = selected_features(model, dataset)
    if several is not None:
        features = _with_labels(features, model, several)
    command = _command(data, recipe, target, kind == "classifier") + reading.words()
    command += "" if several is None else _several_words(several, own)
    note = None
    if output is not None:
        import numpy as np

        unused = np.delete(dataset.feature_names, [row["column"] for row in features])
        selected_before = any(map(is_selection_note, dataset.notes))
        if selected_before or (unused.size and by_classes(model, dataset.n_features)):
            note = SelectionNote(str(chain), dataset.n_features, dataset.task)
        write(dataset.without(*unused), output, note=note)
    if save is not None:
        from tamis.compose.model_file import card_of, save_model

        save_model(save, model, card_of(model, dataset, recipe=str(chain)))
    if json:
        files = {"model": None if save is None else str(save), "output": None if output is None else str(output)}
        facts = {"data": dataset.name, "rows": dataset.n_rows, "features": dataset.n_features, "recipe": str(chain)}
        found = {"used": len(features), "selected": features, "searches": _searched(model), "efficiency": timings}
        print_json({**facts, **found, "error": None, "validate": command, **files})
        return
    _print(dataset, str(chain), features)
    for row in _searched(model):
        cut = "" if row["complete"] else f"; the search was ended before it was complete{_resumes(run)}"
        print_line(f"{row['search']} evaluated {row['evaluations']} sets; the best scores {row['score']:.4g}{cut}")
    if timings:
        print_table("", list(timings[0]), [list(row.values()) for row in timings], right=list(timings[0]))
    for path, what in ((output, "the data with these features only"), (save, "the model")):
        if path is not None:
            print_line(f"{what} is in {path}")
    if note is not None and output is not None:
        print_line(f"A note is in {'it' if output.suffix in ('.npz', '.parquet') else beside(output)}: {note}.")
    print_line(f"This is no error estimate; {command} gives one.")


def _fitted(
    model: Any,
    dataset: "Dataset",
    classes: Any,
    recipe: str,
    seed: int,
    engine: str | None,
    run: Path | None,
    budget: str | None,
    jobs: str | None,
    *,
    silent: bool,
) -> tuple[Any, list[dict[str, Any]]]:
    """The fitted model and, where these are wanted, the timings of its search by number of workers."""
    from tamis.base.errors import TamisError
    from tamis.compose.subset_run import fit_search, timed_searches
    from tamis.data.fingerprint import fingerprint
    from tamis.mining.budget import budget as read_budget

    if jobs is not None:
        try:
            workers = [int(one) for one in jobs.split(",")]
        except ValueError:
            raise TamisError(f"--jobs takes numbers of workers with commas, such as 1,2,4; got {jobs!r}") from None
        with nullcontext() if silent else progress("searching"):
            model, found = timed_searches(model, dataset.X, classes, workers)
        return model, [_timing(one) for one in found]
    identity = None
    if run is not None:
        identity = {"data": fingerprint(dataset), "recipe": recipe, "seed": str(seed)}
    seconds = None if budget is None else read_budget(budget).seconds
    with watching(seconds, silent=silent) as watch:
        fit_search(
            model, dataset.X, classes, engine=engine, run=run, identity=identity, seconds=seconds, progress=watch
        )
    return model, []


def _stopped(run: Path | None) -> str:
    """What a user must know who has stopped the command."""
    if run is None:
        return "stopped, nothing is selected; with --run FILE the scores of a subset search are kept"
    return f"stopped, nothing is selected; the scores so far are in {run}, and the same command resumes"


def _resumes(run: Path | None) -> str:
    return "" if run is None else f", and the same command resumes it from {run}"


def _timing(one: Any) -> dict[str, Any]:
    return {
        "workers": one.timing.workers,
        "seconds": round(one.timing.total, 3),
        "sequential": round(one.timing.sequential, 3),
        "parallel": round(one.timing.parallel, 3),
        "speed-up": round(one.speedup, 3),
        "optimal": round(one.optimal_speedup, 3),
        "parallel efficiency": round(one.parallel_efficiency, 3),
        "total efficiency": round(one.total_efficiency, 3),
    }


def _searched(model: Any) -> list[dict[str, Any]]:
    """What the subset searches of a model have done."""
    from tamis.compose.subset_run import searches_of

    return [
        {
            "search": step.part.name,
            "evaluations": step.n_evaluations_,
            "score": step.score_,
            "complete": step.complete_,
            "best": [
                {"evaluations": used, "size": len(columns), "score": score} for used, columns, score in step.trace_
            ],
        }
        for step in searches_of(model)
    ]


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
