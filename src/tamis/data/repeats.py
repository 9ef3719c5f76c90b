"""Rows and columns that are equal, found by digests of their values; a sparse matrix is never made dense."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.types import Codes, FloatArray, Matrix

#: Values of a dense matrix that are brought together in one go.
_BLOCK = 4_000_000

#: Above this many stored values nothing is looked for.
_MOST_VALUES = 200_000_000


def too_large(X: Any) -> str | None:
    """Why equals are not looked for, where data has too many values; None where they are."""
    if (X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1]) <= _MOST_VALUES:
        return None
    return f"duplicates were not looked for among more than {_MOST_VALUES:,} values"


def equal_rows(X: Any) -> Codes:
    """A number for each row of a matrix or table, the same for rows of the same values, missing ones too.

    Numbers are given in the order in which rows are first met.

    Examples
    --------
    >>> equal_rows(np.array([[1.0], [2.0], [1.0]]))
    array([0, 1, 0])
    """
    if isinstance(X, pl.DataFrame):
        return _numbered(X.hash_rows().to_list())
    return _numbered(_compressed(clean(X.tocsr())) if sp.issparse(X) else _lines(X))


def equal_columns(X: Any) -> Codes:
    """The same for columns."""
    if isinstance(X, pl.DataFrame):
        return _numbered(_table_columns(X))
    return _numbered(_compressed(clean(X.tocsc())) if sp.issparse(X) else _lines(X.T))


def clean(X: Matrix) -> Matrix:
    """A copy with its values in order, one to a place and none of them zero: equal lines, equal bytes."""
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def _numbered(digests: Iterable[Any]) -> Codes:
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault(one, len(seen)) for one in digests], dtype=np.intp)


def _lines(X: FloatArray) -> Iterator[bytes]:
    """A digest of every row; minus zero counts as zero."""
    height = max(1, _BLOCK // max(1, X.shape[1]))
    for first in range(0, X.shape[0], height):
        for line in np.ascontiguousarray(X[first : first + height]) + 0.0:
            yield blake2b(line, digest_size=16).digest()


def _table_columns(X: pl.DataFrame) -> Iterator[bytes]:
    for column in X:
        digest = blake2b(str(column.dtype).encode(), digest_size=16)
        digest.update(column.hash().to_numpy().tobytes())
        yield digest.digest()


def _compressed(X: Matrix) -> Iterator[bytes]:
    """A digest of every row of a CSR, or every column of a CSC matrix."""
    for start, end in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
        digest = blake2b(X.indices[start:end], digest_size=16)
        digest.update(X.data[start:end])
        yield digest.digest()
