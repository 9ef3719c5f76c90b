"""Equal rows and columns, found by digests of their values; a sparse matrix is never made dense."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.types import Codes, FloatArray, Matrix

#: Values of a dense matrix that are copied at a time.
_BLOCK = 4_000_000

#: More stored values than this are not compared.
_MOST_VALUES = 200_000_000


def too_large(X: Any) -> str | None:
    """Why duplicates are not searched for, where the data has too many values; else None."""
    if (X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1]) <= _MOST_VALUES:
        return None
    return f"duplicates were not looked for among more than {_MOST_VALUES:,} values"


def equal_rows(X: Any) -> Codes:
    """Number the distinct rows of a matrix or table, in order of first occurrence; missing values are equal.

    >>> equal_rows(np.array([[1.0], [2.0], [1.0]]))
    array([0, 1, 0])
    """
    if isinstance(X, pl.DataFrame):
        return _numbered(X.hash_rows().to_list())
    return _numbered(_compressed(clean(X.tocsr())) if sp.issparse(X) else _lines(X))


def row_digests(X: Any) -> np.ndarray:
    """A number for every row, equal for equal rows, by which rows are known again; whatever the type of the numbers.

    >>> row_digests(np.array([[1.0], [2.0]], dtype=np.float32)).tolist() == row_digests(np.array([[1], [2]])).tolist()
    True
    """
    if isinstance(X, pl.DataFrame):
        return X.hash_rows().to_numpy()
    if sp.issparse(X):
        digests: Iterable[bytes] = _compressed(clean(X.tocsr().astype(np.float64)))
    else:
        height = max(1, _BLOCK // max(1, X.shape[1]))
        blocks = (np.asarray(X[first : first + height], dtype=np.float64) for first in range(0, X.shape[0], height))
        digests = (line for block in blocks for line in _lines(block))
    return np.fromiter((int.from_bytes(one[:8], "little") for one in digests), dtype=np.uint64, count=X.shape[0])


def equal_columns(X: Any) -> Codes:
    """Number the distinct columns, like :func:`equal_rows`."""
    if isinstance(X, pl.DataFrame):
        return _numbered(_table_columns(X))
    return _numbered(_compressed(clean(X.tocsc())) if sp.issparse(X) else _lines(X.T))


def clean(X: Matrix) -> Matrix:
    """A copy with sorted indices and neither duplicates nor stored zeros, so that equal lines have equal bytes."""
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def _numbered(digests: Iterable[Any]) -> Codes:
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault(one, len(seen)) for one in digests], dtype=np.intp)


def _lines(X: FloatArray) -> Iterator[bytes]:
    """A digest of every row; -0 counts as 0."""
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
