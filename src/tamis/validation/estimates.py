"""Predictions of all folds together, and the mean of a metric over folds."""

from collections.abc import Sequence

import numpy as np

from tamis.base.types import FloatArray
from tamis.validation.fold_result import FoldResult
from tamis.validation.metrics import AnyPredictions, FoldPredictions
from tamis.validation.numeric_metrics import NumericPredictions
from tamis.validation.result import Estimate, Predictions


def pooled(results: Sequence[FoldResult], classes: np.ndarray) -> tuple[AnyPredictions, Predictions]:
    """All predictions, in order of repeat and row: as codes, and as labels with where they come from.

    Numbers, which have no `classes`, are both.
    """
    repeat = np.concatenate([np.full(r.rows.size, r.repeat) for r in results])
    fold = np.concatenate([np.full(r.rows.size, r.fold) for r in results])
    row = np.concatenate([r.rows for r in results])
    order = np.lexsort((row, repeat))
    where = (repeat[order], fold[order], row[order])
    if numbers := [r.predictions for r in results if isinstance(r.predictions, NumericPredictions)]:
        found = NumericPredictions(
            *(np.concatenate([getattr(p, part) for p in numbers]) for part in ("truth", "labels"))
        )
        found = found.rows(order)
        return found, Predictions(*where, found.truth, found.labels, None, None)
    folds = [r.predictions for r in results if isinstance(r.predictions, FoldPredictions)]
    scores = [p.scores for p in folds if p.scores is not None]
    probabilities = [p.probabilities for p in folds if p.probabilities is not None]
    codes = FoldPredictions(
        np.concatenate([p.truth for p in folds]),
        np.concatenate([p.labels for p in folds]),
        classes.size,
        np.concatenate(scores) if len(scores) == len(folds) else None,
        np.concatenate(probabilities) if len(probabilities) == len(folds) else None,
    ).rows(order)
    labels = (classes[codes.truth], classes[codes.labels])
    return codes, Predictions(*where, *labels, codes.scores, codes.probabilities)


def over_folds(values: FloatArray, test_to_train: float) -> Estimate:
    """Mean, deviation and corrected standard error of a metric over the folds where it has a value."""
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if known.size else float("nan")
    sd = float(known.std(ddof=1)) if known.size > 1 else float("nan")
    return Estimate(mean, sd, sd * float(np.sqrt(1 / max(known.size, 1) + test_to_train)))
