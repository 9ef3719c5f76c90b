"""Recursive elimination by machines: what weighs the columns that remain.

Linear machines are solved on the Gram matrix of the rows (:class:`ByRows`) or on the columns (:class:`ByColumns`),
Gaussian ones on their kernel matrix (:class:`ByDistances`).
"""

from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.margins.kernel import inner_products, kernel_values, squared_distances, squared_norms
from tamis.margins.pairs import column_path, gram_path
from tamis.margins.solve import Solution

#: How much a margin of 1 may be missed when there is no going on to the optimum.
_TOL = 1e-3

#: Steps of libsvm for a hard margin: classes that overlap on some columns do so on fewer too, round after round.
_HARD_STEPS = 100_000

#: A weight below this share of what rows and columns of such a length could give is rounding.
_NOISE = 1e-10

#: Roundings that a Gram matrix may have suffered, in units of its trace, before it is computed anew.
_WORN = 1e4

#: Columns that have left stay in store until those that remain are fewer than this share of it.
_CROWDED = 0.75


class Fit(NamedTuple):
    """Rows that bear weight in the machines of a round, if known; whether they are settled, and no row at its bound."""

    n_support: int | None
    settled: bool
    free: bool


class Remaining(Protocol):
    """The columns that an elimination has left, and machines on them."""

    def weigh(self) -> tuple[FloatArray, list[Solution]]:
        """What each remaining column weighs in the machines, and their solutions."""
        ...

    def n_support(self, pairs: list[Solution]) -> int | None:
        """Rows that bear weight in any of the machines, where that is known."""
        ...

    def keep(self, kept: Mask) -> None:
        """Let the columns go that are not `kept`, a mask of those that remained."""
        ...


class Machines:
    """Weighs columns for :func:`tamis.incremental.elimination.eliminate` by machines on those that remain.

    Parameters
    ----------
    remaining : Remaining
        All columns.
    n_columns : int

    Attributes
    ----------
    fits : list of Fit
        What is to be said of the machines, round by round.
    """

    def __init__(self, remaining: Remaining, n_columns: int) -> None:
        self._remaining, self._columns = remaining, np.arange(n_columns)
        self.fits: list[Fit] = []

    def __call__(self, columns: np.ndarray) -> FloatArray:
        """What each of the columns weighs; there may be fewer than at the last call, but no others."""
        if columns.size < self._columns.size:
            self._remaining.keep(np.isin(self._columns, columns, assume_unique=True))
            self._columns = columns
        lengths, pairs = self._remaining.weigh()
        settled = all(pair.settled for pair in pairs)
        free = settled and not any(pair.bounded for pair in pairs)
        self.fits.append(Fit(self._remaining.n_support(pairs), settled, free))
        return lengths


class ByRows:
    """The remaining columns, and the inner products of the rows over them.

    Columns are stored as rows, which are cheap to take out; some that have left may still be there.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_columns)
    y : array of class codes 0, 1, ...
    cost : array of shape (n_rows,)
        What a unit of a row's slack costs; infinite for a hard margin.
    """

    def __init__(self, X: Matrix, y: Codes, cost: FloatArray) -> None:
        self._y, self._cost = y, cost
        self._store = X.T.tocsr() if sp.issparse(X) else np.ascontiguousarray(X.T, dtype=np.float64)
        self._alive = np.ones(X.shape[1], dtype=bool)
        self._compute()
        self._norms = np.sqrt(squared_norms(self._store))

    def weigh(self) -> tuple[FloatArray, list[Solution]]:
        """Length of each remaining column's weights over the pairs of classes, and the solutions."""
        steps = None if np.isfinite(self._cost[0]) else _HARD_STEPS
        no_ridge = np.zeros(self._y.shape[0])
        pairs = gram_path(self._gram.copy(), self._y, [self._cost], no_ridge, tol=_TOL, max_iter=steps)[0]
        dual = np.column_stack([pair.weights for pair in pairs])
        lengths = np.linalg.norm(self._store @ dual, axis=1)
        lengths[lengths <= _NOISE * np.linalg.norm(dual) * self._norms] = 0.0
        return lengths[self._alive], pairs

    def n_support(self, pairs: list[Solution]) -> int | None:
        return int(np.any([pair.weights != 0 for pair in pairs], axis=0).sum())

    def keep(self, kept: Mask) -> None:
        """Let the columns go that are not `kept`, a mask of those that remained."""
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
        # Each subtraction rounds numbers as large as those that were there at first.
        if not fewer or self._subtractions * self._full > _WORN * self._gram.trace():
            self._compute()

    def _compute(self) -> None:
        """The inner products from the columns themselves."""
        remaining = self._store if self._alive.all() else self._store[self._alive]
        with np.errstate(over="ignore", invalid="ignore"):
            self._gram = inner_products(remaining.T)
        if not np.isfinite(self._gram).all():
            raise TamisError("the inner products of the rows overflow; scale the columns first")
        self._full, self._subtractions = float(self._gram.trace()), 0


