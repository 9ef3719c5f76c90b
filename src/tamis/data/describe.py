"""What is in a data set, as plain facts: sizes, kinds, gaps, constants, duplicates, classes, parts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.data.dataset import Dataset
from tamis.data.repeats import clean, equal_columns, equal_rows, too_large

#: Values of a dense matrix that are looked at in one go.
_BLOCK = 4_000_000

#: Above this many classes they are not listed.
_MOST_CLASSES = 200


@dataclass(frozen=True)
class _Columns:
    """Counts of values and of columns, and the range of the finite numbers (infinities where there are none)."""

    missing: int = 0
    with_missing: int = 0
    infinite: int = 0
    constant: int = 0
    low: float = np.inf
    high: float = -np.inf

    def __add__(self, other: "_Columns") -> "_Columns":
        return _Columns(
            self.missing + other.missing,
            self.with_missing + other.with_missing,
            self.infinite + other.infinite,
            self.constant + other.constant,
            min(self.low, other.low),
            max(self.high, other.high),
        )


def describe(data: Dataset) -> dict[str, Any]:
    """The facts of a data set as a dict that ``json.dumps`` takes as it is.

    Cost is a few passes over the stored values; a sparse matrix is never made dense.

    Returns
    -------
    dict
        ``name``, ``target``, ``rows``, ``features``; ``kind`` ("dense", "sparse" or "table") and ``dtype`` (None
        for a table); ``numeric`` and ``nominal`` (columns); ``density`` (share of values that are not zero, None
        unless sparse); ``missing`` and ``infinite`` (values), ``columns_with_missing``; ``constant_columns``
        (at most one distinct known value); ``duplicate_columns`` and ``duplicate_rows`` (equal to an earlier
        one; None when not looked for); ``range`` (lowest and highest finite number, or None); ``classes``
        (label to rows, None when there are too many), ``smallest_class`` (its rows); ``split`` and
        ``unlabelled`` (part to rows), ``groups`` (their number), ``roles`` (role to columns), each None when the
        data set has none; ``notes`` (sentences on what was not looked at).

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
    low, high = columns.low, columns.high
    duplicate_columns, duplicate_rows = _duplicates(X, notes)
    return {
        "name": data.name,
        "target": data.target,
        "rows": data.n_rows,
        "features": data.n_features,
        "kind": "sparse" if data.is_sparse else "table" if isinstance(X, pl.DataFrame) else "dense",
        "dtype": None if isinstance(X, pl.DataFrame) else str(X.dtype),
        "numeric": data.n_features - nominal,
        "nominal": nominal,
        "density": X.nnz / max(1, data.n_rows * data.n_features) if data.is_sparse else None,
        "missing": columns.missing,
        "columns_with_missing": columns.with_missing,
        "infinite": columns.infinite,
        "constant_columns": columns.constant,
        "duplicate_columns": duplicate_columns,
        "duplicate_rows": duplicate_rows,
        "range": [float(low), float(high)] if low <= high else None,
        **_classes(data.y, notes),
        "split": None if data.split is None else _counts(data.split),
        "unlabelled": {part: int(rows.shape[0]) for part, rows in data.unlabelled.items()} or None,
        "groups": None if data.groups is None else len(np.unique(data.groups)),
        "roles": None if data.roles is None else _counts(data.roles),
        "notes": notes,
    }


def _counts(values: np.ndarray) -> dict[str, int]:
    """How often each value occurs, in the order of the values."""
    distinct, counts = np.unique(values, return_counts=True)
    return {str(value): int(count) for value, count in zip(distinct.tolist(), counts, strict=True)}


def _classes(y: np.ndarray, notes: list[str]) -> dict[str, Any]:
    counts = _counts(y)
    if len(counts) > _MOST_CLASSES:
        notes.append(f"{len(counts)} distinct labels are too many to list; is the target a number to predict?")
        return {"classes": None, "smallest_class": None}
    return {"classes": counts, "smallest_class": min(counts.values(), default=None)}


def _columns(X: Any) -> _Columns:
    if isinstance(X, pl.DataFrame):
        return sum((_table_column(column) for column in X), _Columns())
    if sp.issparse(X):
        return _sparse_columns(X)
    width = max(1, _BLOCK // max(1, X.shape[0]))
    blocks = (X[:, first : first + width] for first in range(0, X.shape[1], width))
    return sum((_dense_columns(block) for block in blocks), _Columns())


def _dense_columns(X: FloatArray) -> _Columns:
    missing = np.isnan(X).sum(axis=0)
    low, high = np.fmin.reduce(X, axis=0, initial=np.inf), np.fmax.reduce(X, axis=0, initial=-np.inf)
    finite = X[np.isfinite(X)]
    return _Columns(
        missing=int(missing.sum()),
        with_missing=int((missing > 0).sum()),
        infinite=int(X.size - finite.size - missing.sum()),
        constant=int((low >= high).sum()),
        low=float(finite.min(initial=np.inf)),
        high=float(finite.max(initial=-np.inf)),
    )


def _sparse_columns(X: Matrix) -> _Columns:
    if not X.shape[0]:
        return _Columns(constant=X.shape[1])
    missing = np.isnan(X.data)
    finite = X.data[np.isfinite(X.data)]
    if X.nnz < X.shape[0] * X.shape[1]:
        finite = np.append(finite, 0.0)
    low, high = min_max_axis(X, axis=0, ignore_nan=True)
    owner = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    return _Columns(
        missing=int(missing.sum()),
        with_missing=len(np.unique(owner[missing])),
        infinite=int(np.isinf(X.data).sum()),
        constant=int((~(low < high)).sum()),
        low=float(finite.min(initial=np.inf)),
        high=float(finite.max(initial=-np.inf)),
    )


def _table_column(column: pl.Series) -> _Columns:
    if not column.dtype.is_numeric():
        known = column.drop_nulls()
        missing = len(column) - len(known)
        return _Columns(missing, int(missing > 0), constant=int(known.n_unique() <= 1))
    return _dense_columns(column.cast(pl.Float64).to_numpy()[:, None])


def _duplicates(X: Any, notes: list[str]) -> tuple[int | None, int | None]:
    """How many columns, and how many rows, are equal to an earlier one."""
    if why := too_large(X):
        notes.append(why)
        return None, None
    return _repeats(equal_columns(X)), _repeats(equal_rows(X))


def _repeats(numbers: Codes) -> int:
    return int(numbers.size - np.unique(numbers).size)
