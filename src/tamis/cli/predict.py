"""``tamis predict``: what a saved model predicts for new rows."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.show import Data, Json, load_data, print_json, print_line, print_table, progress, reads_data

if TYPE_CHECKING:
    from tamis.data.reading import Reading
    from tamis.validation.predict import Predicted

#: Rows that the table shows.
_SHOWN = 20


@reads_data
def predict(
    model: Annotated[str, typer.Argument(help="A file written by 'tamis mine' or 'tamis select --save'.")],
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Write all predictions to this .csv file: row, class, probabilities."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="The column of the truth, if it is called otherwise here.")
    ] = None,
    json: Json = False,
    *,
    reading: "Reading",
) -> None:
    """Predict the classes or numbers of the rows of DATA with a saved MODEL.

    Columns are found by their names, in any order. Columns that the model does not know are left out; one that it uses
    must be there. When DATA has the truth, the error on these rows is printed too.
    """
    from tamis.base.errors import DataError
    from tamis.data.load import Sought
    from tamis.validation.predict import load_predictor, predict_dataset

    if output is not None and not output.name.lower().endswith(".csv"):
        raise DataError(f"{output}: the name must end in .csv")
    with progress(f"reading {model}"):
        fitted, card = load_predictor(model)
    dataset = load_data(data, Sought(target or card.target, card.nominal), reading)
    if target is not None and not dataset.n_rows:
        raise DataError(f"{data}: no column is called {target!r}, or some rows have no class in it")
    found = predict_dataset(fitted, card, dataset)
    if output is not None:
        found.write_csv(output)
    for note in found.notes:
        warnings.warn(note, stacklevel=1)
    if json:
        facts = {"rows": found.table.height, "notes": found.notes, "error": found.error, "predictions": _plain(found)}
        print_json({"model": model, "recipe": card.recipe, "data": found.data, **facts, "honest_error": card.error})
        return
    _print(found, output)


def _plain(found: "Predicted") -> list[dict[str, Any]]:
    """The predictions, with the probabilities of a row in one mapping."""
    from tamis.validation.predict import PROBABILITY
    from tamis.validation.several.predicted import SCORE

    rows = []
    for line in found.table.iter_rows(named=True):
        more = (PROBABILITY, SCORE)
        row = {name: value for name, value in line.items() if not name.startswith(more) and value is not None}
        if "probability" in row:
            row["probabilities"] = {label: line[f"{PROBABILITY}{label}"] for label in found.card.classes}
        if "labels" in row:
            row["scores"] = {label: line[f"{SCORE}{label}"] for label in found.card.classes}
        rows.append(row)
    return rows


def _print(found: "Predicted", output: Path | None) -> None:
    from tamis.validation.predict import PROBABILITY
    from tamis.validation.result import figure
    from tamis.validation.several.predicted import SCORE

    shown = [name for name in found.table.columns if not name.startswith((PROBABILITY, SCORE))]
    table = found.table.select(shown)
    print_line(f"{found.data}: {table.height} rows, predicted by {found.card.recipe}")
    print_table("", table.columns, table.head(_SHOWN).rows(), right=["row", "probability", "margin", "prediction"])
    if table.height > _SHOWN:
        print_line(f"and {table.height - _SHOWN} more rows; --output FILE.csv writes all, --json prints all")
    if output is not None:
        print_line(f"all predictions are in {output}")
    if (error := found.error) is not None and "f1_micro" in error:
        print_line(
            f"on the {error['rows']} rows with labels: F1 {error['f1_micro']:.4f} (micro), {error['f1_macro']:.4f} "
            f"(macro), subset accuracy {error['subset_accuracy']:.4f}"
        )
    elif error is not None and "rmse" in error:
        print_line(
            f"error on the {error['rows']} rows with numbers: RMSE {figure(error['rmse'])} "
            f"(standard error {figure(error['rmse_standard_error'])}), MAE {figure(error['mae'])}, "
            f"R² {figure(error['r2'])}"
        )
    elif error is not None:
        print_line(
            f"error on the {error['rows']} rows with classes: BER {error['ber']:.4f} "
            f"(standard error {error['ber_standard_error']:.4f}), accuracy {error['accuracy']:.4f}"
        )
