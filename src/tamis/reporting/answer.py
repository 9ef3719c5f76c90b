"""The answer of a report: the model as a sentence, its honest error, and how many features it uses."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tamis.compose.plural import counted
from tamis.data.dataset import Dataset
from tamis.mining.mined import Mined
from tamis.reporting.numeric_answer import mean_alone, numeric_answer
from tamis.reporting.sentence import member_sentences, sentence
from tamis.reporting.task_words import task_words
from tamis.validation.json_values import plain
from tamis.validation.metrics import Metric, metrics_for
from tamis.validation.result import Estimate, Validation

#: Standard errors to each side of the mean that hold 95 % of a normal distribution.
_REACH = 1.96

#: What the offers of a search are.
_OFFERS = {
    "best": "the best ensemble",
    "single": "the best single model",
    "small": "the fewest features within one standard error of it",
}

#: What metrics are, where their title does not say it.
_ABOUT = {
    "ber": "balanced error rate: the mean of the error rates of the classes",
    "balanced_accuracy": "mean of the shares of each class that are predicted correctly",
    "auc": "area under the ROC curve: the probability that a row of the class ranks above another row",
    "log_loss": "mean of -ln(probability of the true class)",
    "rmse": "root of the mean squared error, in units of the target",
    "mae": "mean absolute error, in units of the target",
    "r2": "share of the variance that is explained: 1 is perfect, 0 the mean alone",
    "spearman": "correlation of the ranks of predictions and truth",
    "deviance": "share of the Poisson deviance that is explained: 1 is perfect, 0 the mean alone",
}

#: The values that metrics of ours can have, where these are not 0 to 1.
_BOUNDS = {
    "log_loss": (0.0, np.inf),
    "rmse": (0.0, np.inf),
    "mae": (0.0, np.inf),
    "r2": (-np.inf, 1.0),
    "spearman": (-1.0, 1.0),
    "deviance": (-np.inf, 1.0),
}


def mined_answer(
    found: Mined, data: Dataset, *, used: np.ndarray | None, commands: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """The entry "answer" of the facts of a search.

    `used` are the columns of the model, None when they are not known; `commands` ("what" and "command") use the model.
    "members" are those of an ensemble; "offers" are the models of the search, this one among them. "about" says what
    the metric is, "chance" is its value without any feature, "groups" the number of groups that were split. In
    "false_features", "probes" is the number of useless columns that the model could have selected. Where the target
    holds numbers there are also the entries of :func:`tamis.reporting.numeric_answer.numeric_answer`.
    """
    size = None if used is None else used.size
    inner = {"mean": found.inner_estimate_.mean, "se": found.inner_estimate_.se}
    more: dict[str, Any] = {"inner_estimate": inner, "optimism": found.optimism_, "offers": offers(found)}
    # Without searches of other rows the folds that chose the model are corrected for the choice.
    corrected = not found.run_.choices
    return _answer(found.recipe_, found.validation_, data, size, commands, corrected=corrected, **more)


def validated_answer(validation: Validation, data: Dataset, *, commands: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The same of a validation, with the mean number of features over the folds.

    `data` is without the probes that the validation may have added: they do not count among the features used.
    """
    own = _own(validation, data)
    used = None if own is None else round(float(np.mean([columns.size for columns in own])))
    more: dict[str, Any] = {"inner_estimate": None, "optimism": None, "offers": ()}
    return _answer(validation.recipe, validation, data, used, commands, **more)


def metric_facts(metric: Metric) -> dict[str, str]:
    """What a view needs to know of a metric; one of numbers has its "task" besides.

    Examples
    --------
    >>> from tamis.validation.metrics import all_metrics
    >>> metric_facts(all_metrics["ber"])
    {'name': 'ber', 'title': 'BER', 'better': 'low'}
    """
    task = {} if metric.task == "classify" else {"task": metric.task}
    return {"name": metric.name, "title": metric.title, "better": metric.better, **task}


def _answer(
    recipe: str,
    validation: Validation,
    data: Dataset,
    used: int | None,
    commands: Sequence[Mapping[str, str]],
    *,
    corrected: bool = False,
    **more: Any,
) -> dict[str, Any]:
    metric, task = validation.metrics[0], validation.task
    members = member_sentences(recipe, task)
    ensemble = task_words(task).ensemble.format(counted(len(members), "model"))
    found: dict[str, Any] = plain(
        {
            "recipe": recipe,
            "sentence": ensemble if members else sentence(recipe, task),
            "members": [{"share": share, "sentence": words} for share, words in members],
            "metric": metric_facts(metric),
            "about": _ABOUT.get(metric.name) if _is_ours(metric) else None,
            "chance": chance(metric, validation.predictions.truth),
            "honest": {**_honest(validation), "how": validation.split, "corrected": corrected},
            **more,
            "n_used": used,
            "n_features": data.n_features,
            "false_features": _false_features(validation, data, used),
            "groups": split_groups(validation, data),
            "commands": commands,
            **(numeric_answer(validation, data, corrected=corrected) if task == "regress" else {}),
        }
    )
    return found


