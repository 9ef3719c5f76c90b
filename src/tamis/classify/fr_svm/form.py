"""The kernel of small machines on a few columns: its values, the elimination of columns by it, and decisions."""

from typing import NamedTuple

import numpy as np

from tamis.base.types import Codes, FloatArray
from tamis.classify.fr_svm.pairwise import Machine, PolynomialMachine
from tamis.margins.elimination import ByColumns, ByDistances, ByProducts, ByRows, Remaining
from tamis.margins.kernel import apply, inner_products, kernel_values

#: Linear elimination uses liblinear beyond this many rows of a pair, if the components are fewer than this share.
_MANY_ROWS, _FEW_COLUMNS = 1_000, 1 / 8


class Form(NamedTuple):
    """A kernel with its parameters, and what weighs columns in an elimination, "kernel" or "linear"."""

    kernel: str
    sigma: float
    degree: int
    coef0: float
    ranking: str

    def values(self, Z: FloatArray, constant: float) -> FloatArray:
        """The kernel matrix of some rows; `constant` is added to each inner product of the polynomial kernel."""
        if self.kernel != "polynomial":
            return kernel_values(self.kernel, Z, sigma=self.sigma)
        products = inner_products(Z) + constant
        return apply("polynomial", products, sigma=self.sigma, degree=self.degree, coef0=self.coef0)

    def remaining(self, Z: FloatArray, y: Codes, cost: FloatArray) -> Remaining:
        """The columns of the rows of two classes, to be eliminated."""
        n_rows, most = Z.shape
        if self.kernel == "gaussian" and self.ranking == "kernel":
            return ByDistances(Z, y, cost, self.sigma)
        if self.kernel == "polynomial" and self.ranking == "kernel":
            return ByProducts(Z, y, cost, self.sigma, self.degree, self.coef0)
        if n_rows > _MANY_ROWS and most < _FEW_COLUMNS * n_rows:
            return ByColumns(Z, y, cost)
        return ByRows(Z, y, cost)

    def machine(self, columns: np.ndarray, vectors: FloatArray, weights: FloatArray, intercept: float) -> Machine:
        """The machine with these support vectors on some columns."""
        if self.kernel == "polynomial":
            return PolynomialMachine(columns, vectors, weights, intercept, self.sigma, self.degree, self.coef0)
        return Machine(columns, vectors, weights, intercept, self.sigma)
