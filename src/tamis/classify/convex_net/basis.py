"""Training rows of convex networks, the values of basis functions on them, and the objective."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.data.duplicates import equal_rows

#: Values whose squares can be summed.
LARGEST = 1e100

#: A matrix is symmetric, and has no eigenvalue below zero, when it misses that by this share of its largest value.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Rows:
    """Training rows with a weight above zero; `places` are their numbers among all training rows."""

    X: Matrix
    y: Codes
    weight: FloatArray
    places: Codes

    def distinct(self) -> "Rows":
        """Equal rows of one class merged into the first of them, with their weights added.

        Examples
        --------
        >>> rows = Rows(np.array([[1.0], [2.0], [1.0]]), np.array([0, 1, 0]), np.ones(3), np.arange(3))
        >>> rows.distinct().weight
        array([2., 1.])
        """
        alike = equal_rows(self.X) * (int(self.y.max()) + 1) + self.y
        _, first, number = np.unique(alike, return_index=True, return_inverse=True)
        if first.size == self.y.size:
            return self
        order = np.argsort(first)
        rows = first[order]
        weight = np.asarray(np.bincount(number, weights=self.weight)[order], dtype=np.float64)
        return replace(self, X=self.X[rows], y=self.y[rows], weight=weight, places=self.places[rows])


def check_largest(values: FloatArray) -> None:
    """Refuse values whose squares cannot be summed."""
    if (largest := np.abs(values).max()) > LARGEST:
        raise TamisError(f"the basis functions of convex_net reach {largest:.2g}; scale the columns first")


def basis_values(basis: Callable[[Any], Any], X: Matrix) -> FloatArray:
    """Values of the user's basis functions, checked: a column for each."""
    values = basis(X)
    if sp.issparse(values):
        raise TamisError("'basis' of convex_net returned a sparse matrix; it must return an array")
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != X.shape[0] or values.shape[1] == 0:
        raise TamisError(
            f"'basis' of convex_net returned shape {values.shape} for {X.shape[0]} rows; "
            "it must return a line for each row and a column for each basis function"
        )
    if not np.isfinite(values).all():
        raise TamisError("'basis' of convex_net returned values that are not finite numbers")
    return values


def interval(low: Any, high: Any, weight: FloatArray, *, around_zero: bool) -> tuple[FloatArray, FloatArray]:
    """Bounds of the coefficients, multiplied by the weight of each."""
    ends = []
    for name, given, open_end in (("low", low, -np.inf), ("high", high, np.inf)):
        end = np.asarray(open_end if given is None else given, dtype=np.float64)
        if np.isnan(end).any():
            raise TamisError(f"'{name}' of convex_net must not hold NaN")
        if end.ndim > 1 or (end.ndim == 1 and end.shape != weight.shape):
            raise TamisError(
                f"'{name}' of convex_net takes a number or {weight.size} numbers, one for each basis function; "
                f"got shape {end.shape}"
            )
        ends.append(np.ascontiguousarray(np.broadcast_to(end, weight.shape)) * weight)
    if not ((ends[0] <= ends[1]) & (ends[0] < np.inf) & (ends[1] > -np.inf)).all():
        raise TamisError(f"'low' of convex_net must not lie above 'high'; got low={low!r}, high={high!r}")
    if around_zero and not ((ends[0] <= 0) & (ends[1] >= 0)).all():
        raise TamisError(f"with 'sparsity', 'low' and 'high' of convex_net must enclose 0; got {low!r} and {high!r}")
    return ends[0], ends[1]


def check_gram(kernel: str, coef0: float, basis: Any) -> None:
    """Refuse a kernel matrix where there is none, or where it is not positive semidefinite."""
    if basis is not None:
        raise TamisError("shape='gram' of convex_net takes the basis functions of a kernel; got 'basis' too")
    if kernel == "sigmoid" or (coef0 < 0 and kernel in ("polynomial", "cosine")):
        raise TamisError(
            f"shape='gram' of convex_net takes a positive definite kernel; got kernel={kernel!r}, coef0={coef0:g}"
        )


def given_matrix(shape: Any, n_basis: int) -> FloatArray:
    """The matrix A of the user, checked."""
    matrix = np.array(shape, dtype=np.float64, order="C")
    if matrix.shape != (n_basis, n_basis) or not np.isfinite(matrix).all():
        raise TamisError(
            f"'shape' of convex_net must be a matrix of finite numbers with a line and a column for each of "
            f"{n_basis} basis functions; got shape {matrix.shape}"
        )
    size = float(np.abs(matrix).max())
    if np.abs(matrix - matrix.T).max() > _ROUNDING * size:
        raise TamisError("'shape' of convex_net must be a symmetric matrix")
    if scipy.linalg.eigvalsh(matrix)[0] < -_ROUNDING * size:
        raise TamisError("'shape' of convex_net must be a matrix without eigenvalues below zero")
    return matrix
