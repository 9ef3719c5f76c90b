"""The bootstrap: models of rows drawn with replacement, judged on the rows not drawn; and the .632+ estimate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray
from tamis.base.validation import check_whole
from tamis.validation.folds import Split
from tamis.validation.metrics import FoldPredictions, Metric, accuracy, balanced_accuracy, ber, log_loss, surprises
from tamis.validation.result import Estimate

#: Draws after which a sample that can be used is given up.
_TRIES = 1000

#: Pairs of a truth and an answer that are looked at for the no-information value: all of them up to 500 rows.
_PAIRS = 250_000


@dataclass(frozen=True)
class Bootstrap:
    """As many rows as there are, drawn with replacement within each class; those never drawn are the test rows.

    Near 63.2 % of the rows are drawn, some more than once. With groups, whole groups are drawn (within the class that
    most of a group's rows have) and every row of a group is repeated as often as the group. A sample that leaves no
    row out, or that lost a class with its groups, is drawn again. Sample b has repeat b and fold 0, and does not
    depend on the number of samples.

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

    def __post_init__(self) -> None:
        check_whole("repeats", self.repeats, 1)

    def __str__(self) -> str:
        return "1 bootstrap sample" if self.repeats == 1 else f"{self.repeats} bootstrap samples"

    def splits(
        self, y: np.ndarray, *, groups: np.ndarray | None = None, parts: np.ndarray | None = None, seed: int = 0
    ) -> list[Split]:
        rows, codes = np.arange(y.shape[0]), np.unique(y, return_inverse=True)[1]
        units, stratum = strata(y, groups)
        found = []
        for repeat in range(self.repeats):
            rng = generator(seed, repeat)
            for _ in range(_TRIES):
                times = _drawn(stratum, rng)[units]
                if not times.all() and np.bincount(codes, weights=times).all():
                    break
            else:
                drawn = "rows" if groups is None else "groups"
                raise TamisError(
                    f"in {_TRIES} draws no bootstrap sample of the {drawn} had every class and left a row out; "
                    "take folds or leave-one-out"
                )
            found.append(Split(np.repeat(rows, times), np.flatnonzero(times == 0), repeat))
        return found

    def apparent_split(self, y: np.ndarray) -> Split:
        """All rows to learn from and the same to be judged on: the fit that .632+ needs besides the samples."""
        rows = np.arange(y.shape[0])
        # No sample has fold 1, so the models of this fit have seeds of their own.
        return Split(rows, rows, fold=1)


def strata(y: np.ndarray, groups: np.ndarray | None = None) -> tuple[Codes, Codes]:
    """What is drawn, and from which urn: the number of each row's unit, and of each unit's class.

    A unit is a row, or a group where there are groups; the class of a group is that of most of its rows (the first
    of them in a tie).
    """
    codes = np.unique(y, return_inverse=True)[1]
    if groups is None:
        return np.arange(codes.size), codes
    units = np.unique(groups, return_inverse=True)[1]
    counts = np.zeros((int(units.max()) + 1, int(codes.max()) + 1), dtype=np.intp)
    np.add.at(counts, (units, codes), 1)
    return units, counts.argmax(axis=1)


def _drawn(stratum: Codes, rng: np.random.Generator) -> Codes:
    """How often each unit is drawn when every stratum gives as many units as it has."""
    times = np.zeros(stratum.size, dtype=np.intp)
    for one in np.unique(stratum):
        members = np.flatnonzero(stratum == one)
        times[members] = np.bincount(rng.integers(members.size, size=members.size), minlength=members.size)
    return times


@dataclass(frozen=True)
class Estimate632(Estimate):
    """The .632+ estimate of a measure (its `mean`) and what it was made of.

    Attributes
    ----------
    mean, sd, se : float
        The estimate; the deviation of the measure over the samples; the standard error.
    apparent, out, no_information : float
        The measure on the training rows themselves, on the rows left out, and with truth and answers unrelated.
    overfitting : float
        Relative overfitting, 0 for none to 1 for a model that knows nothing of rows it has not seen.
    """

    apparent: float
    out: float
    no_information: float
    overfitting: float


def err632plus(
    apparent: float, out: float, no_information: float, *, better: Literal["low", "high"] = "low"
) -> tuple[float, float]:
    """The .632+ estimate, and the relative overfitting R that it rests on.

    With err the apparent error, Err1 the leave-one-out bootstrap error and gamma the no-information error,

        R = (Err1 - err) / (gamma - err), between 0 and 1, and 0 unless both Err1 and gamma are above err,
        .632+ = .368 err + .632 Err1 + (min(Err1, gamma) - err) .368 .632 R / (1 - .368 R),

    which is (1 - w) err + w Err1 with w = .632 / (1 - .368 R) as long as Err1 does not exceed gamma. Measures of which
    more is better are turned round, estimated so and turned back.

    References
    ----------
    Efron and Tibshirani, "Improvements on Cross-Validation: The .632+ Bootstrap Method", JASA 92 (1997), equations
    (28) to (32).

    Examples
    --------
    A model that remembers every training row and has learned nothing:

    >>> err632plus(0.0, 0.5, 0.5)
    (0.5, 1.0)
    """
    sign = 1.0 if better == "low" else -1.0
    err, err1, gamma = sign * apparent, sign * out, sign * no_information
    # Written so that a measure that does not exist (NaN) stays so.
    overfitting = 0.0 if err1 <= err or gamma <= err else float(np.minimum((err1 - err) / (gamma - err), 1.0))
    correction = (np.minimum(err1, gamma) - err) * 0.368 * 0.632 * overfitting / (1.0 - 0.368 * overfitting)
    return sign * float(0.368 * err + 0.632 * err1 + correction), overfitting


def estimate_632plus(
    metric: Metric, apparent: FoldPredictions, out: Sequence[FoldPredictions], rows: Sequence[np.ndarray]
) -> Estimate632:
    """The .632+ estimate of a measure from the answers of all models.

    The leave-one-out bootstrap is the paper's where the measure is a mean over rows (accuracy, F1 (micro), log loss)
    or a mean over classes of means over rows (BER, balanced accuracy): each row's mean over the samples that left it
    out, then the mean over rows, or over classes. Any other measure is the mean over samples of its value on the rows
    left out. Rows in every sample, and samples where the measure does not exist, are passed over.

    The deviation over samples is no standard error: samples share rows, and more of them do not make the data larger.
    The standard error is the one used for folds (Nadeau and Bengio 2003), ``sd * sqrt(1/B + n_test/n_train)`` with
    the distinct training rows counted: it holds for random splits, which the samples are, and for every measure. On
    simulated problems of 40 to 100 rows with 100 samples (nearest mean, nearest neighbour, signal and noise) it was
    0.8 to 1.4 times the true deviation of the estimate. The paper's infinitesimal jackknife is for means over rows;
    there it was 0.8 to 1.3 times after its Monte Carlo error had been subtracted, far too large before, and it
    varied up to 2.6 times as much from one data set to the next.

    Parameters
    ----------
    metric : Metric
    apparent : FoldPredictions
        Of the model of all rows, on all rows in order.
    out : sequence of FoldPredictions
        Of each sample's model, on the rows left out.
    rows : sequence of int arrays
        Which rows those are.
    """
    values = np.array([metric(answers) for answers in out])
    known = values[~np.isnan(values)]
    sd = float(known.std(ddof=1)) if known.size > 1 else float("nan")
    left = np.mean([r.size for r in rows])
    se = sd * float(np.sqrt(1.0 / max(known.size, 1) + left / (apparent.truth.size - left)))
    if metric.function in _PER_ROW:
        err1 = _over_rows(metric, apparent.truth, out, rows)
    else:
        err1 = float(known.mean()) if known.size else float("nan")
    err, gamma = metric(apparent), no_information(metric, apparent)
    mean, overfitting = err632plus(err, err1, gamma, better=metric.better)
    return Estimate632(mean, sd, se, err, err1, gamma, overfitting)


def no_information(metric: Metric, answers: FoldPredictions) -> float:
    """The measure if answers had nothing to do with the truth: over all pairs of one row's truth and another's answer.

    Beyond 500 rows not all pairs are looked at, but 250,000 or more: the answers are shifted against the truth, in
    a circle, by steps spread evenly over the rows.

    Examples
    --------
    Whatever is answered, the BER of two classes is 1/2:

    >>> from tamis.validation.metrics import all_metrics
    >>> no_information(all_metrics["ber"], FoldPredictions(np.array([0, 0, 0, 1]), np.array([0, 1, 0, 0]), 2))
    0.5
    """
    n = answers.truth.size
    shifts = np.arange(n)
    if n * n > _PAIRS:
        # Halfway between the steps, so that no row meets its own answer more often than by chance.
        count = max(-(-_PAIRS // n), 20)
        shifts = ((np.arange(count) + 0.5) * n / count).astype(np.intp)
    said = (np.arange(n) + shifts[:, None]).ravel() % n
    return metric(replace(answers.rows(said), truth=np.tile(answers.truth, shifts.size)))


def _right(answers: FoldPredictions) -> FloatArray:
    return (answers.truth == answers.labels).astype(np.float64)


def _wrong(answers: FoldPredictions) -> FloatArray:
    return (answers.truth != answers.labels).astype(np.float64)


#: Measures that are a mean over rows: the value of each row, and whether the mean is taken within classes first.
_PER_ROW: dict[Callable[[FoldPredictions], float], tuple[Callable[[FoldPredictions], FloatArray], bool]] = {
    accuracy: (_right, False),
    log_loss: (surprises, False),
    ber: (_wrong, True),
    balanced_accuracy: (_right, True),
}


def _over_rows(metric: Metric, truth: Codes, out: Sequence[FoldPredictions], rows: Sequence[np.ndarray]) -> float:
    of_rows, within_classes = _PER_ROW[metric.function]
    row, value = np.concatenate(rows), np.concatenate([of_rows(answers) for answers in out])
    times = np.bincount(row, minlength=truth.size)
    judged = np.flatnonzero(times)
    mean = np.bincount(row, weights=value, minlength=truth.size)[judged] / times[judged]
    if not within_classes:
        return float(mean.mean())
    return float(np.mean([mean[truth[judged] == c].mean() for c in np.unique(truth[judged])]))
