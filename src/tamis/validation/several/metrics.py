"""Metrics of predicted sets of labels.

Precision, recall and F1 are those of the rows that have a label. Micro metrics count right and wrong labels over all
labels together; macro metrics are means over the labels that some test rows have, since nothing can be found of the
others. Where nothing is predicted, precision is 0. The tests compare them with scikit-learn's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import FloatArray, Mask

#: Bootstrap samples of a standard error.
_RESAMPLES = 500


@dataclass(frozen=True, eq=False)
class LabelPredictions:
    """True and predicted labels of some test rows, and the evidence for each label.

    Attributes
    ----------
    truth, labels : bool arrays of shape (n_rows, n_labels)
    scores : float array of shape (n_rows, n_labels)
        Larger where a label is likelier.
    """

    truth: Mask
    labels: Mask
    scores: FloatArray

    def __post_init__(self) -> None:
        if not self.truth.shape == self.labels.shape == self.scores.shape:
            raise TamisError(f"shapes differ: {self.truth.shape}, {self.labels.shape}, {self.scores.shape}")

    def rows(self, index: np.ndarray) -> "LabelPredictions":
        """The predictions for some of the rows."""
        return LabelPredictions(self.truth[index], self.labels[index], self.scores[index])

    @property
    def tested(self) -> Mask:
        """Mask of the labels that some of the rows have."""
        return np.asarray(self.truth.any(axis=0))


class Rates(NamedTuple):
    """Precision, recall and F1, of one label or of many."""

    precision: FloatArray
    recall: FloatArray
    f1: FloatArray


def label_rates(predictions: LabelPredictions) -> Rates:
    """Precision, recall and F1 of each label; recall is NaN for a label that no row has, and F1 too."""
    found = _rates(*_counts(predictions))
    nothing = ~predictions.tested
    return Rates(found.precision, np.where(nothing, np.nan, found.recall), np.where(nothing, np.nan, found.f1))


def breakeven(truth: Mask, scores: FloatArray) -> float:
    """The value at which precision and recall are equal, as the threshold on the scores falls.

    It is their mean at the threshold where they are nearest to each other, at the highest such mean if there are
    several. NaN without a row that has the label.

    Examples
    --------
    >>> breakeven(np.array([True, True, False, True]), np.array([4.0, 3.0, 2.0, 1.0])).__round__(3)
    0.667
    """
    positives = int(truth.sum())
    if positives == 0:
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
    right = np.cumsum(truth[order])[ends]
    precision, recall = right / (ends + 1), right / positives
    gap = np.abs(precision - recall)
    # Equal but for rounding.
    nearest = gap <= gap.min() + 1e-12
    return float(((precision + recall) / 2)[nearest].max())


def label_breakevens(predictions: LabelPredictions) -> FloatArray:
    """The breakeven point of each label; NaN for one that no row has."""
    columns = zip(predictions.truth.T, predictions.scores.T, strict=True)
    return np.array([breakeven(truth, scores) for truth, scores in columns])


@dataclass(frozen=True)
class LabelMetric:
    """A metric of predicted sets of labels.

    Attributes
    ----------
    name, title : str
    better : "low" or "high"
    function : callable
        ``function(predictions) -> float``; NaN where it is undefined.
    pools : bool
        Whether predictions of different folds are counted together. Scores of different models do not compare, so that
        metrics of scores are means over folds.
    of_counts : callable, optional
        The same from arrays of shape (..., n_labels): right, predicted and true rows of each label.
    """

    name: str
    title: str
    better: Literal["low", "high"]
    function: Callable[[LabelPredictions], float]
    pools: bool = True
    of_counts: Callable[[FloatArray, FloatArray, FloatArray], FloatArray] | None = None

    def __call__(self, predictions: LabelPredictions) -> float:
        """The value of the metric."""
        return float(self.function(predictions))


def _counts(predictions: LabelPredictions) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of each label the rows predicted rightly, the rows predicted and the rows that have it."""
    right = predictions.truth & predictions.labels
    found, predicted, true = (
        one.sum(axis=0).astype(np.float64) for one in (right, predictions.labels, predictions.truth)
    )
    return found, predicted, true


