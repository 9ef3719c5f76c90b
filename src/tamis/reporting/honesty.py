"""What would have made the error look smaller than it is, and what makes it uncertain."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy.special import gammaln
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.predictions import balanced_accuracy
from tamis.base.types import Codes, FloatArray, Mask
from tamis.base.validation import canonical
from tamis.compose.catalog import score_for
from tamis.compose.plural import counted
from tamis.compose.quick_scores import has_classes, scores
from tamis.data.dataset import Dataset
from tamis.data.duplicates import equal_rows, too_large
from tamis.data.numeric_columns import numbers
from tamis.reporting.answer import interval
from tamis.validation.json_values import plain
from tamis.validation.metrics import all_metrics
from tamis.validation.permutation import PermutationTest
from tamis.validation.result import Estimate, Validation

#: Limits for warnings: ratio of class sizes, rows of a class, width of an interval, rows of one test set, optimism,
#: balanced error of one column alone.
_IMBALANCE, _CLASS_ROWS, _WIDTH, _TEST_ROWS, _OPTIMISM, _SEPARATES = 5.0, 5, 0.2, 100, 0.05, 0.02
#: Names in a sentence, columns that are tried as separators of many classes, and separators that are counted.
_NAMED, _TRIED, _COUNTED = 5, 50, 100
#: Expected number of separating columns above which they are put down to chance.
_CHANCE = 0.05


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
        The estimate with every step before the classifier fitted on all rows.
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
    found = [*_of_rows(data), *_of_columns(data), *_of_classes(data), *_of_model(data, validation, used)]
    found += [] if validation is None else _of_estimate(validation, facts)
    order = sorted(found, key=lambda one: one[2] != "warning")
    facts["warnings"] = [{"what": what, "why": why, "level": level} for what, why, level in order]
    return dict(plain(facts))


#: What was found, why it matters, and its level.
_Warning = tuple[str, str, str]


def _of_rows(data: Dataset) -> Iterator[_Warning]:
    if too_large(data.X):
        yield "Equal rows were not looked for.", "The data is too large for that.", "note"
        return
    group = equal_rows(data.X)
    if not group.size:
        return
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
    # Copies within one group stay together in every split.
    own = np.arange(group.size) if data.groups is None else np.unique(data.groups, return_inverse=True)[1]
    copies = np.unique(np.column_stack([group, own]), axis=0).shape[0] - int(group.max()) - 1
    if copies:
        yield (
            f"{counted(copies, 'row is a copy', 'rows are copies')} of an earlier row.",
            "A row that is in training and test at once makes the error look smaller; remove copies, or group them.",
            "warning",
        )


def _of_columns(data: Dataset) -> Iterator[_Warning]:
    if not data.n_rows:
        return
    constant = np.flatnonzero(constant_columns(data))
    if constant.size:
        quoted = _some([f'"{data.feature_names[c]}"' for c in constant.tolist()])
        yield (
            f"{counted(constant.size, 'column holds', 'columns hold')} one value only: {quoted}.",
            "They have no information on the classes and can be left out.",
            "note",
        )
    columns, errors = separators(data)
    if not columns.size:
        return
    by_chance = data.n_features * _chance_of_separation(data.y)
    named = [f'"{data.feature_names[c]}" ({e:.1%})' for c, e in zip(columns.tolist(), errors.tolist(), strict=True)]
    number = f"{_COUNTED} or more columns" if columns.size == _COUNTED else counted(columns.size, "column", "columns")
    each = "separates" if columns.size == 1 else "each separate"
    yield (
        f"{number} alone {each} the classes with a balanced error of 2 % or less: {_some(named)}.",
        "Suspicious: is it the target in disguise? A value that is known only once the class is known makes every "
        "error meaningless."
        if by_chance <= _CHANCE
        else f"With few rows about {by_chance:.2g} columns like this are expected by chance, so it need not mean much.",
        "warning" if by_chance <= _CHANCE else "note",
    )


def _of_classes(data: Dataset) -> Iterator[_Warning]:
    if not has_classes(data):
        return
    classes, counts = np.unique(data.y, return_counts=True)
    few = np.flatnonzero(counts < _CLASS_ROWS)
    if few.size:
        named = _some([f'"{classes[c]}" ({counts[c]})' for c in few.tolist()])
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


def _of_model(data: Dataset, validation: Validation | None, used: np.ndarray | None) -> Iterator[_Warning]:
    size = len(used) if used is not None else None if validation is None else validation.mean_selected
    if size is not None and size > data.n_rows > 0:
        yield (
            f"The model uses {size:.10g} columns and was made from {data.n_rows} rows.",
            "With more columns than rows some model fits any labels; only unseen rows can evaluate it.",
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


def _of_estimate(validation: Validation, facts: dict[str, Any]) -> Iterator[_Warning]:
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


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
