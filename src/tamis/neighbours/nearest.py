"""The nearest rows of a training set, in an order that does not depend on rounding.

scikit-learn searches, or a compiled kernel for the metrics that it does not take on sparse rows. Of two rows at the
same distance, to twelve digits, the earlier comes first. Euclidean distances from inner products are off by the
rounding of the norms: where that could change the order they are computed again from differences.
"""

import math
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray, Mask, Matrix
from tamis.base.validation import canonical
from tamis.kernels.sparse import stored_arrays
from tamis.kernels.sparse_distances import CANBERRA, MAXIMUM, POWER, csr_distances
from tamis.margins.kernel import squared_norms

METRICS = ("minkowski", "canberra", "chebyshev")

#: Distances closer than this share of themselves are equal.
_EQUAL = 1e-12

#: Error of a squared distance from inner products, as a share of the squared norms and of the root of their length.
_ROUNDING = 2e-15

#: Rows searched beyond the k nearest, to see where a group of equals ends.
_BEYOND = 5

#: Numbers in the work space of a batch.
_BLOCK = 4_000_000

#: From a batch of rows and a number m: distances and row numbers of at least the m nearest for each.
_Search = Callable[[Matrix, int], tuple[FloatArray, np.ndarray]]


def nearest(X: Matrix, Z: Matrix, k: int, *, metric: str = "minkowski", alpha: float = 2.0) -> np.ndarray:
    """Row numbers in `Z` of the `k` nearest rows for each row of `X`, nearest first, the earlier of equals first.

    Examples
    --------
    >>> nearest(np.array([[0.0]]), np.array([[3.0], [-1.0], [1.0]]), 2)
    array([[1, 2]])
    """
    X, Z = _alike(X, Z)
    if metric == "minkowski":
        _refuse_overflow(X, Z, alpha)
    z_norms = squared_norms(Z) if metric == "minkowski" and alpha == 2 else None
    blockwise = sp.issparse(Z) and z_norms is None
    search = _by_blocks(Z, metric, alpha) if blockwise else _by_sklearn(Z, metric, alpha)
    found = np.empty((X.shape[0], k), dtype=np.intp)
    rows, many = np.arange(X.shape[0]), min(k + _BEYOND, Z.shape[0])
    row_size = X.nnz // max(1, X.shape[0]) if sp.issparse(X) else X.shape[1]
    while rows.size:
        height = max(1, _BLOCK // max(1, row_size, Z.shape[0] if blockwise else many))
        unsure = [rows[:0]]
        for batch in np.split(rows, range(height, rows.size, height)):
            distances, places = search(X[batch], many)
            reach = distances.max(axis=1)
            if z_norms is not None:
                distances, reach = _settle_squares(distances**2, places, X[batch], Z, z_norms)
            found[batch], last = _in_order(distances, places, k)
            # Rows not searched may be as near as the k-th nearest.
            unsure.append(batch[(last * (1 + _EQUAL) >= reach) & (places.shape[1] < Z.shape[0])])
        rows, many = np.concatenate(unsure), min(4 * many, Z.shape[0])
    return found


def _in_order(distances: FloatArray, places: np.ndarray, k: int) -> tuple[np.ndarray, FloatArray]:
    """The first `k` of `places` by distance, then by place among equals; and the k-th smallest distance."""
    by_distance = np.argsort(distances, axis=1, kind="stable")
    distances = np.take_along_axis(distances, by_distance, axis=1)
    places = np.take_along_axis(places, by_distance, axis=1)
    group = np.cumsum(np.diff(distances, axis=1, prepend=0.0) > _EQUAL * distances, axis=1)
    order = np.lexsort((places, group), axis=1)[:, :k]
    return np.take_along_axis(places, order, axis=1), distances[:, k - 1]


def _settle_squares(
    squares: FloatArray, places: np.ndarray, X: Matrix, Z: Matrix, z_norms: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Squared distances, from differences in the rows where rounding could change their order.

    Also returns, for each row, the squared distance below which no row of `Z` is missing.
    """
    error = _ROUNDING * math.sqrt(X.shape[1]) * (squared_norms(X)[:, None] + z_norms[places])
    close: Mask = np.diff(squares, axis=1) <= error[:, 1:] + _EQUAL * squares[:, 1:]
    reach = squares[:, -1] - error[:, -1]
    close_rows = np.flatnonzero(close.any(axis=1))
    for place in range(places.shape[1] if close_rows.size else 0):
        one, other = X[close_rows], Z[places[close_rows, place]]
        apart = one - other if sp.issparse(X) else np.subtract(one, other, dtype=np.float64)
        squares[close_rows, place] = squared_norms(apart)
    return squares, reach


def _by_sklearn(Z: Matrix, metric: str, alpha: float) -> _Search:
    if metric == "minkowski":
        metric = {1.0: "manhattan", 2.0: "euclidean"}.get(alpha, metric)
    finder = NearestNeighbors(algorithm="brute", metric=metric, p=alpha).fit(Z)

    def search(X: Matrix, many: int) -> tuple[FloatArray, np.ndarray]:
        distances, places = finder.kneighbors(X, n_neighbors=many)
        return distances.astype(np.float64, copy=False), places

    return search


def _by_blocks(Z: Matrix, metric: str, alpha: float) -> _Search:
    """Search for CSR rows by computing all distances; returns all rows of the largest group of equals."""
    code = {"minkowski": POWER, "canberra": CANBERRA, "chebyshev": MAXIMUM}[metric]
    rows = stored_arrays(Z)

    def search(X: Matrix, many: int) -> tuple[FloatArray, np.ndarray]:
        block = np.empty((X.shape[0], Z.shape[0]))
        csr_distances(*stored_arrays(X), *rows, X.shape[1], code, alpha, block)
        if metric == "minkowski" and alpha != 1:
            block **= 1 / alpha
        edge = np.partition(block, many - 1, axis=1)[:, many - 1, None]
        many = min(int((block <= edge * (1 + _EQUAL)).sum(axis=1).max()) + 1, Z.shape[0])
        places = np.argpartition(block, many - 1, axis=1)[:, :many]
        return np.take_along_axis(block, places, axis=1), places

    return search


def _alike(X: Matrix, Z: Matrix) -> tuple[Matrix, Matrix]:
    """Both dense and row-major, or both canonical CSR in float64; of one type."""
    if not sp.issparse(X) and not sp.issparse(Z):
        dtype = np.result_type(X, Z)
        return np.ascontiguousarray(X, dtype=dtype), np.ascontiguousarray(Z, dtype=dtype)
    X, Z = (canonical(sp.csr_matrix(M, dtype=np.float64)) for M in (X, Z))
    index = np.result_type(X.indices, X.indptr, Z.indices, Z.indptr)
    for M in (X, Z):
        M.indices, M.indptr = (a.astype(index, copy=False) for a in (M.indices, M.indptr))
    return X, Z


def _refuse_overflow(X: Matrix, Z: Matrix, alpha: float) -> None:
    values = [M.data if sp.issparse(M) else M for M in (X, Z)]
    # As float64: float32 could overflow here already.
    size = sum(max(float(v.max()), -float(v.min())) for v in values if v.size)
    if size > 1 and alpha * math.log(size) + math.log(X.shape[1]) > math.log(np.finfo(np.float64).max):
        raise TamisError(
            f"distances with alpha={alpha:g} overflow on values as large as {size / 2:.3g}; "
            'scale the columns first, or take metric="chebyshev"'
        )
