"""Columns to which rows are added, for squared error: sums over all rows so far, by the sums of the new ones."""

import numpy as np
import scipy.sparse as sp

from tamis.base.types import FloatArray, Matrix
from tamis.margins.boosted_lasso.columns import CONSTANT, Columns, Target

#: Bytes that rows may always take. With more, they are kept while the products of all columns with all would take more.
_ROOM = 1 << 28


class GrowingColumns:
    """Columns of mean 0 and mean square 1 over rows that arrive in batches, dense or sparse, and targets for them.

    Means, sums of squares and products with the targets follow those of the rows so far (Chan, Golub and LeVeque 1983).
    So do the products with all columns of those that were asked for. The products of another column need the rows,
    which are kept until they would take more room than the products of all columns with all; these then stand in for
    the rows. All sums are exact but for rounding.

    Parameters
    ----------
    n_columns, n_targets : int
    """

    def __init__(self, n_columns: int, n_targets: int) -> None:
        self.n_rows, self.n_columns = 0, n_columns
        self.total = 0.0
        self.means, self._squares = np.zeros(n_columns), np.zeros(n_columns)
        self._target_means, self._target_squares = np.zeros(n_targets), np.zeros(n_targets)
        self._ends = np.array([np.full(n_targets, np.inf), np.full(n_targets, -np.inf)])
        self._cross = np.zeros((n_targets, n_columns))
        #: Columns with known products, and the place of each of them in these.
        self._known, self._slot = np.empty(0, dtype=np.intp), np.full(n_columns, -1, dtype=np.intp)
        self._products = np.empty((0, n_columns))
        self._blocks: list[tuple[Matrix, FloatArray]] = []

    def add(self, X: Matrix, targets: FloatArray, weight: FloatArray) -> None:
        """Add rows, their targets, one column for each, and their weights above zero."""
        part = float(weight.sum())
        columns = Columns(X, weight / part)
        means = columns.share @ targets
        errors = targets - means
        shift, target_shift = columns.means - self.means, means - self._target_means
        # What the distance between the means of old and new rows adds to the sum of squares.
        between = self.total * part / (self.total + part)
        units = part * columns.scales
        self._squares += units * columns.scales + between * shift**2
        self._target_squares += part * (columns.share @ errors**2) + between * target_shift**2
        self._cross += units * columns.products(columns.share[:, None] * errors).T
        self._cross += between * target_shift[:, None] * shift
        if self._known.size:
            own = columns.gram(self._known)
            own *= columns.scales[self._known, None]
            own *= units
            self._products += own
            self._products += (between * shift[self._known])[:, None] * shift
        self.total += part
        self.n_rows += X.shape[0]
        self.means += part / self.total * shift
        self._target_means += part / self.total * target_shift
        self._ends = np.array([np.fmin(self._ends[0], targets.min(0)), np.fmax(self._ends[1], targets.max(0))])
        if self._known.size < self.n_columns:
            self._keep(X, weight)

    @property
    def scales(self) -> FloatArray:
        """Deviations of the columns, 0 for one that is constant."""
        found = np.sqrt(self._squares / self.total)
        found[found <= CONSTANT * np.abs(self.means)] = 0.0
        return found

    def spread(self, target: int) -> tuple[float, float]:
        """Mean and deviation of a target; 1 in place of a deviation of 0."""
        low, high = self._ends[:, target]
        if low == high:
            return float(low), 1.0
        return float(self._target_means[target]), float(np.sqrt(self._target_squares[target] / self.total))

    def target(self, target: int, zero: float, unit: float) -> Target:
        """A target less `zero`, in multiples of `unit`."""
        pull = self._cross[target] * self._inverse / (self.total * unit)
        mean = (float(self._target_means[target]) - zero) / unit
        return Target(mean, pull, 0.5 * float(self._target_squares[target]) / (self.total * unit**2))

    def gram(self, columns: np.ndarray) -> FloatArray:
        """Products of some columns with all, one row for each of them."""
        self._learn(columns[self._slot[columns] < 0])
        inverse = self._inverse
        return self._products[self._slot[columns]] * (inverse[columns, None] / self.total) * inverse

    def original(self, weights: FloatArray) -> FloatArray:
        """Weights of the columns as they were given."""
        return weights * self._inverse

    @property
    def keeps_rows(self) -> bool:
        """Whether there are rows, for products that are not known."""
        return bool(self._blocks)

    @property
    def _inverse(self) -> FloatArray:
        scales = self.scales
        return np.divide(1.0, scales, out=np.zeros(self.n_columns), where=scales > 0)

    def _keep(self, X: Matrix, weight: FloatArray) -> None:
        """Keep rows for products to come, or learn all products."""
        # Few blocks: those that are not larger than what follows them are put together with it.
        self._blocks.append((X, weight))
        first, size = len(self._blocks) - 1, weight.size
        while first > 0 and self._blocks[first - 1][1].size <= size:
            first -= 1
            size += self._blocks[first][1].size
        rows, weights = zip(*self._blocks[first:], strict=True)
        stacked = sp.vstack(rows, format="csr") if any(map(sp.issparse, rows)) else np.concatenate(rows)
        self._blocks[first:] = [(stacked, np.concatenate(weights))]
        if sum(_size(rows) for rows, _ in self._blocks) > max(_ROOM, 8 * self.n_columns**2):
            self._learn(np.flatnonzero(self._slot < 0))
            self._blocks = []

    def _learn(self, columns: np.ndarray) -> None:
        """Products of some columns with all, from the rows."""
        if columns.size == 0:
            return
        found = np.zeros((columns.size, self.n_columns))
        for rows, weight in self._blocks:
            own = rows[:, columns].toarray() if sp.issparse(rows) else rows[:, columns]
            own = weight[:, None] * (own - self.means[columns])
            found += np.asarray(rows.T @ own).T - own.sum(axis=0)[:, None] * self.means
        self._slot[columns] = np.arange(self._known.size, self._known.size + columns.size)
        self._known = np.concatenate([self._known, columns])
        self._products = np.concatenate([self._products, found])


def _size(X: Matrix) -> int:
    """Bytes of a matrix."""
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes)
