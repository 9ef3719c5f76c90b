"""Nearest centroid, one column more or less: squared distances add up over columns."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.neighbors import NearestCentroid

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.incremental.column_updates import ColumnUpdatingEvaluator, leaders
from tamis.incremental.evaluator import IncrementalEvaluator, dense_columns

#: Rounding error of a distance, in units of the precision, when scikit-learn adds in another order.
_ROUNDING = 64.0

#: The deviation of a column whose values are this many times larger may be nothing but rounding.
_FLAT = 1e7


def centroid_evaluator(model: Any, X: Matrix, y: Codes, Z: Matrix) -> IncrementalEvaluator | None:
    r"""scikit-learn's ``NearestCentroid`` by the distances in single columns, or None.

    Covers Euclidean distance without shrinkage.

    .. math:: d_k^2(z) = \sum_j (z_j - c_{kj})^2 / s_j^2 - 2 \log p_k

    with the deviations s and the priors p only when the priors differ, as in scikit-learn.
    """
    if type(model) is not NearestCentroid or model.metric != "euclidean" or model.shrink_threshold is not None:
        return None
    count = np.bincount(y)
    if count.size < 2 or y.size <= count.size:
        return None
    known = {"uniform": [1 / count.size] * count.size, "empirical": list(count / y.size)}
    given = known.get(model.priors) if isinstance(model.priors, str) else model.priors
    if not isinstance(given, list | tuple):
        return None
    priors = np.asarray(given, dtype=np.float64)
    # Priors that scikit-learn refuses, normalizes or takes the logarithm of zero of are left to it.
    if priors.shape != count.shape or not priors.min() > 0 or not np.isclose(priors.sum(), 1.0):
        return None
    return _CentroidEvaluator(model, X, y, Z, priors)


class _Measured(NamedTuple):
    """Columns as rows, in units of their deviation when the priors differ; `error` bounds the rounding of squares."""

    test: FloatArray
    centroids: FloatArray
    error: FloatArray


class _CentroidEvaluator(ColumnUpdatingEvaluator[_Measured]):
    """Adds the distances in a column to those in the set, or subtracts them."""

    def __init__(self, model: Any, X: Matrix, y: Codes, Z: Matrix, priors: FloatArray) -> None:
        super().__init__(model, X, y, Z)
        self.uniform = bool(np.isclose(priors, 1 / self.n_classes).all())
        self.bonus = np.zeros(self.n_classes) if self.uniform else 2.0 * np.log(priors)
        self.share = np.eye(self.n_classes)[y] / np.bincount(y)

    def _evaluate(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> tuple[Codes, Mask]:
        score = np.repeat(self.bonus[:, None], self.Z.shape[0], axis=1)
        error = self.precision * _ROUNDING * np.abs(self.bonus).max()
        # A prediction that overflows is not certain.
        with np.errstate(over="ignore", invalid="ignore"):
            for some in self._blocks(columns):
                own = self._prepared(some)
                error = error + own.error.sum()
                for k in range(self.n_classes):
                    score[k] -= _squares(own, k).sum(axis=0)
            one, sign = self._prepared(candidates), -1.0 if joining else 1.0
            predicted, lead = leaders(score[k] + sign * _squares(one, k) for k in range(self.n_classes))
        # Centroids that differ by rounding alone leave no lead: scikit-learn refuses such columns.
        return predicted, lead.min(axis=1) > (error + one.error if joining else error)

    def _prepare(self, columns: np.ndarray) -> _Measured:
        train, test = dense_columns(self.X, columns).T, dense_columns(self.Z, columns).T
        centroids = train @ self.share
        largest = np.maximum(np.abs(train).max(axis=1), np.abs(test).max(axis=1))
        if not self.uniform:
            scatter = ((train - centroids[:, self.y]) ** 2).sum(axis=1)
            deviation = np.sqrt(scatter / (self.y.size - self.n_classes))
            flat = deviation * _FLAT <= largest
            deviation[flat] = 1.0
            test, centroids = test / deviation[:, None], centroids / deviation[:, None]
            # Whether and how much such a column counts depends on rounding alone.
            largest = np.where(flat, np.inf, largest / deviation)
        return _Measured(test, centroids, self.precision * _ROUNDING * largest**2)


def _squares(columns: _Measured, k: int) -> FloatArray:
    """Squared distance of each test row from the centroid of a class, in each column alone."""
    return (columns.test - columns.centroids[:, k, None]) ** 2
