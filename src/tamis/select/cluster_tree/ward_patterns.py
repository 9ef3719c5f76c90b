"""Rows grouped into Ward clusters, with one averaged row for each cluster."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.margins.kernel import inner_products, squared_distances
from tamis.scores.variance import variance

#: Values of a dense matrix scaled at a time.
_BLOCK = 4_000_000

#: A squared distance below this share of the squared lengths of the rows is rounding.
_NOISE = 1e-12

#: Bits to which averages are rounded, counted from the largest value of the column.
_BITS = 40


class Patterns(NamedTuple):
    """Averaged rows, sparse when the rows are, and the most frequent class of each cluster."""

    rows: Matrix
    codes: Codes


class WardPatterns:
    """Ward's hierarchy of rows, which can be cut at any number of clusters.

    With `by_class` each class has a hierarchy of its own, and a cut goes through all of them at one height. With
    `standardize` distances are computed on columns of standard deviation one. Sparse rows stay sparse; distances come
    from the inner products of the rows.

    Examples
    --------
    >>> ward = WardPatterns(np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1]), False, True)
    >>> ward.cut(2).rows.ravel(), ward.cut(2).codes
    (array([0.5, 8.5]), array([0, 1]))
    """

    def __init__(self, X: Matrix, codes: Codes, by_class: bool, standardize: bool) -> None:
        self._X, self._codes = X.tocsr() if sp.issparse(X) else X, codes
        deviation = np.sqrt(variance.evaluate(self._X, None).values)
        #: Standard deviation of each column; 1 for a constant.
        self.spread: FloatArray = np.where(deviation > 0, deviation, 1.0)
        products = _products(self._X, self.spread if standardize else np.ones(X.shape[1]))
        groups = [np.flatnonzero(codes == c) for c in np.unique(codes)] if by_class else [np.arange(X.shape[0])]
        self._merges = _all_merges([(rows, _hierarchy(products[np.ix_(rows, rows)])) for rows in groups])
        ends = min_max_axis(X, axis=0) if sp.issparse(X) else (X.min(axis=0), X.max(axis=0))
        low, high = (np.asarray(end, dtype=np.float64) for end in ends)
        self._varies: Mask = low != high
        _, exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))
        self._unit = np.ldexp(1.0, exponent - _BITS)
        #: The fewest clusters there can be.
        self.least = len(groups)

    def cut(self, n_clusters: int) -> Patterns:
        """One averaged row for each of `n_clusters` clusters; the first class among equally frequent ones."""
        n_rows = self._X.shape[0]
        edges = self._merges[: n_rows - n_clusters]
        graph = sp.coo_array((np.ones(edges.shape[0], dtype=bool), edges.T), shape=(n_rows, n_rows))
        _, cluster = connected_components(graph, directed=False)
        member = sp.csr_array((np.ones(n_rows), (cluster, np.arange(n_rows))), shape=(n_clusters, n_rows))
        average = self._rounded(member @ self._X, np.bincount(cluster).astype(np.float64))
        votes = np.zeros((n_clusters, int(self._codes.max()) + 1))
        np.add.at(votes, (cluster, self._codes), 1.0)
        return Patterns(average, votes.argmax(axis=1))

    def _rounded(self, sums: Matrix, sizes: FloatArray) -> Matrix:
        """Averages without rounding errors: no split may depend on them, least of all in a constant column."""
        if not sp.issparse(sums):
            average = np.rint(sums / sizes[:, None] / self._unit) * self._unit
            return np.where(self._varies, average, 0.0)
        sums = sums.tocsr()
        size = np.repeat(sizes, np.diff(sums.indptr))
        unit = self._unit[sums.indices]
        sums.data = np.rint(sums.data / size / unit) * unit * self._varies[sums.indices]
        return sums


def _products(X: Matrix, unit: FloatArray) -> FloatArray:
    """Inner products of the scaled rows; dense columns are centred, which does not change distances."""
    if sp.issparse(X):
        return inner_products(X @ sp.diags_array(1.0 / unit, format="csr"))
    products = np.zeros((X.shape[0], X.shape[0]))
    width = max(1, _BLOCK // X.shape[0])
    for left in range(0, X.shape[1], width):
        block = X[:, left : left + width].astype(np.float64)
        block = (block - block.mean(axis=0)) / unit[left : left + width]
        products += block @ block.T
    return products


def _hierarchy(products: FloatArray) -> FloatArray:
    """Ward's linkage from inner products; distances that differ only by rounding count as equal."""
    # Late: the catalog imports every part, and this is slow.
    from scipy.cluster.hierarchy import linkage

    if products.shape[0] < 2:
        return np.empty((0, 4))
    lengths = products.diagonal()
    distances = squared_distances(products, lengths, lengths)
    distances[distances <= _NOISE * (lengths[:, None] + lengths)] = 0.0
    near = np.sqrt(distances).astype(np.float32).astype(np.float64)
    return np.asarray(linkage(squareform(near, checks=False), method="ward"))


def _all_merges(hierarchies: list[tuple[np.ndarray, FloatArray]]) -> np.ndarray:
    """Pairs of rows whose clusters are merged, lowest first, over all hierarchies; one row stands for its cluster."""
    pairs, heights = [np.empty((0, 2), dtype=np.int64)], [np.empty(0)]
    for rows, links in hierarchies:
        name = np.concatenate([rows, np.empty(links.shape[0], dtype=np.int64)])
        joined = np.empty((links.shape[0], 2), dtype=np.int64)
        for number, (one, other) in enumerate(links[:, :2].astype(np.int64)):
            joined[number] = name[one], name[other]
            name[rows.shape[0] + number] = name[one]
        pairs.append(joined)
        heights.append(links[:, 2])
    # Within a hierarchy a merge is never lower than those below it.
    return np.concatenate(pairs)[np.argsort(np.concatenate(heights), kind="stable")]
