"""How predictions are judged: each measure as data, and the standard error of each on one test set.

Classes are those of the whole data, given explicitly as codes 0, 1, ...; a class that has no row in a test set is
left out of that set's BER, balanced accuracy and AUC. The functions are written on counts and ranks rather than
taken from scikit-learn because the bootstrap calls them hundreds of times; the tests hold them to scikit-learn's.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from tamis.base import predictions
from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray, Mask

#: Bootstrap samples behind a standard error: the error of the error is then near 3 %.
_RESAMPLES = 500


@dataclass(frozen=True, eq=False)
class FoldPredictions:
    """What a model said of some rows, beside the truth.

    Attributes
    ----------
    truth, labels : int array of shape (n_rows,)
        True and predicted class codes.
    n_classes : int
        Classes of the whole data.
    scores : array of shape (n_rows,) or (n_rows, n_classes), optional
        Evidence: for the second of two classes, or for each class. Larger is more.
    probabilities : array of shape (n_rows, n_classes), optional
    """

    truth: Codes
    labels: Codes
    n_classes: int
    scores: FloatArray | None = None
    probabilities: FloatArray | None = None

    def rows(self, index: np.ndarray) -> "FoldPredictions":
        """The answers on some of the rows."""
        return replace(
            self,
            truth=self.truth[index],
            labels=self.labels[index],
            scores=None if self.scores is None else self.scores[index],
            probabilities=None if self.probabilities is None else self.probabilities[index],
        )

    def class_errors(self) -> tuple[FloatArray, FloatArray]:
        """Share of each present class that was answered wrongly, and the class's number of rows."""
        return predictions.class_errors(self.truth, self.labels)


@dataclass(frozen=True)
class Metric:
    """One measure of a model's answers.

    Attributes
    ----------
    name, title : str
        The word users type, and the one tables show.
    better : "low" or "high"
    needs : "labels", "ranking" or "probabilities"
        What the model must give. A measure of ranking does with labels when there is nothing better.
    function : callable
        ``function(answers) -> float``; NaN where the measure does not exist.
    closed_error : callable, optional
        ``closed_error(answers) -> float``: the standard error where it has a closed form.
    """

    name: str
    title: str
    better: Literal["low", "high"]
    needs: Literal["labels", "ranking", "probabilities"]
    function: Callable[[FoldPredictions], float]
    closed_error: Callable[[FoldPredictions], float] | None = None

    def possible(self, answers: FoldPredictions) -> bool:
        """Whether the answers hold what the measure needs."""
        return self.needs != "probabilities" or answers.probabilities is not None

    def __call__(self, answers: FoldPredictions) -> float:
        """Judge the answers."""
        if not self.possible(answers):
            raise TamisError(f"metrics: {self.name} needs class probabilities, which this model does not give")
        return float(self.function(answers))


def ber(answers: FoldPredictions) -> float:
    """Balanced error rate: the mean over classes of the share of the class answered wrongly.

    For two classes it is 1/2 (fn / (tp + fn) + fp / (tn + fp)).

    Examples
    --------
    >>> ber(FoldPredictions(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 0, 1]), 2))
    0.375
    """
    return float(answers.class_errors()[0].mean())


def balanced_accuracy(answers: FoldPredictions) -> float:
    """1 - BER: the mean over classes of the share of the class answered rightly."""
    return 1.0 - ber(answers)


def accuracy(answers: FoldPredictions) -> float:
    """Share of the rows answered rightly."""
    return predictions.accuracy(answers.truth, answers.labels)


def auc(answers: FoldPredictions) -> float:
    """Area under the ROC curve: the chance that a row of the class outranks a row of another, ties counting half.

    For more than two classes it is the mean over classes of the class against the rest, ranked by the evidence for
    that class. With labels alone it is 1 - BER, as in the NIPS 2003 challenge. It does not exist (NaN) when fewer
    than two classes are present.
    """
    present = np.unique(answers.truth)
    if present.size < 2:
        return float("nan")
    if answers.scores is None:
        return balanced_accuracy(answers)
    if answers.n_classes == 2:
        return _area(answers.truth == 1, answers.scores)
    return float(np.mean([_area(answers.truth == c, answers.scores[:, c]) for c in present]))


