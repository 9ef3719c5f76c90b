"""SSV tree: splits of the largest separability, grown to purity and pruned by cross-validation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.feature_tracking import mask_of
from tamis.base.inner_cv import CAUTION, most_confident, weighted_folds
from tamis.base.nominal import TakesNominal
from tamis.base.part import Arguments, Limits, Part
from tamis.base.search_range import choice
from tamis.base.shared_fit import SharedFit
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import column_names
from tamis.margins.kernel import known_squared_norms
from tamis.trees.figure import figure
from tamis.trees.grow import grow
from tamis.trees.prune import degrees, degrees_to_try, pruned
from tamis.trees.rows import counted
from tamis.trees.rules import Rule, Wording, round_splits, rules
from tamis.trees.split import CRITERIA
from tamis.trees.tree import Tree

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def _phrase(a: Arguments) -> str:
    return "a decision tree by balanced error" if a.pop("criterion") == "balanced_error" else "an SSV decision tree"


class SSVTree(SharedFit, TakesNominal, WeightedClassifier):
    """Decision tree of splits that separate most pairs of rows of different classes.

    The split of a node is the best of all columns (see :func:`tamis.trees.split.best_splits` for the criteria and
    :func:`tamis.trees.grow.grow` for ties). The tree grows until its leaves are pure, and is then pruned: final splits
    that correct no more than `prune` rows are deleted, then those that have become final, and so on. Nominal columns
    and missing values may come as they are.

    Parameters
    ----------
    criterion : {"ssv", "balanced_error"}, default="ssv"
        "balanced_error" splits where a stump's balanced error is smallest and weighs the classes equally.
    prune : float, "auto" or None, default="auto"
        The degree of pruning: final splits that correct no more than this weight of rows are deleted. 0 deletes
        those that correct nothing, inf all; None does not prune. "auto" takes the degree with the highest accuracy
        (balanced accuracy for "balanced_error") in an internal stratified cross-validation; of equals the largest.
    max_depth : int, optional
        Most splits between the root and a leaf.
    cv : int, default=10
        Folds of the internal cross-validation; fewer when the largest class has fewer rows.
    caution : float, default=0.0
        How many standard deviations over the folds count against a degree (Grabczewski and Jankowski, eq. 25).
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into the internal folds.

    Attributes
    ----------
    classes_ : array
    tree_ : tamis.trees.tree.Tree
        The nodes as arrays.
    used_ : bool array of shape (n_features,)
        The columns that the tree splits.
    splits_ : float array of shape (n_nodes,)
        The splits as `rules` and `plot` print them, rounded as far as no training row changes sides.
    holes_ : bool array of shape (n_features,)
        Columns with missing values among the training rows.
    prune_ : float
        The degree of pruning; minus infinity when there is none, infinity when one leaf is left.
    degrees_, cv_accuracy_ : arrays
        With ``prune="auto"``: the degrees compared, largest first, and their accuracy averaged over the folds.

    Notes
    -----
    Class probabilities are the shares of the classes among the training rows of a leaf. A missing number, and an unseen
    level, goes to the heavier side of a split; a missing name is a level like any other. In the folds, which hold fewer
    rows, a degree is scaled down. Rows of weight 2 count as two rows each.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import SSVTree
    >>> X = np.array([[1.0, 7.0], [2.0, 5.0], [3.0, 7.0], [4.0, 5.0]])
    >>> model = SSVTree(prune=None).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[2.4, 0.0], [2.6, 0.0]])
    array(['a', 'b'], dtype='<U1')
    >>> for rule in model.rules():
    ...     print(rule)
    IF x0 < 2.5 THEN a  (2 rows)
    IF x0 >= 2.5 THEN b  (2 rows)
    """

    part: ClassVar[Part] = Part(
        "tree",
        positional=("criterion",),
        search={"criterion": choice(*CRITERIA)},
        paper="Grabczewski and Jankowski 2006, section 2.1; Grabczewski and Duch 2000",
        phrase=_phrase,
        limits=Limits(class_rows=3),
        slow=True,
        scale_invariant=True,
    )
    gives_probabilities = True
    accepts_missing = True
    #: One full tree serves every degree of pruning.
    shared_parameters = ("prune",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "criterion": [StrOptions(set(CRITERIA))],
        "prune": [real(0, np.inf, "both"), StrOptions({"auto"}), None],
        "max_depth": [integer(1), None],
        "cv": [integer(2)],
        "caution": CAUTION,
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        criterion: str = "ssv",
        *,
        prune: float | Literal["auto"] | None = "auto",
        max_depth: int | None = None,
        cv: int = 10,
        caution: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.criterion = criterion
        self.prune = prune
        self.max_depth = max_depth
        self.cv = cv
        self.caution = caution
        self.random_state = random_state

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> tuple[Tree, Matrix, Codes, FloatArray]:
        X, y, weight = counted(X, y, sample_weight)
        return self._grow(X, y, weight), X, y, weight

    def _finish(self, prepared: tuple[Tree, Matrix, Codes, FloatArray]) -> None:
        grown, X, y, given = prepared
        if self.prune is None:
            self.prune_ = -np.inf
        elif self.prune == "auto":
            self.degrees_ = degrees_to_try(degrees(grown)[~grown.is_leaf])
            accuracy = self._try_all(X, y, given)
            self.cv_accuracy_ = accuracy.mean(axis=0)
            self.prune_ = float(self.degrees_[most_confident(accuracy, self.caution)])
        else:
            self.prune_ = float(self.prune)
        self.tree_ = pruned(grown, self.prune_)
        self.used_ = mask_of(self.tree_.feature[~self.tree_.is_leaf], X.shape[1])
        self.splits_ = round_splits(self.tree_, X)
        missing = X.indices[np.isnan(X.data)] if sp.issparse(X) else np.isnan(X).any(axis=0)
        self.holes_ = mask_of(missing, X.shape[1]) if sp.issparse(X) else missing

    def rules(self) -> list[Rule]:
        """The tree as logical formulae, one a leaf, from left to right; ``print`` shows a rule as a sentence.

        The conditions of a path are merged feature by feature, and splits rounded as far as every training row follows
        its rule. See :func:`tamis.trees.rules.rules` for nominal columns and missing values.

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
        return Wording(names, self.classes_, self.splits_, self.levels_, self.holes_)

    def _decision(self, X: Any) -> FloatArray:
        evidence = self.tree_.weight * self.tree_.priors
        return (evidence / evidence.sum(axis=1, keepdims=True))[self.tree_.leaves(X)]

    def _grow(self, X: Matrix, y: Codes, weight: FloatArray) -> Tree:
        nominal = self.nominal_ if self.nominal_.any() else None
        n_classes = self.classes_.shape[0]
        return grow(
            X, y, weight, n_classes=n_classes, criterion=self.criterion, nominal=nominal, max_depth=self.max_depth
        )

    def _try_all(self, X: Matrix, y: Codes, weight: FloatArray) -> FloatArray:
        """Accuracy of every degree of pruning in each fold; one tree a fold serves all of them."""
        parts = weighted_folds(known_squared_norms(X), y, weight, self.cv, self.random_state, 'SSVTree: prune="auto"')
        accuracy = np.zeros((len(parts), self.degrees_.shape[0]))
        for fold, part in enumerate(parts):
            train, test = np.flatnonzero(part.train), np.flatnonzero(part.test)
            tree = self._grow(X[train], y[train], part.train[train])
            test_weight = part.test[test] * tree.priors[y[test]]
            for number, degree in enumerate(self.degrees_ * (part.train.sum() / weight.sum())):
                smaller = pruned(tree, degree)
                right = smaller.prediction[smaller.leaves(X[test])] == y[test]
                accuracy[fold, number] = np.average(right, weights=test_weight)
        return accuracy
