"""Metrics of predictions, and the standard error of each on one test set.

Classes are codes 0, 1, ... of the classes of the whole data. A class without rows in a test set is left out of that
set's BER, balanced accuracy and AUC. The functions work on counts and ranks, because the bootstrap calls them hundreds
of times; the tests compare them with scikit-learn's.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from tamis.base.errors import TamisError
from tamis.base.predictions import accuracy as accuracy_of_labels
from tamis.base.predictions import class_errors
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray, Mask

#: Bootstrap samples of a standard error, which is then known to about 3 %.
_RESAMPLES = 500


@dataclass(frozen=True, eq=False)
class FoldPredictions:
    """True and predicted classes of some test rows.

    Attributes
    ----------
    truth, labels : int array of shape (n_rows,)
        True and predicted class codes.
    n_classes : int
        Classes of the whole data.
    scores : array of shape (n_rows,) or (n_rows, n_classes), optional
        Evidence for the second of two classes, or for each class.
    probabilities : array of shape (n_rows, n_classes), optional
    """

    truth: Codes
    labels: Codes
    n_classes: int
    scores: FloatArray | None = None
    probabilities: FloatArray | None = None

    def rows(self, index: np.ndarray) -> "FoldPredictions":
        """The predictions for some of the rows."""
        return replace(self, **{name: v[index] for name, v in vars(self).items() if isinstance(v, np.ndarray)})


@dataclass(frozen=True)
class Metric:
    """A metric of predictions.

    Attributes
    ----------
    name, title : str
        The name that users type, and the one in tables.
    better : "low" or "high"
    needs : "labels", "ranking" or "probabilities"
        What the model must provide. A metric of ranking falls back to labels.
    function : callable
        ``function(predictions) -> float``; NaN where it is undefined.
    closed_error : callable, optional
        ``closed_error(predictions) -> float``, the standard error in closed form.
    """

    name: str
    title: str
    better: Literal["low", "high"]
    needs: Literal["labels", "ranking", "probabilities"]
    function: Callable[[FoldPredictions], float]
    closed_error: Callable[[FoldPredictions], float] | None = None

    def possible(self, predictions: FoldPredictions) -> bool:
        """Whether the predictions hold what the metric needs."""
        return self.needs != "probabilities" or predictions.probabilities is not None

    def __call__(self, predictions: FoldPredictions) -> float:
        """The value of the metric."""
        if not self.possible(predictions):
            raise TamisError(f"metrics: {self.name} needs class probabilities, which this model does not have")
        return float(self.function(predictions))


def ber(predictions: FoldPredictions) -> float:
    """Balanced error rate: the mean of the error rates of the classes.

    For two classes it is 1/2 (fn / (tp + fn) + fp / (tn + fp)).

    Examples
    --------
    >>> ber(FoldPredictions(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 0, 1]), 2))
    0.375
    """
    return float(class_errors(predictions.truth, predictions.labels)[0].mean())


def balanced_accuracy(predictions: FoldPredictions) -> float:
    """1 - BER: the mean recall of the classes."""
    return 1.0 - ber(predictions)


def accuracy(predictions: FoldPredictions) -> float:
    """Share of the rows whose class is predicted correctly."""
    return accuracy_of_labels(predictions.truth, predictions.labels)


def auc(predictions: FoldPredictions) -> float:
    """Area under the ROC curve: the probability that a row of the class ranks above another row, ties counting half.

    For more than two classes it is the mean over classes of one against the rest. With labels alone it is 1 - BER, as
    in the NIPS 2003 challenge. It is NaN when fewer than two classes are present.
    """
    present = np.unique(predictions.truth)
    if present.size < 2:
        return float("nan")
    if predictions.scores is None:
        return balanced_accuracy(predictions)
    if predictions.n_classes == 2:
        return _area(predictions.truth == 1, predictions.scores)
    return float(np.mean([_area(predictions.truth == c, predictions.scores[:, c]) for c in present]))


def _area(positive: Mask, scores: FloatArray) -> float:
    """Mann and Whitney's statistic as a share of all pairs."""
    n = int(positive.sum())
    above = rankdata(scores)[positive].sum() - n * (n + 1) / 2
    return float(above / (n * (positive.size - n)))