class ByColumns:
    """The remaining columns, for liblinear; the parameters are those of :class:`ByRows`, with a finite cost."""

    def __init__(self, X: Matrix, y: Codes, cost: FloatArray) -> None:
        self._X = X.tocsr() if sp.issparse(X) else X
        self._y, self._cost = y, cost
        low, high = min_max_axis(X, axis=0) if sp.issparse(X) else (X.min(axis=0), X.max(axis=0))
        self._constant = low == high

    def weigh(self) -> tuple[FloatArray, list[Solution]]:
        """Length of each remaining column's weights over the pairs of classes, and the solutions."""
        pairs = column_path(self._X, self._y, [self._cost], tol=_TOL, max_iter=None)[0]
        lengths = np.linalg.norm([pair.weights for pair in pairs], axis=0)
        # They may get a small weight, for liblinear penalises the intercept.
        return np.where(self._constant, 0.0, lengths), pairs

    def n_support(self, pairs: list[Solution]) -> int | None:
        """Not known to liblinear's answer."""
        return None

    def keep(self, kept: Mask) -> None:
        """Let the columns go that are not `kept`, a mask of those that remained."""
        self._X, self._constant = self._X[:, kept], self._constant[kept]


class ByDistances:
    """The remaining columns of dense rows, for Gaussian machines exp(-d^2 / sigma).

    A column weighs the root of what |w|^2 = sum_ij a_i a_j k(x_i, x_j) changes by when it is left out of the kernel,
    the signed weights a of the rows being kept: Guyon, Weston, Barnhill and Vapnik's criterion for any kernel. For
    the linear kernel that is the column's weight.

    Parameters
    ----------
    X, y, cost
        As for :class:`ByRows`, with dense rows and a finite cost.
    sigma : float
    """

    def __init__(self, X: FloatArray, y: Codes, cost: FloatArray, sigma: float) -> None:
        self._X, self._y, self._cost, self._sigma = X, y, cost, sigma

    def weigh(self) -> tuple[FloatArray, list[Solution]]:
        """Length of each remaining column's weights over the pairs of classes, and the solutions."""
        gram = kernel_values("gaussian", self._X, sigma=self._sigma)
        no_ridge = np.zeros(self._y.shape[0])
        pairs = gram_path(gram, self._y, [self._cost], no_ridge, tol=_TOL, max_iter=None)[0]
        changes = sum(np.abs(self._changes(pair.weights)) for pair in pairs)
        return np.sqrt(changes), pairs

    def _changes(self, weights: FloatArray) -> FloatArray:
        """What |w|^2 loses with each column."""
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

    def n_support(self, pairs: list[Solution]) -> int | None:
        """Rows that bear weight in any of the machines."""
        return int(np.any([pair.weights != 0 for pair in pairs], axis=0).sum())

    def keep(self, kept: Mask) -> None:
        """Let the columns go that are not `kept`, a mask of those that remained."""
        self._X = self._X[:, kept]
