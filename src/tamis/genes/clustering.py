"""Hierarchical clusters of genes, by average linkage, cut at a level below the root."""

from typing import Literal

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray
from tamis.base.validation import check_whole

Metric = Literal["correlation", "euclidean"]

METRICS: tuple[Metric, ...] = ("correlation", "euclidean")

#: Distances of equal genes are not above this share of the largest.
_ROUNDING = 1e-12


def hierarchical_clusters(profiles: FloatArray, *, level: int = 3, metric: Metric = "correlation") -> Codes:
    """Cluster genes by average linkage, and cut the tree so many levels below its root.

    Raman and Domeniconi (2005) cut three levels below the root. There are at most 2 ** level clusters: a gene or branch
    that ends higher stays a cluster of its own, as do equal genes. They do not say which distance they use; one minus
    the correlation is that of Eisen et al. (1998), whom they follow, and like equal percentages it does not depend on
    a gene's level. No labels are used. Memory grows with the square of the number of genes: 8 bytes a pair, twice.

    Parameters
    ----------
    profiles : array of shape (n_genes, n_times)
        Without missing values. A constant gene correlates with none: its distance to all others is 1.
    level : int, default=3
        0 is one cluster of all genes.
    metric : {"correlation", "euclidean"}, default="correlation"

    Returns
    -------
    array of int of shape (n_genes,)
        Numbers of clusters from 0, in the order of their first genes.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0, 3.0], [9.0, 6.0, 3.0], [2.0, 4.0, 6.0], [3.0, 2.0, 1.1]])
    >>> hierarchical_clusters(X, level=1).tolist()
    [0, 1, 0, 1]
    """
    check_whole("level", level, 0)
    if metric not in METRICS:
        raise TamisError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}")
    n = profiles.shape[0]
    if n < 2 or level == 0:
        return np.zeros(n, dtype=np.intp)
    found = np.empty(n, dtype=np.intp)
    for number, leaves in enumerate(_branches(linkage(_distances(profiles, metric), "average"), n, level)):
        found[leaves] = number
    first = np.unique(found, return_index=True)[1]
    order = np.empty(first.size, dtype=np.intp)
    order[np.argsort(first)] = np.arange(first.size)
    return order[found]


def _distances(profiles: FloatArray, metric: Metric) -> FloatArray:
    if metric == "euclidean":
        return np.asarray(pdist(profiles))
    centred = profiles - profiles.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    flat = length <= 1e-12 * np.abs(profiles).max(axis=1, keepdims=True)
    unit = np.divide(centred, length, out=np.zeros_like(centred), where=~flat)
    # |u - v|^2 / 2 = 1 - u.v of unit vectors; a constant gene, a zero here, would be at one half.
    distance: FloatArray = pdist(unit, "sqeuclidean")
    distance *= 0.5
    if flat.any():
        constant = np.flatnonzero(flat)
        i, j = np.triu_indices(flat.size, 1)
        distance[np.isin(i, constant) | np.isin(j, constant)] = 1.0
    return distance


def _branches(tree: FloatArray, n: int, level: int) -> list[list[int]]:
    """The leaves below each node that is `level` steps below the root, and below each that ends above."""
    nodes, equal = [2 * n - 2], _ROUNDING * tree[-1, 2]
    for _ in range(level):
        # Equal genes are one branch that ends.
        ends = {node for node in nodes if node < n or tree[node - n, 2] <= equal}
        nodes = [child for node in nodes for child in ([node] if node in ends else _children(tree, node, n))]
    return [_leaves(tree, node, n) for node in nodes]


def _children(tree: FloatArray, node: int, n: int) -> list[int]:
    return [] if node < n else tree[node - n, :2].astype(int).tolist()


def _leaves(tree: FloatArray, node: int, n: int) -> list[int]:
    """The genes below a node; not by recursion, for trees can be as deep as there are genes."""
    found, open_nodes = [], [node]
    while open_nodes:
        one = open_nodes.pop()
        below = _children(tree, one, n)
        open_nodes += below
        if not below:
            found.append(one)
    return found
