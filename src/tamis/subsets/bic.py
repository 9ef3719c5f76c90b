"""BIC: how well a set of columns fits the target by least squares, for the number of its columns."""

from typing import Any

import numpy as np

from tamis.base.task import is_numeric
from tamis.base.types import FloatArray, Mask, Matrix
from tamis.base.validation import centre_and_scale
from tamis.kernels.explained import explained_shares
from tamis.subsets.correlations import Pearson
from tamis.subsets.least_squares import COLLINEAR, PERFECT, LeastSquares
from tamis.subsets.usable_rows import refuse_nominal, usable_rows


class BIC:
    """Minus Schwarz's criterion of a linear model of the target.

    Each class has an indicator, 1 in its rows and 0 in others, that is fitted by least squares with an intercept. With
    the mean square t_c of what the k columns leave of it, in n rows, the score is

        -sum_c (n ln t_c + (k + 1) ln n),

    the sum of the criteria of one Gaussian model for each class. Of two classes one is fitted: the other has the same
    residuals. A target of numbers is fitted as it is. Larger is better, and a set of useless columns scores below the
    empty set.

    Parameters
    ----------
    correlations : Pearson
        Correlations of the columns.
    targets : array of shape (n_targets, n_features)
        Correlations of each indicator, or of the numbers, with each column.
    variance : array of shape (n_targets,)
        Variance of each of them.
    n : float
        Number of rows, or their weight.

    Notes
    -----
    A column that is constant, or a combination of other columns of the set, explains nothing and counts among the k. A
    fit that leaves less than 1e-10 of a variance counts as leaving that. The scores of equal sets are equal to about
    1e-9 of n. A fit is updated from that of the last set (:class:`~tamis.subsets.least_squares.LeastSquares`). Of wide
    data only the correlations of columns that were in a set are kept. Sparse columns stay sparse.

    References
    ----------
    Schwarz (1978), "Estimating the dimension of a model".

    Examples
    --------
    >>> X = np.array([[0.0, 5], [1, 7], [0.5, 6], [4, 5.5], [5, 6.5], [4.5, 6.2]])
    >>> measure = BIC.of(X, np.array([0, 0, 0, 1, 1, 1]))
    >>> measure.many(np.array([[False, False], [True, False], [False, True], [True, True]])).round(2)
    array([ 6.53, 24.05,  4.75, 35.19])
    """

    def __init__(self, correlations: Pearson, targets: FloatArray, variance: FloatArray, n: float) -> None:
        self._fit = LeastSquares(correlations, targets)
        self._variance, self._n = variance, n

    @classmethod
    def of(cls, X: Matrix, y: Any, nominal: Any = None, sample_weight: Any = None) -> "BIC":
        """From validated data: numeric columns without missing values, dense or sparse, and the target.

        Parameters
        ----------
        X : array or CSR/CSC matrix of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            Class codes 0, 1, ..., or numbers as floats.
        nominal : bool array of shape (n_features,), optional
            Columns that are nominal, which are refused.
        sample_weight : array of shape (n_rows,), optional
            A row of weight 2 counts as two rows.
        """
        X, codes, weight, named = usable_rows(X, y, sample_weight, nominal, "BIC", numbers=True)
        refuse_nominal(named, "BIC")
        numbers = Pearson(X, weight, "BIC")
        if is_numeric(codes):
            mean, deviation = centre_and_scale(codes, weight)
            varies = float(np.ptp(codes) > 0)
            targets = numbers.with_targets(((codes - mean) / deviation)[:, None])
            return cls(numbers, targets, np.array([varies * deviation**2]), float(weight.sum()))
        targets = numbers.with_classes(codes)
        share = np.bincount(codes, weights=weight) / weight.sum()
        used = np.array([1]) if share.size == 2 else np.arange(share.size)
        return cls(numbers, targets[used], (share * (1.0 - share))[used], float(weight.sum()))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self._fit.targets.shape[1])

    def many(self, sets: Mask) -> FloatArray:
        """Scores of sets, the rows of a boolean array of shape (n_sets, n_features)."""
        pairs, flat, targets = self._fit.pairs, self._fit.flat, self._fit.targets
        pairs.make(np.flatnonzero(sets.any(axis=0) & ~flat))
        explained = np.empty((sets.shape[0], targets.shape[0]))
        varying = np.ascontiguousarray(sets & ~flat)
        explained_shares(varying, pairs.table, pairs.place, targets, COLLINEAR, explained)
        return self._score(explained, sets.sum(axis=1))

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` with each of the candidates."""
        fit = self._fit
        fit.move(columns)
        explained = np.repeat((fit.solved**2).sum(axis=1)[None], candidates.size, axis=0)
        new = fit.adds(candidates)
        some = candidates[new]
        explained[new] += (fit.rest(some) ** 2 / fit.left[some]).T
        return self._score(explained, np.full(candidates.size, columns.size + 1))

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` without each of the candidates."""
        fit = self._fit
        fit.move(columns)
        if fit.used.size < columns.size:
            # Without one of some dependent columns another takes its place.
            return self._refitted(columns, candidates)
        coef, inverse = fit.coefficients()
        place = np.array([np.flatnonzero(fit.used == j)[0] for j in candidates], dtype=np.intp)
        loss = coef[:, place] ** 2 / inverse[place]
        return self._score((fit.solved**2).sum(axis=1) - loss.T, np.full(candidates.size, columns.size - 1))

    def _refitted(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        sets = np.zeros((candidates.size, self.n_features), dtype=bool)
        sets[:, columns] = True
        sets[np.arange(candidates.size), candidates] = False
        return self.many(sets)

    def _score(self, explained: FloatArray, size: np.ndarray) -> FloatArray:
        left = self._variance * np.clip(1.0 - explained, PERFECT, 1.0)
        # A class that no row or every row has is fitted without error; it tells no sets apart.
        terms = np.log(left, out=np.zeros_like(left), where=left > 0)
        found: FloatArray = -(self._n * terms.sum(axis=1) + self._variance.size * (size + 1) * np.log(self._n))
        return found
