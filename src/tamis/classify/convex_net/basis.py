"""Training rows of convex networks, the values of basis functions on them, and the objective."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import row_terms
from tamis.data.duplicates import equal_rows
from tamis.margins.convex import Objective

#: Values of basis functions that a fit may hold.
_MOST = 100_000_000

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


def check_size(n_basis: int, n_rows: int) -> None:
    """Refuse more values of basis functions than fit into memory several times."""
    if n_basis * n_rows > _MOST:
        raise TamisError(
            f"convex_net holds {n_basis} basis functions on {n_rows} rows, more than {_MOST:,} values; "
            "fit it on fewer rows, or give a smaller 'basis'"
        )


def check_pairs(n_basis: int) -> None:
    """Refuse to solve for more basis functions at once than memory holds pairs of."""
    if n_basis**2 > _MOST:
        raise TamisError(
            f"convex_net holds the second derivatives of all pairs of {n_basis} basis functions, more than {_MOST:,}; "
            "use 'sparsity', or give a smaller 'basis'"
        )


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


@dataclass(frozen=True)
class Problem:
    """What the machines of all classes share: values of the basis functions, the matrix A or its diagonal.

    With `of_rows` there is a basis function for each row, with the row's sign; with `of_kernel` the matrix holds the
    inner products of the basis functions, and so has their signs.
    """

    rows: Rows
    values: FloatArray
    matrix: FloatArray
    low: FloatArray
    high: FloatArray
    of_rows: bool
    of_kernel: bool

    @property
    def n_basis(self) -> int:
        return int(self.values.shape[0])

    def objective(self, signs: FloatArray, loss: str, penalty: float, *, class_weight: str | None) -> Objective:
        """The objective of the machine with these signs of the rows."""
        own = self.own(signs)
        values = self.values * signs
        values *= own[:, None]
        with np.errstate(over="ignore"):
            matrix = penalty * self.matrix
        if not np.abs(matrix).max() <= LARGEST:
            raise TamisError(
                f"'penalty' times 'shape' of convex_net, over the rows' weights, reaches {np.abs(matrix).max():.2g}"
            )
        if self.of_kernel:
            matrix *= own
            matrix *= own[:, None]
        cost, _ = row_terms(self.rows.y, self.rows.weight, class_weight=class_weight, ridge=0.0)
        return Objective(loss, values, cost, matrix, self.low, self.high)

    def own(self, signs: FloatArray) -> FloatArray:
        """Signs of the basis functions."""
        return signs if self.of_rows else np.ones(self.n_basis)
