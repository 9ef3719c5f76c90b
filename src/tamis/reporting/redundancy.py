"""Which of the top features are redundant: their correlations, and clusters of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import average, fcluster, leaves_list
from scipy.spatial.distance import squareform

from tamis.base.parallel import one_thread
from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset
from tamis.reporting.distributions import numbers
from tamis.validation.json_values import plain

#: Features compared, and the distance 1 - |r| at which clusters are cut apart.
_FEATURES, _CUT = 40, 0.3
#: Relative rounding error of a sum: a variance below it counts as zero.
_ROUNDING = 1e-12


def redundancy(data: Dataset, columns: Sequence[int] | np.ndarray) -> dict[str, Any] | None:
    """Cluster the first 40 numeric columns by their absolute Pearson correlation, over rows in which both are known.

    A constant feature has no correlation. Clusters are those of average linkage with the distance 1 - |r|, cut at 0.3.

    Returns
    -------
    dict or None
        ``names``, ``correlation``, ``cluster`` (numbered in the order of the leaves) and ``order`` (the leaves), all
        but the last in the order of `columns`. None for fewer than two numeric features.

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
    # On a busy machine several threads take longer than one for a small task.
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


def clusters(features: dict[str, Any] | None) -> list[list[str]]:
    """Names of the features of each cluster of two or more, in the order of the dendrogram."""
    known = (features or {}).get("redundancy") or {"order": ()}
    found: dict[int, list[str]] = {}
    for i in known["order"]:
        found.setdefault(known["cluster"][i], []).append(known["names"][i])
    return [names for names in found.values() if len(names) > 1]


def _correlation(X: FloatArray) -> FloatArray:
    """Absolute correlation of every two columns over the rows in which both are finite; 1 on the diagonal."""
    known = np.isfinite(X)
    X = np.where(known, X, 0.0)
    counted = known.astype(np.float64)
    count = counted.T @ counted
    own = np.maximum(np.diag(count), 1.0)
    # Scaled first, as squares of very large numbers overflow.
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
