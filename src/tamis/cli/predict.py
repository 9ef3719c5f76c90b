"""``tamis predict``: what a saved model says of new rows."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.show import Data, Json, load_data, print_json, print_line, print_table, progress

if TYPE_CHECKING:
    from tamis.base.predictions import Said
    from tamis.compose.model_card import Card
    from tamis.data.dataset import Dataset

#: Rows that the table shows.
_SHOWN = 20


def predict(
    model: Annotated[str, typer.Argument(help="A file written by 'tamis mine' or 'tamis select --save'.")],
    data: Data,
    output: Annotated[
        Path | None, typer.Option("--output", help="Write all answers to this .csv file: row, class, probabilities.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="The column of true classes, if it is called otherwise here.")
    ] = None,
    json: Json = False,
) -> None:
    """Predict the classes of the rows of DATA with a saved MODEL.

    Columns are found by their names, in any order. Columns that the model does not know are left out; one that it uses
    must be there. When DATA has the true classes, the error on these rows is told too.
    """
    from tamis.base.errors import DataError, TamisError
    from tamis.compose.model_file import load_model
    from tamis.data.load import Sought

    if output is not None and not output.name.lower().endswith(".csv"):
        raise DataError(f"{output}: the name must end in .csv")
    with progress(f"reading {model}"):
        fitted, card = load_model(model)
    if not hasattr(fitted, "predict"):
        raise TamisError(f"{model}: its model ({card.recipe}) selects features and does not predict")
    dataset = load_data(data, Sought(target or card.target, card.nominal))
    if target is not None and not dataset.n_rows:
        raise DataError(f"{data}: no column is called {target!r}, or nothing is in it")
    facts = _answers(fitted, card, dataset)
    if output is not None:
        _write(facts["predictions"], output)
    for note in facts["notes"]:
        warnings.warn(note, stacklevel=1)
    if json:
        print_json({"model": model, "recipe": card.recipe, "data": dataset.name, **facts, "honest_error": card.error})
        return
    _print(facts, card, dataset, output)


def _answers(fitted: Any, card: "Card", dataset: "Dataset") -> dict[str, Any]:
    """Everything there is to say of the rows, as plain values."""
    from tamis.compose.align_columns import line_up

    parts = [(part, X) for part, X in dataset.unlabelled.items() if X.shape[0]]
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    error = None
    if dataset.n_rows:
        X, notes = line_up(card, dataset.X, dataset.feature_names, dataset.name)
        said = _ask(fitted, X, card, dataset.name)
        rows = _rows(said, card, dataset.split)
        error, more = _judge(said, card, dataset)
        notes = notes + more
    for part, unlabelled in parts:
        X, told = line_up(card, unlabelled, dataset.feature_names, dataset.name)
        rows += _rows(_ask(fitted, X, card, dataset.name), card, [part] * X.shape[0] if part else None)
        notes += [note for note in told if note not in notes]
    for number, row in enumerate(rows, start=1):
        row["row"] = number
    return {"rows": len(rows), "notes": notes, "error": error, "predictions": rows}


def _ask(fitted: Any, X: Any, card: "Card", where: str) -> "Said":
    import numpy as np
    import polars as pl

    from tamis.base.errors import DataError, TamisError
    from tamis.base.predictions import ask

    if hasattr(fitted, "feature_names_in_") and isinstance(X, np.ndarray):
        X = pl.DataFrame(X, schema=[str(name) for name in fitted.feature_names_in_])
    try:
        return ask(fitted, X)
    except TamisError:
        raise
    except ValueError as error:
        # What scikit-learn says of a missing value does not name the place.
        if (hole := _hole(X)) is None:
            raise DataError(f"{where}: {error}") from error
        row, column = hole
        raise DataError(
            f"{where}: row {row + 1} has no value in column {list(card.columns)[column]!r}, and the model takes no "
            "missing values; put impute in front of its recipe"
        ) from None


def _hole(X: Any) -> tuple[int, int] | None:
    """Row and column of a missing value, if there is any."""
    import numpy as np
    import polars as pl
    import scipy.sparse as sp

    if sp.issparse(X):
        X = X.tocoo()
        lost = np.flatnonzero(np.isnan(X.data))
        return (int(X.coords[0][lost[0]]), int(X.coords[1][lost[0]])) if lost.size else None
    missing = X.select(pl.all().is_null()).to_numpy() if isinstance(X, pl.DataFrame) else np.isnan(X)
    places = np.argwhere(missing)
    return (int(places[0][0]), int(places[0][1])) if len(places) else None


def _rows(said: "Said", card: "Card", parts: Any) -> list[dict[str, Any]]:
    """One entry a row: the class, and the probability of it or the margin by which it wins."""
    import numpy as np

    classes = np.asarray(card.classes if said.classes is None else said.classes)
    codes = np.searchsorted(classes, said.labels)
    every = np.arange(codes.size)
    evidence: dict[str, Any] = {}
    if said.probabilities is not None:
        evidence["probability"] = said.probabilities[every, codes].tolist()
        evidence["probabilities"] = [dict(zip(card.classes, row, strict=True)) for row in said.probabilities.tolist()]
    elif said.decision is not None:
        two = said.decision.ndim == 1
        margins = np.where(codes == 1, said.decision, -said.decision) if two else said.decision[every, codes]
        evidence["margin"] = margins.tolist()
    columns = {"row": every, **({} if parts is None else {"part": parts}), "class": said.labels.tolist(), **evidence}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _judge(said: "Said", card: "Card", dataset: "Dataset") -> tuple[dict[str, float] | None, list[str]]:
    """The error on rows with classes, and what is to be said of it."""
    import numpy as np

    from tamis.data.fingerprint import fingerprint
    from tamis.validation.metrics import FoldPredictions, all_metrics, standard_error

    # Whether labels are words or numbers may differ between files: "1" is the class 1.
    known = {str(label): code for code, label in enumerate(card.classes)}
    truth = np.array([known.get(str(label), -1) for label in dataset.y.tolist()])
    strange = int((truth < 0).sum())
    if strange == truth.size:
        return None, [f"none of the classes in {dataset.target!r} is one that the model knows, so no error is told"]
    notes = []
    if strange:
        notes.append(f"{strange} rows are of classes that the model does not know, and count as wrong")
        truth[truth < 0] = len(card.classes)
    if fingerprint(dataset) == card.fingerprint:
        notes.append("these are the rows that the model was learnt from, so the error on them is no estimate")
    labels = np.array([known[str(label)] for label in said.labels.tolist()])
    answers = FoldPredictions(truth, labels, len(card.classes) + bool(strange))
    found = {name: all_metrics[name](answers) for name in ("ber", "accuracy")}
    return {**found, "ber_standard_error": standard_error(all_metrics["ber"], answers), "rows": truth.size}, notes


def _print(facts: dict[str, Any], card: "Card", dataset: "Dataset", output: Path | None) -> None:
    rows = facts["predictions"]
    columns = [name for name in rows[0] if name != "probabilities"]
    shown = [[row[name] for name in columns] for row in rows[:_SHOWN]]
    right = [name for name in columns if name in ("row", "probability", "margin")]
    print_line(f"{dataset.name}: {len(rows)} rows, answered by {card.recipe}")
    print_table("", columns, shown, right=right)
    if len(rows) > _SHOWN:
        print_line(f"and {len(rows) - _SHOWN} more rows; --output FILE.csv writes all, --json prints all")
    if output is not None:
        print_line(f"all answers are in {output}")
    if (error := facts["error"]) is not None:
        print_line(
            f"error on the {error['rows']} rows with classes: BER {error['ber']:.4f} "
            f"(standard error {error['ber_standard_error']:.4f}), accuracy {error['accuracy']:.4f}"
        )


def _write(rows: list[dict[str, Any]], path: Path) -> None:
    """Write the answers; the file appears whole or not at all."""
    import polars as pl

    from tamis.data.write import whole

    flat = [
        {
            **{name: value for name, value in row.items() if name not in ("probability", "probabilities")},
            **{f"probability of {label}": value for label, value in row.get("probabilities", {}).items()},
        }
        for row in rows
    ]
    with whole(path) as partial:
        pl.DataFrame(flat, infer_schema_length=None).write_csv(partial, check_extension=False)
