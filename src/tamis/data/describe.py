"""Description of a data set: sizes, kinds, columns to leave out, missing values, duplicates, classes, parts."""

from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.types import FloatArray, Matrix
from tamis.data.column_plan import ColumnPlan
from tamis.data.column_sense import plan_of
from tamis.data.dataset import Dataset
from tamis.data.duplicates import clean, equal_columns, equal_rows, too_large

#: Values of a dense matrix that are read at a time.
_BLOCK = 4_000_000

#: More classes than this are not listed.
_MOST_CLASSES = 200


def describe(data: Dataset) -> dict[str, Any]:
    """Describe a data set in a dict that ``json.dumps`` takes.

    The cost is a few passes over the stored values; a sparse matrix is never made dense.

    Parameters
    ----------
    data : Dataset

    Returns
    -------
    dict
        ``name``, ``target``, ``rows``, ``features``; ``kind`` ("dense", "sparse" or "table") and ``dtype`` (None
        for a table); ``numeric`` and ``nominal`` (columns, as they are stored); ``identifiers``, ``dates`` and
        ``free_text`` (columns among them that :func:`tamis.data.column_sense.sense` recognises), ``left_out`` (column
        to the reason for which it leaves it out) and ``column_warnings`` (column to what is suspicious about it), None
        when there are none; ``density`` (share of non-zero values, None
        unless sparse); ``missing`` and ``infinite`` (values), ``columns_with_missing``; ``constant_columns``
        (at most one distinct known value); ``duplicate_columns`` and ``duplicate_rows`` (equal to an earlier
        one; None when the data is too large to compare them); ``range`` (lowest and highest finite number, or
        None); ``task`` ("classify" or "regress"), ``classes`` (label to rows, None when there are too many),
        ``smallest_class`` (its rows) and ``numbers`` (lowest, mean, highest and deviation of a numeric target);
        ``split`` and ``unlabelled`` (part to rows), ``groups`` (their number), ``roles`` (role to columns), each None
        when the data set has none; ``notes`` (sentences on what was skipped).

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.data.dataset import Dataset
    >>> from tamis.data.describe import describe
    >>> X = np.array([[1.0, 5.0], [2.0, 5.0], [np.nan, 5.0]])
    >>> facts = describe(Dataset(X, np.array(["a", "b", "a"]), np.array(["u", "v"])))
    >>> facts["classes"], facts["missing"], facts["constant_columns"], facts["range"]
    ({'a': 2, 'b': 1}, 1, 1, [1.0, 5.0])
    """
    notes: list[str] = []
    nominal = int(data.nominal.sum())
    X = clean(data.X.tocsc()) if data.is_sparse else data.X
    columns = _columns(X)
    missing, infinite, constant = columns[:3].sum(axis=1).astype(int).tolist()
    low, high = columns[3].min(initial=np.inf), columns[4].max(initial=-np.inf)
    duplicates: list[int | None] = [None, None]
    if why := too_large(X):
        notes.append(why)
    else:
        duplicates = [numbers.size - np.unique(numbers).size for numbers in (equal_columns(X), equal_rows(X))]
    return {
        "name": data.name,
        "target": data.target,
        "rows": data.n_rows,
        "features": data.n_features,
        "kind": "sparse" if data.is_sparse else "table" if isinstance(X, pl.DataFrame) else "dense",
        "dtype": None if isinstance(X, pl.DataFrame) else str(X.dtype),
        "numeric": data.n_features - nominal,
        "nominal": nominal,
        **_sensed(plan_of(data).after(data.plan)),
        "density": X.nnz / max(1, data.n_rows * data.n_features) if data.is_sparse else None,
        "missing": missing,
        "columns_with_missing": int(np.count_nonzero(columns[0])),
        "infinite": infinite,
        "constant_columns": constant,
        "duplicate_columns": duplicates[0],
        "duplicate_rows": duplicates[1],
        "range": [float(low), float(high)] if low <= high else None,
        "task": data.task,
        **_target(data, notes),
        "split": None if data.split is None else _counts(data.split),
        "unlabelled": {part: int(rows.shape[0]) for part, rows in data.unlabelled.items()} or None,
        "groups": None if data.groups is None else len(np.unique(data.groups)),
        "roles": None if data.roles is None else _counts(data.roles),
        "notes": notes,
    }


