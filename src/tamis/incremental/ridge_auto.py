"""Ridge regression whose penalty follows from the set of columns, one column more or less."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.types import FloatArray, Mask, Matrix
from tamis.base.validation import centre_and_scale
from tamis.incremental.column_updates import ColumnUpdatingEvaluator
from tamis.incremental.evaluator import dense_columns
from tamis.kernels.left_out import left_out_squares

#: Bound of the error of a prediction, in deviations of the target; where it may be larger, the model is refitted.
_CLOSE = 1e-7

#: Rounding error of a matrix of products and of its eigenvalues, in units of the precision.
_ROUNDING = 8.0

#: Eigenvalues above so many times the size of the set, in units of the precision and the largest, are not rounding.
_REAL = 64.0

#: Sets of at least this number of columns are refitted: their eigenvalues take most of the time of a fit.
_WIDE = 500

#: Numbers held for a block of candidates; a block that the processor's cache holds is the quickest.
_BLOCK = 100_000


class _Column(NamedTuple):
    """Columns as rows, centred; their products with the target, and the largest absolute value of each."""

    train: FloatArray
    test: FloatArray
    target: FloatArray
    top: FloatArray


class _Axes(NamedTuple):
    """Sets of columns in the eigenvectors of their products, one set in each entry of the first axis.

    Eigenvalues and the target's products have shape (sets, axes), rows (sets, axes, rows). `top` is at least the root
    of the sum of squares of the largest absolute values.
    """

    values: FloatArray
    products: FloatArray
    train: FloatArray
    test: FloatArray
    top: FloatArray


class AutoRidgeEvaluator(ColumnUpdatingEvaluator[_Column]):
    r"""Ridge regression with the penalty of least squared error on rows left out one at a time.

    With :math:`\lambda_j, v_j` the eigenvalues and eigenvectors of the products :math:`X'X` of a set's centred columns,
    :math:`p_{ij} = x_i'v_j` and :math:`w_j = v_j'X'y / (\lambda_j + \alpha)`, the error on a row left out is

    .. math:: \Bigl(y_i - \sum_j p_{ij} w_j\Bigr) \Big/ \Bigl(1 - 1/n - \sum_j p_{ij}^2 / (\lambda_j + \alpha)\Bigr).

    A column borders the products of the set, so that a candidate costs an eigendecomposition of the size of the set and
    the errors, not a fit on the rows. Where rounding could decide between two penalties the model is refitted.

    Parameters
    ----------
    model, X, y, Z
        As for :class:`~tamis.incremental.fallback.EvaluatorWithFallback`; `y` holds numbers, not all equal.
    penalties : array of shape (n_penalties,)
        The penalties to compare, in units of the largest eigenvalue, the largest first.
    free : float
        The least share of a row that the others leave free; smaller ones are rounding.
    equal : float
        Errors with a smaller relative difference are equal: the largest of their penalties is in use.

    References
    ----------
    Allen (1974), "The relationship between variable selection and data augmentation and a method for prediction".
    """

    def __init__(
        self, model: Any, X: Matrix, y: FloatArray, Z: Matrix, penalties: FloatArray, *, free: float, equal: float
    ) -> None:
        super().__init__(model, X, y, Z)
        self.penalties, self.free, self.equal = penalties, free, equal
        self.mean, self.unit = centre_and_scale(y)
        self.numbers = (y - self.mean) / self.unit

    def _prepare(self, columns: np.ndarray) -> _Column:
        train, test = dense_columns(self.X, columns).T, dense_columns(self.Z, columns).T
        top = np.maximum(np.abs(train).max(axis=1), np.abs(test).max(axis=1))
        centre = train.mean(axis=1)[:, None]
        train = train - centre
        return _Column(train, test - centre, train @ self.numbers, top)

    def _evaluate(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> tuple[FloatArray, Mask]:
        predicted = np.zeros((candidates.size, self.Z.shape[0]))
        certain = np.zeros(candidates.size, dtype=bool)
        size = columns.size + (1 if joining else -1)
        if not 0 < size < min(self.X.shape[0], _WIDE):
            return predicted, certain
        width = max(1, _BLOCK // (size * (self.X.shape[0] + self.Z.shape[0])))
        # A prediction that overflows is not certain.
        with np.errstate(all="ignore"):
            own = self._prepared(columns)
            gram = own.train @ own.train.T
            for start in range(0, candidates.size, width):
                some = candidates[start : start + width]
                axes = _joined(own, gram, self._prepared(some)) if joining else _left(own, gram, columns, some)
                predicted[start : start + width], certain[start : start + width] = self._predicted(axes)
        return predicted, certain

    def _predicted(self, axes: _Axes) -> tuple[FloatArray, Mask]:
        """Predictions of each set, and which of them rounding cannot have changed."""
        values, n_rows = axes.values, self.y.size
        inverse = 1.0 / (values[:, :, None] + (values[:, -1, None] * self.penalties)[:, None, :])
        weights = axes.products[:, :, None] * inverse
        squares, free = (np.empty((values.shape[0], self.penalties.size)) for _ in range(2))
        left_out_squares(axes.train, self.numbers, inverse, weights, self.free, squares, free)
        errors = np.sqrt(squares / n_rows)
        chosen = (errors <= errors.min(axis=1, keepdims=True) * (1.0 + self.equal)).argmax(axis=1)
        # Rounding changes the products, and with them the solution as far as their inverse lets it.
        unit, top, length = self.precision * _ROUNDING, axes.top[:, None], np.sqrt((weights**2).sum(axis=1))
        # Sparse rows are centred in the products alone, and summed one after the other.
        scale = top * n_rows**1.5 if sp.issparse(self.X) else np.sqrt(n_rows * values[:, -1:])
        change = unit * top * (scale * length + n_rows)
        spread = (np.sqrt(values)[:, :, None] * inverse).max(axis=1)
        blur = change * spread / np.sqrt(n_rows) + errors * (unit * top * scale * spread**2 + self.precision)
        blur /= np.maximum(free, self.free)
        sets = np.arange(values.shape[0])
        nearest = errors[sets, chosen] * (1.0 + self.equal) + blur[sets, chosen]
        ahead = errors - blur > nearest[:, None]
        ahead[sets, chosen] = np.isfinite(nearest)
        inverse, weights = inverse[sets, :, chosen], weights[sets, :, chosen]
        reach = np.sqrt(((inverse**2)[:, None, :] @ axes.test**2).max(axis=(1, 2)))
        close = change[sets, chosen] * reach + unit * axes.top * length[sets, chosen] < _CLOSE
        predicted = (weights[:, None, :] @ axes.test)[:, 0]
        # A fit leaves out the directions that are nothing but rounding.
        real = values[:, 0] > _REAL * values.shape[1] * self.precision * values[:, -1]
        return self.mean + self.unit * predicted, ahead.all(axis=1) & close & real


def _joined(own: _Column, gram: FloatArray, new: _Column) -> _Axes:
    """Sets with one more column each."""
    size = gram.shape[0]
    cross = new.train @ own.train.T
    grams = np.empty((cross.shape[0], size + 1, size + 1))
    grams[:, :size, :size] = gram
    grams[:, size, :size] = grams[:, :size, size] = cross
    grams[:, size, size] = np.einsum("cn,cn->c", new.train, new.train)
    values, vectors = _decomposed(grams)
    inner, outer = vectors[:, :size], vectors[:, size]
    return _Axes(
        values,
        own.target @ inner + new.target[:, None] * outer,
        _turned(inner, own.train) + outer[:, :, None] * new.train[:, None, :],
        _turned(inner, own.test) + outer[:, :, None] * new.test[:, None, :],
        np.sqrt((own.top**2).sum() + new.top**2),
    )


def _left(own: _Column, gram: FloatArray, columns: np.ndarray, candidates: np.ndarray) -> _Axes:
    """Sets with one column less each."""
    rest = np.array([np.flatnonzero(columns != j) for j in candidates])
    values, vectors = _decomposed(gram[rest[:, :, None], rest[:, None, :]])
    inner = np.zeros((candidates.size, columns.size, columns.size - 1))
    inner[np.arange(candidates.size)[:, None], rest] = vectors
    top = np.full(candidates.size, np.sqrt((own.top**2).sum()))
    return _Axes(values, own.target @ inner, _turned(inner, own.train), _turned(inner, own.test), top)


def _turned(vectors: FloatArray, columns: FloatArray) -> FloatArray:
    """Rows in the axes of each set, by one product of matrices for all sets."""
    n_sets, size, n_axes = vectors.shape
    flat: FloatArray = vectors.transpose(0, 2, 1).reshape(n_sets * n_axes, size)
    return (flat @ columns).reshape(n_sets, n_axes, columns.shape[1])


def _decomposed(grams: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues, at least 0, and eigenvectors; those of a matrix that overflows are not numbers."""
    finite: Mask = np.isfinite(grams.sum(axis=(1, 2)))[:, None]
    values, vectors = np.linalg.eigh(np.where(finite[:, :, None], grams, 0.0))
    return np.where(finite, np.maximum(values, 0.0), np.nan), vectors
