"""Trees grown by gain ratio and pruned by pessimistic errors, in the manner of C4.5."""

import numpy as np
from scipy.special import xlogy
from scipy.stats import beta

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.kernels.gain_ratio import NEAR, gain_splits
from tamis.kernels.ssv import NO_SPLIT
from tamis.trees.columns import SortedColumns
from tamis.trees.grow import Grower
from tamis.trees.split import Splits
from tamis.trees.tree import Tree

#: What is taken off the ratio of a column of too small a gain: more than any ratio.
_SET_BACK = 2.0


def grow_by_gain_ratio(X: Matrix, codes: Codes, n_classes: int, spread: FloatArray | None = None) -> Tree:
    """Grow a tree until every leaf is pure or no split gains information.

    The gain of a split is the entropy of the classes less the mean entropy on its two sides, and its ratio that gain
    over the entropy of the sides themselves. A column is split where it gains most. Among the columns whose gain is
    not below the mean over all that can be split, the one of the largest ratio is taken; of equals the one of the
    larger gain, then of the widest gap in units of the column's spread, then the first.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        Without missing values.
    codes : int array of shape (n_rows,)
        Class codes 0, 1, ....
    n_classes : int
    spread : float array of shape (n_features,), optional
        Of each column, above zero; by default its range. A few rows are split equally well by many columns, and then
        all hangs on it: for averaged rows, the spread of the rows behind them tells more than their own.

    References
    ----------
    Quinlan (1993), "C4.5: Programs for machine learning".

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 5.0], [3.0, 0.0], [4.0, 5.0]])
    >>> tree = grow_by_gain_ratio(X, np.array([0, 0, 1, 1]), 2)
    >>> tree.feature.tolist(), float(tree.split[0])
    ([0, -1, -1], 2.5)
    """
    return _ByGainRatio(X, codes, n_classes, spread).grow(np.inf)


def first_splits(
    X: Matrix, codes: Codes, n_classes: int, spread: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """The largest gain, in bits, of a split of each column alone, and the gap around it in units of the spread.

    Both are 0 for a column of one value.
    """
    grower = _ByGainRatio(X, codes, n_classes, spread)
    gain, gap = np.zeros((2, X.shape[1]))
    if grower.columns is not None:
        found, _, _, wide = grower.best(grower.columns, grower._total(np.arange(X.shape[0])))
        gain[grower.columns.features] = np.maximum(found, 0.0)
        gap[grower.columns.features] = wide
    return gain, gap / grower.range


def gained(tree: Tree, n_features: int) -> FloatArray:
    """What the splits of each column gain in a tree, in bits per training row."""
    mixed = -xlogy(tree.weight, tree.weight / tree.weight.sum(axis=1, keepdims=True)).sum(axis=1) / np.log(2)
    inner = np.flatnonzero(~tree.is_leaf)
    gain = np.maximum(mixed[inner] - mixed[tree.left[inner]] - mixed[tree.right[inner]], 0.0)
    share = gain / tree.weight[0].sum()
    return np.bincount(tree.feature[inner], weights=share, minlength=n_features).astype(np.float64)


def pessimistic(tree: Tree, confidence: float) -> Tree:
    """The tree with every subtree made a leaf that would then be expected to err no more often.

    A node that answers e of n training rows wrongly is expected to err as often as the upper limit of the binomial
    share of errors at the given confidence, after Quinlan.

    Examples
    --------
    >>> tree = grow_by_gain_ratio(np.arange(8.0)[:, None], np.array([0, 0, 1, 0, 0, 0, 0, 0]), 2)
    >>> tree.is_leaf.sum(), pessimistic(tree, 0.25).is_leaf.sum(), pessimistic(tree, 0.9).is_leaf.sum()
    (np.int64(3), np.int64(1), np.int64(3))
    """
    n_rows, errors = tree.weight.sum(axis=1), tree.errors
    right = n_rows - errors
    expected = n_rows * beta.ppf(1 - confidence, errors + 1, right)
    stop = tree.is_leaf.copy()
    # Children come after their parents.
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        below = expected[tree.left[node]] + expected[tree.right[node]]
        stop[node] = expected[node] <= below + NEAR
        expected[node] = min(expected[node], below)
    return tree.cut_at(stop)


class _ByGainRatio(Grower):
    """A grower with another worth of splits."""

    def __init__(self, X: Matrix, codes: Codes, n_classes: int, spread: FloatArray | None) -> None:
        super().__init__(X, codes, np.ones(X.shape[0]), n_classes, "gain_ratio", None)
        if spread is not None:
            self.range = spread
        counts = np.arange(X.shape[0] + 1)
        self.table = xlogy(counts, counts) / np.log(2)

    def best(self, columns: SortedColumns, total: FloatArray) -> tuple[FloatArray, ...]:
        """Gain, ratio, split and gap of each column."""
        found = tuple(np.empty(columns.features.shape[0]) for _ in range(4))
        counts = total.astype(np.int64)
        gain_splits(columns.begin, columns.end, columns.rows, columns.values, self.codes, counts, self.table, *found)
        return found

    def _splits(self, columns: SortedColumns | None, total: FloatArray, n_rows: int) -> Splits | None:
        if columns is None or columns.features.size == 0:
            return None
        gain, ratio, split, gap = self.best(columns, total)
        can = gain >= 0.0
        if not can.any() or gain.max() <= NEAR:
            return None
        enough = gain >= gain[can].mean() - NEAR
        worth = np.where(can, np.where(enough, ratio, ratio - _SET_BACK), NO_SPLIT)
        return Splits(worth, -gain, split, gap)
