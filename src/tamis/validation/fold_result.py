"""What comes of one fold: a model's answers for the test rows, judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.predictions import Said
from tamis.base.types import Codes, FloatArray
from tamis.validation.folds import Split
from tamis.validation.metrics import FoldPredictions, Metric, all_metrics


@dataclass(frozen=True, eq=False)
class FoldResult:
    """What came of one fold.

    Attributes
    ----------
    repeat, fold : int
        Which fold of which repeat, from 0.
    rows : int array
        The test rows.
    n_train : int
        Number of training rows.
    predictions : FoldPredictions
        The truth and the model's answers on the test rows.
    metrics : mapping of str to float
    selected : int array or None
        Columns of the data that the model uses, when it can be told.
    n_features : int
        Columns of the data.
    fit_seconds, predict_seconds : float
        Work that several models share counts for each of them in equal parts.
    alone_seconds : float
        Both together, where nothing is shared.
    warnings : tuple of (class, str)
        What was warned of, each once; said again by whoever gathers the folds, in whatever process they ran.
    """

    repeat: int
    fold: int
    rows: np.ndarray
    n_train: int
    predictions: FoldPredictions
    metrics: Mapping[str, float]
    selected: np.ndarray | None
    n_features: int
    fit_seconds: float
    predict_seconds: float
    alone_seconds: float
    warnings: tuple[tuple[type[Warning], str], ...] = ()


#: What came of one model on one split.
Finding: TypeAlias = FoldResult | TamisError


def fold_predictions(said: Said, y: np.ndarray, split: Split, classes: np.ndarray) -> FoldPredictions:
    """What a model said of the test rows of a split, beside the truth, in the classes of the whole data.

    Parameters
    ----------
    said : Said
    y : array of shape (n_rows,)
        Class labels of all rows.
    split : Split
    classes : array
        Classes of the whole data, sorted.
    """
    known = np.searchsorted(classes, np.unique(y[split.train]) if said.classes is None else said.classes)
    probabilities = scores = None
    if said.probabilities is not None:
        probabilities = _per_class(_summing_to_one(said.probabilities), known, classes.size, absent=0.0)
    if said.decision is not None:
        scores = _per_class(said.decision, known, classes.size, absent=float(np.finfo(np.float64).min))
    labels = _codes(said.labels, classes)
    # Probabilities of many classes compare from row to row, raw evidence need not; for two classes evidence has
    # the same order and fewer ties. scikit-learn's scorers choose the same way.
    if scores is None or (classes.size > 2 and probabilities is not None):
        scores = probabilities
    if scores is not None and classes.size == 2:
        scores = scores[:, 1]
    return FoldPredictions(np.searchsorted(classes, y[split.test]), labels, classes.size, scores, probabilities)


def measured(answers: FoldPredictions, metrics: Sequence[Metric] | None) -> dict[str, float]:
    """The answers judged by some metrics; by default by all that they allow."""
    wanted = [m for m in all_metrics.values() if m.possible(answers)] if metrics is None else metrics
    return {metric.name: metric(answers) for metric in wanted}


def _codes(labels: np.ndarray, classes: np.ndarray) -> Codes:
    codes = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    strange = np.flatnonzero(classes[codes] != labels)
    if strange.size:
        raise TamisError(f"the model answers {labels[strange[0]]}, which is not a class: it must end in a classifier")
    return codes


def _per_class(values: FloatArray, known: Codes, n_classes: int, *, absent: float) -> FloatArray:
    """Values of each class of the whole data; `absent` for a class the model has not seen."""
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    spread = np.full((values.shape[0], n_classes), absent)
    spread[:, known] = values
    return spread


def _summing_to_one(probabilities: Any) -> FloatArray:
    """As float64; single precision is put right, so that no reader of the sums is alarmed by its rounding."""
    given = np.asarray(probabilities)
    exact = given.astype(np.float64)
    return exact if given.dtype == np.float64 else exact / exact.sum(axis=1, keepdims=True)
