"""Random forest: the average of trees on bootstrap samples, each split the best of a few columns."""

from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from tamis.base._sklearn import StrOptions
from tamis.base.meta_estimators import LibraryClassifier
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.trees.forests import Trees, split_columns

#: Search ranges of forests.
SEARCH = {
    "max_features": choice("sqrt", 0.1, 0.3),
    "min_samples_leaf": choice(1, 3),
    "class_weight": choice("balanced", None),
}


class ClassificationTrees(Trees, LibraryClassifier):
    """Base of the forests that tell classes apart."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Trees._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        max_features: float | str = "sqrt",
        min_samples_leaf: int = 1,
        class_weight: str | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.random_state = random_state

    def _cost(self, y: Codes, weight: FloatArray | None) -> FloatArray | None:
        """The sample weights: a forest balances the classes by itself."""
        return weight

    def _train(self, X: Matrix, y: Codes, cost: FloatArray | None) -> Any:
        model = self._make()
        if self.class_weight:
            size = np.bincount(y, weights=cost)
            # With few digits sums are exact: equal splits stay equal in any order of the rows.
            factor = (size.sum() / (size.size * size)).astype(np.float32)
            model.set_params(class_weight=dict(enumerate(factor.tolist())))
        model.fit(X, y, sample_weight=cost)
        self.used_ = split_columns(model, X.shape[1])
        return model


class Forest(ClassificationTrees):
    """Average of trees that each see a bootstrap sample of the rows and, at every split, a few columns.

    A tree grows until its leaves are pure or hold `min_samples_leaf` rows, by the split with the largest decrease of
    the Gini impurity among `max_features` columns drawn for it; the class shares of the leaves are averaged. It is
    scikit-learn's ``RandomForestClassifier``.

    Parameters
    ----------
    n_estimators : int, default=200
    max_features : {"sqrt", "log2"} or float, default="sqrt"
        Columns tried at a split: the root or the logarithm of their number, or a share of them.
    min_samples_leaf : int, default=1
        Fewest rows in a leaf.
    class_weight : {"balanced"}, optional
        Weigh a row of a class with n_c of the n rows by n / (k n_c), of k classes: every class weighs the same.
    random_state : int, Generator, RandomState or None, default=None
        Draws the rows and the columns.

    Attributes
    ----------
    classes_ : array
    model_ : sklearn.ensemble.RandomForestClassifier
    used_ : bool array of shape (n_features,)
        The columns that any tree splits.
    feature_importances_ : array of shape (n_features,)
        The decrease of impurity by the splits of a column, averaged over the trees; they sum to 1.

    See Also
    --------
    ExtraTrees : Trees on all rows, with random thresholds.

    Notes
    -----
    Missing values may come as they are in dense data: a split sends them to the better side. There are no sample
    weights: in a bootstrap a row of weight 2 is not the row twice. Columns are drawn by their number, so that their
    order matters.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import Forest
    >>> X = np.array([[1.0, 7.0], [2.0, 7.0], [5.0, 7.0], [6.0, 7.0]])
    >>> model = Forest(20, random_state=0).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0.0, 0.0], [9.0, 0.0]])
    array(['a', 'b'], dtype='<U1')
    >>> model.used_
    array([ True, False])
    """

    part: ClassVar[Part] = Part(
        "forest",
        positional=("n_estimators",),
        search=SEARCH,
        paper="Breiman 2001",
        phrase="a random forest of {n_estimators} trees",
        slow=True,
        scale_invariant=True,
    )
    _forest = RandomForestClassifier
