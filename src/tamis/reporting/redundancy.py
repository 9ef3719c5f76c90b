"""Which of the top features are redundant: their correlations, and clusters of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import average, fcluster, leaves_list
from scipy.spatial.distance import squareform

from tamis.base.parallel import one_thread
from tamis.contingency.similarity import similarity
from tamis.data.dataset import Dataset
from tamis.validation.json_values import plain

#: Features compared, and the distance 1 - |r| at which clusters are cut apart.
_FEATURES, _CUT = 40, 0.3


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
        correlation = similarity(data, shown, shown)
    np.fill_diagonal(correlation, 1.0)
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
