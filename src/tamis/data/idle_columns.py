"""Columns that add nothing: constant ones, and exact copies of others."""

from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.types import FloatArray, Mask
from tamis.data.duplicates import equal_columns, too_large

#: Rows that are read of every column before any column is read in full: to find it constant, and equal to another.
_HEAD, _SPREAD = 16, 64
#: Columns of which those rows are compared at a time.
_COLUMNS = 1 << 14


def constant_columns(X: Any) -> Mask:
    """Mask of the columns with one value in all rows, or with none.

    Where some values are missing and the others equal, the column is not constant: which are missing may matter.

    >>> constant_columns(np.array([[1.0, 1.0, np.nan], [1.0, np.nan, np.nan]]))
    array([ True, False,  True])
    """
    if sp.issparse(X):
        from sklearn.utils.sparsefuncs import min_max_axis

        low, high = min_max_axis(X, axis=0)
        missing = np.bincount(X.tocsr().indices[np.isnan(X.tocsr().data)], minlength=X.shape[1])
        return np.asarray((low == high) | (missing == X.shape[0]))
    if isinstance(X, pl.DataFrame):
        return np.array([column.n_unique() <= 1 for column in X], dtype=bool)
    found = _same(X[:_HEAD])
    found[found] = _same(X[:, found])
    return found


def copies(X: Any, first: Mask) -> dict[int, int]:
    """The columns that are copies of another, by position, each with the one that stands for it.

    The earliest stands for its copies, or the earliest of those in the mask `first`. Sparse matrices and data with too
    many values are not compared.

    >>> copies(np.array([[1.0, 2.0, 1.0], [3.0, 4.0, 3.0]]), np.zeros(3, dtype=bool))
    {2: 0}
    """
    if sp.issparse(X) or too_large(X):
        return {}
    maybe = _alike(X)
    if maybe.size < 2:
        return {}
    groups = equal_columns(X[:, maybe.tolist()] if isinstance(X, pl.DataFrame) else X[:, maybe])
    found: dict[int, int] = {}
    leader: dict[int, int] = {}
    for wanted in (True, False):
        for j, group in zip(maybe.tolist(), groups.tolist(), strict=True):
            if bool(first[j]) == wanted and leader.setdefault(group, j) != j:
                found[j] = leader[group]
    return dict(sorted(found.items()))


def _same(X: FloatArray) -> Mask:
    missing = np.isnan(X)
    return np.asarray(((X[:1] == X) | (missing & missing[:1])).all(axis=0))


def _alike(X: Any) -> np.ndarray:
    """The columns that another column equals in a few rows."""
    if isinstance(X, pl.DataFrame):
        return np.arange(X.width)
    rows = np.unique(np.linspace(0, len(X) - 1, _SPREAD).astype(int))
    # Odd multipliers and arithmetic modulo 2^64: equal columns have equal sums whatever the order of addition.
    weights = (np.arange(len(rows), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
    sums = np.empty(X.shape[1], dtype=np.uint64)
    for first in range(0, X.shape[1], _COLUMNS):
        head = np.asarray(X[rows, first : first + _COLUMNS], dtype=np.float64) + 0.0  # -0 becomes 0
        head[np.isnan(head)] = np.nan
        sums[first : first + _COLUMNS] = (head.view(np.uint64) * weights[:, None]).sum(axis=0)
    _, place, count = np.unique(sums, return_inverse=True, return_counts=True)
    return np.flatnonzero(count[place] > 1)
