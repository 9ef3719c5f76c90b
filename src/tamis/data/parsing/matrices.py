"""From matrices and label arrays to a data set: the checks that the readers of matrices share.

`where` in these functions is the start of a message: the file, and the line or array in it.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.base.types import Matrix
from tamis.data.dataset import Dataset
from tamis.data.load import Sought

#: A file with more columns is damaged: the names alone would fill the memory.
MOST_COLUMNS = 2**24

#: The official parts of a data set, in the order in which their rows are joined.
PARTS = ("train", "valid", "test")


def numbered(count: int) -> np.ndarray:
    """Names for columns that have none.

    >>> numbered(3).tolist()
    ['x1', 'x2', 'x3']
    """
    return np.array([f"x{number}" for number in range(1, count + 1)], dtype=np.str_)


def check_size(shape: Sequence[int], where: str) -> None:
    """Refuse a matrix without rows or columns, or with too many columns."""
    rows, columns = shape
    if rows < 1 or columns < 1:
        raise DataError(f"{where}: has {rows} rows and {columns} columns, so there is nothing to learn from")
    if columns > MOST_COLUMNS:
        raise DataError(f"{where}: has {columns} columns, more than the {MOST_COLUMNS} that are supported")


def check_numbers(X: Matrix, where: str) -> Matrix:
    """Refuse a matrix (array or CSR) unless it has two dimensions and holds finite real numbers or NaN."""
    if X.ndim != 2:
        raise DataError(f"{where}: has {X.ndim} dimensions, a table has 2 (rows and columns)")
    check_size(X.shape, where)
    _check_dtype(X, where)
    if X.dtype.kind == "f" and np.isinf(X.data if is_sparse(X) else X).any():
        raise DataError(f"{where}: holds an infinite value")
    return X


def _check_dtype(values: Any, where: str) -> None:
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        raise DataError(f"{where}: holds values of type {values.dtype}, not numbers of at most 64 bits")


def is_sparse(X: Any) -> bool:
    """Whether it is a scipy matrix; unlike ``issparse`` this does not narrow the type."""
    return bool(sp.issparse(X))


def as_floats(X: Matrix) -> Matrix:
    """The matrix in float32 where it is so already, else in float64; a dense one row by row in memory."""
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    return X.astype(dtype, copy=False) if is_sparse(X) else np.ascontiguousarray(X, dtype=dtype)


def check_csr(data: Any, indices: Any, indptr: Any, shape: Any, where: str) -> sp.csr_array:
    """The CSR matrix of these arrays, columns sorted and zeros dropped; refused when they do not fit together.

    scipy trusts the arrays, and wrong ones make it read outside them.
    """
    for what, array in (("indices", indices), ("indptr", indptr), ("shape", shape)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise DataError(f"{where}: the {what} of a sparse matrix must be a list of whole numbers")
    if shape.size != 2:
        raise DataError(f"{where}: the shape of a sparse matrix must be two numbers, got {shape.size}")
    rows, columns = int(shape[0]), int(shape[1])
    check_size((rows, columns), where)
    indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    if data.ndim != 1 or data.size != indices.size:
        raise DataError(f"{where}: {data.size} values for {indices.size} column indices")
    if indptr.size != rows + 1:
        raise DataError(f"{where}: indptr has {indptr.size} entries, {rows} rows need {rows + 1}")
    if indptr[0] != 0 or indptr[-1] != indices.size or (np.diff(indptr) < 0).any():
        raise DataError(f"{where}: indptr must rise from 0 to the number of values, {indices.size}")
    if indices.size and not 0 <= indices.min() <= indices.max() < columns:
        bad = indices.min() if indices.min() < 0 else indices.max()
        raise DataError(f"{where}: index {bad} is outside 0 to {columns - 1}")
    _check_dtype(data, where)
    X = sp.csr_array((as_floats(data), indices.astype(np.int32), indptr), shape=(rows, columns))
    return tidy_csr(check_numbers(X, where))


def tidy_csr(X: sp.csr_array) -> sp.csr_array:
    """The matrix with sorted columns, 32-bit indices where they suffice, and no stored zeros; may change `X`."""
    X.sum_duplicates()
    X.eliminate_zeros()
    if X.nnz < 2**31:
        X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return X


def tidy_labels(y: Any, rows: int, where: str) -> np.ndarray:
    """One label per row: whole numbers as int64, other numbers as float64, words as str.

    >>> tidy_labels(np.array([[1.0], [2.0]]), 2, "a.mat, Y")
    array([1, 2])
    """
    if y.ndim == 2 and 1 in y.shape:
        y = y.ravel()
    if y.ndim != 1:
        raise DataError(f"{where}: labels must be one column, got an array of shape {y.shape}")
    if y.size != rows:
        raise DataError(f"{where}: {y.size} labels for {rows} rows")
    if y.dtype.kind in "US":
        y = np.strings.strip(as_text(y, where))
        if (y == "").any():
            raise DataError(f"{where}: the label of row {(y == '').argmax() + 1} is empty")
        return y
    if y.dtype.kind not in "biuf":
        raise DataError(f"{where}: labels of type {y.dtype} are neither numbers nor words")
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            raise DataError(f"{where}: the label of row {np.isfinite(y).argmin() + 1} is missing or infinite")
        return number_labels(y)
    if y.dtype == np.uint64 and y.max() > np.iinfo(np.int64).max:
        raise DataError(f"{where}: label {y.max()} is too large")
    return np.asarray(y, dtype=np.int64)


def number_labels(y: np.ndarray) -> np.ndarray:
    """A copy of finite floats: int64 when all are whole numbers that a float holds exactly, else float64."""
    exact = (y == np.rint(y)).all() and np.abs(y).max(initial=0.0) < 2**53
    return y.astype(np.int64 if exact else np.float64)


def as_text(words: np.ndarray, where: str) -> np.ndarray:
    """The array as str, decoded from UTF-8 when it holds bytes."""
    if words.dtype.kind == "S":
        try:
            return np.strings.decode(words, "utf-8")
        except UnicodeDecodeError:
            raise DataError(f"{where}: is not UTF-8 text") from None
    return words.astype(np.str_)


def own_target(target: str | None, known: tuple[str, ...], where: Any) -> None:
    """Refuse a class column chosen by the user where the format stores its labels apart."""
    if target is not None and target not in known and not isinstance(target, Sought):
        raise DataError(f"{where}: keeps its labels apart from the columns, so no target {target!r} can be chosen")


def assemble(parts: Mapping[str, tuple[Matrix, np.ndarray | None]], where: Any, *, name: str, **known: Any) -> Dataset:
    """Join the parts of a data set; those without labels go to `unlabelled`.

    The keys of `parts` are "train", "valid" and "test", or "" alone when there is no official split. `known` are other
    attributes of the data set; `feature_names` default to x1, x2, ....
    """
    labelled = {part: (X, y) for part, (X, y) in parts.items() if y is not None}
    if not labelled:
        raise DataError(f"{where}: holds no labels")
    for (first, (a, _)), (second, (b, _)) in pairwise(parts.items()):
        if a.shape[1] != b.shape[1]:
            raise DataError(f"{where}: {first} has {a.shape[1]} columns and {second} has {b.shape[1]}")
    matrices = [X for X, _ in labelled.values()]
    if len(matrices) == 1:
        X = matrices[0]
    elif any(is_sparse(matrix) for matrix in matrices):
        X = tidy_csr(sp.vstack(matrices, format="csr"))
    else:
        X = np.concatenate(matrices)
    labels = [y for _, y in labelled.values()]
    if len({y.dtype.kind == "U" for y in labels}) > 1:
        raise DataError(f"{where}: the labels are words in one part and numbers in another")
    known.setdefault("feature_names", numbered(X.shape[1]))
    if "" not in parts:
        known["split"] = np.repeat(np.array(list(labelled)), [matrix.shape[0] for matrix in matrices])
    unlabelled = {part: as_floats(X) for part, (X, y) in parts.items() if y is None}
    return Dataset(X=as_floats(X), y=np.concatenate(labels), name=name, unlabelled=unlabelled, **known)
