"""Growing: the best split of all columns, recursively on either side, until the leaves are pure."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.kernels.ssv import NO_SPLIT, nominal_split
from tamis.kernels.tree import divide_columns
from tamis.trees.columns import SortedColumns, level_codes, sorted_columns
from tamis.trees.split import Splits, best_splits
from tamis.trees.tree import Node, Tree


class _Choice(NamedTuple):
    """A split of one column; `inside` is the subset of levels of a nominal one, missing values as the last."""

    score: float
    same: float
    feature: int
    place: int
    split: float
    inside: Mask


def grow(
    X: Matrix,
    codes: Codes,
    weight: FloatArray,
    *,
    n_classes: int,
    criterion: str = "ssv",
    nominal: Mask | None = None,
    max_depth: int | None = None,
) -> Tree:
    """Grow a tree until every leaf is pure or cannot be split, or at `max_depth` splits below the root.

    The best split of all columns is taken (:func:`tamis.trees.split.best_splits`). Ties go to the one that separates
    fewest pairs of rows of the same class, then to the widest gap between the values on its two sides as a share of the
    column's range, then to a numeric column, then to the first. Without the gap, which the paper does not have, the
    order of the columns would decide small nodes. The criterion "balanced_error" also balances the classes in a node's
    prediction.

    NaN is missing. In a numeric column it is left out of the search and goes to the heavier side; in a `nominal` one,
    of level codes 0, 1, ... (dense only), it is a level like any other. Weights are above zero; some of the `n_classes`
    classes may have no row.
    """
    return Grower(X, codes, weight, n_classes, criterion, nominal).grow(np.inf if max_depth is None else max_depth)


class Grower:
    """Grows a tree from rows; a subclass with another criterion overrides ``_splits``."""

    def __init__(
        self, X: Matrix, codes: Codes, weight: FloatArray, n_classes: int, criterion: str, nominal: Mask | None
    ) -> None:
        self.codes = codes.astype(np.int64, copy=False)
        self.weight = weight
        self.criterion = criterion
        self.n_classes = n_classes
        nominal = np.zeros(X.shape[1], dtype=bool) if nominal is None else nominal
        self.levels = {int(j): _levels(X[:, j]) for j in np.flatnonzero(nominal)}
        self.columns = next(sorted_columns(X, np.flatnonzero(~nominal), whole=True), None)
        if self.columns is not None:
            self.spare = np.empty(X.shape[0], dtype=np.int32), np.empty(X.shape[0], dtype=self.columns.values.dtype)
        self.range = _ranges(X)
        self.goes_left = np.zeros(X.shape[0], dtype=bool)

    def grow(self, max_depth: float) -> Tree:
        everything = np.arange(self.codes.shape[0])
        total = self._total(everything)
        priors = np.ones(self.n_classes)
        if self.criterion == "balanced_error":
            priors = total.sum() / (self.n_classes * np.where(total > 0, total, 1.0))
        nodes = [Node(total)]
        stack = [(nodes[0], everything, self.columns, 0)]
        while stack:
            node, rows, columns, depth = stack.pop()
            if (node.weight > 0).sum() < 2 or depth >= max_depth:
                continue
            splits = self._splits(columns, node.weight, rows.size)
            choice = self._choose(columns, splits, rows, node.weight)
            if choice is None:
                continue
            # The last level stands for missing values, whose side is stored in `missing_left`.
            node.feature, node.split, node.inside = choice.feature, choice.split, choice.inside[:-1]
            node.missing_left = self._send(choice, columns, rows)
            went = self.goes_left[rows]
            sides = [rows[went], rows[~went]]
            children = [Node(self._total(side)) for side in sides]
            node.left, node.right = len(nodes), len(nodes) + 1
            nodes += children
            wanted = [bool((child.weight > 0).sum() > 1 and depth + 1 < max_depth) for child in children]
            parts = self._divide(columns, splits, wanted)
            pushed = zip(children, sides, parts, wanted, strict=True)
            stack += [(child, side, part, depth + 1) for child, side, part, want in pushed if want][::-1]
        return Tree.of(nodes, priors)

    def _total(self, rows: np.ndarray) -> FloatArray:
        found = np.bincount(self.codes[rows], weights=self.weight[rows], minlength=self.n_classes)
        return found.astype(np.float64)

    def _splits(self, columns: SortedColumns | None, total: FloatArray, n_rows: int) -> Splits | None:
        if columns is None or columns.features.size == 0:
            return None
        return best_splits(columns, self.codes, self.weight, total, n_rows, self.criterion)

    def _choose(
        self, columns: SortedColumns | None, splits: Splits | None, rows: np.ndarray, total: FloatArray
    ) -> _Choice | None:
        close = 1e-13 * total.sum() ** 2
        near = 1e-12 if self.criterion == "balanced_error" else close
        best = None
        if splits is not None and columns is not None and splits.score.max() > NO_SPLIT:
            top = np.flatnonzero(splits.score >= splits.score.max() - near)
            top = top[splits.same[top] <= splits.same[top].min() + close]
            place = int(top[np.argmax(splits.gap[top] / self.range[columns.features[top]])])
            feature = int(columns.features[place])
            none = np.zeros(0, dtype=bool)
            best = _Choice(splits.score[place], splits.same[place], feature, place, splits.split[place], none)
        balanced = self.criterion == "balanced_error"
        for feature, (levels, n_levels) in self.levels.items():
            inside = np.zeros(n_levels, dtype=bool)
            score, same = nominal_split(levels, rows, self.codes, self.weight, self.n_classes, balanced, inside)
            equal = best is not None and score >= best.score - near and same < best.same - close
            if score > NO_SPLIT and (best is None or score > best.score + near or equal):
                best = _Choice(score, same, feature, -1, np.nan, inside)
        return best

    def _send(self, choice: _Choice, columns: SortedColumns | None, rows: np.ndarray) -> bool:
        """Mark the rows of a node that go left; returns whether missing values do."""
        if choice.place < 0 or columns is None:
            levels, _ = self.levels[choice.feature]
            self.goes_left[rows] = ~choice.inside[levels[rows]]
            return not choice.inside[-1]
        segment = slice(columns.begin[choice.place], columns.end[choice.place])
        listed, values = columns.rows[segment], columns.values[segment]
        self.goes_left[rows] = choice.split > 0
        self.goes_left[listed] = values < choice.split
        missing = listed[np.isnan(values)]
        if missing.size == 0:
            return bool(self.weight[rows] @ (2.0 * self.goes_left[rows] - 1.0) >= 0)
        signed = self.weight * (2.0 * self.goes_left - 1.0)
        left = bool(signed[rows].sum() - signed[missing].sum() >= 0)
        self.goes_left[missing] = left
        return left

    def _divide(
        self, columns: SortedColumns | None, splits: Splits | None, wanted: list[bool]
    ) -> tuple[SortedColumns | None, SortedColumns | None]:
        """The columns of both children, without those that can no longer be split."""
        if columns is None or splits is None or not any(wanted):
            return None, None
        open_ = splits.score > NO_SPLIT
        kept = replace(columns, features=columns.features[open_], begin=columns.begin[open_], end=columns.end[open_])
        middle = np.empty(kept.begin.shape[0], dtype=np.int64)
        divide_columns(kept.begin, kept.end, self.goes_left, *wanted, kept.rows, kept.values, *self.spare, middle)
        front = replace(kept, end=middle)
        return front, replace(kept, begin=middle) if wanted[0] else front


def _levels(column: FloatArray) -> tuple[np.ndarray, int]:
    """Levels of a nominal column and their number, the last one for missing values, which are often informative."""
    levels, n_levels = level_codes(column)
    return np.where(levels < 0, n_levels, levels).astype(np.int32), n_levels + 1


def _ranges(X: Matrix) -> FloatArray:
    """Range of each column; 1 where it is zero or not finite."""
    if sp.issparse(X):
        low, high = (np.asarray(v.todense()).ravel() for v in (X.nanmin(axis=0), X.nanmax(axis=0)))
    else:
        low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = high.astype(np.float64) - low
    return np.where(np.isfinite(spread) & (spread > 0), spread, 1.0)
