"""A decision tree as arrays, one entry per node, the root first."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import canonical
from tamis.kernels.sparse import stored_arrays
from tamis.kernels.tree import csr_leaves, csr_shares, dense_leaves, dense_shares


@dataclass
class Node:
    """A node while a tree is made, as :class:`Tree` describes it; a leaf unless it is split."""

    weight: FloatArray
    feature: int = -1
    split: float = np.nan
    left: int = -1
    right: int = -1
    missing_left: bool = False
    inside: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))


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
    share_left : float array of shape (n_nodes,), optional
        In a tree of fractional cases, the part of a missing value that goes left, the rest going right; 0 in leaves.
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
    share_left: FloatArray | None = None

    @classmethod
    def of(cls, nodes: Sequence[Node], priors: FloatArray) -> "Tree":
        """The tree of some nodes, the root first."""
        sizes = np.cumsum([0, *(node.inside.size for node in nodes)], dtype=np.int64)
        feature, left, right = np.array([(n.feature, n.left, n.right) for n in nodes], dtype=np.int64).T.copy()
        return cls(
            *(feature, np.array([n.split for n in nodes]), left, right, np.array([n.missing_left for n in nodes])),
            *(sizes, np.concatenate([n.inside for n in nodes]), np.array([n.weight for n in nodes]), priors),
        )

    @property
    def is_leaf(self) -> np.ndarray:
        return self.feature < 0

    @property
    def prediction(self) -> Codes:
        """The class each node predicts: the one of largest weight times prior; ties go to the first.

        A node without training rows predicts what its parent does.
        """
        return np.argmax((self.weight * self.priors)[self._informed], axis=1)

    @property
    def shares(self) -> FloatArray:
        """Share of each class, by weight times prior, in each node; without training rows that of its parent."""
        counted = self.weight * self.priors
        return (counted / np.maximum(counted.sum(axis=1, keepdims=True), np.finfo(float).tiny))[self._informed]

    @property
    def _informed(self) -> np.ndarray:
        """Each node itself, or the nearest one above it that has training rows."""
        found = np.arange(self.feature.shape[0])
        empty = np.asarray(~self.weight.any(axis=1))
        if empty.any():
            # Children come after their parents.
            for node in np.flatnonzero(~self.is_leaf):
                for child in (self.left[node], self.right[node]):
                    if empty[child]:
                        found[child] = found[node]
        return found

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
            csr_leaves(*stored_arrays(X), *nodes, found)
        else:
            dense_leaves(np.ascontiguousarray(X), *nodes, self.subset, self.inside, found)
        return found

    def class_shares(self, X: Matrix) -> FloatArray:
        """The shares of the classes in the leaves of each row, weighted by the part of the row that ends in each."""
        found = np.zeros((X.shape[0], self.weight.shape[1]))
        to_left = self.missing_left.astype(np.float64) if self.share_left is None else self.share_left
        if to_left.shape != self.feature.shape:
            raise ValueError("share_left has one entry per node")
        nodes = self.feature, self.split, self.left, self.right, to_left
        if sp.issparse(X):
            X = canonical(X.tocsr())
            csr_shares(*stored_arrays(X), *nodes, self.shares, found)
        else:
            dense_shares(np.ascontiguousarray(X), *nodes, self.subset, self.inside, self.shares, found)
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
            share_left=None if self.share_left is None else np.where(inner, self.share_left[alive], 0.0),
        )
