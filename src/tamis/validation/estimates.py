"""Predictions of many folds together, and a metric's mean over them."""

from collections.abc import Sequence

import numpy as np

from tamis.base.types import FloatArray
from tamis.validation.fold_result import FoldResult
from tamis.validation.metrics import FoldPredictions
from tamis.validation.result import Estimate, Predictions


def pooled(results: Sequence[FoldResult], classes: np.ndarray) -> tuple[FoldPredictions, Predictions]:
    """All answers, in order of repeat and row."""
    repeat = np.concatenate([np.full(r.rows.size, r.repeat) for r in results])
    fold = np.concatenate([np.full(r.rows.size, r.fold) for r in results])
    row = np.concatenate([r.rows for r in results])
    order = np.lexsort((row, repeat))
    every = [r.predictions for r in results]
    scores = [a.scores for a in every if a.scores is not None]
    probabilities = [a.probabilities for a in every if a.probabilities is not None]
    pooled = FoldPredictions(
        np.concatenate([a.truth for a in every]),
        np.concatenate([a.labels for a in every]),
        classes.size,
        np.concatenate(scores) if len(scores) == len(every) else None,
        np.concatenate(probabilities) if len(probabilities) == len(every) else None,
    ).rows(order)
    said = Predictions(
        repeat[order],
        fold[order],
        row[order],
        classes[pooled.truth],
        classes[pooled.labels],
        pooled.scores,
        pooled.probabilities,
    )
    return pooled, said


def over_folds(values: FloatArray, test_to_train: float) -> Estimate:
    """Mean, deviation and corrected standard error of a metric over folds; folds without a value are left out."""
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if known.size else float("nan")
    sd = float(known.std(ddof=1)) if known.size > 1 else float("nan")
    return Estimate(mean, sd, sd * float(np.sqrt(1 / max(known.size, 1) + test_to_train)))