def _area(positive: Mask, scores: FloatArray) -> float:
    """Mann and Whitney's statistic as a share of all pairs."""
    n = int(positive.sum())
    above = rankdata(scores)[positive].sum() - n * (n + 1) / 2
    return float(above / (n * (positive.size - n)))


def f1_macro(answers: FoldPredictions) -> float:
    """Mean of F1, the harmonic mean of precision and recall, over the classes that are true or predicted anywhere."""
    right = np.bincount(answers.truth[answers.labels == answers.truth], minlength=answers.n_classes)
    named = np.bincount(answers.truth, minlength=answers.n_classes) + np.bincount(
        answers.labels, minlength=answers.n_classes
    )
    return float(np.mean(2.0 * right[named > 0] / named[named > 0]))


def log_loss(answers: FoldPredictions) -> float:
    """Mean of -ln(probability given to the true class); a probability of 0 counts as 2.2e-16."""
    return float(surprises(answers).mean())


def surprises(answers: FoldPredictions) -> FloatArray:
    """-ln(probability given to the true class) of each row; NaN where there are no probabilities."""
    if answers.probabilities is None:
        return np.full(answers.truth.size, np.nan)
    given = answers.probabilities[np.arange(answers.truth.size), answers.truth]
    return -np.log(np.clip(given, np.finfo(np.float64).eps, 1.0))


def _ber_error(answers: FoldPredictions) -> float:
    p, n = answers.class_errors()
    return float(np.sqrt((p * (1 - p) / n).sum()) / p.size)


def _accuracy_error(answers: FoldPredictions) -> float:
    p = accuracy(answers)
    return float(np.sqrt(p * (1 - p) / answers.truth.size))


#: Every measure by name; the first is the main one unless the user chooses others.
all_metrics: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("ber", "BER", "low", "labels", ber, _ber_error),
        Metric("balanced_accuracy", "balanced accuracy", "high", "labels", balanced_accuracy, _ber_error),
        Metric("accuracy", "accuracy", "high", "labels", accuracy, _accuracy_error),
        Metric("auc", "AUC", "high", "ranking", auc),
        # With one label per row every wrong answer is one false positive and one false negative.
        Metric("f1_micro", "F1 (micro)", "high", "labels", accuracy, _accuracy_error),
        Metric("f1_macro", "F1 (macro)", "high", "labels", f1_macro),
        Metric("log_loss", "log loss", "low", "probabilities", log_loss),
    )
}


def chosen(metrics: str | Metric | Iterable[str | Metric]) -> tuple[Metric, ...]:
    """The measures meant by names, by measures of the user's own, or by a list of either."""
    wanted = (metrics,) if isinstance(metrics, str | Metric) else tuple(metrics)
    if not wanted:
        raise TamisError(f"metrics is empty; there are: {', '.join(all_metrics)}")
    unknown = [m for m in wanted if not isinstance(m, Metric) and m not in all_metrics]
    if unknown:
        raise TamisError(f"no metric is called {unknown[0]!r}; there are: {', '.join(all_metrics)}")
    found = {m.name: m for m in (m if isinstance(m, Metric) else all_metrics[m] for m in wanted)}
    return tuple(found.values())


def standard_error(metric: Metric, answers: FoldPredictions, *, seed: int = 0) -> float:
    """Standard error of a measure on one test set.

    BER and balanced accuracy of k classes: 1/k sqrt(sum over classes of p (1 - p) / n), p the class's error and n
    its rows; for two classes this is 1/2 sqrt(p+ (1 - p+) / n+ + p- (1 - p-) / n-). Accuracy: binomial. The others:
    the deviation over 500 bootstrap samples of the rows, drawn within each true class.
    """
    if metric.closed_error is not None:
        return metric.closed_error(answers)
    if np.isnan(metric(answers)):
        return float("nan")
    rng = generator(seed)
    members = [np.flatnonzero(answers.truth == c) for c in np.unique(answers.truth)]
    drawn = [
        metric(answers.rows(np.concatenate([rng.choice(rows, rows.size) for rows in members])))
        for _ in range(_RESAMPLES)
    ]
    return float(np.std(drawn, ddof=1))
