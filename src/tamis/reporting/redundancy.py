"""Which of the top features say the same: their correlations, and clusters of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import average, fcluster, leaves_list
from scipy.spatial.distance import squareform

from tamis.base.parallel import one_thread
from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset
from tamis.reporting.distributions import numbers
from tamis.validation.plain import plain

__all__ = ["redundancy"]

#: Features compared, and the distance 1 - |r| at which clusters are cut apart.
_FEATURES, _CUT = 40, 0.3
#: Part of its size by which a sum may be off: a variance below it is no variance.
_ROUNDING = 1e-12


def redundancy(data: Dataset, columns: Sequence[int] | np.ndarray) -> dict[str, Any] | None:
    """Put the features that say the same beside each other.

    The likeness of two features is the absolute value of Pearson's correlation, over the rows in which both are
    known. A constant feature is like no other. Clusters are those of average linkage with the distance 1 - |r|, cut
    at 0.3; they are numbered in the order of the leaves of the dendrogram.

    Parameters
    ----------
    data : Dataset
    columns : sequence of int
        The first 40 that are numeric are taken.

    Returns
    -------
    dict or None
        ``names``, ``correlation``, ``cluster`` and ``order`` (the leaves), all but the last in the order of
        `columns`. None for fewer than two numeric features.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 2.0], [2.0, 1.0, 4.0], [3.0, 1.0, 6.0], [4.0, 0.0, 8.0]])
    >>> found = redundancy(Dataset(X, np.array([0, 0, 1, 1]), np.array(["u", "v", "w"])), [0, 1, 2])
    >>> found["correlation"][0], found["order"], found["cluster"]
    ([1.0, 0.0, 1.0], [1, 0, 2], [1, 0, 1])
    """
    shown = np.asarray(columns, dtype=np.intp)
    shown = shown[~data.nominal[shown]][:_FEATURES]
    if shown.size < 2:
        return None
    # Threads that wait for each other on a busy machine take longer than one does for so small a task.
    with one_thread():
        correlation = _correlation(numbers(data, shown))
    distance = squareform(1.0 - correlation, checks=False)
    tree = average(distance)
    order = leaves_list(tree)
    cluster = fcluster(tree, _CUT, criterion="distance")
    _, first, inverse = np.unique(cluster[order], return_index=True, return_inverse=True)
    number = np.empty(shown.size, dtype=np.intp)
    number[order] = np.argsort(np.argsort(first))[inverse]
    return {
        "names": [str(name) for name in data.feature_names[shown].tolist()],
        "correlation": plain(correlation.round(4)),
        "cluster": plain(number),
        "order": plain(order),
    }


def _correlation(X: FloatArray) -> FloatArray:
    """Absolute correlation of every two columns over the rows in which both are finite; 1 on the diagonal."""
    known = np.isfinite(X)
    X = np.where(known, X, 0.0)
    counted = known.astype(np.float64)
    count = counted.T @ counted
    own = np.maximum(np.diag(count), 1.0)
    # First by the largest value: squares of very large numbers do not exist.
    X = X / np.where((size := np.abs(X).max(axis=0, initial=0.0)) > 0, size, 1.0)
    X = np.where(known, X - X.sum(axis=0) / own, 0.0)
    deviation = np.sqrt((X**2).sum(axis=0) / own)
    X = X / np.where(deviation > _ROUNDING, deviation, np.inf)
    total, square = X.T @ counted, (X**2).T @ counted
    pairs = np.maximum(count, 1.0)
    covariance = X.T @ X - total * total.T / pairs
    variance = square - total**2 / pairs
    variance[variance <= _ROUNDING * pairs] = np.inf
    found: FloatArray = np.minimum(np.abs(covariance) / np.sqrt(variance * variance.T), 1.0)
    np.fill_diagonal(found, 1.0)
    return found
