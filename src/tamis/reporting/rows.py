"""The rows in two dimensions, and the predictions of the honest folds against the truth."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

from tamis.base.predictions import balanced_accuracy
from tamis.base.types import Codes, FloatArray, Mask
from tamis.compose.quick_scores import best
from tamis.data.dataset import Dataset
from tamis.reporting.projection import COLUMNS, projection
from tamis.reporting.rates import rates
from tamis.reporting.row_values import heat, pairs
from tamis.validation.json_values import plain
from tamis.validation.result import Predictions

#: Points of a curve, bins of a calibration curve, and classes that have curves.
_POINTS, _BINS, _CLASSES = 200, 10, 12
#: Scores are cut here, so that there are larger numbers.
_LARGEST = 1e300


def rows(
    data: Dataset,
    predictions: Predictions | None,
    classes: Any,
    *,
    used: np.ndarray | None,
    first: np.ndarray | None = None,
) -> dict[str, Any]:
    """The entry "rows" of the facts; without `predictions` the projection and the values alone.

    `predictions` are those of the honest folds, all repeats together; `classes` are sorted; `used` are the columns of
    the model, by default all, or the 200 with the best scores; `first` are the same, the best first.

    Returns
    -------
    dict
        ``projection`` (the first two principal components of the standardised columns; None where there is nothing to
        project), ``heat`` and ``pairs`` (:mod:`tamis.reporting.row_values`), ``classes``, ``confusion`` (truth by
        prediction), ``rates`` (:mod:`tamis.reporting.rates`), ``roc``, ``precision_recall``, ``threshold`` (two
        classes: the balanced error when the rows with at least some ``score`` are predicted as the second class, the
        ``share`` of them, the ``best`` threshold, and the one that the model ``used``), ``calibration``. What does not
        exist is None.

    Examples
    --------
    >>> data = Dataset(np.arange(8.0).reshape(4, 2), np.array(["a", "a", "b", "b"]), np.array(["u", "v"]))
    >>> rows(data, None, data.classes, used=None)["projection"]["explained"]
    [1.0, 0.0]
    """
    words = [str(label) for label in np.asarray(classes).tolist()]
    codes = _codes(data.y, words)
    return {
        **predicted_rows(predictions, words),
        "projection": projection(data, codes, best(data, COLUMNS) if used is None else used, **{"class": codes}),
        "heat": None if first is None else heat(data, codes, first),
        "pairs": None if first is None else pairs(data, codes, first, **{"class": codes}),
    }


def predicted_rows(predictions: Predictions | None, classes: Any) -> dict[str, Any]:
    """The part of :func:`rows` that needs no data: the predictions against the truth."""
    words = [str(label) for label in np.asarray(classes).tolist()]
    found: dict[str, Any] = {
        **dict.fromkeys(("projection", "heat", "pairs")),
        "classes": words,
        **dict.fromkeys(("confusion", "rates", "roc", "precision_recall", "threshold", "calibration")),
    }
    if predictions is None:
        return found
    truth, predicted = _codes(predictions.truth, words), _codes(predictions.label, words)
    k = len(words)
    found["confusion"] = plain(np.bincount(truth * k + predicted, minlength=k * k).reshape(k, k))
    found["rates"] = rates(truth, predicted, words, repeats=truth.size / max(1, np.unique(predictions.row).size))
    scores, probabilities = predictions.scores, predictions.probabilities
    if scores is not None and not np.isnan(scores).any():
        scores = np.clip(scores, -_LARGEST, _LARGEST)
        curves = [{"class": words[c], **_roc(truth == c, own)} for c, own in _by_class(truth, scores, k)]
        found["roc"] = {"curves": curves} if curves else None
        recalled = [{"class": words[c], **_precision(truth == c, own)} for c, own in _by_class(truth, scores, k)]
        found["precision_recall"] = {"curves": recalled} if recalled else None
        found["threshold"] = _threshold(truth, predicted, scores) if k == 2 and curves else None
    if probabilities is not None:
        shares = _by_class(truth, probabilities, k)
        found["calibration"] = {"curves": [{"class": words[c], **_calibration(truth == c, own)} for c, own in shares]}
    return found


def confusions(known: dict[str, Any]) -> list[tuple[str, str, int]]:
    """True class, predicted class and number of rows of every mistake, the most frequent first."""
    classes = known["classes"]
    wrong = [
        (classes[i], classes[j], count)
        for i, counts in enumerate(known["confusion"] or ())
        for j, count in enumerate(counts)
        if i != j and count
    ]
    return sorted(wrong, key=lambda one: -one[2])


def _codes(labels: np.ndarray, words: list[str]) -> Codes:
    """The number of each label's class."""
    place = {word: number for number, word in enumerate(words)}
    distinct, inverse = np.unique(labels, return_inverse=True)
    return np.array([place[str(label)] for label in distinct.tolist()], dtype=np.intp)[inverse]


