"""The mean of a target of numbers against a feature, and the distribution of the feature."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from tamis.base.types import Codes, FloatArray
from tamis.data.dataset import Dataset
from tamis.data.numeric_columns import numbers
from tamis.reporting.distributions import FEATURES, FEW, box, nominal_bins, numeric_bins
from tamis.validation.json_values import plain

#: Groups of rows, by the value of a numeric feature, whose target is averaged.
_GROUPS = 10


def numeric_distributions(data: Dataset, columns: Sequence[int] | np.ndarray) -> list[dict[str, Any]]:
    """Average the target along each feature, and count the rows along it.

    Rows are averaged in ten groups of the same size in the order of a numeric feature, equal values in one group; with
    at most 12 distinct values each has a group. A nominal feature has a group for each level. The counts are those of
    :func:`tamis.reporting.distributions.distributions`. Only the first 60 columns are taken.

    Returns
    -------
    list of dict
        ``name``, ``kind`` ("numeric" or "nominal"), ``counts``, ``edges`` of the bins (None if nominal), ``levels``
        (None if numeric), ``missing``, ``box`` (the ends of the whiskers with the quartiles between them; None if
        nominal or without finite values), and ``means``: lists ``at`` (the mean of the feature in the group, or the
        number of the level), ``mean`` of the target, its standard error ``se`` (None for a single row) and ``count``.

    Examples
    --------
    >>> y = np.array([1.0, 3.0, 4.0, 6.0])
    >>> data = Dataset(np.array([[0.0], [0.0], [1.0], [1.0]]), y, np.array(["u"]), task="regress")
    >>> numeric_distributions(data, [0])[0]["means"]
    {'at': [0.0, 1.0], 'mean': [2.0, 5.0], 'se': [1.0, 1.0], 'count': [2, 2]}
    """
    nominal, y = data.nominal, np.asarray(data.y, dtype=np.float64)
    shown = np.asarray(columns, dtype=np.intp)[:FEATURES]
    numeric = shown[~nominal[shown]]
    values = dict(zip(numeric.tolist(), numbers(data, numeric).T, strict=True))
    found = []
    for column in shown.tolist():
        own = values.get(column)
        bins = nominal_bins(data.X.to_series(column)) if own is None else numeric_bins(own)
        if own is None:
            means = _means(bins.places, np.arange(bins.size, dtype=np.float64)[bins.places], y[bins.known])
        else:
            finite = np.isfinite(own)
            means = _means(_groups(own[finite]), own[finite], y[finite])
        found.append(
            {
                "name": str(data.feature_names[column]),
                "kind": "nominal" if own is None else "numeric",
                "counts": plain(np.bincount(bins.places, minlength=bins.size)),
                "edges": plain(bins.edges),
                "levels": bins.levels,
                "missing": int((~bins.known).sum()),
                "box": None if own is None else box(own),
                "means": means,
            }
        )
    return found


def _groups(values: FloatArray) -> Codes:
    """The group of each value."""
    distinct, places = np.unique(values, return_inverse=True)
    if distinct.size <= FEW:
        return places
    return ((rankdata(values) - 0.5) * _GROUPS / values.size).astype(np.intp)


def _means(groups: Codes, at: FloatArray, y: FloatArray) -> dict[str, list[Any]]:
    n = np.bincount(groups)
    there = np.flatnonzero(n)
    n = n[there]
    place, mean = (np.bincount(groups, weights=one)[there] / n for one in (at, y))
    rest = y - np.bincount(groups, weights=y)[groups] / np.bincount(groups)[groups]
    squares = np.bincount(groups, weights=rest**2)[there]
    se = [float(np.sqrt(s / (k - 1) / k)) if k > 1 else None for s, k in zip(squares, n, strict=True)]
    return {"at": _short(place), "mean": _short(mean), "se": _short(se), "count": plain(n)}


def _short(values: Sequence[float | None] | FloatArray) -> list[float | None]:
    """Six digits, as elsewhere in the table of features."""
    return [None if one is None or not np.isfinite(one) else float(f"{one:.6g}") for one in values]
