"""Gaussian naive Bayes, one column more or less: log-likelihoods add up over columns."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.base.moments import ClassMoments
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.incremental.evaluator import IncrementalEvaluator, dense_columns
from tamis.incremental.fallback import EvaluatorWithFallback
from tamis.kernels.incremental import bayes_votes

#: Numbers in a block of columns.
_BLOCK = 2_000_000

#: Bound of the relative error of a log-likelihood, over a thousand times what occurs.
_ROUNDING = 1e-10


def naive_bayes_evaluator(model: Any, X: Matrix, y: Codes, Z: Matrix) -> IncrementalEvaluator | None:
    r"""``GaussianNB`` by the log-likelihoods of single columns, or None for parameters not covered.

    .. math:: \log p_k - \sum_j \left(\tfrac12 \log 2 \pi v_{kj} + (z_j - m_{kj})^2 / 2 v_{kj}\right)

    with the mean m and variance v of a column in a class; v includes a share (``var_smoothing``) of the largest
    variance in the set, which may change with the set.
    """
    count = np.bincount(y)
    given = count / y.size if model.priors is None else np.asarray(model.priors, dtype=np.float64)
    # Priors that scikit-learn refuses, or takes the logarithm of zero of, are left to it.
    if count.size < 2 or given.shape != count.shape or not given.min() > 0 or not np.isclose(given.sum(), 1.0):
        return None
    try:
        moments = ClassMoments.of(X, y)
    except DataError:
        return None
    return _NaiveBayesEvaluator(model, X, y, Z, moments, np.log(given))


class _NaiveBayesEvaluator(EvaluatorWithFallback):
    """Adds the log-likelihoods of a column to those of the set, or subtracts them."""

    def __init__(self, model: Any, X: Matrix, y: Codes, Z: Matrix, moments: ClassMoments, prior: FloatArray) -> None:
        super().__init__(model, X, y, Z)
        self.prior = prior
        self.moments = np.concatenate((moments.mean, moments.variance)).T
        #: The largest of these over a set is added to its variances.
        self.smoothing = float(model.var_smoothing) * (moments.within + moments.between) / y.size
        self.rounding = max(_ROUNDING, 8.0 * y.size * float(np.finfo(np.float64).eps))
        #: Values in the test rows and moments of each column; for sparse rows made when needed.
        self.known = None if sp.issparse(Z) else _side_by_side(Z.T, self.moments)

    def _evaluate(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> tuple[Codes, Mask]:
        predicted = np.empty((candidates.size, self.Z.shape[0]), dtype=np.intp)
        smoothing = float(self.smoothing[columns].max()) if columns.size else 0.0
        sign = 1.0 if joining else -1.0
        if joining:
            after = np.maximum(smoothing, self.smoothing[candidates])
        else:
            order = columns[np.argsort(-self.smoothing[columns], kind="stable")]
            after = np.where(candidates == order[0], self.smoothing[order[1]], self.smoothing[order[0]])
        width = max(1, candidates.size if self.known is not None else _BLOCK // self.Z.shape[0])
        for start in range(0, candidates.size, width):
            block = slice(start, start + width)
            table, both = self._table(np.concatenate((columns, candidates[block])))
            bayes_votes(
                table, both, columns.size, smoothing, after[block], self.prior, sign, self.rounding, predicted[block]
            )
        return predicted, predicted[:, 0] >= 0

    def _table(self, columns: np.ndarray) -> tuple[FloatArray, np.ndarray]:
        """A table that holds some columns, and their places in it."""
        if self.known is not None:
            return self.known, columns
        return _side_by_side(dense_columns(self.Z, columns).T, self.moments[columns]), np.arange(columns.size)


def _side_by_side(values: FloatArray, moments: FloatArray) -> FloatArray:
    return np.ascontiguousarray(np.concatenate((values, moments), axis=1), dtype=np.float64)
