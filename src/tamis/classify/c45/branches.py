"""The tree of C4.5, with a branch for every level of a nominal column, and the binary tree that equals it."""

from dataclasses import dataclass, replace

import numpy as np

from tamis.base.types import FloatArray
from tamis.trees.tree import Node, Tree


@dataclass(frozen=True, eq=False)
class Branches:
    """A tree in which a nominal column is split into all its levels; the arrays change when it is pruned.

    Attributes
    ----------
    feature : int array of shape (n_nodes,)
        Column that a node splits; -1 in a leaf.
    threshold : float array of shape (n_nodes,)
        Values up to it take the first of two branches. NaN in leaves and in nodes that split a nominal column.
    offset, count : int arrays of shape (n_nodes,)
        Where the branches of a node begin in `children`, and how many there are; 0 in a leaf.
    children : int array
        The node that each branch leads to, which comes after its parent; a branch without rows has a node as well.
    weight : float array of shape (n_nodes, n_classes)
        Weight of the rows of each class, counting the fractions of those with a missing value.
    """

    feature: np.ndarray
    threshold: FloatArray
    offset: np.ndarray
    count: np.ndarray
    children: np.ndarray
    weight: FloatArray

    def copy(self) -> "Branches":
        """A tree that can be pruned without changing this one."""
        return replace(self, **{name: value.copy() for name, value in vars(self).items()})

    def below(self, node: int) -> np.ndarray:
        """The nodes that the branches of a node lead to."""
        return self.children[self.offset[node] : self.offset[node] + self.count[node]]

    def cut(self, node: int) -> None:
        """Make a node a leaf."""
        self.feature[node], self.threshold[node], self.count[node] = -1, np.nan, 0

    def lift(self, node: int, branch: int) -> None:
        """Put the node of a branch in the place of a node."""
        for array in (self.feature, self.threshold, self.offset, self.count, self.weight):
            array[node] = array[branch]


def as_tree(tree: Branches) -> Tree:
    """The binary tree that sends every row, and every fraction of one, where `tree` does.

    Levels are parted one after another. Levels without training rows come first, together: their leaf predicts what
    the node does.

    Examples
    --------
    >>> tree = Branches(
    ...     feature=np.array([0, -1, -1, -1]), threshold=np.full(4, np.nan), offset=np.zeros(4, int),
    ...     count=np.array([3, 0, 0, 0]), children=np.array([1, 2, 3]),
    ...     weight=np.array([[2.0, 3.0], [2.0, 0.0], [0.0, 0.0], [0.0, 3.0]]),
    ... )
    >>> as_tree(tree).class_shares(np.array([[0.0], [1.0], [2.0], [np.nan]]))
    array([[1. , 0. ],
           [0.4, 0.6],
           [0. , 1. ],
           [0.4, 0.6]])
    """
    nodes = [Node(tree.weight[0])]
    stack = [(0, 0)]
    while stack:
        branching, place = stack.pop()
        below = tree.below(branching)
        if below.size == 0:
            continue
        test = Node(tree.weight[branching], int(tree.feature[branching]))
        if not np.isnan(tree.threshold[branching]):
            # The binary tree sends what is below its split to the left.
            test.split = float(np.nextafter(tree.threshold[branching], np.inf))
            stack += _parted(nodes, place, tree, below[:1], below[1:], test)[::-1]
            continue
        full = tree.weight[below].any(axis=1)
        if not full.all():
            _parted(nodes, place, tree, below[~full], below[full], replace(test, inside=full))
            place = nodes[place].right
        levels = np.flatnonzero(full)
        found = []
        for number, level in enumerate(levels[:-1], 1):
            others = np.arange(below.size) != level
            rest = below[levels[number:]]
            left, right = _parted(nodes, place, tree, below[[level]], rest, replace(test, inside=others))
            found.append(left)
            place = right[1]
        stack += [*found, (int(below[levels[-1]]), place)][::-1]
    return _with_shares(Tree.of(nodes, np.ones(tree.weight.shape[1])))


def _parted(
    nodes: list[Node], place: int, tree: Branches, left: np.ndarray, right: np.ndarray, test: Node
) -> list[tuple[int, int]]:
    """Split the node at `place` between two groups of branches; returns the first of each group, and its place."""
    sides = [tree.weight[side].sum(axis=0) for side in (left, right)]
    heavier = bool(sides[0].sum() >= sides[1].sum())
    weight = nodes[place].weight
    nodes[place] = replace(test, weight=weight, left=len(nodes), right=len(nodes) + 1, missing_left=heavier)
    nodes += map(Node, sides)
    return [(int(left[0]), len(nodes) - 2), (int(right[0]), len(nodes) - 1)]


def _with_shares(tree: Tree) -> Tree:
    inner, heavy = np.flatnonzero(~tree.is_leaf), tree.weight.sum(axis=1)
    share = np.zeros(tree.feature.size)
    share[inner] = heavy[tree.left[inner]] / (heavy[tree.left[inner]] + heavy[tree.right[inner]])
    return replace(tree, share_left=share)
