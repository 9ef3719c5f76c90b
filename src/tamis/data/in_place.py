"""Large arrays without some of their rows or columns, in the memory that they have."""

from typing import Any

import numpy as np

#: Values that are moved at a time.
_BLOCK = 1 << 20


def rows_at_a_time(X: np.ndarray) -> int:
    """How many rows of a matrix to compute with at a time, so that what is computed of them stays small."""
    return max(1, _BLOCK // max(1, X.shape[1]))


def can_shrink(X: Any) -> bool:
    """Whether :func:`shrunk` works on the array: its rows lie one after another, in memory of its own."""
    return isinstance(X, np.ndarray) and bool(X.flags.c_contiguous and X.flags.owndata and X.flags.writeable)


def shrunk(X: Any, *, rows: np.ndarray | None = None, columns: np.ndarray | None = None) -> Any:
    """The array of some rows and some columns, in ascending order; `X` itself, which becomes smaller.

    No second array is made: the values move to the front, and the rest of the memory is given back. No other view of
    `X` may be in use.

    Examples
    --------
    >>> X = np.arange(12.0).reshape(3, 4)
    >>> X = X.copy()
    >>> shrunk(X, rows=np.array([0, 2]), columns=np.array([1, 3])) is X
    True
    >>> X
    array([[ 1.,  3.],
           [ 9., 11.]])
    """
    rows = np.arange(X.shape[0]) if rows is None else rows
    columns = np.arange(X.shape[1]) if columns is None else columns
    flat, height, end = X.reshape(-1), rows_at_a_time(X), 0
    for top in range(0, rows.size, height):
        # What is overwritten was read before: values never move back.
        moved = X[rows[top : top + height]]
        moved = moved if columns.size == X.shape[1] else moved.take(columns, axis=1)
        flat[end : end + moved.size] = moved.reshape(-1)
        end += moved.size
    del flat
    X.resize((rows.size, columns.size), refcheck=False)
    return X
