"""Sizes of data in steps, so that data of about one size share one compiled sampler."""

from typing import Any

import numpy as np

from tamis.base.types import Codes, FloatArray
from tamis.bayes.density import Data

#: The fewest rows and columns, and the steps beyond in each doubling.
_ROWS, _COLUMNS, _STEPS = 256, 16, 8


def padded(X: FloatArray, y: Any, groups: Codes) -> Data:
    """Rows, targets and groups of columns with rows of weight 0 and columns of zeros to the next size.

    Examples
    --------
    >>> found = padded(np.ones((3, 2)), np.ones(3), np.arange(2))
    >>> found.X.shape, found.weight.sum(), found.in_use.sum()
    ((256, 16), np.float64(3.0), np.int64(2))
    """
    rows, columns = _next(X.shape[0], _ROWS), _next(X.shape[1], _COLUMNS)
    table = np.zeros((rows, columns))
    table[: X.shape[0], : X.shape[1]] = X
    target = np.zeros(rows, dtype=y.dtype)
    target[: X.shape[0]] = y
    # Groups are at most as many as columns, so that with padded columns the last number is free for these.
    group = np.full(columns, columns - 1)
    group[: X.shape[1]] = groups
    return Data(table, target, (np.arange(rows) < X.shape[0]).astype(float), group, np.arange(columns) <= groups.max())


def _next(size: int, least: int) -> int:
    """The size, or the next larger of `least` and a few in each doubling."""
    if size <= least:
        return least
    step = max(2 ** (size.bit_length() - 1) // _STEPS, 1)
    return -(-size // step) * step
