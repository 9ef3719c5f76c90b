"""The quality of columns: missing values, levels, outliers, constants and copies."""

from typing import Any

import numpy as np
import polars as pl

from tamis.base.types import FloatArray, Mask
from tamis.data.dataset import Dataset
from tamis.data.duplicates import equal_columns, too_large
from tamis.data.numeric_columns import numbers
from tamis.data.word_counts import WordCounts
from tamis.reporting.honesty import constant_columns
from tamis.validation.json_values import plain

#: Columns listed, columns with a remark among them, columns listed however many rows there are, and values read.
_LISTED, _REMARKED, _LEAST, _VALUES = 300, 150, 20, 10_000_000


def quality(data: Dataset, columns: np.ndarray) -> dict[str, Any] | None:
    """The quality of some columns: those with missing values, constants and copies, then the others, as given.

    At most 300 columns are listed, fewer where there are many rows. An outlier lies more than 1.5 interquartile ranges
    beyond the quartiles.

    Returns
    -------
    dict or None
        ``n`` (columns of the data), ``remarked`` (of these with missing values, constant or a copy), ``compared``
        (whether copies were looked for), and ``table``, its columns as lists: ``name``, ``kind`` (numeric, nominal or
        word), ``missing`` (share of the rows), ``levels`` (distinct known values), ``outliers`` (share of the known
        values; None if nominal or if the quartiles are the same), ``constant``, ``copy_of`` (name of the first equal
        column, or None). None without rows.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0, 1.0], [2.0, 5.0, 2.0], [np.nan, 5.0, np.nan]])
    >>> table = quality(Dataset(X, np.array([0, 1, 0]), np.array(["u", "v", "w"])), np.array([0]))["table"]
    >>> table["name"], table["levels"], table["constant"], table["copy_of"]
    (['u', 'v', 'w'], [2, 1, 2], [False, True, False], [None, None, 'u'])
    """
    if not data.n_rows:
        return None
    compared = not too_large(data.X)
    own = np.arange(data.n_features)
    first = _first_equal(data) if compared else own
    missing, constant = _missing(data), constant_columns(data)
    remarked = (missing > 0) | constant | (first != own)
    listed = _listed(data, np.asarray(columns, dtype=np.intp), remarked)
    levels, outliers = _examined(data, listed)
    names = [str(name) for name in data.feature_names.tolist()]
    return {
        "n": data.n_features,
        "remarked": int(remarked.sum()),
        "compared": compared,
        "table": {
            "name": [names[column] for column in listed.tolist()],
            "kind": _kinds(data)[listed].tolist(),
            "missing": plain((missing[listed] / data.n_rows).round(6)),
            "levels": levels,
            "outliers": outliers,
            "constant": plain(constant[listed]),
            "copy_of": [None if first[column] == column else names[first[column]] for column in listed.tolist()],
        },
    }


def _kinds(data: Dataset) -> np.ndarray:
    """What each column is: numeric, nominal or a word of a text."""
    if isinstance(data.X, WordCounts) and data.X.vocabulary is not None:
        return np.where(data.X.vocabulary.is_word, "word", "numeric")
    return np.where(data.nominal, "nominal", "numeric")


def _listed(data: Dataset, columns: np.ndarray, remarked: Mask) -> np.ndarray:
    """The columns with a remark, in the given order as well, and the given columns, as many as there is time for."""
    most = int(np.clip(_VALUES // data.n_rows, _LEAST, _LISTED))
    place = np.full(data.n_features, columns.size)
    place[columns] = np.arange(columns.size)
    odd = np.flatnonzero(remarked)
    odd = odd[np.argsort(place[odd], kind="stable")][: min(_REMARKED, most // 2)]
    return np.concatenate([odd, columns[~np.isin(columns, odd)][: most - odd.size]])


def _first_equal(data: Dataset) -> np.ndarray:
    """The first column that is equal to each."""
    _, first, inverse = np.unique(equal_columns(data.X), return_index=True, return_inverse=True)
    return np.asarray(first[inverse])


def _missing(data: Dataset) -> np.ndarray:
    """The number of missing values of each column."""
    X = data.X
    if isinstance(X, pl.DataFrame):
        return np.array([column.null_count() for column in X.iter_columns()], dtype=np.intp)
    if not data.is_sparse:
        return np.asarray(np.isnan(X).sum(axis=0))
    known = X.tocsr()
    return np.bincount(known.indices[np.isnan(known.data)], minlength=data.n_features)


def _examined(data: Dataset, columns: np.ndarray) -> tuple[list[int], list[float | None]]:
    """The number of levels of each column, and its share of outliers."""
    numeric = columns[~data.nominal[columns]]
    known = {
        column: own[~np.isnan(own)] for column, own in zip(numeric.tolist(), numbers(data, numeric).T, strict=True)
    }
    levels = [
        int(np.unique(known[column]).size if column in known else data.X.to_series(column).drop_nulls().n_unique())
        for column in columns.tolist()
    ]
    return levels, [_outliers(known[column]) if column in known else None for column in columns.tolist()]


def _outliers(values: FloatArray) -> float | None:
    """The share beyond 1.5 interquartile ranges; None where the quartiles are the same."""
    if not values.size or not np.isfinite(values).all():
        return None
    low, high = np.percentile(values, [25, 75])
    reach = 1.5 * (high - low)
    if not reach > 0:
        return None
    return round(float(((values < low - reach) | (values > high + reach)).mean()), 6)
