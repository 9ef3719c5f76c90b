"""The result of one model on one fold: its predictions for the test rows, and their metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.predictions import Predicted, as_probabilities
from tamis.base.types import Codes, FloatArray
from tamis.data.dataset import Dataset
from tamis.validation.folds import Split
from tamis.validation.metrics import AnyPredictions, FoldPredictions, Metric, metrics_for
from tamis.validation.numeric_metrics import NumericPredictions


@dataclass(frozen=True, eq=False)
class FoldResult:
    """The result of one model on one fold.

    Attributes
    ----------
    repeat, fold : int
        Number of the repeat and of the fold in it, from 0.
    rows : int array
        The test rows.
    selected : int array or None
        Columns of the data that the model uses; None when they cannot be traced.
    fit_seconds, predict_seconds, alone_seconds : float
        Times in which shared work is divided equally among its models, and the total time without sharing.
    warnings : tuple of (class, str)
        Distinct warnings of the fold, in whatever process it ran.
    """

    repeat: int
    fold: int
    rows: np.ndarray
    n_train: int
    predictions: AnyPredictions
    metrics: Mapping[str, float]
    selected: np.ndarray | None
    n_features: int
    fit_seconds: float
    predict_seconds: float
    alone_seconds: float
    warnings: tuple[tuple[type[Warning], str], ...] = ()

    @property
    def of_classes(self) -> FoldPredictions:
        """The predictions, which are of classes."""
        assert isinstance(self.predictions, FoldPredictions)
        return self.predictions


#: The result of one model on one split, or why there is none.
Finding: TypeAlias = FoldResult | TamisError


def fold_predictions(output: Predicted, data: Dataset, split: Split) -> AnyPredictions:
    """The output of a model for the test rows of a split, with the truth."""
    if data.task == "regress":
        return NumericPredictions(data.y[split.test], _numbers(output.labels))
    y, classes = data.y, data.classes
    known = np.searchsorted(classes, np.unique(y[split.train]) if output.classes is None else output.classes)
    probabilities = scores = None
    if output.probabilities is not None:
        probabilities = _per_class(as_probabilities(output, known.size), known, classes.size, absent=0.0)
    if output.decision is not None:
        scores = _per_class(output.decision, known, classes.size, absent=float(np.finfo(np.float64).min))
    labels = _codes(output.labels, classes)
    # Probabilities of many classes compare from row to row, decision values need not. For two classes decision values
    # have the same order and fewer ties. scikit-learn's scorers choose the same way.
    if scores is None or (classes.size > 2 and probabilities is not None):
        scores = probabilities
    if scores is not None and classes.size == 2:
        scores = scores[:, 1]
    return FoldPredictions(np.searchsorted(classes, y[split.test]), labels, classes.size, scores, probabilities)


def possible_metrics(predictions: AnyPredictions) -> tuple[Metric, ...]:
    """All metrics that the predictions allow."""
    known = metrics_for("regress" if isinstance(predictions, NumericPredictions) else "classify")
    return tuple(metric for metric in known.values() if metric.possible(predictions))


def measured(predictions: AnyPredictions, metrics: Sequence[Metric] | None) -> dict[str, float]:
    """Values of some metrics, by default of all that the predictions allow."""
    wanted = possible_metrics(predictions) if metrics is None else metrics
    return {metric.name: metric(predictions) for metric in wanted}


def _numbers(labels: np.ndarray) -> FloatArray:
    found = np.asarray(labels)
    if found.dtype.kind not in "biuf" or not np.isfinite(found).all():
        strange = found[~np.isfinite(found)] if found.dtype.kind == "f" else found
        raise TamisError(f"the model predicts {strange.tolist()[0]!r}, which is not a finite number")
    return np.asarray(found, dtype=np.float64)


def _codes(labels: np.ndarray, classes: np.ndarray) -> Codes:
    codes = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    unknown = np.flatnonzero(classes[codes] != labels)
    if unknown.size:
        raise TamisError(f"the model predicts {labels[unknown[0]]}, which is not a class: it must end in a classifier")
    return codes


def _per_class(values: FloatArray, known: Codes, n_classes: int, *, absent: float) -> FloatArray:
    """One column for each class of the whole data; `absent` for a class without training rows."""
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    spread = np.full((values.shape[0], n_classes), absent)
    spread[:, known] = values
    return spread
