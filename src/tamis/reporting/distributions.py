"""The distribution of a feature's values in each class."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from tamis.base.types import Codes, FloatArray, Mask
from tamis.data.dataset import Dataset
from tamis.data.numeric_columns import numbers
from tamis.validation.json_values import plain

#: Features drawn, bins of a numeric one, and distinct values up to which each has a bin of its own.
FEATURES, _BINS, FEW = 60, 24, 12
#: Most levels of a nominal feature, and most classes; the rest are "other".
_LEVELS, _CLASSES = 20, 12


class Bins(NamedTuple):
    """The rows with a known value, the bin of each, the number of bins, and their edges or levels."""

    known: Mask
    places: Codes
    size: int
    edges: FloatArray | None
    levels: list[str] | None


def distributions(data: Dataset, columns: Sequence[int] | np.ndarray) -> list[dict[str, Any]]:
    """Count the rows of each class in bins of each feature.

    A numeric feature has 24 bins of equal width from its 1st to its 99th percentile (from its lowest to its highest
    value where these two are the same); the outermost bins hold what lies beyond. With at most 12 distinct values it
    has a bin for each, halfway to its neighbours. A nominal feature has its most frequent level first; those after the
    20th are "other", and so are all classes but the 11 largest of more than 12. Only the first 60 columns are counted.

    Returns
    -------
    list of dict
        ``name``, ``kind`` ("numeric" or "nominal"), ``classes`` (``class`` and ``counts``), ``edges`` of the bins
        (None if nominal), ``levels`` (None if numeric), ``missing``; ``boxes``: for each class the ends of the whiskers
        with the quartiles between them, None for a class without finite values, or None if nominal. Whiskers end at the
        last value within 1.5 interquartile ranges of the box.

    Examples
    --------
    >>> data = Dataset(np.array([[0.0], [1.0], [1.0]]), np.array(["a", "a", "b"]), np.array(["u"]))
    >>> found = distributions(data, [0])[0]
    >>> found["edges"], found["classes"][0]
    ([-0.5, 0.5, 1.5], {'class': 'a', 'counts': [1, 1]})
    """
    words, codes = _classes(data.y)
    nominal = data.nominal
    shown = np.asarray(columns, dtype=np.intp)[:FEATURES]
    numeric = shown[~nominal[shown]]
    values = dict(zip(numeric.tolist(), numbers(data, numeric).T, strict=True))
    found = []
    for column in shown.tolist():
        bins = nominal_bins(data.X.to_series(column)) if nominal[column] else numeric_bins(values[column])
        cells = codes[bins.known] * bins.size + bins.places
        counts = np.bincount(cells, minlength=len(words) * bins.size).reshape(len(words), bins.size)
        found.append(
            {
                "name": str(data.feature_names[column]),
                "kind": "nominal" if nominal[column] else "numeric",
                "classes": [{"class": word, "counts": plain(row)} for word, row in zip(words, counts, strict=True)],
                "edges": plain(bins.edges),
                "levels": bins.levels,
                "missing": int((~bins.known).sum()),
                "boxes": None if nominal[column] else [box(values[column][codes == c]) for c in range(len(words))],
            }
        )
    return found


def box(values: FloatArray) -> list[float] | None:
    """The ends of the whiskers with the quartiles between them; None without finite values."""
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    first, median, third = np.percentile(values, [25, 50, 75])
    reach = 1.5 * (third - first)
    inside = values[(values >= first - reach) & (values <= third + reach)]
    # With few rows a quartile lies between two values, and the last value inside may be short of it.
    low, high = min(inside.min(), first), max(inside.max(), third)
    return [float(f"{value:.6g}") for value in (low, first, median, third, high)]


def _classes(y: np.ndarray) -> tuple[list[str], Codes]:
    """The names of the classes, and the number of each row's class."""
    classes, codes = np.unique(y, return_inverse=True)
    words = [str(label) for label in classes.tolist()]
    if len(words) <= _CLASSES:
        return words, codes
    largest = np.sort(np.argsort(-np.bincount(codes), kind="stable")[: _CLASSES - 1])
    place = np.full(len(words), largest.size)
    place[largest] = np.arange(largest.size)
    return [*(words[c] for c in largest.tolist()), "other"], place[codes]


def numeric_bins(values: FloatArray) -> Bins:
    """The bins of a numeric feature."""
    known = ~np.isnan(values)
    finite = values[np.isfinite(values)]
    distinct = np.unique(finite)
    if distinct.size == 0:
        edges = np.array([0.0, 1.0])
    elif distinct.size <= FEW:
        edges = _around(distinct)
    else:
        low, high = np.percentile(finite, [1, 99])
        low, high = (low, high) if low < high else (distinct[0], distinct[-1])
        edges = np.linspace(low, high, _BINS + 1)
    return Bins(known, np.searchsorted(edges[1:-1], values[known], side="right"), edges.size - 1, edges, None)


def _around(distinct: FloatArray) -> FloatArray:
    """Edges halfway between neighbouring values, and as far beyond the outermost ones."""
    between = distinct[:-1] / 2 + distinct[1:] / 2
    # A single value gets a bin that can be seen among numbers of its size.
    gaps = np.diff(distinct) if distinct.size > 1 else np.array([max(1.0, abs(distinct[0]) / 1000)])
    first, last = gaps[0], gaps[-1]
    return np.concatenate([[distinct[0] - first / 2], between, [distinct[-1] + last / 2]])


def nominal_bins(column: pl.Series) -> Bins:
    """The levels of a nominal feature."""
    known = column.is_not_null().to_numpy()
    text = column.drop_nulls().cast(pl.String)
    levels, counts = np.unique(text.to_numpy().astype(object), return_counts=True)
    common = [str(levels[k]) for k in np.argsort(-counts, kind="stable")[:_LEVELS]]
    if not common:
        return Bins(known, np.empty(0, dtype=np.intp), 0, None, [])
    places = text.replace_strict(common, list(range(len(common))), default=len(common), return_dtype=pl.Int64)
    named = [*common, "other"] if levels.size > len(common) else common
    return Bins(known, places.to_numpy(), len(named), None, named)
