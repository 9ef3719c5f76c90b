"""A matrix of low rank close to a kernel matrix, and the inverse of a diagonal plus such a matrix.

With the kernel K_C between all rows and some of them, and K_CC between these, the Nyström approximation of the whole
matrix is K_C K_CC^-1 K_C'. Conjugate gradients that begin each step with the inverse of such an approximation need only
as many iterations as the rest of the matrix asks for.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg

from tamis.base.types import Codes, FloatArray

#: Eigenvalues below this share of the largest are rounding.
_ROUNDING = 1e-12

#: Values computed with at a time.
_BLOCK = 4_000_000


class LowRank(NamedTuple):
    """factor diag(signs) factor' is close to the kernel matrix; `rest` is the diagonal of what it leaves out.

    `size` is that of a value. For other values than those of a kernel the factor has those of some `rows`.
    """

    factor: FloatArray
    signs: FloatArray
    rest: FloatArray
    size: float
    rows: Codes | None = None

    @classmethod
    def of(cls, columns: FloatArray, core: FloatArray, diagonal: FloatArray) -> "LowRank":
        """From the values between all rows and some of them, between these, and of each row with itself.

        Examples
        --------
        >>> rows = np.array([[1.0], [2.0], [3.0]])
        >>> found = LowRank.of(rows @ rows[:1].T, rows[:1] @ rows[:1].T, (rows**2).ravel())
        >>> np.allclose(found.factor @ found.factor.T, rows @ rows.T)
        True
        """
        values, vectors = scipy.linalg.eigh(core, check_finite=False)
        size = np.abs(values)
        kept = size > _ROUNDING * size.max(initial=0.0)
        factor = columns @ (vectors[:, kept] / np.sqrt(size[kept]))
        signs = np.sign(values[kept])
        rest = np.maximum(diagonal - np.einsum("ij,j,ij->i", factor, signs, factor), 0.0)
        return cls(factor, signs, rest, float(np.abs(diagonal).mean()))

    @classmethod
    def sampled(cls, values: FloatArray, rows: Codes, n_rows: int) -> "LowRank":
        """From the values in some of the rows, each of which stands for as many."""
        factor = values * np.sqrt(n_rows / rows.size)
        size = float(np.sqrt((values**2).mean()))
        return cls(factor, np.ones(rows.size), np.zeros(values.shape[0]), size, rows)

    def core(self, second: FloatArray) -> FloatArray:
        """The matrix C for which factor C factor' is close to the values times diag(second) times their transpose."""
        if self.rows is not None:
            return np.diag(second[self.rows])
        return weighted(self.factor, second) * self.signs * self.signs[:, None]


def weighted(factor: FloatArray, weight: FloatArray) -> FloatArray:
    """factor' diag(weight) factor, for weights of 0 and more."""
    total = np.zeros((factor.shape[1], factor.shape[1]))
    height = max(1, _BLOCK // max(1, factor.shape[1]))
    for top in range(0, factor.shape[0], height):
        some = factor[top : top + height] * np.sqrt(weight[top : top + height])[:, None]
        total += some.T @ some
    return total


def low_rank_inverse(
    factor: FloatArray, outer: FloatArray, core: FloatArray, inverse: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """A function that multiplies (D + S F C F' S)^-1 with a vector, by Woodbury's identity.

    F is `factor`, S has the diagonal `outer`, C is `core`, positive semidefinite; `inverse` is the diagonal of D^-1.
    Where it is 0, so is the product.

    Examples
    --------
    >>> low_rank_inverse(np.ones((2, 1)), np.ones(2), np.eye(1), np.ones(2))(np.array([3.0, 0.0]))
    array([ 2., -1.])
    """
    values, vectors = scipy.linalg.eigh(core, check_finite=False)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    inner = root.T @ weighted(factor, outer**2 * inverse) @ root
    inner.flat[:: inner.shape[0] + 1] += 1.0
    solver = scipy.linalg.cho_factor(inner, lower=True, check_finite=False)

    def multiply(vector: FloatArray) -> FloatArray:
        scaled = inverse * vector
        weights = root.T @ (factor.T @ (outer * scaled))
        weights = root @ scipy.linalg.cho_solve(solver, weights, check_finite=False)
        return np.asarray(scaled - inverse * outer * (factor @ weights))

    return multiply
