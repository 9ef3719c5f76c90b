"""The direction of effect of a feature: in which class it is higher, and by how much."""

from collections.abc import Sequence
from math import hypot, sqrt
from typing import Any

import numpy as np
import polars as pl

from tamis.base.types import Codes, FloatArray
from tamis.compose.quick_scores import has_classes
from tamis.data.dataset import Dataset
from tamis.data.numeric_columns import numbers
from tamis.reporting.rates import wilson

#: Features examined, and most levels of a nominal one.
_FEATURES, _LEVELS = 60, 200

#: Deviations below this are rounding errors.
_ROUNDING = 1e-14

#: Standard errors to each side of the mean that hold 95 % of a normal distribution.
_REACH = 1.959963984540054


def effects(data: Dataset, columns: Sequence[int] | np.ndarray) -> list[dict[str, Any] | None] | None:
    """The effect of each of the first 60 columns, on all rows; None without classes.

    A numeric column has the difference of its means in units of the standard deviation within the classes (Cohen's d),
    with the large-sample interval of Hedges and Olkin. A nominal column has the level whose share differs most, with
    Newcombe's interval of the difference. Of two classes the one that has more is reported; of more classes, each is
    compared with all others, and the one that differs most is reported. Missing and infinite values are left out.

    Returns
    -------
    list of (dict or None), or None
        ``class``, ``level`` (None if numeric), ``size`` (above zero where the class has more), ``low`` and ``high``.
        None for a column with nothing to compare: a constant, or one that is known in one class alone.

    References
    ----------
    Hedges and Olkin, "Statistical Methods for Meta-Analysis", 1985, section 5.E.
    Newcombe, "Interval estimation for the difference between independent proportions", Statist. Med. 17 (1998).

    Examples
    --------
    >>> X = np.array([[0.0], [2.0], [3.0], [5.0]])
    >>> (found,) = effects(Dataset(X, np.array(["a", "a", "b", "b"]), np.array(["u"])), [0])
    >>> found["class"], round(found["size"], 3)
    ('b', 2.121)
    """
    if not has_classes(data):
        return None
    shown = np.asarray(columns, dtype=np.intp)[:_FEATURES]
    classes, codes = np.unique(data.y, return_inverse=True)
    words = [str(label) for label in classes.tolist()]
    nominal = data.nominal
    numeric = shown[~nominal[shown]]
    values = dict(zip(numeric.tolist(), numbers(data, numeric).T, strict=True))
    found = [
        _nominal(data.X.to_series(column), codes, words) if nominal[column] else _numeric(values[column], codes, words)
        for column in shown.tolist()
    ]
    return [_higher(one, words) if len(words) == 2 else one for one in found]


def _numeric(values: FloatArray, codes: Codes, words: list[str]) -> dict[str, Any] | None:
    known = np.isfinite(values)
    values, codes = values[known], codes[known]
    if not values.size:
        return None
    # Sums of large numbers would overflow or lose digits.
    values = values / (np.abs(values).max() or 1.0)
    values = values - values.mean()
    widest = np.abs(values).max()
    if widest <= _ROUNDING:
        return None
    values = values / widest
    n = np.bincount(codes, minlength=len(words)).astype(float)
    total = np.bincount(codes, weights=values, minlength=len(words))
    within = values - (total / np.maximum(n, 1.0))[codes]
    freedom = values.size - np.count_nonzero(n)
    sd = sqrt((within**2).sum() / freedom) if freedom > 0 else 0.0
    if sd <= _ROUNDING:
        return None
    found = []
    for c in _compared(n):
        others = n.sum() - n[c]
        size = float(total[c] / n[c] - (total.sum() - total[c]) / others) / sd
        reach = _REACH * sqrt((n[c] + others) / (n[c] * others) + size**2 / (2 * (n[c] + others)))
        found.append({"class": words[c], "level": None, "size": size, "low": size - reach, "high": size + reach})
    return _largest(found)


def _nominal(column: pl.Series, codes: Codes, words: list[str]) -> dict[str, Any] | None:
    known = column.is_not_null().to_numpy()
    levels, places = np.unique(column.drop_nulls().cast(pl.String).to_numpy().astype(object), return_inverse=True)
    if not 2 <= levels.size <= _LEVELS:
        return None
    counts = np.zeros((len(words), levels.size))
    np.add.at(counts, (codes[known], places), 1.0)
    n = counts.sum(axis=1)
    found = []
    for c in _compared(n):
        others = n.sum() - n[c]
        own, rest = counts[c] / n[c], (counts.sum(axis=0) - counts[c]) / others
        level = int(np.argmax(np.abs(own - rest)))
        compared = _difference(own[level], n[c], rest[level], others)
        found.append({"class": words[c], "level": str(levels[level]), **compared})
    return _largest(found)


def _compared(n: FloatArray) -> list[int]:
    """The classes that are compared with all others: the second of two, else every one; both sides must have rows."""
    candidates = [1] if n.size == 2 else range(n.size)
    return [c for c in candidates if 0 < n[c] < n.sum()]


def _higher(one: dict[str, Any] | None, words: list[str]) -> dict[str, Any] | None:
    """The same effect, reported for that of two classes that has more."""
    if one is None or one["size"] >= 0:
        return one
    other = words[1 - words.index(one["class"])]
    return {**one, "class": other, "size": -one["size"], "low": -one["high"], "high": -one["low"]}


def _largest(found: list[dict[str, Any]]) -> dict[str, Any] | None:
    return max(found, key=lambda one: round(abs(one["size"]), 12), default=None)


def _difference(one: float, n_one: float, other: float, n_other: float) -> dict[str, float]:
    """The difference of two shares with Newcombe's interval."""
    (low, high), (other_low, other_high) = wilson(one, n_one), wilson(other, n_other)
    size = one - other
    return {
        "size": float(size),
        "low": float(size - hypot(one - low, other_high - other)),
        "high": float(size + hypot(high - one, other - other_low)),
    }