def _sensed(plan: ColumnPlan) -> dict[str, Any]:
    """The columns that are not features as they stand, and the suspicious ones."""
    starts = {"identifiers": ("an identifier", "whole numbers"), "dates": ("a date",), "free_text": ("free text",)}
    reasons = list(plan.left_out.values())
    return {
        **{kind: sum(reason.startswith(start) for reason in reasons) for kind, start in starts.items()},
        "left_out": dict(plan.left_out) or None,
        "column_warnings": dict(plan.warnings) or None,
    }


def _counts(values: np.ndarray) -> dict[str, int]:
    """Number of occurrences of each value, in the order of the values."""
    distinct, counts = np.unique(values, return_counts=True)
    return {str(value): int(count) for value, count in zip(distinct.tolist(), counts, strict=True)}


def _target(data: Dataset, notes: list[str]) -> dict[str, Any]:
    if data.task == "regress":
        y = data.y
        known = {"lowest": y.min(), "mean": y.mean(), "highest": y.max(), "deviation": y.std()}
        return {"classes": None, "smallest_class": None, "numbers": {name: float(v) for name, v in known.items()}}
    counts = _counts(data.y)
    if len(counts) > _MOST_CLASSES:
        notes.append(f"{len(counts)} distinct labels are too many to list; is the target a number to predict?")
        return {"classes": None, "smallest_class": None, "numbers": None}
    return {"classes": counts, "smallest_class": min(counts.values(), default=None), "numbers": None}


def _columns(X: Any) -> FloatArray:
    """For each column: missing values, infinite values, whether it is constant, lowest and highest finite number."""
    if sp.issparse(X):
        return _sparse_columns(X)
    if isinstance(X, pl.DataFrame):
        found = [_table_column(column) for column in X]
    else:
        width = max(1, _BLOCK // max(1, X.shape[0]))
        found = [_dense_columns(X[:, first : first + width]) for first in range(0, X.shape[1], width)]
    return np.hstack([np.empty((5, 0)), *found])


def _dense_columns(X: FloatArray) -> FloatArray:
    low, high = np.fmin.reduce(X, axis=0, initial=np.inf), np.fmax.reduce(X, axis=0, initial=-np.inf)
    constant, infinite = low >= high, np.isinf(X)
    if infinite.any():
        finite = np.where(infinite, np.nan, X)
        low, high = np.fmin.reduce(finite, axis=0, initial=np.inf), np.fmax.reduce(finite, axis=0, initial=-np.inf)
    return np.array([np.isnan(X).sum(axis=0), infinite.sum(axis=0), constant, low, high])


def _sparse_columns(X: Matrix) -> FloatArray:
    n_rows, n_columns = X.shape
    if not n_rows:
        return np.tile([[0.0], [0.0], [1.0], [np.inf], [-np.inf]], n_columns)
    from sklearn.utils.sparsefuncs import min_max_axis

    owner = np.repeat(np.arange(n_columns), np.diff(X.indptr))
    counts = [np.bincount(owner[odd], minlength=n_columns) for odd in (np.isnan(X.data), np.isinf(X.data))]
    low, high = min_max_axis(X, axis=0, ignore_nan=True)
    finite = np.append(X.data[np.isfinite(X.data)], [0.0] * (X.nnz < n_rows * n_columns))
    limits = np.full((n_columns, 2), [finite.min(initial=np.inf), finite.max(initial=-np.inf)]).T
    return np.array([*counts, ~(low < high), *limits])


def _table_column(column: pl.Series) -> FloatArray:
    if not column.dtype.is_numeric():
        return np.array([[column.null_count(), 0, column.drop_nulls().n_unique() <= 1, np.inf, -np.inf]]).T
    return _dense_columns(column.cast(pl.Float64).to_numpy()[:, None])
