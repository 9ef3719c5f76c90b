"""A blend of models that did well and differ: its predictions are computed from those of its members."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from tamis.base.predictions import Predicted, as_probabilities
from tamis.base.types import FloatArray
from tamis.compose.catalog import part_for
from tamis.compose.chain import Call
from tamis.compose.parser import parse
from tamis.validation.fold_result import FoldResult, measured
from tamis.validation.metrics import FoldPredictions, Metric, log_loss

#: Most votes of a blend; a model may have several.
_VOTES = 8

#: Number of best models among which the first votes are shared.
_BEGINNERS = 5

#: A member may use up to this multiple of the columns of the best model, or this share of all: a blend must not undo
#: the selection.
_MORE_COLUMNS, _FEW_COLUMNS = 1.25, 0.05

#: Values closer than this are equal.
_ROUNDING = 1e-9


def blend(
    members: Sequence[str], results: Sequence[Mapping[str, FoldResult]], metric: Metric
) -> tuple[str, list[FoldResult]] | None:
    """Choose a blend greedily (Caruana, Niculescu-Mizil, Crew and Ksikes 2004).

    The first votes go to the best models, as many as do best together. Each further vote goes to the model with which
    the mean of the votes does best over the splits, of equal ones to that with the smaller log loss, until a vote no
    longer helps. The prediction of a blend is the mean of its members' predictions in the same fold, so nothing is
    fitted. Models that use many more columns than the best one are left out.

    Parameters
    ----------
    members : sequence of str
        Recipes, best first.
    results : sequence of mappings of recipe to FoldResult
        One for each split.
    metric : Metric

    Returns
    -------
    (str, list of FoldResult) or None
        The recipe of the blend and its results, one for each split; None if no blend is better than the best model.
    """
    able = [m for m in members if all(m in found for found in results)]
    if not able or not results:
        return None
    most = max(_MORE_COLUMNS * _columns(results, able[0]), _FEW_COLUMNS * results[0][able[0]].n_features)
    able = [m for m in able if _columns(results, m) <= most]
    if len(able) < 2:
        return None
    predicted = {m: [_probabilities(found[m].predictions) for found in results] for m in able}
    truths = [found[able[0]].predictions for found in results]
    sums = list(accumulate((predicted[m] for m in able[:_BEGINNERS]), _added))
    values = [_value(total, truths, metric) for total in sums]
    begin = max(range(len(sums)), key=lambda i: values[i])
    votes, total, best = list(able[: begin + 1]), sums[begin], values[begin]
    while len(votes) < _VOTES:
        further = {m: _value(_added(total, predicted[m]), truths, metric) for m in able}
        winner = max(able, key=lambda m: further[m])
        if not _better(further[winner], best):
            break
        best = further[winner]
        votes.append(winner)
        total = _added(total, predicted[winner])
    counts = Counter(votes)
    if len(counts) < 2:
        return None
    return _text(counts), [_result(found, counts, p / len(votes)) for found, p in zip(results, total, strict=True)]


def _added(total: list[FloatArray], more: list[FloatArray]) -> list[FloatArray]:
    return [a + b for a, b in zip(total, more, strict=True)]


def _columns(results: Sequence[Mapping[str, FoldResult]], member: str) -> float:
    """Mean number of columns that a model uses; all if it is unknown."""
    own = [found[member] for found in results]
    return float(np.mean([one.n_features if one.selected is None else one.selected.size for one in own]))


def _better(one: tuple[float, float], other: tuple[float, float]) -> bool:
    if abs(one[0] - other[0]) <= _ROUNDING:
        return one[1] > other[1] + _ROUNDING
    return one[0] > other[0]


def _value(total: Sequence[FloatArray], truths: Sequence[FoldPredictions], metric: Metric) -> tuple[float, float]:
    """The mean of the metric over the splits and that of the log loss, with signs such that larger is better."""
    predictions = [
        _with_probabilities(p / p.sum(axis=1, keepdims=True), truth) for p, truth in zip(total, truths, strict=True)
    ]
    values = np.array([metric(one) for one in predictions])
    mean = float(np.nanmean(values)) if not np.isnan(values).all() else -np.inf
    loss = float(np.mean([log_loss(one) for one in predictions]))
    return round(mean if metric.better == "high" else -mean, 12), -loss


def _with_probabilities(p: FloatArray, truth: FoldPredictions) -> FoldPredictions:
    scores = p[:, 1] if truth.n_classes == 2 else p
    return replace(truth, labels=p.argmax(axis=1), scores=scores, probabilities=p)


def _probabilities(predictions: FoldPredictions) -> FloatArray:
    predicted = Predicted(
        predictions.labels, predictions.probabilities, predictions.scores, np.arange(predictions.n_classes)
    )
    return as_probabilities(predicted, predictions.n_classes)


def _result(found: Mapping[str, FoldResult], counts: Counter[str], p: FloatArray) -> FoldResult:
    members = [found[m] for m in counts]
    kept = [one.selected for one in members if one.selected is not None]
    predictions = _with_probabilities(p, members[0].predictions)
    return replace(
        members[0],
        predictions=predictions,
        metrics=measured(predictions, None),
        selected=np.unique(np.concatenate(kept)) if len(kept) == len(members) else None,
        fit_seconds=sum(one.fit_seconds for one in members),
        predict_seconds=sum(one.predict_seconds for one in members),
        alone_seconds=sum(one.alone_seconds for one in members),
        warnings=tuple(dict.fromkeys(w for one in members for w in one.warnings)),
    )


def _text(counts: Counter[str]) -> str:
    arguments: tuple[tuple[str, object], ...] = (("estimators", tuple(parse(m) for m in counts)),)
    if len(set(counts.values())) > 1:
        arguments += (("weights", tuple(counts.values())),)
    return str(Call(part_for("weighted_ensemble").name, arguments))