def _honest(validation: Validation) -> dict[str, float]:
    """The honest estimate of the main metric."""
    metric = validation.metrics[0]
    estimate = validation.estimates[metric.name]
    low, high = interval(estimate, metric)
    return {"mean": estimate.mean, "se": estimate.se, "low": low, "high": high}


def offers(found: Mined) -> list[dict[str, Any]]:
    """What a search offers: the name, the size and the honest estimate of each model."""
    return [
        {
            "name": name,
            "what": _OFFERS.get(name, name),
            "recipe": one.recipe,
            "chosen": one.model is found.model,
            "n_used": one.selected_features.size,
            "honest": _honest(one.validation),
        }
        for name, one in found.models_.items()
    ]


def interval(estimate: Estimate, metric: Metric) -> tuple[float, float]:
    """The 95 % interval of a metric, cut to the values it can have.

    Examples
    --------
    >>> from tamis.validation.metrics import all_metrics
    >>> interval(Estimate(mean=0.25, sd=1.0, se=0.5), all_metrics["ber"])
    (0.0, 1.0)
    """
    low, high = estimate.mean - _REACH * estimate.se, estimate.mean + _REACH * estimate.se
    if _is_ours(metric):
        least, most = _BOUNDS.get(metric.name, (0.0, 1.0))
        low, high = max(low, least), min(high, most)
    return low, high


def _is_ours(metric: Metric) -> bool:
    """Whether it is a metric of the library, and not another one of that name."""
    return metrics_for(metric.task).get(metric.name) == metric


def chance(metric: Metric, truth: np.ndarray) -> float | None:
    """What a model reaches that knows no feature: it guesses, or always predicts the largest class or the mean.

    None for F1 by class and for metrics of others on classes, of which it is not known.

    Examples
    --------
    >>> from tamis.validation.metrics import all_metrics
    >>> truth = np.array(["a", "a", "a", "b"])
    >>> chance(all_metrics["ber"], truth), chance(all_metrics["accuracy"], truth), chance(all_metrics["auc"], truth)
    (0.5, 0.75, 0.5)
    """
    if metric.task == "regress":
        return mean_alone(metric, truth)
    shares = np.unique(truth, return_counts=True)[1] / truth.size
    known = {
        "ber": 1.0 - 1.0 / shares.size,
        "balanced_accuracy": 1.0 / shares.size,
        "accuracy": float(shares.max()),
        "f1_micro": float(shares.max()),
        "auc": 0.5,
        "log_loss": float(-(shares * np.log(shares)).sum()),
    }
    return known.get(metric.name) if _is_ours(metric) else None


def split_groups(validation: Validation, data: Dataset) -> int | None:
    """How many groups have rows in training and test at once; None if the data has no groups."""
    if data.groups is None:
        return None
    own = np.unique(data.groups, return_inverse=True)[1]
    predicted = validation.predictions
    tests = np.column_stack([predicted.repeat, predicted.fold, own[predicted.row]])
    cells, counts = np.unique(tests, axis=0, return_counts=True)
    return int(np.unique(cells[counts < np.bincount(own)[cells[:, 2]], 2]).size)


def _own(validation: Validation, data: Dataset) -> list[np.ndarray] | None:
    """The columns of the data that each fold uses; added probes are numbered after them."""
    if validation.selected is None:
        return None
    return [columns[columns < data.n_features] for columns in validation.selected]


def _false_features(validation: Validation, data: Dataset, used: int | None) -> dict[str, Any] | None:
    """How many of the features used are expected to be useless, estimated by the probes that the honest folds use."""
    own = _own(validation, data)
    if own is None or validation.selected is None or not used:
        return None
    if data.probes is not None and data.probes.any():
        share = float(np.mean([data.probes[columns].mean() if columns.size else 0.0 for columns in own]))
        how = (
            f"{100 * share:.3g} % of the columns used in the honest folds are probes, columns of the data that are "
            f"known to be useless; the same share of the {used} features used is expected to be useless"
        )
        return {"expected": share * used, "probes": int(data.probes.sum()), "how": how}
    added = validation.n_features - data.n_features
    if added <= 0:
        return None
    chosen = float(np.mean([columns.size for columns in validation.selected]) - np.mean([c.size for c in own]))
    how = (
        f"of {added} probes, useless columns that were added for the validation, a fold uses {chosen:.3g} on average; "
        f"if all {data.n_features} features were useless, the same share of them would be used: an upper estimate"
    )
    return {"expected": min(chosen / added * data.n_features, float(used)), "probes": added, "how": how}
