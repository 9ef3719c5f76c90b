"""What the levels of a nominal column tell of the target: class shares, or mean numbers."""

from typing import Any

import numpy as np

from tamis.base.task import is_numeric
from tamis.base.types import Codes, FloatArray


def level_means(
    codes: Codes,
    y: Any,
    n_levels: int,
    *,
    n_classes: int = 0,
    weight: FloatArray | None = None,
    smoothing: float = 0.0,
) -> FloatArray:
    """The share of each class, or the mean of the numbers `y`, among the rows of each level and, last, of all rows.

    With n_v rows of a level v, their mean t_v and the mean t of all rows this is ``(n_v t_v + m t) / (n_v + m)``, where
    m is the `smoothing`: the level counts as if m more rows with the mean of all had it. A level without rows has the
    mean of all. Rows of code -1 count for that one only. The result has shape (n_levels + 1, n_classes), or
    (n_levels + 1, 1) for numbers.

    Examples
    --------
    >>> level_means(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), 2, n_classes=2).round(2)
    array([[0.67, 0.33],
           [0.  , 1.  ],
           [0.5 , 0.5 ]])
    >>> level_means(np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 6.0]), 2, smoothing=2.0).ravel()
    array([2.25, 3.75, 3.  ])
    """
    # The last place is that of unknown levels.
    places = np.where(codes < 0, n_levels, codes)
    weight = np.ones(y.size) if weight is None else weight
    if is_numeric(y):
        sums = np.bincount(places, weights=weight * y, minlength=n_levels + 1)[:, None]
        overall = np.average(y, weights=weight)[None]
    else:
        cells = np.bincount(places * n_classes + y, weights=weight, minlength=(n_levels + 1) * n_classes)
        sums = cells.reshape(-1, n_classes)
        overall = sums.sum(axis=0) / sums.sum()
    counts = np.bincount(places, weights=weight, minlength=n_levels + 1)[:, None]
    counts[-1] = 0
    means = np.tile(overall, (n_levels + 1, 1))
    np.divide(sums + smoothing * overall, counts + smoothing, out=means, where=counts > 0)
    return means
