"""What would have made the error look smaller than it is, and what makes it uncertain."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.task import Task
from tamis.base.types import Mask
from tamis.base.validation import canonical
from tamis.compose.plural import counted
from tamis.data.caveats import caveats_of_columns
from tamis.data.dataset import Dataset
from tamis.data.duplicates import equal_rows, too_large
from tamis.reporting import class_warnings, numeric_warnings
from tamis.reporting.task_words import task_words
from tamis.reporting.warning_text import Remark, some
from tamis.validation.json_values import plain
from tamis.validation.permutation import PermutationTest
from tamis.validation.result import Estimate, Validation

#: The warnings of each task: of_rows, of_columns, of_target and of_estimate.
_CHECKS: dict[Task, ModuleType] = {"classify": class_warnings, "regress": numeric_warnings}


def honesty(
    data: Dataset,
    *,
    validation: Validation | None = None,
    inner_estimate: Estimate | None = None,
    leak: Validation | None = None,
    permutation: PermutationTest | None = None,
    used: np.ndarray | None = None,
) -> dict[str, Any]:
    """How far the error can be trusted.

    Parameters
    ----------
    data : Dataset
    validation : Validation, optional
        The honest estimate.
    inner_estimate : Estimate, optional
        The inner estimate of a search.
    leak : Validation, optional
        The estimate with every step before the last fitted on all rows.
    permutation : PermutationTest, optional
    used : int array, optional
        Columns of the final model; by default those that the folds used.

    Returns
    -------
    dict
        ``leak``, ``permutation``, ``search``, each None when it is not known, and ``warnings``: a sentence of what was
        found, ``why`` it matters, and a ``level``: "warning" when a number cannot be trusted, else "note".

    Examples
    --------
    >>> data = Dataset(np.ones((9, 1)), np.array(["a"] * 6 + ["b"] * 3), np.array(["u"]))
    >>> [one["what"] for one in honesty(data)["warnings"]][0]
    '9 rows have the values of a row of another class, row 1 and row 7 for example.'
    """
    facts: dict[str, Any] = {"leak": None, "permutation": None, "search": None}
    if validation is not None:
        metric = validation.metrics[0]
        honest = validation.estimates[metric.name]
        sign = 1.0 if metric.better == "high" else -1.0
        if leak is not None:
            leaky = leak.estimates[metric.name]
            facts["leak"] = {
                "nested": {"mean": honest.mean, "se": honest.se},
                "leaky": {"mean": leaky.mean, "se": leaky.se},
                "optimism": sign * (leaky.mean - honest.mean),
            }
        if inner_estimate is not None:
            optimism = sign * (inner_estimate.mean - honest.mean)
            facts["search"] = {"inner_estimate": inner_estimate.mean, "honest": honest.mean, "optimism": optimism}
    if permutation is not None:
        facts["permutation"] = {"value": permutation.observed, "p": permutation.pvalue, "null": permutation.null}
    checks = _CHECKS[data.task]
    found: list[Remark] = [*_of_file(data), *_of_rows(data, checks), *_of_constants(data), *checks.of_columns(data)]
    found += [*checks.of_target(data), *_of_model(data, validation, used)]
    found += [] if validation is None else checks.of_estimate(validation, facts)
    order = sorted(found, key=lambda one: one[2] != "warning")
    facts["warnings"] = [{"what": what, "why": why, "level": level} for what, why, level in order]
    return dict(plain(facts))


def _of_rows(data: Dataset, checks: ModuleType) -> Iterator[Remark]:
    if too_large(data.X):
        yield "Equal rows were not looked for.", "The data is too large for that.", "note"
        return
    group = equal_rows(data.X)
    if not group.size:
        return
    yield from checks.of_rows(data, group)
    # Copies within one group stay together in every split.
    own = np.arange(group.size) if data.groups is None else np.unique(data.groups, return_inverse=True)[1]
    copies = np.unique(np.column_stack([group, own]), axis=0).shape[0] - int(group.max()) - 1
    if copies:
        yield (
            f"{counted(copies, 'row is a copy', 'rows are copies')} of an earlier row.",
            "A row that is in training and test at once makes the error look smaller; remove copies, or group them.",
            "warning",
        )


def _of_file(data: Dataset) -> Iterator[Remark]:
    """What was done before the rows came here, which no fold can undo."""
    for one in caveats_of_columns(data):
        what, _, why = one.partition(": ")
        yield f"{what[0].upper()}{what[1:]}.", f"{why[0].upper()}{why[1:]}.", "warning"


def _of_constants(data: Dataset) -> Iterator[Remark]:
    if not data.n_rows:
        return
    constant = np.flatnonzero(constant_columns(data))
    if constant.size:
        quoted = some([f'"{data.feature_names[c]}"' for c in constant.tolist()])
        yield (
            f"{counted(constant.size, 'column holds', 'columns hold')} one value only: {quoted}.",
            f"They have no information on the {task_words(data.task).noun} and can be left out.",
            "note",
        )


def _of_model(data: Dataset, validation: Validation | None, used: np.ndarray | None) -> Iterator[Remark]:
    fitted = task_words(data.task).values
    size = len(used) if used is not None else None if validation is None else validation.mean_selected
    if size is not None and size > data.n_rows > 0:
        yield (
            f"The model uses {size:.10g} columns and was made from {data.n_rows} rows.",
            f"With more columns than rows some model fits any {fitted}; only unseen rows can evaluate it.",
            "note",
        )
    why = "Some of the other features may be as useless: they were selected by the same rule."
    own = None if used is None else np.asarray(used, dtype=np.intp)
    if data.probes is not None and own is not None:
        probes = int(data.probes[own[own < data.n_features]].sum())
        if probes:
            are = "is a probe" if probes == 1 else "are probes"
            yield f"{probes} of the {len(own)} features that the model uses {are}, known to be useless.", why, "note"
    elif validation is not None and validation.probe_share:
        share = f"{validation.probe_share:.1%}"
        yield f"Over the folds {share} of the features used are probes, known to be useless.", why, "note"


def constant_columns(data: Dataset) -> Mask:
    """Mask of the columns with at most one distinct known value; the data must have rows."""
    X = data.X
    if isinstance(X, pl.DataFrame):
        return np.array([column.drop_nulls().n_unique() <= 1 for column in X.iter_columns()], dtype=bool)
    if data.is_sparse:
        low, high = min_max_axis(canonical(X.tocsc()), axis=0, ignore_nan=True)
    else:
        low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    return np.asarray(~(low < high))
