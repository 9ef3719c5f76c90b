"""Columns that hold the mean target of their own rows: the trace of a target encoding made on all rows."""

import numpy as np

from tamis.base.task import Task
from tamis.base.types import FloatArray

#: Rates in a file may be rounded.
_NEAR = 1e-3
#: Fewer different values are as good as a nominal column.
_FEWEST_VALUES = 3
#: Values that are looked at together.
_BLOCK = 4_000_000


def encoded_targets(X: FloatArray, y: np.ndarray, task: Task = "classify") -> np.ndarray:
    """The columns in which every value is the mean target, or the rate of one class, of the rows that have it.

    Such a column is the usual result of replacing a nominal column of many levels by class rates before validation: a
    row's own class is in its value. Encodings with a prior, with noise or without the row itself leave other values
    and are not found.

    Parameters
    ----------
    X : float array of shape (n_rows, n_features)
    y : array of shape (n_rows,)
    task : {"classify", "regress"}

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, level = rng.integers(0, 2, 60), rng.integers(0, 20, 60)
    >>> rates = np.array([y[level == one].mean() for one in level])
    >>> encoded_targets(np.column_stack([rng.random(60), rates]), y)
    array([1])
    """
    if not X.shape[0]:
        return np.empty(0, dtype=np.intp)
    if task == "regress":
        truth = np.asarray(y, dtype=np.float64)[:, None]
        scale = float(np.ptp(truth)) or 1.0
    else:
        truth, scale = (y[:, None] == np.unique(y)).astype(np.float64), 1.0
    found = []
    width = max(1, _BLOCK // max(1, X.shape[0]))
    for first in range(0, X.shape[1], width):
        with np.errstate(over="ignore", invalid="ignore"):
            means = X[:, first : first + width].mean(axis=0, dtype=np.float64)
        # The mean of such a column is the mean target.
        near = (np.abs(means[:, None] - truth.mean(axis=0)) <= _NEAR * scale).any(axis=1)
        found += [first + j for j in np.flatnonzero(near).tolist() if _is_encoded(X[:, first + j], truth, scale)]
    return np.array(found, dtype=np.intp)


def _is_encoded(values: FloatArray, truth: FloatArray, scale: float) -> bool:
    levels, places, sizes = np.unique(values, return_inverse=True, return_counts=True)
    # A column of different values is its own mean target where it is a copy of the target, which is another matter.
    if levels.size < _FEWEST_VALUES or 2 * levels.size > values.size:
        return False
    for column in truth.T:
        means = np.bincount(places, weights=column) / sizes
        if (np.abs(means - levels) <= _NEAR * scale).all() and len(np.unique(column)) > 1:
            return not np.array_equal(column, values)
    return False
