"""Metrics of predicted numbers.

The root mean square error and the mean absolute error are in units of the target; the others have none. The functions
are compared with scikit-learn's and scipy's in the tests.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy
from scipy.stats import rankdata

from tamis.base.types import FloatArray
from tamis.validation.metrics import Metric

#: A predicted count below this share of the mean count counts as that much: the deviance of 0 is infinite.
_LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class NumericPredictions:
    """True and predicted numbers of some test rows.

    Attributes
    ----------
    truth, labels : float array of shape (n_rows,)
        True and predicted numbers.
    """

    truth: FloatArray
    labels: FloatArray

    def rows(self, index: np.ndarray) -> "NumericPredictions":
        """The predictions for some of the rows."""
        return NumericPredictions(self.truth[index], self.labels[index])

    def strata(self) -> list[np.ndarray]:
        """The rows that a bootstrap draws from, all in one."""
        return [np.arange(self.truth.size)]

    @property
    def residuals(self) -> FloatArray:
        """Truth less prediction."""
        return self.truth - self.labels


def rmse(predictions: NumericPredictions) -> float:
    """Root of the mean squared error.

    Examples
    --------
    >>> round(rmse(NumericPredictions(np.array([1.0, 2.0]), np.array([4.0, 4.0]))), 3)
    2.55
    """
    return float(np.sqrt(np.mean(predictions.residuals**2)))


def mae(predictions: NumericPredictions) -> float:
    """Mean absolute error."""
    return float(np.mean(np.abs(predictions.residuals)))


def r2(predictions: NumericPredictions) -> float:
    """Share of the variance explained: 1 less the squared errors over those of the mean; NaN for equal numbers."""
    total = float(((predictions.truth - predictions.truth.mean()) ** 2).sum())
    return 1.0 - float((predictions.residuals**2).sum()) / total if total > 0 else float("nan")


def spearman(predictions: NumericPredictions) -> float:
    """Correlation of the ranks; 0 for a constant prediction, NaN for equal numbers."""
    truth, found = rankdata(predictions.truth), rankdata(predictions.labels)
    truth, found = truth - truth.mean(), found - found.mean()
    length = float(np.sqrt((truth**2).sum() * (found**2).sum()))
    if not truth.any():
        return float("nan")
    return float(truth @ found) / length if length > 0 else 0.0


def deviance(predictions: NumericPredictions) -> float:
    """Share of the Poisson deviance explained, for counts: 1 less the deviance over that of the mean."""
    truth = predictions.truth
    mean = float(truth.mean())
    if mean == 0.0:
        return float("nan")
    total = _poisson(truth, np.full(truth.size, mean))
    found = _poisson(truth, np.maximum(predictions.labels, _LEAST * mean))
    return 1.0 - found / total if total > 0 else float("nan")


def _poisson(truth: FloatArray, found: FloatArray) -> float:
    return float(2.0 * (xlogy(truth, truth / found) - truth + found).sum())


def _rmse_error(predictions: NumericPredictions) -> float:
    """By the delta method from the standard error of the mean square."""
    squares = predictions.residuals**2
    root = float(np.sqrt(squares.mean()))
    if squares.size < 2:
        return float("nan")
    return float(squares.std(ddof=1) / np.sqrt(squares.size) / (2 * root)) if root > 0 else 0.0


def _mae_error(predictions: NumericPredictions) -> float:
    errors = np.abs(predictions.residuals)
    return float(errors.std(ddof=1) / np.sqrt(errors.size)) if errors.size > 1 else float("nan")


#: Every metric of numbers by name; the first is the main one by default.
numeric_metrics: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("rmse", "RMSE", "low", "labels", rmse, _rmse_error, task="regress"),
        Metric("mae", "MAE", "low", "labels", mae, _mae_error, task="regress"),
        Metric("r2", "R²", "high", "labels", r2, task="regress"),
        Metric("spearman", "Spearman", "high", "labels", spearman, task="regress"),
        Metric("deviance", "explained deviance", "high", "counts", deviance, task="regress"),
    )
}
