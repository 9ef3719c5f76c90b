"""Warnings of a report on classes: contradictions, columns that give them away, small classes, wide intervals."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from scipy.special import gammaln
from sklearn.tree import DecisionTreeClassifier

from tamis.base.predictions import balanced_accuracy
from tamis.base.types import Codes, FloatArray
from tamis.compose.catalog import score_for
from tamis.compose.plural import counted
from tamis.compose.quick_scores import has_classes, scores
from tamis.data.dataset import Dataset
from tamis.data.numeric_columns import numbers
from tamis.reporting.answer import interval
from tamis.reporting.warning_text import Remark, some
from tamis.validation.metrics import all_metrics
from tamis.validation.result import Validation

#: Limits for warnings: ratio of class sizes, rows of a class, width of an interval, rows of one test set, optimism,
#: balanced error of one column alone.
_IMBALANCE, _CLASS_ROWS, _WIDTH, _TEST_ROWS, _OPTIMISM, _SEPARATES = 5.0, 5, 0.2, 100, 0.05, 0.02
#: Columns that are tried as separators of many classes, and separators that are counted.
_TRIED, _COUNTED = 50, 100
#: Expected number of separating columns above which they are put down to chance.
_CHANCE = 0.05


def of_rows(data: Dataset, group: np.ndarray) -> Iterator[Remark]:
    """Equal rows, by the number of their `group`, of different classes."""
    codes = np.unique(data.y, return_inverse=True)[1]
    pairs = np.unique(np.column_stack([group, codes]), axis=0)
    mixed = np.bincount(pairs[:, 0])[group] > 1
    if mixed.any() and has_classes(data):
        first = np.flatnonzero(mixed)[0]
        other = np.flatnonzero((group == group[first]) & (codes != codes[first]))[0]
        example = f"row {first + 1} and row {other + 1} for example"
        yield (
            f"{mixed.sum()} rows have the values of a row of another class, {example}.",
            "No model can predict all of them: labels may be wrong, or the column that separates them is missing.",
            "warning",
        )


def of_columns(data: Dataset) -> Iterator[Remark]:
    """Columns that separate the classes by themselves."""
    columns, errors = separators(data)
    if not columns.size:
        return
    by_chance = data.n_features * _chance_of_separation(data.y)
    named = [f'"{data.feature_names[c]}" ({e:.1%})' for c, e in zip(columns.tolist(), errors.tolist(), strict=True)]
    number = f"{_COUNTED} or more columns" if columns.size == _COUNTED else counted(columns.size, "column", "columns")
    each = "separates" if columns.size == 1 else "each separate"
    yield (
        f"{number} alone {each} the classes with a balanced error of 2 % or less: {some(named)}.",
        "Suspicious: is it the target in disguise? A value that is known only once the class is known makes every "
        "error meaningless."
        if by_chance <= _CHANCE
        else f"With few rows about {by_chance:.2g} columns like this are expected by chance, so it need not mean much.",
        "warning" if by_chance <= _CHANCE else "note",
    )


def of_target(data: Dataset) -> Iterator[Remark]:
    """Small classes, and one that is much larger than another."""
    if not has_classes(data):
        return
    classes, counts = np.unique(data.y, return_counts=True)
    few = np.flatnonzero(counts < _CLASS_ROWS)
    if few.size:
        named = some([f'"{classes[c]}" ({counts[c]})' for c in few.tolist()])
        yield (
            f"{counted(few.size, 'class has', 'classes have')} fewer than {_CLASS_ROWS} rows: {named}.",
            "Some folds have no such row in training or in test, so its error is hardly known.",
            "warning",
        )
    least, most = int(counts.argmin()), int(counts.argmax())
    times = counts[most] / counts[least]
    large, small = classes[most], classes[least]
    if times > _IMBALANCE:
        yield (
            f'Class "{large}" has {counts[most]} rows, {times:.1f} times the {counts[least]} of class "{small}".',
            "Accuracy is high for a model that always predicts the large class; look at the balanced error (BER).",
            "note",
        )


def of_estimate(validation: Validation, facts: dict[str, Any]) -> Iterator[Remark]:
    """What makes the error uncertain, or look too small; `facts` are those of the leak and of the search."""
    metric = validation.metrics[0]
    honest = validation.estimates[metric.name]
    # Only of metrics between 0 and 1 is it known which width is large.
    if metric.name in all_metrics and metric.needs != "probabilities" and np.isfinite(honest.se):
        low, high = interval(honest, metric)
        if high - low > _WIDTH:
            yield (
                f"The {metric.title} is only known to lie between {low:.3f} and {high:.3f}.",
                "There are too few rows, or the folds differ too much, to know more; another sample may differ.",
                "warning",
            )
    if validation.n_test.size == 1 and validation.n_test[0] < _TEST_ROWS:
        yield (
            f"The error rests on one test set of {validation.n_test[0]} rows.",
            f"One correct prediction more or less changes the accuracy by {1 / validation.n_test[0]:.1%}.",
            "warning",
        )
    if (one := facts["search"]) and one["optimism"] > _OPTIMISM:
        yield (
            f"The inner estimate of {metric.title} is {one['inner_estimate']:.3f}; unseen rows: {one['honest']:.3f}.",
            f"The best of many models looks too good, here by {100 * one['optimism']:.1f} points; trust the latter.",
            "warning",
        )
    if (one := facts["leak"]) and one["optimism"] > _OPTIMISM:
        leaky, nested = one["leaky"]["mean"], one["nested"]["mean"]
        yield (
            f"Features selected on all rows would have given {metric.title} {leaky:.3f} in place of {nested:.3f}.",
            f"That is {100 * one['optimism']:.1f} points too good: never select features before the rows are split.",
            "note",
        )


def separators(data: Dataset) -> tuple[np.ndarray, FloatArray]:
    """Columns that separate the classes by themselves with a balanced error of at most 2 %, and their errors.

    For two classes it is the error of the best single threshold, or of the best set of levels. For more classes a
    column has an interval for each class, or any class for each level; the 50 columns with the highest scores are
    tried. Half the rows of every class must be known. Nominal columns with fewer than five rows per level are left
    out: names of rows separate everything. The best come first.
    """
    none = np.empty(0, dtype=np.intp), np.empty(0)
    if not has_classes(data):
        return none
    classes, codes = np.unique(data.y, return_inverse=True)
    if classes.size == 2:
        errors = (1.0 - score_for("separation")(data.X, data.y)) / 2
        found = np.argsort(errors, kind="stable")
        found = found[errors[found] <= _SEPARATES + 1e-12][:_COUNTED]
    else:
        errors = np.full(data.n_features, np.inf)
        found = np.argsort(-scores(data)[1], kind="stable")[:_TRIED]
    separating = []
    for column, own in zip(found.tolist(), _as_numbers(data, found).T, strict=True):
        nominal = bool(data.nominal[column])
        if not _well_known(own, codes, nominal):
            continue
        if classes.size > 2:
            errors[column] = _interval_error(own, codes, nominal)
        if errors[column] <= _SEPARATES + 1e-12:
            separating.append(column)
    found = np.array(sorted(separating, key=lambda column: errors[column]), dtype=np.intp)
    return found, errors[found]


def _as_numbers(data: Dataset, columns: np.ndarray) -> FloatArray:
    """Some columns as numbers, NaN where missing; levels of a nominal one by rank."""
    values = np.empty((data.n_rows, columns.size))
    nominal = data.nominal[columns]
    values[:, ~nominal] = numbers(data, columns[~nominal])
    for place in np.flatnonzero(nominal).tolist():
        ranks = data.X.to_series(int(columns[place])).rank("dense")
        values[:, place] = ranks.cast(pl.Float64).to_numpy()
    return values


def _well_known(values: FloatArray, codes: Codes, nominal: bool) -> bool:
    known = ~np.isnan(values)
    if nominal and known.sum() < 5 * np.unique(values[known]).size:
        return False
    return bool((2 * np.bincount(codes[known], minlength=codes.max() + 1) >= np.bincount(codes)).all())


def _interval_error(values: FloatArray, codes: Codes, nominal: bool) -> float:
    """Balanced training error of a tree with a leaf for every class, or for every level."""
    known = ~np.isnan(values)
    X, truth = values[known, None], codes[known]
    leaves = int(np.unique(X).size if nominal else np.unique(truth).size)
    tree = DecisionTreeClassifier(max_leaf_nodes=max(2, leaves), class_weight="balanced", random_state=0)
    return 1.0 - balanced_accuracy(truth, tree.fit(X, truth).predict(X))


def _chance_of_separation(y: np.ndarray) -> float:
    """Chance that a random order of the rows has the classes one after another: K! n_1! ... n_K! / n!."""
    counts = np.unique(y, return_counts=True)[1]
    return float(np.exp(gammaln(counts.size + 1) + gammaln(counts + 1).sum() - gammaln(counts.sum() + 1)))
