"""``tamis mine``: from data to a model with an honest estimate, in one command that can be stopped and resumed."""

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tamis.cli.mine_progress import watching
from tamis.cli.report import check_place, this_command
from tamis.cli.show import (
    Data,
    Group,
    Json,
    Memory,
    Prefilter,
    Seed,
    Target,
    load_data,
    memory_bytes,
    print_json,
    print_line,
    print_notes,
    print_table,
    reads_data,
    target_words,
)
from tamis.cli.validate import print_caveats, print_features
from tamis.compose.plural import counted

if TYPE_CHECKING:
    from tamis.data.dataset import Dataset
    from tamis.data.reading import Reading
    from tamis.mining.mined import Mined

#: Rows of the table of models.
_SHOWN = 10

#: Names of features that are printed, and features whose substitutes are.
_NAMED, _REPLACED = 30, 5


@reads_data
def mine(
    data: Data,
    target: Target = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", help="Time for everything, such as 90s, 10m or 1h30m; 10m unless --trials is given."),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials", min=1, help="Recipes that each search may try; with it alone the result is reproducible."
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="Who computes: serial, local, local(2) or dask://host:port.")
    ] = "local",
    run: Annotated[Path | None, typer.Option("--run", help="The run file, NAME.tamis-run by default.")] = None,
    model: Annotated[Path | None, typer.Option("--model", help="The model file, NAME.tamis-model by default.")] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="The report, NAME.tamis-report.html by default.")
    ] = None,
    split: Annotated[
        Literal["folds", "official"],
        typer.Option("--split", help="Rows for the honest estimate: all rows in folds, or the official test rows."),
    ] = "folds",
    estimate: Annotated[
        Literal["auto", "bootstrap", "nested"],
        typer.Option(
            "--estimate",
            help="The honest estimate: one search with all the time, corrected by the bootstrap (auto for classes), or "
            "a search for each outer fold (auto for numbers).",
        ),
    ] = "auto",
    folds: Annotated[int, typer.Option("--folds", min=2, help="Outer folds of a nested estimate.")] = 5,
    inner_folds: Annotated[int, typer.Option("--inner-folds", min=2, help="Folds within a search.")] = 5,
    group: Group = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric", help="What the search optimizes: ber (the default), auc, ...; for numbers rmse, mae, ..."
        ),
    ] = None,
    prefer: Annotated[
        Literal["best", "single", "small"],
        typer.Option(
            "--prefer", help="The model to keep: the ensemble, the best single model, or the smallest good one."
        ),
    ] = "best",
    max_features: Annotated[
        int | None, typer.Option("--max-features", min=1, help="The most features that a model may use.")
    ] = None,
    rule: Annotated[
        Literal["shrunk", "best", "cautious", "simplest"],
        typer.Option(
            "--rule",
            help="How the best single model is chosen: by a log loss that is shrunk towards its family, by the best "
            "mean, by the best mean less one deviation, or the fewest features within one standard error of the best.",
        ),
    ] = "shrunk",
    only: Annotated[
        list[str] | None,
        typer.Option("--try", help="Try this template only, such as 'cc | svm'; may be repeated."),
    ] = None,
    without: Annotated[list[str] | None, typer.Option("--without", help="A part not to use; may be repeated.")] = None,
    space: Annotated[
        Path | None, typer.Option("--space", help="A TOML file with 'try', 'without', 'first' and ranges.")
    ] = None,
    prefilter: Prefilter = None,
    memory: Memory = None,
    seed: Seed = 0,
    json: Json = False,
    *,
    reading: "Reading",
) -> None:
    """Search for the best chain of transforms, selection and classifier (for numbers: regressor) on DATA.

    The error that it reports is an honest estimate: rows that had no part in the choice give it.

    Stop it at any moment; the same command resumes it.
    """
    from tamis.reporting.note_facts import mine as search

    if prefilter is None:
        dataset = load_data(data, target, reading, group)
    else:
        from tamis.mining.prefilter import for_search

        dataset = for_search(
            data,
            prefilter,
            inner_folds=inner_folds,
            split=split,
            estimate=estimate,
            seed=seed,
            target=target,
            reading=reading,
            group=group,
            memory=memory_bytes(memory),
            engine=engine,
        )
        print_notes(dataset)
    run = run or Path(f"{dataset.name}.tamis-run")
    model = model or Path(f"{dataset.name}.tamis-model")
    report = report or Path(f"{dataset.name}.tamis-report.html")
    check_place(report)
    if not json:
        _print_head(dataset, run)
    try:
        with watching() as watch:
            found = search(
                dataset,
                budget=budget,
                trials=trials,
                engine=engine,
                run=run,
                split=split,
                folds=folds,
                inner_folds=inner_folds,
                metric=metric,
                estimate=estimate,
                prefer=prefer,
                max_features=max_features,
                rule=rule,
                only=only or (),
                without=without or (),
                edits=space,
                seed=seed,
                memory=memory_bytes(memory),
                prefilter=prefilter,
                progress=watch,
            )
    except KeyboardInterrupt:
        typer.echo(f"tamis: stopped; what was computed is in {run}, and the same command resumes", err=True)
        raise typer.Exit(130) from None
    saved = _save(model, found, dataset)
    _note_commands(run, model if saved else None)
    refused = _build(run, report)
    if json:
        print_json({**found.summary(), "model": str(model) if saved else None})
        _end(refused)
        return
    _print_models(found)
    _print_choice(found, dataset)
    if saved:
        print_line(f"model: {model} (tamis predict {model} DATA)")
    if refused is None:
        print_line(f"report: {report}")
    print_line(f"run: {run}")
    _end(refused)


