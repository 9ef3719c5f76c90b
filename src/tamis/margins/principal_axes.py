"""The directions of largest scatter of rows, dense or sparse, about any centre."""

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from tamis.base.seeds import generator
from tamis.base.types import FloatArray, Matrix

#: Up to this size of the square matrix, all components come from one dense decomposition.
_ALL = 2000
#: The same for sparse rows of which at most an eighth of the components are needed: their products are quick.
_ALL_SPARSE = 1000
#: Up to this size, the square matrix of dense rows is formed; beyond, and for sparse rows, only its products with
#: vectors.
_FORMED = 5000
#: Above `_ALL` at least this many components are computed, so that every smaller k gets the same ones.
_LEADING = 20
#: Relative difference below which loadings count as equal when the sign is chosen.
_TIE = 1e-6
# Equal eigenvalues restart the iteration from random vectors; SciPy before 1.17 has no parameter for their seed.
_RESTARTS: dict[str, Any] = {"rng": 0} if "rng" in signature(eigsh).parameters else {}


class CentredRows:
    """The centred rows as a linear map in float64; sparse rows are centred inside the products."""

    def __init__(self, X: Matrix, mean: FloatArray) -> None:
        self.sparse = bool(sp.issparse(X))
        self.rows = X.astype(np.float64) if self.sparse else X - mean
        self.mean = mean
        self.wide = X.shape[0] <= X.shape[1]
        self.size = min(X.shape)

    def times(self, V: FloatArray) -> FloatArray:
        product: FloatArray = self.rows @ V
        return product - self.mean @ V if self.sparse else product

    def transposed_times(self, U: FloatArray) -> FloatArray:
        product: FloatArray = self.rows.T @ U
        return product - np.multiply.outer(self.mean, U.sum(axis=0)) if self.sparse else product

    def square(self) -> FloatArray:
        """Inner products of the rows when these are fewer than the columns, else of the columns."""
        square = self.rows @ self.rows.T if self.wide else self.rows.T @ self.rows
        if not self.sparse:
            return np.asarray(square)
        dense: FloatArray = square.toarray()  # dense in any case once centred
        if self.wide:
            shift = self.rows @ self.mean - self.mean @ self.mean / 2
            dense -= shift[:, None]
            dense -= shift
        else:
            dense -= self.rows.shape[0] * np.outer(self.mean, self.mean)
        return dense

    def square_times(self, v: FloatArray) -> FloatArray:
        """``square() @ v`` without the square matrix."""
        return self.times(self.transposed_times(v)) if self.wide else self.transposed_times(self.times(v))

    def rounding(self, total: float) -> float:
        """Largest eigenvalue that may be mere rounding; `total` is the sum of all."""
        eps = float(np.finfo(np.float64).eps)
        size: int = max(self.rows.shape)
        shift = float(self.rows.shape[0] * self.mean @ self.mean)
        # Dense rows lose the digits of their mean before they are squared, sparse rows after that.
        lost = size * eps * shift if self.sparse else (64 * eps) ** 2 * shift
        return size * eps * total + lost


def leading_axes(centred: CentredRows, total: float, numbers: Sequence[int | float]) -> tuple[FloatArray, FloatArray]:
    """Scatter along the axes that the largest of `numbers` needs, and these axes as rows.

    A number is a count of axes or, below 1, the share of the `total` scatter that they hold.
    """
    n_components = max(_LEADING, *(int(k) for k in numbers))
    share = max((k for k in numbers if k < 1), default=0.0)
    values, vectors = _eigen(centred, n_components)
    while values.size < centred.size and values.sum() < share * total:
        n_components *= 4
        values, vectors = _eigen(centred, n_components)
    count = max(axis_count(values, total, k) for k in numbers)
    count = min(count, int(np.count_nonzero(values > centred.rounding(total))))
    if count == 0:
        return np.zeros(1), np.eye(1, centred.mean.size)
    values, vectors = values[:count], vectors[:, :count]
    if centred.wide:
        vectors = centred.transposed_times(vectors) / np.sqrt(values)
    return values, np.ascontiguousarray(vectors.T)


def axis_count(scatter: FloatArray, total: float, k: int | float) -> int:
    """Number of axes for a count or a share `k` of the `total` scatter, at most those there are."""
    count = int(k) if k >= 1 else int(np.searchsorted(np.cumsum(scatter), k * total)) + 1
    return min(count, scatter.shape[0])


def _eigen(centred: CentredRows, n_components: int) -> tuple[FloatArray, FloatArray]:
    """The `n_components` largest eigenvalues of the square matrix, or all, in falling order, and their vectors."""
    size = centred.size
    few = centred.sparse and n_components <= size // 8
    if size <= (min(_ALL, _ALL_SPARSE) if few else _ALL) or n_components > size // 4:
        values, vectors = eigh(centred.square(), overwrite_a=True, check_finite=False, driver="evd")
    else:
        matrix: Any = (
            centred.square()
            if size <= _FORMED and not centred.sparse
            else LinearOperator((size, size), matvec=centred.square_times, dtype=np.float64)
        )
        values, vectors = eigsh(matrix, n_components, v0=generator(0).standard_normal(size), **_RESTARTS)
    return values[::-1], vectors[:, ::-1]


def signed(components: FloatArray) -> FloatArray:
    """The components with the sign that makes the first of the largest loadings positive."""
    size = np.abs(components)
    first = (size >= (1 - _TIE) * size.max(axis=1, keepdims=True)).argmax(axis=1)
    sign: FloatArray = np.sign(components[np.arange(first.size), first])
    return components * sign[:, None]
