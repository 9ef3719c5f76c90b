"""Sizes of data in steps, so that data of about one size share one compiled sampler."""

from typing import Any

import numpy as np

from tamis.base.types import Codes, FloatArray
from tamis.bayes.density import Data

#: The fewest columns, the fewest rows of a table with no more, and of a wider one, where padded rows take time.
_COLUMNS, _ROWS, _ROWS_OF_WIDE = 16, 128, 32

#: Sizes in each doubling beyond.
_STEPS = 8


def padded(X: FloatArray, y: Any, groups: Codes, weight: FloatArray | None = None) -> Data:
    """Rows, targets and groups of columns with rows of weight 0 and columns of zeros to the next size.

    Examples
    --------
    >>> found = padded(np.ones((3, 2)), np.ones(3), np.arange(2))
    >>> found.X.shape, found.weight.sum(), found.in_use.sum()
    ((128, 16), np.float64(3.0), np.int64(2))
    """
    columns = _next(X.shape[1], _COLUMNS)
    rows = _next(X.shape[0], _ROWS if columns == _COLUMNS else _ROWS_OF_WIDE)
    table = np.zeros((rows, columns))
    table[: X.shape[0], : X.shape[1]] = X
    target = np.zeros(rows, dtype=y.dtype)
    target[: X.shape[0]] = y
    # Groups are at most as many as columns, so that with padded columns the last number is free for these.
    group = np.full(columns, columns - 1)
    group[: X.shape[1]] = groups
    weights = np.zeros(rows)
    weights[: X.shape[0]] = 1.0 if weight is None else weight
    return Data(table, target, weights, group, np.arange(columns) <= groups.max())


def _next(size: int, least: int) -> int:
    """The size, or the next larger of `least` and a few in each doubling."""
    if size <= least:
        return least
    step = max(2 ** (size.bit_length() - 1) // _STEPS, 1)
    return -(-size // step) * step
