"""The outlying degree from which a subspace is outlying."""

import math
from collections.abc import Iterable

import numpy as np

from tamis.base.types import FloatArray
from tamis.outliers.reference import degrees


def level_threshold(means: FloatArray, factor: float, *, squared: bool) -> float:
    """The paper's threshold: a multiple of the average degree in the full space, as estimated from single columns.

    ``T = C (sum_j mean_j^p)^(1/p)`` with p = 2 for Euclidean distances, and 1 for Manhattan ones; ``mean_j`` is the
    average degree of the sampled rows in column j, and C the `factor`.

    >>> level_threshold(np.array([3.0, 4.0]), 2.0, squared=True)
    10.0
    """
    level = math.sqrt(float((means**2).sum())) if squared else float(means.sum())
    return _positive(factor * level)


def share_threshold(peaks: FloatArray, share: float) -> float:
    """The threshold that at most a share of the sampled rows reach, one row at least, by their highest degrees.

    >>> round(share_threshold(np.array([1.0, 2.0, 9.0, 3.0]), 0.05), 9)
    3.0
    """
    allowed = min(math.ceil(share * peaks.size), peaks.size - 1)
    below = np.sort(peaks)[peaks.size - 1 - allowed]
    return _positive(float(np.nextafter(below, np.inf)))


def peak(gaps: FloatArray, largest: int, k: int, *, squared: bool) -> float:
    """The highest degree of a row in subspaces of up to `largest` columns, found by adding the best column each time.

    With all columns it is exact, because a degree never falls when columns are added.
    """
    n_columns = len(gaps)
    if n_columns == 0:
        return 0.0
    if largest >= n_columns:
        return float(degrees(gaps, _subspaces([range(n_columns)]), k, squared=squared)[0])
    chosen: list[int] = []
    best = 0.0
    for _ in range(min(largest, n_columns)):
        rest = [j for j in range(n_columns) if j not in chosen]
        found = degrees(gaps, _subspaces([[*chosen, j] for j in rest]), k, squared=squared)
        best = float(found.max())
        chosen.append(rest[int(found.argmax())])
    return best


def _subspaces(columns: Iterable[Iterable[int]]) -> np.ndarray:
    """Subspaces as the lattice has them: columns in falling order."""
    return np.array([sorted(one, reverse=True) for one in columns], dtype=np.int32)


def _positive(threshold: float) -> float:
    """A threshold above zero: rows with copies enough have a degree of zero, and are not outlying."""
    return max(threshold, float(np.finfo(float).tiny))
