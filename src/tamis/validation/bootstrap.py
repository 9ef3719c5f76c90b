"""The bootstrap: models fitted on rows drawn with replacement and tested on the others; and the .632+ estimate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray
from tamis.base.validation import check_whole
from tamis.validation.estimates import over_folds
from tamis.validation.folds import Column, Split
from tamis.validation.metrics import (
    AnyPredictions,
    FoldPredictions,
    Metric,
    accuracy,
    balanced_accuracy,
    ber,
    log_loss,
    row_log_loss,
)
from tamis.validation.numeric_metrics import NumericPredictions, mae
from tamis.validation.result import Estimate

#: Most draws of one sample.
_TRIES = 1000

#: Pairs of a true and a predicted class in the no-information value: all of them up to 500 rows.
_PAIRS = 250_000


@dataclass(frozen=True)
class Bootstrap:
    """Stratified bootstrap samples of as many rows as there are; the rows never drawn are the test rows.

    About 63.2 % of the rows are drawn, some more than once. With groups, whole groups are drawn (within the majority
    class of each group). A sample without test rows, or without rows of some class, is drawn again. Sample b has repeat
    b and fold 0, and does not depend on the number of samples.

    Examples
    --------
    >>> y = np.repeat([0, 1], 50)
    >>> splits = Bootstrap(3).splits(y)
    >>> [np.bincount(y[s.train]).tolist() for s in splits], [s.test.size for s in splits]
    ([[50, 50], [50, 50], [50, 50]], [38, 42, 34])
    >>> print(Bootstrap(3))
    3 bootstrap samples
    """

    repeats: int = 100
    one_test: ClassVar[bool] = False
    folds: ClassVar[int] = 0

    def __post_init__(self) -> None:
        check_whole("repeats", self.repeats, 1)

    def __str__(self) -> str:
        return "1 bootstrap sample" if self.repeats == 1 else f"{self.repeats} bootstrap samples"

    def splits(self, y: np.ndarray, *, groups: Column = None, parts: Column = None, seed: int = 0) -> list[Split]:
        rows, codes = np.arange(y.shape[0]), np.unique(y, return_inverse=True)[1]
        units, stratum = strata(y, groups)
        found = []
        for repeat in range(self.repeats):
            rng = generator(seed, repeat)
            for _ in range(_TRIES):
                times = drawn(stratum, rng)[units]
                if not times.all() and np.bincount(codes, weights=times).all():
                    break
            else:
                units_drawn = "rows" if groups is None else "groups"
                raise TamisError(
                    f"in {_TRIES} draws no bootstrap sample of the {units_drawn} had every class and left a row out; "
                    "take folds or leave-one-out"
                )
            found.append(Split(np.repeat(rows, times), np.flatnonzero(times == 0), repeat))
        return found

    def apparent_split(self, y: np.ndarray) -> Split:
        """All rows for training and for test: the fit that .632+ needs besides the samples."""
        rows = np.arange(y.shape[0])
        # No sample has fold 1, so this fit has its own seeds.
        return Split(rows, rows, fold=1)


def strata(y: np.ndarray, groups: Column = None) -> tuple[Codes, Codes]:
    """The unit of each row, and the class of each unit; a unit is a row or a group.

    The class of a group is that of most of its rows, the first one in a tie.
    """
    codes = np.unique(y, return_inverse=True)[1]
    if groups is None:
        return np.arange(codes.size), codes
    units = np.unique(groups, return_inverse=True)[1]
    counts = np.zeros((int(units.max()) + 1, int(codes.max()) + 1), dtype=np.intp)
    np.add.at(counts, (units, codes), 1)
    return units, counts.argmax(axis=1)


def drawn(stratum: Codes, rng: np.random.Generator) -> Codes:
    """How often each unit is drawn, with as many draws from a stratum as it has units."""
    times = np.zeros(stratum.size, dtype=np.intp)
    for one in np.unique(stratum):
        members = np.flatnonzero(stratum == one)
        times[members] = np.bincount(rng.integers(members.size, size=members.size), minlength=members.size)
    return times


@dataclass(frozen=True)
class Estimate632(Estimate):
    """The .632+ estimate of a metric and its components.

    Attributes
    ----------
    mean, sd, se : float
        The estimate, the deviation of the metric over the samples, and the standard error.
    apparent, out, no_information : float
        The metric on the training rows, on the rows left out, and when predictions are unrelated to the truth.
    overfitting : float
        Relative overfitting, from 0 for none to 1 for a model that tells nothing about unseen rows.
    """

    apparent: float
    out: float
    no_information: float
    overfitting: float


def err632plus(
    apparent: float, out: float, no_information: float, *, better: Literal["low", "high"] = "low"
) -> tuple[float, float]:
    """The .632+ estimate and the relative overfitting R.

    With err the apparent error, Err1 the leave-one-out bootstrap error and gamma the no-information error,

        R = (Err1 - err) / (gamma - err), between 0 and 1, and 0 unless both Err1 and gamma are above err,
        .632+ = .368 err + .632 Err1 + (min(Err1, gamma) - err) .368 .632 R / (1 - .368 R),

    which is (1 - w) err + w Err1 with w = .632 / (1 - .368 R) as long as Err1 does not exceed gamma. Metrics of which
    more is better are negated, estimated and negated back.

    References
    ----------
    Efron and Tibshirani, "Improvements on Cross-Validation: The .632+ Bootstrap Method", JASA 92 (1997), equations
    (28) to (32).

    Examples
    --------
    A model that memorizes the training rows, on noise:

    >>> err632plus(0.0, 0.5, 0.5)
    (0.5, 1.0)
    """
    sign = 1.0 if better == "low" else -1.0
    err, err1, gamma = sign * apparent, sign * out, sign * no_information
    # Comparisons in this order keep NaN.
    overfitting = 0.0 if err1 <= err or gamma <= err else float(np.minimum((err1 - err) / (gamma - err), 1.0))
    correction = (np.minimum(err1, gamma) - err) * 0.368 * 0.632 * overfitting / (1.0 - 0.368 * overfitting)
    return sign * float(0.368 * err + 0.632 * err1 + correction), overfitting


def estimate_632plus(
    metric: Metric, apparent: AnyPredictions, out: Sequence[AnyPredictions], rows: Sequence[np.ndarray]
) -> Estimate632:
    """The .632+ estimate of a metric from the predictions of all models.

    The leave-one-out bootstrap is the paper's where the metric is a mean over rows (accuracy, F1 (micro), log loss,
    MAE) or a mean over classes of such means (BER, balanced accuracy): the mean of each row over the samples that leave
    it out, then the mean over rows or classes. Any other metric is averaged over samples. Rows in every sample, and
    samples where the metric is undefined, are left out.

    The standard error is the one of folds (Nadeau and Bengio 2003), ``sd * sqrt(1/B + n_test/n_train)``, with distinct
    training rows counted; it holds for random splits and every metric. In simulations (40 to 100 rows, 100 samples) it
    was 0.8 to 1.4 times the true deviation of the estimate. The paper's infinitesimal jackknife, for means over rows
    only, was 0.8 to 1.3 times after subtracting its Monte Carlo error, and varied up to 2.6 times as much.

    Parameters
    ----------
    metric : Metric
    apparent : FoldPredictions or NumericPredictions
        Of the model fitted on all rows, for all rows in order.
    out : sequence of the same
        Of each sample's model, for the rows left out.
    rows : sequence of int arrays
        The numbers of those rows.

    Returns
    -------
    Estimate632
    """
    values = np.array([metric(predictions) for predictions in out])
    left = np.mean([r.size for r in rows])
    samples = over_folds(values, float(left / (apparent.truth.size - left)))
    per_row = metric.function in _PER_ROW
    err1 = _over_rows(metric, apparent.truth, out, rows) if per_row else samples.mean
    err, gamma = metric(apparent), no_information(metric, apparent)
    mean, overfitting = err632plus(err, err1, gamma, better=metric.better)
    return Estimate632(mean, samples.sd, samples.se, err, err1, gamma, overfitting)


def no_information(metric: Metric, predictions: AnyPredictions) -> float:
    """The metric over all pairs of one row's truth and another row's prediction, as if they were unrelated.

    Beyond 500 rows it uses 250,000 pairs or more: predictions are shifted against the truth cyclically, by steps spread
    evenly over the rows.

    Examples
    --------
    The BER of two classes is 1/2 for any predictions:

    >>> from tamis.validation.metrics import all_metrics
    >>> no_information(all_metrics["ber"], FoldPredictions(np.array([0, 0, 0, 1]), np.array([0, 1, 0, 0]), 2))
    0.5
    """
    n = predictions.truth.size
    shifts = np.arange(n)
    if n * n > _PAIRS:
        # Halfway between the steps, so that no row meets its own prediction more often than by chance.
        count = max(-(-_PAIRS // n), 20)
        shifts = ((np.arange(count) + 0.5) * n / count).astype(np.intp)
    shifted = (np.arange(n) + shifts[:, None]).ravel() % n
    unrelated: Any = predictions.rows(shifted)
    return metric(replace(unrelated, truth=np.tile(predictions.truth, shifts.size)))


def _right(predictions: FoldPredictions) -> FloatArray:
    return (predictions.truth == predictions.labels).astype(np.float64)


def _distance(predictions: NumericPredictions) -> FloatArray:
    return np.abs(predictions.residuals)


def _wrong(predictions: FoldPredictions) -> FloatArray:
    return (predictions.truth != predictions.labels).astype(np.float64)


#: Metrics that are means over rows: the value of each row, and whether the mean is taken within classes first.
_PER_ROW: dict[Callable[..., float], tuple[Callable[..., FloatArray], bool]] = {
    accuracy: (_right, False),
    log_loss: (row_log_loss, False),
    ber: (_wrong, True),
    balanced_accuracy: (_right, True),
    mae: (_distance, False),
}


def _over_rows(metric: Metric, truth: np.ndarray, out: Sequence[AnyPredictions], rows: Sequence[np.ndarray]) -> float:
    of_rows, within_classes = _PER_ROW[metric.function]
    row, value = np.concatenate(rows), np.concatenate([of_rows(predictions) for predictions in out])
    times = np.bincount(row, minlength=truth.size)
    tested = np.flatnonzero(times)
    mean = np.bincount(row, weights=value, minlength=truth.size)[tested] / times[tested]
    if not within_classes:
        return float(mean.mean())
    return float(np.mean([mean[truth[tested] == c].mean() for c in np.unique(truth[tested])]))