def _by_class(truth: Codes, values: FloatArray, n_classes: int) -> Iterator[tuple[int, FloatArray]]:
    """The classes with a curve and the scores of each: the second of two classes, otherwise the largest."""
    sizes = np.bincount(truth, minlength=n_classes)
    shown = [1] if n_classes == 2 else np.sort(np.argsort(-sizes, kind="stable")[:_CLASSES]).tolist()
    for c in shown:
        if 0 < sizes[c] < truth.size:
            yield c, values if values.ndim == 1 else values[:, c]


def _roc(positive: Mask, scores: FloatArray) -> dict[str, Any]:
    fpr, tpr, _ = roc_curve(positive, scores)
    area = float(auc(fpr, tpr))
    if fpr.size > _POINTS:
        # Points at equal distances along the curve show all its bends.
        length = fpr + tpr
        stops = np.linspace(0.0, 2.0, _POINTS)
        fpr, tpr = np.interp(stops, length, fpr), np.interp(stops, length, tpr)
    return {"fpr": plain(fpr.round(5)), "tpr": plain(tpr.round(5)), "auc": area}


def _precision(positive: Mask, scores: FloatArray) -> dict[str, Any]:
    precision, recall, _ = precision_recall_curve(positive, scores)
    area, share = float(average_precision_score(positive, scores)), float(positive.mean())
    if recall.size > _POINTS:
        stops = np.unique(np.linspace(0, recall.size - 1, _POINTS).astype(np.intp))
        precision, recall = precision[stops], recall[stops]
    return {"recall": plain(recall.round(5)), "precision": plain(precision.round(5)), "area": area, "share": share}


def _threshold(truth: Codes, predicted: Codes, scores: FloatArray) -> dict[str, Any]:
    """The balanced error for every number of rows that are predicted positive."""
    fpr, tpr, cut = roc_curve(truth == 1, scores, drop_intermediate=False)
    cut[0] = np.nextafter(cut[1], np.inf)  # where no row is predicted positive
    ber = (fpr + 1.0 - tpr) / 2
    share = fpr * (truth == 0).mean() + tpr * (truth == 1).mean()
    own = float((predicted == 1).mean())
    # Of equally good thresholds the one nearest to that of the model.
    good = np.flatnonzero(ber <= ber.min() + 1e-12)
    lowest = int(good[np.argmin(np.abs(share[good] - own))])
    nearest = int(np.argmin(np.abs(share - own)))
    stops = np.searchsorted(share, np.linspace(0.0, 1.0, _POINTS - 1)).clip(max=share.size - 1)
    shown = np.unique(np.append(stops, lowest)) if share.size > _POINTS else np.arange(share.size)
    return {
        "score": plain(cut[shown]),
        "share": plain(share[shown].round(6)),
        "ber": plain(ber[shown].round(6)),
        "best": plain({"score": cut[lowest], "share": share[lowest], "ber": ber[lowest]}),
        "used": plain({"score": cut[nearest], "share": own, "ber": 1.0 - balanced_accuracy(truth, predicted)}),
    }


def _calibration(positive: Mask, probability: FloatArray) -> dict[str, Any]:
    """Mean probability and share of the class in ten bins of the same number of rows; ties share a bin."""
    n = probability.size
    place = ((rankdata(probability) - 0.5) * _BINS / n).astype(np.intp)
    count = np.bincount(place, minlength=_BINS)
    filled = count > 0
    predicted, observed = (
        np.bincount(place, weights=values, minlength=_BINS)[filled] / count[filled]
        for values in (probability, positive)
    )
    return {"predicted": plain(predicted.round(6)), "observed": plain(observed.round(6)), "count": plain(count[filled])}
