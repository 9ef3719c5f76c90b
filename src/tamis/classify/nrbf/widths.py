"""Widths of Gaussians tried by cross-validation, on one set of distances."""

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from tamis.base.inner_cv import Fold
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.kernels.sparse import stored_arrays
from tamis.kernels.sparse_distances import POWER, csr_distances
from tamis.margins.kernel import ground, squared_norms

#: Pair values that are held at a time.
BLOCK = 4_000_000

#: Error of a squared distance from inner products, as a share of the squared norms and of the root of their length.
ROUNDING = 2e-15

#: Exponents are cut at minus this: exp is slow beyond, and such rows do not count beside the nearest.
FAR = 700.0

#: Training rows up to which the search holds all squared distances, and the most rows that it evaluates.
_WHOLE, _EVALUATED = 6_000, 6_000


def try_widths(
    rows: Matrix, norms: FloatArray, y: Codes, weight: FloatArray, folds: Sequence[Fold], n_classes: int, count: int
) -> tuple[FloatArray, FloatArray]:
    """Widths in geometric progression, ascending, and the accuracy of each, of shape (n_folds, n_widths).

    `rows` are canonical CSR, or dense and moved to their mean; `norms` are their squared lengths.
    """
    pairs = _Pairs(rows, norms)
    sigmas = pairs.widths(weight, count)
    accuracy = np.zeros((len(folds), sigmas.shape[0]))
    for fold, part in enumerate(folds):
        train, test = np.flatnonzero(part.train), np.flatnonzero(part.test)
        votes = np.zeros((train.size, n_classes))
        votes[np.arange(train.size), y[train]] = relative(part.train[train])
        test = test[_evenly(test.size, _EVALUATED // len(folds))]
        height = max(1, BLOCK // weight.shape[0])
        for some in np.split(test, range(height, test.size, height)):
            accuracy[fold] += right(pairs(some)[:, train], votes, y[some], sigmas) @ part.test[some]
        accuracy[fold] /= part.test[test].sum()
    return sigmas, accuracy


def widths_of(points: FloatArray, weight: FloatArray, count: int) -> FloatArray:
    """Widths in geometric progression, ascending, from the distances between dense points."""
    moved = points - mean_row(points, weight)
    return _Pairs(moved, squared_norms(moved)).widths(weight, count)


class _Pairs:
    """Squared distances of training rows to all of them: held for few rows, computed on demand for many."""

    def __init__(self, rows: Matrix, norms: FloatArray) -> None:
        self._rows = rows
        self.error = 2 * ROUNDING * math.sqrt(rows.shape[1]) * float(norms.max())
        mean = np.asarray(rows.mean(axis=0)).ravel()
        # Sparse rows are not moved to their mean: far from it, inner products lose their differences.
        self._coarse = self.error * 1e6 > norms.mean() - mean @ mean
        self.error = 0.0 if self._coarse else self.error
        self._whole = self._distances(None) if rows.shape[0] <= _WHOLE else None

    def __call__(self, some: np.ndarray) -> FloatArray:
        return self._whole[some] if self._whole is not None else self._distances(some)

    def _distances(self, some: np.ndarray | None) -> FloatArray:
        rows = self._rows if some is None else self._rows[some]
        if self._coarse:
            return differences(rows, self._rows)
        return ground("gaussian", rows, None if some is None else self._rows)

    def widths(self, weight: FloatArray, count: int) -> FloatArray:
        """Widths to try; 1 when all rows are the same."""
        some = _evenly(weight.shape[0], max(1, 3 * BLOCK // weight.shape[0]))
        block = self(some)
        mean = float(np.average(np.average(block, axis=1, weights=weight), weights=weight[some]))
        if mean <= max(self.error, 1e-290):
            return np.ones(1)
        low = max(_gap(block, weight[some], self.error) / 4, 1000 * self.error)
        return np.geomspace(low, mean, count) if low < mean else np.array([mean])


def _gap(distances: FloatArray, weight: FloatArray, error: float) -> float:
    """Geometric mean of how much further the second nearest row is than the nearest; equal distances count as one."""
    first = np.where(distances > error, distances, np.inf).min(axis=1)
    second = np.where(distances > (first * (1 + 1e-9) + error)[:, None], distances, np.inf).min(axis=1)
    known = np.isfinite(second)
    gaps = second - first if known.any() else first
    known = known if known.any() else np.isfinite(first)
    return math.exp(np.average(np.log(gaps[known]), weights=weight[known]))


def right(distances: FloatArray, votes: FloatArray, y: Codes, sigmas: FloatArray) -> FloatArray:
    """For each width and row whether the class with the largest share, the first of equals, is the true one."""
    distances -= distances.min(axis=1, keepdims=True)
    furthest = distances.max()
    right = np.empty((sigmas.shape[0], y.shape[0]))
    work = np.empty_like(distances)
    for number, sigma in enumerate(sigmas):
        np.multiply(distances, -1 / sigma, out=work)
        if furthest > FAR * sigma:
            np.maximum(work, -FAR, out=work)
        shares = np.exp(work, out=work) @ votes
        # Shares that differ by rounding are equal.
        leading = shares >= shares.max(axis=1, keepdims=True) * (1 - 1e-9)
        right[number] = leading.argmax(axis=1) == y
    return right


def relative(weight: FloatArray) -> FloatArray:
    """Weights with a largest of 1."""
    # Not so small that all votes vanish for some x.
    return np.maximum(weight / weight.max(), 1e-40)


def from_mean(rows: Matrix, norms: FloatArray, weight: FloatArray) -> FloatArray:
    """Squared distance of every row from the mean."""
    centre = mean_row(rows, weight)
    return np.maximum(norms - 2 * np.asarray(rows @ centre).ravel() + centre @ centre, 0.0)


def mean_row(X: Matrix, weight: FloatArray) -> FloatArray:
    """Weighted mean of the rows."""
    # Weights are normalised first: a sum of very large values would overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray((weight / weight.sum()) @ X, dtype=np.float64).ravel()


def differences(X: Matrix, Z: Matrix) -> FloatArray:
    """Squared distances of the rows of `X` to those of `Z`, both dense or both canonical CSR, from differences."""
    if not sp.issparse(X):
        return np.asarray(cdist(X, Z, "sqeuclidean"))
    block = np.empty((X.shape[0], Z.shape[0]))
    csr_distances(*stored_arrays(X), *stored_arrays(Z), X.shape[1], POWER, 2.0, block)
    return block


def _evenly(count: int, at_most: int) -> np.ndarray:
    """At most `at_most` of the places 0 to `count` - 1, evenly spread."""
    return np.linspace(0, count - 1, min(count, max(1, at_most))).astype(np.intp)
