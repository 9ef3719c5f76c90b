"""``tamis.predict``: what a saved model predicts for new rows, and its error where the truth is known."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import DataError, TamisError
from tamis.base.predictions import Predicted as ModelPredictions
from tamis.base.predictions import predict_rows
from tamis.compose.align_columns import align_columns
from tamis.compose.each_label import EachLabel
from tamis.compose.model_card import Card
from tamis.compose.model_file import load_model
from tamis.data.column_plan import ColumnPlan
from tamis.data.column_sense import as_planned
from tamis.data.csv_text import escaped
from tamis.data.dataset import Dataset, as_read, unlabelled
from tamis.data.fingerprint import fingerprint
from tamis.data.load import Sought, load
from tamis.data.parsing.matrices import numbered
from tamis.data.write import whole
from tamis.validation.metrics import FoldPredictions, all_metrics, standard_error
from tamis.validation.numeric_metrics import NumericPredictions, numeric_metrics
from tamis.validation.several.predicted import PredictedLabels

#: Begins the name of the column with the probabilities of a class.
PROBABILITY = "probability of "
#: Note on the error on training rows.
_SEEN = "these are the rows that the model was fitted on, so the error on them is no estimate"


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of a saved model for the rows of a data set.

    Attributes
    ----------
    table : polars.DataFrame
        One line a row: "row" (counted from 1), "name" where rows have names, such as files, "part" where the data has
        an official split, "class", its "probability" and a column "probability of C" for every class C, or "margin"
        for a model without probabilities. A model of numbers has "prediction" instead of these. A model for several
        labels a row has "labels", joined, and a column "score of L" for every label L.
    error : dict or None
        "ber", "ber_standard_error", "accuracy" and "rows", where classes are known; for numbers "rmse",
        "rmse_standard_error", "mae", "r2" and "rows"; for several labels a row "f1_micro", "f1_macro",
        "subset_accuracy" and "rows".
    notes : list of str
        What had to be done to the columns, and what the error cannot tell.
    data : str
        The name of the data set.
    card : Card
        What is known of the model.
    """

    table: pl.DataFrame
    error: dict[str, float] | None
    notes: list[str]
    data: str
    card: Card

    def write_csv(self, path: str | PathLike[str]) -> None:
        """Write the table; the file appears whole or not at all."""
        with whole(Path(path)) as partial, partial.open("wb") as file:
            self.table.drop("probability", strict=False).pipe(escaped).write_csv(file)


def predict(
    model: str | PathLike[str], data: "str | PathLike[str] | Dataset | Any", *, target: str | None = None
) -> Predicted:
    """Predict the classes or numbers of rows with a saved model.

    Columns are found by their names, in any order. Columns that the model does not know are left out; one that it uses
    must be there. Rows without names of columns are taken in the order of the columns.

    Parameters
    ----------
    model : path
        A file written by ``tamis mine``, ``tamis select --save`` or :func:`tamis.compose.model_file.save_model`.
    data : str, path, Dataset, array, sparse matrix or data frame
        A file, the name of a data set, or rows.
    target : str, optional
        The column of the truth in a file, where it has another name than the model knows.

    Returns
    -------
    Predicted
        The predictions, and the error on the rows whose truth is known.

    Examples
    --------
    >>> import tamis
    >>> from tamis.compose.model_file import card_of, save_model
    >>> data, path = tamis.load("xor"), getfixture("tmp_path") / "xor.tamis-model"
    >>> fitted = tamis.recipe("cc(5) | knn(3)").fit(data.X, data.y)
    >>> save_model(path, fitted, card_of(fitted, data))
    >>> tamis.predict(path, data.X[:2]).table["class"].to_list() == fitted.predict(data.X[:2]).tolist()
    True
    """
    fitted, card = load_predictor(model)
    if isinstance(data, str | PathLike):
        data = load(data, Sought(target or card.target, card.nominal))
        if target is not None and not data.n_rows:
            raise DataError(f"{data.name}: no column is called {target!r}, or some rows have no class in it")
    elif not isinstance(data, Dataset):
        data = _rows_alone(data)
    return predict_dataset(fitted, card, data)


def load_predictor(path: str | PathLike[str]) -> tuple[Any, Card]:
    """The fitted model of a file, which must predict, and its card."""
    fitted, card = load_model(path)
    if not hasattr(fitted, "predict"):
        raise TamisError(f"{path}: its model ({card.recipe}) selects features and does not predict")
    return fitted, card


def predict_dataset(fitted: Any, card: Card, data: Dataset) -> Predicted:
    """Predict the rows of a data set, labelled or not, with a fitted model and its card."""
    if card.plan:
        data = as_planned(data, ColumnPlan.from_dict(card.plan))
    tables: list[pl.DataFrame] = []
    notes: list[str] = []
    error = None
    if data.n_rows:
        X, notes = align_columns(card, data.X, data.feature_names, data.name)
        output = _predicted(fitted, X, card, data.name)
        tables.append(_table(output, card, data.split))
        error, more = _error(output, card, data)
        notes = notes + more
    for part, rows in data.unlabelled.items():
        if rows.shape[0]:
            X, more = align_columns(card, rows, data.feature_names, data.name)
            output = _predicted(fitted, X, card, data.name)
            tables.append(_table(output, card, [part] * X.shape[0] if part else None))
            notes += [note for note in more if note not in notes]
    table = pl.concat(tables, how="diagonal").with_columns(row=pl.int_range(1, pl.len() + 1))
    if data.row_names is not None and len(data.row_names) == table.height:
        table = table.insert_column(1, pl.Series("name", data.row_names))
    return Predicted(table, error, notes, data.name, card)


