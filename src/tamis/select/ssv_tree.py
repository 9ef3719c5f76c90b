"""SSV single tree: the features of one tree, ranked by how long they survive pruning."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tamis.base._sklearn import StrOptions, integer
from tamis.base.cut import Cut, rank
from tamis.base.nominal import TakesNominal
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice, geom
from tamis.base.selector import Selection, WeightedSelector
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray
from tamis.trees.grow import grow
from tamis.trees.prune import gains
from tamis.trees.rows import counted
from tamis.trees.rules import Wording
from tamis.trees.split import CRITERIA
from tamis.trees.tree import Tree

#: Digits of the splits in words; the rows, which could tell more, are not stored.
_DIGITS = 4


def _phrase(a: Arguments) -> str:
    k = a.pop("k")
    if k is None:
        return "keeps the features that an SSV decision tree uses"
    return f"keeps the best {'feature' if k == 1 else f'{k} features'} of an SSV decision tree"


class SSVTreeSelector(SharedFit, TakesNominal, WeightedSelector):
    """Select the features that a full SSV tree uses; the last ones that pruning removes are the best.

    Grabczewski and Jankowski's Algorithm 1. With E(N) the training rows that node N misclassifies and G(N) = E(N) -
    E(N1) - E(N2) for its subnodes, the full tree is pruned in rounds i = 0, 1, ...:

    a) every feature that the tree does not use, and that has no rank yet, gets rank i;
    b) all final splits (of nodes whose subnodes are leaves) with the smallest G(N) are deleted;
    c) all final splits with G(N) = 0 are deleted, as long as there are any (once with `literal`).

    The features of a tree complement each other, for each split is the best given those above it. No more features can
    be selected than the tree uses: ``repeat`` continues from there.

    Parameters
    ----------
    k : int, optional
        Select the `k` features of highest rank, none of rank 0; by default all of rank 1 and above.
    criterion : {"ssv", "balanced_error"}, default="ssv"
        Criterion of the splits.
    at_least : int, default=1
        When the tree uses fewer features, this many are selected with a warning.
    literal : bool, default=False
        Do step c once a round, as it is printed, and not until no such split is left.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        The ranks; 0 for features that the full tree does not use.
    tree_ : tamis.trees.tree.Tree
        The full tree.

    See Also
    --------
    tamis.classify.SSVTree : The tree as a classifier.

    Notes
    -----
    The paper does not say whether step c is repeated. Done once, a split with G(N) = 0 that it exposes is left to step
    b of the next round, which then deletes no other split: ranks are spread further, and their order may change.
    Missing values and nominal columns are accepted.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import SSVTreeSelector
    >>> X = np.array([[0, 7, 0], [1, 7, 1], [2, 8, 0], [5, 7, 0], [6, 8, 1], [7, 8, 1]], dtype=float)
    >>> found = SSVTreeSelector().fit(X, [0, 0, 0, 0, 1, 1])
    >>> found.scores_, found.get_support(indices=True)
    (array([1., 0., 0.]), array([0]))
    """

    part: ClassVar[Part] = Part(
        "ssv_tree",
        positional=("k",),
        search={"k": geom(1, 100), "criterion": choice(*CRITERIA)},
        paper="Grabczewski and Jankowski 2006, Algorithm 1",
        phrase=_phrase,
    )
    accepts_missing = True
    #: One tree ranks for every k.
    shared_parameters = ("k", "at_least")
    _reusable = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [integer(1), None],
        "criterion": [StrOptions(set(CRITERIA))],
        "at_least": [integer(0)],
        "literal": ["boolean"],
    }

    def __init__(
        self, k: int | None = None, *, criterion: str = "ssv", at_least: int = 1, literal: bool = False
    ) -> None:
        self.k = k
        self.criterion = criterion
        self.at_least = at_least
        self.literal = literal

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> tuple[Tree, FloatArray]:
        X, y, weight = counted(X, y, sample_weight)
        nominal = self.nominal_ if self.nominal_.any() else None
        tree = grow(X, y, weight, n_classes=self.classes_.shape[0], criterion=self.criterion, nominal=nominal)
        return tree, _ranks(tree, X.shape[1], literal=self.literal)

    def _finish(self, prepared: tuple[Tree, FloatArray]) -> Selection:
        self.tree_, ranks = prepared
        order = rank(ranks)
        support = Cut(at_least=self.at_least).apply(ranks, order)
        if self.k is not None:
            support[order[self.k :]] = False
        return Selection(support, ranks, order)

    def wording(self, names: Sequence[str] | np.ndarray) -> Wording:
        """The words for rules of the tree, with these names of its columns."""
        splits = np.array([float(f"{split:.{_DIGITS}g}") for split in self.tree_.split])
        return Wording(names, self.classes_, splits, self.levels_)


def _ranks(tree: Tree, n_features: int, *, literal: bool) -> np.ndarray:
    """Algorithm 1: the pruning round after which each feature is no longer used; with `literal` step c is done once."""
    gain = gains(tree)
    # Sums of the same weights in another order differ by rounding.
    close = 1e-10 * tree.errors[0]
    inner = ~tree.is_leaf
    ranks = np.zeros(n_features)
    number = 0
    while inner.any():
        ranks[np.unique(tree.feature[inner])] = number + 1
        final = _final(tree, inner)
        inner[final[gain[final] <= gain[final].min() + close]] = False
        while (idle := (final := _final(tree, inner))[gain[final] <= 0]).size:
            inner[idle] = False
            if literal:
                break
        number += 1
    return ranks


def _final(tree: Tree, inner: np.ndarray) -> np.ndarray:
    """Nodes that are still split while neither of their subnodes is."""
    return np.flatnonzero(inner & ~inner[tree.left] & ~inner[tree.right])
