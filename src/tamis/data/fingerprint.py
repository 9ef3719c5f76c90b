"""The fingerprint of data: a digest that changes with any value, name or label."""

from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.base.mixed_columns import columns_of
from tamis.base.validation import canonical
from tamis.data.dataset import Dataset

#: Begins the digest; to be changed whenever the encoding of the data changes.
_LAYOUT = b"tamis data 1\n"
#: Entries that are copied at a time.
_BLOCK = 1 << 18


def fingerprint(X: Any, y: Any = None, *, feature_names: Any = None, split: Any = None, groups: Any = None) -> str:
    """Digest of rows, classes, names of columns, official split and groups.

    It does not depend on the process, the machine or the versions of the libraries, nor on the memory order of a dense
    array, the order of a sparse row's entries or stored zeros. It does depend on float32 or float64, and on dense,
    sparse or data frame. All NaNs are equal, and -0 is 0.

    Parameters
    ----------
    X : Dataset, array, sparse matrix or data frame of shape (n_rows, n_features)
        A data set includes all other arguments. `feature_names` default to the columns of a data frame.
    y : array of shape (n_rows,), optional
        Labels: numbers or words.
    feature_names : array of str of shape (n_features,), optional
    split, groups : arrays of shape (n_rows,), optional
        The official part and the group of each row.

    Returns
    -------
    str
        32 hexadecimal digits, of BLAKE2b.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, np.nan]])
    >>> fingerprint(X, ["no", "yes"])
    'b0ffc2ccea018cb7603015a01c42d570'
    >>> fingerprint(np.asfortranarray(X), np.array(["no", "yes"], dtype=object)) == fingerprint(X, ["no", "yes"])
    True
    >>> fingerprint(X.astype(np.float32), ["no", "yes"]) == fingerprint(X, ["no", "yes"])
    False
    """
    if isinstance(X, Dataset):
        names = X.feature_names if X.has_names else None
        return fingerprint(X.X, X.y, feature_names=names, split=X.split, groups=X.groups)
    if feature_names is None and hasattr(X, "columns"):
        feature_names = [str(name) for name in X.columns]
    written = blake2b(_LAYOUT, digest_size=16)
    _write_rows(written, X if hasattr(X, "shape") else np.asarray(X))
    for what, values in (("y", y), ("names", feature_names), ("split", split), ("groups", groups)):
        if values is not None:
            _write_labels(written, what, np.asarray(values))
    return written.hexdigest()


def _write_rows(written: Any, X: Any) -> None:
    if sp.issparse(X):
        _write_sparse(written, X)
    elif hasattr(X, "columns") or X.dtype.kind in "OUS":
        _write_columns(written, X)
    else:
        _write_head(written, "dense", X.shape, _number_type(X.dtype))
        height = max(1, _BLOCK // max(1, X.shape[1]))
        for top in range(0, X.shape[0], height):
            _write_numbers(written, X[top : top + height])


def _write_sparse(written: Any, X: Any) -> None:
    X = canonical(X.tocsr())
    _write_head(written, "sparse", X.shape, _number_type(X.dtype))
    if not X.data.all():
        X = X.copy()
        X.eliminate_zeros()
    _write_numbers(written, np.diff(X.indptr).astype(np.int64))
    for top in range(0, X.nnz, _BLOCK):
        _write_numbers(written, X.indices[top : top + _BLOCK].astype(np.int64))
        _write_numbers(written, X.data[top : top + _BLOCK])


def _write_columns(written: Any, X: Any) -> None:
    """A data frame or an array of objects, column by column: numbers in float64, text with its missing values."""
    _write_head(written, "columns", X.shape, "")
    short = [str(dtype).lower() == "float32" for dtype in getattr(X, "dtypes", [])] or [False] * X.shape[1]
    for column, is_short in zip(columns_of(X, "fingerprint"), short, strict=True):
        if column.dtype == pl.String:
            _write_words(written, column)
        else:
            _write_head(written, "numbers", (len(column),), "<f4" if is_short else "<f8")
            _write_numbers(written, column.to_numpy())


def _write_labels(written: Any, what: str, values: np.ndarray) -> None:
    _write_head(written, what, values.shape, "")
    kind = values.dtype.kind
    if kind in "biu":
        _write_head(written, "whole", values.shape, "<i8")
        _write_numbers(written, values.astype(np.int64))
    elif kind == "f":
        _write_head(written, "numbers", values.shape, "<f8")
        _write_numbers(written, values.astype(np.float64))
    else:
        words = [value if isinstance(value, str) else _as_word(value) for value in values.ravel().tolist()]
        _write_words(written, pl.Series("words", words, dtype=pl.String))


def _as_word(value: Any) -> str | None:
    """A label that is not text among labels that are: its type and its ``repr``."""
    if value is None or value != value:
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return f"\0{type(value).__name__}\0{value!r}"


def _write_words(written: Any, words: pl.Series) -> None:
    """Text: the length of each entry in bytes, -1 for a missing one, then all of them."""
    _write_head(written, "words", (len(words),), "")
    _write_numbers(written, words.str.len_bytes().cast(pl.Int64).fill_null(-1).to_numpy())
    for top in range(0, len(words), _BLOCK):
        written.update("".join(words[top : top + _BLOCK].drop_nulls().to_list()).encode())


def _write_head(written: Any, what: str, shape: tuple[int, ...], dtype: str) -> None:
    # The head states the length of what follows, so that different data never gives the same bytes.
    written.update(f"\n{what} {'x'.join(map(str, shape))} {dtype}\n".encode())


def _write_numbers(written: Any, values: np.ndarray) -> None:
    """Numbers row by row in little-endian order, with one NaN and one zero."""
    if values.dtype.kind == "f":
        values = values + values.dtype.type(0)  # -0 becomes 0
        values[np.isnan(values)] = np.nan
    values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    written.update(values.view(np.uint8).data if values.size else b"")


def _number_type(dtype: np.dtype[Any]) -> str:
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise DataError(f"fingerprint takes numbers of at most 64 bits and text; got values of type {dtype}")
    return dtype.newbyteorder("<").str
