"""Least squares on sets of columns: one fit from the last, by bordering and rotating a Cholesky factor."""

import numpy as np
from scipy.linalg import solve_triangular

from tamis.base.types import FloatArray, Mask
from tamis.subsets.correlations import Pearson
from tamis.subsets.pair_rows import PairRows

#: A column of which others leave a smaller share is their combination.
COLLINEAR = 1e-7

#: A smaller share of a target that is left is rounding: the fit is perfect.
PERFECT = 1e-10


class LeastSquares:
    """The fit, with an intercept, of some targets on a set of columns; it can change column by column.

    Columns and targets are centred and of length 1, so that correlations are all that is needed. A column that is
    constant, or a combination of others of the set, is left out of the fit. Of wide data only the correlations of
    columns that were in a set are kept.

    Parameters
    ----------
    correlations : Pearson
        Correlations of the columns.
    targets : array of shape (n_targets, n_features)
        Correlations of each target with each column.

    Attributes
    ----------
    pairs : PairRows
        The correlations of the columns that were in a set.
    flat : bool array of shape (n_features,)
        Which columns are constant.
    targets : array of shape (n_targets, n_features)
    used : int array
        The columns of the fit, as they joined.
    left : array of shape (n_features,)
        The share of each column that the used ones leave.
    solved : array of shape (n_targets, n_used)
        The targets in orthogonal coordinates; the sum of squares of a target is its share that is explained.

    Examples
    --------
    >>> X = np.array([[0.0, 1], [1, 1], [2, 0], [3, 1], [5, 0]])
    >>> numbers = Pearson(X, np.ones(5), "a fit")
    >>> fit = LeastSquares(numbers, numbers.with_targets(X @ [[2.0], [3.0]]))
    >>> fit.move(np.array([0]))
    >>> (fit.solved**2).sum().round(4)
    np.float64(0.8276)
    >>> fit.move(np.array([0, 1]))
    >>> (fit.solved**2).sum().round(4)
    np.float64(1.0)
    """

    def __init__(self, correlations: Pearson, targets: FloatArray) -> None:
        self.pairs = PairRows(correlations, targets.shape[1], 1.0)
        self.flat = correlations.flat
        self.targets = np.ascontiguousarray(targets)
        #: The Cholesky factor of the used columns, bordered by all columns, in the first rows.
        self._lines = np.empty((0, targets.shape[1]))
        self._reset()

    def move(self, columns: np.ndarray) -> None:
        """Make the set the current one, from the last one by the columns that join and leave."""
        wanted, used = set(columns.tolist()), set(self.used.tolist())
        gone = used - wanted
        if not wanted >= self._dependent or (gone and self._dependent) or 2 * len(gone) > len(used):
            # Without one of some dependent columns another takes its place.
            self._reset()
        else:
            for j in sorted(gone):
                self._leave(int(np.flatnonzero(self.used == j)[0]))
        new = np.array(sorted(wanted - self._dependent - set(self.used.tolist())), dtype=np.intp)
        self.pairs.make(new[~self.flat[new]])
        for j in new:
            if self.adds(j):
                self._join(int(j))
            else:
                self._dependent.add(int(j))

    def adds(self, columns: np.ndarray) -> Mask:
        """Whether columns are neither constant nor combinations of those of the set."""
        found: Mask = (self.left[columns] >= COLLINEAR) & ~self.flat[columns]
        return found

    def rest(self, columns: np.ndarray) -> FloatArray:
        """Products of what the fit leaves of the targets with columns: shape (n_targets, n_columns)."""
        found: FloatArray = self._rest[:, columns]
        return found

    def coefficients(self) -> tuple[FloatArray, FloatArray]:
        """Coefficients of shape (n_targets, n_used), and the diagonal of the inverse of the used correlations.

        Without a column the fit explains less of a target by the square of the coefficient over that diagonal.
        """
        factor = np.tril(self._lines[: self.used.size, self.used].T)
        half = solve_triangular(factor, np.eye(self.used.size), lower=True)
        return self.solved @ half, (half**2).sum(axis=0)

    def _reset(self) -> None:
        """The fit on the empty set."""
        self.used = np.empty(0, dtype=np.intp)
        #: Columns of the set that are left out, as they depend on the used ones.
        self._dependent: set[int] = set()
        self.solved = np.empty((self.targets.shape[0], 0))
        self.left = np.ones(self.targets.shape[1])
        self._rest = self.targets.copy()

    def _join(self, j: int) -> None:
        """Border the factor by a column."""
        size = self.used.size
        if size == self._lines.shape[0]:
            room = np.empty((2 * size + 1, self.left.size))
            room[:size] = self._lines
            self._lines = room
        root = np.sqrt(self.left[j])
        line = (self.pairs.table[self.pairs.place[j]] - self._lines[:size, j] @ self._lines[:size]) / root
        solved = self._rest[:, j] / root
        self._lines[size] = line
        self.solved = np.column_stack((self.solved, solved))
        self.used = np.append(self.used, j)
        self.left -= line**2
        self._rest -= np.outer(solved, line)

    def _leave(self, place: int) -> None:
        """Rotate the column at a place to the end of the factor, and drop it."""
        last, used = self.used.size - 1, np.delete(self.used, place)
        for row in range(place, last):
            # The next column takes this place; the rotation of two rows keeps the factor triangular.
            over, under = self._lines[row : row + 2, used[row]]
            turn = np.array([[over, under], [-under, over]]) / np.hypot(over, under)
            self._lines[row : row + 2] = turn @ self._lines[row : row + 2]
            self.solved[:, row : row + 2] = self.solved[:, row : row + 2] @ turn.T
        self.left += self._lines[last] ** 2
        self._rest += np.outer(self.solved[:, last], self._lines[last])
        self.used, self.solved = used, self.solved[:, :last]
