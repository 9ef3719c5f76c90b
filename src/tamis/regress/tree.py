"""Regression tree: splits of the largest decrease of the squared error, pruned by cross-validation."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.feature_tracking import mask_of
from tamis.base.inner_cv import CAUTION, most_confident, weighted_folds
from tamis.base.meta_estimators import library_seed, narrow
from tamis.base.part import Part
from tamis.base.regressor import WeightedRegressor
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import few_digits, weighted_numbers
from tamis.margins.kernel import known_squared_norms
from tamis.trees.cost_complexity import leaf_penalties, nodes_shown
from tamis.trees.forests import MissingInDense
from tamis.trees.prune import degrees_to_try

#: A cost of leaves, in units of the target's variance, beyond which a tree is one leaf.
_ONE_LEAF = 2.0


class _Prepared(NamedTuple):
    """The grown tree, its rows, their targets with few digits, weights and seed, and the targets' zero and unit."""

    tree: DecisionTreeRegressor
    X: Matrix
    y: FloatArray
    weight: FloatArray
    seed: int
    zero: float
    unit: float


class TreeRegressor(SharedFit, MissingInDense, WeightedRegressor):
    """Regression tree of splits that decrease the squared error most, each leaf predicting the mean of its rows.

    The tree grows until its leaves hold one value, and is then pruned by its cost: of all trees that remain when
    branches are cut off, the one with the least squared error plus `prune` for every leaf, with the error of a row in
    units of the target's variance. It is scikit-learn's ``DecisionTreeRegressor``.

    Parameters
    ----------
    prune : float, "auto" or None, default="auto"
        What a leaf costs: a branch must explain, for each leaf beyond the first, the variance of more than this number
        of rows. None does not prune. "auto" takes the cost with the smallest squared error, plus `caution` deviations,
        in an internal cross-validation; of equals the largest.
    max_depth : int, optional
        Most splits between the root and a leaf.
    cv : int, default=10
        Folds of the internal cross-validation, stratified by the size of the target.
    caution : float, default=0.0
        How many standard deviations over the folds count against a cost (Grabczewski and Jankowski, eq. 25).
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into the internal folds, and chooses between columns that split a node equally well.

    Attributes
    ----------
    model_ : sklearn.tree.DecisionTreeRegressor
        It predicts in units of `target_unit_` above `target_zero_`.
    target_zero_, target_unit_ : float
    used_ : bool array of shape (n_features,)
        The columns that the tree splits.
    prune_ : float
        What a leaf costs; minus infinity without pruning, infinity when one leaf is left.
    costs_, cv_r2_ : arrays
        With ``prune="auto"``: the costs compared, largest first, and 1 less their squared error in units of the
        target's variance, averaged over the folds.

    Notes
    -----
    One grown tree serves every cost. In the folds, which hold fewer rows, a cost is scaled down. A missing number goes
    to the better side of a split; missing values come in dense data only. A row of weight 2 counts like the row twice.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), "Classification and regression trees".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import TreeRegressor
    >>> X = np.array([[1.0, 7.0], [2.0, 5.0], [3.0, 7.0], [4.0, 5.0]])
    >>> model = TreeRegressor(prune=None).fit(X, [10.0, 10.0, 30.0, 30.0])
    >>> model.predict([[2.4, 0.0], [2.6, 0.0]]), model.used_
    (array([10., 30.]), array([ True, False]))
    """

    part: ClassVar[Part] = Part(
        "tree",
        paper="Breiman, Friedman, Olshen and Stone 1984",
        phrase="a regression tree",
        slow=True,
        scale_invariant=True,
    )
    #: Equal splits are chosen by the number of their columns.
    draws_columns: ClassVar[bool] = True
    #: One full tree serves every cost of a leaf.
    shared_parameters = ("prune",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "prune": [real(0, np.inf, "both"), StrOptions({"auto"}), None],
        "max_depth": [integer(1), None],
        "cv": [integer(2)],
        "caution": CAUTION,
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        *,
        prune: float | Literal["auto"] | None = "auto",
        max_depth: int | None = None,
        cv: int = 10,
        caution: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.prune = prune
        self.max_depth = max_depth
        self.cv = cv
        self.caution = caution
        self.random_state = random_state

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> _Prepared:
        X, y, weight, _ = weighted_numbers(X, y, sample_weight, "tree")
        X, (y, zero, unit), seed = narrow(X), few_digits(y, weight), library_seed(self.random_state)
        return _Prepared(self._grown(X, y, weight, seed), X, y, weight, seed, zero, unit)

    def _finish(self, prepared: _Prepared) -> None:
        tree, X, y, weight, seed, self.target_zero_, self.target_unit_ = prepared
        if self.prune is None:
            self.prune_ = -np.inf
        elif self.prune == "auto":
            explained = self._try_all(prepared)
            self.cv_r2_ = explained.mean(axis=0)
            self.prune_ = float(self.costs_[most_confident(explained, self.caution)])
        else:
            self.prune_ = float(self.prune)
        # scikit-learn's error is a mean over the rows, and that of one leaf is the variance.
        cost = _variance(tree) * min(self.prune_ / weight.sum(), _ONE_LEAF)
        self.model_ = self._grown(X, y, weight, seed, cost) if cost > 0 else tree
        columns = self.model_.tree_.feature
        self.used_ = mask_of(columns[columns >= 0], X.shape[1])

    def _predict(self, X: Any) -> FloatArray:
        return self.target_zero_ + self.target_unit_ * np.asarray(self.model_.predict(narrow(X)))

    def _grown(
        self, X: Matrix, y: FloatArray, weight: FloatArray, seed: int, cost: float = 0.0
    ) -> DecisionTreeRegressor:
        tree = DecisionTreeRegressor(max_depth=self.max_depth, ccp_alpha=cost, random_state=seed)
        return tree.fit(X, y, sample_weight=weight)

    def _try_all(self, prepared: _Prepared) -> FloatArray:
        """What every cost explains in each fold; one tree a fold serves all of them."""
        tree, X, y, weight, seed, *_ = prepared
        variance = _variance(tree)
        penalties = _penalties(tree, variance)
        self.costs_ = degrees_to_try(penalties[np.isfinite(penalties)])
        parts = weighted_folds(known_squared_norms(X), y, weight, self.cv, seed, 'tree: prune="auto"')
        explained = np.zeros((len(parts), self.costs_.size))
        for fold, part in enumerate(parts):
            train, test = np.flatnonzero(part.train), np.flatnonzero(part.test)
            grown = self._grown(X[train], y[train], part.train[train], seed)
            nodes = grown.tree_
            costs = self.costs_ * (part.train.sum() / weight.sum())
            shown = nodes_shown(nodes.children_left, nodes.children_right, _penalties(grown, variance), costs)
            means = nodes.value[:, 0, 0][shown[grown.apply(X[test])]]
            errors = np.average((y[test, None] - means) ** 2, axis=0, weights=part.test[test])
            explained[fold] = 1.0 - errors / variance
        return explained


def _variance(tree: DecisionTreeRegressor) -> float:
    """Variance of the target that a tree was grown on; 1 in place of 0."""
    return float(tree.tree_.impurity[0]) or 1.0


def _penalties(tree: DecisionTreeRegressor, variance: float) -> FloatArray:
    """The cost of a leaf from which on each node is a leaf, in rows of that variance."""
    nodes = tree.tree_
    errors = nodes.impurity * nodes.weighted_n_node_samples / variance
    return leaf_penalties(nodes.children_left, nodes.children_right, errors)