def _rows_alone(X: Any) -> Dataset:
    """Rows that came without classes, in any form."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    names = np.array([str(name) for name in X.columns]) if hasattr(X, "columns") else numbered(X.shape[1])
    return unlabelled(as_read(X), feature_names=names)


def _predicted(fitted: Any, X: Any, card: Card, where: str) -> ModelPredictions | PredictedLabels:
    if hasattr(fitted, "feature_names_in_") and isinstance(X, np.ndarray):
        X = pl.DataFrame(X, schema=[str(name) for name in fitted.feature_names_in_])
    try:
        return PredictedLabels.of(fitted, X) if isinstance(fitted, EachLabel) else predict_rows(fitted, X)
    except TamisError:
        raise
    except ValueError as error:
        # scikit-learn's message on a missing value does not name the place.
        if (place := _missing(X)) is None:
            raise DataError(f"{where}: {error}") from error
        row, column = place
        raise DataError(
            f"{where}: row {row + 1} has no value in column {list(card.columns)[column]!r}, and the model takes no "
            "missing values; put impute in front of its recipe"
        ) from None


def _missing(X: Any) -> tuple[int, int] | None:
    """Row and column of a missing value, if there is any."""
    if sp.issparse(X):
        X = X.tocoo()
        lost = np.flatnonzero(np.isnan(X.data))
        return (int(X.coords[0][lost[0]]), int(X.coords[1][lost[0]])) if lost.size else None
    missing = X.select(pl.all().is_null()).to_numpy() if isinstance(X, pl.DataFrame) else np.isnan(X)
    places = np.argwhere(missing)
    return (int(places[0][0]), int(places[0][1])) if len(places) else None


def _table(output: ModelPredictions | PredictedLabels, card: Card, parts: Any) -> pl.DataFrame:
    if isinstance(output, PredictedLabels):
        return output.table(parts)
    if card.task == "regress":
        known = {} if parts is None else {"part": list(parts)}
        return pl.DataFrame({"row": np.arange(output.labels.size), **known, "prediction": output.labels})
    classes = np.asarray(card.classes if output.classes is None else output.classes)
    codes = np.searchsorted(classes, output.labels)
    every = np.arange(codes.size)
    columns: dict[str, Any] = {"row": every, **({} if parts is None else {"part": list(parts)})}
    columns["class"] = output.labels.tolist()
    if output.probabilities is not None:
        columns["probability"] = output.probabilities[every, codes]
        for label, values in zip(card.classes, output.probabilities.T, strict=True):
            columns[f"{PROBABILITY}{label}"] = np.ascontiguousarray(values)
    elif output.decision is not None:
        two = output.decision.ndim == 1
        columns["margin"] = (
            np.where(codes == 1, output.decision, -output.decision) if two else output.decision[every, codes]
        )
    return pl.DataFrame(columns)


def _error(
    output: ModelPredictions | PredictedLabels, card: Card, data: Dataset
) -> tuple[dict[str, float] | None, list[str]]:
    """The error on rows with classes, and what it cannot tell."""
    seen = [_SEEN] if fingerprint(data) == card.fingerprint else []
    if isinstance(output, PredictedLabels):
        found, notes = output.error(data)
        return found, [*notes, *seen]
    if card.task == "regress":
        return _numeric_error(output.labels, data, seen)
    # Whether labels are words or numbers may differ between files: "1" is the class 1.
    known = {str(label): code for code, label in enumerate(card.classes)}
    truth = np.array([known.get(str(label), -1) for label in data.y.tolist()])
    strange = int((truth < 0).sum())
    if strange == truth.size:
        return None, [f"none of the classes in {data.target!r} is one that the model knows, so no error is reported"]
    notes = []
    if strange:
        notes.append(f"{strange} rows are of classes that the model does not know, and count as wrong")
        truth[truth < 0] = len(card.classes)
    notes += seen
    labels = np.array([known[str(label)] for label in output.labels.tolist()])
    predictions = FoldPredictions(truth, labels, len(card.classes) + bool(strange))
    rates = {name: all_metrics[name](predictions) for name in ("ber", "accuracy")}
    return {**rates, "ber_standard_error": standard_error(all_metrics["ber"], predictions), "rows": truth.size}, notes


def _numeric_error(found: np.ndarray, data: Dataset, notes: list[str]) -> tuple[dict[str, float] | None, list[str]]:
    """The error on rows with numbers."""
    if data.y.dtype.kind not in "biuf" or not np.isfinite(data.y.astype(np.float64)).all():
        return None, [f"{data.target!r} does not hold a number in every row, so no error is reported"]
    predictions = NumericPredictions(data.y.astype(np.float64), np.asarray(found, dtype=np.float64))
    values = {name: numeric_metrics[name](predictions) for name in ("rmse", "mae", "r2")}
    error = standard_error(numeric_metrics["rmse"], predictions)
    return {**values, "rmse_standard_error": error, "rows": predictions.truth.size}, notes
