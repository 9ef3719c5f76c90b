"""Warnings of a report on numbers: contradictions, columns that give them away, outliers, ties, wide intervals."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from scipy.special import gammaln
from scipy.stats import rankdata
from scipy.stats import t as student

from tamis.base.types import FloatArray
from tamis.compose.plural import counted
from tamis.compose.quick_scores import scores
from tamis.data.dataset import Dataset
from tamis.data.numeric_columns import numbers
from tamis.reporting.answer import interval
from tamis.reporting.metric_text import metric_text, significant
from tamis.reporting.numeric_answer import mean_alone
from tamis.reporting.target_values import target_values
from tamis.reporting.warning_text import Remark, some
from tamis.validation.result import Validation

#: Share of the variance that no column should explain alone, columns that are tried, and rows a level must have.
_EXPLAINS, _TRIED, _LEVEL_ROWS = 0.98, 50, 5
#: Expected number of such columns above which they are put down to chance.
_CHANCE = 0.05
#: Limits for remarks: share of rows with one value, different values, interquartile ranges of an outlier, skewness.
_TIED, _FEW, _FAR, _SKEWED = 0.2, 20, 3.0, 2.0
#: The same of the estimate, as shares of the error of the mean alone: width of its interval, optimism; rows of one test
#: set; share of the squared error in the worst hundredth of the rows.
_WIDTH, _OPTIMISM, _TEST_ROWS, _CONCENTRATED = 0.2, 0.05, 100, 0.3


def of_rows(data: Dataset, group: np.ndarray) -> Iterator[Remark]:
    """Equal rows, by the number of their `group`, with different numbers."""
    y = np.asarray(data.y, dtype=np.float64)
    n = np.bincount(group)
    rest = y - (np.bincount(group, weights=y) / n)[group]
    spread = np.bincount(group, weights=rest**2)
    mixed = (spread > 1e-20 * max(float(y.var()), np.finfo(np.float64).tiny))[group] & (n > 1)[group]
    if not mixed.any():
        return
    first = int(np.flatnonzero(mixed)[0])
    other = int(np.flatnonzero((group == group[first]) & (y != y[first]))[0])
    several = n > 1
    noise = float(np.sqrt(spread[several].sum() / (n[several] - 1).sum()))
    example = f"row {first + 1} and row {other + 1} for example"
    yield (
        f"{mixed.sum()} rows have the values of another row and another number, {example}.",
        f"No model can predict all of them: equal rows differ by a standard deviation of {significant(noise, 3)}.",
        "note",
    )


def of_columns(data: Dataset) -> Iterator[Remark]:
    """Columns that determine the numbers by themselves."""
    found = determining(data)
    if not found:
        return
    named = [f'"{data.feature_names[column]}" ({share:.1%})' for column, (share, _) in found.items()]
    by_chance = data.n_features * max(p for _, p in found.values())
    each = "explains" if len(found) == 1 else "each explain"
    number = counted(len(found), "column", "columns")
    yield (
        f"{number} alone {each} 98 % or more of the variance of the target: {some(named)}.",
        "Suspicious: is it the target in disguise? A value that is known only once the target is known makes every "
        "error meaningless."
        if by_chance <= _CHANCE
        else f"With few rows about {by_chance:.2g} columns like this are expected by chance, so it need not mean much.",
        "warning" if by_chance <= _CHANCE else "note",
    )


def determining(data: Dataset) -> dict[int, tuple[float, float]]:
    """Columns that explain 98 % or more of the variance of the target, with that share and its p-value, best first.

    The share is the squared correlation of the values or of their ranks, whichever is larger; of a nominal column with
    five rows a level or more on average, the squared correlation ratio. The 50 columns with the highest scores are
    tried; half of their values must be known.
    """
    y = np.asarray(data.y, dtype=np.float64)
    name, values = scores(data)
    if not name or data.n_rows < 3:
        return {}
    tried = np.argsort(-values, kind="stable")[:_TRIED]
    nominal = data.nominal[tried]
    found = {}
    for column, own in zip(tried[~nominal].tolist(), numbers(data, tried[~nominal]).T, strict=True):
        known = np.isfinite(own)
        if 2 * known.sum() >= y.size:
            found[column] = _correlated(own[known], y[known])
    for column in tried[nominal].tolist():
        found[column] = _of_levels(data.X.to_series(column), y)
    kept = {column: one for column, one in found.items() if one[0] >= _EXPLAINS}
    return dict(sorted(kept.items(), key=lambda one: -one[1][0]))


def _correlated(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    share = max(_square(x, y), _square(rankdata(x), rankdata(y)))
    freedom = x.size - 2
    if freedom < 1:
        return 0.0, 1.0
    # No order of few rows is less likely than one in all orders, forwards or backwards.
    least = float(2 * np.exp(-gammaln(x.size + 1)))
    return share, max(least, float(2 * student.sf(np.sqrt(freedom * share / max(1.0 - share, 1e-15)), freedom)))


def _square(x: FloatArray, y: FloatArray) -> float:
    """The squared correlation; 0 for a constant. Sums of large numbers would overflow."""
    x, y = (one / (np.abs(one).max(initial=0.0) or 1.0) for one in (x, y))
    x, y = x - x.mean(), y - y.mean()
    both = float((x**2).sum() * (y**2).sum())
    return float(x @ y) ** 2 / both if both > 1e-28 else 0.0


def _of_levels(column: pl.Series, y: FloatArray) -> tuple[float, float]:
    """The share of the variance between the levels of a nominal column; a shuffled column would not reach it."""
    known = column.is_not_null().to_numpy()
    levels, places = np.unique(column.drop_nulls().cast(pl.String).to_numpy().astype(object), return_inverse=True)
    target = y[known] - (y[known].mean() if known.any() else 0.0)
    if 2 * target.size < y.size or target.size < _LEVEL_ROWS * levels.size or not target.any():
        return 0.0, 1.0
    between = np.bincount(places, weights=target) ** 2 / np.bincount(places)
    return float(between.sum() / (target**2).sum()), 0.0


def of_target(data: Dataset) -> Iterator[Remark]:
    """Ties, outliers and skewness of the target."""
    known = target_values(data)
    if known is None or not known["deviation"]:
        return
    y, common = np.asarray(data.y, dtype=np.float64), known["common"]
    if common is not None and common["rows"] > _TIED * y.size:
        yield (
            f"{common['rows'] / y.size:.0%} of the rows have the same number, {significant(common['value'])}.",
            "Whether a row has this number, and what the others have, may be two questions, each for its own model.",
            "note",
        )
    elif known["distinct"] <= _FEW:
        yield (
            f"The target has {known['distinct']} different numbers.",
            "If they are names or grades, predict them as classes.",
            "note",
        )
    reach = _FAR * (known["third"] - known["first"])
    far = (y < known["first"] - reach) | (y > known["third"] + reach) if reach > 0 else np.zeros(y.size, dtype=bool)
    skewness = float((((y - y.mean()) / y.std()) ** 3).mean())
    if far.any():
        numbered = [f"row {row + 1} ({significant(y[row])})" for row in np.flatnonzero(far).tolist()]
        rows = counted(int(far.sum()), "row lies", "rows lie")
        log = " The logarithm of the target may be easier to predict." if skewness > _SKEWED and y.min() > 0 else ""
        yield (
            f"{rows} more than 3 interquartile ranges beyond the quartiles of the target: {some(numbered)}.",
            f"The RMSE depends much on a few such rows; the MAE and Spearman's correlation depend less.{log}",
            "note",
        )


def of_estimate(validation: Validation, facts: dict[str, Any]) -> Iterator[Remark]:
    """What makes the error uncertain, or look too small; `facts` are those of the leak and of the search."""
    metric = validation.metrics[0]
    honest = validation.estimates[metric.name]
    chance = mean_alone(metric, validation.predictions.truth)
    # Of a metric with units the error of the mean tells what is large.
    scale = abs(chance) if chance else 1.0

    def written(value: float) -> str:
        return metric_text(metric.name, value)

    if np.isfinite(honest.se):
        low, high = interval(honest, metric)
        ends = f"{written(low)} to {written(high)}"
        if high - low > _WIDTH * scale:
            yield (
                f"The {metric.title} is only known to lie between {written(low)} and {written(high)}.",
                "There are too few rows, or the folds differ too much, to know more; another sample may differ.",
                "warning",
            )
        if low <= chance <= high:
            yield (
                f"The {metric.title} of the mean alone, {written(chance)}, is in the interval of the model, {ends}.",
                "The model is not shown to predict anything.",
                "warning",
            )
    if validation.n_test.size == 1 and validation.n_test[0] < _TEST_ROWS:
        yield (
            f"The error rests on one test set of {validation.n_test[0]} rows.",
            "A few rows decide it; another sample may differ.",
            "warning",
        )
    yield from _of_concentration(validation)
    if (one := facts["search"]) and one["optimism"] > _OPTIMISM * scale:
        inner = written(one["inner_estimate"])
        yield (
            f"The inner estimate of {metric.title} is {inner}; unseen rows: {written(one['honest'])}.",
            f"The best of many models looks too good, here by {written(one['optimism'])}; trust the latter.",
            "warning",
        )
    if (one := facts["leak"]) and one["optimism"] > _OPTIMISM * scale:
        leaky, nested = written(one["leaky"]["mean"]), written(one["nested"]["mean"])
        yield (
            f"Features selected on all rows would have given {metric.title} {leaky} in place of {nested}.",
            f"That is {written(one['optimism'])} too good: never select features before the rows are split.",
            "note",
        )


def _of_concentration(validation: Validation) -> Iterator[Remark]:
    """Whether a few rows make up much of the squared error."""
    predictions = validation.predictions
    place = np.unique(predictions.row, return_inverse=True)[1]
    squares = np.bincount(place, weights=(predictions.truth - predictions.label) ** 2)
    few = int(np.ceil(squares.size / 100))
    share = float(np.sort(squares)[-few:].sum() / max(squares.sum(), np.finfo(np.float64).tiny))
    if squares.size >= _TEST_ROWS and share > _CONCENTRATED:
        yield (
            f"{counted(few, 'row makes', 'rows make')} up {share:.0%} of the squared error.",
            "Look at these rows: the RMSE says little of all others, the MAE says more.",
            "note",
        )
