"""The normal equations of ridge regression, in the smaller of their two forms, for any number of penalties."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from tamis.base.types import FloatArray, Matrix
from tamis.margins.kernel import inner_products

#: Numbers in the work space of a batch of rows.
_BLOCK = 4_000_000

#: Penalties to try, in units of the largest eigenvalue, the largest first.
PENALTIES = np.geomspace(1e3, 1e-8, 45)

#: The least share of a row that the others leave free; the rest is rounding.
FREE = 1e-10

#: Errors with a smaller relative difference differ by rounding alone.
EQUAL = 1e-12


class _Spectrum(NamedTuple):
    """Eigenvalues above zero, their vectors (of rows or columns), and the target's product with each axis."""

    values: FloatArray
    vectors: FloatArray
    products: FloatArray


class NormalEquations:
    """Solve ``min_w,b sum_i w_i (y_i - x_i.w - b)^2 + alpha |w|^2`` for any alpha from one matrix.

    With A the rows less their weighted mean, times the roots of their weights, and t the target likewise, the solution
    is w = (A'A + alpha I)^-1 A't = A'(AA' + alpha I)^-1 t. The first inverse is used where there are more rows than
    columns, else the second. Sparse rows are centred in the products alone.
    """

    def __init__(self, X: Matrix, y: FloatArray, weight: FloatArray) -> None:
        self._weight = weight
        self._root = np.sqrt(weight)
        share = weight / weight.sum()
        self._mean = np.asarray(X.T @ share, dtype=np.float64).ravel()
        self._target_mean = float(y @ share) if np.ptp(y) > 0 else float(y[0])
        self._target = y - self._target_mean
        # Dense rows are centred at once, which loses no digits to a large mean.
        self._X = X.astype(np.float64, copy=False) if sp.issparse(X) else X - self._mean
        self._shift = self._mean if sp.issparse(X) else np.zeros(X.shape[1])
        self.size = min(X.shape)
        self._by_rows = X.shape[0] <= X.shape[1]

    def solve(self, alpha: float, *, decompose: bool) -> tuple[FloatArray, float]:
        """Weights and intercept; with `decompose` from the eigenvalues, which then serve every other penalty."""
        found = self._decomposed(alpha) if decompose or alpha == 0 else self._factored(alpha)
        if self._by_rows:
            pull = self._root * found
            found = self._X.T @ pull - self._shift * pull.sum()
        return found, self._target_mean - float(self._mean @ found)

    @cached_property
    def _matrix(self) -> FloatArray:
        """AA' or A'A."""
        if self._by_rows:
            gram = inner_products(self._X)
            if sp.issparse(self._X):
                along = self._X @ self._mean
                gram -= along
                gram -= along[:, None] - self._mean @ self._mean
            return gram * self._root * self._root[:, None]
        if not sp.issparse(self._X):
            rows = self._X * self._root[:, None]
            return rows.T @ rows
        products = inner_products((self._X.multiply(self._root[:, None])).tocsc().T.tocsr())
        return products - self._weight.sum() * np.outer(self._mean, self._mean)

    @cached_property
    def _right_side(self) -> FloatArray:
        """t or A't."""
        if self._by_rows:
            return self._root * self._target
        return np.asarray(self._X.T @ (self._weight * self._target)).ravel()

    @cached_property
    def _spectrum(self) -> _Spectrum:
        values, vectors = scipy.linalg.eigh(self._matrix)
        real = values > values[-1] * self.size * np.finfo(np.float64).eps
        values, vectors = values[real], vectors[:, real]
        products = vectors.T @ self._right_side
        return _Spectrum(values, vectors, np.sqrt(values) * products if self._by_rows else products)

    def _decomposed(self, alpha: float) -> FloatArray:
        values, vectors, products = self._spectrum
        weights = products / (values + alpha)
        return vectors @ (weights / np.sqrt(values) if self._by_rows else weights)

    def _factored(self, alpha: float) -> FloatArray:
        system = self._matrix.copy()
        system.flat[:: self.size + 1] += alpha
        try:
            return np.asarray(scipy.linalg.solve(system, self._right_side, assume_a="pos", overwrite_a=True))
        except scipy.linalg.LinAlgError:
            return self._decomposed(alpha)

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Penalties, the largest first, and the root mean squared error of each on rows left out of the fit.

        With r the residual and h the leverage of a row, the error of a fit without it is r / (1 - h). Where all weights
        are whole numbers a row counts as that many copies, of which one is left out.
        """
        values, vectors, products = self._spectrum
        if values.size == 0:
            return np.ones(1), np.array([np.sqrt(np.average(self._target**2, weights=self._weight))])
        alphas = values[-1] * PENALTIES
        # A penalty's weights in the axes, of shape (axes, penalties).
        inverse = 1.0 / (values[:, None] + alphas)
        total = self._weight.sum()
        copies = bool((self._weight == np.rint(self._weight)).all())
        squares = np.zeros(alphas.size)
        height = max(1, _BLOCK // max(values.size, alphas.size))
        for top in range(0, self._target.size, height):
            rows = slice(top, top + height)
            weight = self._weight[rows]
            if self._by_rows:
                places = vectors[rows] * np.sqrt(values) / self._root[rows, None]
            else:
                places = self._X[rows] @ vectors - self._shift @ vectors
            leverage = (places**2 @ inverse + 1.0 / total) * (1.0 if copies else weight[:, None])
            residual = self._target[rows, None] - places @ (products[:, None] * inverse)
            squares += weight @ (residual / np.maximum(1.0 - leverage, FREE)) ** 2
        return alphas, np.sqrt(squares / total)
