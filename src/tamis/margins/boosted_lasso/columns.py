"""Columns in units of their deviation, dense or sparse, for rows with weights."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import canonical

#: Share of the mean below which the deviation of a column is rounding: the column is constant.
CONSTANT = 1e-12

#: Cells of a dense matrix that are read at a time.
_CELLS = 1 << 22


class Target(NamedTuple):
    """What squared error needs of a target: its mean, products of residuals with columns, half the mean square."""

    mean: float
    pull: FloatArray
    loss: float


class Columns:
    """The columns of a matrix, each with mean 0 and mean square 1 over the weighted rows; constant ones are 0.

    Sparse columns stay sparse: their means and deviations are kept apart.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
    share : array of shape (n_rows,)
        Weights of the rows, above zero and with a sum of 1.
    """

    def __init__(self, X: Matrix, share: FloatArray) -> None:
        self.share = share
        self.n_rows, self.n_columns = X.shape
        if sp.issparse(X):
            X = canonical(X.tocsc()).astype(np.float64, copy=False)
            columns = np.repeat(np.arange(self.n_columns), np.diff(X.indptr))
            weight = share[X.indices]
            self.means = np.bincount(columns, weights=weight * X.data, minlength=self.n_columns)
            squares = np.bincount(
                columns, weights=weight * (X.data - self.means[columns]) ** 2, minlength=self.n_columns
            )
            absent = np.maximum(1.0 - np.bincount(columns, weights=weight, minlength=self.n_columns), 0.0)
            # What rounding leaves of the weight of no row would keep a constant column from being 0.
            absent[np.diff(X.indptr) == self.n_rows] = 0.0
            squares += absent * self.means**2
        else:
            X = np.array(X, dtype=np.float64)
            self.means = share @ X
            X -= self.means
            squares = np.empty(self.n_columns)
            width = max(1, _CELLS // self.n_rows)
            for start in range(0, self.n_columns, width):
                block = slice(start, start + width)
                squares[block] = share @ X[:, block] ** 2
        self.scales = np.sqrt(squares)
        self.scales[self.scales <= CONSTANT * np.abs(self.means)] = 0.0
        self._inverse = np.divide(1.0, self.scales, out=np.zeros(self.n_columns), where=self.scales > 0)
        if not sp.issparse(X):
            X *= self._inverse
        self._X = X

    def products(self, residual: FloatArray) -> FloatArray:
        """Products of all columns with weighted residuals, or several of them, whose sum is 0."""
        if sp.issparse(self._X):
            scale = self._inverse if residual.ndim == 1 else self._inverse[:, None]
            return np.asarray(self._X.T @ residual) * scale
        return np.asarray(self._X.T @ residual)

    def target(self, y: FloatArray) -> Target:
        """A target for squared error."""
        mean = float(self.share @ y)
        residual = y - mean
        return Target(mean, self.products(self.share * residual), 0.5 * float(self.share @ residual**2))

    def take(self, columns: np.ndarray) -> FloatArray:
        """Some columns as a dense array."""
        if sp.issparse(self._X):
            return (self._X[:, columns].toarray() - self.means[columns]) * self._inverse[columns]
        return np.asarray(self._X[:, columns])

    def gram(self, columns: np.ndarray) -> FloatArray:
        """Products of some columns with all, one row for each of them."""
        return np.ascontiguousarray(self.products(self.share[:, None] * self.take(columns)).T)

    def original(self, weights: FloatArray) -> FloatArray:
        """Weights of the columns as they were given."""
        return weights * self._inverse
