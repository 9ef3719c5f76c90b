"""Minimal cost-complexity pruning of a grown tree: one tree serves every penalty on its leaves."""

from heapq import heapify, heappop, heappush

import numpy as np

from tamis.base.types import FloatArray


def leaf_penalties(left: np.ndarray, right: np.ndarray, risk: FloatArray) -> FloatArray:
    """The penalty of a leaf from which on each node is a leaf; minus infinity for those of the full tree.

    Breiman, Friedman, Olshen and Stone's weakest link: the branch that explains least per leaf is cut first. `left` and
    `right` are the children, which come after their parents, below zero in leaves; `risk` is what a node leaves
    unexplained as a leaf.

    Examples
    --------
    >>> leaf_penalties(np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1]), np.array([9.0, 3.0, 1, 0, 1]))
    array([  5.,   2., -inf, -inf, -inf])
    """
    inner = np.flatnonzero(left >= 0)
    parent = np.full(left.size, -1)
    parent[left[inner]] = parent[right[inner]] = inner
    leaves, below = np.ones(left.size), risk.astype(np.float64)
    for node in inner[::-1]:
        leaves[node] = leaves[left[node]] + leaves[right[node]]
        below[node] = below[left[node]] + below[right[node]]
    found = np.full(left.size, -np.inf)
    link = np.full(left.size, np.inf)
    link[inner] = (risk[inner] - below[inner]) / (leaves[inner] - 1)
    waiting = [(float(link[node]), int(node)) for node in inner]
    heapify(waiting)
    cut = left < 0
    level = 0.0
    while waiting:
        value, node = heappop(waiting)
        if cut[node] or value != link[node]:
            continue
        level = max(level, value)
        branch = [node]
        while branch:
            one = branch.pop()
            if not cut[one]:
                cut[one], found[one] = True, level
                branch += [int(left[one]), int(right[one])]
        lost, gained = leaves[node] - 1, risk[node] - below[node]
        above = int(parent[node])
        while above >= 0:
            leaves[above] -= lost
            below[above] += gained
            link[above] = (risk[above] - below[above]) / (leaves[above] - 1)
            heappush(waiting, (float(link[above]), above))
            above = int(parent[above])
    return found


def nodes_shown(left: np.ndarray, right: np.ndarray, penalties: FloatArray, tried: FloatArray) -> np.ndarray:
    """The node that stands for each node when a leaf costs each of the `tried` penalties: itself or one above it.

    Examples
    --------
    >>> nodes_shown(np.array([1, -1, -1]), np.array([2, -1, -1]), np.array([5.0, -np.inf, -np.inf]), np.array([9.0, 1]))
    array([[0, 0],
           [0, 1],
           [0, 2]])
    """
    shown = np.repeat(np.arange(left.size)[:, None], tried.size, axis=1)
    for node in np.flatnonzero(left >= 0):
        ends = (penalties[node] <= tried) | (shown[node] != node)
        for child in (left[node], right[node]):
            shown[child] = np.where(ends, shown[node], child)
    return shown
