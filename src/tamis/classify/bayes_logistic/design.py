"""The columns about their means, dense or sparse, and what the marginal likelihood needs of them."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.kernels.quadratic_forms import csc_quadratic_forms
from tamis.kernels.sparse import stored_arrays
from tamis.margins.kernel import inner_products


@dataclass(frozen=True)
class Design:
    """Columns less their means; sparse ones are stored as they are, and the means taken off what is made of them."""

    #: A dense array, centred, or a CSC matrix.
    X: Matrix
    #: Weighted means that are still to be taken off; zeros for a dense array.
    centre: FloatArray
    #: The share of each row in a mean.
    shares: FloatArray

    @classmethod
    def of(cls, X: Matrix, weight: FloatArray) -> tuple["Design", FloatArray]:
        """The columns of rows with weights, and their means."""
        shares = weight / weight.sum()
        centre = np.asarray(X.T @ shares)
        if sp.issparse(X):
            return cls(X, centre, shares), centre
        return cls(np.asfortranarray(X - centre), np.zeros_like(centre), shares), centre

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    def take(self, columns: Codes) -> "Design":
        """Some of the columns."""
        return Design(self.X[:, columns], self.centre[columns], self.shares)

    def products(self, V: FloatArray) -> FloatArray:
        """X'V for vectors of rows."""
        return np.asarray(self.X.T @ V) - np.multiply.outer(self.centre, V.sum(axis=0))

    def squares(self, weight: FloatArray) -> FloatArray:
        """The weighted sum of squares of each column."""
        raw = np.asarray((self.X.power(2) if sp.issparse(self.X) else self.X**2).T @ weight)
        cross = np.asarray(self.X.T @ weight)
        return np.maximum(raw - 2 * self.centre * cross + self.centre**2 * weight.sum(), 0.0)

    def forms(self, M: FloatArray) -> FloatArray:
        """x'Mx for every column x and a symmetric matrix M."""
        if not sp.issparse(self.X):
            return np.einsum("ij,ij->j", self.X, M @ self.X)
        raw = np.empty(self.X.shape[1])
        csc_quadratic_forms(*stored_arrays(self.X), np.ascontiguousarray(M), raw)
        sums = M.sum(axis=1)
        return raw - 2 * self.centre * np.asarray(self.X.T @ sums) + self.centre**2 * sums.sum()

    def coordinates(self, variances: FloatArray) -> FloatArray:
        """Rows Z with Z Z' = X diag(variances) X', with no more columns than rows."""
        root = np.sqrt(variances)
        scaled = self.X @ sp.diags_array(root) if sp.issparse(self.X) else self.X * root
        if self.shape[1] <= self.shape[0]:
            return scaled.toarray() - self.centre * root if sp.issparse(self.X) else scaled
        gram = inner_products(scaled)
        if sp.issparse(self.X):
            means = gram @ self.shares
            gram += self.shares @ means - means - means[:, None]
        # Rows about their mean have no full rank: the factorization ends where rounding begins.
        factor, order, rank, _ = scipy.linalg.lapack.dpstrf(gram, lower=1)
        Z = np.empty((order.size, rank))
        Z[order - 1] = np.tril(factor)[:, :rank]
        return Z
