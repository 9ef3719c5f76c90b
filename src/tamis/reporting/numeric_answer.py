"""The answer of a report on numbers: the error of the mean alone, the other metrics, and a sentence in plain words."""

from typing import Any

import numpy as np

from tamis.data.dataset import Dataset
from tamis.reporting.metric_text import significant
from tamis.validation.estimates import over_folds
from tamis.validation.metrics import Metric, standard_error
from tamis.validation.numeric_metrics import NumericPredictions, numeric_metrics, rmse
from tamis.validation.result import Estimate, Validation

#: Metrics that every answer has.
_ADDED = (numeric_metrics["r2"], numeric_metrics["spearman"])

#: What a target without a name is called.
UNNAMED = "y"

#: Share of the variance below which a model is no better than the mean.
_LEAST = 0.005


def mean_alone(metric: Metric, truth: np.ndarray) -> float:
    """The metric of a model that predicts the mean of the numbers everywhere.

    Examples
    --------
    >>> from tamis.validation.numeric_metrics import numeric_metrics
    >>> mean_alone(numeric_metrics["mae"], np.array([1.0, 3.0]))
    1.0
    """
    return metric(NumericPredictions(truth, np.full(truth.size, truth.mean())))


def numeric_answer(validation: Validation, data: Dataset, *, corrected: bool) -> dict[str, Any]:
    """What the answer has for numbers alone.

    R2 and Spearman's correlation are computed from the predictions where the validation did not estimate them, unless
    its estimates are `corrected` for a choice by the same predictions.

    Returns
    -------
    dict
        ``target`` (its name), ``words`` (what the model does, without its subject; None where neither the RMSE nor R2
        is known) and ``others``: ``name``, ``title``, ``mean`` and ``se`` of the metrics after the first.
    """
    known = {metric: validation.estimates[metric.name] for metric in validation.metrics}
    for metric in _ADDED:
        if metric.name in validation.estimates:
            known.setdefault(metric, validation.estimates[metric.name])
        elif not corrected:
            known[metric] = _estimate(validation, metric)
    others = [
        {"name": metric.name, "title": metric.title, "mean": e.mean, "se": e.se}
        for metric, e in known.items()
        if metric is not validation.metrics[0]
    ]
    name = target_name(data)
    return {"target": name, "words": in_words(validation, name), "others": others}


def _estimate(validation: Validation, metric: Metric) -> Estimate:
    """A metric over the folds of a validation, or on all predictions together where its own metrics are."""
    own = validation.predictions
    if validation.values[validation.metrics[0].name].size == 1:
        every = NumericPredictions(own.truth, own.label)
        return Estimate(metric(every), float("nan"), standard_error(metric, every, seed=validation.seed))
    folds = np.unique(np.column_stack([own.repeat, own.fold]), axis=0, return_inverse=True)[1].ravel()
    parts = [NumericPredictions(own.truth[folds == k], own.label[folds == k]) for k in range(folds.max() + 1)]
    values = np.array([metric(part) for part in parts])
    return over_folds(values, validation.n_test.mean() / validation.n_train.mean())


def target_name(data: Dataset) -> str:
    """What the target is called; that of an array, which has no name, is y."""
    return UNNAMED if data.target == Dataset.target else data.target


def in_words(validation: Validation, target: str) -> str | None:
    """How well a model predicts a target, beside the mean alone; None where neither the RMSE nor R2 is known."""
    known = {name: one.mean for name, one in validation.estimates.items() if np.isfinite(one.mean)}
    truth = validation.predictions.truth
    if "rmse" not in known:
        return None if "r2" not in known else f"explains {100 * known['r2']:.0f} % of the variance of {target}"
    alone = rmse(NumericPredictions(truth, np.full(truth.size, truth.mean())))
    explained = known.get("r2", 1.0 - (known["rmse"] / alone) ** 2)
    error, chance = (significant(value, 2) for value in (known["rmse"], alone))
    if error == chance:
        error, chance = significant(known["rmse"]), significant(alone)
    if explained < _LEAST:
        beside = f"the error is about {error} (RMSE), that of the mean {chance}"
        return f"predicts {target} no better than its mean: {beside}"
    share = f"{100 * explained:.0f} % of the variance"
    return f"predicts {target} with an error of about {error} (RMSE), where the mean alone has {chance}: {share}"
