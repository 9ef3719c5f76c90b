"""The result of a validation, which can be printed, compared and written as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tamis.base.task import Task
from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset
from tamis.validation.display import Displayed, Reported
from tamis.validation.json_values import plain
from tamis.validation.metrics import FoldPredictions, Metric
from tamis.validation.numeric_metrics import NumericPredictions
from tamis.validation.stability import Stability, most_often

#: Version of the layout of `Validation.to_dict`.
_LAYOUT = 2


class Result(Displayed):
    """A result that prints as text, and equals another one when everything but the times is equal."""

    def _repr_html_(self) -> str:
        return self._html_repr()

    def to_dict(self, *, seconds: bool = True) -> dict[str, Any]:
        """Everything, ready for JSON; without the times when `seconds` is False."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result) or type(other) is not type(self):
            return NotImplemented
        return self.to_dict(seconds=False) == other.to_dict(seconds=False)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Estimate:
    """The mean of a metric, its standard deviation over folds (NaN without folds) and its standard error."""

    mean: float
    sd: float
    se: float


@dataclass(frozen=True, eq=False)
class Predictions:
    """All predictions for test rows, in order of repeat and row; all arrays have one entry a prediction.

    Attributes
    ----------
    repeat, fold, row : int arrays
        Repeat, fold and row of the prediction, each from 0.
    truth, label : arrays of class labels or numbers
    scores : array of one value or one value per class, or None
        Evidence for the second of two classes, or for each class.
    probabilities : array of one value per class, or None
    """

    repeat: np.ndarray
    fold: np.ndarray
    row: np.ndarray
    truth: np.ndarray
    label: np.ndarray
    scores: FloatArray | None
    probabilities: FloatArray | None


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Result, Reported):
    """The honest estimate of a whole model.

    Attributes
    ----------
    recipe, data, split : str
        The model as a recipe (or its ``repr``), the name of the data, and how it was split.
    seed : int
    classes : array
        Empty where the target holds numbers.
    metrics : tuple of Metric
        The first is the main one.
    values : mapping of str to array
        One number a fold for each metric, or a single one when it was computed on all predictions together.
    estimates : mapping of str to Estimate
    predictions : Predictions
    n_train, n_test : int arrays
        Rows in each fold.
    n_features : int
        Columns of the data, probes included.
    selected : tuple of int arrays, or None
        Columns that the model uses in each fold; added probes come after the data's own columns. None when they
        cannot be traced.
    stability : Stability or None
    probe_share : float or None
        Mean share of probes among the selected columns; None without known probes.
    fit_seconds, predict_seconds : float arrays
        Per fold.
    leak_checked : bool
    leak : Validation or None
        The same with every step before the classifier fitted on all rows; None without a leak check, or when there is
        no such step and nothing can leak.
    source : Dataset or None
        The data, for the report; not copied, and left out when the validation is pickled.

    See Also
    --------
    tamis.validation.many.Validations : Several models on the same splits.
    """

    recipe: str
    data: str
    split: str
    seed: int
    classes: np.ndarray
    metrics: tuple[Metric, ...]
    values: Mapping[str, FloatArray]
    estimates: Mapping[str, Estimate]
    predictions: Predictions
    n_train: np.ndarray
    n_test: np.ndarray
    n_features: int
    selected: tuple[np.ndarray, ...] | None
    stability: Stability | None
    probe_share: float | None
    fit_seconds: FloatArray
    predict_seconds: FloatArray
    leak_checked: bool = False
    leak: "Validation | None" = None
    source: Dataset | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "caveats": self.caveats, "source": None}

    def summary(self) -> dict[str, Estimate]:
        """Mean, deviation and standard error of every metric."""
        return dict(self.estimates)

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What of the data makes the estimate too good, in sentences; none where the data is not known."""
        return () if self.source is None else self.source.caveats

    @property
    def task(self) -> Task:
        """Whether the model predicts classes or numbers."""
        return self.metrics[0].task

    @property
    def optimism(self) -> float | None:
        """How much better the leak makes the main metric look; 0 when nothing can leak, None without a leak check."""
        if self.leak is None:
            return 0.0 if self.leak_checked else None
        main = self.metrics[0]
        gain = self.leak.estimates[main.name].mean - self.estimates[main.name].mean
        return gain if main.better == "high" else -gain

    def standing(self, metric: Metric) -> tuple[float, float]:
        """Sort key of models: the better estimate first; for equal ones (up to rounding) fewer features."""
        mean = self.estimates[metric.name].mean * (1.0 if metric.better == "low" else -1.0)
        size = self.mean_selected
        return (np.inf if np.isnan(mean) else round(mean, 12), np.inf if size is None else size)

    @property
    def mean_selected(self) -> float | None:
        """Mean number of selected columns."""
        return None if self.selected is None else float(np.mean([k.size for k in self.selected]))

    @property
    def features(self) -> list[Any] | None:
        """The features that most folds select, as many as a fold selects on average.

        Their names, or numbers if they have none or if the data is not known any more. None when they cannot be traced.
        """
        if self.selected is None:
            return None
        often, data = most_often(self.selected), self.source
        if data is None:
            return list(often.tolist())
        return list(data.feature_names[often[often < data.n_features]].tolist())

    @property
    def chance(self) -> float:
        """The main metric of a model that knows the sizes of the classes, or the mean of the numbers, and no more."""
        if self.task == "regress":
            numbers = self.predictions.truth
            return self.metrics[0](NumericPredictions(numbers, np.full(numbers.size, numbers.mean())))
        truth = np.searchsorted(self.classes, self.predictions.truth)
        k, n = len(self.classes), truth.size
        shares = np.bincount(truth, minlength=k) / n
        labels = np.full(n, int(shares.argmax()))
        scores = np.zeros(n if k == 2 else (n, k))
        return self.metrics[0](FoldPredictions(truth, labels, k, scores, np.tile(shares, (n, 1))))

    def __str__(self) -> str:
        folds = self.n_test.size
        lines = [
            self.recipe,
            f"{self.data}: {self.split}, {_span(self.n_train)} training rows and {_span(self.n_test)} test rows"
            + (f" in each of {folds} fits" if folds > 1 else "")
            + f", seed {self.seed}",
        ]
        width = max(len(metric.title) for metric in self.metrics)
        for metric in self.metrics:
            e = self.estimates[metric.name]
            spread = "" if np.isnan(e.sd) else f", sd {figure(e.sd)}"
            lines.append(f"  {metric.title:<{width}}  {figure(e.mean)} +- {figure(e.se)}{spread}")
        lines.extend(f"beware: {one}" for one in self.caveats)
        lines.extend(self._about_features())
        if self.leak_checked:
            lines.append(self._about_leak())
        return "\n".join(lines)

    def _about_features(self) -> list[str]:
        if self.mean_selected is None:
            return []
        line = f"selected features: {self.mean_selected:g} of {self.n_features}"
        if self.stability is not None and not np.isnan(self.stability.index):
            low, high = self.stability.interval
            line += f", stability {self.stability.index:.3f} ({low:.3f} to {high:.3f})"
        return [line] if self.probe_share is None else [line, f"probes among them: {self.probe_share:.1%}"]

    def _about_leak(self) -> str:
        if self.leak is None:
            last = "classifier" if self.task == "classify" else "regressor"
            return f"leak check: no step comes before the {last}, so nothing can leak"
        main = self.metrics[0]
        leaked, optimism = figure(self.leak.estimates[main.name].mean), figure(self.optimism or 0.0)
        return f"leak check: {main.title} {leaked} if the steps saw all rows; optimism {optimism}"

    def to_dict(self, *, seconds: bool = True) -> dict[str, Any]:
        """Everything as lists, numbers and text, ready for JSON; NaN becomes None."""
        as_it_is = ("recipe", "data", "split", "seed", "task", "classes", "n_train", "n_test", "n_features", "selected")
        content = {
            "layout": _LAYOUT,
            **{name: getattr(self, name) for name in (*as_it_is, "probe_share", "leak_checked", "optimism")},
            "caveats": list(self.caveats),
            "metrics": {
                metric.name: {
                    "title": metric.title,
                    "better": metric.better,
                    **vars(self.estimates[metric.name]),
                    "values": self.values[metric.name],
                }
                for metric in self.metrics
            },
            "stability": None if self.stability is None else vars(self.stability),
            "predictions": vars(self.predictions),
            "leak": None if self.leak is None else self.leak.to_dict(seconds=seconds),
        }
        if seconds:
            content["seconds"] = {"fit": self.fit_seconds, "predict": self.predict_seconds}
        return dict(plain(content))


def figure(value: float) -> str:
    """A metric as text: four decimals, or five digits of a large number.

    >>> figure(0.25), figure(54.123456), figure(123456.7)
    ('0.2500', '54.123', '123457')
    """
    size = abs(value)
    if not size >= 10:
        return f"{value:.4f}"
    return f"{value:.{max(0, 4 - int(np.log10(size)))}f}"


def _span(sizes: np.ndarray) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return str(low) if low == high else f"{low} to {high}"