def f1_macro(predictions: FoldPredictions) -> float:
    """Mean of F1, the harmonic mean of precision and recall, over the true and the predicted classes."""
    right = np.bincount(predictions.truth[predictions.labels == predictions.truth], minlength=predictions.n_classes)
    both = np.concatenate([predictions.truth, predictions.labels])
    total = np.bincount(both, minlength=predictions.n_classes)
    return float(np.mean(2.0 * right[total > 0] / total[total > 0]))


def log_loss(predictions: FoldPredictions) -> float:
    """Mean of -ln(probability of the true class); a probability of 0 counts as 2.2e-16."""
    return float(row_log_loss(predictions).mean())


def row_log_loss(predictions: FoldPredictions) -> FloatArray:
    """-ln(probability of the true class) of each row; NaN without probabilities."""
    if predictions.probabilities is None:
        return np.full(predictions.truth.size, np.nan)
    given = predictions.probabilities[np.arange(predictions.truth.size), predictions.truth]
    return -np.log(np.clip(given, np.finfo(np.float64).eps, 1.0))


def _ber_error(predictions: FoldPredictions) -> float:
    p, n = class_errors(predictions.truth, predictions.labels)
    return float(np.sqrt((p * (1 - p) / n).sum()) / p.size)


def _accuracy_error(predictions: FoldPredictions) -> float:
    p = accuracy(predictions)
    return float(np.sqrt(p * (1 - p) / predictions.truth.size))


#: Every metric by name; the first is the main one by default.
all_metrics: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("ber", "BER", "low", "labels", ber, _ber_error),
        Metric("balanced_accuracy", "balanced accuracy", "high", "labels", balanced_accuracy, _ber_error),
        Metric("accuracy", "accuracy", "high", "labels", accuracy, _accuracy_error),
        Metric("auc", "AUC", "high", "ranking", auc),
        # With one label per row every error is one false positive and one false negative.
        Metric("f1_micro", "F1 (micro)", "high", "labels", accuracy, _accuracy_error),
        Metric("f1_macro", "F1 (macro)", "high", "labels", f1_macro),
        Metric("log_loss", "log loss", "low", "probabilities", log_loss),
    )
}


def chosen(metrics: str | Metric | Iterable[str | Metric]) -> tuple[Metric, ...]:
    """The metrics given by name, as :class:`Metric`, or as a list of either; each once."""
    wanted = (metrics,) if isinstance(metrics, str | Metric) else tuple(metrics)
    if not wanted:
        raise TamisError(f"metrics is empty; there are: {', '.join(all_metrics)}")
    unknown = [m for m in wanted if not isinstance(m, Metric) and m not in all_metrics]
    if unknown:
        raise TamisError(f"no metric is called {unknown[0]!r}; there are: {', '.join(all_metrics)}")
    found = {m.name: m for m in (m if isinstance(m, Metric) else all_metrics[m] for m in wanted)}
    return tuple(found.values())


def standard_error(metric: Metric, predictions: FoldPredictions, *, seed: int = 0) -> float:
    """Standard error of a metric on one test set.

    For BER and balanced accuracy of k classes it is 1/k sqrt(sum over classes of p (1 - p) / n), with p the error rate
    and n the rows of a class; for accuracy the binomial one. For the others it is the deviation over 500 bootstrap
    samples of the rows, drawn within each true class.
    """
    if metric.closed_error is not None:
        return metric.closed_error(predictions)
    if np.isnan(metric(predictions)):
        return float("nan")
    rng = generator(seed)
    members = [np.flatnonzero(predictions.truth == c) for c in np.unique(predictions.truth)]
    drawn = [
        metric(predictions.rows(np.concatenate([rng.choice(rows, rows.size) for rows in members])))
        for _ in range(_RESAMPLES)
    ]
    return float(np.std(drawn, ddof=1))
