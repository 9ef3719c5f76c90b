"""Pruning: final splits that remove few errors are deleted."""

import numpy as np

from tamis.base.types import FloatArray
from tamis.trees.tree import Tree

#: Most degrees of pruning that are compared.
_CANDIDATES = 50


def gains(tree: Tree) -> FloatArray:
    """G(N) = E(N) - E(N1) - E(N2): the weight of the training errors that each split removes; 0 in leaves.

    A split may remove none and still be needed by the splits below it.
    """
    errors = tree.errors
    gain = np.zeros(errors.shape[0])
    inner = ~tree.is_leaf
    gain[inner] = errors[inner] - errors[tree.left[inner]] - errors[tree.right[inner]]
    # The rest is rounding: a split never adds training errors.
    return np.where(gain > 1e-10 * errors[0], gain, 0.0)


def degrees(tree: Tree) -> FloatArray:
    """The degree of pruning from which on each node is a leaf; minus infinity for leaves.

    Pruning to degree d deletes the final splits with G(N) <= d, then those that have become final, and so on: a node
    is a leaf once d reaches the largest G of its subtree.
    """
    gain = gains(tree)
    degree = np.full(gain.shape[0], -np.inf)
    # Children come after their parents.
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        degree[node] = max(gain[node], degree[tree.left[node]], degree[tree.right[node]])
    return degree


def pruned(tree: Tree, degree: float) -> Tree:
    """The tree without the final splits that remove errors of weight `degree` or less."""
    return tree.cut_at(degrees(tree) <= degree + 1e-10 * tree.errors[0])


def degrees_to_try(degree: FloatArray) -> FloatArray:
    """Degrees of pruning that give different trees, from a single leaf (infinity) to no pruning.

    They lie halfway between those in `degree`, at which splits are deleted: in the folds of a cross-validation the same
    splits are deleted a little earlier or later.
    """
    found = np.unique(degree)
    if found.size > _CANDIDATES:
        found = found[np.linspace(0, found.size - 1, _CANDIDATES).round().astype(int)]
    return np.concatenate(([np.inf], (found[1:] / 2 + found[:-1] / 2)[::-1], [-np.inf]))
