"""Predicted labels of rows that may have several, and their error where the labels are known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.base.types import FloatArray, Mask
from tamis.compose.each_label import EachLabel
from tamis.data.dataset import Dataset
from tamis.data.label_sets import LabelSets
from tamis.validation.several.metrics import LabelPredictions, all_label_metrics

#: Begins the name of the column with the scores of a label.
SCORE = "score of "
#: The metrics of known labels.
_METRICS = ("f1_micro", "f1_macro", "subset_accuracy")


@dataclass(frozen=True, eq=False)
class PredictedLabels:
    """Which row has which label, as a model for several labels predicts it, and the evidence."""

    model: EachLabel
    labels: Mask
    scores: FloatArray

    @classmethod
    def of(cls, model: EachLabel, X: Any) -> "PredictedLabels":
        """The predictions for rows."""
        return cls(model, *model.decide(X))

    def table(self, parts: Any) -> pl.DataFrame:
        """One line a row: its number, its part, its labels joined, and the score of each label."""
        columns: dict[str, Any] = {"row": np.arange(len(self.labels))}
        if parts is not None:
            columns["part"] = list(parts)
        columns["labels"] = self.model.joined(self.labels).tolist()
        for label, values in zip(self.model.classes_.tolist(), self.scores.T, strict=True):
            columns[f"{SCORE}{label}"] = np.ascontiguousarray(values)
        return pl.DataFrame(columns)

    def error(self, data: Dataset) -> tuple[dict[str, float] | None, list[str]]:
        """The metrics on rows whose labels are known, and what they do not count; None where no label is known."""
        try:
            known = LabelSets.of(data.y, mark=self.model.mark_)
        except DataError:
            # One label in each of the rows is no mistake here.
            known = LabelSets.of([[label] for label in data.y.tolist()])
        strange = [str(label) for label in known.names if label not in set(self.model.classes_.tolist())]
        if len(strange) == known.n_labels:
            return None, [f"none of the labels in {data.target!r} is one that the model knows, so no error is reported"]
        truth = np.zeros(self.labels.shape, dtype=bool)
        place = {label: number for number, label in enumerate(self.model.classes_.tolist())}
        there = [(column, place[str(label)]) for column, label in enumerate(known.names) if str(label) in place]
        truth[:, [to for _, to in there]] = known.dense()[:, [column for column, _ in there]]
        notes = []
        if strange:
            more = f" and {len(strange) - 3} more" if len(strange) > 3 else ""
            notes.append(f"labels that the model does not know do not count: {', '.join(strange[:3])}{more}")
        predictions = LabelPredictions(truth, self.labels, self.scores)
        return {**{name: all_label_metrics[name](predictions) for name in _METRICS}, "rows": len(truth)}, notes
