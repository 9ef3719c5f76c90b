"""Weights of columns in support vector machines, for recursive elimination.

Linear machines are solved on the Gram matrix of the rows (:class:`ByRows`), on the columns (:class:`ByColumns`), or
from the machine before (:class:`ByNewton`); Gaussian and polynomial ones on their kernel matrix (:class:`ByDistances`,
:class:`ByProducts`).
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.margins.kernel import apply, inner_products, kernel_values, squared_distances, squared_norms
from tamis.margins.newton import solve_newton
from tamis.margins.pairs import column_path, gram_path, suits_columns, two_class_problems
from tamis.margins.signed_rows import SignedRows
from tamis.margins.solve import Solution

#: Tolerance of a margin of 1 where the optimum is not reached exactly.
_TOL = 1e-3

#: Steps of libsvm for a hard margin: classes that overlap on some columns also overlap on fewer of them.
_HARD_STEPS = 100_000

#: Weights below this share of the largest that the lengths of rows and columns allow are rounding.
_NOISE = 1e-10

#: Accumulated rounding of a Gram matrix, in units of its trace, at which it is computed again.
_WORN = 1e4

#: Eliminated columns stay stored until the remaining ones are fewer than this share.
_CROWDED = 0.75


class Fit(NamedTuple):
    """Number of support vectors of a round (None if unknown), whether all machines converged, and none at its bound."""

    n_support: int | None
    settled: bool
    free: bool


def warn_unsettled(who: str, what: str, fits: Sequence[Fit], sizes: np.ndarray, cost: float) -> None:
    """Warn of rounds whose machines did not converge, or of a hard margin that was not found; `what` has the sizes."""
    ended = np.array([one.settled if np.isfinite(cost) else one.free for one in fits])
    if ended.all():
        return
    if np.isfinite(cost):
        message = f"{(~ended).sum()} of {len(fits)} machines are not settled; scale the columns or lower C"
    else:
        largest = sizes[~ended].max()
        message = f"no hard margin found on {largest} {what} and fewer: classes overlap; give a finite C"
    warnings.warn(f"{who}: {message}", ConvergenceWarning, stacklevel=3)


class Remaining(Protocol):
    """The columns that an elimination has left, and machines on them."""

    #: Whether the solutions hold weights of rows (else of columns).
    on_rows: bool

    def weigh(self) -> tuple[FloatArray, list[Solution]]:
        """Weight of each remaining column over the pairs of classes, and the solutions."""
        ...

    def keep(self, kept: Mask) -> None:
        """Drop the remaining columns outside the mask `kept`."""
        ...


class Machines:
    """Weights of columns for :func:`tamis.incremental.elimination.eliminate`; `fits` describes each round."""

    def __init__(self, remaining: Remaining, n_columns: int) -> None:
        self._remaining, self._columns = remaining, np.arange(n_columns)
        self.fits: list[Fit] = []

    def __call__(self, columns: np.ndarray) -> FloatArray:
        """Weight of each of the columns, which must be among those of the last call."""
        if columns.size < self._columns.size:
            self._remaining.keep(np.isin(self._columns, columns, assume_unique=True))
            self._columns = columns
        lengths, pairs = self._remaining.weigh()
        settled = all(pair.settled for pair in pairs)
        free = settled and not any(pair.bounded for pair in pairs)
        support = np.any([pair.weights != 0 for pair in pairs], axis=0)
        self.fits.append(Fit(int(support.sum()) if self._remaining.on_rows else None, settled, free))
        return lengths


class ByRows:
    """The remaining columns of dense or CSR rows, and the inner products of the rows over them.

    `cost` is that of a row's slack, infinite for a hard margin. Columns are stored as rows, which are cheap to drop;
    some eliminated ones may still be stored.
    """

    on_rows = True

    def __init__(self, X: Matrix, y: Codes, cost: FloatArray) -> None:
        self._y, self._cost = y, cost
        self._store = X.T.tocsr() if sp.issparse(X) else np.ascontiguousarray(X.T, dtype=np.float64)
        self._alive = np.ones(X.shape[1], dtype=bool)
        self._compute()
        self._norms = np.sqrt(squared_norms(self._store))

    def weigh(self) -> tuple[FloatArray, list[Solution]]:
        weights, pairs = self.machine_weights()
        return np.linalg.norm(weights, axis=1), pairs

    def machine_weights(self) -> tuple[FloatArray, list[Solution]]:
        """Weight of each remaining column in the machine of each pair of classes, and the solutions."""
        steps = None if np.isfinite(self._cost[0]) else _HARD_STEPS
        no_ridge = np.zeros(self._y.shape[0])
        pairs = gram_path(self._gram.copy(), self._y, [self._cost], no_ridge, tol=_TOL, max_iter=steps)[0]
        dual = np.column_stack([pair.weights for pair in pairs])
        weights = np.asarray(self._store @ dual)
        weights[np.linalg.norm(weights, axis=1) <= _NOISE * np.linalg.norm(dual) * self._norms] = 0.0
        return weights[self._alive], pairs

    def keep(self, kept: Mask) -> None:
        leaving = np.flatnonzero(self._alive)[~kept]
        self._alive[leaving] = False
        stay = int(kept.sum())
        fewer = leaving.shape[0] < stay
        if fewer:
            self._gram -= inner_products(self._store[leaving].T)
            self._subtractions += 1
        if stay < _CROWDED * self._alive.shape[0]:
            self._store, self._norms = self._store[self._alive], self._norms[self._alive]
            self._alive = np.ones(stay, dtype=bool)
        # Each subtraction has the rounding error of the full matrix.
        if not fewer or self._subtractions * self._full > _WORN * self._gram.trace():
            self._compute()

    def _compute(self) -> None:
        """Compute the inner products from the columns."""
        remaining = self._store if self._alive.all() else self._store[self._alive]
        with np.errstate(over="ignore", invalid="ignore"):
            self._gram = inner_products(remaining.T)
        if not np.isfinite(self._gram).all():
            raise TamisError("the inner products of the rows overflow; scale the columns first")
        self._full, self._subtractions = float(self._gram.trace()), 0


class ByColumns:
    """The remaining columns, for liblinear; `cost` is finite."""

    on_rows = False

    def __init__(self, X: Matrix, y: Codes, cost: FloatArray) -> None:
        self._X = X.tocsr() if sp.issparse(X) else X
        self._y, self._cost = y, cost
        low, high = min_max_axis(X, axis=0) if sp.issparse(X) else (X.min(axis=0), X.max(axis=0))
        self._constant = low == high

    def weigh(self) -> tuple[FloatArray, list[Solution]]:
        weights, pairs = self.machine_weights()
        return np.linalg.norm(weights, axis=1), pairs

    def machine_weights(self) -> tuple[FloatArray, list[Solution]]:
        """Weight of each remaining column in the machine of each pair of classes, and the solutions."""
        pairs = column_path(self._X, self._y, [self._cost], tol=_TOL, max_iter=None)[0]
        weights = np.column_stack([pair.weights for pair in pairs])
        # Constant columns may get a small weight, since liblinear penalises the intercept.
        weights[self._constant] = 0.0
        return weights, pairs

    def keep(self, kept: Mask) -> None:
        self._X, self._constant = self._X[:, kept], self._constant[kept]


class ByNewton:
    """The remaining columns of dense rows, no more than there are rows; `cost` is finite.

    A machine starts from the weights that the rows had before the last columns were dropped. Where Newton's method does
    not arrive, the machine is solved on the inner products of its rows.
    """

    def __init__(self, X: FloatArray, y: Codes, cost: FloatArray) -> None:
        X = np.asarray(X, dtype=np.float64)
        self._norms = np.sqrt(squared_norms(X.T))
        self._X, self._y = X - X.mean(axis=0), y
        self._problems = [
            (rows, SignedRows.of(positive, cost[rows])) for rows, positive in two_class_problems(y, "ovo")
        ]
        self._alpha: list[FloatArray | None] = [None] * len(self._problems)

    def machine_weights(self) -> tuple[FloatArray, list[Solution]]:
        """Weight of each remaining column in the machine of each pair of classes, and the solutions."""
        machines = [self._machine(place) for place in range(len(self._problems))]
        return np.column_stack([one.weights for one in machines]), machines

    def _machine(self, place: int) -> Solution:
        rows, signed = self._problems[place]
        part = self._X if rows.size == self._y.size else self._X[rows] - self._X[rows].mean(axis=0)
        found = solve_newton(part, signed, self._alpha[place])
        if found is None:
            return self._fallback(part, place)
        self._alpha[place] = found.alpha
        weights, bounded = found.weights, bool((found.alpha >= signed.cost).any())
        weights[np.abs(weights) <= _NOISE * float(np.linalg.norm(found.alpha)) * self._norms] = 0.0
        return Solution(weights, found.intercept, 0, True, bounded)

    def _fallback(self, part: FloatArray, place: int) -> Solution:
        signed = self._problems[place][1]
        other = ByColumns if suits_columns(part) else ByRows
        weights, (found,) = other(part, (signed.signs > 0).astype(np.intp), signed.cost).machine_weights()
        self._alpha[place] = np.minimum(np.abs(found.weights), signed.cost) if other is ByRows else None
        return replace(found, weights=weights[:, 0])

    def keep(self, kept: Mask) -> None:
        self._X, self._norms = self._X[:, kept], self._norms[kept]


class ByDistances:
    """The remaining columns of dense rows, for Gaussian machines exp(-d^2 / sigma) of finite `cost`.

    The weight of a column is the root of the change of |w|^2 = sum_ij a_i a_j k(x_i, x_j) when it is left out of the
    kernel and the signed weights a of the rows stay: Guyon, Weston, Barnhill and Vapnik's criterion for any kernel.
    """

    on_rows = True

    def __init__(self, X: FloatArray, y: Codes, cost: FloatArray, sigma: float) -> None:
        self._X, self._y, self._cost, self._sigma = X, y, cost, sigma

    def weigh(self) -> tuple[FloatArray, list[Solution]]:
        pairs = gram_path(self._gram(), self._y, [self._cost], np.zeros(self._y.shape[0]), tol=_TOL, max_iter=None)[0]
        return np.sqrt(sum(np.abs(self._changes(pair.weights)) for pair in pairs)), pairs

    def _gram(self) -> FloatArray:
        return kernel_values("gaussian", self._X, sigma=self._sigma)

    def _changes(self, weights: FloatArray) -> FloatArray:
        """Change of |w|^2 without each column."""
        rows = np.flatnonzero(weights)
        X, a = self._X[rows], weights[rows]
        products = X @ X.T
        distances = squared_distances(products, products.diagonal(), products.diagonal())
        changes = np.empty(X.shape[1])
        values = np.empty_like(distances)
        whole = a @ np.exp(distances / -self._sigma) @ a
        for place, column in enumerate(X.T):
            np.square(np.subtract.outer(column, column, out=values), out=values)
            values -= distances
            values /= self._sigma
            changes[place] = whole - a @ np.exp(values, out=values) @ a
        changes[np.abs(changes) <= _NOISE * float(np.abs(a).sum()) ** 2] = 0.0
        return changes

    def keep(self, kept: Mask) -> None:
        self._X = self._X[:, kept]


class ByProducts(ByDistances):
    """The same for polynomial machines (x.x' / sigma + coef0)^degree."""

    def __init__(self, X: FloatArray, y: Codes, cost: FloatArray, sigma: float, degree: int, coef0: float) -> None:
        super().__init__(X, y, cost, sigma)
        self._degree, self._coef0 = degree, coef0

    def _gram(self) -> FloatArray:
        return self._powers(inner_products(self._X))

    def _changes(self, weights: FloatArray) -> FloatArray:
        rows = np.flatnonzero(weights)
        X, a = self._X[rows], weights[rows]
        products = X @ X.T
        values = self._powers(products.copy())
        whole, scale = a @ values @ a, float(np.abs(a) @ np.abs(values) @ np.abs(a))
        changes = np.empty(X.shape[1])
        for place, column in enumerate(X.T):
            changes[place] = whole - a @ self._powers(products - np.outer(column, column)) @ a
        changes[np.abs(changes) <= _NOISE * scale] = 0.0
        return changes

    def _powers(self, products: FloatArray) -> FloatArray:
        return apply("polynomial", products, sigma=self._sigma, degree=self._degree, coef0=self._coef0)
