"""Metrics of predicted classes, and the standard error of any metric on one test set.

Classes are codes 0, 1, ... of the classes of the whole data. A class without rows in a test set is left out of that
set's BER, balanced accuracy and AUC. The functions work on counts and ranks, because the bootstrap calls them hundreds
of times; the tests compare them with scikit-learn's.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from scipy.stats import rankdata

from tamis.base.errors import TamisError
from tamis.base.predictions import accuracy as accuracy_of_labels
from tamis.base.predictions import class_errors
from tamis.base.seeds import generator
from tamis.base.task import HOLDS, Task
from tamis.base.types import Codes, FloatArray, Mask

if TYPE_CHECKING:
    from tamis.validation.numeric_metrics import NumericPredictions

#: Predictions for test rows: of classes or of numbers.
AnyPredictions: TypeAlias = "FoldPredictions | NumericPredictions"

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

    def strata(self) -> list[np.ndarray]:
        """The rows that a bootstrap draws from: those of each true class."""
        return [np.flatnonzero(self.truth == c) for c in np.unique(self.truth)]


@dataclass(frozen=True)
class Metric:
    """A metric of predictions.

    Attributes
    ----------
    name, title : str
        The name that users type, and the one in tables.
    better : "low" or "high"
    needs : "labels", "ranking", "probabilities" or "counts"
        What the model must provide. A metric of ranking falls back to labels. For "counts" the true numbers must be
        whole and not negative.
    function : callable
        ``function(predictions) -> float``; NaN where it is undefined.
    closed_error : callable, optional
        ``closed_error(predictions) -> float``, the standard error in closed form.
    task : "classify" or "regress"
        Whether it is for classes or for numbers.
    """

    name: str
    title: str
    better: Literal["low", "high"]
    needs: Literal["labels", "ranking", "probabilities", "counts"]
    function: Callable[[Any], float]
    closed_error: Callable[[Any], float] | None = None
    task: Task = "classify"

    def possible(self, predictions: "AnyPredictions") -> bool:
        """Whether the predictions hold what the metric needs."""
        if self.needs == "counts":
            truth = predictions.truth
            return bool((truth >= 0).all() and (truth == np.rint(truth)).all())
        return self.needs != "probabilities" or getattr(predictions, "probabilities", None) is not None

    def __call__(self, predictions: "AnyPredictions") -> float:
        """The value of the metric."""
        if not self.possible(predictions):
            lacks = "a target of counts" if self.needs == "counts" else "class probabilities"
            raise TamisError(f"metrics: {self.name} needs {lacks}, which is not there")
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


def metrics_for(task: Task) -> dict[str, Metric]:
    """The metrics of a task by name; the first is the main one by default.

    Examples
    --------
    >>> list(metrics_for("regress"))
    ['rmse', 'mae', 'r2', 'spearman', 'deviance']
    """
    from tamis.validation.numeric_metrics import numeric_metrics

    return all_metrics if task == "classify" else numeric_metrics


def chosen(metrics: str | Metric | Iterable[str | Metric], task: Task = "classify") -> tuple[Metric, ...]:
    """The metrics of a task given by name, as :class:`Metric`, or as a list of either; each once."""
    wanted = (metrics,) if isinstance(metrics, str | Metric) else tuple(metrics)
    known = metrics_for(task)
    if not wanted:
        raise TamisError(f"metrics is empty; there are: {', '.join(known)}")
    other = metrics_for("regress" if task == "classify" else "classify")
    for one in wanted:
        if (one.task != task) if isinstance(one, Metric) else (one not in known and one in other):
            name = one.name if isinstance(one, Metric) else one
            right = HOLDS["regress" if task == "classify" else "classify"]
            raise TamisError(
                f"metric {name} is for {right}, and the target holds {HOLDS[task]}; there are: {', '.join(known)}"
            )
        if not isinstance(one, Metric) and one not in known:
            raise TamisError(f"no metric is called {one!r}; there are: {', '.join(known)}")
    found = {m.name: m for m in (m if isinstance(m, Metric) else known[m] for m in wanted)}
    return tuple(found.values())


def standard_error(metric: Metric, predictions: "AnyPredictions", *, seed: int = 0) -> float:
    """Standard error of a metric on one test set.

    For BER and balanced accuracy of k classes it is 1/k sqrt(sum over classes of p (1 - p) / n), with p the error rate
    and n the rows of a class; for accuracy the binomial one; for RMSE and MAE that of the mean of the rows' squared and
    absolute errors. For the others it is the deviation over 500 bootstrap samples of the rows, drawn within each true
    class.
    """
    if metric.closed_error is not None:
        return metric.closed_error(predictions)
    if np.isnan(metric(predictions)):
        return float("nan")
    rng = generator(seed)
    members = predictions.strata()
    drawn = [
        metric(predictions.rows(np.concatenate([rng.choice(rows, rows.size) for rows in members])))
        for _ in range(_RESAMPLES)
    ]
    return float(np.nanstd(drawn, ddof=1))
