"""The rows by the numbers of the target, and the predictions of the honest folds against the truth."""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from tamis.base.types import Codes, FloatArray
from tamis.compose.quick_scores import best
from tamis.data.dataset import Dataset
from tamis.reporting.numeric_answer import UNNAMED, target_name
from tamis.reporting.projection import COLUMNS, projection
from tamis.reporting.row_values import pairs, value_heat
from tamis.reporting.sampled_rows import sampled
from tamis.validation.json_values import plain
from tamis.validation.result import Predictions

#: Most predictions drawn, rows listed for their errors, and groups of predictions whose residuals are averaged.
_POINTS, _WORST, _GROUPS = 1500, 20, 10

#: Quantiles of the target from each of which rows are drawn.
_STRATA = 20

#: Percentiles of the target at which the scale of colours ends: a few outliers would leave one colour for the rest.
_ENDS = (2.0, 98.0)

#: Entries of classes, which numbers do not have.
_OF_CLASSES = ("confusion", "rates", "roc", "precision_recall", "threshold", "calibration")


def numeric_rows(
    data: Dataset, predictions: Predictions | None, *, used: np.ndarray | None, first: np.ndarray | None = None
) -> dict[str, Any]:
    """The entry "rows" of the facts where the target holds numbers.

    The parameters are those of :func:`tamis.reporting.rows.rows`.

    Returns
    -------
    dict
        ``projection``, ``heat`` and ``pairs`` as for classes, with the ``value`` of the target in place of the class;
        ``target`` (its name), ``ends`` (the numbers at which a scale of colours ends), ``predicted``
        (:func:`predicted_numbers`), and the entries of classes, which are empty or None.

    Examples
    --------
    >>> y = np.array([1.5, 2.5, 3.5, 9.0])
    >>> data = Dataset(np.arange(8.0).reshape(4, 2), y, np.array(["u", "v"]), task="regress")
    >>> numeric_rows(data, None, used=None)["projection"]["value"]
    [1.5, 2.5, 3.5, 9.0]
    """
    y = np.asarray(data.y, dtype=np.float64)
    strata = _strata(y)
    found = predicted_numbers(predictions, y)
    for one in (found["predicted"] or {"worst": ()})["worst"]:
        one["name"] = None if data.row_names is None else str(data.row_names[one["row"] - 1])
    return {
        **found,
        "target": target_name(data),
        "projection": projection(data, strata, best(data, COLUMNS) if used is None else used, value=y),
        "heat": None if first is None else value_heat(data, strata, first),
        "pairs": None if first is None else pairs(data, strata, first, value=y),
    }


def predicted_numbers(predictions: Predictions | None, y: np.ndarray | None = None) -> dict[str, Any]:
    """The part of :func:`numeric_rows` that needs no data but the target `y`: the predictions against the truth.

    Returns
    -------
    dict
        The entries of :func:`numeric_rows`. ``predicted`` has ``truth``, ``prediction`` and ``row`` (from 1) of at most
        1500 predictions, ``shown`` ``of`` all; ``bias``: in ten groups of the same size the mean ``prediction``, the
        mean ``residual`` (truth less prediction) and its ``se``; ``worst``: the rows with the largest errors, each with
        ``row``, ``truth``, ``prediction`` (the mean over the repeats) and ``residual``.
    """
    known = predictions.truth if y is None and predictions is not None else y
    return {
        **dict.fromkeys(("projection", "heat", "pairs")),
        "classes": [],
        **dict.fromkeys(_OF_CLASSES),
        "target": UNNAMED,
        "ends": None if known is None or not known.size else plain(np.percentile(known, _ENDS)),
        "predicted": None if predictions is None else _predicted(predictions),
    }


def _strata(y: FloatArray) -> Codes:
    """The quantile of each row, so that the rows drawn have the range of all."""
    return ((rankdata(y) - 0.5) * _STRATA / max(1, y.size)).astype(np.intp)


def _predicted(predictions: Predictions) -> dict[str, Any]:
    truth, found = (np.asarray(one, dtype=np.float64) for one in (predictions.truth, predictions.label))
    shown = sampled(_strata(truth), _POINTS)
    return {
        "truth": _short(truth[shown]),
        "prediction": _short(found[shown]),
        "row": plain(predictions.row[shown] + 1),
        "shown": int(shown.size),
        "of": int(truth.size),
        "bias": _bias(found, truth - found),
        "worst": _worst(predictions.row, truth, found),
    }


def _bias(found: FloatArray, residuals: FloatArray) -> dict[str, Any]:
    """Mean prediction and mean residual in groups of the same number of predictions; ties share a group."""
    groups = ((rankdata(found) - 0.5) * _GROUPS / found.size).astype(np.intp)
    n = np.bincount(groups, minlength=_GROUPS)
    filled = n > 1
    prediction, mean, square = (
        np.bincount(groups, weights=values, minlength=_GROUPS)[filled] / n[filled]
        for values in (found, residuals, residuals**2)
    )
    se = np.sqrt(np.maximum(square - mean**2, 0.0) / (n[filled] - 1))
    return {"prediction": _short(prediction), "residual": _short(mean), "se": _short(se)}


def _worst(rows: np.ndarray, truth: FloatArray, found: FloatArray) -> list[dict[str, Any]]:
    """The rows whose mean prediction is farthest from the truth, the farthest first."""
    own, first, place = np.unique(rows, return_index=True, return_inverse=True)
    mean = np.bincount(place, weights=found) / np.bincount(place)
    residual = truth[first] - mean
    order = np.argsort(-np.abs(residual), kind="stable")[:_WORST]
    columns = [plain(own[order] + 1), *(_short(one[order]) for one in (truth[first], mean, residual))]
    keys = ("row", "truth", "prediction", "residual")
    return [dict(zip(keys, values, strict=True)) for values in zip(*columns, strict=True)]


def _short(values: FloatArray) -> list[float]:
    """Six digits are enough to draw."""
    return [float(f"{value:.6g}") for value in values.tolist()]
