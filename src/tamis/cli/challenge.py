"""``tamis challenge``: make, score and compare entries to the NIPS 2003 challenge."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tamis.cli.show import Data, Json, Seed, Target, load_data, print_json, print_line, print_table, progress

if TYPE_CHECKING:
    from tamis.data.dataset import Dataset

app = typer.Typer(
    help="Make, score and compare entries to the NIPS 2003 feature selection challenge.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Part = Annotated[Literal["train", "valid", "test"], typer.Option("--part", help="The official part that is scored.")]
Entry = Annotated[Path, typer.Argument(help="A zip archive of .resu, .conf and .feat files, or a folder of them.")]

_MEASURES = {"ber": "BER", "ber_error": "standard error", "auc": "AUC", "f_feat": "F_feat", "f_probe": "F_probe"}


@app.command()
def submit(
    data: Data,
    recipe: Annotated[str, typer.Argument(help="The model: 'standardize | cc(50) | svm(linear)'.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The archive to write.")],
    target: Target = None,
    train: Annotated[
        Literal["train", "pooled"],
        typer.Option("--train", help="Rows to fit on: the official train rows, or train and valid together."),
    ] = "train",
    add: Annotated[
        bool, typer.Option("--add", help="Put DATA's files into an archive that may be there already.")
    ] = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Fit RECIPE on the training rows of DATA and write its predictions for every part as an entry."""
    from tamis.base.errors import DataError
    from tamis.challenge.score import scorable_parts, score_submission
    from tamis.challenge.submission import make_submission, write_submission
    from tamis.compose.recipe import completed_for, parse

    written = parse(recipe)
    written.build()
    if out.exists() and not add:
        # Refused before the fit, which may take hours.
        raise DataError(f"{out}: is already there; --add puts this data set's files into it")
    dataset = load_data(data, target)
    chain = completed_for(dataset, written)
    with progress("fitting"):
        made = make_submission(chain.build(), dataset, train=train, seed=seed)
    files = write_submission(made, out, add=add)
    fitted = ("train", "valid") if train == "pooled" else ("train",)
    rows: list[dict[str, Any]] = [
        {
            "part": part,
            "rows": len(labels),
            "file": f"{made.name}_{part}.resu",
            "ber": score_submission(made, dataset, part).ber if part in scorable_parts(dataset) else None,
            "fitted": part in fitted,
        }
        for part, labels in made.labels.items()
    ]
    used = dataset.n_features if made.features is None else len(made.features)
    facts = {"data": dataset.name, "recipe": str(chain), "seed": seed, "entry": str(out), "files": files}
    if json:
        print_json({**facts, "features_used": used, "features": dataset.n_features, "parts": rows})
        return
    shown = [
        [row["part"], row["rows"], row["file"], _four(row["ber"]), "fitted on these rows" if row["fitted"] else ""]
        for row in rows
    ]
    print_table(f"{dataset.name}: {chain}", ["part", "rows", "file", "BER", ""], shown, right=["rows", "BER"])
    print_line(f"features used: {used} of {dataset.n_features}")
    print_line(f"{out}: {', '.join(files)}")


@app.command()
def score(
    entry: Entry,
    data: Annotated[list[str], typer.Argument(help="Files, folders or names of the data sets.")],
    part: Part = "valid",
    target: Target = None,
    json: Json = False,
) -> None:
    """Score ENTRY on each DATA: balanced error rate, AUC, share of features and of probes, and their means."""
    from tamis.challenge.score import average

    found = _scores(entry, _data_sets(data, target, part), part)
    scores, mean = {name: each.to_dict() for name, each in found.items()}, average(found)
    if json:
        print_json({"entry": str(entry), "part": part, "data": scores, "mean": mean})
        return
    rows = [[name, *(_four(each[key]) for key in _MEASURES)] for name, each in {**scores, "mean": mean}.items()]
    columns = ["data", *_MEASURES.values()]
    print_table(f"{entry}, {part} rows", columns, rows if len(found) > 1 else rows[:1], right=columns[1:])


@app.command()
def tournament(
    entries: Annotated[list[Path], typer.Argument(help="The entries: zip archives or folders, two or more.")],
    data: Annotated[list[str], typer.Option("--data", help="A data set to meet on; may be given several times.")],
    part: Part = "valid",
    test: Annotated[Literal["exact", "chi2"], typer.Option("--test", help="The form of McNemar's test.")] = "exact",
    target: Target = None,
    json: Json = False,
) -> None:
    """Let ENTRIES meet on every data set by the rules of the challenge, and print the standings."""
    from tamis.challenge.score import average
    from tamis.challenge.tournament import tournament as meet

    names = _entry_names(entries)
    sets = _data_sets(data, target, part)
    found = {name: _scores(path, sets, part) for name, path in zip(names, entries, strict=True)}
    standings = meet(found, test=test)
    facts = standings.to_dict()
    for place in facts["standings"]:
        place["mean"] = average(found[place["entry"]])
    if json:
        print_json({"part": part, "test": test, **facts})
        return
    rows = [
        [
            place["rank"],
            place["entry"],
            *(f"{score:.2f}" for score in (place["score"], *(each["score"] for each in place["data"].values()))),
            *(_four(place["mean"][key]) for key in ("ber", "auc", "f_feat", "f_probe")),
        ]
        for place in facts["standings"]
    ]
    means = [f"mean {_MEASURES[key]}" for key in ("ber", "auc", "f_feat", "f_probe")]
    columns = ["rank", "entry", "score", *standings.data, *means]
    print_table(f"{len(names)} entries, {part} rows", columns, rows, right=[c for c in columns if c != "entry"])
    counts = ", ".join(f"{count} by {rule}" for rule, count in facts["decided"].items() if rule != "draw")
    print_line(f"matches decided: {counts}; {facts['decided']['draw']} drawn")


def _data_sets(data: Sequence[str], target: str | None, part: str) -> "list[Dataset]":
    """The data sets, each with known classes in the part that is scored."""
    from tamis.base.errors import TamisError
    from tamis.challenge.score import true_labels

    sets = [load_data(each, target) for each in data]
    names = [each.name for each in sets]
    for each in sets:
        if names.count(each.name) > 1:
            raise TamisError(f"two of the data sets are called {each.name!r}; an entry's files tell them by name")
        true_labels(each, part)
    return sets


def _scores(path: Path, sets: "Sequence[Dataset]", part: str) -> dict[str, Any]:
    from tamis.challenge.score import score_submission
    from tamis.challenge.submission import read_submission

    return {each.name: score_submission(read_submission(path, each, needed=(part,)), each, part) for each in sets}


def _entry_names(paths: Sequence[Path]) -> list[str]:
    """The names of the entries: the file's name without ending, or the whole path if two are the same."""
    from tamis.base.errors import TamisError

    if len({path.resolve() for path in paths}) < len(paths):
        raise TamisError("an entry cannot meet itself: the same path is given twice")
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def _four(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"
