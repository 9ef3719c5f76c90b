"""Gaussian naive Bayes, one column more or less: log-likelihoods add up over columns."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.base.moments import ClassMoments
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.incremental.evaluator import Judge, dense_columns
from tamis.incremental.fallback import DoubtingJudge
from tamis.kernels.incremental import bayes_votes

#: Numbers in a block of columns.
_BLOCK = 2_000_000

#: Relative error granted to a log-likelihood, a thousand times what is met and more.
_ROUNDING = 1e-10


def naive_bayes_judge(model: Any, X: Matrix, y: Codes, Z: Matrix) -> Judge | None:
    r"""What ``GaussianNB`` says, by the log-likelihoods of single columns; None for what is not covered.

    .. math:: \log p_k - \sum_j \left(\tfrac12 \log 2 \pi v_{kj} + (z_j - m_{kj})^2 / 2 v_{kj}\right)

    where m and v are the mean and variance of a column in a class, v with a share (``var_smoothing``) of the largest
    variance in the set added, which may change with the set.

    Parameters
    ----------
    model : GaussianNB
    X, y, Z : training rows, their class codes and test rows
        As for :class:`~tamis.incremental.fallback.DoubtingJudge`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = np.array([[0.0, 5.0], [1.0, 7.0], [4.0, 5.5], [5.0, 6.5]]), np.array([0, 0, 1, 1])
    >>> judge = naive_bayes_judge(GaussianNB(), X, y, np.array([[0.5, 6.4], [4.0, 4.9]]))
    >>> judge.add(np.array([], dtype=int), np.array([0, 1]))
    array([[0, 1],
           [1, 0]])
    """
    count = np.bincount(y)
    given = count / y.size if model.priors is None else np.asarray(model.priors, dtype=np.float64)
    # Priors that scikit-learn would refuse, or take the logarithm of zero of, are left to it.
    if count.size < 2 or given.shape != count.shape or not given.min() > 0 or not np.isclose(given.sum(), 1.0):
        return None
    try:
        moments = ClassMoments.of(X, y)
    except DataError:
        return None
    return _NaiveBayesJudge(model, X, y, Z, moments, np.log(given))


class _NaiveBayesJudge(DoubtingJudge):
    """Adds to the log-likelihoods over the set, or takes from them, those of a column."""

    def __init__(self, model: Any, X: Matrix, y: Codes, Z: Matrix, moments: ClassMoments, prior: FloatArray) -> None:
        super().__init__(model, X, y, Z)
        self.prior = prior
        self.moments = np.concatenate((moments.mean, moments.variance)).T
        #: What a column asks to be added to the variances of a set it is in: the largest is.
        self.smoothing = float(model.var_smoothing) * (moments.within + moments.between) / y.size
        self.rounding = max(_ROUNDING, 8.0 * y.size * float(np.finfo(np.float64).eps))
        #: Values in the test rows and moments of each column; for sparse ones made when they are asked for.
        self.known = None if sp.issparse(Z) else _side_by_side(Z.T, self.moments)

    def _changed(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> tuple[Codes, Mask]:
        said = np.empty((candidates.size, self.Z.shape[0]), dtype=np.intp)
        smoothing = float(self.smoothing[columns].max()) if columns.size else 0.0
        if joining:
            after = np.maximum(smoothing, self.smoothing[candidates])
        else:
            after = self._largest_without(columns, candidates)
        sign = 1.0 if joining else -1.0
        width = max(1, candidates.size if self.known is not None else _BLOCK // self.Z.shape[0])
        for start in range(0, candidates.size, width):
            block = slice(start, start + width)
            table, both = self._table(np.concatenate((columns, candidates[block])))
            bayes_votes(
                table, both, columns.size, smoothing, after[block], self.prior, sign, self.rounding, said[block]
            )
        return said, said[:, 0] >= 0

    def _table(self, columns: np.ndarray) -> tuple[FloatArray, np.ndarray]:
        """A table in which some columns are known, and their places in it."""
        if self.known is not None:
            return self.known, columns
        return _side_by_side(dense_columns(self.Z, columns).T, self.moments[columns]), np.arange(columns.size)

    def _largest_without(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """The smoothing of the set without each candidate."""
        order = columns[np.argsort(-self.smoothing[columns], kind="stable")]
        return np.where(candidates == order[0], self.smoothing[order[1]], self.smoothing[order[0]])


def _side_by_side(values: FloatArray, moments: FloatArray) -> FloatArray:
    return np.ascontiguousarray(np.concatenate((values, moments), axis=1), dtype=np.float64)
