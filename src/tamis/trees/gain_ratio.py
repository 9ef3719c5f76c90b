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

#: Subtracted from the ratio of a column whose gain is too small: more than any ratio.
_PENALTY = 2.0


def grow_by_gain_ratio(X: Matrix, codes: Codes, n_classes: int, spread: FloatArray | None = None) -> Tree:
    """Grow a tree until every leaf is pure or no split gains information.

    The gain of a split is the entropy of the classes less the mean entropy on its two sides; the gain ratio divides it
    by the entropy of the sides. A column is split where its gain is largest. Among the columns whose gain is at least
    the mean, the one with the largest ratio is taken. Ties go to the larger gain, then to the widest gap in units of
    `spread` (by default the range of each column), then to the first. Few rows are split equally well by many columns:
    for averaged rows, the spread of the original rows decides better. `X` has no missing values.

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
    """Largest gain, in bits, of a split of each column alone, and its gap in units of the spread; 0 for a constant."""
    grower = _ByGainRatio(X, codes, n_classes, spread)
    gain, gap = np.zeros((2, X.shape[1]))
    if grower.columns is not None:
        found, _, _, wide = grower.best(grower.columns, grower._total(np.arange(X.shape[0])))
        gain[grower.columns.features] = np.maximum(found, 0.0)
        gap[grower.columns.features] = wide
    return gain, gap / grower.range


def gained(tree: Tree, n_features: int) -> FloatArray:
    """Information gain of all splits of each column in a tree, in bits per training row."""
    mixed = -xlogy(tree.weight, tree.weight / tree.weight.sum(axis=1, keepdims=True)).sum(axis=1) / np.log(2)
    inner = np.flatnonzero(~tree.is_leaf)
    gain = np.maximum(mixed[inner] - mixed[tree.left[inner]] - mixed[tree.right[inner]], 0.0)
    share = gain / tree.weight[0].sum()
    return np.bincount(tree.feature[inner], weights=share, minlength=n_features).astype(np.float64)


def pessimistic(tree: Tree, confidence: float) -> Tree:
    """The tree in which every subtree whose expected error a leaf does not exceed becomes a leaf.

    The expected error of a node with e errors in n training rows is the upper confidence limit of the binomial error
    rate, after Quinlan.

    Examples
    --------
    >>> tree = grow_by_gain_ratio(np.arange(8.0)[:, None], np.array([0, 0, 1, 0, 0, 0, 0, 0]), 2)
    >>> tree.is_leaf.sum(), pessimistic(tree, 0.25).is_leaf.sum(), pessimistic(tree, 0.9).is_leaf.sum()
    (np.int64(3), np.int64(1), np.int64(3))
    """
    n_rows, errors = tree.weight.sum(axis=1), tree.errors
    expected = n_rows * beta.ppf(1 - confidence, errors + 1, n_rows - errors)
    stop = tree.is_leaf.copy()
    # Children come after their parents.
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        below = expected[tree.left[node]] + expected[tree.right[node]]
        stop[node] = expected[node] <= below + NEAR
        expected[node] = min(expected[node], below)
    return tree.cut_at(stop)


def times_log_table(most: int) -> FloatArray:
    """n log2 n for n = 0, 1, ..., `most`."""
    counts = np.arange(most + 1.0)
    return np.asarray(xlogy(counts, counts) / np.log(2))


class _ByGainRatio(Grower):
    """Splits columns by gain ratio."""

    def __init__(self, X: Matrix, codes: Codes, n_classes: int, spread: FloatArray | None) -> None:
        super().__init__(X, codes, np.ones(X.shape[0]), n_classes, "gain_ratio", None)
        if spread is not None:
            self.range = spread
        self.table = times_log_table(X.shape[0])

    def best(self, columns: SortedColumns, total: FloatArray) -> tuple[FloatArray, ...]:
        """Gain, ratio, split and gap of each column."""
        found = tuple(np.empty(columns.features.shape[0]) for _ in range(4))
        counts = total.astype(np.int64)
        gain_splits(*columns.segments, self.codes, counts, self.table, *found)
        return found

    def _splits(self, columns: SortedColumns | None, total: FloatArray, n_rows: int) -> Splits | None:
        if columns is None or columns.features.size == 0:
            return None
        gain, ratio, split, gap = self.best(columns, total)
        can = gain >= 0.0
        if not can.any() or gain.max() <= NEAR:
            return None
        enough = gain >= gain[can].mean() - NEAR
        score = np.where(can, np.where(enough, ratio, ratio - _PENALTY), NO_SPLIT)
        return Splits(score, -gain, split, gap)
