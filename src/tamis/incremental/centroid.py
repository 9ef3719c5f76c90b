"""Nearest centroid, one column more or less: squared distances add up over columns."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.neighbors import NearestCentroid

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.incremental.column_updates import UpdatingJudge, leaders
from tamis.incremental.evaluator import Judge, dense_columns

#: Rounding of a distance in units of the precision: what scikit-learn does to it in another order.
_ROUNDING = 64.0

#: A column whose values are this many times its deviation may have no deviation but rounding.
_FLAT = 1e7


def centroid_judge(model: Any, X: Matrix, y: Codes, Z: Matrix) -> Judge | None:
    r"""What a nearest-centroid classifier says, by the distances of single columns; None for what is not covered.

    .. math:: d_k^2(z) = \sum_j (z_j - c_{kj})^2 / s_j^2 - 2 \log p_k

    where the deviations s and the priors p count only when the priors differ, as in scikit-learn.

    Parameters
    ----------
    model : estimator
        scikit-learn's ``NearestCentroid``, with euclidean distance and no shrinkage; for any other None is returned.
    X, y, Z : training rows, their class codes and test rows
        As for :class:`~tamis.incremental.fallback.DoubtingJudge`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import NearestCentroid
    >>> X, y = np.array([[0.0, 5.0], [1.0, 6.0], [4.0, 5.5], [5.0, 6.5]]), np.array([0, 0, 1, 1])
    >>> judge = centroid_judge(NearestCentroid(), X, y, np.array([[0.5, 9.0], [4.0, 2.0]]))
    >>> judge.add(np.array([], dtype=int), np.array([0, 1]))
    array([[0, 1],
           [1, 0]])
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
    # Priors that scikit-learn would refuse, mend or take the logarithm of zero of are left to it.
    if priors.shape != count.shape or not priors.min() > 0 or not np.isclose(priors.sum(), 1.0):
        return None
    return _CentroidJudge(model, X, y, Z, priors)


class _Measured(NamedTuple):
    """Columns, each a row here: in units of their deviation when the priors differ."""

    judged: FloatArray
    centroids: FloatArray
    #: How far rounding may move a squared distance.
    blur: FloatArray


class _CentroidJudge(UpdatingJudge[_Measured]):
    """Adds to the distances from the centroids over the set, or takes from them, those over a column."""

    def __init__(self, model: Any, X: Matrix, y: Codes, Z: Matrix, priors: FloatArray) -> None:
        super().__init__(model, X, y, Z)
        self.uniform = bool(np.isclose(priors, 1 / self.n_classes).all())
        self.bonus = np.zeros(self.n_classes) if self.uniform else 2.0 * np.log(priors)
        self.share = np.eye(self.n_classes)[y] / np.bincount(y)

    def _changed(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> tuple[Codes, Mask]:
        score = np.repeat(self.bonus[:, None], self.Z.shape[0], axis=1)
        blur = self.precision * _ROUNDING * np.abs(self.bonus).max()
        # What overflows is no answer to be sure of.
        with np.errstate(over="ignore", invalid="ignore"):
            for some in self._blocks(columns):
                own = self._prepared(some)
                blur = blur + own.blur.sum()
                for k in range(self.n_classes):
                    score[k] -= _squares(own, k).sum(axis=0)
            one, sign = self._prepared(candidates), -1.0 if joining else 1.0
            said, lead = leaders(score[k] + sign * _squares(one, k) for k in range(self.n_classes))
        # Centroids that are the same but for rounding leave no lead: scikit-learn refuses such columns.
        return said, lead.min(axis=1) > (blur + one.blur if joining else blur)

    def _prepare(self, columns: np.ndarray) -> _Measured:
        learn, judged = dense_columns(self.X, columns).T, dense_columns(self.Z, columns).T
        centroids = learn @ self.share
        largest = np.maximum(np.abs(learn).max(axis=1), np.abs(judged).max(axis=1))
        if not self.uniform:
            scatter = ((learn - centroids[:, self.y]) ** 2).sum(axis=1)
            deviation = np.sqrt(scatter / (self.y.size - self.n_classes))
            flat = deviation * _FLAT <= largest
            deviation[flat] = 1.0
            judged, centroids = judged / deviation[:, None], centroids / deviation[:, None]
            # Whether such a column counts, and how much, hangs on rounding alone.
            largest = np.where(flat, np.inf, largest / deviation)
        return _Measured(judged, centroids, self.precision * _ROUNDING * largest**2)


def _squares(columns: _Measured, k: int) -> FloatArray:
    """Squared distance of each test row from the centroid of a class, over each column alone."""
    return (columns.judged - columns.centroids[:, k, None]) ** 2
