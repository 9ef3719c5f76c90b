"""Regularized least squares on a kernel matrix, for any number of penalties, and the errors on rows left out."""

from functools import cached_property

import numpy as np
import scipy.linalg

from tamis.base.types import FloatArray

#: Penalties to try, in units of the largest eigenvalue, the largest first.
PENALTIES = np.geomspace(1e2, 1e-8, 41)

#: Numbers in the work space of a batch of penalties.
_BLOCK = 4_000_000


class KernelLeastSquares:
    """Minimise ``sum_i v_i (y_i - f(x_i))^2 + alpha |f|^2`` over the functions f of a kernel, for any alpha.

    The solution is f(x) = sum_i c_i k(x_i, x) with c = S (SKS + alpha I)^-1 S y, where S has the roots of the costs v_i
    on its diagonal. There may be several targets y, the columns of `targets`. `gram`, which is overwritten, is K; its
    eigenvalues are at least 0 but for rounding.

    Parameters
    ----------
    gram : array of shape (n_rows, n_rows)
    targets : array of shape (n_rows, n_targets)
    cost : array of shape (n_rows,)
        The costs v_i, above zero.
    copies : array of shape (n_rows,)
        How many equal rows a row stands for, of which :meth:`leave_one_out` leaves out one.
    """

    def __init__(self, gram: FloatArray, targets: FloatArray, cost: FloatArray, copies: FloatArray) -> None:
        self._root = np.sqrt(cost)[:, None]
        self._copies = copies[:, None]
        self._targets = self._root * targets
        gram *= self._root
        gram *= self._root.T
        self._gram = gram

    @cached_property
    def _spectrum(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Eigenvalues, eigenvectors, and the products of these with the targets."""
        # Dividing and conquering takes a fifth of the time of the default.
        values, vectors = scipy.linalg.eigh(self._gram, driver="evd")
        return np.maximum(values, 0.0), vectors, vectors.T @ self._targets

    def penalties(self) -> FloatArray:
        """Penalties to try, the largest first."""
        largest = float(self._spectrum[0][-1])
        return PENALTIES * (largest if largest > 0 else 1.0)

    def solve(self, alpha: float, *, decompose: bool) -> FloatArray:
        """The coefficients c, a column a target; with `decompose` by the eigenvalues, which serve every penalty."""
        if not decompose:
            system = self._gram.copy()
            system.flat[:: system.shape[0] + 1] += alpha
            try:
                found = scipy.linalg.solve(system, self._targets, assume_a="pos", overwrite_a=True)
                return np.asarray(self._root * found)
            except scipy.linalg.LinAlgError:
                pass
        values, vectors, products = self._spectrum
        return np.asarray(self._root * (vectors @ (products / (values + alpha)[:, None])))

    def leave_one_out(self, alphas: FloatArray) -> FloatArray:
        """Root mean squared error on rows left out of the fit one at a time, for each penalty.

        With U and e the eigenvectors and eigenvalues of SKS, g = U (e + alpha)^-1 U'S y and
        d_i = sum_k U_ik^2 / (e_k + alpha), the residual of row i is alpha g_i / s_i and its leverage 1 - alpha d_i. The
        error of a fit without it is their ratio g_i / (s_i d_i), in which no digits cancel. Of w equal rows each has
        the w-th part of their leverage. The costs of the others and alpha stay what they are.
        """
        values, vectors, products = self._spectrum
        n_rows, n_targets = self._targets.shape
        squares = vectors**2
        errors = np.empty(alphas.size)
        width = max(1, _BLOCK // (n_rows * n_targets))
        for left in range(0, alphas.size, width):
            some = alphas[left : left + width]
            inverse = 1.0 / (values[:, None] + some)
            free = some * (squares @ inverse)
            solved = vectors @ (products[:, :, None] * inverse[:, None]).reshape(n_rows, -1)
            # Roots of the costs stay in the residuals: their squares weigh the errors.
            residuals = some * solved.reshape(n_rows, n_targets, -1)
            left_out = residuals * (self._copies / (self._copies - 1.0 + free))[:, None]
            errors[left : left + width] = (left_out**2).mean(axis=1).sum(axis=0)
        return np.sqrt(errors / float((self._root**2).sum()))
