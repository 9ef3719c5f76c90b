"""Extra trees: the average of trees whose splits are the best of a few random ones."""

from typing import ClassVar

from sklearn.ensemble import ExtraTreesRegressor as _ExtraTrees

from tamis.base.part import Part
from tamis.base.regressor import WeightedRegressor
from tamis.regress.forest import SEARCH, RegressionTrees


class ExtraTreesRegressor(RegressionTrees, WeightedRegressor):
    """Average of trees whose splits are the best of a few columns, each with one threshold drawn at random.

    As :class:`~tamis.regress.forest.ForestRegressor`, but every tree sees all rows, and a split's threshold is drawn
    uniformly within the range of the column in the node. It is scikit-learn's ``ExtraTreesRegressor``.

    Parameters
    ----------
    n_estimators, max_features, min_samples_leaf, random_state
        As for :class:`~tamis.regress.forest.ForestRegressor`.

    Attributes
    ----------
    model_ : sklearn.ensemble.ExtraTreesRegressor
        It predicts in units of `target_unit_` above `target_zero_`.
    target_zero_, target_unit_ : float
    used_ : bool array of shape (n_features,)
        The columns that any tree splits.
    feature_importances_ : array of shape (n_features,)
        As for :class:`~tamis.regress.forest.ForestRegressor`.

    Notes
    -----
    A row of weight 2 counts like the row twice, except in `min_samples_leaf`, which counts rows. Missing values may
    come as they are in dense data.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import ExtraTreesRegressor
    >>> X = np.array([[1.0, 7.0], [2.0, 7.0], [5.0, 7.0], [6.0, 7.0]])
    >>> ExtraTreesRegressor(20, random_state=0).fit(X, [10.0, 10.0, 30.0, 30.0]).predict([[0.0, 0.0], [9.0, 0.0]])
    array([10., 30.])
    """

    part: ClassVar[Part] = Part(
        "extra_trees",
        positional=("n_estimators",),
        search=SEARCH,
        paper="Geurts, Ernst and Wehenkel 2006",
        phrase="{n_estimators} extremely randomized trees",
        slow=True,
        scale_invariant=True,
    )
    _forest = _ExtraTrees
