"""Kernel functions between two sets of rows, dense or CSR, in float64.

A kernel is computed in two steps. :func:`ground` returns inner products, squared distances or cosines, which need a
pass over the columns and no parameter; :func:`apply` maps them to kernel values, entry by entry. One ground matrix
serves every width, degree and C of a search.

Products are summed in float64, so that the distance of two near rows is not lost in the rounding of their norms;
float32 rows are converted a block of columns at a time.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import canonical
from tamis.kernels.gram import csc_gram
from tamis.kernels.sparse import stored_arrays

#: The ground matrix of each kernel.
GROUNDS = {
    "linear": "products",
    "gaussian": "distances",
    "exponential": "distances",
    "polynomial": "products",
    "cosine": "cosines",
    "sigmoid": "products",
}

#: Numbers converted to float64 at a time.
_BLOCK = 4_000_000

#: Share of non-zeros above which BLAS is quicker for a column.
_FULL = 0.15


def inner_products(X: Matrix, Z: Matrix | None = None) -> FloatArray:
    """Inner product of every row of `X` with every row of `Z`, or of `X` itself: dense, float64.

    Examples
    --------
    >>> inner_products(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[5., 2.],
           [2., 1.]])
    """
    if Z is None and sp.issparse(X):
        return _sparse_gram(canonical(X.tocsc()))
    Z = X if Z is None else Z
    if not sp.issparse(X) and not sp.issparse(Z):
        return _dense_products(X, Z)
    if not sp.issparse(X):
        return inner_products(Z, X).T
    other = Z.T.tocsr().astype(np.float64, copy=False) if sp.issparse(Z) else np.ascontiguousarray(Z.T, np.float64)
    return np.asarray(safe_sparse_dot(X.astype(np.float64, copy=False), other, dense_output=True))


def _sparse_gram(columns: Matrix) -> FloatArray:
    """Products of the rows of a CSC matrix; columns with many non-zeros go to BLAS as dense blocks."""
    n_rows = columns.shape[0]
    products = np.zeros((n_rows, n_rows))
    full = np.diff(columns.indptr) > _FULL * n_rows
    thin = columns if not full.any() else columns[:, ~full]
    csc_gram(*stored_arrays(thin), products)
    width = max(1, _BLOCK // n_rows)
    for some in np.split(np.flatnonzero(full), range(width, int(full.sum()), width)):
        if some.size:
            block = columns[:, some].toarray().astype(np.float64, copy=False)
            products += block @ block.T
    return products


def _dense_products(X: FloatArray, Z: FloatArray) -> FloatArray:
    if X.dtype == Z.dtype == np.float64:
        return X @ Z.T
    products = np.zeros((X.shape[0], Z.shape[0]))
    width = max(1, _BLOCK // max(1, X.shape[0] + Z.shape[0]))
    for left in range(0, X.shape[1], width):
        x = X[:, left : left + width].astype(np.float64)
        # The product of a matrix with its own transpose costs BLAS half as much.
        z = x if Z is X else Z[:, left : left + width].astype(np.float64)
        products += x @ z.T
    return products


def squared_norms(X: Matrix) -> FloatArray:
    """Squared length of every row, in float64."""
    if sp.issparse(X):
        return np.asarray(row_norms(canonical(X.tocsr()).astype(np.float64, copy=False), squared=True))
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def known_squared_norms(X: Matrix) -> FloatArray:
    """Squared length of every row without its missing values."""
    known = X.copy() if sp.issparse(X) else np.nan_to_num(X)
    if sp.issparse(X):
        known.data = np.nan_to_num(known.data)
    return squared_norms(known)


def squared_distances(products: FloatArray, x_norms: FloatArray, z_norms: FloatArray) -> FloatArray:
    """Squared distances |x|^2 + |z|^2 - 2 x.z from inner products and squared norms; never below zero."""
    # In this order distances are exactly symmetric, and exactly 0 from a row to itself.
    distances = np.add.outer(x_norms, z_norms)
    distances -= products
    distances -= products
    return np.maximum(distances, 0.0, out=distances)


def cosines(products: FloatArray, x_norms: FloatArray, z_norms: FloatArray) -> FloatArray:
    """Cosine of the angle between rows; 0 with a row of zeros."""
    x_lengths, z_lengths = (np.sqrt(np.where(norms > 0, norms, 1.0)) for norms in (x_norms, z_norms))
    return products / x_lengths[:, None] / z_lengths


def ground(kernel: str, X: Matrix, Z: Matrix | None = None) -> FloatArray:
    """Ground matrix of `kernel` between the rows of `X` and of `Z` (or of `X` itself); free of parameters."""
    products = inner_products(X, Z)
    if GROUNDS[kernel] == "products":
        return products
    if Z is None:
        # Norms from the products: a row is then at distance exactly 0 from itself.
        x_norms = z_norms = products.diagonal()
    else:
        x_norms, z_norms = squared_norms(X), squared_norms(Z)
    return (squared_distances if GROUNDS[kernel] == "distances" else cosines)(products, x_norms, z_norms)


def apply(kernel: str, grounds: FloatArray, *, sigma: float = 1.0, degree: int = 3, coef0: float = 0.0) -> FloatArray:
    """Kernel values from a ground matrix, which is not changed.

    ============ ================================
    linear       x.x'
    gaussian     exp(-|x - x'|^2 / sigma)
    exponential  exp(-|x - x'| / sigma)
    polynomial   (x.x' / sigma + coef0)^degree
    cosine       (cos(x, x') + coef0)^degree
    sigmoid      tanh(x.x' / sigma + coef0)
    ============ ================================

    Examples
    --------
    >>> apply("gaussian", np.array([[0.0, 2.0]]), sigma=2.0).round(4)
    array([[1.    , 0.3679]])
    """
    # Overflow is reported below.
    with np.errstate(over="ignore", invalid="ignore"):
        if kernel == "linear":
            values = grounds
        elif kernel == "gaussian":
            values = np.exp(grounds / -sigma)
        elif kernel == "exponential":
            values = np.exp(np.sqrt(grounds) / -sigma)
        elif kernel == "polynomial":
            values = (grounds / sigma + coef0) ** degree
        elif kernel == "cosine":
            values = (grounds + coef0) ** degree
        else:
            values = np.tanh(grounds / sigma + coef0)
    if not np.isfinite(values).all():
        raise TamisError(f"the {kernel} kernel overflows on this data; scale the columns first, or set a larger sigma")
    return values


def kernel_values(
    kernel: str, X: Matrix, Z: Matrix | None = None, *, sigma: float = 1.0, degree: int = 3, coef0: float = 0.0
) -> FloatArray:
    """Kernel between every row of `X` and every row of `Z` (or of `X` itself).

    Examples
    --------
    >>> kernel_values("polynomial", np.array([[1.0, 2.0]]), np.array([[3.0, 0.0]]), degree=2, coef0=1.0)
    array([[16.]])
    """
    return apply(kernel, ground(kernel, X, Z), sigma=sigma, degree=degree, coef0=coef0)
