"""Whether a loaded model is safe to use: indices that compiled code follows unchecked lie inside their arrays."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import ensemble
from sklearn.base import BaseEstimator

from tamis.base._sklearn import tree_types
from tamis.classify.diffusion_tree.diffusion_tree import DiffusionTree
from tamis.classify.nrbf.nrbf import NRBF
from tamis.compose.sound_sizes import contradiction
from tamis.neighbours.mixed_space import MixedSpace
from tamis.neighbours.nearest_rows import NearestRows
from tamis.trees.tree import Tree

#: They check the number of columns once and pass rows to their trees unchecked.
_OWNERS = tuple(
    getattr(ensemble, name)
    for name in ensemble.__all__
    if name.startswith(("ExtraTrees", "GradientBoosting", "HistGradientBoosting", "RandomForest", "RandomTrees"))
)

_SklearnTree, _TreePredictor = tree_types()


class UnsoundError(Exception):
    """An index points outside."""


def check_sound(model: Any) -> None:
    """Check every tree and sparse matrix that a model holds; raises :class:`UnsoundError`.

    The file shows types, not whether numbers are consistent: with a child outside the tree, compiled code would read
    memory that is not its own.

    Examples
    --------
    >>> check_sound({"rows": sp.csr_array((np.ones(1), np.array([7]), np.array([0, 1])), shape=(1, 2))})
    Traceback (most recent call last):
    ...
    tamis.compose.sound.UnsoundError: a sparse matrix names columns that it does not have
    """
    waiting: list[tuple[Any, int | None, bool]] = [(model, None, False)]
    seen: set[int] = set()
    while waiting:
        held, width, owned = waiting.pop()
        if id(held) in seen:
            continue
        seen.add(id(held))
        if sp.issparse(held):
            _check_sparse(held)
        elif isinstance(held, Tree):
            _check_tree(held, width)
        elif isinstance(held, _SklearnTree):
            nodes = held.__getstate__()["nodes"]
            _check_nodes(nodes["left_child"], nodes["right_child"], nodes["feature"], nodes["left_child"] == -1, width)
        elif isinstance(held, _TreePredictor):
            _check_predictor(held, width)
        elif isinstance(held, BaseEstimator):
            if not owned:
                width = vars(held).get("n_features_in_")
            _check_rows(held, width)
            if reason := contradiction(held):
                raise UnsoundError(reason)
            if isinstance(held, DiffusionTree) and not held.is_sound():
                raise UnsoundError("the nodes of a diffusion tree do not make a tree")
            waiting.extend((value, width, isinstance(held, _OWNERS)) for value in vars(held).values())
        elif isinstance(held, dict):
            waiting.extend((value, width, owned) for value in held.values())
        elif isinstance(held, list | tuple) or (isinstance(held, np.ndarray) and held.dtype == object):
            waiting.extend((value, width, owned) for value in (held.flat if isinstance(held, np.ndarray) else held))


def _check_rows(model: BaseEstimator, width: int | None) -> None:
    """Check that stored training rows are as wide as the input."""
    rows: Any = getattr(model, "_rows", None)
    if isinstance(model, NearestRows) and rows is not None:
        space: MixedSpace = model._space
        vectors = [size + 1 for size in space.n_levels] if space.shares is None else [len(s[0]) for s in space.shares]
        width = int(np.count_nonzero(~space.nominal)) + sum(vectors) if vectors else width
    elif not (isinstance(model, NRBF) and sp.issparse(rows)):
        return
    if rows.shape[1] != width:
        raise UnsoundError("its training rows are of another width than its input")


def _check_sparse(matrix: Any) -> None:
    try:
        matrix.check_format(full_check=True)
    except ValueError:
        raise UnsoundError("a sparse matrix names columns that it does not have") from None


def _check_nodes(left: Any, right: Any, feature: Any, leaf: Any, width: int | None) -> None:
    """Check that a child comes after its parent, so that every path ends, and that a node uses an existing column."""
    inner = np.flatnonzero(~leaf)
    if left.size == 0:
        raise UnsoundError("a tree has no nodes")
    for children in (left[inner].astype(np.int64), right[inner].astype(np.int64)):
        if ((children <= inner) | (children >= left.size)).any():
            raise UnsoundError("a tree has a branch that leads out of it")
    columns = feature[inner].astype(np.int64)
    if not isinstance(width, int) or ((columns < 0) | (columns >= width)).any():
        raise UnsoundError("a tree uses columns that the data does not have")


def _check_tree(tree: Tree, width: int | None) -> None:
    n_nodes = tree.feature.shape[0]
    arrays = {"split": n_nodes, "left": n_nodes, "right": n_nodes, "missing_left": n_nodes, "subset": n_nodes + 1}
    if any(getattr(tree, name).shape != (size,) for name, size in arrays.items()) or len(tree.weight) != n_nodes:
        raise UnsoundError("a tree has arrays of different lengths")
    if tree.weight.ndim != 2 or tree.priors.shape not in ((), tree.weight.shape[1:]):
        raise UnsoundError("a tree has weights of other classes than its priors")
    _check_nodes(tree.left, tree.right, tree.feature, tree.feature < 0, width)
    subset = tree.subset
    if subset[0] < 0 or (np.diff(subset) < 0).any() or subset[-1] > tree.inside.shape[0]:
        raise UnsoundError("a tree has a subset that lies outside its levels")


def _check_predictor(predictor: Any, width: int | None) -> None:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    _check_nodes(nodes["left"], nodes["right"], nodes["feature_idx"], leaf, width)
    sets = min(len(predictor.raw_left_cat_bitsets), len(predictor.binned_left_cat_bitsets))
    if (nodes["bitset_idx"][nodes["is_categorical"].astype(bool)] >= sets).any():
        raise UnsoundError("a tree has a subset that lies outside its levels")
