"""The result of a validation on several labels a row, which prints as a table of the labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset
from tamis.validation.json_values import plain
from tamis.validation.result import Estimate
from tamis.validation.several.metrics import (
    LabelMetric,
    LabelPredictions,
    all_label_metrics,
    label_breakevens,
    label_rates,
)
from tamis.validation.stability import most_often

#: Version of the layout of `LabelsValidation.to_dict`.
_LAYOUT = 1
#: Labels that the text shows.
_SHOWN = 25
#: Labels that a sentence names.
_NAMED = 5


@dataclass(frozen=True, eq=False, repr=False)
class LabelsValidation:
    """The honest estimate of one model a label.

    Attributes
    ----------
    recipe, data, split : str
    seed : int
    labels : array of str of shape (n_labels,)
    sizes : int array of shape (n_labels,)
        Rows of the data that have each label.
    left_out : mapping of str to int
        Labels that were not considered, with their numbers of rows.
    shared_selection : bool
    threshold : str or None
    values : mapping of str to array
        One number a fold for each metric, or a single one when it was computed on all predictions together.
    estimates : mapping of str to Estimate
    repeat, fold, row : int arrays
        Where each prediction comes from, each from 0, in order of repeat and row.
    predictions : LabelPredictions
        One line a prediction.
    n_train, n_test : int arrays
        Rows in each fold.
    n_features : int
    selected : tuple of tuples of int arrays
        Columns that the model of each label uses, for every fold; None where they cannot be traced.
    thresholds : array of shape (n_folds, n_labels), or None
    fit_seconds, predict_seconds : float arrays
        Per fold.
    source : Dataset or None
        The data; not copied, and left out when the result is pickled.
    """

    recipe: str
    data: str
    split: str
    seed: int
    labels: np.ndarray
    sizes: np.ndarray
    left_out: Mapping[str, int]
    shared_selection: bool
    threshold: str | None
    values: Mapping[str, FloatArray]
    estimates: Mapping[str, Estimate]
    repeat: np.ndarray
    fold: np.ndarray
    row: np.ndarray
    predictions: LabelPredictions
    n_train: np.ndarray
    n_test: np.ndarray
    n_features: int
    selected: tuple[tuple[np.ndarray | None, ...], ...]
    thresholds: FloatArray | None
    fit_seconds: FloatArray
    predict_seconds: FloatArray
    source: Dataset | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "source": None}

    def summary(self) -> dict[str, Estimate]:
        """Mean, deviation and standard error of every metric; see :func:`validate_labels` for what they are."""
        return dict(self.estimates)

    @property
    def metrics(self) -> tuple[LabelMetric, ...]:
        """The metrics, the main one first."""
        return tuple(all_label_metrics[name] for name in self.estimates)

    @property
    def untested(self) -> list[str]:
        """The labels that no test row has, which are left out of macro metrics."""
        return [str(name) for name in self.labels[~self.predictions.tested]]

    @property
    def mean_selected(self) -> float | None:
        """Mean number of columns that a model uses, over labels and folds."""
        sizes = self._n_selected()
        return None if np.isnan(sizes).any() else float(sizes.mean())

    @property
    def features(self) -> dict[str, list[Any] | None]:
        """For each label the features that most folds select, as many as a fold selects on average."""
        names = None if self.source is None else self.source.feature_names
        found: dict[str, list[Any] | None] = {}
        for label, folds in zip(self.labels.tolist(), zip(*self.selected, strict=True), strict=True):
            known = tuple(columns for columns in folds if columns is not None)
            often = most_often(known) if len(known) == len(folds) else None
            found[label] = None if often is None else (often if names is None else names[often]).tolist()
        return found

    def table(self) -> pl.DataFrame:
        """One line a label, the most frequent first.

        Columns are "label", "rows" (of the data), "precision", "recall", "f1", "breakeven", "features" (mean number
        that is selected) and, where thresholds were chosen, "threshold" (mean over folds). Null where a value is not
        defined.
        """
        rates, selected = label_rates(self.predictions), self._n_selected().mean(axis=0)
        columns = {
            "label": self.labels.tolist(),
            "rows": self.sizes.tolist(),
            "precision": rates.precision,
            "recall": rates.recall,
            "f1": rates.f1,
            "breakeven": self._breakevens(),
            "features": selected,
            **({} if self.thresholds is None else {"threshold": self.thresholds.mean(axis=0)}),
        }
        found = pl.DataFrame(columns).with_columns(pl.selectors.float().fill_nan(None))
        return found.sort("rows", descending=True, maintain_order=True)

    def _n_selected(self) -> FloatArray:
        """Number of columns for each fold and label; NaN where it is unknown."""
        return np.array([[np.nan if one is None else one.size for one in fold] for fold in self.selected])

    def _breakevens(self) -> FloatArray:
        """The breakeven point of each label: the mean over the folds in which it has rows, or on all rows together."""
        if len(self.values[next(iter(self.values))]) == 1:
            return label_breakevens(self.predictions)
        folds = self.repeat * (int(self.fold.max()) + 1) + self.fold
        found = np.array([label_breakevens(self.predictions.rows(folds == one)) for one in np.unique(folds)])
        known = ~np.isnan(found)
        totals = np.where(known, found, 0.0).sum(axis=0)
        return np.where(known.any(axis=0), totals / np.maximum(known.sum(axis=0), 1), np.nan)

    def sentences(self) -> list[str]:
        """What the macro metrics leave out, in words."""
        lost = self.untested
        if not lost:
            return []
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        what = "no test row has the label" if len(lost) == 1 else "no test row has the labels"
        return [f"{what} {', '.join(lost[:_NAMED])}{more}: left out of the macro means"]

    def __str__(self) -> str:
        lines = [
            self.recipe + (", one selection for all labels" if self.shared_selection else ""),
            f"{self.data}: {self.split}, {len(self.labels)} labels, seed {self.seed}",
        ]
        width = max(len(metric.title) for metric in self.metrics)
        for metric in self.metrics:
            e = self.estimates[metric.name]
            error = "" if np.isnan(e.se) else f" +- {e.se:.4f}"
            lines.append(f"  {metric.title:<{width}}  {e.mean:.4f}{error}")
        size = max(len(name) for name in self.labels.tolist())
        lines.append(f"{'label':<{size}}    rows  precision  recall      F1  features")
        for one in self.table().head(_SHOWN).iter_rows(named=True):
            rates = [one["precision"], one["recall"], one["f1"]]
            texts = ["-" if rate is None else f"{rate:.4f}" for rate in rates]
            features = "-" if one["features"] is None else f"{one['features']:g}"
            cells = f"{texts[0]:>9}  {texts[1]:>6}  {texts[2]:>6}  {features:>8}"
            lines.append(f"{one['label']:<{size}}  {one['rows']:>6}  {cells}")
        if len(self.labels) > _SHOWN:
            lines.append(f"... and {len(self.labels) - _SHOWN} more; table() has all")
        return "\n".join([*lines, *self.sentences()])

    def __repr__(self) -> str:
        return str(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelsValidation):
            return NotImplemented
        return self.to_dict(seconds=False) == other.to_dict(seconds=False)

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self, *, seconds: bool = True) -> dict[str, Any]:
        """Everything but the scores as lists, numbers and text, ready for JSON; NaN becomes None."""
        as_it_is = ("recipe", "data", "split", "seed", "left_out", "shared_selection", "threshold", "n_train", "n_test")
        content = {
            "layout": _LAYOUT,
            **{name: getattr(self, name) for name in (*as_it_is, "n_features", "untested")},
            "metrics": {
                metric.name: {
                    "title": metric.title,
                    "better": metric.better,
                    **vars(self.estimates[metric.name]),
                    "values": self.values[metric.name],
                }
                for metric in self.metrics
            },
            "labels": self.table().to_dicts(),
            "selected": dict(zip(self.labels.tolist(), zip(*self.selected, strict=True), strict=True)),
            "predictions": {
                "repeat": self.repeat,
                "fold": self.fold,
                "row": self.row,
                "truth": self._sets(self.predictions.truth),
                "labels": self._sets(self.predictions.labels),
            },
        }
        if seconds:
            content["seconds"] = {"fit": self.fit_seconds, "predict": self.predict_seconds}
        return dict(plain(content))

    def _sets(self, indicator: np.ndarray) -> list[list[str]]:
        return [self.labels[one].tolist() for one in indicator]