def _rates(right: FloatArray, predicted: FloatArray, true: FloatArray) -> Rates:
    return Rates(_share(right, predicted), _share(right, true), _share(2 * right, predicted + true))


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Part of a whole; 0 of nothing."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _micro(rate: str) -> Callable[[FloatArray, FloatArray, FloatArray], FloatArray]:
    def value(right: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
        found: FloatArray = getattr(_rates(*(one.sum(axis=-1) for one in (right, predicted, true))), rate)
        return found

    return value


def _macro(rate: str) -> Callable[[FloatArray, FloatArray, FloatArray], FloatArray]:
    def value(right: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
        tested = true > 0
        return _nan_share((getattr(_rates(right, predicted, true), rate) * tested).sum(axis=-1), tested.sum(axis=-1))

    return value


def _nan_share(part: FloatArray, whole: FloatArray) -> FloatArray:
    whole = np.asarray(whole, dtype=np.float64)
    return np.where(whole > 0, part / np.maximum(whole, 1.0), np.nan)


def _of_counts(
    name: str, title: str, formula: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
) -> LabelMetric:
    return LabelMetric(name, title, "high", lambda given: float(formula(*_counts(given))), of_counts=formula)


def subset_accuracy(predictions: LabelPredictions) -> float:
    """Share of the rows whose whole set of labels is predicted."""
    return float((predictions.truth == predictions.labels).all(axis=1).mean())


def hamming_loss(predictions: LabelPredictions) -> float:
    """Share of all pairs of a row and a label that are predicted wrongly."""
    return float((predictions.truth != predictions.labels).mean())


def breakeven_micro(predictions: LabelPredictions) -> float:
    """The breakeven point of all pairs of a row and a label, with one threshold on all scores."""
    return breakeven(predictions.truth.ravel(), predictions.scores.ravel())


def breakeven_macro(predictions: LabelPredictions) -> float:
    """The mean of the breakeven points of the labels that some rows have."""
    found = label_breakevens(predictions)
    known = found[~np.isnan(found)]
    return float(known.mean()) if known.size else float("nan")


#: Every metric by name; the first is the main one.
all_label_metrics: dict[str, LabelMetric] = {
    metric.name: metric
    for metric in (
        _of_counts("f1_micro", "F1 (micro)", _micro("f1")),
        _of_counts("f1_macro", "F1 (macro)", _macro("f1")),
        _of_counts("precision_micro", "precision (micro)", _micro("precision")),
        _of_counts("precision_macro", "precision (macro)", _macro("precision")),
        _of_counts("recall_micro", "recall (micro)", _micro("recall")),
        _of_counts("recall_macro", "recall (macro)", _macro("recall")),
        LabelMetric("breakeven_micro", "breakeven (micro)", "high", breakeven_micro, pools=False),
        LabelMetric("breakeven_macro", "breakeven (macro)", "high", breakeven_macro, pools=False),
        LabelMetric("subset_accuracy", "subset accuracy", "high", subset_accuracy),
        LabelMetric("hamming_loss", "Hamming loss", "low", hamming_loss),
    )
}


def label_standard_errors(predictions: LabelPredictions, *, seed: int = 0) -> dict[str, float]:
    """Standard error of each metric on one test set: its deviation over 500 bootstrap samples of the rows.

    That of a breakeven point is not computed (NaN).
    """
    rng, n = generator(seed), len(predictions.truth)
    tables = [
        np.ascontiguousarray(one, dtype=np.float32)
        for one in (predictions.truth & predictions.labels, predictions.labels, predictions.truth)
    ]
    wrong = predictions.truth != predictions.labels
    row_values = {"subset_accuracy": ~wrong.any(axis=1), "hamming_loss": wrong.mean(axis=1)}
    drawn: dict[str, list[float]] = {name: [] for name in all_label_metrics}
    for _ in range(_RESAMPLES):
        weights = np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float32)
        counts = [(weights @ table).astype(np.float64) for table in tables]
        for name, metric in all_label_metrics.items():
            if metric.of_counts is not None:
                drawn[name].append(float(metric.of_counts(*counts)))
            elif name in row_values:
                drawn[name].append(float(weights @ row_values[name]) / n)
    return {name: _deviation(values) for name, values in drawn.items()}


def _deviation(values: list[float]) -> float:
    known = np.array([value for value in values if value == value])
    return float(known.std(ddof=1)) if known.size > 1 else float("nan")
