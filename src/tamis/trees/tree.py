"""A decision tree as arrays, one entry per node, the root first."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import canonical
from tamis.kernels.tree import csr_leaves, dense_leaves


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree of splits; children come after their parents.

    Attributes
    ----------
    feature : int array of shape (n_nodes,)
        Column that a node splits; -1 in a leaf.
    split : float array of shape (n_nodes,)
        Values below it go left. NaN in leaves and in nodes that split a nominal column.
    left, right : int arrays of shape (n_nodes,)
        The children; -1 in a leaf.
    missing_left : bool array of shape (n_nodes,)
        Whether a missing value goes left: with the heavier side in a numeric column, as its own level in a nominal one.
    subset : int array of shape (n_nodes + 1,)
        Where the entries of each node begin in `inside`; numeric nodes and leaves have none.
    inside : bool array
        For each level of a nominal column, whether it belongs to the subset, which goes right.
    weight : float array of shape (n_nodes, n_classes)
        Weight of the training rows of each class.
    priors : float array of shape (n_classes,)
        Factor of the weights of each class: 1, or the inverse of the class's weight for balance.
    """

    feature: np.ndarray
    split: FloatArray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    subset: np.ndarray
    inside: np.ndarray
    weight: FloatArray
    priors: FloatArray

    @property
    def is_leaf(self) -> np.ndarray:
        return self.feature < 0

    @property
    def prediction(self) -> Codes:
        """The class each node predicts: the one of largest weight times prior; ties go to the first."""
        return np.argmax(self.weight * self.priors, axis=1)

    @property
    def errors(self) -> FloatArray:
        """Weight times prior of the training rows that each node misclassifies."""
        counted = self.weight * self.priors
        return counted.sum(axis=1) - counted.max(axis=1)

    def leaves(self, X: Matrix) -> np.ndarray:
        """The leaf that each row of `X` ends in; nominal columns hold level codes."""
        found = np.zeros(X.shape[0], dtype=np.int64)
        nodes = self.feature, self.split, self.left, self.right, self.missing_left
        if sp.issparse(X):
            X = canonical(X.tocsr())
            csr_leaves(X.data, X.indices, X.indptr, *nodes, found)
        else:
            dense_leaves(np.ascontiguousarray(X), *nodes, self.subset, self.inside, found)
        return found

    def cut_at(self, stop: np.ndarray) -> "Tree":
        """The tree with the marked nodes made leaves, without the nodes below them."""
        alive = np.zeros(self.feature.shape[0], dtype=bool)
        alive[0] = True
        inner = ~self.is_leaf & ~stop
        for node in np.flatnonzero(inner):
            if alive[node]:
                alive[[self.left[node], self.right[node]]] = True
        number = np.cumsum(alive) - 1
        keep = np.repeat(alive & inner, np.diff(self.subset))
        inner = inner[alive]
        sizes = np.where(inner, np.diff(self.subset)[alive], 0)
        return replace(
            self,
            feature=np.where(inner, self.feature[alive], -1),
            split=np.where(inner, self.split[alive], np.nan),
            left=np.where(inner, number[self.left[alive]], -1),
            right=np.where(inner, number[self.right[alive]], -1),
            missing_left=self.missing_left[alive] & inner,
            subset=np.concatenate(([0], np.cumsum(sizes))),
            inside=self.inside[keep],
            weight=self.weight[alive],
        )
