"""Rows in one order, equal ones as one row of their weight."""

from typing import Any

import numpy as np

from tamis.base.types import FloatArray


def merged(X: FloatArray, y: Any, weight: FloatArray) -> tuple[FloatArray, Any, FloatArray]:
    """The different rows with their targets, sorted by their bytes, and the sum of the weights of each.

    Sums in another order round differently, from which chains depart. So the draws depend neither on the order of the
    rows nor on whether a row of weight 2 comes as one row or as two.

    Examples
    --------
    >>> X = np.array([[2.0], [1.0], [2.0], [2.0]])
    >>> rows, y, weight = merged(X, np.array([1, 1, 1, 0]), np.array([1.0, 1.0, 0.5, 1.0]))
    >>> sorted(zip(rows[:, 0].tolist(), y.tolist(), weight.tolist()))
    [(1.0, 1, 1.0), (2.0, 0, 1.0), (2.0, 1, 1.5)]
    """
    # Adding zero makes one zero of the two.
    table = np.ascontiguousarray(np.column_stack([X, y]) + 0.0)
    keys = table.view(np.dtype((np.void, table.itemsize * table.shape[1]))).ravel()
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return X[first], y[first], np.bincount(places, weight).astype(np.float64, copy=False)
