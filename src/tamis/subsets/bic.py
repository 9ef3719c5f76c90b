"""BIC: how well a set of columns fits the classes by least squares, for the number of its columns."""

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from tamis.base.types import FloatArray, Mask, Matrix
from tamis.kernels.explained import explained_shares
from tamis.subsets.correlations import Pearson
from tamis.subsets.pair_rows import PairRows
from tamis.subsets.usable_rows import refuse_nominal, usable_rows

#: A column of which others leave a smaller share is their combination.
_COLLINEAR = 1e-7

#: A smaller share of a target that is left is rounding: the fit is perfect.
_PERFECT = 1e-10


class BIC:
    """Minus Schwarz's criterion of a linear model of the classes.

    Each class has an indicator, 1 in its rows and 0 in others, that is fitted by least squares with an intercept. With
    the mean square t_c of what the k columns leave of it, in n rows, the score is

        -sum_c (n ln t_c + (k + 1) ln n),

    the sum of the criteria of one Gaussian model for each class. Of two classes one is fitted: the other has the same
    residuals. Larger is better, and a set of useless columns scores below the empty set.

    Parameters
    ----------
    correlations : Pearson
        Correlations of the columns.
    targets : array of shape (n_targets, n_features)
        Correlations of each indicator with each column.
    variance : array of shape (n_targets,)
        Variance of each indicator.
    n : float
        Number of rows, or their weight.

    Notes
    -----
    A column that is constant, or a combination of other columns of the set, explains nothing and counts among the k. A
    fit that leaves less than 1e-10 of a variance counts as leaving that. The scores of equal sets are equal to about
    1e-9 of n. Columns join by bordering a Cholesky factor, and leave by the diagonal of the inverse. Of wide data only
    the correlations of columns that were in a set are kept. Sparse columns stay sparse.

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
        self._pairs = PairRows(correlations, targets.shape[1], 1.0)
        self._flat = correlations.flat
        self._targets = np.ascontiguousarray(targets)
        self._variance, self._n = variance, n
        self._reset()

    @classmethod
    def of(cls, X: Matrix, y: Any, nominal: Any = None, sample_weight: Any = None) -> "BIC":
        """From validated data: numeric columns without missing values, dense or sparse, and class codes 0, 1, ...

        Parameters
        ----------
        X : array or CSR/CSC matrix of shape (n_rows, n_features)
        y : int array of shape (n_rows,)
        nominal : bool array of shape (n_features,), optional
            Columns that are nominal, which are refused.
        sample_weight : array of shape (n_rows,), optional
            A row of weight 2 counts as two rows.
        """
        X, codes, weight, named = usable_rows(X, y, sample_weight, nominal, "BIC")
        refuse_nominal(named, "BIC")
        numbers = Pearson(X, weight, "BIC")
        targets = numbers.with_classes(codes)
        share = np.bincount(codes, weights=weight) / weight.sum()
        used = np.array([1]) if share.size == 2 else np.arange(share.size)
        return cls(numbers, targets[used], (share * (1.0 - share))[used], float(weight.sum()))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self._targets.shape[1])

    def many(self, sets: Mask) -> FloatArray:
        """Scores of sets, the rows of a boolean array of shape (n_sets, n_features)."""
        self._pairs.make(np.flatnonzero(sets.any(axis=0) & ~self._flat))
        explained = np.empty((sets.shape[0], self._targets.shape[0]))
        varying = np.ascontiguousarray(sets & ~self._flat)
        explained_shares(varying, self._pairs.table, self._pairs.place, self._targets, _COLLINEAR, explained)
        return self._score(explained, sets.sum(axis=1))

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` with each of the candidates."""
        self._solve(columns)
        explained = np.repeat((self._solved**2).sum(axis=1)[None], candidates.size, axis=0)
        left = self._left[candidates]
        new = (left >= _COLLINEAR) & ~self._flat[candidates]
        some = candidates[new]
        rest = self._targets[:, some] - self._solved @ self._lines[:, some]
        explained[new] += (rest**2 / left[new]).T
        return self._score(explained, np.full(candidates.size, columns.size + 1))

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` without each of the candidates."""
        self._solve(columns)
        if self._used.size < columns.size:
            # Without one of some dependent columns another takes its place.
            return self._refitted(columns, candidates)
        half = solve_triangular(self._factor(), np.eye(columns.size), lower=True)
        place = np.array([np.flatnonzero(self._used == j)[0] for j in candidates], dtype=np.intp)
        coef = (self._solved @ half)[:, place]
        loss = coef**2 / (half[:, place] ** 2).sum(axis=0)
        return self._score((self._solved**2).sum(axis=1) - loss.T, np.full(candidates.size, columns.size - 1))

    def _refitted(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        sets = np.zeros((candidates.size, self.n_features), dtype=bool)
        sets[:, columns] = True
        sets[np.arange(candidates.size), candidates] = False
        return self.many(sets)

    def _score(self, explained: FloatArray, size: np.ndarray) -> FloatArray:
        left = self._variance * np.clip(1.0 - explained, _PERFECT, 1.0)
        # A class that no row or every row has is fitted without error; it tells no sets apart.
        terms = np.log(left, out=np.zeros_like(left), where=left > 0)
        found: FloatArray = -(self._n * terms.sum(axis=1) + self._variance.size * (size + 1) * np.log(self._n))
        return found

    def _reset(self) -> None:
        """The solution for the empty set."""
        n = self.n_features
        self._used = np.empty(0, dtype=np.intp)
        #: Columns that were left out, as they depend on the used ones.
        self._dependent: set[int] = set()
        #: The Cholesky factor of the used columns, bordered by all columns, and its solution for the targets.
        self._lines = np.empty((0, n))
        self._solved = np.empty((self._targets.shape[0], 0))
        #: What the used columns leave of each column.
        self._left = np.ones(n)

    def _solve(self, columns: np.ndarray) -> None:
        """Make the set the current one, from the last one where only columns join."""
        wanted = set(columns.tolist())
        if not wanted >= self._dependent | set(self._used.tolist()):
            self._reset()
        new = np.array(sorted(wanted - self._dependent - set(self._used.tolist())), dtype=np.intp)
        self._pairs.make(new[~self._flat[new]])
        for j in new:
            if self._flat[j] or self._left[j] < _COLLINEAR:
                self._dependent.add(int(j))
                continue
            row = self._pairs.table[self._pairs.place[j]] - self._lines[:, j] @ self._lines
            root = np.sqrt(self._left[j])
            solved = (self._targets[:, j] - self._solved @ self._lines[:, j]) / root
            line = row / root
            self._lines = np.vstack((self._lines, line))
            self._solved = np.column_stack((self._solved, solved))
            self._left -= line**2
            self._used = np.append(self._used, j)

    def _factor(self) -> FloatArray:
        return np.tril(self._lines[:, self._used].T)
