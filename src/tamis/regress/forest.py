"""Random forest: the average of trees on bootstrap samples, each split the best of a few columns."""

from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from tamis.base.meta_estimators import LibraryRegressor
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.types import FloatArray, Matrix
from tamis.trees.forests import Trees, split_columns

#: Search ranges of forests.
SEARCH = {"max_features": choice(0.3, "sqrt", 0.1, 1.0), "min_samples_leaf": choice(1, 3)}


class RegressionTrees(Trees, LibraryRegressor):
    """Base of the forests that predict numbers."""

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        max_features: float | str = 0.3,
        min_samples_leaf: int = 1,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def _train(self, X: Matrix, y: FloatArray, weight: FloatArray | None) -> Any:
        model = super()._train(X, y, weight)
        self.used_ = split_columns(model, X.shape[1])
        return model


class ForestRegressor(RegressionTrees):
    """Average of trees that each see a bootstrap sample of the rows and, at every split, a few columns.

    A tree grows until its leaves hold one value or `min_samples_leaf` rows, by the split with the largest decrease of
    the squared error among `max_features` columns drawn for it; the means of the leaves are averaged. It is
    scikit-learn's ``RandomForestRegressor``.

    Parameters
    ----------
    n_estimators : int, default=200
    max_features : {"sqrt", "log2"} or float, default=0.3
        Columns tried at a split: the root or the logarithm of their number, or a share of them. Breiman takes a third.
    min_samples_leaf : int, default=1
        Fewest rows in a leaf.
    random_state : int, Generator, RandomState or None, default=None
        Draws the rows and the columns.

    Attributes
    ----------
    model_ : sklearn.ensemble.RandomForestRegressor
        It predicts in units of `target_unit_` above `target_zero_`.
    target_zero_, target_unit_ : float
    used_ : bool array of shape (n_features,)
        The columns that any tree splits.
    feature_importances_ : array of shape (n_features,)
        The decrease of the squared error by the splits of a column, averaged over the trees; they sum to 1.

    See Also
    --------
    ExtraTreesRegressor : Trees on all rows, with random thresholds.

    Notes
    -----
    Missing values may come as they are in dense data: a split sends them to the better side. There are no sample
    weights: in a bootstrap a row of weight 2 is not the row twice. Columns are drawn by their number, so that their
    order matters.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import ForestRegressor
    >>> X = np.array([[1.0, 7.0], [2.0, 7.0], [5.0, 7.0], [6.0, 7.0]])
    >>> model = ForestRegressor(20, random_state=0).fit(X, [10.0, 10.0, 30.0, 30.0])
    >>> bool(model.predict([[0.0, 0.0]])[0] < 15), bool(model.predict([[9.0, 0.0]])[0] > 25)
    (True, True)
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
    _forest = RandomForestRegressor
