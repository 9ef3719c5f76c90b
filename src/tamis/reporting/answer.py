"""The answer of a report: the model as a sentence, its honest error, and how many features it uses."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tamis.data.dataset import Dataset
from tamis.mining.mined import Mined
from tamis.reporting.sentence import sentence
from tamis.validation.metrics import Metric, all_metrics
from tamis.validation.plain import plain
from tamis.validation.result import Estimate, Validation

__all__ = ["interval", "metric_facts", "mined_answer", "validated_answer"]

#: Standard errors to each side of the mean that hold 95 % of a normal distribution.
_REACH = 1.96

#: The one measure of ours that has no upper end.
_OPEN = "log_loss"


def mined_answer(
    found: Mined, data: Dataset, *, used: np.ndarray | None, commands: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """Say what a search came to.

    Parameters
    ----------
    found : Mined
    data : Dataset
        What was searched.
    used : int array or None
        Columns of the model; None when it cannot be told.
    commands : sequence of mappings with "what" and "command"
        What to run to use the model.

    Returns
    -------
    dict
        The entry "answer" of the facts. In "false_features", "probes" is how many useless columns there were to
        choose from.
    """
    size = None if used is None else used.size
    inner = {"mean": found.inner_estimate_.mean, "se": found.inner_estimate_.se}
    return _answer(
        found.recipe_, found.validation_, data, size, commands, inner_estimate=inner, optimism=found.optimism_
    )


def validated_answer(validation: Validation, data: Dataset, *, commands: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Say what a validation came to.

    Parameters
    ----------
    validation : Validation
    data : Dataset
        What was validated on, without the probes that the validation may have added: they are no features of the
        data, and do not count among those used.
    commands : sequence of mappings with "what" and "command"

    Returns
    -------
    dict
        As :func:`mined_answer`; the number of features is that of the mean fold.
    """
    own = _own(validation, data)
    used = None if own is None else round(float(np.mean([columns.size for columns in own])))
    return _answer(validation.recipe, validation, data, used, commands, inner_estimate=None, optimism=None)


def metric_facts(metric: Metric) -> dict[str, str]:
    """What a view must know of a measure.

    Examples
    --------
    >>> metric_facts(all_metrics["ber"])
    {'name': 'ber', 'title': 'BER', 'better': 'low'}
    """
    return {"name": metric.name, "title": metric.title, "better": metric.better}


def _answer(
    recipe: str,
    validation: Validation,
    data: Dataset,
    used: int | None,
    commands: Sequence[Mapping[str, str]],
    **search: Any,
) -> dict[str, Any]:
    metric = validation.metrics[0]
    found: dict[str, Any] = plain(
        {
            "recipe": recipe,
            "sentence": sentence(recipe),
            "metric": metric_facts(metric),
            "honest": _honest(validation.estimates[metric.name], metric),
            **search,
            "n_used": used,
            "n_features": data.n_features,
            "false_features": _false_features(validation, data, used),
            "commands": commands,
        }
    )
    return found


def _honest(estimate: Estimate, metric: Metric) -> dict[str, float]:
    low, high = interval(estimate, metric)
    return {"mean": estimate.mean, "se": estimate.se, "low": low, "high": high}


def interval(estimate: Estimate, metric: Metric) -> tuple[float, float]:
    """Where the measure lies with 95 % certainty, cut where no value of it can lie.

    Examples
    --------
    >>> interval(Estimate(mean=0.25, sd=1.0, se=0.5), all_metrics["ber"])
    (0.0, 1.0)
    """
    low, high = estimate.mean - _REACH * estimate.se, estimate.mean + _REACH * estimate.se
    if all_metrics.get(metric.name) == metric:
        low, high = max(low, 0.0), high if metric.name == _OPEN else min(high, 1.0)
    return low, high


def _own(validation: Validation, data: Dataset) -> list[np.ndarray] | None:
    """The columns of the data that each fold uses; added probes are numbered after them."""
    if validation.selected is None:
        return None
    return [columns[columns < data.n_features] for columns in validation.selected]


def _false_features(validation: Validation, data: Dataset, used: int | None) -> dict[str, Any] | None:
    """How many of the features used are expected to be useless, judged by the probes that the honest folds use."""
    own = _own(validation, data)
    if own is None or validation.selected is None or not used:
        return None
    if data.probes is not None and data.probes.any():
        share = float(np.mean([data.probes[columns].mean() if columns.size else 0.0 for columns in own]))
        how = (
            f"{100 * share:.3g} % of the columns used in the honest folds are probes, columns of the data that are "
            f"known to be useless; so many of the {used} features used are expected to be"
        )
        return {"expected": share * used, "probes": int(data.probes.sum()), "how": how}
    added = validation.n_features - data.n_features
    if added <= 0:
        return None
    chosen = float(np.mean([columns.size for columns in validation.selected]) - np.mean([c.size for c in own]))
    how = (
        f"of {added} probes, useless columns that were added for the validation, {chosen:.3g} are used in the mean "
        f"fold; if every one of the {data.n_features} features were useless, as large a share of them would be used: "
        f"an upper estimate"
    )
    return {"expected": min(chosen / added * data.n_features, float(used)), "probes": added, "how": how}
