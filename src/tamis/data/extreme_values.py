"""Values at the edge of floating-point numbers: infinite ones are refused, those too small to square are warned of."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError

#: Squares of smaller values are zero or lose their digits.
_SMALLEST = 1e-150
#: Columns that a warning names, and values that are looked at together.
_NAMED, _BLOCK = 5, 4_000_000


class TooSmall(UserWarning):
    """Columns whose values are so small that scores take them for constant."""


def check_extremes(X: Any, names: np.ndarray, where: str) -> None:
    """Refuse infinity by row and column, and warn of columns whose values vanish when they are squared.

    Examples
    --------
    >>> check_extremes(np.array([[1.0, 2.0], [np.inf, 3.0]]), np.array(["age", "size"]), "p")
    Traceback (most recent call last):
    ...
    tamis.base.errors.DataError: p: row 2 holds infinity in column 'age'; give a finite number, or NaN where unknown
    """
    values = X.data if sp.issparse(X) else X
    if not isinstance(values, np.ndarray):
        return
    if values.dtype.kind in "cmMV":
        raise DataError(f"{where}: takes numbers and text; got values of type {values.dtype}")
    if values.dtype.kind != "f":
        return
    small = _small_in_sparse(X, names, where) if sp.issparse(X) else _small_in_dense(X, names, where)
    if small:
        named = ", ".join(f"{str(name)!r}" for name in names[small[:_NAMED]].tolist())
        more = f" and {len(small) - _NAMED} more" if len(small) > _NAMED else ""
        warnings.warn(
            f"{where}: column{'s' if len(small) > 1 else ''} {named}{more}: all values are below {_SMALLEST:g}, whose "
            "squares are zero, so that scores take it for constant; scale it",
            TooSmall,
            stacklevel=4,
        )


def _small_in_dense(X: np.ndarray, names: np.ndarray, where: str) -> list[int]:
    """The columns of small values alone; an error where a value is infinite."""
    small: list[int] = []
    width = max(1, _BLOCK // max(1, X.shape[0]))
    for first in range(0, X.shape[1], width):
        high = np.fmax.reduce(np.abs(X[:, first : first + width]), axis=0)
        if np.isinf(high).any():
            column = first + int(np.isinf(high).argmax())
            row = int(np.isinf(X[:, column]).argmax())
            _refuse(X[row, column], row, names[column], where)
        small += (first + np.flatnonzero((high > 0) & (high < _SMALLEST))).tolist()
    return small


def _small_in_sparse(X: Any, names: np.ndarray, where: str) -> list[int]:
    """The same for the stored values of a CSR matrix."""
    if (infinite := np.isinf(X.data)).any():
        place = int(infinite.argmax())
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        _refuse(X.data[place], row, names[X.indices[place]], where)
    tiny = (np.abs(X.data) < _SMALLEST) & (X.data != 0)
    return [j for j in np.unique(X.indices[tiny]).tolist() if _is_small(X[:, [j]].data)]


def _is_small(values: np.ndarray) -> bool:
    return bool(0 < np.fmax.reduce(np.abs(values), initial=0.0) < _SMALLEST)


def _refuse(value: float, row: int, column: Any, where: str) -> None:
    what = "give a finite number, or NaN where unknown"
    raise DataError(
        f"{where}: row {row + 1} holds {'-' if value < 0 else ''}infinity in column {str(column)!r}; {what}"
    )
