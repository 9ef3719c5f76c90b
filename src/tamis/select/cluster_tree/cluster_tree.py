"""Hybrid cluster tree: a gain-ratio tree on the averages of Ward clusters; the best tree selects."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from tamis.base._sklearn import integer, real
from tamis.base.cut import Cut
from tamis.base.errors import DataError
from tamis.base.part import Part
from tamis.base.search_range import choice, geom
from tamis.base.seeds import generator
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import SharedFit
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.select.cluster_tree.ward_patterns import WardPatterns
from tamis.trees.gain_ratio import first_splits, gained, grow_by_gain_ratio, pessimistic
from tamis.trees.tree import Tree


class _Grown(NamedTuple):
    """The best tree, the gains of its columns and their order; sizes and results of all trees."""

    tree: Tree
    scores: FloatArray
    order: np.ndarray
    sizes: np.ndarray
    accuracy: FloatArray
    n_used: np.ndarray
    best: int


class ClusterTree(SharedFit, Selector):
    """Select the columns of the tree, grown on averages of similar rows, that classifies held-out rows best.

    The hybrid cluster tree of Fu, Fu and Sarac. Part of the rows is held out. The others are grouped into n clusters by
    Ward's criterion. Each cluster is averaged to one pattern of its most frequent class, and a tree like C4.5 is grown
    on the patterns: it splits by gain ratio and is pruned by pessimistic errors. This is done for growing n. The tree
    with the best balanced accuracy on the held-out rows is taken; of equals the one with fewer columns, then with fewer
    clusters.

    Parameters
    ----------
    k : int, optional
        Select the `k` columns that gain most in the tree, none that it does not use; by default all that it uses.
    max_clusters : int, default=200
        The most clusters.
    group_size : int, default=2
        Least mean number of rows of a cluster. With 1 the last tree is grown on single rows, if there are no more than
        `max_clusters`.
    steps : int, default=12
        Numbers of clusters to try, in geometric progression from 2, or from the number of classes.
    holdout : float, default=0.3
        Share of the rows of each class that is held out, drawn at random: at least one row, and never all.
    by_class : bool, default=False
        Cluster the rows of each class separately.
    standardize : bool, default=True
        Compute distances on columns of standard deviation one, as the paper does.
    confidence : float, default=0.25
        Confidence of the pruning limits; smaller prunes more.
    max_rows : int, default=4000
        Rows to cluster at most, drawn at random: Ward's criterion needs the distances of all pairs.
    at_least : int, default=1
        When the tree uses fewer columns, this many are selected with a warning: those whose best split gains most on
        the same patterns.
    random_state : int, Generator, RandomState or None, default=None
        Draws the rows to hold out and those to cluster.

    Attributes
    ----------
    scores_ : float array of shape (n_features,)
        Gain of the splits of a column in the best tree, in bits per pattern; 0 for one that it does not use.
    order_ : int array of shape (n_features,)
        By score; those of score 0 by the gain of their best split of all patterns, then by the gap around it.
    n_clusters_ : int
        Number of clusters of the best tree.
    tree_ : tamis.trees.tree.Tree
    sizes_, accuracy_, n_used_ : arrays of shape (n_trees,)
        Number of clusters, balanced accuracy on the held-out rows and number of columns used, of each tree.

    See Also
    --------
    SSVTreeSelector : The columns of one tree on all rows.

    Notes
    -----
    The paper averages the target too, which for classes gives their shares in the cluster: a pattern has the class of
    the largest share, the first of equals. The paper uses plain accuracy. Averages that differ only by rounding are
    made equal. When many columns split a few patterns equally well, the one with the widest gap in standard deviations
    is taken.

    Memory is a few times that of the distances, 8 `max_rows` squared bytes. Sparse rows and their averages stay sparse.
    Missing values need ``impute`` in front, text columns ``encode``.

    References
    ----------
    Fu, Fu and Sarac (2005), "A hybrid cluster tree for variable selection"; Quinlan (1993), "C4.5: Programs for machine
    learning".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import ClusterTree
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> y = np.arange(60) % 2
    >>> X[:, 3] += 4 * y
    >>> found = ClusterTree(random_state=0).fit(X, y)
    >>> found.get_support(indices=True), found.n_clusters_
    (array([3]), 9)
    """

    part: ClassVar[Part] = Part(
        "cluster_tree",
        positional=("k",),
        search={"k": geom(1, 100), "by_class": choice(False, True)},
        paper="Fu, Fu and Sarac 2005",
    )
    #: One tree ranks for every k.
    shared_parameters = ("k", "at_least")
    _reusable = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [integer(1), None],
        "max_clusters": [integer(2)],
        "group_size": [integer(1)],
        "steps": [integer(1)],
        "holdout": [real(0, 1)],
        "by_class": ["boolean"],
        "standardize": ["boolean"],
        "confidence": [real(0, 1)],
        "max_rows": [integer(2)],
        "at_least": [integer(0)],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        max_clusters: int = 200,
        group_size: int = 2,
        steps: int = 12,
        holdout: float = 0.3,
        by_class: bool = False,
        standardize: bool = True,
        confidence: float = 0.25,
        max_rows: int = 4_000,
        at_least: int = 1,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.k = k
        self.max_clusters = max_clusters
        self.group_size = group_size
        self.steps = steps
        self.holdout = holdout
        self.by_class = by_class
        self.standardize = standardize
        self.confidence = confidence
        self.max_rows = max_rows
        self.at_least = at_least
        self.random_state = random_state

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> _Grown:
        clustered, held = self._divided(y)
        X = X.tocsr() if sp.issparse(X) else X
        ward = WardPatterns(X[clustered], y[clustered], self.by_class, self.standardize)
        sizes = self._sizes(clustered.shape[0], ward.least)
        rest, truth = X[held], y[held]
        n_classes = self.classes_.shape[0]
        grown = [grow_by_gain_ratio(*ward.cut(int(size)), n_classes, ward.spread) for size in sizes]
        trees = [pessimistic(tree, self.confidence) for tree in grown]
        accuracy = np.array([_balanced_accuracy(tree, rest, truth) for tree in trees])
        n_used = np.array([np.unique(tree.feature[~tree.is_leaf]).shape[0] for tree in trees])
        # Equal accuracies may differ by rounding.
        best = int(np.lexsort((sizes, n_used, -accuracy.round(12)))[0])
        scores = gained(trees[best], X.shape[1])
        gain, gap = first_splits(*ward.cut(int(sizes[best])), n_classes, ward.spread)
        order = np.lexsort((np.arange(X.shape[1]), -gap, -gain.round(12), -scores))
        return _Grown(trees[best], scores, order, sizes, accuracy, n_used, best)

    def _finish(self, prepared: _Grown) -> Selection:
        self.tree_ = prepared.tree
        self.sizes_, self.accuracy_, self.n_used_ = prepared.sizes, prepared.accuracy, prepared.n_used
        self.n_clusters_ = int(prepared.sizes[prepared.best])
        support = Cut(at_least=self.at_least).apply(prepared.scores, prepared.order)
        if self.k is not None:
            support[prepared.order[self.k :]] = False
        return Selection(support, prepared.scores, prepared.order)

    def _divided(self, codes: Codes) -> tuple[np.ndarray, np.ndarray]:
        """Rows to cluster and rows to hold out."""
        rng = generator(self.random_state)
        clustered, held = [], []
        for label, code in zip(self.classes_.tolist(), range(self.classes_.shape[0]), strict=True):
            rows = rng.permutation(np.flatnonzero(codes == code))
            if rows.shape[0] < 2:
                raise DataError(f"cluster_tree needs two rows of each class at least; class {label!r} has one")
            out = min(max(1, round(self.holdout * rows.shape[0])), rows.shape[0] - 1)
            held.append(rows[:out])
            clustered.append(rows[out:])
        some = rng.permutation(np.concatenate(clustered))[: self.max_rows]
        return np.sort(some), np.sort(np.concatenate(held))

    def _sizes(self, n_rows: int, least: int) -> np.ndarray:
        """Numbers of clusters to try."""
        start = min(n_rows, max(2, self.classes_.shape[0], least))
        last = min(n_rows, max(start, min(self.max_clusters, n_rows // self.group_size)))
        return np.unique(np.rint(np.geomspace(start, last, self.steps)).astype(np.int64))


def _balanced_accuracy(tree: Tree, X: Matrix, codes: Codes) -> float:
    """Mean over the classes of the share of their rows that a tree classifies correctly."""
    right = tree.prediction[tree.leaves(X)] == codes
    return float(np.mean([right[codes == code].mean() for code in np.unique(codes)]))
