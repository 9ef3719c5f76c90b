"""Weights of columns in ridge regression, for recursive elimination on a target of numbers."""

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray, Mask, Matrix
from tamis.margins.kernel import inner_products

#: Accumulated rounding of a Gram matrix, in units of its trace, at which it is computed again.
_WORN = 1e4

#: Eigenvalues below this share of the largest are rounding.
_NOISE = 1e-12


class RidgeWeights:
    """Absolute weights of columns for :func:`tamis.incremental.elimination.eliminate`.

    With A the rows less their weighted mean, times the roots of their weights, and t the target likewise, the weights
    are A'(AA' + penalty I)^-1 t. While there are more columns than rows, AA' is kept, and the products of columns that
    leave are subtracted; later A'A, from which columns are deleted. Sparse rows are centred in the products alone.

    Parameters
    ----------
    X : array or CSR/CSC matrix of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        Numbers.
    weight : array of shape (n_rows,)
        Weights above zero.
    penalty : float
        Of the squared weights; 0 gives least squares, of the smallest weights where they are not unique.

    Examples
    --------
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> weigh = RidgeWeights(X, np.array([7.0, 11.0, 6.0, 12.0]), np.ones(4), 4.0)
    >>> weigh(np.array([0, 1])).round(6), weigh(np.array([0])).round(6)
    (array([1.25, 0.  ]), array([1.25]))
    """

    def __init__(self, X: Matrix, y: FloatArray, weight: FloatArray, penalty: float) -> None:
        self._penalty = penalty
        self._weight, self._share = weight, weight / weight.sum()
        target = y - float(self._share @ y) if np.ptp(y) > 0 else np.zeros(y.size)
        self._pull = weight * target
        self._target = np.sqrt(weight) * target
        self._columns = np.arange(X.shape[1])
        low, high = min_max_axis(X, axis=0) if sp.issparse(X) else (X.min(axis=0), X.max(axis=0))
        self._constant: Mask = np.asarray(low == high)
        #: The columns as rows, which are cheap to drop; of dense ones the mean is subtracted at once.
        self._store: Matrix = X.T.tocsr().astype(np.float64) if sp.issparse(X) else np.array(X.T, np.float64, order="C")
        if not sp.issparse(X):
            self._store = self._store - (self._store @ self._share)[:, None]
            self._store[self._constant] = 0.0
        self._gram: FloatArray | None = None
        self._scatter: FloatArray | None = None

    def __call__(self, columns: np.ndarray) -> FloatArray:
        """Absolute weight of each of the columns, which must be among those of the last call."""
        if columns.size < self._columns.size:
            self._keep(np.isin(self._columns, columns, assume_unique=True))
            self._columns = columns
        weights = self._by_rows() if columns.size > self._weight.size else self._by_columns()
        return np.where(self._constant, 0.0, np.abs(weights))

    def _keep(self, kept: Mask) -> None:
        leaving = self._store[~kept]
        self._store, self._constant = self._store[kept], self._constant[kept]
        if self._scatter is not None:
            self._scatter = self._scatter[kept][:, kept]
        elif self._gram is not None:
            # Each subtraction has the rounding error of the full matrix.
            self._gram -= inner_products(leaving.T)
            self._subtractions += 1
            fewer = leaving.shape[0] < self._store.shape[0]
            if not fewer or self._subtractions * self._full > _WORN * self._gram.trace():
                self._gram = None

    def _by_rows(self) -> FloatArray:
        if self._gram is None:
            self._gram = _finite(inner_products(self._store.T))
            self._full, self._subtractions = float(self._gram.trace()), 0
        gram = self._gram
        if sp.issparse(self._store):
            along = gram @ self._share
            gram = gram - along - along[:, None] + self._share @ along
        root = np.sqrt(self._weight)
        pull = root * self._solved(gram * root * root[:, None], self._target)
        return self._times(pull)

    def _by_columns(self) -> FloatArray:
        if self._scatter is None:
            self._gram = None
            root = np.sqrt(self._weight)
            rows = self._store.multiply(root).tocsr() if sp.issparse(self._store) else self._store * root
            self._scatter = _finite(inner_products(rows))
            if sp.issparse(self._store):
                mean = self._store @ self._share
                self._scatter = self._scatter - self._weight.sum() * np.outer(mean, mean)
        return self._solved(self._scatter, self._times(self._pull))

    def _times(self, pull: FloatArray) -> FloatArray:
        """Products of the centred columns with a number for each row."""
        found = np.asarray(self._store @ pull)
        return found - (self._store @ self._share) * pull.sum() if sp.issparse(self._store) else found

    def _solved(self, matrix: FloatArray, right: FloatArray) -> FloatArray:
        """The solution for the matrix with the penalty on its diagonal."""
        if self._penalty > 0:
            system = matrix + self._penalty * np.eye(matrix.shape[0])
            try:
                return np.asarray(scipy.linalg.cho_solve(scipy.linalg.cho_factor(system), right))
            except scipy.linalg.LinAlgError:
                pass
        values, vectors = scipy.linalg.eigh(matrix)
        real = values > _NOISE * max(float(values[-1]), 0.0)
        found: FloatArray = vectors[:, real] @ (vectors[:, real].T @ right / (values[real] + self._penalty))
        return found


def _finite(products: FloatArray) -> FloatArray:
    if not np.isfinite(products).all():
        raise TamisError("the inner products of the rows overflow; scale the columns first")
    return products