def _save(path: Path, found: "Mined", dataset: "Dataset") -> bool:
    """Write the model; a failure is a warning, because the result of the search is not lost."""
    from tamis.base.errors import TamisError
    from tamis.compose.model_file import card_of, save_model

    validation = found.validation_
    name = validation.metrics[0].name
    estimate = validation.estimates[name]
    honest = {"metric": name, "estimate": estimate.mean, "standard_error": estimate.se, "split": validation.split}
    try:
        save_model(path, found.model, card_of(found.model, dataset, recipe=found.recipe_, error=honest))
    except TamisError as error:
        warnings.warn(str(error), stacklevel=2)
        return False
    return True


def _build(run: Path, report: Path) -> str | None:
    """Write the report; returns why it could not be written, because the result of the search is printed first."""
    from tamis.base.errors import DataError
    from tamis.reporting.run_report import report as build

    try:
        build(run, out=report)
    except DataError as error:
        return f"{error}; the search is complete: tamis report {run} writes the report elsewhere with --out"
    return None


def _end(refused: str | None) -> None:
    from tamis.base.errors import TamisError

    if refused is not None:
        raise TamisError(refused)


def _note_commands(run: Path, model: Path | None) -> None:
    """Store the typed command in the run, and the command that predicts with the model."""
    from tamis.mining.run.store import Store
    from tamis.reporting.note_facts import COMMANDS

    predict = [] if model is None else [shlex.join(["tamis", "predict", str(model), "NEW_DATA"])]
    following = [{"what": "predict new rows", "command": command} for command in predict]
    with Store.open(run) as store:
        store.note(COMMANDS, {"made": this_command(), "next": following})


def _print_head(dataset: "Dataset", run: Path) -> None:
    rows, features = counted(dataset.n_rows, "row"), counted(dataset.n_features, "feature")
    print_line(f"{dataset.name}: {rows}, {features}, {target_words(dataset)}")
    print_line(f"{'resuming' if run.exists() else 'run file:'} {run}")


def _print_models(found: "Mined") -> None:
    from tamis.validation.result import figure

    metric = found.validation_.metrics[0]
    rows = []
    for row in found.leaderboard_.head(_SHOWN).iter_rows(named=True):
        error = "" if row["se"] is None else f" +- {figure(row['se'])}"
        size = None if row["features"] is None else f"{row['features']:.0f}"
        rows.append([f"{figure(row[metric.name])}{error}", size, row["folds"], row["stage"], row["recipe"]])
    title = f"the best of {counted(found.run_.n_tried, 'recipe')}, by their inner estimate"
    print_table(title, [metric.title, "features", "folds", "stage", "recipe"], rows, right=["features", "folds"])


def _print_choice(found: "Mined", dataset: "Dataset") -> None:
    from tamis.validation.result import figure

    validation = found.validation_
    metric = validation.metrics[0]
    honest = validation.estimates[metric.name]
    used = found.selected_features_
    print_line(f"chosen: {found.recipe_}")
    print_line(f"  {metric.title} {figure(honest.mean)} +- {figure(honest.se)} on unseen rows ({validation.split})")
    print_line(
        f"  inner estimate: {metric.title} {figure(found.inner_estimate_.mean)}, optimism {figure(found.optimism_)}"
    )
    print_caveats(validation.caveats)
    _print_offers(found)
    print_features(validation)
    print_line(f"  fitted on all rows it uses {used.size} of {found.n_features_in_} features{_roles(found, dataset)}:")
    shown = ", ".join(map(str, used[:_NAMED])) + (", ..." if used.size > _NAMED else "")
    print_line(f"  {shown}")
    for feature, others in [pair for pair in found.substitutes_.items() if pair[1]][:_REPLACED]:
        names = ", ".join(f"{one.feature} ({one.redundancy:.2f})" for one in others)
        print_line(f"  {feature} could be replaced by {names}")


def _print_offers(found: "Mined") -> None:
    """What else the search offers, each with its own honest estimate."""
    from tamis.validation.result import figure

    metric = found.validation_.metrics[0]
    for name, one in found.models_.items():
        own = one.validation.estimates[metric.name]
        size = counted(one.selected_features.size, "feature")
        print_line(f"  {name}: {metric.title} {figure(own.mean)} +- {figure(own.se)}, {size}")


def _roles(found: "Mined", dataset: "Dataset") -> str:
    """How many of them are real, if the data is synthetic."""
    if dataset.probes is None:
        return ""
    used = dataset.probes[[name in set(found.selected_features_) for name in dataset.feature_names]]
    return f" ({(~used).sum()} of the {(~dataset.probes).sum()} real ones, {used.sum()} probes)"
