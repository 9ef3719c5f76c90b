"""C4.5: gain ratio, fractional cases, pessimistic pruning."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.feature_tracking import mask_of
from tamis.base.nominal import TakesNominal
from tamis.base.part import Limits, Part
from tamis.base.search_range import choice
from tamis.base.shared_fit import SharedFit
from tamis.base.types import Codes, FloatArray
from tamis.base.validation import column_names
from tamis.classify.c45.branches import Branches, as_tree
from tamis.classify.c45.grow import grow
from tamis.classify.c45.prune import prune
from tamis.trees.figure import figure
from tamis.trees.rows import counted
from tamis.trees.rules import Rule, Wording, rules
from tamis.trees.tree import Tree

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


class _Grown(NamedTuple):
    """A tree before pruning, its columns, and the rows in these columns, their classes and weights."""

    tree: Branches
    used: np.ndarray
    X: FloatArray
    codes: Codes
    weight: FloatArray
    dtype: Any


class C45(SharedFit, TakesNominal, WeightedClassifier):
    """Decision tree by gain ratio, pruned where leaves are estimated to make no more errors.

    Quinlan's C4.5, release 8. With H the entropy of the classes, in bits, the gain of a test is H less the mean H of
    its branches, and its split info the entropy of the branches. Of the columns whose gain is at least the mean, the
    one with the largest ratio of gain to split info is tested. A numeric column has two branches, at the threshold of
    the largest gain, less log2(thresholds) / rows for the number of thresholds compared. A nominal column has one
    branch for each level. Nominal columns and missing values may come as they are.

    A row with a missing value goes down all branches, in parts proportional to their known rows, in training and in
    prediction. The gain is scaled by the share of the known rows, and missing values are a branch more of the split
    info. The estimated errors of a leaf are an upper confidence limit. From the leaves up, a subtree becomes a leaf, or
    gives way to its largest branch, where that adds no more than 0.1 to the estimate.

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence of the limits; smaller prunes more.
    min_samples_leaf : int, default=2
        At least two branches of a test have this weight of rows. Both sides of a threshold need a tenth of the mean
        class as well, up to 25.
    prune : bool, default=True
        Whether to prune. Without it, a subtree with no fewer training errors than a leaf is still one.
    subtree_raising : bool, default=True
        Whether a node may give way to its largest branch, which gets all its rows.

    Attributes
    ----------
    classes_ : array
    tree_ : tamis.trees.tree.Tree
        The nodes as arrays. It is binary: the levels of a nominal column are parted one after another, after those
        without training rows.
    used_ : bool array of shape (n_features,)
        The columns that the tree tests.
    splits_ : float array of shape (n_nodes,)
        The thresholds, values up to which go left; NaN in leaves and nominal nodes.

    See Also
    --------
    SSVTree : Splits by separability, pruned by cross-validation.

    Notes
    -----
    Class probabilities are the shares of the classes among the training rows of a leaf, and a weighted mean over
    several leaves where values are missing. A level without training rows in a node has the probabilities of the node.
    A level that is new in prediction is treated as missing. Rows of weight 2 count as two rows each.

    Where the book is silent or differs from the program, this follows the program:

    - The thresholds that cost log2(thresholds) / rows are those with enough rows on both sides: all N - 1 between N
      different values where each has enough.
    - A threshold is the largest value in the training rows that is not above the middle of the gap.
    - A gain may lie 0.001 bits below the mean. A nominal column with a level for every three or four rows (0.3 levels a
      row) has no part in the mean, unless all columns are such.
    - The first of equal columns is tested, at the lowest of equal thresholds.
    - The normal deviate of `confidence` is interpolated in a table of nine values.

    The program works in single precision. Here thresholds part any two different values, and gains are equal up to
    rounding. Levels are not grouped (the program's option -s) and thresholds not softened (-p).

    References
    ----------
    Quinlan (1993), "C4.5: Programs for machine learning"; Quinlan (1996), "Improved use of continuous attributes in
    C4.5".

    Examples
    --------
    >>> import polars as pl
    >>> from tamis.classify import C45
    >>> golf = pl.DataFrame({
    ...     "outlook": ["sunny"] * 5 + ["overcast"] * 4 + ["rain"] * 5,
    ...     "humidity": [70, 90, 85, 95, 70, 90, 78, 65, 75, 80, 70, 80, 80, 96],
    ...     "windy": [True, True, False, False, False, True, False, True, False, True, True, False, False, False],
    ... })
    >>> play = ["yes", "no", "no", "no", "yes", "yes", "yes", "yes", "yes", "no", "no", "yes", "yes", "yes"]
    >>> for rule in C45().fit(golf, play).rules():
    ...     print(rule)
    IF outlook in {overcast} THEN yes  (4 rows)
    IF outlook in {rain} AND windy <= 0 THEN yes  (3 rows)
    IF outlook in {rain} AND windy > 0 THEN no  (2 rows)
    IF outlook in {sunny} AND humidity <= 75 THEN yes  (2 rows)
    IF outlook in {sunny} AND humidity > 75 THEN no  (3 rows)
    """

    part: ClassVar[Part] = Part(
        "c45",
        positional=("confidence",),
        search={"confidence": choice(0.05, 0.25, 0.5), "min_samples_leaf": choice(2, 5, 20)},
        paper="Quinlan 1993",
        phrase="a C4.5 decision tree",
        limits=Limits(class_rows=3),
        slow=True,
        scale_invariant=True,
        counterpart="tree",
    )
    gives_probabilities = True
    accepts_missing = True
    #: One grown tree serves every way of pruning.
    shared_parameters = ("confidence", "prune", "subtree_raising")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "confidence": [real(0, 1)],
        "min_samples_leaf": [integer(1)],
        "prune": ["boolean"],
        "subtree_raising": ["boolean"],
    }

    def __init__(
        self,
        confidence: float = 0.25,
        *,
        min_samples_leaf: int = 2,
        prune: bool = True,
        subtree_raising: bool = True,
    ) -> None:
        self.confidence = confidence
        self.min_samples_leaf = min_samples_leaf
        self.prune = prune
        self.subtree_raising = subtree_raising

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None) -> _Grown:
        X, y, weight = counted(X, y, sample_weight)
        grown = grow(X, y, weight, self.classes_.shape[0], self.nominal_, self.min_samples_leaf)
        used = np.unique(grown.feature[grown.feature >= 0])
        columns = X[:, used].toarray() if sp.issparse(X) else X[:, used]
        return _Grown(grown, used, columns, y, weight, X.dtype)

    def _finish(self, prepared: _Grown) -> None:
        grown, used, X, codes, weight, dtype = prepared
        if self.prune:
            numbered = grown.copy()
            numbered.feature[:] = np.where(grown.feature < 0, -1, np.searchsorted(used, grown.feature))
            grown = prune(numbered, X, codes, weight, self.confidence, raising=self.subtree_raising)
            grown.feature[:] = np.where(grown.feature < 0, -1, used[grown.feature] if used.size else -1)
        self.tree_: Tree = as_tree(grown)
        self.used_ = mask_of(self.tree_.feature[~self.tree_.is_leaf], self.n_features_in_)
        thresholds = np.nextafter(self.tree_.split, -np.inf).astype(dtype)
        # The digits of single precision.
        self.splits_ = np.array([float(str(one)) for one in thresholds])

    def rules(self) -> list[Rule]:
        """The tree as logical formulae, one a leaf, from left to right; ``print`` shows a rule as a sentence.

        The conditions of a path are merged feature by feature. Rows with missing values follow several rules in part.

        Returns
        -------
        list of tamis.trees.rules.Rule
        """
        check_is_fitted(self)
        return rules(self.tree_, self.wording(column_names(self)))

    def plot(self) -> "Figure":
        """Draw the tree: *yes* to the left, leaves in the colour of their class, a bar with the classes of each node.

        Returns
        -------
        plotly.graph_objects.Figure
        """
        check_is_fitted(self)
        return figure(self.tree_, self.wording(column_names(self)))

    def wording(self, names: Sequence[str] | np.ndarray) -> Wording:
        """The wording of the tree with these names of its columns."""
        return Wording(names, self.classes_, self.splits_, self.levels_, closed=True)

    def _decision(self, X: Any) -> FloatArray:
        return self.tree_.class_shares(X)
