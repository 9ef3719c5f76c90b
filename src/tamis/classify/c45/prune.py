"""Pessimistic pruning: subtrees become leaves, or give way to their largest branch, by estimates of their errors."""

import numpy as np

from tamis.base.types import Codes, FloatArray
from tamis.classify.c45.branches import Branches
from tamis.classify.c45.grow import divided
from tamis.kernels.branches import ALL, added_errors, subtree_errors
from tamis.kernels.gain_ratio import SLACK

#: A simpler tree may have this many estimated errors more.
_PREFERENCE = 0.1

#: Confidences and their normal deviates, between which C4.5 interpolates.
_CONFIDENCE = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATE = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


def estimated_errors(n: float, e: float, confidence: float) -> float:
    """Errors to expect of a leaf that misclassifies `e` of its `n` rows: the upper confidence limit, after Quinlan.

    Examples
    --------
    >>> [round(estimated_errors(n, e, 0.25), 3) for n, e in ((6, 0), (9, 0), (1, 0), (16, 1))]
    [1.238, 1.285, 0.75, 2.507]
    """
    return e + float(added_errors(n, e, confidence, _coefficient(confidence)))


def _coefficient(confidence: float) -> float:
    """Squared normal deviate."""
    return float(np.interp(confidence, _CONFIDENCE, _DEVIATE)) ** 2


def prune(
    tree: Branches, X: FloatArray, codes: Codes, weight: FloatArray, confidence: float, *, raising: bool
) -> Branches:
    """The tree after pruning from its leaves up, by the rows it was grown on.

    A node becomes a leaf when the estimated errors of the leaf exceed neither those of its subtree nor, with `raising`,
    those of its largest branch for all its rows by more than 0.1. Otherwise the branch takes its place when its
    errors do not exceed those of the subtree by more than 0.1, and is pruned again with the rows it has now. `X` holds
    the columns that the tree splits, numbered as in ``tree.feature``.
    """
    pruning = _Pruning(tree.copy(), X, codes, confidence, raising)
    pruning.settle(0, np.arange(X.shape[0], dtype=np.int32), weight)
    return pruning.tree


class _Pruning:
    def __init__(self, tree: Branches, X: FloatArray, codes: Codes, confidence: float, raising: bool) -> None:
        self.tree = tree
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.codes = codes.astype(np.int64, copy=False)
        self.confidence = confidence
        self.coefficient = _coefficient(confidence)
        self.raising = raising
        self.errors = np.zeros(tree.feature.shape[0])

    def settle(self, root: int, rows: np.ndarray, weight: FloatArray) -> None:
        """Send rows down from a node and prune what is below it, its branches first."""
        tree = self.tree
        stack: list[tuple[int, np.ndarray, FloatArray, int]] = [(root, rows, weight, -1)]
        while stack:
            node, rows, weight, largest = stack.pop()
            if largest >= 0:
                self._decide(node, rows, weight, largest)
                continue
            found = np.bincount(self.codes[rows], weights=weight, minlength=tree.weight.shape[1])
            tree.weight[node] = found
            total = found.sum()
            wrong = float(total - found.max())
            self.errors[node] = wrong + added_errors(float(total), wrong, self.confidence, self.coefficient)
            if tree.feature[node] < 0:
                continue
            branch = self._branch(node, rows)
            below = tree.below(node).tolist()
            known = np.bincount(branch[branch != ALL], weights=weight[branch != ALL], minlength=len(below))
            # The last of equally large branches, as in C4.5.
            largest = int(np.flatnonzero(known >= known.max() - SLACK)[-1])
            stack.append((node, rows, weight, below[largest]))
            parts = divided(branch, len(below), rows, weight)
            stack += [(child, *part, -1) for child, part in zip(below, parts, strict=True) if part[0].size]

    def _branch(self, node: int, rows: np.ndarray) -> np.ndarray:
        values, threshold = self.X[rows, self.tree.feature[node]], self.tree.threshold[node]
        branch = values if np.isnan(threshold) else values > threshold
        return np.where(np.isnan(values), ALL, branch).astype(np.int64)

    def _decide(self, node: int, rows: np.ndarray, weight: FloatArray, largest: int) -> None:
        """Replace a node by a leaf or by its largest branch, or leave it."""
        tree = self.tree
        below, leaf = self.errors[tree.below(node)].sum(), self.errors[node]
        branch = self._errors(largest, rows, weight) if self.raising else np.inf
        if leaf <= min(branch, below) + _PREFERENCE + SLACK:
            tree.cut(node)
        elif branch <= below + _PREFERENCE + SLACK:
            self.settle(largest, rows, weight)
            tree.lift(node, largest)
            self.errors[node] = self.errors[largest]
        else:
            self.errors[node] = below

    def _errors(self, root: int, rows: np.ndarray, weight: FloatArray) -> float:
        """Estimated errors of a subtree for some rows."""
        tree = self.tree
        nodes = tree.feature, tree.threshold, tree.offset, tree.count, tree.children
        settings = tree.weight.shape[1], self.confidence, self.coefficient
        return float(subtree_errors(self.X, self.codes, rows, weight, *nodes, root, *settings))
