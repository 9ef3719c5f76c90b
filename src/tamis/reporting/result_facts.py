"""The facts of a result by itself, for its figures: those of a report that need neither the data nor the run."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from tamis.base.feature_tracking import used_features
from tamis.mining.mined import Mined
from tamis.reporting.answer import metric_facts
from tamis.reporting.models import compared_models, models
from tamis.reporting.numeric_rows import predicted_numbers
from tamis.reporting.rows import predicted_rows
from tamis.validation.estimates import over_folds
from tamis.validation.json_values import plain
from tamis.validation.learning import LearningCurve
from tamis.validation.many import Validations, size_family
from tamis.validation.nested import Nested
from tamis.validation.permutation import PermutationTest
from tamis.validation.result import Validation

#: Features in a table.
_LISTED = 1000

#: Entries of the facts that figures read.
_ENTRIES = ("answer", "models", "features", "rows", "honesty", "story", "learning")


@singledispatch
def result_facts(result: Any) -> dict[str, Any]:
    """The facts of a result (:mod:`tamis.reporting.facts`); an entry that it does not have is None."""
    raise TypeError(f"{type(result).__name__} has no figures")


@result_facts.register
def _of_validation(result: Validation) -> dict[str, Any]:
    if result.task == "regress":
        return _facts(rows=predicted_numbers(result.predictions), features=_features(result))
    return _facts(rows=predicted_rows(result.predictions, result.classes), features=_features(result))


@result_facts.register
def _of_many(result: Validations) -> dict[str, Any]:
    metric, rows = result.metric, []
    for one in result.ordered():
        estimate, agreement = one.estimates[metric.name], one.stability
        rows.append(
            {
                "recipe": one.recipe,
                "family": size_family(one.recipe),
                "mean": estimate.mean,
                "se": estimate.se,
                "features": one.mean_selected,
                "stability": None if agreement is None else agreement.index,
            }
        )
    return {**result_facts(result.best), "features": None, "models": compared_models(metric, rows)}


@result_facts.register
def _of_nested(result: Nested) -> dict[str, Any]:
    metric, inner, rows = result.validation.metrics[0], result.final, []
    for recipe, values, size in zip(result.recipes, inner.values, inner.features, strict=True):
        estimate = over_folds(values, inner.test_to_train)
        known = {"mean": estimate.mean, "se": estimate.se, "features": size if np.isfinite(size) else None}
        rows.append({"recipe": recipe, "family": size_family(recipe), **known, "stability": None})
    return {**result_facts(result.validation), "models": compared_models(metric, rows, inner.chosen)}


@result_facts.register
def _of_curve(result: LearningCurve) -> dict[str, Any]:
    estimates = [one.estimates[result.metric.name] for one in result.validations]
    points = [{"rows": n, "mean": e.mean, "se": e.se} for n, e in zip(result.rows, estimates, strict=True)]
    return _facts(learning=plain({"metric": metric_facts(result.metric), "points": points}))


@result_facts.register
def _of_test(result: PermutationTest) -> dict[str, Any]:
    tested = {"value": result.observed, "p": result.pvalue, "null": result.null}
    return _facts(answer={"metric": metric_facts(result.metric)}, honesty=plain({"permutation": tested}))


@result_facts.register
def _of_search(result: Mined) -> dict[str, Any]:
    tried = models(result, lambda _: ()) if result._notes is None else result._notes.tried["models"]
    mask = used_features(result.model, result.n_features_in_)
    used = None if mask is None else np.flatnonzero(mask)
    return {**result_facts(result.validation_), "models": tried, "features": _features(result.validation_, used)}


def _facts(**known: Any) -> dict[str, Any]:
    return {**dict.fromkeys(_ENTRIES), **known}


def _features(validation: Validation, used: np.ndarray | None = None) -> dict[str, Any] | None:
    """How often the folds select each feature, the most frequent first; None where they select all.

    `used` are the columns of the final model.
    """
    if validation.selected is None or all(own.size == validation.n_features for own in validation.selected):
        return None
    times = np.bincount(np.concatenate(validation.selected), minlength=validation.n_features)
    order = np.argsort(-times, kind="stable")[:_LISTED]
    order = order[times[order] > 0]
    in_use: Sequence[bool | None] = [None] * order.size if used is None else np.isin(order, used).tolist()
    table = {
        "name": [_name(validation, column) for column in order.tolist()],
        "chosen": (times[order] / len(validation.selected)).tolist(),
        "score": [None] * order.size,
        "rank": list(range(1, order.size + 1)),
        "used": in_use,
        "role": None,
    }
    return {"table": table, "score_name": ""}


def _name(validation: Validation, column: int) -> str:
    """The name of a column; probes that were added come after the columns of the data."""
    data = validation.source
    if data is None or column >= data.n_features:
        return f"column {column}" if data is None else f"probe {column - data.n_features}"
    return str(data.feature_names[column]) if data.has_names else f"x{column}"
